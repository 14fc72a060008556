"""Waivers in a workspace: given by a named person, held against private text, in the bundle, the file and the log."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError

from engine.errors import NotFoundError, RefusedError, StorageError, UserError
from engine.examine.findings.findings import Finding
from engine.release import get_policy
from engine.release.policy.policy import PRESETS
from engine.store.runs import waivers
from tests.store.conftest import CANARY
from tests.store.making import examine, finished_run, unguard

DAY = (datetime.now(UTC).date() + timedelta(days=20)).isoformat()
REASON = "Colleagues under the same duty read it anyway"


@pytest.fixture
def run_id(store, corpus):
    """Return a run that meets the internal policy but for one rule that may be waived."""
    store.session.actor = "Ada"
    made = finished_run(store, corpus, [f"A made-up note about walk {word}." for word in ("one", "two", "three")])
    found = [
        Finding(name, value, value, value, 300, reference, name, "lower is safer", "privacy", {})
        for name, reference, value in [
            ("pipp_excess", "holdout", 0.314), ("pipp_direct", "train", 0.0), ("pipp_direct", "holdout", 0.0),
            ("strict_alone_excess", "holdout", 0.0), ("label_direct", "train", 0.0),
            ("verbatim_8gram", "train", 0.0),
        ]
    ]  # fmt: skip
    examine(store, made, found)
    store.runs.approve_all_pending(made, None)
    store.spot_checks.draw(corpus.id, 40)
    store.review.mark_reviewed(corpus.id, store.spot_checks.order(corpus.id))
    return made


def waive(store, run_id, rule="identifiers-in-records", reason=REASON, expires=DAY, policy="internal"):
    return store.releases.waive(run_id, policy, rule, reason, expires)


def open_rules(store, run_id):
    return [line.rule for line in store.releases.gate(run_id, "internal").open_rules()]


def test_a_waiver_opens_the_gate_and_stands_in_the_bundle_the_assessment_and_the_log(store, run_id, tmp_path):
    assert open_rules(store, run_id) == ["identifiers-in-records"]
    waiver = waive(store, run_id)
    assert open_rules(store, run_id) == []
    out = tmp_path / "out"
    store.releases.make(run_id, "internal", out=out, accept_unbounded=True)
    policy = json.loads((out / "policy.json").read_text())
    assert policy["answer"] == "met but for the rules that were waived"
    (rule,) = [one for one in policy["rules"] if not one["met"]]
    assert rule["rule"] == "identifiers-in-records"
    assert rule["waived"]["person"] == "Ada"
    assert (rule["waived"]["reason"], rule["waived"]["expires"]) == (REASON, DAY)
    card = json.loads((out / "card.json").read_text())
    assert [REASON in said and "not met" in said for said in card["policy"]["waived"]] == [True]
    asked = next(one.sentence for one in get_policy("internal").rules if one.id == "identifiers-in-records")
    assert asked not in card["policy"]["checked"]
    for name in ("DATA_CARD.md", "README.md", "REPORT.html"):
        assert REASON in (out / name).read_text(), name
    everything = b"".join(path.read_bytes() for path in out.iterdir())
    assert b"0.314" not in everything
    assert b"31.4%" not in everything
    for edition in ("internal", "external"):
        page = store.assessments.make(run_id, "internal", edition)
        assert REASON in page
        assert "Ada" in page
    lines = store.audit.lines(limit=100).set_index("action")
    assert waiver in lines.loc["rule waived", "detail"]
    assert waiver in lines.loc["records released", "detail"]
    assert store.audit.verify()["ok"]


def test_a_withdrawn_waiver_closes_the_gate(store, run_id):
    waiver = waive(store, run_id)
    store.releases.withdraw_waiver(run_id, "internal", waiver)
    assert open_rules(store, run_id) == ["identifiers-in-records"]
    with pytest.raises(NotFoundError):
        store.releases.withdraw_waiver(run_id, "internal", waiver)
    assert "waiver withdrawn" in set(store.audit.lines(limit=9)["action"])


def test_another_number_and_another_review_make_it_void(store, corpus, run_id):
    waive(store, run_id)
    found = [one for one in store.examinations.findings(run_id) if one.name != "pipp_excess"]
    worse = Finding("pipp_excess", 0.324, 0.324, 0.324, 300, "holdout", "x", "lower is safer", "privacy", {})
    examine(store, run_id, [*found, worse])
    assert "identifiers-in-records" in open_rules(store, run_id)
    span = store.review.spans(corpus.id, "id1")[0].span_id
    store.review.decide(corpus.id, [span], "reject")
    assert "current" in open_rules(store, run_id)
    with pytest.raises(RefusedError, match="cannot be waived"):
        waive(store, run_id)


def test_a_waiver_of_what_a_spot_check_says_names_it_and_ends_with_it(store, corpus, run_id):
    text = (PRESETS / "internal.yaml").read_text("utf-8")
    for before, after in (("id: internal", "id: ours"), ("title: Internal sharing", "title: Ours"),
                          ("direct_per_1000: 50", "direct_per_1000: 0"),
                          ("minimum_sample: 75", "minimum_sample: 30")):  # fmt: skip
        assert before in text
        text = text.replace(before, after, 1)
    store.releases.add_policy(text)

    def missed():
        verdict = store.releases.gate(run_id, "ours")
        return next(line for line in verdict.rules if line.rule == "missed-direct")

    def drawn():
        store.spot_checks.draw(corpus.id, 35)
        store.review.mark_reviewed(corpus.id, store.spot_checks.order(corpus.id))
        return store.spot_checks.latest(corpus.id).id

    first = drawn()
    assert missed().passed is False
    waive(store, run_id, "missed-direct", policy="ours")
    assert missed().waived is not None
    detail = json.loads(store.audit.lines(limit=1)["detail"].iloc[0])
    assert (detail["rule"], detail["sample"]) == ("missed-direct", first)
    waive(store, run_id, policy="ours")
    assert "sample" not in json.loads(store.audit.lines(limit=1)["detail"].iloc[0]), "no other rule rests on one"
    assert drawn() != first
    assert missed().waived is None


def test_another_examination_makes_it_void_whatever_it_found(store, run_id):
    waive(store, run_id)
    found = store.examinations.findings(run_id)
    other = Finding("adversarial", 0.9, 0.8, 1.0, 300, "holdout", "x", "lower is safer", "privacy", {})
    examine(store, run_id, [*found, other])
    assert open_rules(store, run_id) == ["identifiers-in-records"]


@pytest.mark.parametrize("name", ["custodian", " Custodian", "command line"])
def test_a_waiver_stands_under_a_name(store, run_id, name):
    store.session.actor = name
    with pytest.raises(UserError, match="who you are"):
        waive(store, run_id)


@pytest.mark.parametrize(
    ("rule", "error"),
    [
        ("approved", UserError),  # met: nothing to waive
        ("labels", UserError),
        ("nonsense", UserError),
        ("missed-direct", UserError),
    ],
)
def test_only_what_stands_in_the_way_is_waived(store, run_id, rule, error):
    with pytest.raises(error):
        waive(store, run_id, rule)


def test_an_original_an_undecided_record_and_a_missing_examination_are_never_waived(store, corpus, run_id):
    store.runs.approve(run_id, ["s-000001", "s-000002", "s-000003"], "rejected")
    with pytest.raises(RefusedError, match="cannot be waived"):
        waive(store, run_id, "approved")
    other = finished_run(store, corpus, ["A made-up note."])
    for rule in ("current", "originals", "identifiers-in-records"):
        with pytest.raises(RefusedError, match="cannot be waived"):
            waive(store, other, rule)
    with pytest.raises(RefusedError, match="cannot be waived"):
        waive(store, run_id, "missed-direct" if "missed-direct" in open_rules(store, run_id) else "approved")


@pytest.mark.parametrize(
    "reason",
    [
        f"Letter 3: {CANARY} D came on 4 May 2021 because of a sore knee",
        "The excess of 0.314 is nothing to worry about",
        "The excess of 31.4 % is nothing to worry about",
        "All 40 letters were read by somebody",
        "Quillfeather has agreed to it in writing",  # one name of the corpus' people
        "the family of Zanzibarnacle-E. agreed to it",
        f"{CANARY.upper()} agreed to it",
        "Quill\u00adfeather agreed to it",
        "Quillfaether agreed to it",
    ],
)
def test_private_words_and_numbers_are_refused(store, run_id, reason):
    with pytest.raises(RefusedError) as caught:
        waive(store, run_id, reason=reason)
    assert CANARY not in str(caught.value)
    assert store.releases.waivers(run_id, "internal") == ()


def test_a_hostile_reason_is_shown_as_it_was_typed_and_runs_nothing(store, run_id, tmp_path):
    reason = "<script>alert(1)</script> ![x](http://evil.example/x.png) [y](javascript:z) | `c`"
    waive(store, run_id, reason=reason)
    out = tmp_path / "out"
    store.releases.make(run_id, "internal", out=out, accept_unbounded=True)
    assert "<script>alert" not in (out / "REPORT.html").read_text()
    for name in ("DATA_CARD.md", "README.md"):
        body = (out / name).read_text()
        assert "<script>" not in body, name
        assert "![x](" not in body, name
    assert "<script>alert" not in store.assessments.make(run_id, "internal", "external")


def test_a_waiver_withdrawn_while_the_release_is_written_stops_it(store, run_id, monkeypatch, tmp_path):
    from engine import release

    waiver, written = waive(store, run_id), release.write_bundle

    def late(*args, **kwargs):
        made = written(*args, **kwargs)
        store.releases.withdraw_waiver(run_id, "internal", waiver)
        return made

    monkeypatch.setattr(release, "write_bundle", late)
    with pytest.raises(RefusedError, match="waiver was withdrawn"):
        store.releases.make(run_id, "internal", out=tmp_path / "out", accept_unbounded=True)
    assert store.releases.all() == []
    assert not (tmp_path / "out").exists()


def test_an_expired_waiver_closes_the_gate(store, run_id, monkeypatch):
    waive(store, run_id)
    with store.session.db.read() as connection:
        (kept,) = waivers.given(connection, run_id, "internal")
    from engine.release.policy.gate import evaluate

    facts = store.releases._facts.of(run_id, False, "")
    late = (datetime.now(UTC).date() + timedelta(days=21)).isoformat()
    found = store.examinations.findings(run_id)
    assert evaluate(get_policy("internal"), found, facts, [kept], DAY).passed
    assert not evaluate(get_policy("internal"), found, facts, [kept], late).passed


def test_a_spot_check_that_changes_while_the_release_is_written_stops_it(store, corpus, run_id, monkeypatch, tmp_path):
    from engine import release

    waive(store, run_id)
    written = release.write_bundle

    def late(*args, **kwargs):
        made = written(*args, **kwargs)
        store.spot_checks.draw(corpus.id, 40)
        return made

    monkeypatch.setattr(release, "write_bundle", late)
    with pytest.raises(RefusedError, match="spot check"):
        store.releases.make(run_id, "internal", out=tmp_path / "out", accept_unbounded=True)
    assert store.releases.all() == []


def test_waivers_are_kept_for_good(store, run_id):
    waive(store, run_id)
    for statement in ("DELETE FROM waivers", "UPDATE waivers SET reason = ''"):
        with pytest.raises((DatabaseError, StorageError), match="append-only"), store.session.db.write() as connection:
            connection.exec_driver_sql(statement)


BY_HAND = [
    "UPDATE waivers SET expires = '2999-01-01'", "UPDATE waivers SET reason = 'Another reason than it was given for'",
    "UPDATE waivers SET basis = '0'", "UPDATE waivers SET actor = 'Bea'", "UPDATE waivers SET id = 'w-another'",
]  # fmt: skip


@pytest.mark.parametrize("statement", BY_HAND)
def test_a_waiver_that_the_log_does_not_tell_of_is_none(store, run_id, statement):
    waive(store, run_id)
    with store.session.db.write() as connection:
        unguard(connection, "waivers")
        connection.execute(text(statement))
    assert store.releases.waivers(run_id, "internal") == ()
    assert open_rules(store, run_id) == ["run-held", "identifiers-in-records"]


def test_a_waiver_whose_withdrawal_was_taken_out_stays_withdrawn(store, run_id):
    waiver = waive(store, run_id)
    store.releases.withdraw_waiver(run_id, "internal", waiver)
    with store.session.db.write() as connection:
        unguard(connection, "waivers")
        connection.execute(text("DELETE FROM waivers WHERE withdrawn"))
    assert store.releases.waivers(run_id, "internal") == ()
