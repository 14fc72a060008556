"""Readability around every method: one choice, one place, counted once, and nothing private asked again for it."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.methods import get_method, method_ids, parameters, readable
from engine.methods.base import Step, SyntheticRecord, parse_parameters
from engine.methods.evolution.common import Task, Writer
from engine.methods.parameters import WritingParameters
from engine.models.contracts import Generation
from tests.methods.evolving import World

LOOP = "the applicant of the applicant of the applicant"
FINE = "The parcel came late and the box was torn, so please send another one."
GERMAN = "Das Paket kam zu spät an, und der Karton war zerrissen."
IDS = (*method_ids(), "filter:aug-pe", "filter:icl")


def step(*texts, **funnel):
    records = tuple(SyntheticRecord(text, "a") for text in texts)
    return Step({"at": 3}, records, {"made": len(texts), "kept": len(texts), **funnel}, "writing", 3, 9, {"own": 1})


@pytest.mark.parametrize("method_id", [name for name in IDS if name != "paid-choice"])  # which writes nothing
def test_every_method_offers_the_choice_in_the_same_words(method_id):
    spec = get_method(method_id).spec
    field = spec.parameters.model_fields[readable.FIELD]
    assert field.description == parameters.HELP
    changes_originals = method_id in ("surrogate", "rewrite")
    assert field.get_default() == ("flag" if changes_originals else "drop")
    for choice in ("drop", "flag"):
        assert getattr(parse_parameters(spec, {"unreadable": choice}), readable.FIELD) == choice


def test_unreadable_records_are_dropped_and_counted_by_reason():
    found = readable.judged(step(FINE, LOOP, FINE, "full full full of it", **{"dropped: empty": 0}), "drop")
    assert [record.text for record in found.records] == [FINE, FINE]
    assert found.funnel == {
        "made": 4, "kept": 2, "dropped: empty": 0, "dropped: repeats phrases": 1, "dropped: repeats a word": 1
    }  # fmt: skip
    assert (found.state, found.done, found.total) == ({"at": 3}, 3, 9)  # the method goes on where it was
    assert found.diagnostics["own"] == 1


def test_unreadable_records_are_kept_and_counted_where_asked():
    found = readable.judged(step(FINE, LOOP), "flag")
    assert len(found.records) == 2
    assert found.funnel == {"made": 2, "kept": 2, "flagged: repeats phrases": 1}


def test_how_far_texts_could_be_judged_is_noted():
    found = readable.judged(step(FINE, FINE, GERMAN, "患者は頭痛を訴えた。患者は頭痛を訴えた。"), "drop")
    assert found.diagnostics[readable.NOTED] == {"all": 2, "repetition": 1, "none": 1}
    assert len(found.records) == 4


def test_a_step_without_records_stays_as_it_is():
    assert readable.judged(step(), "drop") == step()


class Looping:
    """Writes a loop wherever the seed says so; counts what it was asked."""

    id = "looping"
    capabilities = frozenset()

    def __init__(self, empty):
        self.empty, self.asked = empty, 0

    def generate(self, prompts, sampling, constraints=None):
        self.asked += 1
        return [Generation(LOOP if self.empty(self.asked) else FINE, 12, "stop") for _ in prompts]


@pytest.mark.parametrize(
    ("choice", "empty", "calls", "texts"),
    [
        ("drop", lambda call: call == 1, 2, [FINE, FINE]),
        ("drop", lambda call: True, 2, [LOOP, LOOP]),  # handed on, for the run to drop: no third try
        ("flag", lambda call: True, 1, [LOOP, LOOP]),
    ],
)
def test_a_public_prompt_is_written_from_once_more(choice, empty, calls, texts):
    world = World("public")
    model = Looping(empty)
    writer = Writer(world.context(generator=model), WritingParameters(unreadable=choice))
    written = writer.write([Task("invent", None, 12)] * 2, "here")
    assert (written.texts, written.dropped, model.asked) == (texts, {}, calls)


def test_votes_still_choose_where_most_candidates_are_unreadable():
    """Unreadable candidates leave the pool before the vote, but each label keeps twice what survives."""
    world = World("aug-pe", rounds=1, variations=4, words=8, domain="reviews")
    turns = Counter()

    class Mixed(Looping):
        def generate(self, prompts, sampling, constraints=None):
            turns["calls"] += 1
            return [
                Generation(LOOP if i % 4 else f"{FINE} Number {turns['calls']} of {i}.", 12, "stop")
                for i, _ in enumerate(prompts)
            ]

    given = world.context(generator=Mixed(lambda call: True))
    steps = list(readable.run(world.method, given))
    funnel = Counter()
    for one in steps:
        funnel.update(one.funnel)
        dropped = sum(count for name, count in one.funnel.items() if name.startswith("dropped"))
        assert one.funnel["made"] == one.funnel["kept"] + dropped
    assert funnel["dropped: repeats phrases"] > 0
    assert funnel["dropped: fewer votes"] > 0
    assert LOOP not in [record.text for one in steps for record in one.records]
    pools = [one.state["pool"] for one in steps if one.state["phase"] == "select"]
    assert pools
    assert all(len(pool) >= 2 * given.count for pool in pools)
