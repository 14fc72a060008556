"""The verbs about releases: make a key, release, export, verify, withdraw; refusals end with status 2."""

import sqlite3
from contextlib import closing

import pytest

from engine.store.database.schema import synthetic
from engine.store.store import Store
from tests.cli.in_process import run
from tests.store.conftest import MAPPING, made_up
from tests.store.making import examine, finding, finished_run, made_with
from tests.store.span_tables import add_span


@pytest.fixture
def made(tmp_path):
    """A workspace with an examined and approved run; its folder and the run."""
    store = Store(tmp_path / "w", actor="tester")
    corpus = store.corpora.import_table(made_up(), MAPPING, name="Letters", unit="record", holdout=0.25)
    run_id = finished_run(store, corpus, [f"Made-up letter {i} about a knee." for i in range(8)])
    policy = next(policy for policy in store.releases.policies() if policy.id == "exploratory")
    examine(store, run_id, [finding(rule.finding, 0.0, reference=rule.reference) for rule in policy.rules])
    store.runs.approve_all_pending(run_id)
    store.close()
    return tmp_path / "w", run_id


def release(made, out, *more, expect=0):
    given = ("release", made[1], "--policy", "exploratory", "--out", out, "--accept-unbounded", *more)
    return run(made[0], *given, expect=expect)


def test_sign_release_export_verify_and_withdraw(made, tmp_path):
    workspace, out = made[0], tmp_path / "bundle"
    public = run(workspace, "key", tmp_path / "key")["public_key"]
    assert (tmp_path / "key").stat().st_mode & 0o077 == 0
    words = ("--purpose", "Trying out a search", "--recipient", "The archive", "--review", "2999-01-31")
    released = release(made, out, "--sign-key", tmp_path / "key", *words)
    assert released["signed_by"] == public
    for key in (public, tmp_path / "key.pub"):
        assert run(workspace, "verify", out, "--key", key)["ok"]
    assert "not signed by the key you gave" in run(workspace, "verify", out, "--key", "ab" * 32, expect=1)
    assert "key: give 64" in run(workspace, "verify", out, "--key", "nonsense", expect=1)
    run(workspace, "export", released["id"], "--out", tmp_path / "b.zip")
    assert run(workspace, "verify", tmp_path / "b.zip", "--key", public)["signed_by"] == public
    assert "exists already" in run(workspace, "export", released["id"], "--out", tmp_path / "b.zip", expect=1)
    run(workspace, "revoke", released["id"], "--reason", "A name was found.")
    assert "withdrawn" in run(workspace, "export", released["id"], "--out", tmp_path / "c.zip", expect=2)
    assert not (tmp_path / "c.zip").exists()
    run(workspace, "revocations", "--out", tmp_path / "list.json", "--sign-key", tmp_path / "key")
    assert run(workspace, "verify", out)["ok"]
    said = run(workspace, "verify", out, "--revocations", tmp_path / "list.json", expect=1)
    assert "REVOKED" in said
    assert "A name was found." in said


def test_a_review_that_was_changed_outside_stops_a_release_and_the_check_of_the_log(made, tmp_path):
    assert run(made[0], "audit", "--verify")["ok"]
    with closing(sqlite3.connect(made[0] / "understudy.sqlite")) as database:
        database.execute("UPDATE spans SET state = 'rejected' WHERE position = 3")
        database.commit()
    assert "its marks are not those" in run(made[0], "audit", "--verify", expect=2)
    assert "The review is as people left it" in release(made, tmp_path / "bundle", expect=2)
    assert not (tmp_path / "bundle").exists()


def test_a_changed_bundle_ends_with_a_failure(made, tmp_path):
    release(made, tmp_path / "bundle")
    (tmp_path / "bundle" / "records.csv").write_text("changed")
    assert "records.csv: size differs" in run(made[0], "verify", tmp_path / "bundle", expect=1)


@pytest.mark.parametrize("split", ["train", "holdout"])
def test_a_private_text_stops_a_release_with_status_2(made, tmp_path, split):
    store = Store(made[0], actor="tester")
    text = store.corpora.frame(store.corpora.all()[0].id, split, ["text", "split"])["text"].iloc[0]
    store.close()
    assert "repeats more than 8" in release(made, tmp_path / "a", "--purpose", text, expect=2)
    assert not (tmp_path / "a").exists()


def test_a_private_count_stops_a_release_with_status_2(made, tmp_path):
    assert "counted or measured" in release(made, tmp_path / "a", "--source", "40 letters", expect=2)
    assert not (tmp_path / "a").exists()


def test_a_stale_finding_stops_a_release_with_status_2(made, tmp_path):
    store = Store(made[0], actor="tester")
    corpus = store.corpora.all()[0]
    add_span(store, corpus.id, "id0", 0, 6, "PERSON")
    store.close()
    assert "is not met" in release(made, tmp_path / "a", expect=2)
    assert not (tmp_path / "a").exists()


def test_a_copied_label_stops_a_release_with_status_2(tmp_path):
    label = "one long label that says nine words or even more than that"
    store = Store(tmp_path / "w", actor="tester")
    corpus = store.corpora.import_table(made_up().assign(kind=label), MAPPING, name="L", unit="record", holdout=0.25)
    run_id = finished_run(store, corpus, ["Made-up letter about a knee.", "Another one."])
    with store.session.db.write() as connection:
        connection.execute(synthetic.update().where(synthetic.c.run_id == run_id).values(label=label))
    made_with(store.session, run_id)
    policy = next(policy for policy in store.releases.policies() if policy.id == "exploratory")
    examine(store, run_id, [finding(rule.finding, 0.0, reference=rule.reference) for rule in policy.rules])
    store.runs.approve_all_pending(run_id)
    store.close()
    message = release((tmp_path / "w", run_id), tmp_path / "a", expect=2)
    assert "2 approved record(s) repeat more than 8 consecutive words" in message
    assert "column 'label'" in message
    assert not (tmp_path / "a").exists()


def test_a_form_is_filled_in_and_an_assessment_written(made, tmp_path):
    workspace, form, page = made[0], tmp_path / "form.yaml", tmp_path / "page.html"
    run(workspace, "assess", made[1], "--policy", "exploratory", "--form", form)
    text = form.read_text()
    assert "purpose: ''" in text
    form.write_text(text.replace("purpose: ''", "purpose: Trying out a search").replace("dpia: ''", "dpia: 'No. 7'"))
    said = run(workspace, "assess", made[1], "--policy", "exploratory", "--answers", form, "--out", page)
    assert said["answered"] == 2
    assert "Trying out a search" in page.read_text()
    assert "exists already" in run(workspace, "assess", made[1], "--policy", "exploratory", "--out", page, expect=1)
    assert page.stat().st_size > 5000
    outside = tmp_path / "outside.html"
    run(workspace, "assess", made[1], "--policy", "exploratory", "--edition", "external", "--out", outside)
    assert "No. 7" not in outside.read_text()
    run(workspace, "assess", made[1], "--policy", "exploratory", "--form", tmp_path / "again.yaml")
    assert "purpose: Trying out a search" in (tmp_path / "again.yaml").read_text()


@pytest.mark.parametrize(
    ("content", "said"),
    [("a: [", "no valid YAML"), ("- x", "must map"), ("purpose: [a]", "no list"), ("nonsense: x", "no field"),
     ("purpose: !!python/object/apply:os.system ['true']", "no valid YAML")],
)  # fmt: skip
def test_a_wrong_file_of_answers_is_refused(made, tmp_path, content, said):
    (tmp_path / "a.yaml").write_text(content)
    given = ("--policy", "exploratory", "--answers", tmp_path / "a.yaml", "--out", tmp_path / "p.html")
    assert said in run(made[0], "assess", made[1], *given, expect=1)
    assert not (tmp_path / "p.html").exists()


@pytest.mark.parametrize("split", ["train", "holdout"])
def test_private_words_stop_the_external_assessment_with_status_2(made, tmp_path, split):
    store = Store(made[0], actor="tester")
    corpus = store.corpora.all()[0].id
    text = store.corpora.frame(corpus, split, ["text", "split"])["text"].iloc[0]
    store.assessments.keep(corpus, {"safeguards": text, "advice": text})
    store.close()
    given = ("assess", made[1], "--policy", "exploratory", "--out", tmp_path / "p.html", "--edition")
    assert "Safeguards repeats more than 8" in run(made[0], *given, "external", expect=2)
    assert not (tmp_path / "p.html").exists()
    run(made[0], *given, "internal")


def test_private_counts_stop_the_external_assessment_with_status_2(made, tmp_path):
    store = Store(made[0], actor="tester")
    store.assessments.keep(store.corpora.all()[0].id, {"purpose": "Made from 40 letters"})
    store.close()
    given = ("--policy", "exploratory", "--out", tmp_path / "p.html", "--edition", "external")
    assert "counted or measured" in run(made[0], "assess", made[1], *given, expect=2)


def test_an_own_policy_is_put_in_force_used_and_taken_out(made, tmp_path):
    from tests.store.test_own_policies import OWN

    (tmp_path / "ward.yaml").write_text(OWN)
    listed = run(made[0], "policies", "--add", tmp_path / "ward.yaml")["policies"]
    assert [one["id"] for one in listed if one["own"]] == ["ward"]
    out = tmp_path / "bundle"
    run(made[0], "release", made[1], "--policy", "ward", "--out", out, "--accept-unbounded")
    assert run(made[0], "verify", out)["ok"]
    (tmp_path / "ward.yaml").write_text(OWN.replace("rules:", "rulez:", 1))
    said = run(made[0], "policies", "--add", tmp_path / "ward.yaml", expect=1)
    assert "ward.yaml, line" in said
    assert not [one for one in run(made[0], "policies", "--remove", "ward")["policies"] if one["own"]]
