"""dp-select: what it promises, whom records vote for, which candidates win, and that a cut-off run goes on."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from engine.dp.events import Event
from engine.dp.noise.classes import class_of
from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms, PrivateData
from engine.errors import UserError
from engine.methods import get_method
from engine.methods.base import Context, Facts, parse_parameters
from engine.methods.select.method import blockers
from engine.methods.select.run import BATCH, WINNERS, fitted
from tests.methods.evolving import KEY, Hashed

METHOD = get_method("dp-select")
PROMISE = {
    "name": "made-elsewhere", "digest": "d1" * 16, "texts": 400, "labels": ["a", "b"], "origin": "a model",
    "licence": "CC0",    "declared_by": "Ada Quill", "declared_on": "2026-11-01",
}  # fmt: skip
TOPICS = [f"t{i}" for i in range(8)]


def text_of(topic, i, words=12):
    return " ".join([topic] * 6 + [f"w{(i * 7 + j) % 97}" for j in range(words - 6)])


def records(topics, labels=None):
    """Return records about these topics, one a number."""
    rows = [(f"r{i}", text_of(topic, i), f"s{i}", labels[i] if labels else None) for i, topic in enumerate(topics)]
    return pd.DataFrame(rows, columns=["record_id", "text", "source_id", "label"])


def context(
    table, pool, *, outputs=None, labels=(), count=20, scratch=None, state=None, cancelled=lambda: False, **settings
):
    given = {"pool": "made-elsewhere", "promise": PROMISE | {"texts": len(pool)}} | settings
    parameters = parse_parameters(METHOD.spec, given)
    facts = Facts(len(table), len(table), labels=len(labels))
    data = PrivateData(table, embed=Hashed().embed, order_key=KEY)
    return Context(
        records=table.iloc[:0], spans=pd.DataFrame(), count=count, parameters=parameters, seed=3, embedder=Hashed(),
        facts=facts, labels=labels, guarantee=METHOD.guarantee(parameters, facts), candidates=tuple(pool),
        mechanisms=Mechanisms(data, MemoryOutputs() if outputs is None else outputs), scratch=scratch, state=state,
        cancelled=cancelled or (lambda: False),
    )  # fmt: skip


def made(given):
    steps = list(METHOD.run(given))
    return steps, [record for step in steps for record in step.records]


def topic(record):
    return record.text.split()[0]


def test_the_sentence_states_the_pools_own_promise_and_by_whom():
    claim = METHOD.guarantee(
        parse_parameters(METHOD.spec, {"pool": "p", "promise": PROMISE}), Facts(900, 900, labels=2)
    )
    assert "made without these data, as Ada Quill declared on 2026-11-01; nothing here proves that" in claim.sentence
    assert "pool made-elsewhere (400 texts)" in claim.sentence
    assert any("CC0" in line and "d1d1d1d1d1d1" in line for line in claim.assumptions)
    assert any("chosen, cut or changed because of a comparison" in line for line in claim.voided_by)
    assert "the list of the 2 labels" in claim.sentence
    without = METHOD.guarantee(
        parse_parameters(METHOD.spec, {"promise": PROMISE | {"labels": []}}), Facts(900, 900, labels=2)
    )
    assert "carry no labels" in without.sentence  # a pool without labels makes no use of a list
    assert len(without.events) == 1
    round_2 = METHOD.guarantee(
        parse_parameters(METHOD.spec, {"promise": PROMISE | {"rounds": ["r-1"]}}), Facts(900, 900)
    )
    assert "but for the protected output of run r-1" in round_2.sentence


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
@pytest.mark.parametrize(("unit", "cap"), [("record", 1), ("source", 4)])
def test_one_release_of_votes_and_one_of_classes_add_up_to_epsilon(adjacency, unit, cap):
    from engine.dp.accounting.accountant import ExactAccountant

    values = parse_parameters(METHOD.spec, {"promise": PROMISE, "epsilon": 2.0, "adjacency": adjacency})
    claim = METHOD.guarantee(values, Facts(3000, 3000, unit=unit, cap=cap, labels=2))
    events = [Event.from_dict(event) for event in claim.events]
    assert [event.what for event in events] == ["class histogram", "votes"]
    expected = cap * (1.0 if adjacency == "zero-out" else 2**0.5)
    assert [event.sensitivity for event in events] == pytest.approx([expected, expected])
    assert 0.98 * 2.0 < ExactAccountant().account(events, claim.delta).epsilon <= 2.0 * (1 + 1e-6)
    assert claim.noise["votes"]["sigma"] == pytest.approx(events[1].noise_multiplier * expected)


def test_what_private_text_is_about_wins_and_near_duplicates_do_not():
    rng = np.random.default_rng(5)
    mine = records([TOPICS[0]] * 200 + [TOPICS[3]] * 100)
    pool = [(text_of(TOPICS[i % 8], int(rng.integers(1000))), None) for i in range(400)]
    pool += [(text_of(TOPICS[0], 1) + f" w{i}", None) for i in range(30)]  # a crowd of near-copies
    found = Counter(topic(record) for record in made(context(mine, pool, epsilon=4.0))[1])
    assert found[TOPICS[0]] + found[TOPICS[3]] >= 17  # of 20; 5 by chance
    crowd = [r for r in made(context(mine, pool, epsilon=4.0))[1] if r.text.startswith(text_of(TOPICS[0], 1))]
    assert len(crowd) <= 5


def test_records_vote_within_their_label_and_length_and_quotas_follow_them():
    labels = ["a"] * 150 + ["b"] * 50
    mine = records([TOPICS[0]] * 200, labels)
    pool = [(text_of(TOPICS[i % 8], i, words), "ab"[i % 2]) for i in range(300) for words in (12, 40)]
    pool += [(text_of(TOPICS[0], i), "unlisted") for i in range(10)]
    steps, got = made(
        context(mine, pool, labels=("a", "b"), lengths=(20,), epsilon=40.0)
    )  # so little noise that it moves no quota
    assert Counter(record.label for record in got) == {"a": 15, "b": 5}
    assert all(len(record.text.split()) < 20 for record in got)  # as every private record
    assert steps[-1].funnel["dropped: a label outside the public list"] == 10
    assert steps[-1].funnel["made"] == steps[-1].funnel["kept"] + 10 + steps[-1].funnel["dropped: fewer votes"]


@pytest.mark.parametrize(
    ("label", "words", "edges", "name"),
    [("a", 5, (5, 9), "a\x1f1"), ("a", 4, (5, 9), "a\x1f0"), (None, 9, (5, 9), "\x1f2"), ("a", 3, (), "a\x1f0")],
)
def test_a_text_of_an_edge_s_length_belongs_above_it(label, words, edges, name):
    assert class_of(label, words, edges) == name


def test_one_record_moves_one_vote_and_one_class():
    pool = [(text_of(t, i), None) for i, t in enumerate(TOPICS * 4)]
    outputs = {}
    for size in (40, 41):
        table = records([TOPICS[i % 3] for i in range(size)])
        kept = MemoryOutputs()
        given = context(table, pool, outputs=kept, lengths=(9,), count=5)
        given.guarantee.noise["votes"]["noise_multiplier"] = given.guarantee.noise["classes"]["noise_multiplier"] = 0.02
        made(given)
        outputs[size] = {key: np.rint(one.values) for key, one in kept.stored.items()}
    for key in ("votes", "classes"):
        difference = outputs[41][key] - outputs[40][key]
        assert sorted(difference[difference != 0]) == [1.0], key


def test_a_run_cut_off_anywhere_goes_on_without_drawing_or_reading_the_pool_again(tmp_path):
    mine, pool = records([TOPICS[1]] * 60), [(text_of(TOPICS[i % 8], i), None) for i in range(2 * BATCH + 40)]
    outputs = MemoryOutputs()
    steps, whole = made(context(mine, pool, outputs=outputs, scratch=tmp_path))
    assert [step.done for step in steps] == [BATCH, 2 * BATCH, 2 * BATCH + 40, 2 * BATCH + 41]
    before = dict(outputs.stored)
    (tmp_path / "pool-0000256.npy").write_bytes((tmp_path / "pool-0000256.npy").read_bytes()[:100])  # cut in the middle
    for at in range(3):
        state = json.loads(json.dumps(steps[at].state))
        rest, again = made(context(mine, pool, outputs=outputs, scratch=tmp_path, state=state))
        assert again == whole
        assert len(rest) == 3 - at
    assert outputs.stored == before
    assert list(METHOD.run(context(mine, pool, outputs=outputs, state=steps[-1].state))) == []
    asked = []
    once = lambda: bool(asked.append(1) or len(asked) > 1)  # noqa: E731
    stopped = list(METHOD.run(context(mine, pool, outputs=outputs, cancelled=once)))
    assert len(stopped) == 1


def test_the_winners_keep_their_noisy_votes_in_the_outputs_order():
    pool = [(text_of(TOPICS[i % 8], i), None) for i in range(100)]
    steps, got = made(context(records([TOPICS[2]] * 80), pool))
    winners = steps[-1].state[WINNERS]
    assert [pool[place][0] for place, _ in winners] == [record.text for record in got]
    votes = [votes for _, votes in winners]
    assert votes != sorted(votes, reverse=True)  # an order that says nothing about votes


def test_a_class_without_room_passes_its_quota_on():
    assert fitted({"a": 3.0, "b": 1.0}, {"a": 4, "b": 20}, 12) == {"a": 4, "b": 8}
    assert fitted({"a": 0.0, "b": 0.0}, {"a": 5, "b": 5}, 10) == {"a": 5, "b": 5}
    assert fitted({None: 1.0}, {None: 7}, 7) == {None: 7}


def test_a_pool_that_is_missing_or_too_small_blocks_the_run():
    parameters = parse_parameters(METHOD.spec, {})
    assert "No pool is chosen" in blockers(parameters, 5)[0]
    small = parse_parameters(METHOD.spec, {"promise": PROMISE | {"texts": 9}})
    assert "9 texts and 10 outputs" in blockers(small, 10)[0]
    assert blockers(small, 9) == []
    wasteful = parse_parameters(METHOD.spec, {"promise": PROMISE | {"labels": []}, "label_list": "bought"})
    with pytest.raises(UserError, match="paid for nothing"):
        METHOD.guarantee(wasteful, Facts(9, 9))
    for wrong, says in (
        ({"lengths": [50, 20]}, "ascending"), ({"lengths": [0]}, "from 1"),
        ({"lengths": [9], "labels": "public"}, "buy the"),
    ):  # fmt: skip
        with pytest.raises(UserError, match=says):
            parse_parameters(METHOD.spec, wrong)
