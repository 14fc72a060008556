"""Answers of an assessment: kept with the corpus, gone with it, never in the audit log."""

import pytest
from sqlalchemy import select

from engine.errors import UserError
from engine.store.database.schema import settings
from engine.store.store import Store
from tests.store.conftest import CANARY
from tests.store.making import finished_run


def test_answers_are_kept_with_the_corpus_and_go_with_it(store, corpus):
    store.assessments.keep(corpus.id, {"purpose": "Trying a search", "advice": f"Of {CANARY}", "dpia": ""})
    other = Store(store.session.path, actor="another")
    assert other.assessments.answers(corpus.id) == {"purpose": "Trying a search", "advice": f"Of {CANARY}"}
    other.close()
    store.corpora.delete(corpus.id)
    with store.session.db.read() as connection:
        assert connection.execute(select(settings.c.key).where(settings.c.key.like("assessment.%"))).all() == []


def test_the_audit_log_names_fields_and_checksums_and_no_words(store, corpus):
    run_id = finished_run(store, corpus, ["A made-up letter."])
    store.assessments.keep(corpus.id, {"advice": f"Of {CANARY}"})
    store.assessments.keep(corpus.id, {"advice": f"Of {CANARY}"})  # nothing new, no line
    page = store.assessments.make(run_id, "exploratory", "internal")
    assert CANARY in page
    lines = store.audit.lines()
    said = " ".join(lines["action"] + " " + lines["detail"])
    assert CANARY not in said
    assert list(lines["action"]).count("assessment answered") == 1
    assert list(lines["action"]).count("assessment made") == 1
    assert '"fields":"advice"' in said.replace(" ", "")


def test_an_unfinished_run_is_refused(store, corpus):
    run_id = finished_run(store, corpus, ["A made-up letter."], state="running")
    with pytest.raises(UserError, match="not finished"):
        store.assessments.make(run_id, "exploratory", "internal")


def test_releases_of_the_same_people_are_counted(store, corpus):
    run_id = finished_run(store, corpus, ["A made-up letter."])
    assert "From the same people so far: no releases." in store.assessments.make(run_id, "exploratory", "internal")
