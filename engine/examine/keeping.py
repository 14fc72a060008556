"""Finished parts of an examination, kept while it is not finished, so that it goes on where it was stopped.

A kept part holds what the part gave (findings, tables, signals) and what it left for later parts: membership scores,
near-duplicates across the sides, embeddings. Whoever keeps parts hands them back as they were written, or not at all:
`stamp` says what they hang on. An examination that keeps parts reads back each part that it has just written, so that
one that went on and one that was never stopped see the same numbers to the last digit.

A part numbers new words for itself and computes with threads of a fixed number, so what it finds does not hang on who
measures it, nor on what was measured before.

Privacy posture: a kept part holds private ids, words and scores; it belongs beside the run's tables and never leaves.
"""

from __future__ import annotations

import hashlib
import io
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.findings.findings import Finding
from engine.examine.findings.part import Part
from engine.examine.members.membership import SCORES, MembershipScores
from engine.examine.memory import give_back
from engine.examine.prepare import NEAR_DUPLICATES, ExamineInput, Prepared
from engine.examine.threads import computing

TRAINED, TRAINING = ("models", "language"), 2  # parts that train language models, and threads that they do it with
ARRAYS = ("train_rows", "holdout_rows", "members", "others")
ROWS = 50_000  # of a table that are turned into text at once for the digest


@dataclass
class Kept:
    """What one part gave, and what it left for parts after it.

    Args:
        part: its findings, tables and signals. seconds: how long it took.
        scores: membership scores it added. near: near-duplicates across the sides where it found them, bool a record.
        vectors: embeddings it made, float32, by side and record id.
    """

    part: Part
    seconds: float = 0.0
    scores: list[MembershipScores] = field(default_factory=list)
    near: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None = None
    vectors: dict[tuple[str, str], NDArray[np.float32]] = field(default_factory=dict)


def measured(
    prepared: Prepared, key: str, run: Callable[[Prepared], Part], name: str | None = None
) -> tuple[Part, float]:
    """Return what a part found and the seconds it took: as it was kept, else measured now and kept.

    Args:
        prepared: the examination; `prepared.shelf` holds the kept parts, None keeps nothing.
        key: of the part. run: measures it. name: under which it is kept where that is not its key.
    """
    shelf = prepared.shelf
    content = None if shelf is None else shelf.take(name or key)
    found = None if content is None else _whole(content)
    if found is None:
        scores = len(prepared.kept.get(SCORES, []))
        kept = _measure(prepared, key, run)
        if shelf is None:
            return kept.part, kept.seconds
        content = pack(kept)
        del prepared.kept.get(SCORES, [])[scores:]
        shelf.put(name or key, content)
        found = unpack(content)
    return _take(prepared, found)


def keep(prepared: Prepared, key: str, run: Callable[[Prepared], Part], name: str | None = None) -> None:
    """Measure a part and put it on the shelf, where it is not there yet; nothing is left for parts after it."""
    shelf = prepared.shelf
    assert shelf is not None
    content = shelf.take(name or key)
    if content is not None and _whole(content) is not None:
        return
    scores = len(prepared.kept.get(SCORES, []))
    content = pack(_measure(prepared, key, run))
    del prepared.kept.get(SCORES, [])[scores:]
    shelf.put(name or key, content)


def take(prepared: Prepared, key: str) -> bool:
    """Take over what a kept part left for others; False where it is not on the shelf."""
    content = None if prepared.shelf is None else prepared.shelf.take(key)
    found = None if content is None else _whole(content)
    if found is None:
        return False
    _take(prepared, found)
    return True


def _whole(content: bytes) -> Kept | None:
    """Return a kept part; None where it is none, or holds embeddings that are no numbers."""
    from safetensors import SafetensorError

    try:
        found = unpack(content)
    except (SafetensorError, KeyError, IndexError, TypeError, ValueError):
        return None
    return found if all(np.isfinite(row).all() for row in found.vectors.values()) else None


def _measure(prepared: Prepared, key: str, run: Callable[[Prepared], Part]) -> Kept:
    """Measure a part; scores that it adds stand in `prepared.kept` too."""
    prepared.check()
    prepared.begin(key)
    scores, vectors = len(prepared.kept.get(SCORES, [])), set(prepared.vectors)
    near, begun = prepared.kept.get(NEAR_DUPLICATES), time.perf_counter()
    with computing(TRAINING if key in TRAINED else 1):
        part = run(replace(prepared, vocabulary=prepared.vocabulary.copy()))
    give_back()
    seconds = time.perf_counter() - begun
    found = prepared.kept.get(NEAR_DUPLICATES)
    return Kept(
        part,
        seconds,
        prepared.kept.get(SCORES, [])[scores:],
        found if near is None else None,
        {name: row for name, row in prepared.vectors.items() if name not in vectors},
    )


def _take(prepared: Prepared, kept: Kept) -> tuple[Part, float]:
    if kept.scores:
        prepared.kept.setdefault(SCORES, []).extend(kept.scores)
    if kept.near is not None:
        prepared.kept[NEAR_DUPLICATES] = kept.near
    prepared.vectors.update(kept.vectors)
    return kept.part, kept.seconds


def stamp(given: ExamineInput, *more: str) -> bytes:
    """Return the SHA-256 of everything that the parts of an examination hang on.

    That is: the synthetic records; the records of both parts with every column; the accepted spans of both parts; unit,
    halves, settings and seed of the examination; what the run took; the embedder's weights; this package's own code.

    Args:
        given: the examination. more: what the caller knows beside it: settings of the detector, approvals.
    """
    digest = hashlib.sha256(_code())
    for frame in (given.synthetic, given.train, given.holdout, given.train_spans, given.holdout_spans):
        _add_frame(digest, frame)
    flags = [given.unit, given.privacy, given.utility, given.model_attacks, given.tuned_classifier, given.seed]
    _add(digest, [*flags, repr(given.effort)])
    tools = [[getattr(one, "id", ""), getattr(one, "fingerprint", ""), one is None]
             for one in (given.embedder, given.detector)]  # fmt: skip
    _add(digest, [tools, list(more)])
    return digest.digest()


@cache
def _code() -> bytes:
    """Return a digest of the files that measure: another edition of them does not go on with this one's parts."""
    digest, folder = hashlib.sha256(), Path(__file__).parent
    for path in sorted((*folder.rglob("*.py"), *folder.rglob("*.yaml"))):
        _add(digest, [path.relative_to(folder).as_posix(), path.read_text("utf-8")])
    return digest.digest()


def _add_frame(digest: hashlib._Hash, frame: pd.DataFrame) -> None:
    """Add a table a part at a time and column by column: of a million records there are thirty million cells."""
    _add(digest, [list(map(str, frame.columns)), len(frame)])
    for at in range(0, len(frame), ROWS):
        part = frame.iloc[at : at + ROWS]
        for place in range(part.shape[1]):
            _add(digest, part.iloc[:, place].tolist())


def _add(digest: hashlib._Hash, value: object) -> None:
    content = json.dumps(value, default=str).encode()
    digest.update(len(content).to_bytes(8, "big") + content)


def pack(kept: Kept) -> bytes:
    """Return a part as bytes: arrays and tables (Parquet) as safetensors, the rest as JSON."""
    from safetensors.numpy import save

    tables, signals = kept.part.tables, kept.part.signals
    arrays: dict[str, np.ndarray] = {f"table.{name}": _table(frame) for name, frame in tables.items()}
    arrays |= {f"signal.{name}": np.asarray(values, np.float64) for name, values in signals.items()}
    for number, scores in enumerate(kept.scores):
        arrays |= {f"scores.{number}.{name}": np.ascontiguousarray(getattr(scores, name)) for name in ARRAYS}
    if kept.near is not None:
        arrays |= {f"near.{side}": flags for side, flags in enumerate(kept.near)}
    if kept.vectors:
        arrays["vectors"] = np.stack(list(kept.vectors.values())).astype(np.float32)
    body = {
        "findings": [found.as_dict() for found in kept.part.findings],
        "tables": list(tables),
        "signals": list(signals),
        "scores": [[scores.attack, bool(scores.greyed)] for scores in kept.scores],
        "near": kept.near is not None,
        "vectors": list(kept.vectors),
        "seconds": kept.seconds,
    }
    return bytes(save({**arrays, "body": _bytes(json.dumps(body).encode())}))


def unpack(content: bytes) -> Kept:
    """Return what `pack` was given."""
    from safetensors.numpy import load

    arrays = load(content)
    body = json.loads(arrays["body"].tobytes())
    part = Part(
        [Finding(**found) for found in body["findings"]],
        {name: _frame(arrays[f"table.{name}"]) for name in body["tables"]},
        {name: arrays[f"signal.{name}"] for name in body["signals"]},
    )
    scores = [
        MembershipScores(attack, greyed=greyed, **{name: arrays[f"scores.{number}.{name}"] for name in ARRAYS})
        for number, (attack, greyed) in enumerate(body["scores"])
    ]
    vectors = {(side, record): arrays["vectors"][row] for row, (side, record) in enumerate(body["vectors"])}
    near = (arrays["near.0"], arrays["near.1"]) if body["near"] else None
    return Kept(part, body["seconds"], scores, near, vectors)


def _table(frame: pd.DataFrame) -> NDArray[np.uint8]:
    out = io.BytesIO()
    frame.to_parquet(out, index=False)
    return _bytes(out.getvalue())


def _frame(content: NDArray[np.uint8]) -> pd.DataFrame:
    """Return a table as the run's own tables are read: text as objects, None where it is missing."""
    frame = pd.read_parquet(io.BytesIO(content.tobytes()))
    for name in frame.columns:
        if isinstance(frame[name].dtype, pd.StringDtype):
            column = frame[name].astype(object)
            frame[name] = column.where(column.notna(), None)
    return frame


def _bytes(content: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(content, np.uint8)
