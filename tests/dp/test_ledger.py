"""Admission to a population's budget: hand-checked totals, the first-run rule, limits that change, merges."""

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.dp import filter, ledger
from engine.dp.accounting import closed_form
from engine.dp.events import Event
from engine.dp.ledger import LedgerRun, Limit, admit, change_limit, divided, merge, new_state, remaining, share_used
from engine.errors import InternalError, UserError

DELTA = 1e-5


def schedule(epsilon: float, count: int = 10) -> tuple[Event, ...]:
    return (
        Event("gaussian", "votes", noise_multiplier=closed_form.noise_multiplier(epsilon, DELTA, count), count=count),
    )


def reserve(book, events, epsilon, run_id="run", **changes):
    answer = admit(book, events, epsilon, DELTA)
    assert answer.allowed, answer.sentence
    run = LedgerRun(run_id, tuple(events), "reserved", 0, epsilon=epsilon, delta=DELTA, whole=answer.whole)
    return replace(book, runs=(*book.runs, replace(run, **changes)))


def test_the_room_of_a_limit_inverts_the_conversion():
    for order in (2, 7, 64):
        room = filter.limit_rdp(10.0, DELTA, order)
        assert closed_form.rdp_to_epsilon(order, room, DELTA) == pytest.approx(10.0)


def test_the_order_is_the_best_for_one_gaussian_and_depends_on_the_limit_alone():
    order = filter.best_order(10.0, DELTA)
    fitting = {a: filter.limit_rdp(10.0, DELTA, a) / a for a in range(2, 100)}
    assert order == max(fitting, key=fitting.get)
    assert new_state(Limit(10.0, DELTA)).order == order
    assert filter.best_order(1.0, DELTA) > order  # smaller limits want higher orders


def test_a_first_run_may_claim_the_whole_limit_and_nothing_fits_afterwards():
    state = new_state(Limit(4.0, DELTA))
    assert remaining(state) == 4.0
    answer = admit(state, schedule(4.0), 4.0, DELTA)
    assert answer.allowed
    assert answer.whole  # the order's conversion alone would refuse it
    after = reserve(state, schedule(4.0), 4.0)
    assert (share_used(after), remaining(after)) == (1.0, 0.0)
    tiny = admit(after, schedule(0.01), 0.01, DELTA)
    assert not tiny.allowed
    assert "used up" in tiny.sentence


def test_a_refused_run_on_samples_is_not_told_that_more_than_its_own_claim_would_fit():
    book = reserve(new_state(Limit(10.0, DELTA)), schedule(4.0), 4.0)
    training = (Event("gaussian", "gradients", noise_multiplier=0.48, sampling_probability=0.0077, count=200),)
    claim = remaining(book) - 0.1
    answer = admit(book, training, claim, DELTA)
    assert not answer.allowed
    assert "may claim up to" not in answer.sentence
    times = float(re.search(r"takes ([\d.]+) times what", answer.sentence)[1])
    before = share_used(book)
    taken = filter.used_rdp([training], book.order) / filter.limit_rdp(10.0, DELTA, book.order)
    assert times == pytest.approx(taken / (1.0 - before), rel=0.05)
    more = admit(book, schedule(8.0), 8.0, DELTA)
    assert not more.allowed
    (most,) = re.findall(r"may claim up to ε = ([\d.]+) with", more.sentence)
    assert remaining(book) - 0.01 < float(most) <= remaining(book)
    assert admit(book, schedule(float(most)), float(most), DELTA).allowed, "what is said to fit fits"


@pytest.mark.parametrize(("change", "words"), [({"unknown": True}, ledger.UNKNOWN), ({"asked": True}, ledger.ASKED)])
def test_nothing_is_admitted_while_a_spend_or_the_people_are_unknown(change, words):
    # Also on an empty ledger, where the first-run rule would let the whole limit in, and for the smallest run.
    for book in (new_state(Limit(10.0, DELTA)), reserve(new_state(Limit(10.0, DELTA)), schedule(1.0), 1.0)):
        state = replace(book, **change)
        for epsilon in (0.01, 10.0):
            answer = admit(state, schedule(epsilon), epsilon, DELTA)
            assert (answer.allowed, answer.whole, answer.sentence) == (False, False, words)
            assert (answer.share_after, answer.remaining_after) == (answer.share_before, answer.remaining_before)
    both = replace(new_state(Limit(10.0, DELTA)), unknown=True, asked=True)
    assert admit(both, schedule(1.0), 1.0, DELTA).sentence == ledger.UNKNOWN
    assert admit(both, (), 0.0, 0.0).allowed  # a run that claims nothing of the budget


def test_runs_of_another_unit_are_not_admitted_beside_those_that_count():
    book = reserve(new_state(Limit(10.0, DELTA)), schedule(1.0), 1.0)
    other = tuple(replace(event, unit="source") for event in schedule(1.0))
    answer = admit(book, other, 1.0, DELTA)
    assert (answer.allowed, answer.whole) == (False, False)
    assert "each record" in answer.sentence
    assert "each source" in answer.sentence
    back = replace(book, runs=(replace(book.runs[0], state="given_back"),))
    assert admit(back, other, 1.0, DELTA).allowed


def test_a_first_run_that_is_refused_is_told_what_it_takes_of_the_whole_limit():
    book = new_state(Limit(4.0, DELTA))
    training = (Event("gaussian", "gradients", noise_multiplier=0.48, sampling_probability=0.0077, count=200),)
    answer = admit(book, training, 3.9, DELTA * 2)  # its δ is above the limit's: the first-run rule does not hold
    assert not answer.allowed
    times = float(re.search(r"takes ([\d.]+) times what", answer.sentence)[1])
    taken = filter.used_rdp([training], book.order) / filter.limit_rdp(4.0, DELTA, book.order)
    assert times == pytest.approx(taken, rel=0.01)


def test_nothing_is_left_where_events_use_up_the_limits_own_delta():
    book = new_state(Limit(10.0, DELTA))
    run = LedgerRun("run", schedule(1.0), "reserved", 0, epsilon=1.0, delta=DELTA)
    list_bought = replace(schedule(0.5)[0], delta=DELTA)
    assert remaining(replace(book, runs=(replace(run, events=(list_bought,)),))) == 0.0


def test_a_whole_run_that_stopped_early_still_takes_the_whole_limit():
    after = reserve(new_state(Limit(4.0, DELTA)), schedule(4.0), 4.0, state="spent", drawn=1)
    short = replace(after, runs=(replace(after.runs[0], events=schedule(0.5)),))
    assert not admit(short, schedule(0.5), 0.5, DELTA).allowed


def test_the_first_run_rule_asks_for_the_limit_s_own_delta():
    state = new_state(Limit(4.0, DELTA))
    assert not admit(state, schedule(4.0), 4.0, 10 * DELTA).allowed
    assert not admit(state, schedule(4.5), 4.5, DELTA).allowed


def test_a_first_run_below_the_limit_leaves_what_is_left():
    state = reserve(new_state(Limit(10.0, DELTA)), schedule(4.0), 4.0)
    assert not state.runs[0].whole
    # By hand: a Gaussian of parameter μ costs α μ²/2 at order α.
    mu = math.sqrt(10) / schedule(4.0)[0].noise_multiplier
    used = state.order * mu * mu / 2
    assert share_used(state) == pytest.approx(used / filter.limit_rdp(10.0, DELTA, state.order))
    left = remaining(state)
    assert 0 < left < 10
    assert admit(state, schedule(left * 0.999), left, DELTA).allowed
    assert not admit(state, schedule(left * 1.01), left, DELTA).allowed


def test_a_reservation_is_given_back_only_while_nothing_was_drawn():
    state = reserve(new_state(Limit(4.0, DELTA)), schedule(4.0), 4.0)
    back = ledger.give_back(state, "run")
    assert (share_used(back), remaining(back)) == (0.0, 4.0)
    assert admit(back, schedule(4.0), 4.0, DELTA).allowed
    drawn = replace(state, runs=(replace(state.runs[0], drawn=1),))
    with pytest.raises(InternalError):
        ledger.give_back(drawn, "run")
    with pytest.raises(InternalError):
        ledger.give_back(back, "run")


def test_free_events_cost_nothing_and_do_not_use_up_the_first_run_rule():
    free = (Event("declared", "label shares"), Event("selection", "candidates", epsilon=2.0))
    state = reserve(new_state(Limit(4.0, DELTA)), free, 0.0)
    assert share_used(state) == 0.0
    assert admit(state, schedule(4.0), 4.0, DELTA).allowed


def test_changing_the_limit_says_when_it_came_late():
    state = new_state(Limit(4.0, DELTA))
    early, sentence = change_limit(state, Limit(6.0, DELTA))
    assert "seen" not in sentence
    late, sentence = change_limit(reserve(early, schedule(1.0), 1.0, state="spent", drawn=10), Limit(8.0, DELTA))
    assert "after outputs had been seen" in sentence
    assert late.order == filter.best_order(8.0, DELTA)
    assert len(late.runs) == 1
    lower, _ = change_limit(late, Limit(0.5, DELTA))
    assert (share_used(lower), remaining(lower)) == (1.0, 0.0)


@pytest.mark.parametrize("limit", [Limit(0.0, DELTA), Limit(math.inf, DELTA), Limit(1.0, 0.5), Limit(1.0, 0.0)])
def test_a_limit_that_bounds_nothing_is_refused(limit):
    with pytest.raises(UserError, match=r"epsilon|delta"):
        new_state(limit)


def test_merged_populations_add_up_under_the_smaller_limit():
    first = reserve(new_state(Limit(10.0, DELTA)), schedule(3.0), 3.0, "a")
    second = reserve(new_state(Limit(8.0, 2 * DELTA)), schedule(2.0), 2.0, "b")
    both = merge({"a": first, "b": second})
    assert both.limit == Limit(8.0, DELTA)
    assert [run.run_id for run in both.runs] == ["a", "b"]
    assert remaining(both) < min(remaining(first), remaining(second))
    assert merge([first]) == first
    assert merge([new_state(divided(8.0, DELTA, 0.3)), second]).limit.list_delta == 0.0


def test_a_merge_may_leave_more_spent_than_the_limit_allows():
    states = [reserve(new_state(Limit(4.0, DELTA)), schedule(4.0), 4.0, name) for name in "ab"]
    both = merge(states)
    assert (share_used(both), remaining(both)) == (1.0, 0.0)


def test_failure_probabilities_of_events_come_off_the_limit_s_delta():
    leaky = (Event("pure", "search", epsilon=0.1, delta=0.9 * DELTA),)
    state = reserve(new_state(Limit(4.0, DELTA)), leaky, 0.1)
    assert not admit(state, leaky, 0.1, DELTA).allowed


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0.05, 4.0), st.sampled_from(["gaussian", "laplace", "pure", "sampled"])), max_size=6)
)
def test_the_filter_never_lets_the_total_pass_the_limit(asked):
    state = new_state(Limit(6.0, DELTA))
    for number, (epsilon, kind) in enumerate(asked):
        events = schedule(epsilon)
        if kind in ("laplace", "pure"):
            events = (Event(kind, "histogram", epsilon=epsilon),)
        elif kind == "sampled":
            events = (Event("gaussian", "votes", noise_multiplier=6 / epsilon, sampling_probability=0.5, count=10),)
        answer = admit(state, events, epsilon, DELTA)
        assert 0.0 <= answer.share_before <= answer.share_after <= 1.0
        assert answer.remaining_after <= answer.remaining_before <= 6.0
        if answer.allowed:
            run = LedgerRun(str(number), events, "spent", 1, epsilon=epsilon, delta=DELTA, whole=answer.whole)
            state = replace(state, runs=(*state.runs, run))
    whole = [run for run in state.runs if run.whole]
    if whole:
        assert len(state.runs) == 1
    elif state.runs:
        used = filter.used_rdp([run.events for run in state.runs], state.order)
        assert closed_form.rdp_to_epsilon(state.order, used, DELTA) <= 6.0 + 1e-9


def bought(delta, epsilon=0.3):
    """Return a schedule of one bought list of labels that takes δ."""
    return (replace(schedule(epsilon, 1)[0], what="label list", delta=delta),)


def test_a_bought_list_takes_from_what_was_set_aside_and_leaves_the_room_as_it_was():
    state = new_state(divided(10.0, DELTA, 0.3))
    alone, gaussian = reserve(state, bought(0.1 * DELTA), 0.3), reserve(state, schedule(3.0), 3.0)
    both = reserve(alone, schedule(3.0), 3.0, "second")
    # Fixed beforehand: shares of one room add up. Where the room shrinks with each list they do not.
    assert share_used(both) == pytest.approx(share_used(alone) + share_used(gaussian), rel=1e-12)
    room = filter.limit_rdp(10.0, 0.7 * DELTA, state.order)
    assert share_used(gaussian) == pytest.approx(filter.used_rdp([schedule(3.0)], state.order) / room, rel=1e-6)


@pytest.mark.parametrize("parts", [[0.3], [0.1, 0.1, 0.1], [0.15, 0.1, 0.05], [0.01] * 30, [0.29, 0.01]])
def test_lists_are_admitted_up_to_what_was_set_aside_in_any_parts(parts):
    state = new_state(divided(10.0, DELTA, 0.3))
    for number, part in enumerate(parts):
        state = reserve(state, bought(part * DELTA, 0.01), 0.01, str(number))
    assert ledger.list_delta_used(state) == pytest.approx(0.3 * DELTA)
    answer = admit(state, bought(0.001 * DELTA, 0.01), 0.01, DELTA)
    assert not answer.allowed
    assert "set aside for lists" in answer.sentence
    assert admit(state, schedule(1.0), 1.0, DELTA).allowed  # runs that buy no list go on
    given_back = ledger.give_back(state, "0")
    assert admit(given_back, bought(parts[0] * DELTA, 0.01), 0.01, DELTA).allowed


@settings(max_examples=60, deadline=None)
@given(
    st.floats(0.0, 0.9),
    st.lists(st.tuples(st.floats(0.01, 4.0), st.floats(0.0, 0.6)), max_size=8),
)
def test_what_can_be_spent_never_passes_the_limit_however_delta_is_parted(share, asked):
    """By hand, for any order of runs: ε at δ − L of the Rényi sum, with failures of at most L, is within (ε, δ)."""
    limit = divided(6.0, DELTA, share)
    state = new_state(limit)
    for number, (epsilon, part) in enumerate(asked):
        events = bought(part * DELTA, epsilon)
        answer = admit(state, events, epsilon, DELTA)
        if answer.allowed:
            run = LedgerRun(str(number), events, "spent", 1, epsilon=epsilon, delta=DELTA, whole=answer.whole)
            state = replace(state, runs=(*state.runs, run))
    if not state.runs or state.runs[0].whole:
        return
    spent = sum(event.delta for run in state.runs for event in run.events)
    assert spent <= share * DELTA * (1 + 2e-9)
    used = filter.used_rdp([run.events for run in state.runs], state.order)
    assert closed_form.rdp_to_epsilon(state.order, used, DELTA - max(spent, share * DELTA)) <= 6.0 + 1e-9


def test_an_amount_that_a_person_entered_takes_nothing_of_what_is_set_aside():
    state = new_state(divided(10.0, DELTA, 0.3))
    entered = LedgerRun("declared 4", (Event("pure", "declared spend", epsilon=0.5, delta=0.2 * DELTA),), "spent", 1,
                        epsilon=0.5, delta=0.2 * DELTA, entered=True)  # fmt: skip
    after = replace(state, runs=(entered,))
    assert ledger.list_delta_used(after) == 0.0
    room = filter.limit_rdp(10.0, 0.5 * DELTA, state.order)
    assert share_used(after) == pytest.approx(filter.used_rdp([entered.events], state.order) / room, rel=1e-6)
    assert admit(after, bought(0.3 * DELTA), 0.3, DELTA).allowed


@pytest.mark.parametrize("share", [-0.1, 0.95, math.nan])
def test_a_share_for_lists_that_leaves_nothing_is_refused(share):
    with pytest.raises(UserError, match="label lists"):
        divided(1.0, DELTA, share)
