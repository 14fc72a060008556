"""Data-bound mechanisms: sensitivity by brute force, stored outputs, openings and their events."""

import json
import math
import zlib

import numpy as np
import pandas as pd
import pytest

from engine.dp.events import Event
from engine.dp.noise import mechanisms
from engine.dp.noise.cells import Cell, check_cells
from engine.dp.noise.outputs import MemoryOutputs, digest
from engine.dp.noise.private import Mechanisms, PrivateData
from engine.errors import InternalError

KEY = b"k" * 32
CANDIDATES = np.random.default_rng(1).normal(size=(9, 6)).astype(np.float32)
GROUPS = ["a", "b", "c"] * 3


def embed(texts):
    """Embed a text by a hash of it alone."""
    rows = [np.random.default_rng(zlib.crc32(text.encode())).normal(size=6) for text in texts]
    rows = np.array(rows, dtype=np.float32).reshape(len(texts), 6)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def table(people=7, extreme=True):
    """Return records of sources with one to five records, several labels, one extreme length and no-source rows."""
    rows = []
    for person in range(people):
        for number in range(1 + person % 5):
            words = 40 if (person, number) == (people - 1, 0) and extreme else 3 + (person + number) % 6
            rows.append(
                (f"{person}-{number}", f"p{person} n{number} " + "word " * words, f"s{person}", "abc"[number % 3])
            )
    rows += [("lone-1", "lone text", None, "a"), ("lone-2", "other text here", None, None)]
    return pd.DataFrame(rows, columns=["record_id", "text", "source_id", "label"])


def bound(records, unit="record", cap=1, adjacency="zero-out", outputs=None, units=None):
    data = PrivateData(records, unit=unit, cap=cap, embed=embed, order_key=KEY, units=units)
    return data, Mechanisms(
        data, outputs if outputs is not None else MemoryOutputs(), unit=unit, cap=cap, adjacency=adjacency
    )


@pytest.fixture
def exact(monkeypatch):
    """Let statistics through without noise, so that their sensitivity shows."""

    def plain(values, scale):
        return np.asarray(values, dtype=float)

    monkeypatch.setattr(mechanisms, "gaussian", plain)
    monkeypatch.setattr(mechanisms, "laplace", plain)
    monkeypatch.setattr(mechanisms, "poisson_sample", lambda units, q: np.ones(units, dtype=bool))


CELLS = [Cell(label, (i,), words) for label in "abc" for i in range(9) for words in ((0, 6), (6, 9), (9, 99))]


def joint(held, asked=CELLS, **noise):
    """Count records by label, nearest candidate and length together."""
    held.keep_topics(CANDIDATES)
    return held.noisy_cells("k", asked, **noise)


STATISTICS = {
    "votes": (lambda m: m.noisy_votes("k", CANDIDATES, fingerprint="f", noise_multiplier=1.0), "l2"),
    "votes, sampled": (
        lambda m: m.noisy_votes("k", CANDIDATES, fingerprint="f", noise_multiplier=1.0, sampling_probability=0.5),
        "l2",
    ),
    "votes, Laplace": (lambda m: m.noisy_votes("k", CANDIDATES, fingerprint="f", epsilon=1.0), "l1"),
    "votes by label": (
        lambda m: m.noisy_votes("k", CANDIDATES, fingerprint="f", noise_multiplier=1.0, groups=GROUPS),
        "l2",
    ),
    "cluster votes": (
        lambda m: m.noisy_votes(
            "k", CANDIDATES, fingerprint="f", noise_multiplier=1.0, clusters=np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
        ),
        "l2",
    ),
    "scores": (lambda m: m.noisy_scores("k", CANDIDATES, fingerprint="f", noise_multiplier=1.0), "l2"),
    "scores by label": (
        lambda m: m.noisy_scores("k", CANDIDATES, fingerprint="f", noise_multiplier=1.0, groups=GROUPS),
        "l2",
    ),
    "cells": (lambda m: joint(m, noise_multiplier=1.0), "l2"),
    "labels": (lambda m: m.noisy_histogram("k", "label", ["a", "b", "c"], epsilon=1.0), "l1"),
    "lengths": (lambda m: m.noisy_histogram("k", "length", [0, 4, 6, 9, 50], noise_multiplier=1.0), "l2"),
    "self-similarity": (lambda m: np.array([m.noisy_mean("k", epsilon=1.0)]), "l1"),
}


def neighbours(records, unit, adjacency):
    """Yield tables that differ in one unit: its records gone, or all of another text, length and label."""
    for index, name in enumerate(dict.fromkeys(records["source_id"].fillna(records["record_id"]))):
        own = records["source_id"].fillna(records["record_id"]) == name
        if unit == "record":
            own &= ~own.duplicated()
        if adjacency == "zero-out":
            yield records[~own].reset_index(drop=True)
        else:
            for text, label in ((f"other {index}", "b"), ("word " * 45, "c")):
                changed = records.copy()
                changed.loc[own, "text"], changed.loc[own, "label"] = text, label
                yield changed


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
@pytest.mark.parametrize(("unit", "cap"), [("record", 1), ("source", 1), ("source", 3)])
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.usefixtures("exact")
def test_one_unit_changes_no_statistic_by_more_than_its_event_says(name, unit, cap, adjacency):
    statistic, norm = STATISTICS[name]
    records = table()
    data, held = bound(records, unit, cap, adjacency)
    here = statistic(held)
    sensitivity = held.events[0].sensitivity
    changes = []
    for other in neighbours(records, unit, adjacency):
        there = statistic(bound(other, unit, cap, adjacency, units=data.units)[1])
        changes.append(np.linalg.norm(here - there, ord=1 if norm == "l1" else 2))
    assert max(changes) <= sensitivity + 1e-9
    assert max(changes) > 0.0


@pytest.mark.usefixtures("exact")
def test_the_worst_case_of_votes_is_reached():
    # one source, three records of one text: all votes in one bin
    rows = [(str(i), "same text", "s", "a") for i in range(5)] + [("x", "another", "t", "b")]
    records = pd.DataFrame(rows, columns=["record_id", "text", "source_id", "label"])
    _, held = bound(records, "source", 3)
    _, without = bound(records[5:].reset_index(drop=True), "source", 3, units=2)
    ask = STATISTICS["votes"][0]
    assert np.abs(ask(held) - ask(without)).max() == 3.0 == held.events[0].sensitivity


@pytest.mark.parametrize(("unit", "cap"), [("record", 1), ("source", 3)])
@pytest.mark.parametrize("direction", ["above", "below"])
def test_one_unit_changes_no_search_query_by_more_than_its_cap(unit, cap, direction, monkeypatch):
    asked = []
    monkeypatch.setattr(mechanisms, "first_at_most", lambda counts, *_: asked.append(list(counts)))
    records = table()
    queries = range(0, 60)
    for other in (records, *neighbours(records, unit, "zero-out"), *neighbours(records, unit, "replace-one")):
        _, held = bound(other, unit, cap)
        assert held.above_threshold("k", queries=queries, direction=direction, epsilon=1.0) == len(queries)
        assert held.events[0].sensitivity == cap
    change = np.abs(np.array(asked[1:]) - np.array(asked[0])).max()
    assert change == cap


def test_the_cap_counts_over_all_labels_and_in_keyed_order():
    records = table()
    data, held = bound(records, "source", 2)
    total = held.declared("k", "label", bins=["a", "b", "c"]).sum()
    sizes = records.groupby("source_id").size()
    assert total == np.minimum(sizes, 2).sum() + 1  # and one of the two without a source has a label
    assert data.units == len(sizes) + 2
    shuffled = records.sample(frac=1.0, random_state=3).reset_index(drop=True)
    again, _ = bound(shuffled, "source", 2)
    assert sorted(again.open().lengths(None)) == sorted(data.open().lengths(None))
    other = PrivateData(records, unit="source", cap=2, embed=embed, order_key=b"o" * 32)
    assert other._texts != data._texts


def test_lengths_outside_the_edges_are_not_counted():
    _, held = bound(table(extreme=False))
    assert held.noisy_histogram("k", "length", [100, 200], noise_multiplier=0.01)[0] == pytest.approx(0, abs=0.2)
    _, held = bound(table())
    found = held.noisy_histogram("k", "length", [0, 10, 50], noise_multiplier=0.01, measure=len)
    exact = np.histogram([len(text) for text in table()["text"]], [0, 10, 50])[0]
    assert found == pytest.approx(exact, abs=0.2)


def ask_everything(held):
    held.noisy_votes("votes/0", CANDIDATES, fingerprint="f", noise_multiplier=5.0, groups=GROUPS)
    held.noisy_votes("votes/1", CANDIDATES, fingerprint="f", noise_multiplier=5.0, sampling_probability=0.8)
    held.noisy_votes("keywords", CANDIDATES, fingerprint="f", epsilon=0.1, what="keyword votes")
    held.noisy_histogram("labels", "label", ["a", "b"], epsilon=0.1)
    held.noisy_histogram("lengths", "length", [0, 5, 10], noise_multiplier=5.0)
    held.above_threshold("longest", queries=range(50), direction="above", epsilon=0.5)
    held.noisy_mean("tau", epsilon=0.5)
    held.declared("shares", "label")


def test_every_opening_has_an_event_and_a_stored_output():
    outputs = MemoryOutputs()
    data, held = bound(table(), "source", 3, outputs=outputs)
    ask_everything(held)
    assert data.openings == len(outputs.stored) == len(held.events) == 8
    for stored, event in zip(outputs.stored.values(), held.events, strict=True):
        assert stored.event == event
        assert json.loads(json.dumps(stored.request)) == stored.request
    sampled = outputs.stored["votes/1"].event
    assert sampled == Event(
        "gaussian", "votes", noise_multiplier=5.0, sampling_probability=0.8, sensitivity=3.0, unit="source"
    )


def test_data_cannot_be_read_without_being_opened():
    data, _ = bound(table())
    for read in (data.embeddings, lambda: data.labels, lambda: data.unit_of, lambda: data.lengths(None)):
        with pytest.raises(InternalError, match="opened"):
            read()


def test_a_stored_output_is_used_again_and_never_redrawn():
    outputs = MemoryOutputs()
    first = bound(table(), outputs=outputs)[1].noisy_votes("v", CANDIDATES, fingerprint="f", noise_multiplier=9.0)
    data, resumed = bound(table(), outputs=outputs)
    assert np.array_equal(resumed.noisy_votes("v", CANDIDATES, fingerprint="f", noise_multiplier=9.0), first)
    assert data.openings == 0
    first[:] = 0.0  # what a caller does to its copy stays with it
    assert outputs.stored["v"].values.any()
    fresh = bound(table())[1].noisy_votes("v", CANDIDATES, fingerprint="f", noise_multiplier=9.0)
    assert not np.array_equal(fresh, outputs.stored["v"].values)


@pytest.mark.parametrize(
    "change",
    [
        {"fingerprint": "other"},
        {"noise_multiplier": 8.0},
        {"groups": GROUPS},
        {"clusters": np.zeros(9, dtype=np.int64)},
        {"sampling_probability": 0.5},
    ],
)
def test_another_request_under_a_stored_key_is_refused(change):
    outputs = MemoryOutputs()
    asked = {"fingerprint": "f", "noise_multiplier": 9.0}
    bound(table(), outputs=outputs)[1].noisy_votes("v", CANDIDATES, **asked)
    with pytest.raises(InternalError, match="another request"):
        bound(table(), outputs=outputs)[1].noisy_votes("v", CANDIDATES, **{**asked, **change})


def test_an_output_is_stored_before_it_is_handed_out():
    class Full(MemoryOutputs):
        def save(self, key, request, event, values):
            raise OSError("disk full")

    data, held = bound(table(), outputs=Full())
    with pytest.raises(OSError, match="disk full"):
        held.noisy_mean("tau", epsilon=1.0)
    assert held.events == []
    assert data.openings == 1


def test_choices_among_given_candidates_need_no_data():
    outputs = MemoryOutputs()
    held = Mechanisms(None, outputs)
    utilities = np.tile([0.0, 5.0, 0.0], (6, 1))
    assert held.noisy_selection("s/0", utilities, sigma=0.01).tolist() == [1] * 6
    assert held.noisy_selection("s/1", utilities, epsilon=100.0).tolist() == [1] * 6
    assert {event.type for event in held.events} == {"selection"}
    assert held.events[0].count == 6
    with pytest.raises(InternalError, match="no private data"):
        held.noisy_mean("tau", epsilon=1.0)
    with pytest.raises(InternalError, match="either"):
        held.noisy_selection("s/2", utilities)


def test_noise_has_the_size_its_event_says():
    rows = [(str(i), f"t{i}", None, "a") for i in range(3)]
    records = pd.DataFrame(rows, columns=["record_id", "text", "source_id", "label"])
    bins = [f"l{i}" for i in range(3000)]
    for adjacency, sensitivity in (("zero-out", 4.0), ("replace-one", 4.0 * math.sqrt(2))):
        _, held = bound(records, "source", 4, adjacency)
        noise = held.noisy_histogram("g", "label", bins, noise_multiplier=2.0)
        assert noise.std() == pytest.approx(2.0 * sensitivity, rel=0.1)
    _, held = bound(records, "source", 4, "replace-one")
    noise = held.noisy_histogram("l", "label", bins, epsilon=0.5)
    assert np.abs(noise).mean() == pytest.approx(8.0 / 0.5, rel=0.12)


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: m.noisy_votes("k", CANDIDATES, fingerprint="f"),
        lambda m: m.noisy_votes("k", CANDIDATES, fingerprint="f", epsilon=1.0, sampling_probability=0.5),
        lambda m: m.noisy_histogram("k", "label", ["a"], epsilon=1.0, noise_multiplier=1.0),
        lambda m: m.noisy_histogram("k", "text", ["a"], epsilon=1.0),
        lambda m: m.noisy_mean("k", "length", epsilon=1.0),
        lambda m: m.above_threshold("k", queries=[1], direction="up", epsilon=1.0),
        lambda m: m.declared("k", "text"),
    ],
)
def test_what_makes_no_sense_is_refused(ask):
    with pytest.raises(InternalError):
        ask(bound(table())[1])


def test_mechanisms_and_data_must_agree_on_whom_they_protect():
    data = PrivateData(table(), unit="source", cap=3, embed=embed, order_key=KEY)
    with pytest.raises(InternalError, match="differ"):
        Mechanisms(data, MemoryOutputs(), unit="record")


def test_digests_tell_requests_apart():
    assert digest(None) == ""
    assert digest({"a": 1, "b": [2.0]}) == digest({"b": [2.0], "a": 1})
    assert digest(np.array([1, 2])) == digest([1, 2]) != digest([2, 1])


@pytest.mark.parametrize("units", [9, 26_000, 1_939_290])
def test_the_mean_similarity_can_be_drawn_for_any_number_of_units(units):
    data, held = bound(table(), units=units)
    drawn = np.array([held.noisy_mean(f"tau/{turn}", epsilon=0.08) for turn in range(400)])
    assert np.abs(drawn - np.median(drawn)).mean() == pytest.approx(2.0 / data.units / 0.08, rel=0.25)


@pytest.mark.usefixtures("exact")
def test_cells_count_each_record_once():
    _, held = bound(table())
    found = joint(held, noise_multiplier=1.0)
    assert found.sum() == table()["label"].notna().sum() == len(table()) - 1
    _, whole = bound(table())
    assert joint(whole, [Cell(None, tuple(range(9)))], noise_multiplier=1.0).tolist() == [len(table())]


@pytest.mark.parametrize(
    "asked",
    [
        [Cell("a", (0, 1)), Cell("a", (1, 2))],
        [Cell(None, (0,)), Cell("a", (0,))],
        [Cell("a", (0,), (0, 9)), Cell("a", (0,), (8, 12))],
        [Cell("a", (0,)), Cell("a", (0,), (5, 6))],
        [Cell("a", ())],
        [Cell("a", (9,))],
        [Cell("a", (0,), (4, 4))],
    ],
)
def test_cells_that_share_a_record_are_refused(asked):
    _, held = bound(table())
    with pytest.raises(InternalError, match=r"overlap|empty"):
        joint(held, asked, noise_multiplier=1.0)
    check_cells([Cell("a", (0,)), Cell("b", (0,)), Cell("a", (1,), (0, 5)), Cell("a", (1,), (5, 9))], 9)


def test_other_topics_under_a_stored_key_are_refused():
    outputs = MemoryOutputs()
    joint(bound(table(), outputs=outputs)[1], noise_multiplier=1.0)
    again = bound(table(), outputs=outputs)[1]
    again.keep_topics(CANDIDATES[::-1])
    with pytest.raises(InternalError, match="another request"):
        again.noisy_cells("k", CELLS, noise_multiplier=1.0)
