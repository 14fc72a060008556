"""Public prompts: no private input, shares as declared, each failed text's place given to another."""

import zlib

import pytest

from engine.errors import UserError
from engine.methods.evolution import common as pe
from engine.methods.public import declared_shares, invention
from tests.methods.evolving import COUNT, Scribe, World, funnel, made

LABELS = ("billing", "delivery")


@pytest.mark.parametrize(
    ("text", "known", "expected"),
    [
        ("", LABELS, {"billing": 1.0, "delivery": 1.0}),
        ("billing=0.3, delivery=0.7", LABELS, {"billing": 0.3, "delivery": 0.7}),
        ("billing = 3", LABELS, {"billing": 3.0, "delivery": 0.0}),  # what is not named gets nothing
        ("", (), {None: 1.0}),
        ("anything at all", (), {None: 1.0}),  # without labels there is nothing to share
        ("a=b=2", ("a=b", "c"), {"a=b": 2.0, "c": 0.0}),
    ],
)
def test_shares_by_hand(text, known, expected):
    assert declared_shares(text, known) == expected


@pytest.mark.parametrize("text", ["billing", "billing=x", "billing=-1", "returns=0.5", "billing=0.5,,", "=1"])
def test_shares_that_cannot_be_read_are_named(text):
    with pytest.raises(UserError, match=r"label=0\.3"):
        declared_shares(text, LABELS)


@pytest.mark.parametrize("labelled", [True, False])
def test_it_resumes_from_every_step_and_opens_nothing(labelled):
    world = World("public", labelled, words=8, domain="reviews")
    steps, events = world.run(count=11)
    assert len(steps) > 2
    for at in range(len(steps)):
        rest, _ = world.run(count=11, state=steps[at].state)
        assert made(steps[: at + 1]) + made(rest) == made(steps)
    assert events == []
    assert world.outputs.stored == {}


def test_it_runs_without_any_mechanism_or_guarantee():
    world = World("public", words=8)
    steps = list(world.method.run(world.context(mechanisms=None, guarantee=None)))
    assert len(made(steps)) == COUNT


def test_labels_come_in_the_shares_declared_even_where_texts_fail():
    world = World("public", words=8)
    world.parameters = world.parameters.model_copy(
        update={"shares": ", ".join(f"{label}={share}" for label, share in zip(world.labels, (1, 3)))}
    )
    world.scribe = Scribe(unusable=lambda prompt, seed: zlib.crc32(f"{prompt}{seed}".encode()) % 3 > 0)
    steps, _ = world.run(count=16)
    labels = [record.label for record in made(steps)]
    assert [labels.count(label) for label in world.labels] == [4, 12, *[0] * (len(world.labels) - 2)]
    total = funnel(steps)
    assert total["kept"] == 16
    assert total[pe.EMPTY] == total["made"] - 16 > 0


def test_a_model_that_never_succeeds_is_given_up():
    world = World("public", words=8)
    world.scribe = Scribe(unusable=lambda prompt, seed: True)
    with pytest.raises(UserError, match="0 usable texts of 3 wanted"):
        world.run(count=3)


def test_an_invention_is_fixed_by_seed_and_place():
    world = World("public", words=8, domain="clinical")
    writer = pe.Writer(world.context(), world.parameters)
    one, again, other = (invention(writer, world.parameters, "x", 3, place) for place in (5, 5, 6))
    assert one == again != other
    assert set(one.keywords) <= set(writer.prompts.keywords)
    assert len(set(one.keywords)) == 2
    assert one.persona in writer.prompts.personas


def test_the_guarantee_is_nothing_spent_and_the_plan_grows():
    world = World("public", words=20)
    assert (world.guarantee.epsilon, world.guarantee.delta, world.guarantee.events) == (0.0, 0.0, ())
    plan = world.method.plan(world.parameters, world.facts, 100)
    assert (plan.model_calls, plan.tokens, plan.ledger) == (100, int(2000 * pe.TOKENS_A_WORD), ())
