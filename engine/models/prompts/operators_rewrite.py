"""Prompts of the rewriting loop for instruct models: privacy judge, utility judge, rewriter, and their replies.

Privacy posture: builds strings from what it is given; keeps nothing. Templates run in Jinja's sandbox.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypedDict

from engine.errors import UserError
from engine.models.prompts.domains import FOLDER, load_prompts
from engine.models.prompts.operators_instruct import InstructOperators, render

NAMES = ("privacy_judge", "utility_judge", "rewriter")
FIELDS: dict[str, str] = {
    "document": "what a text of the domain is called",
    "text": "the rewritten text that is judged",
    "candidates": "records the privacy judge chooses among, the true one too",
    "original": "the record as it was",
    "labels": "labels the utility judge chooses among, or empty",
    "label": "the record's label, or empty",
    "words": "length of the record in words",
    "attempts": "the last attempts; of each: .text, .private, .clues, .useful",
}
SHOWN: dict[str, tuple[str, ...]] = {  # fields that each prompt is given
    "privacy_judge": ("document", "text", "candidates"),
    "utility_judge": ("document", "text", "original", "labels"),
    "rewriter": ("document", "original", "label", "words", "attempts"),
}
NEEDED: dict[str, tuple[str, ...]] = {
    "privacy_judge": ("text", "candidates"), "utility_judge": ("text", "original", "labels"), "rewriter": ("original",),
}  # fmt: skip
REPLIES: dict[str, tuple[str, ...]] = {  # lines by which replies are read; a prompt has to ask for them
    "privacy_judge": ("Record:", "Words:"), "utility_judge": ("Label:", "Confidence:"), "rewriter": (),
}  # fmt: skip
LISTS = frozenset({"candidates", "labels", "attempts", "clues"})  # of what is above, and of an attempt
ATTEMPT = frozenset({"text", "private", "clues", "useful"})


class ShownAttempt(TypedDict):
    """A rewriting as the rewriter is shown it, with what the two judges said."""

    text: str
    private: bool
    clues: Sequence[str]
    useful: bool


_ATTEMPTS: tuple[ShownAttempt, ...] = (
    {"text": "The bus came late on Monday; a commuter complained.", "private": False, "clues": ("Monday",),
     "useful": True},
    {"text": "Something came late.", "private": True, "clues": (), "useful": False},
)  # fmt: skip
_SAMPLE: dict[str, object] = {
    "text": "A bus came late one morning, and nobody said why.",
    "original": "The bus came late on Monday, and nobody at Marrow Bay said why.",
    "candidates": ("The bus came late on Monday, and nobody at Marrow Bay said why.", "The train was on time."),
    "labels": ("transport", "housing"), "label": "transport", "words": 12, "attempts": _ATTEMPTS,
}  # fmt: skip
_BARE: dict[str, object] = {**_SAMPLE, "labels": (), "label": "", "attempts": ()}
_RECORD = re.compile(r"^\W*record\W*:?\W*(\d+|none)\b", re.IGNORECASE | re.MULTILINE)
_WORDS = re.compile(r"^\W*words\W*:(.*)$", re.IGNORECASE | re.MULTILINE)
_LABEL = re.compile(r"^\W*label\W*:(.*)$", re.IGNORECASE | re.MULTILINE)
_CONFIDENCE = re.compile(r"^\W*confidence\W*:?\W*(\d{1,3})", re.IGNORECASE | re.MULTILINE)
SURE = (10, 30, 50, 70, 90, 100)  # the confidences that a judge chooses among
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)


@lru_cache(maxsize=1)
def shipped() -> Mapping[str, str]:
    """Return the templates that ship, the same for every domain.

    Raises:
        UserError: their file cannot be used.
    """
    import yaml

    path = FOLDER / "rewriting.yaml"
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
        return {name: str(values[name]) for name in NAMES}
    except (OSError, yaml.YAMLError, KeyError, TypeError):
        raise UserError("assets/prompts/rewriting.yaml cannot be used: restore it from the program's files") from None


class RewritePrompts:
    """The three prompts of a domain.

    Args:
        domain: kind of text.
        changed: templates in place of shipped ones, a domain and a name each; see `prompt_templates`.
    """

    def __init__(self, domain: str, changed: Mapping[str, Mapping[str, str]] | None = None) -> None:
        self.domain, self._document = domain, load_prompts(domain).document
        self._templates = {**shipped(), **(changed or {}).get(domain, {})}
        self._reply = InstructOperators()

    def privacy(self, text: str, candidates: Sequence[str]) -> str:
        """Return the question which of these records a text was made from."""
        return self._prompt("privacy_judge", text=text, candidates=list(candidates))

    def utility(self, text: str, original: str, labels: Sequence[str]) -> str:
        """Return the question which label a text has, or, without labels, whether it still tells the same."""
        return self._prompt("utility_judge", text=text, original=original, labels=list(labels))

    def rewrite(self, original: str, label: str | None, words: int, attempts: Sequence[ShownAttempt]) -> str:
        """Return the request for a rewriting, with the judged attempts so far."""
        shown = [dict(attempt) for attempt in attempts]
        return self._prompt("rewriter", original=original, label=label or "", words=words, attempts=shown)

    def rewritten(self, reply: str) -> str:
        """Return the text of a rewriter's reply."""
        return self._reply.parse("rephrase", reply)

    def sample(self, name: str, *, bare: bool = False) -> str:
        """Return one of the prompts with made-up text in its fields, or with what may be empty left empty."""
        return self._prompt(name, **(_BARE if bare else _SAMPLE))

    def _prompt(self, name: str, **values: object) -> str:
        return render(self._templates[name], {"document": self._document, **values}, "rewriting", name)


def privacy_choices(candidates: int) -> list[str]:
    """Return the replies a privacy judge may be held to, as `parse_privacy` reads them; they name no words."""
    return [*(f"Record: {number}" for number in range(1, candidates + 1)), "Record: none"]


def utility_choices(labels: Sequence[str]) -> list[str]:
    """Return the replies a utility judge may be held to, as `parse_utility` reads them: labels, or yes and no."""
    return [f"Label: {label}\nConfidence: {sure}" for label in labels or ("yes", "no") for sure in SURE]


def parse_privacy(reply: str, candidates: int) -> tuple[int | None, tuple[str, ...]] | None:
    """Return the record named (0-based; None: none of them) and the words that give it away; None if unreadable."""
    reply = _THOUGHT.sub("", reply)
    found = _RECORD.search(reply)
    if found is None:
        return None
    number = None if found.group(1).lower() == "none" else int(found.group(1)) - 1
    if number is not None and not 0 <= number < candidates:
        return None
    listed = _WORDS.search(reply)
    words = [word.strip(" \"'.*") for word in listed.group(1).split(";")] if listed else []
    return number, tuple(word for word in words if word and word.lower() != "none")


def parse_utility(reply: str) -> tuple[str, int] | None:
    """Return the label named and the confidence, 0 to 100; None if unreadable."""
    reply = _THOUGHT.sub("", reply)
    label, confidence = _LABEL.search(reply), _CONFIDENCE.search(reply)
    if label is None or confidence is None:
        return None
    return label.group(1).strip(" \"'.*"), min(100, int(confidence.group(1)))
