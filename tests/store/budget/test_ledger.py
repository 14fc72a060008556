"""The ledger of a population: limits, reservations, spends, touches, mergers, and what outlives what."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.corpus.columns.mapping import ColumnMapping
from engine.dp.accounting.closed_form import default_delta, epsilon, noise_multiplier
from engine.dp.events import Event
from engine.dp.filter import limit_rdp, used_rdp
from engine.dp.guarantee import Guarantee
from engine.dp.ledger import Admission
from engine.errors import InternalError, RefusedError, UserError
from engine.store.budget import reservations
from engine.store.budget.statement import NEIGHBOURS
from engine.store.database.schema import mechanism_outputs
from tests.store.conftest import MAPPING, made_up
from tests.store.ledger_making import DELTA, draw, end, gaussian, kinds, limited, reserved_run
from tests.store.making import examine, finding, finished_run


def test_a_new_population_has_the_default_limit_and_no_line(store, corpus):
    view = store.ledger.of(corpus.id)
    units = store.ledger.facts(corpus.id).units
    assert (view.limit_epsilon, view.limit_delta) == (10.0, default_delta(units))
    assert view.limit_is_default
    assert (view.share, view.reserved_share, view.total_epsilon, view.unbounded) == (0.0, 0.0, 0.0, False)
    assert view.remaining_epsilon > 0
    assert view.lines.empty
    assert store.ledger.verify() == {"ok": True, "lines": 0, "first_bad": None}


def test_reserve_spend_settle(store, corpus):
    limited(store, corpus)
    planned = gaussian(1.0, count=3)
    run_id = reserved_run(store, corpus, planned)
    before = store.ledger.of(corpus.id)
    assert before.reserved_share == before.share > 0
    for i in range(3):
        draw(store, run_id, planned, f"votes/{i}")
    end(store, run_id, "done")
    view = store.ledger.of(corpus.id)
    assert kinds(store, corpus) == ["limit", "reserve", "spend", "spend", "spend", "settle"]
    assert view.reserved_share == 0.0
    assert view.share == pytest.approx(before.share)
    noise = planned.events[0]["noise_multiplier"]
    assert (
        view.total_epsilon
        == pytest.approx(epsilon(np.sqrt(3) / noise, DELTA), rel=1e-6)
        == pytest.approx(1.0, rel=1e-3)
    )
    assert set(view.lines.columns) == set(
        "seq at actor kind run_id method epsilon delta unit adjacency what sentence share_after".split()
    )
    assert store.ledger.verify() == {"ok": True, "lines": 6, "first_bad": None}


def test_the_first_reservation_fixes_the_default_limit(store, corpus):
    reserved_run(store, corpus, gaussian(0.5, delta=1e-4))
    view = store.ledger.of(corpus.id)
    assert kinds(store, corpus) == ["limit", "reserve"]
    assert view.limit_is_default
    store.ledger.set_limit(corpus.id, 3.0, 1e-4)
    assert not store.ledger.of(corpus.id).limit_is_default


def test_past_the_limit_is_refused_and_writes_nothing(store, corpus):
    limited(store, corpus, 1.0)
    reserved_run(store, corpus, gaussian(0.5))
    lines = store.ledger.verify()["lines"]
    planned = gaussian(0.9)
    answer = store.ledger.what_if(corpus.id, planned)
    assert not answer.allowed
    with pytest.raises(RefusedError) as refusal:
        reserved_run(store, corpus, planned)
    assert str(refusal.value) == answer.sentence
    assert store.ledger.verify()["lines"] == lines


def test_what_if_says_what_a_reservation_then_does(store, corpus):
    limited(store, corpus)
    planned = gaussian(0.7)
    answer = store.ledger.what_if(corpus.id, planned)
    assert store.ledger.verify()["lines"] == 1
    reserved_run(store, corpus, planned)
    view = store.ledger.of(corpus.id)
    assert (answer.allowed, answer.share_before) == (True, 0.0)
    assert view.share == pytest.approx(answer.share_after)
    assert view.remaining_epsilon == pytest.approx(answer.remaining_after)
    free = store.ledger.what_if(corpus.id, Guarantee("heuristic", "None."))
    assert free.allowed
    assert free.share_after == free.share_before == pytest.approx(view.share)


@pytest.mark.parametrize("state", ["cancelled", "failed"])
def test_a_reservation_comes_back_only_while_nothing_was_drawn(store, corpus, state):
    limited(store, corpus)
    planned = gaussian(1.0, count=2)
    untouched, touched = reserved_run(store, corpus, planned), reserved_run(store, corpus, gaussian(0.3))
    draw(store, touched, gaussian(0.3))
    share = store.ledger.of(corpus.id).share
    end(store, untouched, state)
    assert kinds(store, corpus)[-1] == "give_back"
    assert store.ledger.of(corpus.id).share < share
    share = store.ledger.of(corpus.id).share
    end(store, touched, state)
    assert kinds(store, corpus)[-1] == "give_back"
    assert store.ledger.of(corpus.id).share == share > 0
    with store.session.db.write() as connection:  # a resumed run goes on with its reservation
        store.ledger.reserve(connection, touched, corpus.id, "test", gaussian(0.3))
    assert store.ledger.of(corpus.id).share == share


def test_a_deleted_run_stays_spent(store, corpus):
    limited(store, corpus)
    planned = gaussian(1.0, count=4)
    run_id = reserved_run(store, corpus, planned)
    draw(store, run_id, planned)
    whole = store.ledger.of(corpus.id).share
    store.runs.delete(run_id)
    view = store.ledger.of(corpus.id)
    assert list(view.lines["kind"])[-1] == "settle"
    assert view.share == pytest.approx(whole / 4)  # one of four planned outputs was drawn
    with store.session.db.read() as connection:
        assert connection.execute(mechanism_outputs.select()).all() == []


def test_the_total_is_that_of_a_fixed_schedule_and_the_limit_holds_whatever_was_chosen(store, corpus):
    limited(store, corpus)
    planned = gaussian(0.5)
    assert "whatever was chosen" not in store.ledger.of(corpus.id).sentence
    for _ in range(2):
        draw(store, reserved_run(store, corpus, planned), planned)
    said = store.ledger.of(corpus.id).sentence
    assert (
        "(zero-out), as if all runs had been fixed beforehand. What holds whatever was chosen is the limit, ε = 2"
        in said
    )
    store.ledger.set_limit(corpus.id, 5.0, DELTA)  # after outputs were seen: it may have been chosen by them
    said = store.ledger.of(corpus.id).sentence
    assert "beforehand. The limit is ε = 5" in said
    assert "whatever was chosen" not in said


def test_a_corpus_imported_again_with_one_record_more_is_still_spent(store, corpus):
    limited(store, corpus)
    planned = gaussian(1.0)
    draw(store, reserved_run(store, corpus, planned), planned)
    before = store.ledger.of(corpus.id)
    store.corpora.delete(corpus.id)
    again = store.corpora.import_table(made_up(41), MAPPING, name="Letters again", unit="record", holdout=0.25)
    after = store.ledger.of(again.id)
    assert after.population == before.population
    assert after.share == pytest.approx(before.share) != 0
    assert (after.limit_epsilon, after.limit_delta) == (2.0, DELTA)
    assert after.total_epsilon == pytest.approx(1.0, rel=1e-3)
    assert not store.ledger.what_if(again.id, gaussian(2.0)).allowed
    assert store.ledger.verify()["ok"]


def test_merged_populations_add_up_under_the_smaller_limit(store):
    first = store.corpora.import_table(made_up(20), MAPPING, name="First", holdout=0.0)
    second = store.corpora.import_table(made_up(20, 700), MAPPING, name="Second", holdout=0.0)
    assert first.population != second.population
    store.ledger.set_limit(first.id, 4.0, DELTA)
    store.ledger.set_limit(second.id, 3.0, DELTA)
    for corpus in (first, second):
        planned = gaussian(0.8)
        draw(store, reserved_run(store, corpus, planned), planned)
    shares = {corpus.id: store.ledger.of(corpus.id).share for corpus in (first, second)}
    both = pd.concat([made_up(5), made_up(10, 700)], ignore_index=True)
    third = store.corpora.import_table(both, MAPPING, name="Both", holdout=0.0)
    views = [store.ledger.of(corpus.id) for corpus in (first, second, third)]
    assert len({view.population for view in views}) == 1
    assert {view.limit_epsilon for view in views} == {3.0}
    assert {round(view.share, 9) for view in views} == {round(views[0].share, 9)}
    assert views[0].share == pytest.approx(2 * shares[second.id], rel=1e-6)
    assert views[0].total_epsilon == pytest.approx(epsilon(np.sqrt(2) / noise_multiplier(0.8, DELTA), DELTA), rel=1e-6)
    assert kinds(store, third).count("merge") == 1
    planned = gaussian(0.2)
    run_id = reserved_run(store, first, planned)
    draw(store, run_id, planned)
    end(store, run_id, "done")
    assert store.ledger.of(second.id).share > views[1].share


def test_a_run_of_a_merged_population_goes_on(store):
    """Reserved before the merger, drawn and settled after it."""
    first = store.corpora.import_table(made_up(20), MAPPING, name="First", holdout=0.0)
    second = store.corpora.import_table(made_up(20, 700), MAPPING, name="Second", holdout=0.0)
    planned = gaussian(0.5)
    runs_of = [reserved_run(store, corpus, planned) for corpus in (first, second)]
    both = pd.concat([made_up(20), made_up(20, 700)], ignore_index=True)
    store.corpora.import_table(both, MAPPING, name="Both", holdout=0.0)
    for run_id in runs_of:
        draw(store, run_id, planned)
        end(store, run_id, "done")
    view = store.ledger.of(first.id)
    assert view.reserved_share == 0.0
    assert list(view.lines["kind"]).count("settle") == 2


def test_a_late_limit_is_a_line_that_says_so(store, corpus):
    limited(store, corpus)
    assert "after" not in store.ledger.of(corpus.id).lines["sentence"].iloc[-1]
    planned = gaussian(1.0)
    draw(store, reserved_run(store, corpus, planned), planned)
    store.ledger.set_limit(corpus.id, 5.0, DELTA)
    view = store.ledger.of(corpus.id)
    assert view.lines["kind"].iloc[-1] == "limit"
    assert "after outputs had been seen" in view.lines["sentence"].iloc[-1]
    assert view.lines["share_after"].iloc[-1] == pytest.approx(view.share)


@pytest.mark.parametrize(("epsilon_", "delta"), [(0.0, DELTA), (-1.0, DELTA), (1.0, 0.5), (1.0, 0.0)])
def test_a_limit_that_makes_no_sense_is_refused(store, corpus, epsilon_, delta):
    with pytest.raises(UserError):
        store.ledger.set_limit(corpus.id, epsilon_, delta)
    assert store.ledger.verify()["lines"] == 0


def test_an_output_and_its_line_are_one(store, corpus, monkeypatch):
    limited(store, corpus)
    planned = gaussian(1.0, count=2)
    run_id = reserved_run(store, corpus, planned)
    draw(store, run_id, planned, values=np.arange(6.0).reshape(2, 3) / 7)
    stored = store.ledger.outputs(run_id).load("votes/0")
    assert stored.values.shape == (2, 3)
    assert (stored.values == np.arange(6.0).reshape(2, 3) / 7).all()
    assert stored.request == {"of": "votes/0"}
    assert stored.event.noise_multiplier == planned.events[0]["noise_multiplier"]
    assert store.ledger.outputs(run_id).load("votes/1") is None
    with pytest.raises(InternalError, match="twice"):
        draw(store, run_id, planned)
    monkeypatch.setattr(mechanism_outputs, "insert", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        draw(store, run_id, planned, "votes/1")
    monkeypatch.undo()
    assert kinds(store, corpus).count("spend") == 1


def test_nothing_is_drawn_beyond_or_without_a_reservation(store, corpus):
    limited(store, corpus)
    planned = gaussian(1.0, count=2)
    run_id = reserved_run(store, corpus, planned)
    for i in range(2):
        draw(store, run_id, planned, f"votes/{i}")
    with pytest.raises(InternalError, match="more than it reserved"):
        draw(store, run_id, planned, "votes/2")
    end(store, run_id, "done")
    with pytest.raises(InternalError, match="without a reservation"):
        draw(store, run_id, planned, "votes/2")
    other = finished_run(store, corpus, ["x"])
    with pytest.raises(InternalError, match="without a reservation"):
        draw(store, other, planned)
    store.ledger.outputs(other).save("choice", {}, Event("selection", "choice"), np.zeros(3))
    assert store.ledger.outputs(other).load("choice").values.shape == (3,)
    store.runs.delete(run_id)
    with pytest.raises(InternalError, match="no run"):
        draw(store, run_id, planned, "votes/3")


def test_examinations_and_releases_stand_in_the_ledger(store, corpus):
    store.review.use_gold(corpus.id)
    run_id = finished_run(store, corpus, ["one text"])
    with store.session.db.write() as connection:
        store.ledger.touch(connection, run_id, "examination", "Looked at.")
        store.ledger.touch_of_release(connection, run_id, 1)
    view = store.ledger.of(corpus.id)
    assert view.unbounded
    assert list(view.lines["kind"]) == ["touch", "release"]
    assert "Formal total: unbounded" in view.lines["sentence"].iloc[-1]
    assert "no number bounds" in view.sentence


def test_the_release_of_a_formal_run_keeps_the_total(store, corpus):
    planned = gaussian(1.0)
    limited(store, corpus)
    run_id = reserved_run(store, corpus, planned)
    draw(store, run_id, planned)
    end(store, run_id, "done")
    with store.session.db.write() as connection:
        store.ledger.touch_of_release(connection, run_id, 1)
    view = store.ledger.of(corpus.id)
    assert not view.unbounded
    assert (view.lines["epsilon"].iloc[-1], view.lines["delta"].iloc[-1]) == (1.0, DELTA)


def of_unit(unit, claim=0.5, adjacency="zero-out", count=1):
    """Return a Gaussian guarantee for a unit and an adjacency."""
    event = {**gaussian(claim, count).events[0], "unit": unit, "adjacency": adjacency}
    return Guarantee("dp", "Made for a test.", "all", claim, DELTA, unit, adjacency, events=(event,))


def spent(store, corpus, guarantee):
    run_id = reserved_run(store, corpus, guarantee)
    draw(store, run_id, guarantee)
    end(store, run_id, "done")
    return run_id


def test_runs_for_another_unit_are_refused_and_nothing_is_written(store, corpus):
    limited(store, corpus)
    spent(store, corpus, of_unit("record"))
    before = len(store.ledger.of(corpus.id).lines)
    with pytest.raises(RefusedError, match="neither bound covers the other"):
        reserved_run(store, corpus, of_unit("source"))
    assert not store.ledger.what_if(corpus.id, of_unit("source")).allowed
    assert len(store.ledger.of(corpus.id).lines) == before
    given = reserved_run(store, corpus, of_unit("record"))
    end(store, given, "cancelled")
    reserved_run(store, corpus, of_unit("record"))


def test_a_given_back_run_does_not_fix_the_unit(store, corpus):
    limited(store, corpus)
    run_id = reserved_run(store, corpus, of_unit("source"))
    end(store, run_id, "cancelled")
    reserved_run(store, corpus, of_unit("record"))


def test_joined_people_with_runs_of_two_units_have_no_total(store, corpus):
    other = store.corpora.import_table(made_up(30, 1000), MAPPING, name="Others")
    assert other.population != corpus.population
    for one, unit in ((corpus, "record"), (other, "source")):
        limited(store, one)
        spent(store, one, of_unit(unit, 0.5))
    joined = store.ledger.join_people(corpus.id, other.id)
    assert store.ledger.wait_total(corpus.id) is None
    joined = store.ledger.of(corpus.id)
    assert joined.no_total
    assert joined.total_epsilon is None
    assert "there is no total" in joined.sentence
    assert "for each record, whose data are there or left out (zero-out) and to ε = 0.5" in joined.sentence
    assert "no further run is admitted" in joined.sentence
    for unit in ("record", "source"):
        with pytest.raises(RefusedError, match="record and source"):
            reserved_run(store, corpus, of_unit(unit, 0.1))


@pytest.mark.parametrize("unit", ["record", "source"])
@pytest.mark.parametrize("adjacencies", [("zero-out",), ("replace-one",), ("zero-out", "replace-one")])
def test_the_sum_is_the_closed_form_and_names_unit_and_adjacency(store, corpus, unit, adjacencies):
    """Gaussian releases of multipliers σ add up to μ² = Σ 1/σ² (Dong, Roth and Su 2022), whatever they are called."""
    store.ledger.set_limit(corpus.id, 8.0, DELTA)
    mu = 0.0
    for adjacency in adjacencies:
        for claim in (0.5, 0.9):
            guarantee = of_unit(unit, claim, adjacency)
            spent(store, corpus, guarantee)
            mu += 1.0 / guarantee.events[0]["noise_multiplier"] ** 2
    assert store.ledger.wait_total(corpus.id) == pytest.approx(epsilon(math.sqrt(mu), DELTA), rel=1e-6)
    view = store.ledger.of(corpus.id)
    holds = "replace-one" if adjacencies == ("replace-one",) else "zero-out"
    said = {"record": "record", "source": "person"}[unit]
    assert f"for each {said}, whose data are {NEIGHBOURS[holds]} ({holds})" in view.sentence
    costly = view.lines[view.lines["kind"].isin(["reserve", "spend", "settle"])]
    assert set(costly["unit"]) == {unit}
    assert set(costly["adjacency"]) == set(adjacencies)
    assert view.lines.loc[view.lines["kind"] == "limit", "unit"].isna().all()


def test_reserving_twice_is_once(store, corpus):
    limited(store, corpus)
    planned = gaussian(0.5)
    run_id = reserved_run(store, corpus, planned)
    with store.session.db.write() as connection:
        assert reservations.open_reservation(connection, run_id) is not None
        store.ledger.reserve(connection, run_id, corpus.id, "test", planned)
    assert kinds(store, corpus).count("reserve") == 1


def test_findings_of_an_examination_stay_a_table(store, corpus):
    """Rounds that a method keeps are no table of the examination."""
    run_id = finished_run(store, corpus, ["one"])
    store.examinations.save_snapshot(run_id, 0, ["a", "b"], ["x", "y"])
    store.examinations.save_snapshot(run_id, 10, ["c"], None)
    store.examinations.save_snapshot(run_id, 2, ["d"], None)
    examine(store, run_id, [finding("pipp", 0.1)], tables={})
    assert not [name for name in store.examinations.tables(run_id) if name.startswith("iteration")]
    found = store.examinations.snapshots(run_id)
    assert [number for number, _ in found] == [0, 2, 10]
    assert list(found[0][1]["label"]) == ["x", "y"]
    assert found[2][1]["label"].isna().all()


def test_a_limit_with_a_delta_of_one_nth_is_confirmed_and_stored_as_such(store):
    rows = [{"id": f"n{i}", "text": f"Note {i} about soup."} for i in range(2000)]
    made = store.corpora.import_table(
        pd.DataFrame(rows), ColumnMapping(text="text", record_id="id"), name="Notes", holdout=0.0
    )
    with pytest.raises(UserError, match="1/N or more"):
        store.ledger.set_limit(made.id, 3.0, 1e-3)
    assert store.ledger.of(made.id).limit_is_default
    assert store.ledger.set_limit(made.id, 3.0, 1e-3, large_delta=True).limit_delta == 1e-3
    (line,) = json.loads(store.ledger.export(made.id))["lines"]
    assert line["body"]["large_delta"] is True
    assert "was confirmed" in line["body"]["sentence"]
    store.ledger.set_limit(made.id, 3.0, 1e-5, large_delta=True)  # a small one needs no confirmation, and has none
    assert "large_delta" not in json.loads(store.ledger.export(made.id))["lines"][1]["body"]


def buying(claim, delta, count=1):
    """Return the guarantee of a run that buys a list of labels for `delta`."""
    made = gaussian(claim, count)
    return replace(made, events=({**made.events[0], "what": "label list", "delta": delta},))


def test_a_share_of_delta_for_lists_is_fixed_with_the_limit(store, corpus):
    fresh = store.ledger.of(corpus.id)
    assert fresh.limit_list_delta == pytest.approx(0.3 * fresh.limit_delta)
    view = store.ledger.set_limit(corpus.id, 5.0, DELTA, list_share=0.1)
    assert (view.limit_list_delta, view.list_delta_used) == (pytest.approx(0.1 * DELTA), 0.0)
    assert "is set aside for lists" in view.lines["sentence"].iloc[-1]
    reserved_run(store, corpus, buying(0.5, 0.1 * DELTA))
    assert store.ledger.of(corpus.id).list_delta_used == pytest.approx(0.1 * DELTA)
    lines = store.ledger.verify()["lines"]
    with pytest.raises(RefusedError, match="set aside for lists"):
        reserved_run(store, corpus, buying(0.5, 0.1 * DELTA))
    assert store.ledger.verify()["lines"] == lines
    reserved_run(store, corpus, gaussian(0.5))
    with pytest.raises(UserError, match="label lists"):
        store.ledger.set_limit(corpus.id, 5.0, DELTA, list_share=0.95)
    exported = json.loads(store.ledger.export(corpus.id))
    assert [line["body"].get("list_delta") for line in exported["lines"]] == [pytest.approx(0.1 * DELTA)] * 3


@pytest.mark.parametrize("parts", [(), (0.0,), (0.2, 0.1)])
def test_a_ledger_of_an_earlier_edition_keeps_its_room_and_buys_no_further_list(store, corpus, monkeypatch, parts):
    write = reservations.write

    def as_before(*args, **body):
        body.pop("list_delta", None)
        write(*args, **body)

    with monkeypatch.context() as earlier:
        earlier.setattr(reservations, "write", as_before)
        store.ledger.set_limit(corpus.id, 5.0, DELTA)
        for part in parts:
            # The rule of that edition: one after the other, as far as the room goes.
            with earlier.context() as admitting:
                admitting.setattr(reservations, "admit", lambda *a: Admission(True, False, "Fits.", 0, 0, 0, 0))
                reserved_run(store, corpus, buying(0.3, part * DELTA))
    view, taken = store.ledger.of(corpus.id), sum(parts) * DELTA
    if not parts:  # nothing was ever reserved: the share is fixed beforehand all the same
        assert view.limit_list_delta == pytest.approx(0.3 * DELTA)
        return
    assert view.limit_list_delta == view.list_delta_used == pytest.approx(taken)
    events = [Event.from_dict(buying(0.3, part * DELTA).events[0]) for part in parts]
    before = used_rdp([events], view.order) / limit_rdp(5.0, DELTA - taken, view.order)
    assert view.share == pytest.approx(before, rel=1e-6)
    with pytest.raises(RefusedError, match="set aside for lists"):
        reserved_run(store, corpus, buying(0.1, 0.001 * DELTA))
    reserved_run(store, corpus, gaussian(0.1))
    assert store.ledger.of(corpus.id).limit_list_delta == pytest.approx(taken)
    renewed = store.ledger.set_limit(corpus.id, 6.0, DELTA, list_share=0.5)
    assert renewed.limit_list_delta == 0.5 * DELTA
    reserved_run(store, corpus, buying(0.1, 0.1 * DELTA))


def test_a_source_column_that_was_named_is_a_public_fact(store, corpus):
    assert store.ledger.public_facts(corpus.id).sources_named  # by record, and the file says whose each one is
    unnamed = store.corpora.import_table(made_up(first=200), ColumnMapping(text="text"), name="Letters")
    assert not store.ledger.public_facts(unnamed.id).sources_named
    blank = store.corpora.import_table(made_up(first=400).assign(who=None), MAPPING, name="Letters")
    assert store.ledger.public_facts(blank.id).sources_named  # the column was named, whatever it holds


def test_a_total_above_the_limit_is_said_to_be_above_it(store):
    first = store.corpora.import_table(made_up(20), MAPPING, name="First", holdout=0.0)
    second = store.corpora.import_table(made_up(20, 700), MAPPING, name="Second", holdout=0.0)
    for corpus in (first, second):
        limited(store, corpus, 3.0)
        planned = gaussian(2.5)
        draw(store, reserved_run(store, corpus, planned), planned)
        store.ledger.wait_total(corpus.id)
        assert "above the limit" not in store.ledger.of(corpus.id).sentence
    store.ledger.join_people(second.id, first.id)
    store.ledger.wait_total(first.id)
    assert "That is above the limit" in store.ledger.of(first.id).sentence
