"""The catalogue of recognisers: pattern recognisers are data in `assets/recognisers/*.yaml`.

This module reads the data only; `engine.pii.detect.rules` turns it into Presidio recognisers. Every entry
has examples: `find` texts mark what must be found with [[double brackets]], `leave` texts must stay
free of this recogniser's spans.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from engine.assets import ASSETS
from engine.errors import InternalError
from engine.pii.spans import LABELS

FOLDER = ASSETS / "recognisers"


@dataclass(frozen=True)
class PatternSpec:
    """One expression with its score in [0, 1]; `ignore_case` False makes letters count."""

    name: str
    regex: str
    score: float


@dataclass(frozen=True)
class RecogniserSpec:
    """One recogniser: how it finds (`patterns` or a Presidio `presidio` class), its label, context words, examples.

    A `backup` counts where no tagger runs; beside a tagger that does not agree it only suggests.
    """

    id: str
    title: str
    label: str
    patterns: tuple[PatternSpec, ...] = ()
    presidio: str | None = None
    options: dict[str, Any] | None = None
    context: tuple[str, ...] = ()
    ignore_case: bool = True
    needs: str | None = None
    backup: bool = False
    find: tuple[str, ...] = ()
    leave: tuple[str, ...] = ()


@dataclass(frozen=True)
class CatalogueEntry:
    """What a settings page shows of a recogniser."""

    id: str
    title: str
    label: str


OTHERS = (
    CatalogueEntry(
        "tagger", "Built-in tagger: names, places, organisations, dates, codes, amounts, descriptions", "PERSON"
    ),
    CatalogueEntry("known", "Known identifiers of the custodian", "PERSON"),
    CatalogueEntry("deny", "Deny list", "MISC"),
    CatalogueEntry("custom", "Custom patterns", "CODE"),
    CatalogueEntry("spacy", "Local spaCy model", "PERSON"),
)


def read_specs(path: Path) -> list[RecogniserSpec]:
    """Return the recognisers of one YAML file: a list, or the list under `recognisers` of a language pack.

    Raises:
        InternalError: an entry breaks a rule.
    """
    given = yaml.safe_load(path.read_text(encoding="utf-8"))
    out = []
    for row in given.get("recognisers", ()) if isinstance(given, dict) else given:
        examples = row.pop("examples", {})
        patterns = tuple(PatternSpec(p["name"], p["regex"], float(p["score"])) for p in row.pop("patterns", ()))
        context = tuple(row.pop("context", ()))
        spec = RecogniserSpec(
            patterns=patterns,
            context=context,
            find=tuple(examples.get("find", ())),
            leave=tuple(examples.get("leave", ())),
            **row,
        )
        if spec.label not in LABELS or bool(spec.patterns) == bool(spec.presidio):
            raise InternalError(
                f"recogniser {spec.id!r}: label must be known and it needs patterns or a Presidio class"
            )
        out.append(spec)
    return out


@lru_cache(maxsize=1)
def specs() -> tuple[RecogniserSpec, ...]:
    """Return every recogniser in file order; ids are unique."""
    found = [spec for path in sorted(FOLDER.glob("*.yaml")) for spec in read_specs(path)]
    if len({s.id for s in found}) != len(found):
        raise InternalError("two recognisers have the same id")
    return tuple(found)


def catalogue() -> tuple[CatalogueEntry, ...]:
    """Return what can be switched off, in the order shown."""
    return (*OTHERS, *(CatalogueEntry(s.id, s.title, s.label) for s in specs()))
