"""What each finding measures, in words: one place for pages, report and tests.

The words are data, in `measures.yaml` beside this file, which says what each field holds. Light: the web process
imports this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal, get_args

import yaml

from engine.errors import InternalError
from engine.examine.findings.findings import Direction, Group
from engine.json_types import JSON

__all__ = ["MEASURES", "REFERENCES", "TOPICS", "Measure", "Scale", "Topic", "read_measures", "show"]

Scale = Literal["share", "number", "cosine", "divergence", "score"]
Topic = Literal[
    "values", "copies", "members", "people", "language", "form", "meaning", "subjects", "tasks", "variety", "cost",
]  # fmt: skip
TOPICS: dict[Topic, str] = {
    "values": "Private values and identifiers",
    "copies": "Copies and whole records",
    "members": "Who took part (membership)",
    "people": "What is told of a person",
    "language": "Words and language",
    "form": "Length and form",
    "meaning": "Meaning",
    "subjects": "Topics, sentiment and details",
    "tasks": "Classifiers and extractors",
    "variety": "Variety and repetition",
    "cost": "Cost",
}
FILE = Path(__file__).with_name("measures.yaml")
_ATTACK = {
    "measure": "area under the ROC curve of training records against holdout records (0.5 is chance, 1 always "
    "recognised)",
    "direction": "lower is safer",
    "group": "privacy",
    "topic": "members",
    "scale": "score",
    "caveat": "A weak attack proves no safety: a stronger one may come. Greyed where the two sides differ by "
    "themselves (blind baseline).",
}
_AT_ONE_PERCENT = {
    "measure": "share of training records recognised where 1% of holdout records are taken for them (1% is chance)",
    "scale": "share",
    "means": "How many people an attacker names who accepts one false alarm in a hundred.",
}
_EXCESS = {
    "direction": "lower is safer",
    "means": "Zero means: the text is no closer to the records used than to records nobody used.",
    "caveat": "The training part is cut to the holdout's size, so a copy of a record outside the cut is not seen here.",
}


@dataclass(frozen=True)
class Measure:
    """A finding's words; `measures.yaml` says what each field holds."""

    name: str
    title: str
    measure: str
    direction: Direction
    group: Group
    topic: Topic
    scale: Scale
    means: str
    caveat: str
    source: str


def read_measures(text: str) -> dict[str, Measure]:
    """Return the measures of a file's text by name, in its order.

    Raises:
        InternalError: an entry lacks a field, has one too many or one that cannot be, or a name stands there twice.
    """
    found: dict[str, Measure] = {}
    for entry in yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        for values in _written_out(entry, found):
            made = _checked(values)
            if made.name in found:
                raise InternalError(f"measures.yaml: {made.name!r} stands there twice")
            found[made.name] = made
    return found


def _written_out(entry: Mapping[str, JSON], known: Mapping[str, Measure]) -> Iterator[dict[str, JSON]]:
    """Yield an entry's measures with all their fields."""
    if "attack" in entry:
        first: dict[str, JSON] = {**_ATTACK, **entry, "name": entry["attack"]}
        del first["attack"]
        yield first
        yield {
            **first, **_AT_ONE_PERCENT, "name": f"{first['name']}_tpr01",
            "title": f"{first.get('title')}: recognised at 1% false alarms",
            "source": f"{first.get('source')}; Carlini et al. 2022, section III, for the rate",
        }  # fmt: skip
    elif "excess_of" in entry:
        of = known.get(str(entry["excess_of"]))
        if of is None or len(entry) > 1:
            raise InternalError(f"measures.yaml: excess_of {entry['excess_of']!r} must name a measure above it, alone")
        yield {
            **vars(of), **_EXCESS, "name": f"{of.name}_excess", "title": f"{of.title}: more than chance",
            "measure": f"{of.measure}; training part minus holdout, at equal numbers of reference records",
        }  # fmt: skip
    else:
        yield dict(entry)


def _checked(values: Mapping[str, JSON]) -> Measure:
    name, wanted = values.get("name"), {field.name for field in fields(Measure)}
    if set(values) != wanted or not all(isinstance(value, str) and value for value in values.values()):
        odd = sorted(set(values) ^ wanted) or [key for key, value in values.items() if not isinstance(value, str)]
        raise InternalError(f"measures.yaml: {name!r} must have each field once, as text; look at {', '.join(odd)}")
    for key, allowed in (("direction", Direction), ("group", Group), ("topic", Topic), ("scale", Scale)):
        if values[key] not in get_args(allowed):
            raise InternalError(f"measures.yaml: {key} of {name!r} must be one of {', '.join(get_args(allowed))}")
    text: dict[str, str] = {key: str(value) for key, value in values.items()}
    return Measure(**text)  # type: ignore[arg-type]  # the four were looked at just above


MEASURES: dict[str, Measure] = read_measures(FILE.read_text("utf-8"))

REFERENCES: dict[str, str] = {
    "train": "training part",
    "holdout": "set aside (used by nobody)",
    "baseline": "real records in place of synthetic ones",
    "real": "real against real",
    "unrelated": "unrelated text",
    "none": "synthetic text",
}


def show(name: str, value: float) -> str:
    """Return a finding's value as people read it: per cent, percentage points (pp) for a difference, or a number."""
    if value != value:
        return "not estimable"
    measure = MEASURES.get(name)
    if measure is not None and measure.scale == "share":
        if name.endswith("_excess"):  # a difference of two shares
            return f"{100 * value:.1f} pp".replace("-", "−")
        if 0 < abs(value) < 0.001:
            return "under 0.1%" if value > 0 else "above −0.1%"
        return f"{100 * value:.1f}%".replace("-", "−")
    return (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}").replace("-", "−")
