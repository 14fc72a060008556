"""Private data behind mechanisms, for the worker: records, keyed order, embeddings kept with their corpus.

Each text is embedded on its own. In a batch, padding and rounding let one text move the others' rows a little,
so that one person could change more votes than their own and the noise would be too small.

Privacy posture: embeddings of private text are private. They lie in the corpus' folder, owner-only, go when
the corpus is deleted, stay out of backups, and are handed to mechanisms alone.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.at_rest import files
from engine.jobs.worker.sharing import others
from engine.jobs.worker.spreading import Pieces, are_rows, packed_rows, unpacked_rows
from engine.jobs.worker.task import Stopped, Task
from engine.json_types import JSONObject
from engine.methods.base import Piece
from engine.store import shards
from engine.store.disk.backup import EMBEDDINGS
from engine.store.disk.folder import remove_tree, write_atomic

if TYPE_CHECKING:
    import pandas as pd

    from engine.dp.noise.private import Mechanisms, PrivateData
    from engine.models.contracts import Embedder

CHUNK = 32  # texts between two looks at a cancel
AT_ONCE = 256  # texts that one worker embeds at once
KEEP = 1024  # texts between two writes to disk
EMBED, ROWS = "embed", "rows"
STAGE = "read private records"


def mechanisms(task: Task, records: pd.DataFrame, *, unit: str, cap: int, adjacency: str, bound: bool) -> Mechanisms:
    """Return the mechanisms of a run; `bound` ones hold the training part, others choose among given candidates.

    Args:
        records: record_id, text, source_id, label of the training part, keyed order.
        unit, cap, adjacency: whom a claim protects, records a unit contributes, neighbouring relation.
    """
    from engine.dp.noise.private import Mechanisms, PrivateData

    data: PrivateData | None = None
    if bound:
        data = PrivateData(
            records,
            unit=unit,
            cap=cap,
            embed=private_embed(task, records),
            order_key=task.store.corpora.subkey("order"),
        )
    return Mechanisms(data, task.store.ledger.outputs(task.run_id), unit=unit, cap=cap, adjacency=adjacency)


def private_embed(task: Task, records: pd.DataFrame) -> Callable[[list[str]], NDArray[np.float32]]:
    """Return a function that embeds private texts once a corpus and model, and finds them again afterwards."""
    held: dict[str, NDArray[np.float32]] = {}

    def embed(texts: list[str]) -> NDArray[np.float32]:
        embedder = task.models.embedder()
        if not held:
            known = [str(text) for text in records["text"]]
            table = _table(task, embedder, known)
            held.update(zip(known, table, strict=True))
        rows = [held[text] if text in held else embedder.embed([text])[0] for text in texts]
        return np.stack(rows) if rows else embedder.embed([])

    return embed


def _table(task: Task, embedder: Embedder, texts: list[str]) -> NDArray[np.float32]:
    """Return one row a text, from the corpus' folder where an earlier run left them; a cut-off one goes on.

    A corpus never changes and its keyed order is fixed, so the rows that are there belong to the first texts. Other
    workers that read the workspace embed some of them where they are many.
    """
    path = _path(task, embedder)
    whole = _stored(path)
    if whole is not None and len(whole) == len(texts):
        return whole
    part = path.with_name(f"{path.stem}.part.npy")
    left = _stored(part)
    table = embedder.embed([]) if left is None else left[: len(texts)]
    parts, kept = [table], len(table)
    shared = len(texts) - len(table) >= shards.LEAST and others(task) and _seen(task)
    for end, rows in (_shared if shared else _alone)(task, embedder, texts, len(table)):
        parts.append(rows)
        if end - kept >= KEEP:
            table, kept = np.concatenate(parts), end
            parts = [table]
            _store(task, part, table)
    table = np.concatenate(parts)
    _store(task, path, table)
    remove_tree(part)
    return table


def _seen(task: Task) -> bool:
    return not task.store.session.db.is_file or (task.crew is not None and task.crew.sees_workspace)


def _alone(task: Task, embedder: Embedder, texts: list[str], first: int) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Yield the position behind some texts, and their rows."""
    from engine.models.builtin.embedder import embed_apart

    for start in range(first, len(texts), CHUNK):
        task.check()
        task.report(STAGE, start, len(texts))
        yield start + CHUNK, embed_apart(embedder, texts[start : start + CHUNK])


def _shared(task: Task, embedder: Embedder, texts: list[str], first: int) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Yield what `_alone` does, made by whoever there is."""
    width, asked = embedder.embed([]).shape[1], {EMBED: digest_of(embedder)}
    spread = Pieces(task, True, lambda piece, made: are_rows(made.get(ROWS), piece.end - piece.start, width))
    ends = [min(start + AT_ONCE, len(texts)) for start in range(first, len(texts), AT_ONCE)]
    pieces = [Piece(start, end, asked) for start, end in pairwise([first, *ends])]

    def make(piece: Piece) -> JSONObject:
        return {ROWS: packed_rows(embedded_apart(embedder, texts[piece.start : piece.end], task.cancelled))}

    for piece, made in zip(pieces, spread(pieces, None, make), strict=False):
        task.report(STAGE, piece.end, len(texts))
        yield piece.end, unpacked_rows(made[ROWS], piece.end - piece.start)
        with task.store.session.db.brief() as connection:
            spread.end(connection)
    task.check()


def embedded_apart(embedder: Embedder, texts: list[str], stop: Callable[[], bool]) -> NDArray[np.float32]:
    """Return one row a text, each embedded on its own.

    Raises:
        Stopped: `stop` said so.
    """
    from engine.models.builtin.embedder import embed_apart

    parts = [embedder.embed([])]
    for start in range(0, len(texts), CHUNK):
        if stop():
            raise Stopped
        parts.append(embed_apart(embedder, texts[start : start + CHUNK]))
    return np.concatenate(parts)


def digest_of(embedder: Embedder) -> str:
    """Return what tells a model's rows from those of another."""
    return str(getattr(embedder, "fingerprint", "") or embedder.id)


def _stored(path: Path) -> NDArray[np.float32] | None:
    files.fetch(path)
    if not path.exists():
        return None
    with files.opened(path) as file:
        table: NDArray[np.float32] = np.load(file, allow_pickle=False)
    return table


def _store(task: Task, path: Path, table: NDArray[np.float32]) -> None:
    buffer = io.BytesIO()
    np.save(buffer, table, allow_pickle=False)
    if task.store.folder.records(task.corpus_id).exists():  # else the corpus was deleted meanwhile
        write_atomic(path, buffer.getvalue())


def _path(task: Task, embedder: Embedder) -> Path:
    model = hashlib.sha256(embedder.id.encode()).hexdigest()[:16]
    folder: Path = task.store.folder.corpus(task.corpus_id)
    return folder / f"{EMBEDDINGS}{model}.npy"
