"""AUG-PE: every setting resumes from every step, adds up and draws what it claims; and its pieces by hand."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.dp.accounting.closed_form import noise_multiplier
from engine.dp.events import Event
from engine.errors import InternalError, UserError
from engine.methods import get_method
from engine.methods.base import Facts, parse_parameters
from engine.methods.evolution import claim as pe_claim
from engine.methods.evolution import common as pe
from engine.methods.evolution.aug_pe import _AugPe, by_cluster, target_length, texts_written
from engine.methods.evolution.parameters import AugPeParameters
from engine.models.builtin.format import BLANK
from tests.methods.evolving import COUNT, Scribe, World, composed, fails_at, funnel, made

QUICK = {"rounds": 2, "variations": 2, "words": 8, "domain": "reviews"}
SETTINGS = {
    "as it is": {},
    "three rounds of three": {"rounds": 3, "variations": 3},
    "one round": {"rounds": 1},
    "drawn by votes": {"selection": "sample"},
    "votes for clusters": {"votes_for": "clusters", "clusters": 6},
    "dense votes": {"votes": "dense"},
    "dense votes, replace-one": {"votes": "dense", "adjacency": "replace-one", "selection": "sample"},
    "rephrased, shares public": {"variation": "rephrase", "labels": "public"},
    "looked ahead": {"lookahead": 1},
    "replace-one": {"adjacency": "replace-one"},
}


@pytest.fixture(params=SETTINGS, scope="module")
def whole(request):
    """A finished run of each setting."""
    world = World("aug-pe", **QUICK | SETTINGS[request.param])
    return world, *world.run()


def test_it_resumes_from_every_step_and_draws_nothing_again(whole):
    world, steps, _ = whole
    for at in range(len(steps)):
        assert world.resumed(steps, at) == made(steps), f"step {at}, {steps[at].stage}"


def test_made_is_kept_and_dropped_and_all_that_was_written(whole):
    world, steps, _ = whole
    total = funnel(steps)
    ahead = world.parameters.lookahead * world.parameters.rounds * world.parameters.variations * COUNT
    assert total["kept"] == COUNT == len(made(steps))
    assert total["made"] == texts_written(world.parameters, COUNT) - ahead
    assert steps[-1].done == steps[-1].total == total["made"]
    dones = [step.done for step in steps]
    assert dones == sorted(dones)


def test_it_draws_what_the_guarantee_names(whole):
    world, _, events = whole
    claimed = [Event.from_dict(event) for event in world.guarantee.events]
    assert composed(events) == composed(claimed)


def test_labels_get_their_shares_and_no_output_says_where_it_came_from(whole):
    _, steps, _ = whole
    shares = dict(steps[0].state["meta"]["shares"])
    wanted = {label: quota for label, quota in pe.quotas(shares, COUNT).items() if quota}
    labels = [record.label for record in made(steps)]
    assert {label: labels.count(label) for label in wanted} == wanted
    assert {record.lineage for record in made(steps)} == {None}


def test_each_round_leaves_its_notes_and_its_population(whole):
    world, steps, _ = whole
    votes = [step for step in steps if step.snapshot is not None]
    assert [step.snapshot["iteration"] for step in votes] == list(range(1, world.parameters.rounds + 1))
    assert all(len(step.snapshot["texts"]) == len(step.snapshot["labels"]) == COUNT for step in votes)
    notes = votes[-1].diagnostics["iterations"]
    assert [note["population"] for note in notes] == [COUNT * world.parameters.variations] * len(votes)
    assert [note["selected"] for note in notes] == [COUNT] * len(votes)


@pytest.mark.parametrize(
    ("changes", "count", "expected"),
    [
        ({"rounds": 1, "variations": 2}, 10, 20),
        ({"rounds": 2, "variations": 2}, 10, 30),  # 20 at first, one more of each of 10
        ({"rounds": 10, "variations": 7}, 100, 100 * (7 + 9 * 6)),
        ({"rounds": 2, "variations": 2, "lookahead": 3}, 10, 30 + 3 * 2 * 20),  # both votes look at 20 candidates
    ],
)
def test_texts_written_by_hand(changes, count, expected):
    assert texts_written(AugPeParameters(**changes), count) == expected


@pytest.mark.parametrize("name", ["as it is", "looked ahead", "three rounds of three"])
def test_texts_written_is_what_the_model_is_asked_for(name):
    world = World("aug-pe", **QUICK | SETTINGS[name])
    world.run()
    assert len(world.scribe.prompts) == texts_written(world.parameters, COUNT)  # nothing failed, so no second try
    plan = world.method.plan(world.parameters, world.facts, COUNT)
    assert plan.model_calls == len(world.scribe.prompts)


def test_without_labels_nothing_is_bought():
    world = World("aug-pe", labelled=False, **QUICK)
    steps, events = world.run()
    assert list(world.guarantee.noise) == ["votes"]
    assert {event.what for event in events} == {"votes"}
    assert {record.label for record in made(steps)} == {None}


def test_what_cannot_be_used_is_dropped_and_the_run_still_resumes():
    world = World("aug-pe", **QUICK | {"variations": 3})
    world.scribe = Scribe(unusable=fails_at(0.5))
    steps, _ = world.run()
    total = funnel(steps)
    assert total[pe.EMPTY] > 0
    assert total["made"] == texts_written(world.parameters, COUNT)
    for at in range(len(steps)):
        assert world.resumed(steps, at) == made(steps)


@pytest.mark.parametrize("at", [None, -3])
def test_variations_that_all_fail_leave_the_survivors_that_were_paid_for(at):
    world = World("aug-pe", **(QUICK | {"variations": 3}))
    world.scribe = Scribe(unusable=lambda prompt, seed: "<|op:fill|>" in prompt)
    steps, _ = world.run(batch_size=8)  # twelve variations in one batch
    assert len(made(steps)) == COUNT
    assert funnel(steps)[pe.EMPTY] > 0
    if at is not None:
        assert world.resumed(steps, at) == made(steps)


def test_a_label_that_lost_its_candidates_ends_the_run():
    world = World("aug-pe", **QUICK)
    label = world.labels[0]
    world.scribe = Scribe(unusable=lambda prompt, seed: f"<|label|>{label}" in prompt)
    world.outputs.save("labels", *_histogram(world))
    with pytest.raises(UserError, match=f"of label '{label}'"):
        world.run()


def _histogram(world):
    """Return request, event and values of a label histogram in which each label has two records."""
    kept = World("aug-pe", **QUICK)
    kept.run()
    stored = kept.outputs.stored["labels"]
    return stored.request, stored.event, np.full(len(world.labels), 2.0)


def test_a_vote_for_other_candidates_is_not_taken_up():
    world = World("aug-pe", **QUICK)
    steps, _ = world.run()
    before = next(i for i, step in enumerate(steps) if step.state["phase"] == "select")
    state = dict(steps[before].state)
    state["pool"] = [["another text altogether", label] for _, label in state["pool"]]
    with pytest.raises(InternalError, match="another request"):
        world.run(state=state)


def test_it_stops_between_batches_when_asked():
    world = World("aug-pe", **QUICK)
    asked = iter([False, False, True, True])
    steps, _ = world.run(cancelled=lambda: next(asked))
    assert len(steps) == 2


def test_without_its_guarantee_or_a_count_nothing_runs():
    world = World("aug-pe", **QUICK)
    with pytest.raises(InternalError, match="guarantee"):
        world.run(guarantee=None)
    with pytest.raises(UserError, match="count"):
        world.run(count=0)
    with pytest.raises(InternalError, match="generator"):
        world.run(generator=None)


# -- pieces ---------------------------------------------------------------------------------------------------


def evolution(**parameters):
    world = World("aug-pe", **QUICK | parameters)
    return _AugPe(world.context(), world.parameters)


def test_by_rank_the_most_voted_of_each_label_survive():
    run = evolution()
    run.wanted = lambda state: {"x": 2, "y": 1}
    pool = [("a", "x"), ("b", "y"), ("c", "x"), ("d", "x"), ("e", "y")]
    kept = run._winners({"round": 1}, pool, np.array([1.0, 5.0, 3.0, 2.0, 9.0]), None)
    assert kept == [2, 3, 4]


def test_a_draw_follows_the_votes():
    run = evolution(selection="sample")
    run.wanted = lambda state: {"x": 1}
    pool, votes = [("a", "x"), ("b", "x"), ("c", "x")], np.array([6.0, 2.0, -4.0])
    drawn = [run._winners({"round": round_}, pool, votes, None) for round_ in range(1, 801)]
    assert np.mean([kept == [0] for kept in drawn]) == pytest.approx(0.75, abs=0.05)
    assert [2] not in drawn  # what has no votes never comes before what has


def test_a_draw_without_any_votes_still_fills_the_quota():
    run = evolution(selection="sample")
    run.wanted = lambda state: {"x": 2}
    kept = run._winners({"round": 1}, [("a", "x"), ("b", "x"), ("c", "x")], np.full(3, -1.0), None)
    assert len(set(kept)) == 2


@pytest.mark.parametrize("turns", [1, 3])
def test_looking_ahead_is_the_mean_of_variations(turns):
    run = evolution(lookahead=turns)
    pool = [("one two three four five six", "x"), ("seven eight nine ten eleven", "y")]
    own = run.embedder.embed([text for text, _ in pool])
    seen = run._looked_ahead(2, pool, own)
    rows = []
    for turn in range(turns):
        tasks = [run._vary(text, label, "ahead", 2, i, turn) for i, (text, label) in enumerate(pool)]
        assert all(BLANK in task.text for task in tasks)
        rows.append(run.embedder.embed(run.writer.write(tasks, "ahead", 2, turn).texts))
    mean = np.mean(rows, axis=0)
    assert seen == pytest.approx(mean / np.linalg.norm(mean, axis=1, keepdims=True), abs=1e-5)
    assert not np.allclose(seen, own, atol=0.1)


def test_looking_ahead_takes_the_text_itself_where_a_variation_failed():
    run = evolution(lookahead=1)
    run.writer._generator = Scribe(unusable=lambda prompt, seed: True)
    pool = [("one two three four five six", "x")]
    own = run.embedder.embed([pool[0][0]])
    assert run._looked_ahead(1, pool, own) == pytest.approx(own, abs=1e-6)


def test_clusters_hold_candidates_of_one_label_and_votes_are_for_them():
    world = World("aug-pe", **QUICK | {"votes_for": "clusters", "clusters": 5})
    steps, _ = world.run()
    votes = world.outputs.stored["votes/1"]
    labels = {label for _, label in next(s for s in steps if s.state["phase"] == "select").state["pool"]}
    assert len(labels) <= len(votes.values) < 2 * COUNT
    assert max(steps[-1].diagnostics["iterations"][0]["votes_quantiles"]) <= votes.values.max()


@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=5),
    weights=st.lists(st.floats(-3, 9, allow_nan=False), min_size=5, max_size=5),
    part=st.floats(0, 1),
)
@settings(max_examples=150, deadline=None)
def test_a_quota_is_always_filled_from_clusters(sizes, weights, part):
    parts = np.repeat(np.arange(len(sizes)), sizes)
    votes = np.array([weights[c] / sizes[c] for c in parts])
    own = list(range(len(parts)))
    quota = round(part * len(own))
    kept = by_cluster(own, votes, parts, quota)
    assert len(kept) == len(set(kept)) == quota
    assert set(kept) <= set(own)


def test_clusters_share_a_quota_by_their_votes():
    parts = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    votes = np.array([0.75] * 4 + [0.25] * 4)  # three votes to one
    assert sorted(by_cluster(list(range(8)), votes, parts, 4)) == [0, 1, 2, 4]
    # a cluster of two cannot hold three quarters of six: what is left goes to the other one
    few = np.array([0, 0, 1, 1, 1, 1])
    assert sorted(by_cluster(list(range(6)), np.array([3.0, 3.0, 0.5, 0.5, 0.5, 0.5]), few, 5)) == [0, 1, 2, 3, 4]
    # nobody voted for the second cluster: it only fills up what the first cannot hold
    unloved = np.array([1.0, 1.0, -0.5, -0.5, -0.5, -0.5])
    assert sorted(by_cluster(list(range(6)), unloved, few, 2)) == [0, 1]
    assert sorted(by_cluster(list(range(6)), unloved, few, 3))[:2] == [0, 1]


@pytest.mark.parametrize(
    ("words", "degree", "spread", "draw", "expected"),
    [
        (60, 0.5, 50.0, 0.0, 60),
        (60, 0.5, 50.0, 1.0, 85),
        (60, 0.6, 40.0, -1.0, 36),
        (30, 0.5, 60.0, -3.0, 25),  # never below 25 words
        (390, 0.6, 60.0, 3.0, 400),  # nor above what the model is asked for
    ],
)
def test_target_length_by_hand(words, degree, spread, draw, expected):
    assert target_length(words, degree, spread, draw) == expected


def test_degrees_may_be_given_in_either_order():
    low, high = evolution(degree_low=0.2, degree_high=0.3), evolution(degree_low=0.3, degree_high=0.2)
    text = " ".join(f"w{i}" for i in range(60))
    assert low._vary(text, "x", "vary", 2, 0, 0) == high._vary(text, "x", "vary", 2, 0, 0)


# -- claim ----------------------------------------------------------------------------------------------------


def claim(facts, **values):
    method = get_method("aug-pe")
    return method.guarantee(parse_parameters(method.spec, values), facts)


@pytest.mark.parametrize("rounds", [1, 10])
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_noise_agrees_with_the_closed_form(rounds, epsilon):
    found = claim(Facts(5000, 5000), rounds=rounds, epsilon=epsilon)
    assert found.noise["votes"]["sigma"] == pytest.approx(noise_multiplier(epsilon, found.delta, rounds), rel=1e-3)


def test_buying_labels_makes_votes_noisier_by_their_share_and_replacing_by_the_root_of_two():
    plain, bought = claim(Facts(5000, 5000)), claim(Facts(5000, 5000, labels=4))
    public = claim(Facts(5000, 5000, labels=4), labels="public")
    replaced = claim(Facts(5000, 5000, labels=4), adjacency="replace-one")
    one = plain.noise["votes"]["sigma"]
    assert bought.noise["votes"]["sigma"] == pytest.approx(one / math.sqrt(0.95), rel=1e-3)
    assert bought.noise["labels"]["sigma"] == pytest.approx(
        noise_multiplier(4.0, plain.delta) / math.sqrt(0.05), rel=1e-3
    )
    assert public.noise["votes"]["sigma"] == pytest.approx(one, rel=1e-3)
    assert replaced.noise["votes"]["sigma"] == pytest.approx(math.sqrt(2) * bought.noise["votes"]["sigma"], rel=1e-3)
    assert replaced.noise["votes"]["noise_multiplier"] == pytest.approx(bought.noise["votes"]["noise_multiplier"])
    assert pe_claim.cap_of(Facts(9, 9, cap=5)) == 1


@pytest.mark.parametrize(
    ("facts", "changes"),
    [
        (Facts(5000, 5000), {}),
        (Facts(5000, 5000, labels=4), {"label_share": 0.5}),
        (Facts(5000, 900, unit="source", cap=5), {"adjacency": "replace-one"}),
    ],
)
def test_the_plan_says_the_noise_that_the_run_will_add(facts, changes):
    method = get_method("aug-pe")
    notes = method.plan(parse_parameters(method.spec, changes), facts, 100).notes
    sigma = claim(facts, **changes).noise["votes"]["sigma"]
    assert any(f"noise of σ = {sigma:.3g}." in note for note in notes)


def test_a_state_is_json_and_holds_no_record():
    world = World("aug-pe", **QUICK)
    steps, _ = world.run()
    texts = set(world.records["text"])
    for step in steps:
        assert not texts & {text for text, _ in [*step.state["pool"], *step.state["fresh"]]}
    assert dataclasses.asdict(steps[0])["funnel"] == {"made": 0, "kept": 0}


def test_dense_votes_cost_a_person_no_more_for_more_records():
    claims = {
        (votes, cap): parsed_claim({"votes": votes, "labels": "public"}, Facts(500, 500, "source", cap))
        for votes in ("nearest", "dense") for cap in (1, 5)
    }  # fmt: skip
    sigma = {key: claim.noise["votes"]["sigma"] for key, claim in claims.items()}
    assert sigma["nearest", 5] == pytest.approx(5 * sigma["nearest", 1])
    assert sigma["dense", 5] == sigma["dense", 1] == sigma["nearest", 1]
    (line,) = [event for event in claims["dense", 5].events if event["type"] == "gaussian"]
    assert (line["what"], line["geometry"], line["sensitivity"], line["count"]) == ("dense votes", "vectors", 1.0, 10)


def test_dense_votes_keep_each_labels_share():
    world = World("aug-pe", **QUICK | {"votes": "dense", "variations": 3})
    steps, _ = world.run()
    shares = dict(steps[0].state["meta"]["shares"])
    labels = [record.label for record in made(steps)]
    assert {label: labels.count(label) for label in shares} == pe.quotas(shares, COUNT)


def parsed_claim(parameters, facts):
    return get_method("aug-pe").guarantee(parse_parameters(get_method("aug-pe").spec, parameters), facts)


def test_dense_votes_are_not_for_clusters():
    with pytest.raises(UserError, match="nearest one"):
        parse_parameters(get_method("aug-pe").spec, {"votes": "dense", "votes_for": "clusters"})


def test_noise_too_small_to_be_drawn_exactly_is_refused_for_dense_votes_too():
    with pytest.raises(UserError, match="drawn exactly"):
        pe_claim.check_scales({"votes": Event("gaussian", "dense votes", noise_multiplier=1e-6, geometry="vectors")})
