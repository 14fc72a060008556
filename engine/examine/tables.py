"""Tidy tables that pages draw: lengths, common n-grams, and a map of texts.

Privacy posture: `ngrams` holds words of the private text, so it is internal; only phrases that stand in
at least `COMMON` units' records are listed. The others hold ids and numbers.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.text.words import WordTable
from engine.examine.base import Side
from engine.examine.prepare import Prepared
from engine.examine.samples import sample_units
from engine.examine.usefulness.text_map import lay_out

COMMON = 10
PHRASES = 60
MAPPED = 1000


def lengths(prepared: Prepared) -> pd.DataFrame:
    """Return how many records have how many words: columns kind, words, records."""
    frames = []
    for kind, side in (("synthetic", prepared.synthetic), ("train", prepared.train), ("holdout", prepared.holdout)):
        words, records = np.unique(side.words.counts, return_counts=True)
        frames.append(pd.DataFrame({"kind": kind, "words": words.astype(int), "records": records.astype(int)}))
    return pd.concat(frames, ignore_index=True)


def _records_with(words: WordTable, n: int, base: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (n-gram code, text) pairs, each once."""
    text = np.repeat(np.arange(words.size), words.counts)
    last = len(words.ids) - n + 1
    if last <= 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    codes = np.zeros(last, np.int64)
    for place in range(n):
        codes = codes * base + words.ids[place : place + last]
    inside = text[:last] == text[n - 1 :]
    pairs = np.unique(np.column_stack([codes[inside], text[:last][inside]]), axis=0)
    return pairs[:, 0], pairs[:, 1]


def ngrams(prepared: Prepared) -> pd.DataFrame:
    """Return the phrases whose use differs most: n, phrase, shares of synthetic and of training records, internal."""
    vocabulary = prepared.vocabulary.words()
    base = len(vocabulary) + 1
    unit_of = pd.factorize(prepared.train.units)[0]
    frames = []
    for n in (1, 2, 3):
        real_code, real_text = _records_with(prepared.train.words, n, base)
        made_code, _ = _records_with(prepared.synthetic.words, n, base)
        by_unit = np.unique(np.column_stack([real_code, unit_of[real_text]]), axis=0)
        codes, units = np.unique(by_unit[:, 0], return_counts=True)
        codes = codes[units >= COMMON]
        real = pd.Series(real_code).value_counts().reindex(codes, fill_value=0).to_numpy()
        made = pd.Series(made_code).value_counts().reindex(codes, fill_value=0).to_numpy()
        frame = pd.DataFrame({
            "n": n, "code": codes, "synthetic_share": made / len(prepared.synthetic),
            "train_share": real / len(prepared.train),
        })  # fmt: skip
        apart = (frame["synthetic_share"] - frame["train_share"]).abs()
        frame = frame.loc[apart.sort_values(ascending=False, kind="stable").index[:PHRASES]]
        frame.insert(1, "phrase", [_phrase(int(code), n, base, vocabulary) for code in frame["code"]])
        frames.append(frame.drop(columns="code"))
    return pd.concat(frames, ignore_index=True).assign(internal=True)


def _phrase(code: int, n: int, base: int, vocabulary: list[str]) -> str:
    numbers = []
    for _ in range(n):
        code, number = divmod(code, base)
        numbers.append(number)
    return " ".join(vocabulary[number] for number in reversed(numbers))


def text_map(prepared: Prepared) -> pd.DataFrame:
    """Return a map of at most `MAPPED` private and as many synthetic texts: x, y, kind, record_id, label."""
    rows = prepared.embedding_rows()
    private = prepared.train.take(rows["train"])
    private = private.take(sample_units(private.units, MAPPED, prepared.seed, "map"))
    made = prepared.synthetic.take(rows["synthetic"][:])
    made = made.take(sample_units(made.record_ids, MAPPED, prepared.seed, "map"))
    sides: list[tuple[str, Side]] = [
        ("private", prepared.embedded(private, "train")),
        ("synthetic", prepared.embedded(made, "synthetic")),
    ]
    prepared.report("map of texts", 0, 1)
    vectors = np.vstack([side.embeddings for _, side in sides if side.embeddings is not None])
    placed = lay_out(vectors, prepared.seed)
    prepared.report("map of texts", 1, 1)
    frames = [prepared.given.train, prepared.given.synthetic]
    labels = [dict(zip(f["record_id"].astype(str), f["label"], strict=True)) if "label" in f else {} for f in frames]
    return pd.DataFrame({
        "x": placed[:, 0], "y": placed[:, 1],
        "kind": np.repeat([kind for kind, _ in sides], [len(side) for _, side in sides]),
        "record_id": np.concatenate([side.record_ids for _, side in sides]),
        "label": [known.get(r) for (_, side), known in zip(sides, labels, strict=True) for r in side.record_ids],
    })  # fmt: skip
