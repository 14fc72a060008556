"""Made-up clinical notes that deny something, and what became of it in texts made from them."""

from __future__ import annotations

import re

from engine.models.prompts.negation import polarity

_BEGUN = (
    "Patient received the second dose on Monday and had a sore arm.",
    "Seen two days after the injection with redness of the left arm.",
    "Mother called: the child was restless the night after the vaccine.",
    "Came in with headache and dizziness one hour after the dose.",
)
_DENIED = (
    "There was no rash and she denies fever.",
    "No vomiting, diarrhea or cough; he was not admitted.",
    "She never had seizures and recovered without treatment.",
    "Denies chest pain; no swelling of the lips.",
    "He did not faint, and there was no bleeding.",
    "No hives. The leg was not swollen.",
)
NOTES = [f"{begun} {denial}" for begun in _BEGUN for denial in _DENIED]


def polarity_of(sources: list[str], outputs: list[str]) -> dict[str, int]:
    """Return how many denied words are kept denied, turned into statements, or lost."""
    sums = [sum(column) for column in zip(*map(polarity, sources, outputs), strict=True)]
    return dict(zip(("kept", "turned", "lost"), sums, strict=True))


def stutters(text: str) -> bool:
    """Return whether one to four words stand three times in a row."""
    words = [word for word in (re.sub(r"\W", "", piece).lower() for piece in text.split()) if word]
    return any(
        words[i : i + k] == words[i + k : i + 2 * k] == words[i + 2 * k : i + 3 * k]
        for k in range(1, 5)
        for i in range(len(words) - 3 * k + 1)
    )
