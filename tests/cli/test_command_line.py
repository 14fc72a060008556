"""The command line as a person uses it: JSON on stdout, exit statuses; the whole path in real processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.in_process import run as called

ROOT = Path(__file__).resolve().parents[2]
SECRET = "Quillfeather Zanzibarovna"


def run(workspace, *arguments, expect=0):
    environment = {
        **os.environ,
        "UNDERSTUDY_WORKSPACE": str(workspace),
        "PYTHONPATH": str(ROOT / "tests" / "netguard"),
        "UNDERSTUDY_NETGUARD": str(workspace.parent / "connections.txt"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "engine", *map(str, arguments)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=800,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return json.loads(done.stdout) if expect == 0 else done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("command-line")
    yield folder
    sys.path.insert(0, str(ROOT))
    from engine import open_workspace

    if (folder / "w").exists():
        open_workspace(folder / "w", "test").jobs.stop_worker()


@pytest.fixture(scope="module")
def imported(folder):
    """Sixty made-up tickets imported from a CSV file through the command line."""
    from engine.corpus.samples import load_sample

    sample = load_sample("support_tickets").iloc[::4].head(60)  # of 43 people: one at least is held out
    sample.loc[0, "text"] = sample.loc[0, "text"] + f" Regards, {SECRET}"
    sample = sample.assign(spans=[json.dumps(list(map(dict, s))) for s in sample["spans"]])
    sample.to_csv(folder / "tickets.csv", index=False)
    return run(
        folder / "w", "import", folder / "tickets.csv", "--name", "Tickets", "--text", "text", "--id", "record_id",
        "--source", "source_id", "--label", "label", "--unit", "source", "--cap", 20, "--holdout", 0.25,
    )  # fmt: skip


def test_import_reports_the_corpus(imported):
    assert set(imported) >= {"corpus", "records", "units", "holdout_units", "warnings"}
    assert imported["records"] == 60
    assert 0 < imported["holdout_units"] < imported["units"]


def test_lists_have_the_agreed_shape(folder, imported):
    assert [c["id"] for c in called(folder / "w", "corpora")["corpora"]] == [imported["corpus"]]
    methods = called(folder / "w", "methods")["methods"]
    assert {"surrogate", "filter"} <= {m["id"] for m in methods}
    assert all(set(m) == {"id", "title", "citation", "kind", "needs"} for m in methods)
    assert called(folder / "w", "runs") == {"runs": []}


def test_a_named_study_says_what_it_takes(folder, imported):
    (only,) = called(folder, "study", "--study", "control-codes")["studies"]
    assert only["id"] == "control-codes"
    takes = only["parameters"]["properties"]
    assert {"methods", "identifiers", "entities", "sweep", "repeats"} <= set(takes)
    assert takes["methods"]["items"]["enum"][0] == "icl"


@pytest.mark.timeout(2400)
def test_the_whole_path(folder, imported):
    workspace, corpus = folder / "w", imported["corpus"]
    detected = run(workspace, "detect", corpus, "--gold", "--preset", "legal")
    assert detected["preset"] == "legal"
    assert detected["records"] == 60
    assert detected["spans"] == sum(detected["by_label"].values()) > 60
    assert 0 < detected["gold"]["direct_recall"]["value"] <= 1
    planned = run(workspace, "plan", corpus, "--method", "filter", "--count", 4)
    assert planned["plan"]["outputs"] == 4
    first = run(workspace, "synthesize", corpus, "--method", "surrogate")
    second = run(workspace, "synthesize", corpus, "--method", "filter", "--count", 4, "--seed", 5)
    assert set(first) == {"run", "state", "records", "funnel", "guarantee", "seconds", "notes"}
    assert (first["state"], second["state"], second["records"]) == ("done", "done", 4)
    for result, more in ((first, ()), (second, ("--quick",))):
        findings = run(workspace, "examine", result["run"], *more)["findings"]
        names = {f["name"] for f in findings}
        assert {"pipp", "elp", "pii_rate", "verbatim_8gram", "nearest_similarity"} <= names
        assert {"length_distance", "js_1gram", "js_2gram", "js_3gram", "embedding_similarity"} <= names
        assert {"mauve", "self_bleu", "distinct_2", "label_agreement", "seconds_per_1000"} <= names
    compared = run(workspace, "compare", first["run"], second["run"])
    assert compared["rows"]
    message = run(workspace, "release", second["run"], "--policy", "public", "--out", folder / "no", expect=2)
    assert message.strip()
    assert run(workspace, "approve", second["run"])["approved_now"] == 4
    bundle = ("release", second["run"], "--policy", "exploratory", "--out", folder / "bundle")
    message = run(workspace, *bundle, expect=2)
    assert "--accept-unbounded" in message
    assert not (folder / "bundle").exists()
    released = run(workspace, *bundle, "--accept-unbounded")
    assert released["records"] == 4
    assert run(workspace, "verify", released["path"])
    verified = run(workspace, "audit", "--verify")
    assert verified["ok"]
    assert verified["not_under_the_log"] == []
    assert SECRET not in json.dumps(run(workspace, "audit"))
    bundle = folder / "support.zip"
    run(workspace, "doctor", "--bundle", bundle)
    assert SECRET.encode() not in bundle.read_bytes()
    for log in (workspace).rglob("*.log"):
        assert SECRET not in log.read_text("utf-8", errors="replace")
    connections = folder / "connections.txt"
    assert not connections.exists(), connections.read_text()


def test_the_guard_itself_sees_a_connection(tmp_path):
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "tests" / "netguard"),
        "UNDERSTUDY_NETGUARD": str(tmp_path / "c.txt"),
    }
    code = "import socket; socket.create_connection(('192.0.2.1', 9), 1)"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False)
    assert done.returncode != 0
    assert "192.0.2.1" in (tmp_path / "c.txt").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["synthesize", "c-none", "--method", "nonsense"], "nonsense"),
        (["synthesize", "c-none", "--method", "surrogate"], "c-none"),
        (["guarantee", "--method", "filter", "--epsilon", "1"], "no formal claim"),
        (["guarantee", "--method", "filter", "--set", "treshold=0.9"], "treshold"),
        (["guarantee", "--method", "filter", "--set", "threshold"], "name=value"),
        (["plan"], "required"),
        (["nonsense"], "invalid choice"),
        (["import"], "FILE"),
        (["import", "/no/such/file.csv"], "file.csv"),
        (["compare", "r-1"], "two to four"),
        (["examine", "r-none"], "r-none"),
    ],
)
def test_wrong_requests_end_with_status_1_and_a_sentence(tmp_path, arguments, words):
    message = called(tmp_path / "w", *arguments, expect=1)
    assert words in message
    assert "Traceback" not in message


def test_a_method_that_needs_spans_refuses_before_detection(tmp_path):
    (tmp_path / "a.csv").write_text("text\n" + "\n".join(f"a short note number {i} about soup" for i in range(20)))
    corpus = called(tmp_path / "w", "import", tmp_path / "a.csv", "--text", "text")["corpus"]
    assert "look for identifiers" in called(tmp_path / "w", "synthesize", corpus, "--method", "surrogate", expect=1)


def test_guarantee_prints_without_running(tmp_path):
    printed = called(tmp_path / "w", "guarantee", "--method", "surrogate", "--units", 500, "--unit", "source")
    assert printed["kind"] in {"none", "heuristic"}
    assert printed["epsilon"] is None
    assert printed["unit"] == "source"
