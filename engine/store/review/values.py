"""Values: one row a distinct value and label, for bulk decisions; the review's quality numbers.

Privacy posture: groups are made by keyed digests; the value shown is read from one example's text.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, TypedDict

import pandas as pd
from sqlalchemy import Connection, case, func, select

from engine.errors import NotFoundError
from engine.store.corpora.corpora import Corpora
from engine.store.database.dialect import of_records
from engine.store.database.schema import record_index, spans
from engine.store.records import read_rows
from engine.store.review import decisions
from engine.store.review.memory import TOTALS, recalled, remembered, spared
from engine.store.review.queries import PRESSING, alike_rows, check, check_action, pressing
from engine.store.review.review import Review
from engine.store.review.spans import accepted_spans
from engine.store.rows import AnyRow
from engine.store.session import Session
from engine.store.summaries import corpus_row, totals

if TYPE_CHECKING:
    from engine.pii.evaluate import Evaluation


VALUE_COLUMNS = ["value_key", "value", "label", "count", "records", "state", "decided", "confidence"]
VALUE_STATES = ("accepted", "rejected", "mixed", "undecided", "decided")
LONGEST_VALUE = 400  # characters of a value that are shown
AT_ONCE = 500  # records asked for in one query
MANY = 2000  # records from which reading the whole column is quicker


class Missed(TypedDict):
    """Share of identifiers that detection misses, with its 95% interval, identifiers and misses seen, records read."""

    value: float
    low: float
    high: float
    n: int
    missed: int
    records: int
    sentence: str


class Values:
    """The values of a corpus: one row a distinct value and label, for decisions in bulk; quality of detection."""

    def __init__(self, session: Session, corpora: Corpora, review: Review) -> None:
        self.session = session
        self.corpora = corpora
        self.review = review

    def table(
        self,
        corpus_id: str,
        *,
        labels: Sequence[str] = (),
        state: str | None = None,
        search: str | None = None,
        within: Collection[str] | None = None,
        offset: int = 0,
        limit: int = 50,
    ) -> tuple[pd.DataFrame, int]:
        """Return a page of distinct values and how many there are.

        First those that point at one person by themselves, then what goes, then what stays; of each the most frequent.
        `within` keeps those of these `value_key`s; `state` is accepted, rejected or mixed; `decided` counts the
        decided spans of the value, `confidence` is the mean score of its spans.
        """
        check(state, VALUE_STATES, "state")
        accepted = func.count().filter(spans.c.state == "accepted")
        decided = func.count().filter(spans.c.decided.is_(True))
        n = func.count()
        query = (
            select(
                spans.c.value_key,
                spans.c.label,
                n.label("n"),
                func.count(spans.c.position.distinct()).label("records"),
                accepted.label("accepted"),
                decided.label("decided"),
                func.avg(spans.c.score).label("confidence"),
                func.min(spans.c.id).label("example"),
                func.max(case((spans.c.identifier_type == "direct", 1), else_=0)).label("direct"),
            )
            .where(spans.c.corpus_id == corpus_id, spans.c.active.is_(True))
            .group_by(spans.c.value_key, spans.c.label)
        )
        if labels:
            query = query.where(spans.c.label.in_(list(labels)))
        conditions = {
            "accepted": accepted == n,
            "rejected": accepted == 0,
            "mixed": (accepted > 0) & (accepted < n),
            "undecided": decided < n,
            "decided": decided == n,
        }
        if state is not None:
            query = query.having(conditions[state])
        found = query.subquery()
        placed = select(found, spans.c.position, spans.c.start, spans.c.end).join(spans, spans.c.id == found.c.example)
        goes = case((found.c.accepted > 0, 1), else_=0)
        first = (found.c.direct.desc(), goes.desc(), found.c.n.desc())
        placed = placed.order_by(*first, found.c.value_key, found.c.label)
        name = f"values {sorted(labels)} {state}"
        rows = remembered(self.session.db, corpus_id, name, lambda c: list(c.execute(placed)))
        if within is not None:
            rows = [row for row in rows if _key(row) in within]
        if search and search.strip():
            matching, needle = self.review.matching(corpus_id, search), search.strip().casefold()
            candidates = [r for r in rows if r.position in matching]
            shown = self._surfaces(corpus_id, candidates)
            rows = [r for r in candidates if needle in shown[r.example].casefold()]
            page = rows[offset : offset + limit]
        else:
            page = rows[offset : offset + limit]
            shown = self._surfaces(corpus_id, page)
        table = [_value_row(row, shown[row.example]) for row in page]
        return pd.DataFrame(table, columns=VALUE_COLUMNS), len(rows)

    def keys_at(self, corpus_id: str, places: Collection[tuple[str, int, int]]) -> set[str]:
        """Return the `value_key`s of the findings at these places: record id and half-open offsets."""
        query = (
            select(record_index.c.record_id, spans.c.start, spans.c.end, spans.c.value_key, spans.c.label)
            .join(
                record_index,
                (record_index.c.corpus_id == spans.c.corpus_id) & (record_index.c.position == spans.c.position),
            )
            .where(spans.c.corpus_id == corpus_id, spans.c.active.is_(True))
        )
        asked, records = set(places), sorted({record for record, _, _ in places})
        found: set[str] = set()
        with self.session.db.read() as connection:
            for at in range(0, len(records), AT_ONCE):
                some = query.where(of_records(record_index.c.position, corpus_id, records[at : at + AT_ONCE]))
                found |= {_key(r) for r in connection.execute(some) if (r.record_id, r.start, r.end) in asked}
        return found

    def decide(
        self, corpus_id: str, value_keys: Sequence[str], action: str, label: str | None = None, *, again: bool = False
    ) -> int:
        """Decide every span with one of these values and labels, as one step of undo; return how many.

        Args:
            again: decide anew what a person decided before; otherwise it stays as it is.

        Raises:
            NotFoundError: no span has any of the values any more; values that are gone are left out otherwise.
        """
        check_action(action, label)
        with self.session.db.write() as connection:
            corpus_row(connection, corpus_id)
            rows = []
            for value_key in dict.fromkeys(value_keys):
                key, _, old_label = value_key.partition(".")
                rows += alike_rows(connection, corpus_id, key, old_label)
            if not rows:
                raise NotFoundError("no span has this value any more; a newer detection may have replaced it")
            open_ = [r for r in rows if again or not r.decided]
            count = decisions.apply(connection, corpus_id, open_, action, label, self.session)
            decisions.note(self.session, connection, corpus_id, {action: count})
            return count

    def gold_evaluation(self, corpus_id: str) -> Evaluation | None:
        """Compare the accepted spans with the gold spans; None where the corpus has no gold spans."""
        from engine.pii.evaluate import evaluate

        def measure(connection: Connection) -> Evaluation | None:
            if not corpus_row(connection, corpus_id).has_gold:
                return None
            gold = _origin_frame(connection, corpus_id, "gold")
            records = self.corpora.frame(corpus_id, columns=["record_id", "text"])
            return evaluate(gold, accepted_spans(connection, corpus_id), records)

        return remembered(self.session.db, corpus_id, "gold evaluation", measure)

    def pressing(self, corpus_id: str) -> int:
        """Return how many spans in force point at one person by themselves, stay, and were not looked at.

        In a large corpus it may be the number of a moment ago.
        """
        return spared(self.session.db, corpus_id, PRESSING, lambda c: pressing(c, corpus_id))

    def residual_risk(self, corpus_id: str) -> Missed | None:
        """Estimate the share of identifiers that detection misses, from the records marked as reviewed.

        Returns:
            value, low, high (95% interval), n (identifiers in them), missed, records, and a sentence;
            None where no record was marked.
        """
        from engine.pii.decide.missed import ResidualRisk, residual_risk

        query = (
            select(record_index.c.record_id, spans.c.recogniser, spans.c.state)
            .join(
                record_index,
                (record_index.c.corpus_id == spans.c.corpus_id) & (record_index.c.position == spans.c.position),
            )
            .where(spans.c.corpus_id == corpus_id, spans.c.active.is_(True), record_index.c.reviewed.is_(True))
        )

        def estimate(connection: Connection) -> ResidualRisk | None:
            mine = record_index.c.corpus_id == corpus_id
            marked = select(record_index.c.record_id).where(mine, record_index.c.reviewed.is_(True))
            found = recalled(connection, corpus_id, TOTALS, lambda c: totals(c, corpus_id))
            reviewed = list(connection.execute(marked).scalars()) if found.reviewed else []
            rows = [tuple(r) for r in connection.execute(query)] if reviewed else []
            return residual_risk(pd.DataFrame(rows, columns=["record_id", "recogniser", "state"]), reviewed)

        risk = remembered(self.session.db, corpus_id, "residual risk", estimate)
        if risk is None:
            return None
        sentence = _residual_sentence(risk.missed, risk.n, risk.records)
        return {
            "value": risk.value, "low": risk.low, "high": risk.high, "n": risk.n, "missed": risk.missed,
            "records": risk.records, "sentence": sentence,
        }  # fmt: skip

    def _surfaces(self, corpus_id: str, rows: Sequence[AnyRow]) -> dict[int, str]:
        """Return the surface form of each row's example span, by its number."""
        positions = sorted({r.position for r in rows})
        if len(positions) > MANY:
            texts = dict(enumerate(self.review.texts(corpus_id).to_pylist()))
        else:
            texts = dict(zip(positions, read_rows(self.session.folder.records(corpus_id), positions)["text"]))
        return {r.example: str(texts[r.position])[r.start : r.end][:LONGEST_VALUE] for r in rows}


def _key(row: AnyRow) -> str:
    return f"{row.value_key}.{row.label}"


def _value_row(row: AnyRow, value: str) -> tuple[object, ...]:
    state = "accepted" if row.accepted == row.n else "rejected" if row.accepted == 0 else "mixed"
    return (
        _key(row),
        value,
        row.label,
        row.n,
        row.records,
        state,
        int(row.decided),
        row.confidence,
    )


def _residual_sentence(missed: int, n: int, records: int) -> str:
    return (
        f"In {records:,} reviewed record{'s' if records != 1 else ''} a person added {missed:,} of "
        f"{n:,} identifiers by hand. This holds for the others only if these records were not chosen by what "
        "was found in them."
    )


def _origin_frame(connection: Connection, corpus_id: str, origin: str) -> pd.DataFrame:
    from engine.pii.gold import COLUMNS

    query = (
        select(
            record_index.c.record_id,
            spans.c.start,
            spans.c.end,
            spans.c.first_label,
            spans.c.identifier_type,
            spans.c.entity_key,
        )
        .join(
            record_index,
            (record_index.c.corpus_id == spans.c.corpus_id) & (record_index.c.position == spans.c.position),
        )
        .where(spans.c.corpus_id == corpus_id, spans.c.origin == origin)
        .order_by(spans.c.position, spans.c.start, spans.c.end)
    )
    rows = [tuple(r) for r in connection.execute(query)]
    return pd.DataFrame(rows, columns=COLUMNS)
