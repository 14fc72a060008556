"""`labels` and `import --labels-public`: what a list is, and who may say that it is public."""

import pytest

from engine.jobs.worker import launch
from tests.cli.in_process import run

SENTENCE = "Rosalind Achterberg, HIV positive since 2011, told nobody at work"


@pytest.fixture
def notes(tmp_path):
    """Return a workspace and a file of thirty notes, one of which has a sentence for a label."""
    rows = [f'short note number {i} about soup,"{SENTENCE if i == 4 else "ab"[i % 2]}"' for i in range(30)]
    (tmp_path / "a.csv").write_text("text,kind\n" + "\n".join(rows))
    yield tmp_path / "w", tmp_path / "a.csv"
    from engine import open_workspace

    opened = open_workspace(tmp_path / "w", "test")
    launch.stop_worker(opened.folder, 1.0)  # nobody goes on with its work
    opened.close()


def test_labels_are_declared_listed_and_withdrawn(notes):
    workspace, file = notes
    columns = ["--text", "text", "--label", "kind", "--holdout", 0]
    assert "longer than 60" in run(workspace, "import", file, *columns, "--labels-public", expect=1)
    assert run(workspace, "corpora") == {"corpora": []}
    corpus = run(workspace, "import", file, *columns)["corpus"]
    before = run(workspace, "labels", corpus)
    assert (before["declared"], before["counts"][SENTENCE]) == (None, 1)
    planned = run(workspace, "plan", corpus, "--method", "public")
    assert "carry no labels" in planned["guarantee"]["sentence"]
    assert any("no list of labels" in line for line in planned["warnings"])
    assert "longer than 60" in run(workspace, "labels", corpus, "--declare", expect=1)
    refused = run(workspace, "labels", corpus, "--declare", "--unusual", expect=1)
    assert "one label is held by fewer than 3 people" in refused
    assert "Achterberg" not in refused
    assert run(workspace, "labels", corpus, "--declare", "--rare", "leave-out")["declared"] == ["a", "b"]
    assert (before["people"][SENTENCE], before["rare"]) == ("fewer than 3", [SENTENCE])
    assert run(workspace, "labels", corpus, "--label", "a", "--label", "b")["declared"] == ["a", "b"]
    planned = run(workspace, "plan", corpus, "--method", "public")
    assert "given the list of the 2 labels, which the custodian declared public" in planned["guarantee"]["sentence"]
    assert len(run(workspace, "labels", corpus, "--declare", "--unusual", "--rare", "include")["declared"]) == 3
    actions = [line["action"] for line in run(workspace, "audit")["audit"]]
    assert actions.count("label list declared public") == 3
    assert run(workspace, "labels", corpus, "--withdraw")["declared"] is None


def test_a_list_is_named_with_the_import(notes, tmp_path):
    workspace, file = notes
    columns = ["--text", "text", "--label", "kind", "--holdout", 0]
    (tmp_path / "labels.txt").write_text("a\n\nb, with a comma\n")
    made = run(workspace, "import", file, *columns, "--labels", 'a, "b, too"', "--labels-file", tmp_path / "labels.txt")
    assert made["labels"] == ["a", "b, too", "b, with a comma"]
    assert run(workspace, "labels", made["corpus"])["people"]["a"] == "10 to 99"
    assert run(workspace, "labels", made["corpus"], "--labels", "a,b")["declared"] == ["a", "b"]
    assert "empty" in run(workspace, "labels", made["corpus"], "--labels", " ,", expect=1)
    assert "cannot be read" in run(workspace, "labels", made["corpus"], "--labels-file", tmp_path / "none", expect=1)
