"""Whether a model knows such text: told by a public description alone, never by a record.

Two ways. By words: the built-in model learned kinds of documents that have names, and writes English alone. By texts:
five texts that a model wrote for the description are embedded with its words. Texts of the kinds that the built-in
model was made for lie at a mean cosine of 0.19 to 0.34 from their kind's name; what it wrote for recipes, match
reports, chat and police records lay at 0.02 to 0.05, for discharge letters, of which it never saw one, at 0.08.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

from engine.corpus.description import LANGUAGES, Description
from engine.models.builtin.shipped import lm_folder

NEAR = 0.12  # mean cosine between the kind's name and texts for it, below which they are about something else
_COMMON = frozenset("after an and at by for from in of on or our report text the to with short long plain".split())
HOLDS = {
    "narrative": "adverse event side effect reaction symptom drug vaccine vaccination immunisation",
    "abstract": "scientific paper article study research journal preprint summary",
    "textbook": "lesson course lecture teaching material",
    "novel": "story fiction tale book",
    "complaint": "consumer bank credit loan lender debt grievance",
    "incident report": "accident near miss fire flight aviation safety hazard event occurrence",
    "short report": "work accident injury vehicle defect",
    "court opinion": "supreme judgment judgement appeal legal justice",
    "court decision": "judgment judgement ruling verdict legal case sentencing",
    "health question": "medical answer disease patient information leaflet",
    "consultation": "doctor patient visit encounter conversation transcript interview",
    "dialogue": "chat conversation transcript call order",
    "letter": "correspondence mail diary",
    "plain English": "government guidance administration notice",
    "country description": "geography economy profile",
    "encyclopedia": "article entry biography",
    "clinic letter": "discharge summary medical referral hospital outpatient admission note epicrisis",
    "support ticket": "helpdesk customer service request enquiry email message",
}
"""What a person may call text of a kind that the built-in model knows under its own name."""


@lru_cache(maxsize=1)
def known_kinds() -> tuple[str, ...]:
    """Return the names of the kinds of documents that the built-in model was measured on."""
    try:
        found = json.loads((lm_folder() / "evaluation.json").read_text("utf-8"))["kinds"]
        return tuple(str(name) for name in found)
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def unlike_built_in(description: Description) -> str:
    """Return, by the description's words, why the built-in model is not made for such text, or nothing."""
    if description.language != "en":
        return (
            f"The built-in model writes English alone; this corpus is declared to be {LANGUAGES[description.language]}."
        )
    kinds = known_kinds()
    name = " ".join(description.kind.lower().split())
    if not kinds or name in kinds or any(_words(name) & _words(kind) for kind in kinds):
        return ""
    called = _called(name, kinds)
    if called:
        return (
            f"The built-in model has not learned from text called “{description.kind}”, but from such as it calls "
            f"{' or '.join(f'“{kind}”' for kind in called)}. Declare the kind by that name if it is the same, and "
            "prompts ask for what it knows."
        )
    return (
        f"The built-in model has not learned from text called “{description.kind}”; it knows {', '.join(kinds)}. "
        "Expect outputs about something else."
    )


def _called(name: str, kinds: tuple[str, ...]) -> list[str]:
    """Return the names of up to two kinds that a person may call so, those that share the most words."""
    asked = _words(name)
    shared = {kind: len(asked & _words(HOLDS.get(kind, ""))) for kind in kinds}
    most = max(shared.values(), default=0)
    return [kind for kind in kinds if most and shared[kind] == most][:2]


def unlike_texts(name: str, kind: str, cosine: float) -> str:
    """Return, by the mean cosine between a kind's name and texts for it, that they are about something else."""
    if cosine >= NEAR:
        return ""
    return (
        f"Five texts that {name} wrote for “{kind}” are not about that (mean cosine {cosine:.2f} with its name; texts "
        f"of a kind it knows reach {NEAR:.2f} and more). Take another model, or expect outputs about something else."
    )


def _words(name: str) -> set[str]:
    found = {word.lower() for word in re.findall(r"[^\W\d_]{2,}", name)} - _COMMON
    return {word[:-1] if word.endswith("s") and len(word) > 3 else word for word in found} - _COMMON
