"""Presets: what counts as identifying in one kind of text without a decision of a person.

The detectors run the same way under every preset. What a preset does not take for identifying by itself keeps its
place in the review queue as a suggestion. The custodian's own lists and patterns are never held back. The presets
are data, `assets/recognisers/presets/*.yaml`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, get_args

import regex
import yaml

from engine.pii.detect.plain.register import scholarly
from engine.pii.detect.recognisers import FOLDER
from engine.pii.spans import MODELS, SUGGESTION, Span

PresetName = Literal["general", "clinical", "legal"]
DEFAULT_PRESET: PresetName = "general"
PRESETS: tuple[PresetName, ...] = get_args(PresetName)
DATED = regex.compile(
    r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)|(?:mon|tues|wednes|thurs|fri|satur|sun|birth)day"
    r"|(?<!\p{L})(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\p{L}*|\d[./-]\d{1,2}[./-]\d|\d/\d|\d(?:st|nd|rd|th)\b"
    r"|easter|christmas|new year|thanksgiving|ramadan|hanukkah",
    regex.I,
)

WORDS = regex.compile(r"\p{Lu}?\p{Ll}+|\p{Lu}+")  # also those of `patientNr` and `ward_round`


@dataclass(frozen=True)
class Preset:
    """What one kind of text holds back: labels, recognisers, spans of time, short codes, unsure names.

    `least_digits`: digits that a code needs which the tagger alone found. `least_scores`: the score that a
    tagger's span of a label needs. `suggest_lone_names`: whether a name of one word waits in scholarly prose
    (`engine.pii.detect.plain.register`). None of these touches what a person listed. `told_by`: words in the name of
    a corpus, of its columns or of its public labels that tell this kind of text.
    """

    id: PresetName
    title: str
    note: str
    suggest_labels: frozenset[str] = frozenset()
    suggest_recognisers: frozenset[str] = frozenset()
    suggest_durations: bool = False
    suggest_lone_names: bool = False
    least_digits: int = 0
    least_scores: dict[str, float] = field(default_factory=dict)
    told_by: frozenset[str] = frozenset()

    def held(
        self, text: str, spans: Iterable[Span], *, dated: regex.Pattern[str] = DATED, english: bool = True
    ) -> list[Span]:
        """Return detectors' spans, the score held below one half where one identifies nobody in such text.

        Args:
            dated: what a date has and a span of time has not, in the text's language.
            english: whether the English tagger gave the scores; `least_scores` are of its scale, and the tagger of
                other languages keeps thresholds of its own.
        """
        lone = self.suggest_lone_names and scholarly(text)
        return [
            replace(s, score=SUGGESTION)
            if s.score > SUGGESTION
            and (
                self._doubts(text[s.start : s.end], s, dated)
                or (english and s.recogniser in MODELS and s.score < self.least_scores.get(s.label, 0.0))
                or (lone and _lone(text[s.start : s.end], s))
            )
            else s
            for s in spans
        ]

    def _doubts(self, surface: str, span: Span, dated: regex.Pattern[str]) -> bool:
        if span.label in self.suggest_labels or span.recogniser in self.suggest_recognisers:
            return True
        if self.suggest_durations and span.label == "DATE" and not dated.search(surface):
            return True
        few = sum(c.isdigit() for c in surface) < self.least_digits
        return span.recogniser in MODELS and span.label == "CODE" and few


def _lone(surface: str, span: Span) -> bool:
    """Return whether a model's name or date is one written word."""
    return span.recogniser in MODELS and span.label in {"PERSON", "ORGANISATION", "DATE", "CODE"} and " " not in surface


@lru_cache(maxsize=1)
def presets() -> dict[str, Preset]:
    """Return every preset by its id, in the order shown."""
    return {name: _read(name) for name in PRESETS}


def proposed(said: Iterable[str]) -> PresetName | None:
    """Return the preset that public words tell: a corpus' name and declared kind, its columns, its declared labels.

    None where no word tells one, or two presets are told.
    """
    words = {word.casefold() for one in said for word in WORDS.findall(one)}
    told = [preset.id for preset in presets().values() if words & preset.told_by]
    return told[0] if len(told) == 1 else None


def _read(name: PresetName) -> Preset:
    given: dict[str, Any] = yaml.safe_load((FOLDER / "presets" / f"{name}.yaml").read_text(encoding="utf-8"))
    given |= {k: frozenset(given.get(k, ())) for k in ("suggest_labels", "suggest_recognisers", "told_by")}
    return Preset(id=name, **given)
