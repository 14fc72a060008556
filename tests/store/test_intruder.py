"""Intruder trials: drawn at random, one person claims in time, another checks; what follows, and what keeps it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from engine.errors import NotFoundError, RefusedError, UserError
from engine.release.policy import PRESETS
from engine.store.runs.intruder import reading
from engine.store.runs.intruder.reading import spread, stretches
from engine.store.runs.intruder.words import sentences
from engine.store.schema import intruder_events
from tests.store.conftest import CANARY
from tests.store.making import examine, finished_run

MEANS = "public search, no colleagues"


@pytest.fixture
def run_id(store, corpus):
    store.session.actor = "Ada"
    made = finished_run(store, corpus, [f"A made-up note, number {i}." for i in range(80)])
    examine(store, made, [])
    store.runs.approve_all_pending(made, None)
    store.runs.approve(made, ["s-000080"], "rejected")
    return made


def acting(store, name):
    store.session.actor = name
    return store.intruder


def claimed(store, run_id, claims, texts=40, minutes=60):
    """Draw a trial, have Imre claim and end it; return its texts by place."""
    acting(store, "Ada").draw(run_id, texts, minutes=minutes, means=MEANS)
    acting(store, "Imre").begin(run_id)
    for place, words in claims.items():
        store.intruder.claim(run_id, place, words)
    shown = {one.place: one for one in store.intruder.texts(run_id)}
    store.intruder.end(run_id)
    return shown


def later(monkeypatch, minutes):
    at = (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat(timespec="milliseconds")
    monkeypatch.setattr(reading, "now", lambda: at)


def took(store, minutes):
    """Have the trial begin so many minutes earlier than it did."""
    at = (datetime.now(UTC) - timedelta(minutes=minutes)).isoformat(timespec="milliseconds")
    with store.session.db.write() as connection:
        connection.execute(intruder_events.update().where(intruder_events.c.action == "begin").values(at=at))


def test_a_trial_from_the_draw_to_the_share(store, run_id):
    shown = claimed(store, run_id, {1: "Ms A of ward 3", 2: f"{CANARY} B", 9: "somebody"})
    assert len(shown) == 40
    assert "s-000080" not in {one.record_id for one in shown.values()}, "what was rejected does not leave"
    assert len({one.record_id for one in shown.values()}) == 40
    found = store.intruder.estimate(run_id)
    assert found.share is None
    assert found.why == "Still to be checked: 3 of its 3 claims."
    checker = acting(store, "Clara")
    for place, outcome in ((1, "right"), (2, "wrong"), (9, "unclear")):
        checker.judge(run_id, place, outcome)
    found = checker.estimate(run_id)
    trial = found.trial
    assert (trial.intruder, trial.checkers, trial.claims, trial.right, trial.unclear) == ("Imre", ("Clara",), 3, 1, 1)
    assert trial.hits == 2, "what cannot be told counts as right"
    assert found.share.low <= 2 / 40 == found.share.value <= found.share.high < found.share.further
    said = " ".join(sentences(found))
    assert "1 right, 1 could not be told" in said
    assert CANARY not in said


def test_the_order_and_the_choice_come_from_the_operating_system(store, run_id):
    orders = set()
    for _ in range(3):
        store.intruder.draw(run_id, 40, minutes=5, means=MEANS)
        acting(store, "Imre").begin(run_id)
        orders.add(tuple(one.record_id for one in store.intruder.texts(run_id)))
        acting(store, "Ada")
    assert len(orders) == 3


def test_nobody_checks_their_own_claim_and_nobody_else_claims(store, run_id):
    acting(store, "Ada").draw(run_id, 40, minutes=60, means=MEANS)
    with pytest.raises(UserError, match="did not take"):
        store.intruder.claim(run_id, 1, "x")
    with pytest.raises(UserError, match="Nobody took"):
        store.intruder.texts(run_id)
    acting(store, "Imre").begin(run_id)
    store.intruder.begin(run_id)  # pressed twice
    with pytest.raises(UserError, match="took this trial on"):
        acting(store, "Bea").begin(run_id)
    for call in (lambda: store.intruder.claim(run_id, 1, "x"), lambda: store.intruder.end(run_id),
                 lambda: store.intruder.texts(run_id)):  # fmt: skip
        with pytest.raises(UserError):
            call()
    acting(store, "Imre").claim(run_id, 1, "Ms A")
    with pytest.raises(UserError, match="time box is not over"):
        acting(store, "Clara").judge(run_id, 1, "right")
    acting(store, " imre").end(run_id)
    with pytest.raises(UserError, match="somebody else"):
        acting(store, "IMRE").judge(run_id, 1, "wrong")
    with pytest.raises(NotFoundError):
        acting(store, "Clara").judge(run_id, 2, "wrong")
    with pytest.raises(UserError, match="outcome"):
        store.intruder.judge(run_id, 1, "nonsense")
    store.intruder.judge(run_id, 1, "right")
    with pytest.raises(UserError, match="Clara judged"):
        acting(store, "Bea").judge(run_id, 1, "wrong")
    acting(store, "Clara").judge(run_id, 1, "wrong")  # their own, corrected; the log has both
    assert list(store.audit.lines(limit=50)["action"]).count("intruder's claim judged") == 2


@pytest.mark.parametrize("name", ["Ada", " ADA "])
def test_nobody_takes_on_what_they_drew(store, run_id, name):
    own_policy(store)
    acting(store, "Ada").draw(run_id, 40, minutes=60, means=MEANS)
    with pytest.raises(UserError, match="somebody else"):
        acting(store, name).begin(run_id)
    assert not store.intruder.latest(run_id).begun
    assert lines_of(store, run_id)["intruder-trial"] is None


@pytest.mark.parametrize("name", ["custodian", "command line"])
def test_a_trial_stands_under_names(store, run_id, name):
    with pytest.raises(UserError, match="who you are"):
        acting(store, name).draw(run_id, 40, minutes=60, means=MEANS)
    acting(store, "Ada")
    store.intruder.draw(run_id, 40, minutes=60, means=MEANS)
    with pytest.raises(UserError, match="who you are"):
        acting(store, name).begin(run_id)
    claimed(store, run_id, {1: "Ms A"})
    with pytest.raises(UserError, match="who you are"):
        acting(store, name).judge(run_id, 1, "wrong")


def test_the_time_box_ends_by_itself(store, run_id, monkeypatch):
    acting(store, "Ada").draw(run_id, 40, minutes=30, means=MEANS)
    acting(store, "Imre").begin(run_id)
    store.intruder.claim(run_id, 1, "Ms A")
    later(monkeypatch, 29)
    store.intruder.claim(run_id, 2, "Mr B")
    assert not store.intruder.latest(run_id).ended
    later(monkeypatch, 30)
    with pytest.raises(UserError, match="time box is over"):
        store.intruder.claim(run_id, 3, "Ms C")
    with pytest.raises(UserError, match="time box is over"):
        store.intruder.claim(run_id, 1, "")
    trial = store.intruder.latest(run_id)
    assert (bool(trial.ended), trial.claims) == (True, 2)
    acting(store, "Clara").judge(run_id, 1, "wrong")


def test_a_claim_can_be_corrected_and_taken_back_in_time(store, run_id):
    acting(store, "Ada").draw(run_id, 40, minutes=30, means=MEANS)
    acting(store, "Imre").begin(run_id)
    for words in ("Ms A", "Ms  A ", "Ms B", ""):
        store.intruder.claim(run_id, 1, words)
    store.intruder.claim(run_id, 2, "")
    with pytest.raises(NotFoundError):
        store.intruder.claim(run_id, 41, "Ms A")
    with pytest.raises(UserError, match="at most"):
        store.intruder.claim(run_id, 3, "x" * 301)
    store.intruder.end(run_id)
    assert store.intruder.latest(run_id).claims == 0
    assert store.intruder.estimate(run_id).share.high > 0, "nobody named is no proof"
    actions = list(store.audit.lines(limit=20)["action"])
    assert actions.count("intruder's claim written") == 2
    assert actions.count("intruder's claim withdrawn") == 1


def test_no_claim_reaches_the_log_and_all_of_it_goes_with_the_run(store, corpus, run_id):
    claimed(store, run_id, {1: f"{CANARY} A"})
    acting(store, "Clara").judge(run_id, 1, "right")
    assert CANARY not in store.audit.export("json").decode()
    trial = store.intruder.latest(run_id)
    assert CANARY not in repr(store.intruder.texts(run_id)) + repr(trial)
    detail = [json.loads(one) for one in store.audit.lines(limit=50, corpus_id=corpus.id)["detail"]]
    assert {"place": 1, "outcome": "right", "run": run_id, "corpus": corpus.id} in detail
    store.runs.delete(run_id)
    with store.session.db.read() as connection:
        assert connection.execute(intruder_events.select()).all() == []


@pytest.mark.parametrize(
    ("texts", "minutes", "means"),
    [(0, 60, MEANS), (40, 0, MEANS), (40, 10_081, MEANS), (40, 60, "  "), (40, 60, "x" * 601)],
)
def test_a_draw_that_says_too_little_is_refused(store, run_id, texts, minutes, means):
    with pytest.raises(UserError):
        store.intruder.draw(run_id, texts, minutes=minutes, means=means)
    assert store.intruder.latest(run_id) is None


def test_a_draw_needs_approved_records_of_a_finished_run(store, corpus, run_id):
    unread = finished_run(store, corpus, ["A note."])
    with pytest.raises(UserError, match="approved"):
        store.intruder.draw(unread, 1, minutes=5, means=MEANS)
    with pytest.raises(UserError, match="not finished"):
        store.intruder.draw(finished_run(store, corpus, ["A note."], "running"), 1, minutes=5, means=MEANS)
    store.intruder.draw(run_id, 30, minutes=5, means=MEANS, look=1)
    with pytest.raises(RefusedError, match="meanwhile"):
        store.intruder.draw(run_id, 30, minutes=5, means=MEANS, look=1)
    assert store.intruder.draw(run_id, 500, minutes=5, means=MEANS).texts == 79, "all there are"


def test_too_small_a_sample_tells_nothing(store, run_id):
    claimed(store, run_id, {}, texts=29)
    assert "fewer than 30" in store.intruder.estimate(run_id).why


def test_records_taken_out_and_records_let_in(store, run_id):
    shown = claimed(store, run_id, {1: "Ms A"})
    acting(store, "Clara").judge(run_id, 1, "right")
    before = store.intruder.estimate(run_id).share.high
    store.runs.approve(run_id, [shown[1].record_id], "rejected")
    after = store.intruder.estimate(run_id)
    assert after.trial.removed_right == 1
    assert after.share.high == pytest.approx((before * 79 - 1) / 78)
    store.runs.approve(run_id, ["s-000080"], "approved")
    stale = store.intruder.estimate(run_id)
    assert stale.share is None
    assert "approved since" in stale.why


def test_a_check_is_a_look_and_stands_in_the_ledger_once(store, corpus, run_id):
    unexamined = finished_run(store, corpus, [f"Another made-up note {i}." for i in range(40)])
    store.runs.approve_all_pending(unexamined, None)
    claimed(store, unexamined, {1: "Ms A", 2: "Mr B"})
    assert not store.releases._examined_elsewhere(unexamined)
    for place in (1, 2):
        acting(store, "Clara").judge(unexamined, place, "wrong")
    assert store.releases._examined_elsewhere(unexamined)
    lines = store.ledger.of(corpus.id).lines
    assert (lines["what"] == "intruder trial").sum() == 1


def own_policy(store):
    text = (PRESETS / "exploratory.yaml").read_text("utf-8")
    text = text.replace("id: exploratory", "id: ours", 1).replace("title: Exploratory", "title: Ours", 1)
    text += "  intruder: {highest_share: 0.2, minimum_texts: 40, minimum_minutes: 30, sentence: Somebody has to try.}\n"
    store.releases.add_policy(text)


def lines_of(store, run_id):
    return {line.rule: line.passed for line in store.releases.gate(run_id, "ours").rules if "intruder" in line.rule}


def test_the_gate_holds_until_a_trial_is_done(store, run_id):
    own_policy(store)
    assert lines_of(store, run_id) == {"intruder-trial": None, "intruder-share": None}
    claimed(store, run_id, {1: "Ms A"})
    assert lines_of(store, run_id) == {"intruder-trial": None, "intruder-share": None}
    acting(store, "Clara").judge(run_id, 1, "wrong")
    took(store, 45)
    assert lines_of(store, run_id) == {"intruder-trial": True, "intruder-share": True}
    store.runs.approve(run_id, ["s-000080"], "approved")
    assert lines_of(store, run_id) == {"intruder-trial": None, "intruder-share": None}


def test_a_claim_or_check_of_another_trials_text_is_refused(store, run_id):
    claimed(store, run_id, {1: "Ms A"})
    old = store.intruder.latest(run_id).id
    acting(store, "Ada").draw(run_id, 40, minutes=60, means=MEANS)
    acting(store, "Imre").begin(run_id)
    with pytest.raises(RefusedError, match="another trial"):
        store.intruder.claim(run_id, 1, "Ms A", trial=old)
    store.intruder.claim(run_id, 1, "Ms B", trial=store.intruder.latest(run_id).id)
    store.intruder.end(run_id)
    with pytest.raises(RefusedError, match="another trial"):
        acting(store, "Clara").judge(run_id, 1, "wrong", trial=old)
    assert store.intruder.latest(run_id).judged == 0


def test_another_trial_does_not_hide_the_ones_before_it(store, run_id):
    claimed(store, run_id, dict.fromkeys(range(1, 6), "Ms A"))
    for place in range(1, 5):
        acting(store, "Clara").judge(run_id, place, "right")
    store.intruder.estimate(run_id)
    acting(store, "Ada").draw(run_id, 40, minutes=60, means=MEANS)  # left with a claim unchecked
    (said,) = [one for one in sentences(store.intruder.estimate(run_id)) if "trial 1" in one]
    assert said.endswith("Imre took 0 of them and named somebody for 5 texts; claims that nobody checked: 1.")
    acting(store, "Clara")
    claimed(store, run_id, {1: "Ms B"})
    acting(store, "Clara").judge(run_id, 1, "right")
    claimed(store, run_id, {})
    found = store.intruder.estimate(run_id)
    assert [(one.look, one.right) for one in found.earlier] == [(1, 4), (2, 0), (3, 1)]
    inside, outside = (store.assessments.make(run_id, "exploratory", one) for one in ("internal", "external"))
    for line in ("Nobody took it on.", "named somebody for 1 texts: 1 right"):
        assert line in inside
        assert line not in outside


def test_a_signature_under_a_trial_at_work_is_none_under_one_whose_time_ran_out(store, run_id, monkeypatch):
    store.people.set("ada@x", "Ada", ["custodian"])
    store.people.set("bea@x", "Bea", ["approver"])
    acting(store, "Ada").draw(run_id, 40, minutes=30, means=MEANS)
    acting(store, "Imre").begin(run_id)
    store.session.person, store.session.actor = store.people.person("bea@x"), "Bea"
    store.signatures.sign(run_id, "exploratory")
    assert store.signatures.of(run_id, "exploratory").name == "Bea"
    later(monkeypatch, 31)
    assert store.intruder.estimate(run_id).share is not None
    assert store.signatures.of(run_id, "exploratory") is None
    store.signatures.sign(run_id, "exploratory")
    assert store.signatures.of(run_id, "exploratory").name == "Bea"


def test_who_stops_at_once_did_not_try(store, run_id):
    own_policy(store)
    claimed(store, run_id, {}, minutes=600)
    assert store.intruder.latest(run_id).spent == 0
    assert lines_of(store, run_id) == {"intruder-trial": False, "intruder-share": None}
    assert "took 0 of the 600 minutes" in " ".join(sentences(store.intruder.estimate(run_id)))
    assert "and took 0 minutes" in store.assessments.make(run_id, "exploratory", "external")
    took(store, 29.5)
    assert lines_of(store, run_id)["intruder-trial"] is False, "29 of the 30 minutes asked"
    took(store, 30.5)
    assert lines_of(store, run_id) == {"intruder-trial": True, "intruder-share": True}


def test_a_time_box_that_nobody_ended_was_taken_whole(store, run_id, monkeypatch):
    acting(store, "Ada").draw(run_id, 40, minutes=30, means=MEANS)
    acting(store, "Imre").begin(run_id)
    later(monkeypatch, 500)
    assert store.intruder.latest(run_id).spent == 30


def test_the_assessment_file_says_it_and_its_external_edition_no_value(store, run_id):
    assert "Nobody did for this file" in store.assessments.make(run_id, "exploratory", "internal")
    claimed(store, run_id, {1: f"{CANARY} A"})
    acting(store, "Clara").judge(run_id, 1, "right")
    share = store.intruder.estimate(run_id).share
    inside, outside = (store.assessments.make(run_id, "exploratory", one) for one in ("internal", "external"))
    for page in (inside, outside):
        assert CANARY not in page
    high = f"{100 * share.high:.1f}%"
    assert high in inside
    assert "Imre" in inside
    assert MEANS in inside
    assert "A person read 40 of the texts" in outside
    for private in (high, "Imre", "Clara", MEANS):
        assert private not in outside


def test_a_trial_judged_otherwise_while_the_release_is_written_stops_it(store, run_id, monkeypatch, tmp_path):
    from engine import release

    own_policy(store)
    examine(store, run_id, [
        _measured("pipp"), _measured("verbatim_8gram"),
    ])  # fmt: skip
    claimed(store, run_id, dict.fromkeys(range(1, 9), "Ms A"))
    took(store, 45)
    for place in range(1, 9):
        acting(store, "Clara").judge(run_id, place, "wrong")
    assert store.releases.gate(run_id, "ours").passed
    written = release.write_bundle

    def late(*args, **kwargs):
        made = written(*args, **kwargs)
        for place in range(1, 9):
            store.intruder.judge(run_id, place, "right")
        return made

    monkeypatch.setattr(release, "write_bundle", late)
    with pytest.raises(RefusedError, match="intruder trial"):
        store.releases.make(run_id, "ours", out=tmp_path / "out", accept_unbounded=True)
    assert store.releases.all() == []


def _measured(name):
    from engine.examine.findings import Finding

    return Finding(name, 0.01, 0.0, 0.02, 300, "train", name, "lower is safer", "privacy", {})


def test_a_private_number_of_a_trial_may_not_leave_in_words(store, run_id):
    claimed(store, run_id, {1: "Ms A"})
    acting(store, "Clara").judge(run_id, 1, "right")
    high = store.intruder.estimate(run_id).share.high
    run = store.runs.get(run_id)
    assert any(abs(one - high) < 1e-12 for one in store.releases._statistics(run))
    claimed(store, run_id, {}, texts=50)  # another one, and the number was told all the same
    assert abs(store.intruder.estimate(run_id).share.high - high) > 1e-6
    assert any(abs(one - high) < 1e-12 for one in store.releases._statistics(run))


def test_stretches_hold_any_rising_numbers():
    for numbers in ([], [4], [0, 1, 2, 5, 7, 8], list(range(5000))):
        assert spread(stretches(numbers)) == numbers
    assert stretches([0, 1, 2, 5]) == [[0, 2], [5, 5]]
