"""Tidy tables that pages draw: lengths, common n-grams, and a map of texts.

Privacy posture: `ngrams` holds words of the private text, so it is internal; only phrases that stand in
at least `COMMON` units' records are listed. The others hold ids and numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.text.words import WordTable
from engine.examine.base import Side, words_in_spans
from engine.examine.prepare import Prepared
from engine.examine.samples import dense, in_blocks, sample_units
from engine.examine.usefulness.meaning.text_map import lay_out, put_in

COMMON = 10
BLOCK = 50_000  # texts whose phrases are counted at once
WORDS = 5_000_000  # words of a part of which the phrases are counted whole; of more, some at a time
PHRASES = 60
CORPUS_MAP = "corpus_map"  # the plane that all runs of a corpus are drawn on
MAPPED = 1000  # texts of either real part, and of a run
_Met = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
_NONE: _Met = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))
MAP_COLUMNS = ("kind", "record_id", "x", "y", "tsne_x", "tsne_y", "embedder", "seed")


def lengths(prepared: Prepared) -> pd.DataFrame:
    """Return how many records have how many words: columns kind, words, records."""
    frames = []
    for kind, side in (("synthetic", prepared.synthetic), ("train", prepared.train), ("holdout", prepared.holdout)):
        words, records = np.unique(side.words.counts, return_counts=True)
        frames.append(pd.DataFrame({"kind": kind, "words": words.astype(int), "records": records.astype(int)}))
    return pd.concat(frames, ignore_index=True)


def _runs(words: WordTable, n: int, base: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the code of each run of n words inside one text, and its text."""
    text = np.repeat(np.arange(words.size), words.counts)
    last = len(words.ids) - n + 1
    if last <= 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    codes = np.zeros(last, np.int64)
    for place in range(n):
        codes = codes * base + words.ids[place : place + last]
    inside = text[:last] == text[n - 1 :]
    return codes[inside], text[:last][inside]


def _met(words: WordTable, owner: NDArray[np.int64], n: int, base: int) -> _Met:
    """Return the runs that the texts of at least `COMMON` owners hold: code (ascending), texts, owners.

    Texts are counted in blocks, and of many words a part of the codes at a time.
    """
    parts = 1 + len(words.ids) // WORDS
    blocks = in_blocks(owner, BLOCK)
    found = [_NONE]
    for part in range(parts):
        total = _NONE
        for rows in blocks:
            code, text = _runs(words.take(rows), n, base)
            mine = code % parts == part
            codes, at = np.unique(code[mine], return_inverse=True)
            of, by = np.divmod(np.unique(at.reshape(-1) * len(rows) + text[mine]), max(1, len(rows)))
            owners = np.unique(of * len(rows) + dense(owner[rows])[by]) // max(1, len(rows))
            held, own = (np.bincount(one, minlength=len(codes)).astype(np.int64) for one in (of, owners))
            total = _together(total, (codes, held, own))
        common = total[2] >= COMMON
        found.append((total[0][common], total[1][common], total[2][common]))
    codes, texts, owners = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.argsort(codes)
    return codes[order], texts[order], owners[order]


def _together(one: _Met, other: _Met) -> _Met:
    """Return the counts of both."""
    codes, texts, owners = (np.concatenate(column) for column in zip(one, other, strict=True))
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    if not len(codes):
        return one
    first = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
    return codes[first], np.add.reduceat(texts[order], first), np.add.reduceat(owners[order], first)


def _texts_with(words: WordTable, n: int, base: int, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return in how many texts each run stands, int (m,).

    Args:
        codes: int array (m,), ascending.
    """
    counted = np.zeros(len(codes), np.int64)
    if not len(codes):
        return counted
    for low in range(0, words.size, BLOCK):
        rows = np.arange(low, min(low + BLOCK, words.size))
        code, text = _runs(words.take(rows), n, base)
        place = np.minimum(np.searchsorted(codes, code), len(codes) - 1)
        known = codes[place] == code
        pairs = np.unique(place[known] * len(rows) + text[known])
        counted += np.bincount(pairs // len(rows), minlength=len(codes))
    return counted


def ngrams(prepared: Prepared) -> pd.DataFrame:
    """Return the phrases whose use differs most: n, phrase, shares of synthetic and of training records, internal.

    Only what the records of at least `COMMON` units share is listed, and no word of an accepted span.
    """
    vocabulary, private = prepared.vocabulary.words(), np.array(sorted(words_in_spans(prepared.train)), np.int64)
    base = len(vocabulary) + 1
    unit_of = pd.factorize(prepared.train.units)[0]
    frames = []
    for n in (1, 2, 3):
        codes, real, _ = _met(prepared.train.words, unit_of.astype(np.int64), n, base)
        told = ~_holds(codes, n, base, private)
        codes, real = codes[told], real[told]
        made = _texts_with(prepared.synthetic.words, n, base, codes)
        frame = pd.DataFrame({
            "n": n, "code": codes, "synthetic_share": made / len(prepared.synthetic),
            "train_share": real / len(prepared.train),
        })  # fmt: skip
        apart = (frame["synthetic_share"] - frame["train_share"]).abs()
        frame = frame.loc[apart.sort_values(ascending=False, kind="stable").index[:PHRASES]]
        frame.insert(1, "phrase", [_phrase(int(code), n, base, vocabulary) for code in frame["code"]])
        frames.append(frame.drop(columns="code"))
    return pd.concat(frames, ignore_index=True).assign(internal=True)


def _holds(codes: NDArray[np.int64], n: int, base: int, words: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which phrases hold one of these words, bool array (m,)."""
    found = np.zeros(len(codes), bool)
    for place in range(n):
        found |= np.isin(codes // base**place % base, words)
    return found


def _phrase(code: int, n: int, base: int, vocabulary: list[str]) -> str:
    numbers = []
    for _ in range(n):
        code, number = divmod(code, base)
        numbers.append(number)
    return " ".join(vocabulary[number] for number in reversed(numbers))


def corpus_map(prepared: Prepared) -> pd.DataFrame:
    """Return the plane of a corpus: kind (private, holdout), record_id, x, y, tsne_x, tsne_y, embedder, seed.

    At most `MAPPED` texts of either part. One that was laid out before, for the same records and embedder, is kept.
    """
    embedder = prepared.given.embedder
    assert embedder is not None
    rows = prepared.embedding_rows()
    sides = []
    for kind, side, which in (("private", prepared.train, "train"), ("holdout", prepared.holdout, "holdout")):
        pool = side.take(rows[which])
        sides.append((kind, pool.take(sample_units(pool.units, MAPPED, prepared.seed, "map"))))
    ids = np.concatenate([side.record_ids for _, side in sides])
    known = prepared.given.corpus_map
    if known is not None and _still_holds(known, ids, embedder.id, prepared.seed):
        return known
    prepared.report("map of texts", 0, 2)
    vectors = _vectors(prepared, sides)
    umap = lay_out(vectors, prepared.seed)
    prepared.report("map of texts", 1, 2)
    tsne = lay_out(vectors, prepared.seed, "tsne")
    prepared.report("map of texts", 2, 2)
    kinds = np.repeat([kind for kind, _ in sides], [len(side) for _, side in sides])
    return pd.DataFrame(
        {"kind": kinds, "record_id": ids, "x": umap[:, 0], "y": umap[:, 1], "tsne_x": tsne[:, 0], "tsne_y": tsne[:, 1],
         "embedder": embedder.id, "seed": prepared.seed},
        columns=MAP_COLUMNS,
    )  # fmt: skip


def _still_holds(known: pd.DataFrame, ids: NDArray[np.object_], embedder: str, seed: int) -> bool:
    """Say whether a plane was laid out for these records, by this embedder, with this seed."""
    if list(known.columns) != list(MAP_COLUMNS) or list(known["record_id"]) != list(ids):
        return False
    return set(known["embedder"]) == {embedder} and set(known["seed"]) == {seed}


def text_map(prepared: Prepared, plane: pd.DataFrame) -> pd.DataFrame:
    """Return the run on the plane of its corpus.

    Returns:
        Columns kind (private, holdout, synthetic), record_id, label, x, y, tsne_x, tsne_y, and `nearest`: the cosine
        distance of a synthetic text to the nearest private one that is embedded, NaN for the others.
    """
    rows = prepared.embedding_rows()
    made = prepared.synthetic.take(rows["synthetic"])
    made = prepared.embedded(made.take(sample_units(made.record_ids, MAPPED, prepared.seed, "map")), "synthetic")
    parts = {"private": prepared.train, "holdout": prepared.holdout}
    at = {kind: {record: row for row, record in enumerate(side.record_ids)} for kind, side in parts.items()}
    sides = [
        (kind, side.take(np.array([at[kind][r] for r in plane.loc[plane["kind"] == kind, "record_id"]], np.int64)))
        for kind, side in parts.items()
    ]
    reference = _vectors(prepared, sides)
    private = prepared.embedded(prepared.train.take(rows["train"]), "train").embeddings
    own = made.embeddings
    assert own is not None
    assert private is not None
    drawn: dict[str, object] = {
        "kind": [*plane["kind"], *["synthetic"] * len(made)],
        "record_id": [*plane["record_id"], *made.record_ids],
    }
    labels = {
        kind: dict(zip(frame["record_id"].astype(str), frame["label"], strict=True)) if "label" in frame else {}
        for kind, frame in (("private", prepared.given.train), ("holdout", prepared.given.holdout),
                            ("synthetic", prepared.given.synthetic))
    }  # fmt: skip
    pairs = zip([*plane["kind"], *["synthetic"] * len(made)], [*plane["record_id"], *made.record_ids], strict=True)
    drawn["label"] = [labels[kind].get(record) for kind, record in pairs]
    for first, second in (("x", "y"), ("tsne_x", "tsne_y")):
        placed = put_in(own, reference, plane[[first, second]].to_numpy(float))
        drawn[first] = np.concatenate([plane[first].to_numpy(float), placed[:, 0]])
        drawn[second] = np.concatenate([plane[second].to_numpy(float), placed[:, 1]])
    nearest = np.concatenate([1.0 - (own[i : i + 500] @ private.T).max(axis=1) for i in range(0, len(own), 500)])
    drawn["nearest"] = np.concatenate([np.full(len(plane), np.nan), np.maximum(0.0, nearest.astype(float))])
    return pd.DataFrame(drawn)


def _vectors(prepared: Prepared, sides: Sequence[tuple[str, Side]]) -> NDArray[np.float32]:
    """Return the embeddings of texts of both real parts, one part after the other."""
    which = {"private": "train", "holdout": "holdout"}
    found = [prepared.embedded(side, which[kind]).embeddings for kind, side in sides if len(side)]
    return np.vstack([vectors for vectors in found if vectors is not None])
