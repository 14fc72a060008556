"""The sentence of one family of leakage measures: what of the records used stands in the text, beside chance.

Light: the web process imports this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.examine.findings.briefly import compared, judged, points, records, shared, unshared
from engine.examine.findings.findings import Finding, Reference
from engine.examine.findings.leak_words import ALL_BRIEFLY, ALL_COPIES, IDENTIFIERS, SAYS
from engine.examine.findings.levels import (
    COPIES,
    NEAREST,
    ONE_PERSON,
    OWN_SOURCE,
    clear_among,
    rests_on_all,
    stands_out,
    too_wide,
)
from engine.examine.findings.losses import find
from engine.examine.findings.sentence import BARELY, NEGLIGIBLE, Level, Sentence
from engine.examine.measures import show
from engine.json_types import as_object
from engine.pii.spans import LABELS

CANNOT = "cannot be compared"
EXACT = 1e-9  # a product of two differences that is so little below 0 is 0


def leaked(findings: Sequence[Finding], title: str, known: Sequence[tuple[str, str]]) -> Sentence:
    """Return the sentence about the first measure that stands out, else about the first that was measured."""
    measured = [(name, words) for name, words in known if find(findings, name, "train") is not None]
    if not measured:
        return Sentence(f"{title}: not measured.", "unknown", known[0][0])
    levels = {name: stands_out(findings, name) for name, _ in measured}
    clear = [name for name in levels if levels[name] == "leak" and clear_among(findings, name, len(measured))]
    name, words = next((pair for pair in measured if pair[0] in clear), _spoken_of(measured, levels))
    level, says = levels[name], SAYS[levels[name]]
    demoted = len(measured) if level == "leak" and name not in clear else 0
    if demoted:
        level, says = "unsure", f"one of {len(measured)} measures looked at together, so too little to tell from chance"
    if level == "leak" and name == NEAREST and _small(findings):
        level, says = "slight", SAYS["slight"]
    nothing = level == "unsure" and _nothing_seen(findings, tuple(levels))
    if nothing:
        says = f"no more was seen than chance gives; {_not_excluded(findings, name)}"
    beside: Reference = "baseline" if name == OWN_SOURCE else "holdout"
    train, holdout = find(findings, name, "train"), find(findings, name, beside)
    assert train is not None
    if holdout is None or level == "unknown":
        return Sentence(f"{title}: {_by_itself(words, name, train)}; {says}.", "unsure", name, _set_aside(train))
    equal = train.settings.get("equal_size_value")
    both = words.format(
        ours=show(name, train.value if equal is None else equal), theirs=show(name, holdout.value),
        size=records(findings, name, holdout),
    )  # fmt: skip
    why = _not_excluded(findings, name) if nothing else "" if level != "unsure" else _why(findings, name, demoted)
    brief = f"{title}: {compared(findings, name, train, holdout)}{f'; {why}' if why else ''}."
    real = find(findings, name, "baseline")
    if real is not None and rests_on_all(findings, name):
        said = ALL_COPIES[name].format(ours=show(name, train.value), theirs=show(name, real.value))
        ours, theirs = show(name, train.value), show(name, real.value)
        brief = f"{title}: {ours} of records {ALL_BRIEFLY[name]}; of real records that nobody used, {theirs} do."
        return Sentence(f"{title}: {said}: {SAYS['leak']}.", "leak", name, f"At equal numbers: {both}.", brief)
    against = f"Against all training records: {show(name, train.value)}."
    whole = [line for line in ("" if equal in (None, train.value) else against, _set_aside(train)) if line]
    lead = _lead(findings, name)
    if lead == CANNOT:
        excess = find(findings, f"{name}_excess", "holdout")
        assert excess is not None
        ends = f"{show(excess.name, excess.low or 0.0)} to {show(excess.name, excess.high or 0.0)}"
        of = f"the difference{_without(findings, name)}"
        more = f"At equal numbers {both}; the 95% interval of {of} is {ends}. {_set_aside(train)}"
        said = (
            f"{_by_itself(words, name, train, ends=False)}; how much of it is chance cannot be told from so few records"
        )
        brief = f"{title}: {shared(name, train.value)}; how much of it is chance cannot be told."
        return Sentence(f"{title}: {said}.", level, name, more.strip(), brief)
    if lead:
        further = (f"{both[0].upper()}{both[1:]}.", _difference(findings, name), *whole)
        more = "\n".join(line for line in further if line)
        return Sentence(f"{title}{lead}: {says}.", level, name, more, brief, nothing)
    return Sentence(f"{title}: {both}: {says}.", level, name, "\n".join(whole), brief, nothing)


def _spoken_of(measured: Sequence[tuple[str, str]], levels: Mapping[str, Level]) -> tuple[str, str]:
    """Return the measure to speak of where none stands out: the first, or what one person alone has if that is unsure.

    Values that several people have are held against a cut of the training part, which sees few leaks where few were set
    aside; so the first measure says chance only together with the one that sees all.
    """
    if levels[measured[0][0]] != "chance":
        return measured[0]
    return next((pair for pair in measured if pair[0] == ONE_PERSON and levels[ONE_PERSON] != "chance"), measured[0])


def _nothing_seen(findings: Sequence[Finding], names: Sequence[str]) -> bool:
    """Return whether none of these measures exceeds the holdout visibly, or could by much.

    A measure without an excess shows nothing where it is no more than chance, or was compared with nothing. A cut of
    the holdout's size sees few copies of a large training part: these have to be rare among all records used too.
    """
    whole = (find(findings, name, "train") for name in names if name in COPIES)
    if any(found is None or found.value > NEGLIGIBLE for found in whole):
        return False
    return all(
        stands_out(findings, name) in ("chance", "unknown") if excess is None
        else excess.low is not None and excess.high is not None and excess.low <= 0 and excess.low < excess.high
        and excess.value <= NEGLIGIBLE and excess.high <= BARELY
        for name in names for excess in (find(findings, f"{name}_excess", "holdout"),)
    )  # fmt: skip


def _not_excluded(findings: Sequence[Finding], name: str) -> str:
    """Return up to which excess nothing can be excluded with so few records; empty where that is not known."""
    excess = find(findings, f"{name}_excess", "holdout")
    if excess is None or excess.high is None:
        return ""
    return f"up to {points(excess, excess.high)} more cannot be excluded with so few records"


def _why(findings: Sequence[Finding], name: str, demoted: int) -> str:
    """Return why nothing can be told: what the interval leaves open, or how many measures were looked at together.

    Args:
        demoted: the number of measures beside which a difference that is clear by itself is not; 0 where it is not.
    """
    if demoted:
        return f"clear by itself, but not among {demoted} measures looked at together"
    excess = find(findings, f"{name}_excess", "holdout")
    if excess is None or excess.low is None or excess.high is None or not excess.low < excess.high > 0:
        return ""
    return f"up to {points(excess, excess.high)} above chance not excluded"


def _small(findings: Sequence[Finding]) -> bool:
    """Return whether closeness exceeds the holdout's by little at most: few close copies are counted as copies."""
    excess = find(findings, f"{NEAREST}_excess", "holdout")
    return excess is not None and excess.high is not None and excess.high <= NEGLIGIBLE


def _by_itself(words: str, name: str, train: Finding, *, ends: bool = True) -> str:
    """Return what was measured against the whole training part, by itself; `ends`: with its interval."""
    alone = words[: words.rindex(",", 0, words.index("{theirs}"))]
    for size in ("of {size} training", "from {size} training"):
        alone = alone.replace(size, size.replace("{size}", "the"))
    interval = "" if train.low is None or train.high is None or not ends else (
        f" (95% interval {show(name, train.low)} to {show(name, train.high)})"
    )  # fmt: skip
    return alone.format(ours=show(name, train.value) + interval)


def _set_aside(found: Finding) -> str:
    """Return how many values were not counted because many people share them, by type; empty where none was."""
    count, types = found.settings.get("set_aside"), as_object(found.settings.get("set_aside_types"))
    if not count:
        return ""
    named = ", ".join(f"{LABELS[label][0] if label in LABELS else label.lower()} {n}" for label, n in types.items())
    one = count == 1
    direct = int(found.settings.get("set_aside_direct") or 0)
    point = "points" if direct == 1 else "point"
    more = f" {direct} of them {point} at somebody directly: look in Review." if direct else ""
    return (
        f"Not counted: {count:,} {'value' if one else 'values'} ({named}) in the records of more than one person in "
        f"ten, so alone {'it tells' if one else 'they tell'} nobody apart.{more}"
    )


def _lead(findings: Sequence[Finding], name: str) -> str:
    """Return the excess over the holdout with its interval, for shares of identifiers: it stands for the shares."""
    excess = find(findings, f"{name}_excess", "holdout") if name in dict(IDENTIFIERS) else None
    if excess is None or excess.low is None or excess.high is None:
        return ""
    if too_wide(excess.name, excess.low, excess.high):
        return CANNOT
    train, holdout = (find(findings, name, reference) for reference in ("train", "holdout"))
    beside = ""
    if train is not None and holdout is not None:
        (ours, _), (theirs, _) = judged(findings, name, train, holdout)
        if excess.value * (ours - theirs) > -EXACT:  # of counts it can say otherwise than shares of texts do
            beside = f" ({show(name, ours)} against {show(name, theirs)})"
    often = "more often than" if excess.value > 0 else "less often than"
    if abs(excess.value) <= NEGLIGIBLE and excess.low <= 0 <= excess.high:
        often = "about as often as"
    return f": the text gives away values of records used {often} of records nobody used{beside}"


def _difference(findings: Sequence[Finding], name: str) -> str:
    """Return the excess with its interval as a sentence."""
    excess = find(findings, f"{name}_excess", "holdout")
    if excess is None or excess.low is None or excess.high is None:
        return ""
    ends = f" (95% interval {show(excess.name, excess.low)} to {show(excess.name, excess.high)})"
    said = f"Difference{_without(findings, name)}"
    return f"{said}: {show(excess.name, excess.value)}{ends if excess.low < excess.high else ''}."


def _without(findings: Sequence[Finding], name: str) -> str:
    """Return that a difference is of shares without what many people share, and these; empty where it is of all."""
    sides = unshared(findings, name)
    if sides is None:
        return ""
    (ours, _), (theirs, _) = sides
    return f" without what many people share ({show(name, ours)} against {show(name, theirs)})"
