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
_COMMON = frozenset("a an and for from in of on or our report text the to with short long plain".split())


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
    return (
        f"The built-in model has not learned from text called “{description.kind}”; it knows {', '.join(kinds)}. "
        "Expect outputs about something else."
    )


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
