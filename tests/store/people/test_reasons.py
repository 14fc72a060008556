"""Reasons for looking at text, and what the audit log keeps of a look: no private text, no id of the file."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import engine
from engine.errors import NotFoundError, ReasonNeededError, RefusedError, UserError
from engine.store.people.reasons import STANDARD, check_ids, check_reason
from engine.store.people.roles import Role
from tests.store.conftest import CANARY, MAPPING, made_up
from tests.store.making import finished_run
from tests.store.people.test_calls import acting_as

REASON = "is this a stock phrase of letters?"


@pytest.fixture
def workspace(tmp_path):
    opened = engine.open_workspace(tmp_path / "workspace", "tester")
    yield opened
    opened.close()


def hospital(workspace, first=0, name="Letters"):
    """Import letters whose ids and people carry numbers as a hospital gives them."""
    table = made_up(first=first)
    table["id"] = [f"MRN-4711{i:04d}" for i in range(first, first + len(table))]
    table["who"] = [f"Patient 88{i:03d}" for i in range(first, first + len(table))]
    return workspace.corpora.import_table(table, MAPPING, name=name, unit="record", holdout=0.25)


def test_a_reveal_keeps_the_place_of_the_private_record_and_no_id_of_it(workspace):
    corpus = hospital(workspace)
    run = finished_run(workspace, corpus, ["A made-up text."])
    workspace.examinations.note_reveal(run, "s-000001", "MRN-47110007", f"  {REASON} ")
    line = workspace.audit.lines(limit=1).iloc[0]
    detail = json.loads(line["detail"])
    assert (line["action"], detail["reason"], detail["synthetic"]) == ("private text revealed", REASON, "s-000001")
    frame = workspace.corpora.frame(corpus.id, None, ["record_id"])
    assert frame["record_id"].iloc[detail["position"]] == "MRN-47110007", "who holds the workspace finds the record"
    for kind in ("json", "csv"):
        left = workspace.audit.export(kind).decode()
        assert "MRN-4711" not in left
        assert "Patient 88" not in left


def test_nothing_is_noted_of_records_that_are_not_there(workspace):
    corpus = hospital(workspace)
    run = finished_run(workspace, corpus, ["A made-up text."])
    before = workspace.audit.count()
    for output, source in (("s-000009", "MRN-47110007"), ("s-000001", "some private words")):
        with pytest.raises(NotFoundError):
            workspace.examinations.note_reveal(run, output, source, REASON)
    assert workspace.audit.count() == before


@pytest.mark.parametrize(
    "reason",
    [
        f"is {CANARY} A the same person?",
        "is quillfeather zanzibarnacle a the same person?",
        "look at MRN-47110007",
        "look at mrn 47110007 again",
        "a question of patient 88013",
        "Letter 3 says somebody came on 4 May 2021 because of a sore knee, number 757",
    ],
)
def test_a_reason_with_private_words_is_refused_before_anything_is_kept(workspace, reason):
    corpus = hospital(workspace)
    workspace.review.use_gold(corpus.id)
    if reason.startswith("Letter"):  # nine words in a row of a record
        reason = " ".join(workspace.corpora.frame(corpus.id, None, ["text"])["text"].iloc[3].split()[6:])
    run = finished_run(workspace, corpus, ["A made-up text."])
    before = workspace.audit.count()
    with pytest.raises(RefusedError) as caught:
        workspace.examinations.note_reveal(run, "s-000001", "MRN-47110007", reason)
    assert not any(word in str(caught.value) for word in ("4711", "88013", "feather", "knee"))
    assert workspace.audit.count() == before
    reviewer = acting_as(workspace, "p", "Paula", Role.REVIEWER)
    with pytest.raises(RefusedError):
        reviewer.visit.give_reason(reason)
    assert reviewer.visit.reason == ""
    with pytest.raises(ReasonNeededError):
        reviewer.corpora.records(corpus.id)


@pytest.mark.parametrize("reason", [*STANDARD, REASON, "2nd look, 14 of 40 read, because of a sore knee"])
def test_ordinary_reasons_pass(workspace, reason):
    corpus = hospital(workspace)
    workspace.review.use_gold(corpus.id)
    check_reason(workspace.session, corpus.id, reason)


def test_a_corpus_that_comes_after_the_reason_asks_for_another(workspace):
    first = hospital(workspace)
    reviewer = acting_as(workspace, "p", "Paula", Role.REVIEWER)
    reviewer.visit.give_reason("compare with MRN-47110055")
    assert len(reviewer.corpora.records(first.id))
    second = hospital(workspace, first=50, name="More letters")
    with pytest.raises(ReasonNeededError):
        reviewer.corpora.records(second.id)
    assert reviewer.visit.reason == ""
    shown = workspace.audit.lines(limit=1000).query("action == 'text shown'")
    assert list(shown["subject"]) == [first.id]
    reviewer.visit.give_reason(REASON)
    assert len(reviewer.corpora.records(second.id))


def test_short_numbers_are_no_ids():
    ids = ["1", "12", "999", "r-1234", "Jane Doe"]
    for plain in ("1 of 12 texts", "999 words", "r 12 35 5"):
        check_ids(plain, ids)
    for named in ("record R-1234.", "r1234", "about jane doe"):
        with pytest.raises(RefusedError):
            check_ids(named, ids)


def test_every_change_of_a_setting_stands_in_the_log_and_its_value_does_not(workspace):
    def lines() -> pd.DataFrame:
        return workspace.audit.lines(limit=100).iloc[::-1]

    before = workspace.audit.count()
    workspace.settings.set("domain", "legal")
    workspace.settings.set("domain", "legal")  # as it was: nothing happened
    workspace.settings.set("domain", {"secret": "words"})
    found = lines().iloc[before:]
    assert list(found["action"]) == ["setting changed"] * 2
    assert [json.loads(one) for one in found["detail"]] == [{"setting": "domain"}] * 2
    corpus = hospital(workspace)
    workspace.plan.remember(corpus.id, {"epsilon": 2.0, "method": "dp-topics"})
    assert workspace.audit.lines(limit=1, corpus_id=corpus.id)["action"].iloc[0] == "setting changed"
    workspace.plan.remember(corpus.id, {"epsilon": 4.0, "method": "dp-topics", "note": "Zoe Falk", "beside": True})
    detail = json.loads(workspace.audit.lines(limit=1, corpus_id=corpus.id)["detail"].iloc[0])
    assert detail["changed"] == "beside: nothing → yes; epsilon: 2 → 4; note: nothing → other", "and nothing typed"
    workspace.plan.remember(corpus.id, {"epsilon": 1.0, "method": "dp-topics", "note": "Zoe Falk", "beside": False})
    detail = json.loads(workspace.audit.lines(limit=1, corpus_id=corpus.id)["detail"].iloc[0])
    assert detail["changed"] == "beside: yes → no; epsilon: 4 → 1", "a one is no yes"


def test_a_name_that_is_set_stands_in_the_log_under_the_one_before(workspace):
    before = workspace.audit.count()
    workspace.settings.set_actor("Ada  Example")
    workspace.settings.set_actor("Ada Example")
    found = workspace.audit.lines(limit=100)
    assert workspace.audit.count() == before + 1
    assert (found["actor"].iloc[0], found["action"].iloc[0]) == ("tester", "name of the person acting set")
    assert json.loads(found["detail"].iloc[0]) == {"name": "Ada Example"}


@pytest.mark.parametrize("name", ["worker", "Worker", " WORKER ", "w\u043erker", "the  program", "The Program"])
def test_nobody_acts_under_the_name_of_the_program(workspace, name):
    before = (workspace.session.actor, workspace.audit.count())
    with pytest.raises(UserError, match="the log calls the program so"):
        workspace.settings.set_actor(name)
    assert (workspace.session.actor, workspace.audit.count()) == before
    workspace.settings.set_actor("Ada Worker")
    with pytest.raises(UserError, match=r"the log calls the program so|cannot be|scripts"):
        workspace.people.set("ada@example.org", name, ["custodian"])


def test_a_ledger_that_leaves_stands_in_the_log(workspace):
    corpus = hospital(workspace)
    text = json.loads(workspace.ledger.export(corpus.id))
    line = workspace.audit.lines(limit=1).iloc[0]
    detail = json.loads(line["detail"])
    assert (line["action"], line["subject"]) == ("ledger exported", corpus.id)
    assert detail["lines"] == len(text["lines"])
    assert detail["last"] == max((one["seq"] for one in text["lines"]), default=0)
    assert workspace.audit.verify()["ok"]
