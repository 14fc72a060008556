"""`pool` and `pack`: prompts go out after they were listed, texts come in after they were declared."""

import json

import pytest

from engine import open_workspace
from engine.jobs.worker import launch
from tests.cli.in_process import run

PROVENANCE = ["--origin", "a large model elsewhere", "--licence", "CC0"]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(launch, "ensure_worker", lambda folder: False)
    return tmp_path / "w"


def test_a_pack_goes_out_and_its_answers_come_in(place, tmp_path):
    words = ["--set", "domain=clinical", "--set", "topics=sore knees;stiff hips", "--set", "labels=knee;hip"]
    words += ["--set", "lengths=30;60", "--set", "count=8"]
    shown = run(place, "pack", "show", *words)
    assert (shown["prompts"], {one["what"] for one in shown["leaves"]} >= {"Topics", "Labels"}) == (8, True)
    out = tmp_path / "prompts.jsonl"
    assert "declaration" in run(place, "pack", "write", *words, "--out", out, expect=2)
    assert not out.exists()
    wrong = ["--format", "openai", "--out", out]
    assert "names the model" in run(place, "pack", "write", *words, "--declare", *wrong, expect=1)
    assert run(place, "pack") == {"packs": []}  # refused before anything was logged
    made = run(place, "pack", "write", *words, "--declare", "--out", out)
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [line["label"] for line in lines] == ["knee", "hip"] * 4
    assert run(place, "pack")["packs"][0]["digest"] == made["sha256"]
    again = tmp_path / "again.txt"
    run(place, "pack", "file", made["pack"], "--format", "text", "--out", again)
    assert "exists already" in run(place, "pack", "file", made["pack"], "--out", again, expect=1)
    text = "".join(f"=== {line['prompt_id']} ===\nKnee number {i} was sore in May.\n" for i, line in enumerate(lines))
    (tmp_path / "answers.txt").write_text(text)
    said = run(place, "pool", "import", "knees", tmp_path / "answers.txt", *PROVENANCE, expect=1)
    assert "declaration" in said
    found = run(place, "pool", "import", "knees", tmp_path / "answers.txt", *PROVENANCE, "--declare")
    assert (found["texts"], found["labels"], found["pack_id"]) == (8, {"hip": 4, "knee": 4}, made["pack"])
    assert [one["name"] for one in run(place, "pool")["pools"]] == ["knees"]
    actions = [line["action"] for line in run(place, "audit")["audit"]]
    assert actions[::-1] == ["prompt pack logged", "prompt pack file made", "prompt pack file made", "pool imported"]
    assert run(place, "pool", "delete", "knees") == {"deleted": "knees"}


def test_a_plan_names_its_pool_and_says_what_is_missing(place, tmp_path):
    rows = "".join(f"note {i} about a sore knee\n" for i in range(40))
    (tmp_path / "a.csv").write_text(f"text\n{rows}")
    corpus = run(place, "import", tmp_path / "a.csv", "--text", "text", "--holdout", 0)["corpus"]
    planned = run(place, "plan", corpus, "--method", "dp-select", "--count", 5)
    assert "No pool is chosen" in planned["blockers"][0]
    assert "does not exist" in run(place, "plan", corpus, "--method", "dp-select", "--set", "pool=none", expect=1)
    pool = "".join(f"The hip of guest {i} hurt after a long walk.\n" for i in range(9))
    (tmp_path / "p.csv").write_text(f"body\n{pool}")
    run(place, "pool", "import", "hips", tmp_path / "p.csv", *PROVENANCE, "--declare")
    planned = run(place, "plan", corpus, "--method", "dp-select", "--count", 5, "--set", "pool=hips")
    assert planned["blockers"] == []
    assert "command line declared on" in planned["guarantee"]["sentence"]
    assert "9 texts and 10 outputs" in run(
        place, "plan", corpus, "--method", "dp-select", "--count", 10, "--set", "pool=hips"
    )["blockers"][0]  # fmt: skip
    workspace = open_workspace(place)
    assert workspace.runs.all(corpus) == []
    workspace.close()
