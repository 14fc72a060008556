"""Private prediction as a method: its claim, its plan, its batches and labels, and what a kill leaves behind."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.dp.accounting.closed_form import zcdp_rho
from engine.dp.accounting.rdp import epsilon_rdp
from engine.dp.events import Event
from engine.dp.noise.private import Mechanisms, MemoryOutputs, PrivateData
from engine.errors import UserError
from engine.methods import get_method
from engine.methods.base import Context, Facts, parse_parameters
from engine.methods.prediction.claim import figures
from engine.methods.prediction.method import whole_sentences
from tests.audit.test_private_prediction import Toy

METHOD = get_method("private-prediction")
LABELS = ("a", "b")


def parsed(**values):
    return parse_parameters(METHOD.spec, values)


@pytest.mark.parametrize("variant", ["difference-clip", "mean-clip"])
@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
@pytest.mark.parametrize("labels", [0, 4])
@pytest.mark.parametrize("facts", [Facts(4000, 4000), Facts(4000, 900, "source", 5)])
def test_the_events_of_a_run_cost_what_is_claimed(variant, adjacency, labels, facts):
    facts = replace(facts, labels=labels)
    claim = METHOD.guarantee(parsed(variant=variant, adjacency=adjacency, rows_a_unit=2, texts_a_batch=3), facts)
    total = epsilon_rdp([Event.from_dict(event) for event in claim.events], claim.delta)
    assert claim.epsilon * (1 - 1e-6) <= total <= claim.epsilon


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
