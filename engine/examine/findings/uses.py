"""Say for which uses a synthetic text suits, from findings of usefulness: a table of six uses with marks.

Fixed here, before any run is looked at:
- A finding's loss is the share of the way from real text to unrelated text that the synthetic text lost; for a
  classifier, of the way to guessing: always the commonest label, or its answers dealt at random where that is more. A
  tick: at most `TICK` of it; a warning: at most `WARN`; a cross: more. The worst finding of a use decides.
- A use is not judged on fewer texts than its `least`, nor where the interval of one of its findings reaches from a tick
  to a cross, unless another is a cross already: then it is unknown, and the sentence says about how many texts would be
  needed, or that no number within reach would do. The interval is that of the difference between synthetic and real
  text (`losses`): real text differs from real text too. Nor is a cross given where a finding's own interval overlaps
  that of real against real: the text could be as good as real text. More variety than that has is a warning at most.
- No line contradicts another. Text that clearly fewer records of can be read than of real text suits neither for
  teaching nor for search nor to train a language model, and nothing but statistics without care. A language model is
  no tick where word pairs (software) or variety and readability (teaching) are a cross.

Light: the web process imports this.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from engine.examine.findings.findings import CLOSER, Finding, Reference
from engine.examine.findings.losses import Loss, find, loss_of, overlaps_real
from engine.examine.measures import MEASURES, show

__all__ = [
    "TICK",
    "USES",
    "WARN",
    "Mark",
    "Purpose",
    "Use",
    "clearly_lost",
    "headline",
    "lost",
    "too_few",
    "unreadable",
    "use_table",
]

Mark = Literal["tick", "warning", "cross", "unknown"]

TICK, WARN = 0.10, 0.35
BEYOND_REACH = 100  # times the texts there are: more than that is no advice
VARIETY = "distinct_2"
READABLE_OF_REAL = 0.8  # below this part of the real share, a run's text counts as saying nothing
_WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ORDER: tuple[Mark, ...] = ("tick", "warning", "cross")


@dataclass(frozen=True)
class Use:
    """One use of synthetic text.

    Args:
        use: its name. mark: how far the text suits. sentence: why. finding: the one that decided.
        lost: share of the way to unrelated text lost, or None.
        size: how many texts or tokens (`counted`) the finding rests on, None where nothing was measured.
        least: how many are needed for a judgement.
    """

    use: str
    mark: Mark
    sentence: str
    finding: str
    lost: float | None
    size: int | None = None
    least: int = 0
    counted: str = "texts"

    @property
    def waits(self) -> bool:
        """Whether it is not judged for want of texts alone."""
        return self.mark == "unknown" and self.counted == "texts" and bool(self.size) and (self.size or 0) < self.least


@dataclass(frozen=True)
class Purpose:
    """What a use rests on.

    Args:
        key, use: stable identifier, and name.
        needed: findings that must have been measured.
        more: what counts too where it was measured (examinations of earlier editions lack it).
        least: how many texts (`counted`) the findings must rest on.
        unread: the best mark where the text cannot be read, None where that does not matter.
        not_beyond: keys of uses whose cross leaves this one no tick.
    """

    key: str
    use: str
    needed: tuple[str, ...]
    more: tuple[str, ...] = ()
    least: int = 50
    counted: str = "texts"
    unread: Mark | None = None
    not_beyond: tuple[str, ...] = ()


TELLS_NOTHING = "unrelated text does as well as real text, so it tells nothing here"

USES: tuple[Purpose, ...] = (
    Purpose("statistics", "Sharing statistics of words and lengths", ("length_distance", "js_1gram")),
    Purpose("software", "Building software: search rules, dictionaries, test data", ("js_1gram", "js_2gram"),
            unread="warning"),
    Purpose("classifier", "Training a classifier", ("classifier_f1",), unread="warning"),
    Purpose("teaching", "Teaching, and reading many different examples", ("readable", "self_bleu", "distinct_2"),
            ("balance",), unread="cross"),
    Purpose("language_model", "Training a language model", ("next_word",), (), 10_000, "tokens", "cross",
            ("software", "teaching")),
    Purpose("search", "Searching by topic and meaning", ("embedding_similarity", "mauve"), ("kid", "topic_shift"), 100,
            unread="cross"),
)  # fmt: skip


def unreadable(findings: Sequence[Finding]) -> bool:
    """Return whether clearly fewer synthetic records can be read than real ones: the interval lies below 0.8 of it."""
    ours, real = (find(findings, "readable", reference) for reference in ("none", "baseline"))
    if ours is None or ours.high is None:
        return False
    return ours.high < READABLE_OF_REAL * (1.0 if real is None else real.value)


def lost(findings: Sequence[Finding], name: str) -> float | None:
    """Return which share of the way from real against real to unrelated text was lost; 0 = as good as real.

    Diversity has no unrelated level; there it is the relative difference to real. None where not measured, or where
    unrelated text does no worse than real text.
    """
    loss = loss_of(findings, name)
    return None if loss is None else loss.value


def tells_nothing(findings: Sequence[Finding], name: str) -> bool:
    """Return whether unrelated text does as well as real text by a measure, so that no text can be judged by it."""
    return loss_of(findings, name) is None and _why(findings, name) == TELLS_NOTHING


def mark_of(part: float) -> Mark:
    """Return the mark of a loss."""
    return "tick" if part <= TICK else "warning" if part <= WARN else "cross"


def clearly_lost(findings: Sequence[Finding]) -> dict[str, Mark]:
    """Return the measures that clearly lost part of the way from real to unrelated text: a warning or a cross each.

    The lower end of a loss decides, so that no measure is named that chance alone may have moved.
    """
    losses = (loss_of(findings, name) for name in dict.fromkeys(f.name for f in findings))
    marks = {loss.name: mark_of(loss.low) for loss in losses if loss is not None and not _like_real(loss, findings)}
    return {name: mark for name, mark in marks.items() if mark != "tick"}


def use_table(findings: Sequence[Finding]) -> tuple[Use, ...]:
    """Return each use with the mark of its worst finding, none contradicting another.

    Args:
        findings: of one run, those of privacy too where there are any: whether the text can be read stands among them.
    """
    rows = {purpose.key: _judged(purpose, findings) for purpose in USES}
    if unreadable(findings):
        rows = {purpose.key: _unreadable(purpose, rows[purpose.key], findings) for purpose in USES}
    for purpose in USES:
        for other in purpose.not_beyond:
            if rows[other].mark == "cross" and rows[purpose.key].mark == "tick":
                mine, limit = rows[purpose.key], rows[other]
                why = f"{mine.sentence} But {MEASURES[limit.finding].title.lower()} does not suit: {limit.sentence}"
                rows[purpose.key] = replace(mine, mark="warning", sentence=why, finding=limit.finding)
    return tuple(rows[purpose.key] for purpose in USES)


def headline(uses: Sequence[Use]) -> str:
    """Return in one sentence or two how many uses a text suits, and for how many that is not known.

    Args:
        uses: all uses with their marks.
    """
    counts = {mark: sum(use.mark == mark for use in uses) for mark in (*_ORDER, "unknown")}
    every, known = _counted(len(uses)), len(uses) - counts["unknown"]
    if not known:
        return f"Not known for any of {every} uses."
    care = f"{_counted(counts['warning'])} with care" if counts["warning"] else ""
    if counts["tick"] == len(uses):
        return f"Suits all {every} uses."
    if counts["tick"]:
        said = f"Suits {_counted(counts['tick'])} of {every} uses" + (f", {care}" if care else "")
    else:
        said = _suits_none(len(uses), known, counts["warning"])
    return f"{said}{'; ' + _counted(counts['unknown']) + ' not known' if counts['unknown'] else ''}."


def _suits_none(every: int, known: int, careful: int) -> str:
    """Return that a text suits no use as it is, of those alone that could be judged."""
    care = f" without care, {_counted(careful)} with care" if careful else ""
    if known == every:
        return f"Suits none of {_counted(every)} uses{care}"
    if known > 1:
        return f"Suits none of the {_counted(known)} uses that could be judged{care}"
    return f"{'Suits only with care' if careful else 'Does not suit'} the one use that could be judged"


def too_few(uses: Sequence[Use]) -> str:
    """Return in a few words how many texts there are and how many a judgement needs, where no use could be judged.

    Empty where a use is judged, and where none waits for texts.
    """
    waiting = [use for use in uses if use.waits]
    if not waiting or any(use.mark != "unknown" for use in uses):
        return ""
    size, least = min(use.size or 0 for use in waiting), min(use.least for use in waiting)
    return f"{size:,} texts: too few to judge, at least {least:,} are needed"


def _counted(number: int) -> str:
    """Return a small number as a word."""
    return _WORDS[number] if number < len(_WORDS) else f"{number:,}"


def _judged(purpose: Purpose, findings: Sequence[Finding]) -> Use:
    """Return a use by its own findings alone."""
    found = [(name, loss_of(findings, name)) for name in (*purpose.needed, *purpose.more)]
    losses = [loss for _, loss in found if loss is not None]
    empty = [name for name, _ in found if tells_nothing(findings, name)]
    lacking = [name for name, loss in found if loss is None and name in purpose.needed]
    unmeasured = [name for name in lacking if name not in empty] or ([] if losses else lacking)
    if unmeasured:
        missing = unmeasured[0]
        why = f"{MEASURES[missing].title}: {_why(findings, missing)}."
        return Use(purpose.use, "unknown", why, missing, None, None, purpose.least, purpose.counted)
    worst = _deciding(losses, findings)
    fewest = min(losses, key=lambda loss: loss.size)
    row = Use(purpose.use, _marked(worst, findings), "", worst.name, worst.value, fewest.size, purpose.least,
              purpose.counted)  # fmt: skip
    if fewest.size < purpose.least and fewest.counted == purpose.counted:
        why = f"{MEASURES[fewest.name].title} rests on {fewest.size:,} {purpose.counted}; {purpose.least:,} are needed."
        return replace(row, mark="unknown", sentence=why, finding=fewest.name)
    if _like_real(worst, findings):
        why = (
            f"{MEASURES[worst.name].title}: {_values(findings, worst.name)}. At {worst.size:,} {worst.counted} its "
            "interval overlaps that of real text, so it may be as good as real text, or useless."
        )
        return replace(row, mark="unknown", sentence=why, size=worst.size)
    if _open(worst, findings):
        return _unsettled(row, worst, findings)
    beside = f" {MEASURES[empty[0]].title}: {TELLS_NOTHING}." if empty else ""
    return replace(row, sentence=f"{MEASURES[worst.name].title}: {_values(findings, worst.name)}.{beside}")


def _open(loss: Loss, findings: Sequence[Finding]) -> bool:
    """Return whether an interval reaches from a tick to a cross, or a cross could be real text."""
    return (mark_of(loss.low) == "tick" and mark_of(loss.high) == "cross") or _like_real(loss, findings)


def _like_real(loss: Loss, findings: Sequence[Finding]) -> bool:
    """Return whether a measure would be a cross by its value, while its interval overlaps that of real text."""
    wide = mark_of(loss.low) == "tick"  # said by how wide it is, with the number of texts that would settle it
    return not wide and _marked(loss, findings) == "cross" and overlaps_real(findings, loss.name)


def _marked(loss: Loss, findings: Sequence[Finding]) -> Mark:
    """Return the mark of a loss; more variety than real text has needs care, and rules no use out."""
    ours, real = find(findings, loss.name, "train"), find(findings, loss.name, "real")
    mark = mark_of(loss.value)
    if loss.name == VARIETY and mark == "cross" and ours is not None and real is not None and ours.value > real.value:
        return "warning"
    return mark


def _deciding(losses: Sequence[Loss], findings: Sequence[Finding]) -> Loss:
    """Return the loss that decides: the worst settled one where that is a cross, else the worst that is open, if any.

    A measure that could be a cross as well leaves no tick and no warning, though its own value is not the worst.
    """
    settled, unsettled = ([loss for loss in losses if _open(loss, findings) == is_open] for is_open in (False, True))
    crosses = [loss for loss in settled if _marked(loss, findings) == "cross"]
    return max(crosses or unsettled or settled, key=lambda loss: loss.value)


def _unsettled(row: Use, worst: Loss, findings: Sequence[Finding]) -> Use:
    """Return a use whose deciding interval is too wide, with about how many texts would settle it."""
    needed = math.ceil(worst.size * (worst.width / (WARN - TICK)) ** 2 - 1e-6)
    why = (
        f"{MEASURES[worst.name].title}: {_values(findings, worst.name)}. The interval reaches from good to bad at "
        f"{worst.size:,} {worst.counted}; "
    )
    if needed > BEYOND_REACH * worst.size:
        why += "real and unrelated text lie too close together in this measure for more texts to settle it."
        return replace(row, mark="unknown", sentence=why, size=worst.size)
    why += f"about {_round(needed):,} are needed."
    return replace(row, mark="unknown", sentence=why, size=worst.size, least=_round(needed), counted=worst.counted)


def _unreadable(purpose: Purpose, row: Use, findings: Sequence[Finding]) -> Use:
    """Return a use of text that cannot be read: no better than its limit."""
    if purpose.unread is None or row.mark == "cross":
        return row
    if purpose.unread != "cross" and row.mark != "tick":
        return row
    ours = find(findings, "readable", "none")
    real = find(findings, "readable", "baseline")
    beside = "" if real is None else f", of real records that nobody used {show('readable', real.value)}"
    part = "" if ours is None else show("readable", ours.value)
    why = f"Only {part} of the synthetic records can be read{beside}."
    return replace(row, mark=purpose.unread, sentence=why, finding="readable", lost=lost(findings, "readable"))


def _why(findings: Sequence[Finding], name: str) -> str:
    """Return why a needed finding has no loss."""
    reference: Reference = "none" if name == "readable" else "train"
    for finding in findings:
        if finding.name == name and finding.reference == reference and finding.value != finding.value:
            return str(finding.settings.get("why", "not measured"))
    if find(findings, name, reference) is None:
        return "not measured"
    if name == "classifier_f1":
        return "as many real records teach no more than guessing; more texts are needed, or labels that the text tells"
    if find(findings, name, "real") is None:
        return "there is no real text beside it"
    return TELLS_NOTHING


def _values(findings: Sequence[Finding], name: str) -> str:
    if name == "readable":
        ours, real = find(findings, name, "none"), find(findings, name, "baseline")
        beside = "" if real is None else f", real records that nobody used {show(name, real.value)}"
    else:
        ours, real = find(findings, name, "train"), find(findings, name, "real")
        beside = "" if real is None else f", real text {show(name, real.value)}"
    if ours is None:
        return ""
    if real is not None and ours.direction == CLOSER and show(name, ours.value) != show(name, real.value):
        beside += f", so {'above' if ours.value > real.value else 'below'} it"
    loss = None if name == "readable" else loss_of(findings, name)
    if loss is None:
        return f"{show(name, ours.value)}{beside}; {ours.direction}"
    return f"{_way(loss, findings)} ({show(name, ours.value)}{beside})"


def _way(loss: Loss, findings: Sequence[Finding]) -> str:
    """Return a loss in words: how much of which way is lost."""
    part = "nothing" if loss.value < 0.005 else f"{100 * loss.value:.0f}%" if loss.value <= 1.0 else "more than all"
    if loss.name == "classifier_f1":
        return f"{part} of the way from real text to guessing is lost"
    if find(findings, loss.name, "unrelated") is None:
        return "as in real text" if part == "nothing" else f"{100 * loss.value:.0f}% away from real text"
    return f"{part} of the way from real to unrelated text is lost"


def _round(number: int) -> int:
    """Return a number with two figures, rounded up."""
    unit = 10 ** max(0, len(str(number)) - 2)
    return -(-number // unit) * unit
