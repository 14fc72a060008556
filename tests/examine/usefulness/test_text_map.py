"""The plane of a corpus is laid out once; runs are put in among its texts."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys

import numpy as np
import pandas as pd
import pytest

from engine.examine import tables
from engine.examine.examination import ExamineInput
from engine.examine.prepare import prepare
from engine.examine.usefulness.meaning import compiled
from engine.examine.usefulness.meaning.text_map import lay_out, put_in
from tests.examine.examine_helpers import WordEmbedder


def clouds(rng: np.random.Generator, count: int) -> np.ndarray:
    """Return two clouds of unit rows that are far apart, `count` rows each."""
    centres = np.eye(16, dtype=np.float32)[[0, 8]]
    rows = np.repeat(centres, count, axis=0) + 0.15 * rng.normal(size=(2 * count, 16)).astype(np.float32)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("layout", ["umap", "tsne"])
def test_new_texts_land_in_their_own_cloud(layout):
    rng = np.random.default_rng(1)
    reference, new = clouds(rng, 60), clouds(rng, 20)
    placed = lay_out(reference, 4, layout)
    assert np.array_equal(placed, lay_out(reference, 4, layout))
    middle = [placed[:60].mean(axis=0), placed[60:].mean(axis=0)]
    found = put_in(new, reference, placed)
    own = np.repeat([0, 1], 20)
    to = np.stack([np.linalg.norm(found - centre, axis=1) for centre in middle], axis=1)
    assert (to.argmin(axis=1) == own).all()


def test_machine_code_is_kept_on_disk_and_a_damaged_one_is_made_anew(tmp_path, monkeypatch):
    import umap.umap_

    lay_out(clouds(np.random.default_rng(3), 12), 4)
    assert umap.umap_.smooth_knn_dist.stats.cache_path, "the eight seconds are spent once"
    source = tmp_path / "small.py"
    source.write_text("import numba\n\n\n@numba.njit\ndef twice(x):\n    return 2 * x\n")

    def found_kept() -> bool:
        """Load the source as a new process would, call it, and say whether its machine code was there."""
        spec = importlib.util.spec_from_file_location("umap.small", source)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "umap.small", module)
        spec.loader.exec_module(module)
        compiled.keep_compiled()
        assert module.twice(21) == 42
        return sum(module.twice.stats.cache_hits.values()) == 1

    assert [found_kept(), found_kept()] == [False, True]
    for place, suffix in enumerate((".nbi", ".nbc")):
        (kept,) = tmp_path.rglob(f"*twice*{suffix}")
        kept.write_bytes(kept.read_bytes()[:20])
        assert not found_kept(), (place, suffix)
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])  # as if no folder could be written to
    assert not found_kept()


def test_a_copy_lies_where_its_original_does():
    rng = np.random.default_rng(2)
    reference = clouds(rng, 30)
    placed = rng.normal(size=(60, 2))
    assert put_in(reference[:7], reference, placed) == pytest.approx(placed[:7])
    assert put_in(reference[:2], reference[:1], placed[:1]) == pytest.approx(placed[[0, 0]])
    assert put_in(reference[:0], reference, placed).shape == (0, 2)
    assert put_in(reference[:3], reference[:0], placed[:0]).shape == (3, 2)


@pytest.fixture
def given() -> ExamineInput:
    def frame(prefix: str, count: int, word: str) -> pd.DataFrame:
        texts = [f"{word} number {i % 7} and some {('tea', 'rest', 'walks')[i % 3]} again" for i in range(count)]
        return pd.DataFrame({"record_id": [f"{prefix}{i}" for i in range(count)], "text": texts, "label": "a"})

    spans = pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"])
    made = frame("s", 20, "letter").assign(lineage=None)
    return ExamineInput(made, frame("t", 40, "letter"), frame("h", 30, "note"), spans, spans, embedder=WordEmbedder())


def test_the_plane_is_kept_for_the_same_records_embedder_and_seed(given, monkeypatch):
    plane = tables.corpus_map(prepare(given))
    assert set(plane["kind"]) == {"private", "holdout"}
    again = dataclasses.replace(given, corpus_map=plane)
    monkeypatch.setattr(tables, "lay_out", lambda *_: pytest.fail("laid out again"))
    assert tables.corpus_map(prepare(again)) is plane
    monkeypatch.undo()
    for changed in (
        dataclasses.replace(again, seed=1),
        dataclasses.replace(again, corpus_map=plane.assign(embedder="another")),
        dataclasses.replace(again, corpus_map=plane.drop(columns="tsne_x")),
        dataclasses.replace(again, corpus_map=plane.head(10)),
        dataclasses.replace(again, train=given.train.head(30)),
    ):
        assert tables.corpus_map(prepare(changed)) is not plane


def test_two_runs_of_a_corpus_share_their_real_points(given):
    plane = tables.corpus_map(prepare(given))
    other = dataclasses.replace(given, synthetic=given.synthetic.assign(text=list(given.train["text"].head(20))))
    one, two = (tables.text_map(prepare(one), plane) for one in (given, other))
    real = one["kind"] != "synthetic"
    pd.testing.assert_frame_equal(one[real], two[two["kind"] != "synthetic"])
    assert one.loc[real, "nearest"].isna().all()
    assert two.loc[two["kind"] == "synthetic", "nearest"].to_numpy() == pytest.approx(0.0, abs=1e-6)  # copies
    assert set(one["label"]) == {"a"}
