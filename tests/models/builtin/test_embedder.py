"""Sentence embeddings: unit norm, order, meaning, and float32 against bf16."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import UserError
from engine.models.builtin.embedder import SentenceEmbedder, load_embedder

TEXTS = ["The patient had a fever.", "She was running a high temperature.", "The court dismissed the appeal.", ""]


@pytest.fixture(scope="module")
def embedder() -> SentenceEmbedder:
    return load_embedder()


def test_rows_are_unit_vectors(embedder: SentenceEmbedder) -> None:
    rows = embedder.embed(TEXTS)
    assert rows.shape == (4, 384)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(4), abs=1e-5)


def test_meaning_decides_similarity(embedder: SentenceEmbedder) -> None:
    near = embedder.embed(TEXTS) @ embedder.embed(TEXTS).T
    assert near[0, 1] > near[0, 2] + 0.3


def test_order_is_kept_whatever_the_lengths(embedder: SentenceEmbedder) -> None:
    mixed = ["word " * n for n in (90, 1, 40, 3)]
    alone = np.concatenate([embedder.embed([t]) for t in mixed])
    assert np.abs(embedder.embed(mixed) - alone).max() < 0.02


@pytest.mark.parametrize("half", [True, False], ids=["bf16", "float32"])
def test_a_row_hangs_on_its_text_alone_to_the_last_bit(embedder: SentenceEmbedder, half: bool) -> None:
    import torch

    if half and not embedder.half:
        pytest.skip("this processor does not multiply bf16")
    mixed = [" ".join(["word", "note", "left"][(n + i) % 3] for i in range(n % 23)) for n in range(70)]
    before, threads = embedder.half, torch.get_num_threads()
    embedder.half = half
    try:
        whole = embedder.embed(mixed)
        assert (embedder.embed(mixed[::-1])[::-1] == whole).all()
        assert (np.concatenate([embedder.embed(mixed[:11]), embedder.embed(mixed[11:])]) == whole).all()
        assert (embedder.embed_apart(mixed) == whole).all()
        torch.set_num_threads(1 if threads > 1 else 2)
        assert (embedder.embed(mixed) == whole).all()
    finally:
        embedder.half = before
        torch.set_num_threads(threads)


def test_threads_take_turns(embedder: SentenceEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads in the tokenizer at once made batches of unequal texts: padded rows, or none."""
    inside, most = [0], [0]
    preprocess, batches = embedder.model.preprocess, embedder._batches

    def watched(real: Callable[..., Any]) -> Callable[..., Any]:
        def one(*given: Any) -> Any:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            time.sleep(0.02)
            try:
                return real(*given)
            finally:
                inside[0] -= 1

        return one

    monkeypatch.setattr(embedder.model, "preprocess", watched(preprocess))
    monkeypatch.setattr(embedder, "_batches", watched(batches))
    texts = ["a note", "a much longer note that was left", "another one"]
    with ThreadPoolExecutor(3) as pool:
        calls = [pool.submit(one, texts) for one in (embedder.embed, embedder.embed_apart, embedder.embed)]
    assert most == [1]
    assert all((call.result() == calls[0].result()).all() for call in calls)


def test_half_precision_stays_close(embedder: SentenceEmbedder) -> None:
    half = embedder.half
    rows = embedder.embed(TEXTS)
    embedder.half = False
    exact = embedder.embed(TEXTS)
    embedder.half = half
    assert float((rows * exact).sum(1).min()) > 0.995


def test_no_texts(embedder: SentenceEmbedder) -> None:
    assert embedder.embed([]).shape == (0, 384)


def test_a_broken_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be loaded"):
        SentenceEmbedder(tmp_path)


def test_apart_is_what_each_text_alone_gives_to_the_last_bit(embedder: SentenceEmbedder) -> None:
    mixed = [*("word " * n for n in (90, 1, 40, 3)), *TEXTS]
    alone = np.concatenate([embedder.embed([text]) for text in mixed])
    assert (embedder.embed_apart(mixed) == alone).all()
    assert (embedder.embed_apart(mixed[3:]) == alone[3:]).all()
    assert embedder.embed_apart([]).shape == (0, 384)


def test_batches_hold_every_text_once_and_no_more_tokens_than_they_may(embedder: SentenceEmbedder) -> None:
    texts = ["word " * n for n in (1, 300, 7, 2, 90, 1, 250)] * 20
    batches = embedder._batches(texts)
    assert sorted(row for batch in batches for row in batch) == list(range(len(texts)))
    for batch in batches:
        (length,) = {min(len(texts[row].split()) + 2, 256) for row in batch}
        assert len(batch) == 1 or len(batch) * length <= 1024


def test_rows_are_those_of_the_library(embedder: SentenceEmbedder) -> None:
    texts = [*TEXTS, *("left arm pain and fever " * n for n in (30, 1, 100, 4))]
    plain = np.asarray(embedder.model.encode(texts, show_progress_bar=False, normalize_embeddings=True))
    assert float((embedder.embed(texts) * plain).sum(axis=1).min()) > 0.999
