"""paid-choice: what it claims, which run wins, how far behind the best it may be, and that a cut-off run goes on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms, PrivateData
from engine.errors import UserError
from engine.methods import get_method
from engine.methods.advice.advice import advice
from engine.methods.base import Context, Facts, parse_parameters
from engine.methods.choice.method import behind, blockers
from tests.methods.evolving import KEY, Hashed
from tests.methods.select.test_select import records, text_of

METHOD = get_method("paid-choice")
PROMISE = {"runs": ["r-a", "r-b", "r-c"], "outputs": 20}


def outputs_of(topics, first):
    return tuple((text_of(topics[i % len(topics)], first + i), "a" if i % 2 else "b") for i in range(20))


RUNS = (outputs_of(["t5", "t6"], 0), outputs_of(["t0", "t3"], 40), outputs_of(["t6", "t7"], 80))


def context(table, *, kept=None, labels=(), count=20, state=None, cancelled=lambda: False, runs=RUNS, **settings):
    parameters = parse_parameters(METHOD.spec, {"promise": PROMISE} | settings)
    facts = Facts(len(table), len(table), labels=len(labels))
    data = PrivateData(table, embed=Hashed().embed, order_key=KEY)
    return Context(
        records=table.iloc[:0], spans=pd.DataFrame(), count=count, parameters=parameters, seed=3, embedder=Hashed(),
        facts=facts, labels=labels, guarantee=METHOD.guarantee(parameters, facts), runs=runs, state=state,
        mechanisms=Mechanisms(data, MemoryOutputs() if kept is None else kept), cancelled=cancelled,
    )  # fmt: skip


def test_the_run_nearest_to_most_records_wins_beyond_chance_and_without_signal_none_does():
    mine = records(["t0"] * 60 + ["t3"] * 60)
    won = [list(METHOD.run(context(mine, epsilon=0.5)))[-1].state["chosen"] for _ in range(40)]
    assert won.count("r-b") >= 36  # of 40; a third by chance
    same = (RUNS[1], RUNS[1], RUNS[1])
    level = [list(METHOD.run(context(mine, epsilon=0.5, runs=same)))[-1].state["chosen"] for _ in range(150)]
    assert all(25 <= level.count(run) <= 75 for run in PROMISE["runs"])  # 50 each, 4 standard deviations


def test_the_output_is_the_chosen_runs_first_texts_with_listed_labels_alone():
    mine = records(["t0"] * 150 + ["t3"] * 150)
    step = list(METHOD.run(context(mine, labels=("a",), count=7, epsilon=20.0)))[-1]
    assert [record.text for record in step.records] == [text for text, _ in RUNS[1][:7]]
    assert {record.label for record in step.records} == {"a", None}
    assert step.funnel == {"made": 7, "kept": 7}
    assert all(record.lineage is None for record in step.records)


def test_a_cut_off_choice_is_not_drawn_twice_and_a_cancelled_one_draws_nothing():
    mine, kept = records(["t0"] * 30), MemoryOutputs()
    assert list(METHOD.run(context(mine, kept=kept, cancelled=lambda: True))) == []
    assert not kept.stored
    first = list(METHOD.run(context(mine, kept=kept, epsilon=0.01)))[-1]
    for _ in range(5):  # as after a kill before the step was committed
        assert list(METHOD.run(context(mine, kept=kept, epsilon=0.01)))[-1].state == first.state
    assert list(METHOD.run(context(mine, kept=kept, state=first.state))) == []
    with pytest.raises(UserError, match="not what they were"):
        list(METHOD.run(context(mine, runs=(RUNS[0][:3], RUNS[1], RUNS[2]))))


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
@pytest.mark.parametrize(("epsilon", "runs"), [(0.5, 3), (1.0, 8), (2.0, 2)])
def test_the_chosen_run_is_seldom_further_behind_than_the_advice_says(epsilon, runs, adjacency):
    from engine.dp.noise import choice, mechanisms

    lost, draws = behind(runs, epsilon, adjacency), 2_000
    # The hardest case: one best run, all others level at the very edge of what the bound allows.
    points = np.full(runs, 0)
    points[0] = int(np.ceil(lost * choice.most(runs))) + 1
    chosen = mechanisms.noisy_argmax(np.tile(points, (draws, 1)), epsilon, choice.moved(runs, adjacency))
    assert (chosen != 0).mean() <= 0.05 + 4 * np.sqrt(0.05 / draws)


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_the_claim_is_one_pure_choice_and_names_the_runs(adjacency):
    from engine.dp.accounting.accountant import ExactAccountant
    from engine.dp.events import Event

    values = parse_parameters(METHOD.spec, {"promise": PROMISE, "epsilon": 0.7, "adjacency": adjacency})
    claim = METHOD.guarantee(values, Facts(900, 300, "source", 3))
    events = [Event.from_dict(event) for event in claim.events]
    assert [(event.type, event.what, event.sensitivity) for event in events] == [("pure", "choice of a run", 1.0)]
    assert ExactAccountant().account(events, 1e-9).epsilon == pytest.approx(0.7, rel=1e-4)
    assert (claim.epsilon, claim.delta, claim.adjacency) == (0.7, 0.0, adjacency)
    assert "run r-a, run r-b and run r-c" in claim.sentence
    assert "at most 3 records" in claim.sentence
    assert any("after a look at findings" in line for line in claim.voided_by)


def test_too_few_runs_or_outputs_are_refused_in_words():
    values = parse_parameters(METHOD.spec, {"promise": PROMISE})
    assert blockers(values, 20) == []
    assert "holds 20 outputs and 21 are wanted" in blockers(values, 21)[0]
    for few in ({}, {"promise": {"runs": ["r-a"], "outputs": 5}}):
        assert "at least two" in blockers(parse_parameters(METHOD.spec, few), 5)[0]


def test_advice_says_when_the_noise_would_choose():
    values = parse_parameters(METHOD.spec, {"promise": PROMISE, "epsilon": 0.5})
    few, many = Facts(50, 50), Facts(5000, 5000)
    told = {facts.units: advice("paid-choice", values, facts, METHOD.guarantee(values, facts), 20)[0]
            for facts in (few, many)}  # fmt: skip
    assert "mostly noise" in told[50]
    assert "takes about 82 records" in told[50]
    assert "enough" in told[5000]
