"""Say in plain sentences what the findings mean: three for privacy, a table of uses for utility.

Thresholds are fixed here, before any run is looked at:
- privacy compares the training part with the holdout at equal size (`_excess`). An excess whose interval lies
  above 0 is `leak`; one whose upper end is at most `NEGLIGIBLE` is `chance`; anything else `unsure`.
- utility compares synthetic with real against real at the same n, on the way from real to unrelated text.
  A tick: at most `TICK` of that way lost; a warning: at most `WARN`; a cross: more.

Light: the web process imports this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engine.analysis.findings import Finding, Reference
from engine.analysis.measures import MEASURES, show

Level = Literal["leak", "unsure", "chance", "unknown"]
Mark = Literal["tick", "warning", "cross", "unknown"]

NEGLIGIBLE = 0.02
TICK, WARN = 0.10, 0.35
MARKS: tuple[Mark, ...] = ("tick", "warning", "cross", "unknown")


@dataclass(frozen=True)
class Sentence:
    """One sentence of the privacy verdict, its level, and the finding it rests on."""

    text: str
    level: Level
    finding: str


@dataclass(frozen=True)
class Use:
    """One use of synthetic text: mark, the finding that decided, share of the way to unrelated text lost."""

    use: str
    mark: Mark
    sentence: str
    finding: str
    lost: float | None


USES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Counting words and simple statistics", ("length_distance", "js_1gram")),
    ("Building search, rules and dictionaries", ("js_1gram", "js_2gram")),
    ("Training and testing language tools", ("js_2gram", "js_3gram", "mauve")),
    ("Topics and clusters", ("embedding_similarity", "mauve")),
    ("Reading many different examples", ("self_bleu", "distinct_2")),
)


def _find(findings: Sequence[Finding], name: str, reference: Reference) -> Finding | None:
    found = [f for f in findings if f.name == name and f.reference == reference and f.value == f.value]
    return found[0] if found else None


def level_of(excess: Finding | None) -> Level:
    """Return what an excess over the holdout says."""
    if excess is None or excess.low is None or excess.high is None:
        return "unknown"
    if excess.low > 0:
        return "leak"
    return "chance" if excess.high <= NEGLIGIBLE else "unsure"


_SAYS: dict[Level, str] = {
    "leak": "more than chance explains",
    "unsure": "too few records to tell from chance",
    "chance": "no more than chance explains",
    "unknown": "there is no holdout to compare with",
}
_PRIVACY = (
    ("pipp", "Real identifiers: {value} of the synthetic records contain a private entity of the training part"),
    ("verbatim_8gram", "Copied text: {value} of the records repeat eight words in a row from the training part"),
    ("nearest_similarity", "Closeness: a record's nearest training record has cosine similarity {value} on average"),
)  # fmt: skip


def privacy_verdict(findings: Sequence[Finding]) -> tuple[Sentence, ...]:
    """Return three sentences: identifiers, copies, closeness; each with its level."""
    sentences = []
    for name, words in _PRIVACY:
        train = _find(findings, name, "train")
        if train is None:
            sentences.append(Sentence(f"{MEASURES[name].title}: not measured.", "unknown", name))
            continue
        level = level_of(_find(findings, f"{name}_excess", "holdout"))
        text = f"{words.format(value=show(name, train.value))}; {_SAYS[level]}."
        sentences.append(Sentence(text, level, name))
    return tuple(sentences)


def lost(findings: Sequence[Finding], name: str) -> float | None:
    """Return which share of the way from real against real to unrelated text was lost; 0 = as good as real.

    Diversity has no unrelated level; there it is the relative difference to real. None where not measured.
    """
    ours, real = _find(findings, name, "train"), _find(findings, name, "real")
    if ours is None or real is None:
        return None
    far = _find(findings, name, "unrelated")
    difference = ours.value - real.value
    if far is None:
        return abs(difference) / abs(real.value) if real.value else None
    way = far.value - real.value
    if way == 0:
        return None
    part = difference / way
    return abs(part) if ours.direction == "closer to real is better" else max(0.0, part)


def use_table(findings: Sequence[Finding]) -> tuple[Use, ...]:
    """Return each use with the mark of its worst finding."""
    rows = []
    for use, names in USES:
        parts = {name: part for name in names if (part := lost(findings, name)) is not None}
        if len(parts) < len(names):
            missing = next(name for name in names if name not in parts)
            rows.append(Use(use, "unknown", f"{MEASURES[missing].title}: not measured.", missing, None))
            continue
        worst = max(parts, key=lambda name: parts[name])
        mark: Mark = "tick" if parts[worst] <= TICK else "warning" if parts[worst] <= WARN else "cross"
        ours, real = _find(findings, worst, "train"), _find(findings, worst, "real")
        values = "" if ours is None or real is None else (
            f"{show(worst, ours.value)}, real against real {show(worst, real.value)}"
        )  # fmt: skip
        rows.append(Use(use, mark, f"{MEASURES[worst].title}: {values}.", worst, parts[worst]))
    return tuple(rows)
