"""How often records were drawn from before, whatever corpus they stand in: each further look widens the bound.

Who imports the same file again would else begin at look 1. So each spot check leaves keyed marks of the texts of its
corpus, in a table that outlives the corpus. Texts are compared but for case and white space, and two corpora count as
the same records from a tenth of the smaller one on.

Limits: a spot check of an earlier edition left no marks, so it counts as long as its corpus is here.
Privacy posture: see `engine.store.text_marks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlalchemy import Connection, func, select

from engine.errors import StorageError
from engine.store import text_marks
from engine.store.audit import now
from engine.store.database.schema import spot_checks, spot_looks
from engine.store.review.search import texts_of
from engine.store.session import Session

MOST = 20_000  # marks kept of a corpus
PURPOSE = b"spot-look"


def marks(session: Session, corpus_id: str) -> bytes:
    """Return the marks of a corpus' texts; takes about a minute for a million."""
    return text_marks.marks(session.key, PURPOSE, _folded(session, corpus_id), MOST)


def own(connection: Connection, corpus_id: str) -> int:
    """Return the look of a corpus' latest spot check, 0 where it has none."""
    query = select(func.max(spot_checks.c.look)).where(spot_checks.c.corpus_id == corpus_id)
    return int(connection.execute(query).scalar() or 0)


def elsewhere(connection: Connection, corpus_id: str, marks_of: Callable[[str], bytes]) -> int:
    """Return the latest look at the same records in another corpus, 0 for none.

    Args:
        marks_of: the marks of a corpus that is here; not asked for where no other corpus was drawn from.
    """
    kept = select(spot_looks.c.look, spot_looks.c.marks).where(spot_looks.c.corpus_id != corpus_id)
    tried = [(int(look), bytes(found)) for look, found in connection.execute(kept)]
    unmarked = select(spot_checks.c.look, spot_checks.c.corpus_id).where(
        spot_checks.c.corpus_id != corpus_id, spot_checks.c.id.not_in(select(spot_looks.c.check_id))
    )
    unknown = []
    for look, other in connection.execute(unmarked):
        try:
            tried.append((int(look), marks_of(other)))
        except StorageError:  # its texts cannot be read, so nobody can tell that they are others
            unknown.append(int(look))
    mine = marks_of(corpus_id) if tried else b""
    return max((*unknown, *(look for look, found in tried if text_marks.alike(mine, found, MOST))), default=0)


def keep(connection: Connection, check_id: str, corpus_id: str, look: int, found: bytes) -> None:
    """Keep the marks of what a spot check was drawn from, inside the caller's transaction."""
    values = {"at": now(), "check_id": check_id, "corpus_id": corpus_id, "look": look, "marks": found}
    connection.execute(spot_looks.insert().values(**values))


def _folded(session: Session, corpus_id: str) -> Iterator[str]:
    for chunk in texts_of(session, corpus_id).chunks:
        yield from (" ".join(str(text).casefold().split()) for text in chunk.to_pylist())
