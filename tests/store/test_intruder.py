"""Intruder trials: drawn at random, one person claims in time, another checks; what follows, and what keeps it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from engine.errors import NotFoundError, RefusedError, UserError
from engine.release.policy.intruder import intruder_lines
from engine.release.policy.policy import PRESETS, IntruderRule
from engine.store.database.schema import intruder_events
from engine.store.logs.check import check_logs
from engine.store.runs.intruder import acts, chained, looks, reading
from engine.store.runs.intruder.reading import spread, stretches
from engine.store.runs.intruder.words import sentences
from tests.store.conftest import CANARY, made_up
from tests.store.making import edited, examine, finished_run

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


def claimed(store, run_id, claims, texts=40, minutes=60, took=0.0):
    """Draw a trial, have Imre take it on so many minutes ago, claim and end it; return its texts by place."""
    acting(store, "Ada").draw(run_id, texts, minutes=minutes, means=MEANS)
    with pytest.MonkeyPatch.context() as patch:
        at = (datetime.now(UTC) - timedelta(minutes=took)).isoformat(timespec="milliseconds")
        patch.setattr(acts, "now", lambda: at)
        acting(store, "Imre").begin(run_id)
    for place, words in claims.items():
        store.intruder.claim(run_id, place, words)
    shown = {one.place: one for one in store.intruder.texts(run_id)}
    store.intruder.end(run_id)
    return shown


def later(monkeypatch, minutes):
    at = (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat(timespec="milliseconds")
    monkeypatch.setattr(reading, "now", lambda: at)


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
    assert list(store.audit.lines(limit=50)["action"]).count("intruder's claim judged") == 1


@pytest.mark.parametrize("name", ["Imrе", "Ｉmre", "Im\u200bre", "IMRE", "Lmre"])
def test_a_name_that_looks_like_the_intruder_s_is_nobody_else(store, run_id, name):
    claimed(store, run_id, {1: "Ms A"})
    with pytest.raises(UserError, match="somebody else"):
        acting(store, name).judge(run_id, 1, "wrong")
    acting(store, "Ada").draw(run_id, 40, minutes=60, means=MEANS)
    with pytest.raises(UserError, match="somebody else"):
        acting(store, "Аdа").begin(run_id)
    acting(store, "Imre").begin(run_id)
    with pytest.raises(UserError, match="did not take"):
        acting(store, "Imrе").claim(run_id, 1, "x")


def test_before_all_are_judged_a_checker_corrects_their_own_and_nobody_else_s(store, run_id):
    claimed(store, run_id, {1: "Ms A", 2: "Mr B"})
    acting(store, "Clara").judge(run_id, 1, "right")
    with pytest.raises(UserError, match="Clara judged"):
        acting(store, "Bea").judge(run_id, 1, "wrong")
    acting(store, "Clara").judge(run_id, 1, "wrong")
    assert list(store.audit.lines(limit=50)["action"]).count("intruder's claim judged") == 2
    assert store.intruder.latest(run_id).changed == 0


WHY = "The register shows another ward"


def test_once_the_bound_could_be_seen_a_verdict_changes_with_a_reason_and_is_counted(store, run_id):
    claimed(store, run_id, {1: "Ms A", 2: "Mr B"})
    for place in (1, 2):
        acting(store, "Clara").judge(run_id, place, "right")
    seen = store.intruder.estimate(run_id).share.high
    for reason in ("", "too short", "x" * 201):
        with pytest.raises(UserError, match="reason"):
            acting(store, "Bea").judge(run_id, 1, "wrong", reason=reason)
    for name in ("Clara", "Сlara", "CLARA"):
        with pytest.raises(UserError, match="somebody else"):
            acting(store, name).judge(run_id, 1, "wrong", reason=WHY)
    with pytest.raises(RefusedError):
        acting(store, "Bea").judge(run_id, 1, "wrong", reason=" ".join(made_up()["text"][0].split()[:12]))
    assert store.intruder.estimate(run_id).share.high == seen
    acting(store, "Bea").judge(run_id, 1, "wrong", reason=WHY)
    found = store.intruder.estimate(run_id)
    assert (found.trial.changed, found.trial.hits) == (1, 1)
    assert "changed after the bound was seen: 1" in " ".join(sentences(found))
    line = store.audit.lines(limit=5).iloc[0]
    detail = json.loads(line["detail"])
    assert (line["action"], line["actor"]) == ("intruder's verdict changed after its bound", "Bea")
    assert (detail["before"], detail["outcome"], detail["reason"]) == ("right", "wrong", WHY)
    with pytest.raises(UserError, match="somebody else"):
        acting(store, "Imre").judge(run_id, 1, "wrong", reason=WHY)
    acting(store, "Clara").judge(run_id, 1, "right", reason=WHY)  # back: it counts again, and both changes are told
    with pytest.raises(UserError, match="somebody else"):
        acting(store, "Bea").judge(run_id, 1, "wrong", reason=WHY)
    assert store.intruder.latest(run_id).changed == 2
    acting(store, "Ada").draw(run_id, 40, minutes=60, means=MEANS)
    assert "seen: 2" in " ".join(sentences(store.intruder.estimate(run_id)))


NOTES = [f"A made-up note, number {i}." for i in range(80)]


def copied(store, corpus, texts):
    made = finished_run(store, corpus, texts)
    store.runs.approve_all_pending(made, None)
    return made


@pytest.mark.parametrize(
    "change", [str, str.upper, lambda text: text.replace("a", "а") + " !", lambda text: f" {text}"]
)
def test_the_same_texts_as_another_run_are_another_look(store, corpus, run_id, change):
    claimed(store, run_id, {})
    again = copied(store, corpus, [change(text) for text in NOTES])
    assert acting(store, "Ada").needed(again, 0.03) > store.intruder.needed(copied(store, corpus, ["x y"] * 80), 0.03)
    claimed(store, again, {})
    found = store.intruder.estimate(again)
    assert (found.trial.look, found.trial.elsewhere, found.share.level) == (2, 1, 0.975)
    assert "tried 1 times before in other runs" in " ".join(sentences(found))
    claimed(store, again, {})
    found = store.intruder.estimate(again)
    assert (found.trial.look, found.trial.elsewhere, len(found.earlier)) == (3, 1, 1)
    assert store.intruder.estimate(run_id).trial.look == 1


def test_looks_outlive_their_run_and_other_texts_begin_at_one(store, corpus, run_id):
    claimed(store, run_id, {})
    store.runs.delete(run_id)
    part = copied(store, corpus, [*NOTES[:10], *(f"Something else, {i} times." for i in range(70))])
    acting(store, "Ada")
    assert store.intruder.draw(part, 40, minutes=5, means=MEANS).look == 2, "an eighth of the texts"
    other = copied(store, corpus, [f"Nothing of it, {i} words." for i in range(80)])
    assert store.intruder.draw(other, 40, minutes=5, means=MEANS).look == 1
    few = copied(store, corpus, NOTES[40:45])
    assert store.intruder.draw(few, 5, minutes=5, means=MEANS).look == 2
    with store.session.db.read() as connection:
        kept = connection.exec_driver_sql("SELECT marks FROM intruder_looks").scalars().all()
    assert not any(b"note" in bytes(one) for one in kept)


def test_marks_of_many_texts_are_compared_by_their_smallest(monkeypatch):
    monkeypatch.setattr(looks, "MOST", 200)
    key = b"k" * 32
    many = [f"text {chr(97 + i % 26)}{i}" for i in range(4000)]
    assert looks.alike(looks.marks(key, many), looks.marks(key, many[:2000]))
    assert looks.alike(looks.marks(key, many), looks.marks(key, many[:400] + [f"new {i}" for i in range(800)]))
    assert not looks.alike(looks.marks(key, many), looks.marks(key, [f"new {i}" for i in range(4000)]))
    assert not looks.alike(looks.marks(key, many), b"")
    assert looks.marks(key, many[:3]) != looks.marks(b"l" * 32, many[:3])


def test_trials_of_an_earlier_edition_are_counted_too(store, corpus, run_id):
    claimed(store, run_id, {})
    edited(store, "DELETE FROM intruder_looks")
    again = copied(store, corpus, NOTES)
    assert acting(store, "Ada").draw(again, 40, minutes=5, means=MEANS).look == 2


def broken(store):
    return check_logs(store.path).broken


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("UPDATE intruder_events SET action = 'wrong' WHERE action = 'right'", "changed or removed: 1"),
        ("UPDATE intruder_events SET words = 'nobody' WHERE action = 'claim'", "changed or removed: 2"),
        ("UPDATE intruder_events SET at = '2026-01-01T00:00:00.000+00:00' WHERE action = 'begin'", "removed: 1"),
        ("UPDATE intruder_events SET actor = 'Bea' WHERE action = 'right'", "changed or removed: 1"),
        ("DELETE FROM intruder_events WHERE action = 'right'", "changed or removed: 1"),
        ("UPDATE intruder_events SET seq = 99 WHERE action = 'right'", "changed or removed: 1"),
        ("INSERT INTO intruder_events (trial_id, at, actor, action, place) "
         "SELECT id, at, 'Clara', 'wrong', 1 FROM intruder_trials", "does not tell of: 1"),
        ("UPDATE intruder_trials SET minutes = 6000", "sample was changed"),
        ("UPDATE intruder_trials SET look = 9", "sample was changed"),
        ("UPDATE intruder_texts SET position = 79 WHERE place = 1", "sample was changed"),
        ("DELETE FROM intruder_trials", "was removed"),
        ("UPDATE intruder_looks SET look = look, marks = substr(marks, 1, 1)", "count of looks"),
        ("DELETE FROM intruder_looks", "count of looks"),
        ("INSERT INTO intruder_trials SELECT 'i-other00000', run_id, 2, at, actor, minutes, means, drawn_from "
         "FROM intruder_trials", "tells of none"),
    ],
)  # fmt: skip
def test_rows_of_a_trial_that_were_tampered_with_are_found(store, run_id, statement, says):
    claimed(store, run_id, {1: "Ms A", 2: "Mr B"})
    acting(store, "Clara").judge(run_id, 1, "right")
    store.intruder.judge(run_id, 2, "unclear")
    assert broken(store) == ()
    assert store.intruder.estimate(run_id).why == ""
    edited(store, statement)
    assert says in " ".join(broken(store)), broken(store)
    told = store.intruder.estimate(run_id)
    assert told is None or (told.why, told.share) == (chained.BROKEN, None), "and the gate relies on none of it"
    rule = IntruderRule(highest_share=1.0, minimum_texts=30, minimum_minutes=1, sentence="Made up.")
    assert {line.passed for line in intruder_lines(rule, store.intruder.known(run_id))} == {None}
    assert "Ms A" not in " ".join(broken(store))


def test_lines_that_were_removed_with_the_rows_are_not_relied_on(store, run_id):
    claimed(store, run_id, {1: "Ms A", 2: "Mr B"})
    edited(store, "DELETE FROM intruder_events WHERE action IN ('claim', 'wrong')",
           "DELETE FROM audit WHERE action LIKE 'intruder''s claim %'")  # fmt: skip
    assert store.intruder.estimate(run_id).why == chained.BROKEN


def test_a_trial_that_went_with_its_run_is_no_break(store, corpus, run_id):
    claimed(store, run_id, {1: "Ms A"})
    store.runs.delete(run_id)
    assert broken(store) == ()
    again = copied(store, corpus, NOTES)
    acting(store, "Ada").draw(again, 40, minutes=5, means=MEANS)
    store.corpora.delete(corpus.id)
    assert broken(store) == ()


def test_a_run_that_was_taken_out_with_its_trials_is_found(store, run_id):
    claimed(store, run_id, {1: "Ms A"})
    edited(store, "DELETE FROM intruder_events", "DELETE FROM intruder_texts", "DELETE FROM intruder_trials",
           "DELETE FROM runs")  # fmt: skip
    assert "was removed" in " ".join(broken(store))


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
    (judged,) = [one for one in detail if "outcome" in one]
    assert len(judged.pop("row")) == 64
    assert judged == {"place": 1, "outcome": "right", "run": run_id, "corpus": corpus.id}
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
    store.intruder.draw(run_id, 30, minutes=5, means=MEANS, look=0)
    with pytest.raises(RefusedError, match="meanwhile"):
        store.intruder.draw(run_id, 30, minutes=5, means=MEANS, look=0)
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
    assert not store.releases._facts.examined_elsewhere(unexamined)
    for place in (1, 2):
        acting(store, "Clara").judge(unexamined, place, "wrong")
    assert store.releases._facts.examined_elsewhere(unexamined)
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
    claimed(store, run_id, {1: "Ms A"}, took=45)
    assert lines_of(store, run_id) == {"intruder-trial": None, "intruder-share": None}
    acting(store, "Clara").judge(run_id, 1, "wrong")
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
    claimed(store, run_id, {}, took=29.5)
    assert lines_of(store, run_id)["intruder-trial"] is False, "29 of the 30 minutes asked"
    claimed(store, run_id, {}, took=30.5)
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
    claimed(store, run_id, dict.fromkeys(range(1, 9), "Ms A"), took=45)
    for place in range(1, 9):
        acting(store, "Clara").judge(run_id, place, "wrong")
    assert store.releases.gate(run_id, "ours").passed
    written = release.write_bundle

    def late(*args, **kwargs):
        made = written(*args, **kwargs)
        for place in range(1, 9):
            store.intruder.judge(run_id, place, "right", reason="The original says so after all")
        return made

    monkeypatch.setattr(release, "write_bundle", late)
    with pytest.raises(RefusedError, match="intruder trial"):
        store.releases.make(run_id, "ours", out=tmp_path / "out", accept_unbounded=True)
    assert store.releases.all() == []


def _measured(name):
    from engine.examine.findings.findings import Finding

    return Finding(name, 0.01, 0.0, 0.02, 300, "train", name, "lower is safer", "privacy", {})


def test_a_private_number_of_a_trial_may_not_leave_in_words(store, run_id):
    claimed(store, run_id, {1: "Ms A"})
    acting(store, "Clara").judge(run_id, 1, "right")
    high = store.intruder.estimate(run_id).share.high
    run = store.runs.get(run_id)
    assert any(abs(one - high) < 1e-12 for one in store.releases._words.statistics(run))
    claimed(store, run_id, {}, texts=50)  # another one, and the number was told all the same
    assert abs(store.intruder.estimate(run_id).share.high - high) > 1e-6
    assert any(abs(one - high) < 1e-12 for one in store.releases._words.statistics(run))


def test_stretches_hold_any_rising_numbers():
    for numbers in ([], [4], [0, 1, 2, 5, 7, 8], list(range(5000))):
        assert spread(stretches(numbers)) == numbers
    assert stretches([0, 1, 2, 5]) == [[0, 2], [5, 5]]
