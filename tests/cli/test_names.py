"""Names in place of ids, and the import's defaults, which are those of the Load page."""

import json

import pytest

from engine import open_workspace
from engine.jobs.worker import launch
from tests.cli.in_process import run


@pytest.fixture
def place(tmp_path):
    """Return a workspace folder, and a file of thirty people with one to seven notes each."""
    rows = [
        f"P{person:03d},note {i} about a bowl of soup that was too hot"
        for person in range(30)
        for i in range(1 + person % 7)
    ]
    (tmp_path / "a.csv").write_text("\n".join(["patient_nr,text", *rows]))
    (tmp_path / "b.csv").write_text("\n".join(["xk,text", *rows]))
    yield tmp_path / "w", tmp_path
    opened = open_workspace(tmp_path / "w", "test")
    launch.stop_worker(opened.folder, 1.0)  # nobody goes on with its work
    opened.close()


def kept(place, corpus):
    opened = open_workspace(place, "test")
    found = opened.corpora.get(corpus)
    opened.close()
    return found.unit, found.cap, found.units


def test_the_person_is_taken_by_name_alone_and_the_cap_by_a_declaration_alone(place):
    workspace, folder = place
    assert kept(workspace, run(workspace, "import", folder / "a.csv")["corpus"]) == ("source", 5, 30)
    every = run(workspace, "import", folder / "a.csv", "--cap-from-file")["corpus"]
    assert kept(workspace, every) == ("source", 7, 30)
    assert kept(workspace, run(workspace, "import", folder / "a.csv", "--no-source")["corpus"])[:2] == ("record", 1)
    offered = run(workspace, "import", folder / "b.csv")["corpus"]
    assert kept(workspace, offered)[0] == "record", "what only values say is offered, not taken"
    assert kept(workspace, run(workspace, "import", folder / "b.csv", "--source", "xk")["corpus"]) == ("source", 5, 30)
    assert kept(workspace, run(workspace, "import", folder / "a.csv", "--unit", "record")["corpus"])[:2] == (
        "record",
        1,
    )


def test_a_corpus_is_named_by_its_name_unless_two_have_it(place):
    workspace, folder = place
    corpus = run(workspace, "import", folder / "a.csv", "--name", "Soup notes")["corpus"]
    other = run(workspace, "import", folder / "b.csv", "--name", "Other", "--same-people-as", "Soup notes")["corpus"]
    assert run(workspace, "labels", "Soup notes")["corpus"] == corpus
    assert run(workspace, "ledger", "soup  NOTES")["corpus"] == corpus
    assert run(workspace, "ledger", other)["population"] == run(workspace, "ledger", corpus)["population"]
    twin = run(workspace, "import", folder / "a.csv", "--name", "Soup notes")["corpus"]
    said = run(workspace, "ledger", "Soup notes", expect=1)
    assert "2 corpora are called" in said
    assert corpus in said
    assert twin in said
    assert run(workspace, "ledger", twin)["corpus"] == twin, "an id is always one"
    assert "does not exist" in run(workspace, "ledger", "Soup", expect=1)
    assert {line["subject"] for line in run(workspace, "audit", "--corpus", "Other")["audit"]} >= {other}
    run(workspace, "delete", "Other")
    assert [one["id"] for one in run(workspace, "corpora")["corpora"]] == [twin, corpus]


def test_a_run_is_named_by_what_people_call_it(place):
    workspace, folder = place
    run(workspace, "import", folder / "a.csv", "--name", "Soup notes")
    ids = [run(workspace, "synthesize", "Soup notes", "--method", "public", "--count", 3, "--no-wait")["run"]
           for _ in range(2)]  # fmt: skip
    opened = open_workspace(workspace, "test")
    title = opened.runs.get(ids[0]).title
    opened.runs.describe(ids[1], name="For teaching", note="")
    opened.close()
    assert run(workspace, "runs", "--corpus", "Soup notes")["runs"]
    assert run(workspace, "resume", "For teaching", "--no-wait")["run"] == ids[1]
    assert run(workspace, "resume", title, "--no-wait")["run"] == ids[0]
    opened = open_workspace(workspace, "test")
    opened.runs.describe(ids[1], name="", note="")
    opened.close()
    assert "2 runs are called" in run(workspace, "approve", title, expect=1)


def test_the_demonstration_is_kept_in_a_new_folder_only(place):
    workspace, folder = place
    assert "exists already" in run(workspace, "demo", "--keep", folder, expect=1)
    assert "not with both" in run(workspace, "demo", "--workspace", workspace, "--keep", folder / "new", expect=1)
    assert not (folder / "new").exists()


@pytest.mark.long  # the demonstration itself is run beside the tests
@pytest.mark.timeout(600)
def test_the_kept_demonstration_can_be_opened(place):
    workspace, folder = place
    made = run(workspace, "demo", "--keep", folder / "my demo")
    assert made["open"] == f"streamlit run app.py -- --workspace '{folder / 'my demo'}'"
    opened = open_workspace(folder / "my demo", "test")
    try:
        assert len(opened.runs.all()) == 2
        (release,) = opened.releases.all()
        assert release.records == made["release"]["records"] > 0
        assert json.dumps(made["findings"])
    finally:
        opened.jobs.stop_worker()
        opened.close()


def test_a_file_without_a_header_has_no_cell_of_it_said(place, monkeypatch):
    from engine.cli.corpus import corpora

    workspace, folder = place
    said = []
    monkeypatch.setattr(corpora, "say", said.append)
    rows = [f"note {i} about a bowl of soup that was too hot,ZZ{i % 20:04d}" for i in range(60)]
    (folder / "c.csv").write_text("\n".join(rows))
    run(workspace, "import", folder / "c.csv")
    assert any("Column 2 may say whose record each is" in line for line in said)
    assert not any("ZZ0000" in line for line in said), "the first row is taken for the header"
