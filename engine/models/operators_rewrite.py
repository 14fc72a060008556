"""Prompts of the rewriting loop for instruct models: privacy judge, utility judge, rewriter, and their replies.

Privacy posture: builds strings from what it is given; keeps nothing. Templates run in Jinja's sandbox.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from engine.errors import UserError
from engine.models.operators_instruct import InstructOperators, render
from engine.models.prompts import FOLDER, load_prompts

NAMES = ("privacy", "utility", "rewrite")
_RECORD = re.compile(r"^\W*record\W*:?\W*(\d+|none)\b", re.IGNORECASE | re.MULTILINE)
_WORDS = re.compile(r"^\W*words\W*:(.*)$", re.IGNORECASE | re.MULTILINE)
_LABEL = re.compile(r"^\W*label\W*:(.*)$", re.IGNORECASE | re.MULTILINE)
_CONFIDENCE = re.compile(r"^\W*confidence\W*:?\W*(\d{1,3})", re.IGNORECASE | re.MULTILINE)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)


@lru_cache(maxsize=1)
def _templates() -> Mapping[str, str]:
    import yaml

    path = FOLDER / "rewriting.yaml"
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
        return {name: str(values[name]) for name in NAMES}
    except (OSError, yaml.YAMLError, KeyError, TypeError):
        raise UserError("assets/prompts/rewriting.yaml cannot be used: restore it from the program's files") from None


class RewritePrompts:
    """The three prompts of a domain."""

    def __init__(self, domain: str) -> None:
        self.domain, self._document = domain, load_prompts(domain).document
        self._reply = InstructOperators()

    def privacy(self, text: str, candidates: Sequence[str]) -> str:
        """Return the question which of these records a text was made from."""
        return self._prompt("privacy", text=text, candidates=list(candidates))

    def utility(self, text: str, original: str, labels: Sequence[str]) -> str:
        """Return the question which label a text has, or, without labels, whether it still tells the same."""
        return self._prompt("utility", text=text, original=original, labels=list(labels))

    def rewrite(self, original: str, label: str | None, words: int, attempts: Sequence[Mapping[str, Any]]) -> str:
        """Return the request for a rewriting, with the judged attempts so far."""
        values = {"original": original, "label": label or "", "words": words, "attempts": [dict(a) for a in attempts]}
        return self._prompt("rewrite", **values)

    def rewritten(self, reply: str) -> str:
        """Return the text of a rewriter's reply."""
        return self._reply.parse("rephrase", reply)

    def _prompt(self, name: str, **values: Any) -> str:
        return render(_templates()[name], {"document": self._document, **values}, "rewriting", name)


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
