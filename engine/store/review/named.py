"""Who is named in the records of several units, so that a guarantee protects them as a group of k alone.

A claim protects each unit, the record's or the source's own. Somebody who is named in the records of k units stands
behind all of them (`engine.dp.groups`). Counted over accepted spans of persons in the training part, which is all that
a method reads; a unit counts once. A name is compared whole (`engine.pii.name_form`), so k is a count of a name, not of
a person: it is too high where several people have one name, too low where one has several spellings or was missed.

Privacy posture: every number here is read from private text and stays inside: none goes into a guarantee, a card or a
bundle. What is kept in memory are keyed digests and positions; names are read from their texts when they are shown.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import pandas as pd
from sqlalchemy import Connection, select, update

from engine.errors import NotFoundError, UserError
from engine.pii.spans import canonical_label, folded
from engine.store.database.schema import corpora, record_index, spans
from engine.store.records import read_table
from engine.store.review.memory import remembered
from engine.store.review.search import texts_at
from engine.store.review.spans import value_key
from engine.store.session import Session
from engine.store.summaries import corpus_row

NAME_COLUMNS = ["name_key", "name", "units", "records", "places", "spellings", "known"]
LONGEST = 500  # characters of a known identifier
_Place = tuple[int, int, int]  # position, start, end


@dataclass(frozen=True)
class Spread:
    """In how many units names stand.

    unit: `record` or `source`. units: of the training part. largest: units of the name that stands in most, 0 without
    names. by_units: units a name stands in -> how many names do.
    """

    unit: str
    units: int
    largest: int
    by_units: dict[int, int]

    def at_least(self, units: int) -> int:
        """Return how many names stand in so many units or more."""
        return sum(count for size, count in self.by_units.items() if size >= units)


@dataclass
class _Name:
    """A name's counts; `spellings`: by keyed digest, one place where each stands."""

    units: set[str] = field(default_factory=set)
    records: set[int] = field(default_factory=set)
    places: int = 0
    spellings: dict[str, _Place] = field(default_factory=dict)


class Named:
    """People who are named in the records of several units."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def spread(self, corpus_id: str) -> Spread:
        """Return in how many units names stand; internal, never released."""
        found = self._found(corpus_id)
        with self.session.db.read() as connection:
            row = corpus_row(connection, corpus_id)
        counts = Counter(len(name.units) for name in found.values())
        return Spread(row.unit, row.units - row.holdout_units, max(counts, default=0), dict(sorted(counts.items())))

    def names(self, corpus_id: str, *, at_least: int = 2, offset: int = 0, limit: int = 50) -> tuple[pd.DataFrame, int]:
        """Return a page of names that stand in so many units or more, those in most first, and how many there are.

        Columns: `NAME_COLUMNS`; `known`: whether each spelling is on the list of known identifiers.
        """
        chosen = self._chosen(corpus_id, at_least)
        page = chosen[offset : offset + limit]
        shown = self._surfaces(corpus_id, [place for _, name in page for place in name.spellings.values()])
        with self.session.db.read() as connection:
            listed = _listed(corpus_row(connection, corpus_id).detector)
        rows = []
        for key, name in page:
            surfaces = [shown[place] for place in name.spellings.values()]
            known = all(folded(surface) in listed for surface in surfaces)
            rows.append((key, surfaces[0], len(name.units), len(name.records), name.places, len(surfaces), known))
        return pd.DataFrame(rows, columns=NAME_COLUMNS), len(chosen)

    def spellings(self, corpus_id: str, *, at_least: int) -> list[str]:
        """Return every spelling of the names that stand in so many units or more, for redaction before a run."""
        places = [place for _, name in self._chosen(corpus_id, at_least) for place in name.spellings.values()]
        shown = self._surfaces(corpus_id, places)
        return [shown[place] for place in places]

    def make_known(self, corpus_id: str, *, name_keys: Sequence[str] = (), at_least: int | None = None) -> int:
        """Put names onto the list of known identifiers, in each spelling; return how many values are new on it.

        The next detection finds them wherever they stand, also rearranged, shortened or misspelt.

        Args:
            name_keys: of `names`. at_least: every name that stands in so many units or more, in place of keys.

        Raises:
            UserError: neither or both are given. NotFoundError: no such name is there any more.
        """
        from engine.pii.detect.settings import DetectorSettings, KnownIdentifier

        if bool(name_keys) == (at_least is not None):
            raise UserError("names: give either names or the least number of units, not both")
        found = self._found(corpus_id)
        keys = [key for key, _ in self._chosen(corpus_id, at_least)] if at_least is not None else list(name_keys)
        places = [place for key in keys if key in found for place in found[key].spellings.values()]
        if not places:
            raise NotFoundError("no such name is marked any more; the review may have changed")
        shown = self._surfaces(corpus_id, places)
        with self.session.db.write() as connection:
            stored = corpus_row(connection, corpus_id).detector
            settings = DetectorSettings.from_json(stored) if stored else DetectorSettings()
            listed = _listed(stored)
            fresh = {folded(text): text for place in places if len(text := shown[place]) <= LONGEST}
            added = [KnownIdentifier(value=text) for key, text in fresh.items() if key not in listed]
            if added:
                body = settings.model_copy(update={"known": (*settings.known, *added)}).to_json()
                connection.execute(update(corpora).where(corpora.c.id == corpus_id).values(detector=body))
                self.session.write_audit(connection, "named people made known", corpus_id, values=len(added))
        return len(added)

    def _chosen(self, corpus_id: str, at_least: int) -> list[tuple[str, _Name]]:
        if at_least < 1:
            raise UserError(f"at_least: must be 1 or more, is {at_least}")
        found = [(key, name) for key, name in self._found(corpus_id).items() if len(name.units) >= at_least]
        return sorted(found, key=lambda item: (-len(item[1].units), -item[1].places, item[0]))

    def _found(self, corpus_id: str) -> dict[str, _Name]:
        return remembered(self.session.db, corpus_id, "named people", lambda c: self._count(c, corpus_id))

    def _count(self, connection: Connection, corpus_id: str) -> dict[str, _Name]:
        """Return what is counted of each name, by its keyed digest."""
        from engine.pii.name_form import name_form

        query = (
            select(spans.c.value_key, spans.c.label, spans.c.position, spans.c.start, spans.c.end)
            .join(
                record_index,
                (record_index.c.corpus_id == spans.c.corpus_id) & (record_index.c.position == spans.c.position),
            )
            .where(spans.c.corpus_id == corpus_id, spans.c.active.is_(True), spans.c.state == "accepted")
            .where(record_index.c.split == "train")
            .order_by(spans.c.position, spans.c.start)
        )
        rows = [row for row in connection.execute(query) if canonical_label(row.label) == "PERSON"]
        examples: dict[str, _Place] = {}
        for row in rows:
            examples.setdefault(row.value_key, (row.position, row.start, row.end))
        shown = self._surfaces(corpus_id, list(examples.values()))
        forms = {key: name_form(shown[place]) for key, place in examples.items()}
        units = self._units(connection, corpus_id)
        found: dict[str, _Name] = defaultdict(_Name)
        for row in rows:
            form = forms[row.value_key]
            if not form:
                continue
            name = found[value_key(self.session.key, f"name {form}")]
            name.units.add(units[row.position])
            name.records.add(row.position)
            name.places += 1
            name.spellings.setdefault(row.value_key, examples[row.value_key])
        return dict(found)

    def _units(self, connection: Connection, corpus_id: str) -> list[str]:
        """Return whose each record is, by position."""
        column = "source_id" if corpus_row(connection, corpus_id).unit == "source" else "record_id"
        return [str(one) for one in read_table(self.session.folder.records(corpus_id), [column])[column]]

    def _surfaces(self, corpus_id: str, places: Sequence[_Place]) -> dict[_Place, str]:
        texts = texts_at(self.session, corpus_id, sorted({position for position, _, _ in places}))
        return {(at, start, end): texts[at][start:end] for at, start, end in places}


def _listed(detector: str | None) -> set[str]:
    """Return the values on the list of known identifiers, folded."""
    from engine.pii.detect.settings import DetectorSettings

    return {folded(one.value) for one in DetectorSettings.from_json(detector).known} if detector else set()
