"""Sharing an examination: its embeddings and its parts are pieces (`engine.jobs.worker.spreading`) for any worker.

Texts that several parts need embedded come first, then the parts, those that take longest before the others. What is
made of texts lies in the piece's row until this worker keeps it; a part lies on the shelf, and the row says which. Both
carry keyed digests: of the records, the marks and the settings too, so that nothing is taken from a worker that sees
another workspace. This worker alone notes, reserves and puts together.

Privacy posture: embeddings of private text stand in the database for as long as they wait to be kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.examine import apart
from engine.examine.expected import READING, Expected
from engine.examine.keeping import keep, take
from engine.examine.members.membership import SCORES
from engine.examine.memory import give_back
from engine.examine.prepare import NEAR_DUPLICATES
from engine.examine.registry import LAST
from engine.jobs.worker.kept_embeddings import KeptEmbeddings
from engine.jobs.worker.sharing import others
from engine.jobs.worker.spreading import Fits, Pieces, are_rows, packed_rows, unpacked_rows
from engine.json_types import JSON, JSONObject, as_list, as_object
from engine.methods.base import Piece

if TYPE_CHECKING:
    from engine.examine.prepare import Prepared
    from engine.jobs.worker.part_shelf import PartShelf
    from engine.jobs.worker.task import Task

LEAST_SECONDS = 30.0  # that an examination is expected to take at least, to be shared
EMBED, PARTS, STAMP, STAGE, ROWS = "embed", "parts", "stamp", "stage", "rows"


class Ahead:
    """Has the parts of an examination measured by whoever there is, before they are put together.

    Attributes:
        shared: whether there may be others. plan: the parts in the order in which they are measured, those that are
            kept without a time. kept: seconds that these are expected to have taken.
    """

    def __init__(self, task: Task, shelf: PartShelf, expected: Sequence[Expected]) -> None:
        """Share nothing yet.

        Args:
            task: the examination. shelf: of its parts. expected: its parts in their order.
        """
        self._task, self._shelf, self._expected = task, shelf, expected
        seen = not task.store.session.db.is_file or (task.crew is not None and task.crew.sees_workspace)
        self.kept = sum(one.seconds for one in expected if one.key in shelf.keys)
        left = [replace(one, seconds=0.0) if one.key in shelf.keys else one for one in expected]
        self.shared = others(task) and seen and sum(one.seconds for one in left) >= LEAST_SECONDS
        self.plan = sorted(left, key=_place) if self.shared else left

    def __call__(self, prepared: Prepared) -> None:
        """Return once every part that hangs on no other is on the shelf, or the job is to stop."""
        if not self._shelf.look():
            return
        self._embed(prepared)
        if prepared.given.privacy:
            keep(prepared, apart.FIRST, apart.run_of(apart.FIRST))
            take(prepared, apart.FIRST)  # also where an earlier worker kept it: parts are measured by its word
        groups = apart.groups(prepared.given, self._expected, self._shelf.keys)
        asked: list[JSON] = [{PARTS: list(group)} for group in groups]
        names = [[apart.kept_as(prepared.given, key) for key in group] for group in groups]

        def make(piece: Piece) -> JSONObject:
            return measured(prepared, as_object(piece.asked))

        def fits(piece: Piece, made: JSONObject) -> bool:
            return made == {PARTS: names[piece.start]}

        for made in self._spread(PARTS, asked, make, fits):
            self._shelf.found(*map(str, as_list(made[PARTS])))

    def _embed(self, prepared: Prepared) -> None:
        embedder = prepared.given.embedder
        if not isinstance(embedder, KeptEmbeddings):
            return
        chosen = []
        for one in apart.embeddings(prepared):
            texts = apart.texts_of(prepared, one)
            missing = tuple(row for row, text in zip(one.rows, texts, strict=True) if not embedder.known(text))
            if missing:
                chosen.append(replace(one, rows=missing))
        if len(chosen) < 2:
            return
        asked: list[JSON] = [{EMBED: one.side, ROWS: list(one.rows)} for one in chosen]

        def make(piece: Piece) -> JSONObject:
            prepared.report("embedding", piece.start, len(chosen))
            return embedded(prepared, as_object(piece.asked))

        width = embedder.embed([]).shape[1]

        def fits(piece: Piece, made: JSONObject) -> bool:
            return are_rows(made.get(ROWS), len(chosen[piece.start].rows), width)

        for one, made in zip(chosen, self._spread(EMBED, asked, make, fits), strict=False):
            rows = unpacked_rows(made[ROWS], len(one.rows))
            apart.embedded(prepared, one, rows)
            embedder.learn(apart.texts_of(prepared, one), rows)
        prepared.check()
        embedder.keep()

    def _spread(
        self, stage: str, asked: Sequence[JSON], make: Callable[[Piece], JSONObject], fits: Fits
    ) -> Iterable[JSONObject]:
        pieces = Pieces(self._task, self.shared, fits)
        known: JSON = {STAGE: stage, STAMP: self._shelf.stamp}
        for made in pieces([Piece(number, number + 1, one) for number, one in enumerate(asked)], known, make):
            yield made
            with self._task.store.session.db.brief() as connection:
                pieces.end(connection)


def measured(prepared: Prepared, asked: JSONObject) -> JSONObject:
    """Measure parts, put them on the shelf, and return their names there.

    What they computed together first goes with them: of a million records it is some hundred megabytes.
    """
    names: list[JSON] = []
    before = {*prepared.kept, SCORES, NEAR_DUPLICATES}
    for key in map(str, as_list(asked[PARTS])):
        name = apart.kept_as(prepared.given, key)
        keep(prepared, key, apart.run_of(key), name)
        names.append(name)
    for left in set(prepared.kept) - before:
        del prepared.kept[left]
    give_back()
    return {PARTS: names}


def embedded(prepared: Prepared, asked: JSONObject) -> JSONObject:
    """Embed texts and return their rows as text."""
    assert prepared.given.embedder is not None
    rows = tuple(int(str(row)) for row in as_list(asked[ROWS]))
    made = prepared.given.embedder.embed(apart.texts_of(prepared, apart.Texts(str(asked[EMBED]), rows)))
    return {ROWS: packed_rows(made)}


def _place(one: Expected) -> tuple[int, float]:
    """Return where a part stands in a plan that is shared: first what others hang on, last what hangs on others."""
    if one.key in (READING, apart.FIRST):
        return (0 if one.key == READING else 1), 0.0
    return (3 if one.key in {last.key for last in LAST} else 2), -one.seconds
