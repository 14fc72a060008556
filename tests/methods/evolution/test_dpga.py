"""DPGA-TextSyn: its claim, its pieces, and whole runs with parts of it switched off."""

from random import Random

import numpy as np
import pytest

from engine.dp.accounting.accountant import ExactAccountant
from engine.dp.events import Event
from engine.methods import get_method
from engine.methods.base import Facts, parse_parameters
from engine.methods.evolution.dpga import fixed_events
from engine.methods.evolution.dpga_elite import as_printed, elite
from engine.methods.evolution.dpga_stages import (
    above_noise,
    draw_length,
    keyword_list,
    length_edges,
    matched_lengths,
    paper_epsilon,
    softmax,
)
from engine.methods.evolution.parameters import texts_written
from tests.methods.evolving import COUNT, World, composed, funnel, made

FACTS = Facts(records=8948, units=8948, labels=5)


def claim(facts=FACTS, **values):
    method = get_method("dpga")
    return method.guarantee(parse_parameters(method.spec, values), facts)


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_the_total_of_its_events_is_within_the_claim(epsilon):
    found = claim(epsilon=epsilon)
    events = [Event.from_dict(event) for event in found.events]
    total = ExactAccountant().account(events, found.delta)
    assert total.epsilon <= epsilon
    assert total.epsilon > 0.99 * epsilon, "budget is left over"
    assert found.accounting["epsilon_pld"] == pytest.approx(total.epsilon, rel=1e-6)
    # The paper's budget shares: a fifth for two searches, three tenths for three histograms.
    spent = {event.what: event.epsilon for event in events if event.epsilon is not None}
    assert spent["length search, maximum"] == spent["length search, minimum"] == pytest.approx(0.1 * epsilon)
    for what in ("label histogram", "length histogram", "keyword votes"):
        assert spent[what] == pytest.approx(0.1 * epsilon)
    votes = next(event for event in events if event.what == "votes")
    assert (votes.count, votes.sampling_probability) == (3, 0.8)


def test_the_papers_formula_stands_beside_the_exact_total():
    # ten Poisson-sampled releases at q = 0.8 and the paper's σ for ε = 1: its formula is conservative
    assert paper_epsilon(11.651, 10, 0.8, 1.2282e-5 * 0.8, 0.0) == pytest.approx(
        np.log1p(0.8 * np.expm1(1.0)), abs=2e-3
    )
    found = claim(epsilon=1.0)
    assert found.accounting["epsilon_paper"] > found.accounting["epsilon_pld"]


def test_what_is_switched_off_is_neither_bought_nor_claimed():
    found = claim(
        length=False, keywords=False, labels="public", sampling_rate=1.0, epsilon=1.0, rounds=10,
    )  # fmt: skip
    events = [Event.from_dict(event) for event in found.events]
    assert [event.type for event in events] == ["declared", "gaussian"]
    assert found.noise["votes"]["sigma"] == pytest.approx(11.65, abs=0.02)  # ten full releases at N = 8,948
    assert any("declared public" in line for line in found.assumptions)


def test_a_threshold_is_bought_only_where_the_paper_reads_it_from_private_text():
    spec = get_method("dpga").spec
    for values in ({}, {"tau": 0.8}, {"suppression": "as printed", "tau": 0.8}, {"suppression": "off"}):
        assert "tau" not in fixed_events(parse_parameters(spec, values), FACTS), values
    assert "tau" in fixed_events(parse_parameters(spec, {"suppression": "as printed"}), FACTS)


def test_where_the_threshold_comes_from_is_an_assumption():
    assert any("0.8 is public" in line for line in claim(tau=0.8, rounds=1, sampling_rate=1.0).assumptions)
    own = claim(rounds=1, sampling_rate=1.0).assumptions
    assert any("first candidates, before any vote" in line for line in own)


@pytest.mark.parametrize(
    ("old", "rule", "tau"),
    [
        ({"suppression": True, "tau": "paid"}, "as printed", None),
        ({"suppression": True, "tau": 0.7}, "as printed", 0.7),
        ({"suppression": False, "tau": "paid"}, "off", None),
        ({"tau": "paid"}, "as printed", None),
        ({"suppression": True}, "near-duplicates", None),
        ({"tau": 0.7}, "near-duplicates", 0.7),
        ({"suppression": "as printed", "tau": None}, "as printed", None),
    ],
)
def test_settings_of_the_first_edition_keep_their_meaning(old, rule, tau):
    found = parse_parameters(get_method("dpga").spec, old)
    assert (found.suppression, found.tau) == (rule, tau)


def test_the_cap_multiplies_every_count_and_leaves_the_mean():
    facts = Facts(records=40_000, units=8948, unit="source", cap=5, labels=5)
    one, five = claim(suppression="as printed"), claim(facts, suppression="as printed")
    assert five.noise["votes"]["sigma"] == pytest.approx(5 * one.noise["votes"]["sigma"], rel=1e-3)
    assert five.noise["tau"]["sensitivity"] == one.noise["tau"]["sensitivity"]


def rows(*angles):
    return np.array([[np.cos(a), np.sin(a)] for a in angles], np.float32)


def test_suppression_holds_back_near_duplicates_of_a_better_candidate():
    points, votes = rows(0.0, 0.01, 1.0, 2.0), np.array([4.0, 3.0, 2.0, 1.0])
    pool = [(str(i), None) for i in range(4)]
    assert as_printed(points, votes, pool, {None: 2}, 0.9) == ([0, 2], 0.9, 1)
    assert as_printed(points, votes, pool, {None: 2}, None)[0] == [0, 1]
    # The better half has to do: the cap gives way before a vote does.
    kept, used, _ = elite(points, votes, pool, {None: 2}, 0.9)
    assert (kept, used) == ([0, 1], 1.0)


def test_the_threshold_rises_by_a_hundredth_until_enough_survive():
    points, votes = rows(0.0, 0.3, 0.6), np.array([3.0, 2.0, 1.0])
    for rule in (as_printed, elite):
        kept, used, _ = rule(points, votes, [("a", None), ("b", None), ("c", None)], {None: 3}, 0.5)
        assert sorted(kept) == [0, 1, 2]
        assert used == pytest.approx(0.96)  # cos 0.3 = 0.955


def test_each_label_keeps_its_quota():
    points, votes = rows(0.0, 0.5, 1.0, 1.5), np.array([9.0, 8.0, 1.0, 0.5])
    pool = [("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")]
    assert elite(points, votes, pool, {"x": 1, "y": 1}, 0.99)[0] == [0, 2]


def test_lengths_are_drawn_from_the_noisy_histogram():
    edges = length_edges(10, 29)
    assert edges[0] == 10
    assert edges[-1] == 30
    counts = [-3.0] * 10 + [50.0] + [-1.0] * 9
    rng = Random(0)
    assert {draw_length(rng, edges, counts) for _ in range(50)} == {20}
    assert all(10 <= draw_length(rng, edges, [-1.0] * 20) <= 30 for _ in range(50))
    assert len(length_edges(0, 5000)) == 101


def test_children_are_asked_for_the_lengths_of_private_texts_by_the_rank_of_their_parents():
    edges, counts = [10.0, 20.0, 30.0], [30.0, 10.0]  # three quarters lie below twenty words
    assert matched_lengths([90, 12, 40, 55], edges, counts) == [25, 11, 15, 18]
    assert matched_lengths([5, 5], edges, [-1.0, -2.0]) == [15, 25]
    drawn = matched_lengths(list(range(1000)), edges, counts)
    assert sum(length < 20 for length in drawn) == 750


def test_key_words_prefer_what_other_labels_lack():
    own = ["fever after the shot", "fever and swelling", "fever again"]
    words = keyword_list(own, ["swelling of the arm"] * 3, ["clinic"], 4)
    assert words[0] == "fever"
    assert "clinic" in words


def test_key_words_are_drawn_by_votes_above_the_noise():
    assert above_noise(np.array([60.0, 30.0, 9.0, -4.0]), 5.0) == pytest.approx([50 / 70, 20 / 70, 0.0, 0.0])
    assert above_noise(np.array([9.0, -4.0]), 5.0) == pytest.approx([0.5, 0.5])


def test_softmax_is_flatter_at_a_higher_temperature():
    votes = np.array([100.0, 50.0, 0.0])
    cold, warm = softmax(votes, 0.5), softmax(votes, 5.0)
    assert cold.sum() == pytest.approx(1.0)
    assert cold[0] > warm[0] > 1 / 3
    assert softmax(np.zeros(4), 1.4) == pytest.approx([0.25] * 4)


QUICK = {"rounds": 2, "population": 12, "longest": 60, "keyword_count": 4, "words": 8, "domain": "reviews"}
SETTINGS = {
    "as it is": {},
    "replace-one": {"adjacency": "replace-one"},
    "nothing but votes": {"length": False, "keywords": False, "suppression": "off", "sampling_rate": 1.0},
    "public threshold and shares, everybody votes": {"tau": 0.5, "labels": "public", "sampling_rate": 1.0},
    "as printed": {"suppression": "as printed", "keyword_choice": "softmax"},
}


@pytest.fixture(params=SETTINGS, scope="module")
def whole(request):
    """A finished run of each setting."""
    world = World("dpga", **QUICK | SETTINGS[request.param])
    return world, *world.run()


def test_it_resumes_from_every_step_and_draws_nothing_again(whole):
    world, steps, _ = whole
    for at in range(len(steps)):
        assert world.resumed(steps, at) == made(steps), f"step {at}, {steps[at].stage}"


def test_made_is_kept_and_dropped_and_all_that_was_written(whole):
    world, steps, _ = whole
    total = funnel(steps)
    assert total["kept"] == COUNT == len(made(steps))
    assert total["made"] == texts_written(world.parameters, COUNT) == steps[-1].done


def test_it_draws_what_its_guarantee_names(whole):
    world, _, events = whole
    assert composed(events) == composed([Event.from_dict(event) for event in world.guarantee.events])


def test_what_is_switched_off_leaves_no_trace_in_a_run(whole):
    world, steps, _ = whole
    p, meta = world.parameters, steps[0].state["meta"]
    assert ("edges" in meta, "keywords" in meta) == (p.length, p.keywords)
    assert ("tau" in meta) == (p.tau is not None or p.suppression == "as printed")
    assert ("length_maximum" in world.outputs.stored) == p.length
    assert ("keywords" in world.outputs.stored) == p.keywords
    assert ("tau" in world.outputs.stored) == (p.suppression == "as printed")


def test_the_threshold_is_taken_from_the_first_candidates_once(whole):
    world, steps, _ = whole
    found = [step.state["meta"].get("tau") for step in steps]
    if world.parameters.suppression == "near-duplicates" and world.parameters.tau is None:
        first = next(i for i, step in enumerate(steps) if step.stage.endswith("voting"))
        assert found[:first] == [None] * first
        assert 0.0 < found[first] <= 1.0
        assert set(found[first:]) == {found[first]}
    else:
        assert len(set(found)) == 1


def test_each_round_notes_the_votes_kept_beside_chance(whole):
    _, steps, _ = whole
    noted = [step.diagnostics["rounds"] for step in steps if step.stage.endswith("voting")]
    assert len(noted) == QUICK["rounds"]
    for rounds in noted:
        (body,) = rounds.values()
        assert 0.0 < body["votes_chance"] < 1.0


@pytest.mark.parametrize(("rounds", "said"), [(1, "1 round of votes"), (3, "3 rounds of votes")])
def test_the_sentence_counts_rounds_in_words(rounds, said):
    from engine.methods.evolution import claim as pe_claim

    assert pe_claim.rounds_of_votes(rounds) == said
