"""Private prediction as a method: its claim, its plan, its batches and labels, and what a kill leaves behind."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.dp.accounting.closed_form import zcdp_rho
from engine.dp.accounting.rdp import epsilon_rdp
from engine.dp.events import Event
from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.prediction import check_disjoint
from engine.dp.noise.private import Mechanisms, PrivateData
from engine.errors import UserError
from engine.methods import get_method
from engine.methods.base import Context, Facts, parse_parameters
from engine.methods.prediction.claim import figures
from engine.methods.prediction.method import _Writing, whole_sentences
from engine.methods.topics.public import load_topics
from tests.audit.test_private_prediction import Toy

METHOD = get_method("private-prediction")
LABELS = ("a", "b")


def parsed(**values):
    return parse_parameters(METHOD.spec, values)


@pytest.mark.parametrize("variant", ["difference-clip", "mean-clip"])
@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
@pytest.mark.parametrize("labels", [0, 4])
@pytest.mark.parametrize("clusters", ["none", "fine"])
@pytest.mark.parametrize("facts", [Facts(4000, 4000), Facts(4000, 900, "source", 5)])
def test_the_events_of_a_run_cost_what_is_claimed(variant, adjacency, labels, facts, clusters):
    facts = replace(facts, labels=labels)
    asked = {"variant": variant, "adjacency": adjacency, "rows_a_unit": 2, "texts_a_batch": 3, "clusters": clusters}
    claim = METHOD.guarantee(parsed(**asked), facts)
    assert ("clusters" in claim.noise) == (clusters == "fine") == ("public topic has" in claim.sentence)
    total = epsilon_rdp([Event.from_dict(event) for event in claim.events], claim.delta)
    assert claim.epsilon * (1 - 1e-6) <= total <= claim.epsilon


def test_a_search_is_named_beside_the_tokens_that_private_text_is_read_for():
    mean = METHOD.guarantee(parsed(variant="mean-clip", tokens=100, longest=200), Facts(4000, 4000)).sentence
    assert "100 tokens a text, each" in mean
    assert "one noisy question at each of at most 200 tokens" in mean
    assert "a text only" not in mean
    clipped = METHOD.guarantee(parsed(variant="difference-clip", tokens=100), Facts(4000, 4000)).sentence
    assert "100 tokens a text only, each" in clipped
    assert "question" not in clipped
    bought = METHOD.guarantee(parsed(label_list="bought"), Facts(4000, 4000)).sentence
    assert "read for a list of labels" in bought


def test_the_clip_follows_from_the_budget():
    # C = τ s √(2ρ/T), s = 40, ε = 1, δ = 1e-5, T = 100: just about one temperature
    claim = METHOD.guarantee(parsed(epsilon=1, delta=1e-5, tokens=100, temperature=1.5), Facts(4000, 4000))
    assert claim.noise["tokens"]["clip"] == pytest.approx(1.5 * 40 * math.sqrt(2 * zcdp_rho(1, 1e-5) / 100), rel=1e-6)
    assert claim.noise["tokens"]["clip"] / 1.5 == pytest.approx(0.99, abs=0.01)


@pytest.mark.parametrize(
    ("changes", "factor"),
    [
        ({"adjacency": "replace-one"}, 0.5),
        ({"rows_a_unit": 3}, 1 / 3),
        ({"texts_a_batch": 4}, 0.5),
        ({"tokens": 25}, 2),
    ],
)
def test_what_costs_more_clips_more(changes, factor):
    facts = Facts(4000, 4000, "source", 5)
    base, other = (METHOD.guarantee(parsed(**c), facts).noise["tokens"]["reach"] for c in ({}, changes))
    assert other == pytest.approx(factor * base)


def test_advice_comes_where_a_record_hardly_counts():
    facts, asked = Facts(2000, 2000), {"epsilon": 1.0, "batch_size": 10, "delta": 1e-5}
    found = figures(parsed(**asked), facts)
    assert "C/τ is 0.25" in found["advice"][0]
    assert "41 records" in found["advice"][0]
    assert found["rows"][1]["value"] == "6"  # 100 tokens × 0.247²
    assert figures(parsed(epsilon=10.0), facts)["advice"] == []
    small = figures(parsed(**asked), Facts(20, 20))
    assert "No batch of this corpus" in small["advice"][-1]


def test_a_plan_says_how_many_texts_there_can_be():
    plan = METHOD.plan(parsed(), Facts(400, 400), 100)
    assert plan.outputs == 10
    assert plan.notes[0].startswith("10 texts at most, not 100")
    assert METHOD.plan(parsed(texts_a_batch=10), Facts(400, 400), 100).outputs == 100


def test_a_delta_out_of_range_is_refused():
    with pytest.raises(UserError, match="delta"):
        METHOD.guarantee(parsed(delta=0.1), Facts(40, 40))


def context(outputs, state=None, labels="bought", count=8, people=80):
    rows = [(f"i{i}", f"r{i}", None, LABELS[i % 4 == 0]) for i in range(people)]
    records = pd.DataFrame(rows, columns=["record_id", "text", "source_id", "label"])
    asked = parsed(epsilon=20, batch_size=10, tokens=6, labels=labels, label_share=0.5)
    facts, toy = Facts(people, people, labels=2), Toy()
    data = PrivateData(records, order_key=b"k" * 32)
    return data, Context(
        records=records.iloc[:0], spans=pd.DataFrame(), count=count, parameters=asked, seed=5, generator=toy,
        operators=toy, mechanisms=Mechanisms(data, outputs), facts=facts, labels=LABELS, state=state,
        guarantee=METHOD.guarantee(asked, facts),
    )  # fmt: skip


@pytest.mark.parametrize("labels", ["bought", "public"])
def test_labels_come_in_their_proportions(labels):
    _, given = context(MemoryOutputs(), labels=labels)
    made = [record.label for step in METHOD.run(given) for record in step.records]
    assert len(made) == 8
    assert made.count("a") == 6
    assert made.count("b") == 2
    assert "b" in made[:4]  # mixed, not one after the other


class Killed(Exception):
    """The process is gone."""


class Killing(MemoryOutputs):
    """Ends at the n-th output, before or after it is stored."""

    def __init__(self, at, stored):
        super().__init__()
        self.at, self.before = at, not stored

    def save(self, key, request, event, values):
        last = len(self.stored) + 1 == self.at
        if last and self.before:
            raise Killed
        super().save(key, request, event, values)
        if last:
            raise Killed


@pytest.mark.parametrize("at", [1, 2, 5])
@pytest.mark.parametrize("stored", [True, False])
def test_a_kill_neither_redraws_nor_charges_twice(at, stored):
    outputs = Killing(at, stored)
    _, given = context(outputs)
    steps = []
    with pytest.raises(Killed):
        steps.extend(METHOD.run(given))
    kept = {key: output.values.copy() for key, output in outputs.stored.items()}
    outputs.at = 0
    _, again = context(outputs, state=steps[-1].state if steps else None)
    rest = list(METHOD.run(again))
    assert all(np.array_equal(outputs.stored[key].values, values) for key, values in kept.items())
    assert len(outputs.stored) == 9  # the label shares, eight texts
    drawn = [output.event for output in outputs.stored.values()]
    assert epsilon_rdp(drawn, again.guarantee.delta) <= 20
    assert [event.type for event in drawn].count("zcdp") == 1
    assert sum(len(step.records) for step in [*steps, *rest]) == 8


def topical(outputs, leaves, clusters="coarse", state=None, labels=(), **settings):
    """Return a run over records of which each one's leaf among the public topics is known."""
    centres, toy = load_topics().centres, Toy()
    rows = [(f"i{i}", f"r{i}", None, LABELS[i % 2] if labels else None) for i in range(len(leaves))]
    records = pd.DataFrame(rows, columns=["record_id", "text", "source_id", "label"])
    asked = parsed(epsilon=60, delta=1e-4, batch_size=10, tokens=6, clusters=clusters, cluster_share=0.45, **settings)
    facts = Facts(len(rows), len(rows), labels=len(labels))
    known = {f"r{i}": centres[leaf] for i, leaf in enumerate(leaves)}
    data = PrivateData(records, order_key=b"k" * 32, embed=lambda texts: np.stack([known[text] for text in texts]))
    return data, Context(
        records=records.iloc[:0], spans=pd.DataFrame(), count=50, parameters=asked, seed=5, generator=toy,
        operators=toy, mechanisms=Mechanisms(data, outputs), facts=facts, labels=labels, state=state,
        guarantee=METHOD.guarantee(asked, facts),
    )  # fmt: skip


@pytest.mark.parametrize("clusters", ["coarse", "fine"])
def test_topics_fill_batches_of_their_own(clusters):
    topics = load_topics()
    one, two, few = (topics.below((step,))[0] for step in (2, 7, 11))
    leaves = [one] * 60 + [two] * 40 + [few] * 3
    data, given = topical(MemoryOutputs(), leaves, clusters)
    cells = _Writing(given).cells()
    check_disjoint(cells)
    held = [(cell, cell.rows(data.open(), 1)) for cell in cells]
    for cell, texts in held:
        found = {leaves[int(text[1:])] for text in texts}
        assert len(found) <= 1 or one not in cell.topics
    batches = {leaf: sum(leaf in cell.topics for cell in cells) for leaf in (one, two, few)}
    assert batches[one] == pytest.approx(6, abs=1)
    assert batches[two] == pytest.approx(4, abs=1)
    assert batches[few] <= 1
    texts = [text for _, own in held for text in own]
    assert len(texts) == len(set(texts))  # nobody is in two batches
    assert len(texts) >= 100


def test_where_no_topic_fills_a_batch_all_are_together():
    data, given = topical(MemoryOutputs(), list(range(0, 600, 100)))
    (cell,) = _Writing(given).cells()
    assert len(cell.rows(data.open(), 1)) == 6


@pytest.mark.parametrize("labels", [(), LABELS])
def test_batches_by_topic_are_the_same_after_a_kill(labels):
    outputs, leaves = MemoryOutputs(), [5] * 40 + [300] * 40
    _, given = topical(outputs, leaves, labels=labels)
    steps = list(METHOD.run(given))
    drawn = dict(outputs.stored)
    events = [output.event for output in drawn.values()]
    assert [event.what for event in events].count("cluster histogram") == 1
    assert epsilon_rdp(events, given.guarantee.delta) <= 60
    assert [event.type for event in events].count("zcdp") == 1
    _, again = topical(outputs, leaves, labels=labels, state=steps[1].state)
    rest = list(METHOD.run(again))
    assert [r for s in [*steps[:2], *rest] for r in s.records] == [r for s in steps for r in s.records]
    assert outputs.stored.keys() == drawn.keys()
    other = MemoryOutputs()
    list(METHOD.run(topical(other, leaves, "none", labels=labels)[1]))
    assert "clusters" not in other.stored
    assert "topics" not in other.stored["text/0/0"].request  # requests of runs without topics stay as they were


def test_the_median_is_refused_with_its_reason():
    with pytest.raises(UserError, match="known only after a run"):
        parsed(variant="median")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("One is here. Two is here. And then it", "One is here. Two is here."),
        ("One. And then a long rest that goes on", "One. And then a long rest that goes on"),
        ("no end at all", "no end at all"),
    ],
)
def test_a_text_that_was_cut_off_ends_with_a_sentence(text, kept):
    assert whole_sentences(text) == kept
