"""What a population's lines say to a reader: a table of them, and a sentence on what was drawn and what is left.

Privacy posture: see `engine.store.budget.lines`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import pandas as pd

from engine.dp.events import Event, acting
from engine.dp.ledger import adjacency_of, units_of
from engine.dp.upward import downward, upward
from engine.store.budget.lines import Book, Line, LineBody, events_of

UNIT = {"source": "person"}
# The sum of a schedule; who chooses when to stop may pass it, and is held by the limit alone.
FIXED = "as if all runs had been fixed beforehand"
NEIGHBOURS = {"zero-out": "there or left out", "replace-one": "theirs or another's"}
LINE_COLUMNS = "seq at actor kind run_id method epsilon delta unit adjacency what sentence share_after".split()


@dataclass(frozen=True)
class Sum:
    """What the drawn outputs of one unit add up to at the limit's δ; epsilon is None while it is computed.

    adjacency: the neighbouring relation that it holds for.
    """

    unit: str
    adjacency: str
    epsilon: float | None


def table(book: Book) -> pd.DataFrame:
    """Return the lines as a table with the columns of `LINE_COLUMNS`."""
    rows = []
    for line in book.lines:
        own = {name: getattr(line, name) for name in ("seq", "at", "actor", "kind", "run_id")}
        rows.append({**{name: line.body.get(name) for name in LINE_COLUMNS}, **_protects(line.body), **own})
    frame = pd.DataFrame(rows, columns=LINE_COLUMNS)
    for name in ("epsilon", "delta", "share_after"):
        frame[name] = frame[name].astype("float64")
    return frame


def _protects(body: LineBody) -> dict[str, str | None]:
    """Return the unit and the neighbouring relation of a line's events; None where it has none that costs."""
    one = body.get("event")
    raw = body.get("events") or ([one] if one else [])
    events = acting(events_of(raw))
    return {
        "unit": " and ".join(sorted({event.unit for event in events})) or None,
        "adjacency": adjacency_of(events) or None,
    }


def sentence(book: Book, left: float, sums: Sequence[Sum]) -> str:
    """Return what was drawn, the limit, and what a further run may claim; left: that ε."""
    limit = book.state.limit
    if book.unbounded:
        return (
            "Records that carry no formal guarantee were released, so no number bounds what can be learnt about the "
            "people behind this corpus."
        )
    drawn = _drawn(book, sums)
    after = f"a further run may claim up to ε = {downward(left)}" if left > 0 else "no further run fits"
    if book.unknown:
        after = "no run is admitted until a person enters what was spent since"
    elif book.state.asked:
        after = "no run is admitted until a person says whether these are people of another ledger too"
    if len(units_of(book.state)) > 1:
        after = "no further run is admitted, since runs for records and runs for people cannot be added"
    above = ""
    if any(one.epsilon is not None and one.epsilon > limit.epsilon for one in sums):
        above = (
            " That is above the limit, which is lower than what was drawn before it was set or before people joined."
        )
    whole = bool(sums) and not above and _bounds_choices(book)
    limit_is = "What holds whatever was chosen is the limit," if whole else "The limit is"
    limit_is += f" ε = {upward(limit.epsilon, 6)} at δ = {upward(limit.delta)}"
    return f"{_lost(book)}{drawn}{above} {limit_is}; {after}.{_large(book)}"


def _bounds_choices(book: Book) -> bool:
    """Say whether the limit bounds all that was drawn, whichever runs were chosen by the outputs of others.

    It does where it stood before anything was drawn, everything drawn is known, and all of it is for one unit.
    """
    if book.unknown or len(units_of(book.state)) > 1 or book.share > 1.0 + 1e-9:
        return False
    drawn = [line.seq for line in book.lines if line.kind == "spend"]
    later = [line for line in book.lines if line.kind in ("limit", "merge") and drawn and line.seq > drawn[0]]
    return not later and not book.lowered


def _large(book: Book) -> str:
    """Return what is to be said of a chosen limit whose δ is too large for a corpus that came later."""
    if book.state.limit.delta * book.units < 1.0:
        return ""
    return (
        f" Its δ is 1/N or more for the largest corpus of these people (N = {book.units:,}), so by δ alone whole "
        "records might be published: set a smaller one."
    )


def _drawn(book: Book, sums: Sequence[Sum]) -> str:
    """Return what was drawn, with the unit and the neighbours that each sum holds for."""
    if not sums:
        return "No run has drawn on this budget yet."
    if any(one.epsilon is None for one in sums):
        return "What was drawn so far is being added up."
    bound = "at least " if book.unknown else ""
    delta = book.state.limit.delta
    said = [
        f"{bound}ε = {upward(one.epsilon or 0.0)} at δ = {upward(delta)} for each {UNIT.get(one.unit, one.unit)}, "
        f"whose data are "
        f"{NEIGHBOURS.get(one.adjacency, one.adjacency)} ({one.adjacency})"
        for one in sums
    ]
    if len(said) == 1:
        return f"What was drawn in runs so far adds up to {said[0]}, {FIXED}."
    return (
        f"Some runs protect records and some protect people. Neither covers the other, so there is no total; by "
        f"themselves they add up to {' and to '.join(said)}, {FIXED}."
    )


def by_unit(events: Sequence[Event]) -> list[list[Event]]:
    """Return the events that cost something, those of one unit together, in the order of the units' names."""
    live = acting(events)
    return [[event for event in live if event.unit == unit] for unit in sorted({event.unit for event in live})]


def _lost(book: Book) -> str:
    """Return what a ledger says of spends that it does not know, or knows from a person alone."""
    if book.unknown:
        since = datetime.fromisoformat(min(str(line.body["since"]) for line in book.unknown))
        return (
            f"What was spent after {since:%Y-%m-%d %H:%M} UTC is unknown, so every total is at least what stands here. "
        )
    return "".join(_entered(line) for line in book.declared)


def _entered(line: Line) -> str:
    """Return what a person said of the time that the ledger lost."""
    said = f"On {datetime.fromisoformat(line.at):%-d %b %Y} {line.actor}"
    if not line.body["epsilon"]:
        return f"{said} stated that nothing was spent elsewhere. "
    epsilon, delta = line.bound
    amount = f"ε = {upward(epsilon, 6)} at δ = {upward(delta)}"
    return f"{said} entered {amount} as spent in a time that the ledger lost; it is counted here. "
