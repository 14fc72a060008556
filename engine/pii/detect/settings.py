"""What the custodian can set about detection; plain data, saved as JSON with the corpus.

Privacy posture: known identifiers and lists are private values of the custodian. They live in the
workspace beside the corpus and never enter a message: errors name a pattern by its name and position.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Self

import regex
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from engine.errors import UserError
from engine.json_types import JSONObject
from engine.pii.detect.presets import DEFAULT_PRESET, PresetName
from engine.pii.spans import LABELS, canonical_label

DEFAULT_THRESHOLD = 0.5
PATTERN_SECONDS = 0.25
PROBES = ("a" * 4000 + "!", "1" * 4000 + "x", "ab " * 1500 + "\n", "a1-" * 1500 + "$", " " * 4000 + "x", "\t,;:" * 1000)
AUTO = "auto"
Language = Annotated[str, Field(pattern="^(?:auto|[a-z]{2,3})$")]
Score = Annotated[float, Field(ge=0.0, le=1.0)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class KnownIdentifier(_Frozen):
    """A value the custodian knows to be identifying, such as a patient's name, with its label."""

    value: Annotated[str, Field(min_length=1, max_length=500)]
    label: str = "PERSON"

    @model_validator(mode="after")
    def _canonical(self) -> Self:
        object.__setattr__(self, "label", canonical_label(self.label))
        return self


class CustomPattern(_Frozen):
    """A regular expression of the custodian's own; `score` in [0, 1], higher = surer."""

    name: Annotated[str, Field(min_length=1, max_length=80)]
    pattern: Annotated[str, Field(min_length=1, max_length=1000)]
    label: str = "CODE"
    score: Score = 0.9
    ignore_case: bool = True

    @model_validator(mode="after")
    def _compiles(self) -> Self:
        object.__setattr__(self, "label", canonical_label(self.label))
        check_pattern(self.pattern, ignore_case=self.ignore_case)
        return self

    def compiled(self) -> regex.Pattern[str]:
        """Return the compiled expression."""
        return compile_pattern(self.pattern, ignore_case=self.ignore_case)


class DetectorSettings(_Frozen):
    """Everything detection depends on.

    `preset` says what counts as identifying in this kind of text (see `engine.pii.detect.presets`).
    `disabled` names recognisers (see `engine.pii.detect.recognisers.catalogue`) that do not run. `thresholds`
    holds, a label, the score from which a span counts as accepted; other labels use 0.5. `allow` lists
    values that are never marked, `deny` values that always are (as label MISC). `tagger_model` and
    `spacy_model` name local folders; None means the built-in tagger and no spaCy model. `language` is the code of
    every record's language, or `auto`: each record's own is told from its words.
    """

    preset: PresetName = DEFAULT_PRESET
    disabled: frozenset[str] = frozenset()
    thresholds: dict[str, Score] = Field(default_factory=dict)
    known: tuple[KnownIdentifier, ...] = ()
    fuzzy: bool = True
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    patterns: tuple[CustomPattern, ...] = ()
    language: Language = AUTO
    tagger: bool = True
    tagger_model: str | None = None
    spacy_model: str | None = None

    @model_validator(mode="after")
    def _labels(self) -> Self:
        for label in self.thresholds:
            if label not in LABELS:
                raise ValueError(f"thresholds: {label!r} is no label; use one of {', '.join(LABELS)}")
        names = [p.name for p in self.patterns]
        if len(set(names)) != len(names):
            raise ValueError("patterns: two custom patterns have the same name; rename one")
        return self

    def threshold(self, label: str) -> float:
        """Return the score from which a span of `label` counts as accepted."""
        return self.thresholds.get(label, DEFAULT_THRESHOLD)

    def to_json(self) -> str:
        """Return the settings as JSON text."""
        return self.model_dump_json()

    @classmethod
    def from_json(cls, text: str) -> DetectorSettings:
        """Return settings from JSON text.

        Raises:
            UserError: the text breaks a rule; the message names the field, never a private value.
        """
        return parse_settings(lambda: cls.model_validate_json(text))

    @classmethod
    def from_dict(cls, values: JSONObject) -> DetectorSettings:
        """Return settings from a mapping; raises UserError like `from_json`."""
        return parse_settings(lambda: cls.model_validate(values))


def parse_settings(make: Callable[[], DetectorSettings]) -> DetectorSettings:
    """Return what `make` builds, its validation errors turned into one UserError without values."""
    try:
        settings = make()
    except ValidationError as error:
        parts = [f"{'.'.join(map(str, e['loc'])) or 'settings'}: {e['msg']}" for e in error.errors(include_input=False)]
        raise UserError("detector settings: " + "; ".join(parts[:5])) from None
    return settings


def compile_pattern(pattern: str, *, ignore_case: bool = True) -> regex.Pattern[str]:
    """Return a compiled `regex` expression (version 0 syntax, `^` and `$` at line ends)."""
    return regex.compile(pattern, regex.MULTILINE | (regex.IGNORECASE if ignore_case else 0))


def check_pattern(pattern: str, *, ignore_case: bool = True) -> None:
    """Refuse an expression that does not compile, matches nothing but emptiness, or takes too long.

    Raises:
        ValueError: with the rule that was broken and what to change.
    """
    try:
        compiled = compile_pattern(pattern, ignore_case=ignore_case)
    except regex.error as error:
        raise ValueError(f"the expression does not compile at position {error.pos}: {error.msg}") from None
    if compiled.fullmatch(""):
        raise ValueError("the expression matches the empty text: make at least one part required")
    begun = time.monotonic()
    for probe in PROBES:
        try:
            for match in compiled.finditer(probe, timeout=PATTERN_SECONDS):
                del match
                if time.monotonic() - begun > PATTERN_SECONDS * 4:
                    raise TimeoutError
        except TimeoutError:
            raise ValueError(
                f"the expression takes more than {PATTERN_SECONDS} s on a 4,000-character probe: "
                "avoid nested repetition such as (a+)+"
            ) from None
