"""The verb intruder: from the draw to the share, in files that only their owner reads; nothing private is printed."""

from __future__ import annotations

import json
import stat

import pytest

from engine.store.store import Store
from tests.cli.in_process import run
from tests.store.conftest import CANARY, MAPPING, made_up
from tests.store.making import finished_run

MEANS = ("--means", "public search")


@pytest.fixture
def made(tmp_path):
    """A workspace with a run whose records are approved; its folder, the run, and a folder for files."""
    store = Store(tmp_path / "w", actor="Ada")
    corpus = store.corpora.import_table(made_up(), MAPPING, name="Letters", unit="record", holdout=0.25)
    run_id = finished_run(store, corpus, [f"Made-up note {i} of somebody." for i in range(50)])
    store.runs.approve_all_pending(run_id)
    store.close()
    return tmp_path / "w", run_id, tmp_path


def rewritten(path, name, said):
    """Fill in a field of the lines of a file, by place."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for line in lines:
        line[name] = said.get(line["place"], line[name])
    path.with_suffix(".filled").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path.with_suffix(".filled")


def test_a_trial_by_files(made):
    workspace, run_id, folder = made
    base = ("intruder", run_id)
    assert run(workspace, *base)["trial"] is None
    assert run(workspace, *base, "--target", 0.1)["needed"] == 30
    drawn = run(workspace, *base, "--draw", 40, "--minutes", 60, *MEANS, "--by", "Ada")
    assert drawn["trial"]["trial"]["texts"] == 40
    texts = folder / "texts.jsonl"
    begun = run(workspace, *base, "--begin", "--out", texts, "--by", "Imre")
    assert stat.S_IMODE(texts.stat().st_mode) == 0o600
    assert len(texts.read_text("utf-8").splitlines()) == 40
    assert "Made-up note" not in json.dumps(begun)
    claims = rewritten(texts, "claim", {3: f"{CANARY} A", 5: "Ms B"})
    run(workspace, *base, "--claims", claims, "--end", "--by", "Imre")
    shown = folder / "claims.jsonl"
    run(workspace, *base, "--out", shown, "--by", "Clara")
    checked = rewritten(shown, "outcome", {3: "right", 5: "wrong"})
    said = run(workspace, *base, "--checked", checked, "--by", "Clara")
    assert said["trial"]["share"]["high"] > 1 / 40
    assert CANARY not in json.dumps(said)
    assert "1 right" in " ".join(said["sentences"])


def test_what_does_not_fit_is_refused_before_the_time_runs(made):
    workspace, run_id, folder = made
    base = ("intruder", run_id)
    assert "--out" in run(workspace, *base, "--begin", "--by", "Imre", expect=1)
    assert "--minutes" in run(workspace, *base, "--draw", 40, "--by", "Ada", expect=1)
    assert "--draw" in run(workspace, *base, *MEANS, expect=1)
    run(workspace, *base, "--draw", 40, "--minutes", 60, *MEANS, "--by", "Ada")
    there = folder / "there.jsonl"
    there.write_text("{}")
    assert "exists" in run(workspace, *base, "--begin", "--out", there, "--by", "Imre", expect=1)
    assert run(workspace, *base)["trial"]["trial"]["begun"] == ""
    assert "who you are" in run(workspace, *base, "--begin", "--out", folder / "x.jsonl", expect=1)


def test_files_of_an_earlier_trial_say_nothing_of_another_ones_texts(made):
    workspace, run_id, folder = made
    base = ("intruder", run_id)
    draw = ("--draw", 40, "--minutes", 60, *MEANS, "--by", "Ada")
    run(workspace, *base, *draw)
    old = folder / "old.jsonl"
    run(workspace, *base, "--begin", "--out", old, "--by", "Imre")
    claims = rewritten(old, "claim", {3: "Ms A"})
    run(workspace, *base, *draw)
    run(workspace, *base, "--begin", "--out", folder / "new.jsonl", "--by", "Imre")
    assert "another trial" in run(workspace, *base, "--claims", claims, "--by", "Imre", expect=2)
    run(workspace, *base, "--claims", rewritten(folder / "new.jsonl", "claim", {3: "Ms B"}), "--end", "--by", "Imre")
    checked = rewritten(old, "outcome", {3: "wrong"})
    assert "another trial" in run(workspace, *base, "--checked", checked, "--by", "Clara", expect=2)
    assert run(workspace, *base)["trial"]["trial"]["judged"] == 0


def test_a_file_of_another_run_is_refused_whole(made):
    workspace, run_id, folder = made
    store = Store(workspace, actor="Ada")
    other = finished_run(store, store.corpora.all()[0], [f"Other note {i}." for i in range(50)])
    store.runs.approve_all_pending(other)
    store.close()
    for one, name in ((run_id, "one"), (other, "other")):
        run(workspace, "intruder", one, "--draw", 40, "--minutes", 60, *MEANS, "--by", "Ada")
        run(workspace, "intruder", one, "--begin", "--out", folder / f"{name}.jsonl", "--by", "Imre")
    lines = [json.loads(line) for line in (folder / "one.jsonl").read_text("utf-8").splitlines()]
    assert {(line["run"], line["corpus"][:2]) for line in lines} == {(run_id, "c-")}
    claims = rewritten(folder / "one.jsonl", "claim", {1: "Ms A"})
    assert "another run" in run(workspace, "intruder", other, "--claims", claims, "--by", "Imre", expect=2)
    assert run(workspace, "intruder", other)["trial"]["trial"]["claims"] == 0


def test_a_verdict_is_changed_by_a_file_with_its_reason(made):
    workspace, run_id, folder = made
    base = ("intruder", run_id)
    run(workspace, *base, "--draw", 40, "--minutes", 60, *MEANS, "--by", "Ada")
    run(workspace, *base, "--begin", "--out", folder / "t.jsonl", "--by", "Imre")
    run(workspace, *base, "--claims", rewritten(folder / "t.jsonl", "claim", {1: "Ms A"}), "--end", "--by", "Imre")
    run(workspace, *base, "--out", folder / "c.jsonl", "--by", "Clara")
    run(workspace, *base, "--checked", rewritten(folder / "c.jsonl", "outcome", {1: "right"}), "--by", "Clara")
    checked = rewritten(folder / "c.jsonl", "outcome", {1: "wrong"})
    assert "reason" in run(workspace, *base, "--checked", checked, "--by", "Bea", expect=1)
    why = rewritten(checked, "reason", {1: "The register shows another ward"})
    said = run(workspace, *base, "--checked", why, "--by", "Bea")
    assert said["trial"]["trial"]["changed"] == 1
    assert run(workspace, "audit", "--verify")["ok"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xff\xfe", "line 1"),
        (b"[1, 2]\n", "line 1"),
        (b'{"place": 1, "claim": "x"}\n', "line 1"),
        (b'{"trial": "i", "place": 1, "claim": "x"}\n', "line 1"),
        (b'{"run": "R", "trial": "i", "place": 1}\n{"run": "R", "trial": "i", "place": true}\n', "line 2"),
        (b'{"run": "R", "trial": "i", "place": 1, "claim": 5}\n', "line 1"),
        (b'{"run": "R", "trial": "i", "place": 1, "reason": 5}\n', "line 1"),
        (b'{"run": "R", "trial": "i", "place": 1, "claim": "x"}\n{"run": "R", "trial": "i", "place": 1}\n', "twice"),
        (b"[" * 100_000, "line 1"),
    ],
)
def test_a_file_of_claims_that_is_none_is_refused_by_its_line(made, content, says):
    workspace, run_id, folder = made
    run(workspace, "intruder", run_id, "--draw", 40, "--minutes", 60, *MEANS, "--by", "Ada")
    run(workspace, "intruder", run_id, "--begin", "--out", folder / "t.jsonl", "--by", "Imre")
    path = folder / "claims.jsonl"
    path.write_bytes(content.replace(b'"R"', f'"{run_id}"'.encode()))
    assert says in run(workspace, "intruder", run_id, "--claims", path, "--by", "Imre", expect=1)
    assert run(workspace, "intruder", run_id)["trial"]["trial"]["claims"] == 0
