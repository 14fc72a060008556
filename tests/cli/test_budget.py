"""`guarantee`, `plan`, `ledger` and refusals of the budget on the command line: JSON shapes, exit codes, numbers."""

import json

import pytest

from engine.methods import method_ids
from tests.cli.in_process import run

SHAPE = {
    "corpus", "population", "limit_epsilon", "limit_delta", "limit_list_delta", "list_delta_used", "limit_is_default",
    "order", "share", "remaining_epsilon",
    "reserved_share", "unbounded", "total_epsilon", "sentence", "lines", "unknown_since", "questions", "no_total",
    "largest_units",
}  # fmt: skip
LINE = set("seq at actor kind run_id method epsilon delta unit adjacency what sentence share_after".split())


def needs(method):
    """Skip where a method is not part of this program."""
    return pytest.mark.skipif(method not in method_ids(), reason=f"method {method} is not part of this program")


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """Return a workspace folder and a corpus of thirty notes."""
    folder = tmp_path_factory.mktemp("budget")
    lines = [f"short note number {i} about soup,{'hot' if i % 3 else 'cold'}" for i in range(30)]
    (folder / "a.csv").write_text("text,kind\n" + "\n".join(lines))
    corpus = run(folder / "w", "import", folder / "a.csv", "--text", "text", "--label", "kind")["corpus"]
    yield folder / "w", corpus
    from engine import open_workspace

    opened = open_workspace(folder / "w", "test")
    opened.jobs.stop_worker()
    opened.close()


def guaranteed(tmp_path, *arguments):
    return run(tmp_path / "w", "guarantee", *arguments)


def test_the_ledger_has_the_agreed_shape_and_keeps_a_limit(imported):
    workspace, corpus = imported
    fresh = run(workspace, "ledger", corpus)
    assert set(fresh) == SHAPE
    assert (fresh["limit_epsilon"], fresh["limit_is_default"], fresh["share"], fresh["lines"]) == (10.0, True, 0.0, [])
    changed = run(workspace, "ledger", corpus, "--set-limit", 3, 1e-4)
    assert (changed["limit_epsilon"], changed["limit_delta"], changed["limit_is_default"]) == (3.0, 1e-4, False)
    assert changed["limit_list_delta"] == pytest.approx(0.3e-4)
    assert [(set(line), line["kind"]) for line in changed["lines"]] == [(LINE, "limit")]
    exported = run(workspace, "ledger", corpus, "--export")
    assert exported["format"] == "understudy-ledger"
    assert [len(line["hash"]) for line in exported["lines"]] == [64]
    checked = run(workspace, "audit", "--verify")
    assert checked["ok"]
    assert checked["ledger"] == {"ok": True, "lines": 1, "first_bad": None}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ledger", "c-none"], "c-none"),
        (["ledger", "CORPUS", "--set-limit", "0", "1e-5"], "epsilon"),
        (["ledger", "CORPUS", "--set-limit", "1", "0.5"], "delta"),
        (["ledger", "CORPUS", "--set-limit", "1"], "expected 2 arguments"),
        (["plan", "CORPUS", "--method", "filter", "--epsilon", "1"], "no formal claim"),
    ],
)
def test_wrong_requests_end_with_status_1(imported, arguments, words):
    workspace, corpus = imported
    assert words in run(workspace, *[corpus if a == "CORPUS" else a for a in arguments], expect=1)


def test_a_changed_ledger_ends_with_status_2(tmp_path):
    import sqlite3
    from contextlib import closing

    from engine import open_workspace

    (tmp_path / "a.csv").write_text("text\n" + "\n".join(f"note {i} about soup" for i in range(20)))
    corpus = run(tmp_path / "w", "import", tmp_path / "a.csv", "--text", "text")["corpus"]
    run(tmp_path / "w", "ledger", corpus, "--set-limit", 3, 1e-4)
    with closing(sqlite3.connect(tmp_path / "w" / "understudy.sqlite")) as database:
        database.execute("DROP TRIGGER ledger_no_update")
        database.execute("UPDATE ledger SET actor = 'someone'")
        database.commit()
    assert "Ledger: Line 1 was changed." in run(tmp_path / "w", "audit", "--verify", expect=2)
    open_workspace(tmp_path / "w", "test").jobs.stop_worker()


@needs("aug-pe")
def test_the_numbers_of_aug_pe(tmp_path):
    known = ["--method", "aug-pe", "--epsilon", "1", "--delta", "1.3182e-5", "--units", "8396", "--set", "rounds=10"]
    plain = guaranteed(tmp_path, *known)
    assert plain["noise"]["votes"]["sigma"] == pytest.approx(11.60, abs=0.02)
    assert (plain["kind"], plain["epsilon"], plain["pending"]) == ("dp", 1.0, False)
    assert not (tmp_path / "w").exists()
    labelled = guaranteed(tmp_path, *known, "--labels", "12")
    assert labelled["noise"]["votes"]["sigma"] > plain["noise"]["votes"]["sigma"]
    assert len(labelled["events"]) == len(plain["events"]) + 1
    assert labelled["accounting"]["epsilon_pld"] <= 1.0 + 1e-9
    capped = guaranteed(tmp_path, *known, "--unit", "source", "--cap", "5")
    assert capped["noise"]["votes"]["sigma"] == pytest.approx(58.0, abs=0.1)


@needs("rpsg")
def test_the_sentence_of_rpsg(tmp_path):
    printed = guaranteed(tmp_path, "--method", "rpsg", "--epsilon", "4", "--units", "8948")
    assert printed["kind"] == "selection-only"
    assert any(level["sigma"] == pytest.approx(1.20, abs=0.005) for level in printed["noise"].values())


@needs("aug-pe")
def test_past_the_limit_ends_with_status_2(imported):
    workspace, corpus = imported
    run(workspace, "ledger", corpus, "--set-limit", 2, 1e-4)
    asked = ["--method", "aug-pe", "--delta", "1e-4"]
    planned = run(workspace, "plan", corpus, *asked, "--epsilon", "5")
    assert planned["what_if"]["sentence"] in planned["blockers"]
    message = run(workspace, "synthesize", corpus, *asked, "--epsilon", "5", "--no-wait", expect=2)
    assert message.strip() == planned["what_if"]["sentence"]
    assert run(workspace, "runs") == {"runs": []}
    fits = run(workspace, "plan", corpus, *asked, "--epsilon", "1")
    assert fits["blockers"] == []
    assert "signal-to-noise ratio" in fits["advice"][0]


def test_the_ledger_is_json_of_finite_numbers(imported):
    workspace, corpus = imported
    assert "NaN" not in json.dumps(run(workspace, "ledger", corpus))


def test_a_restored_ledger_asks_for_what_was_spent_since(imported, tmp_path):
    workspace, corpus = imported
    run(workspace, "backup", tmp_path / "b.zip")
    again = tmp_path / "again"
    run(again, "restore", tmp_path / "b.zip")
    fresh = run(again, "ledger", corpus)
    assert fresh["unknown_since"]
    assert "at least" in fresh["sentence"]
    asked = ("--method", "aug-pe", "--epsilon", 1, "--set", "labels=public", "--no-wait")
    assert "--spent-since" in run(again, "synthesize", corpus, *asked, expect=2)
    entered = run(again, "ledger", corpus, "--spent-since", 1.5, 1e-6)
    assert entered["unknown_since"] is None
    assert entered["lines"][-1]["kind"] == "declared"
    assert entered["share"] > 0


def test_a_rolled_back_workspace_is_refused_and_accepted(tmp_path):
    workspace = tmp_path / "w"
    (tmp_path / "a.csv").write_text("text\n" + "\n".join(f"short note number {i} about soup" for i in range(30)))
    corpus = run(workspace, "import", tmp_path / "a.csv", "--text", "text")["corpus"]
    from engine import open_workspace

    opened = open_workspace(workspace, "test")
    opened.jobs.stop_worker()
    opened.session.db.truncate_log()
    old = (workspace / "understudy.sqlite").read_bytes()
    opened.audit.note("looked")
    opened.close()
    for name in ("understudy.sqlite-wal", "understudy.sqlite-shm"):
        (workspace / name).unlink(missing_ok=True)
    (workspace / "understudy.sqlite").write_bytes(old)
    found = run(workspace, "ledger", "--accept-rollback")
    assert found["populations"] == 1
    assert found["lines_missing"]["audit"] >= 1
    assert run(workspace, "ledger", corpus)["lines"][-1]["kind"] == "unknown"


def test_people_are_joined_on_the_command_line(tmp_path):
    workspace = tmp_path / "w"
    (tmp_path / "a.csv").write_text("text\n" + "\n".join(f"short note number {i} about soup" for i in range(30)))
    corpus = run(workspace, "import", tmp_path / "a.csv", "--text", "text")["corpus"]
    (tmp_path / "b.csv").write_text(
        "text\n" + "\n".join(f"a quite different line, {i}, about ships" for i in range(30))
    )
    other = run(workspace, "import", tmp_path / "b.csv", "--text", "text")["corpus"]
    assert run(workspace, "ledger", other)["population"] != run(workspace, "ledger", corpus)["population"]
    joined = run(workspace, "ledger", other, "--same-people-as", corpus)
    assert joined["population"] == run(workspace, "ledger", corpus)["population"]
    (tmp_path / "c.csv").write_text("text\n" + "\n".join(f"third kind of thing, {i}, on trees" for i in range(30)))
    third = run(workspace, "import", tmp_path / "c.csv", "--text", "text", "--same-people-as", corpus)["corpus"]
    assert run(workspace, "ledger", third)["population"] == joined["population"]


def test_the_audit_log_leaves_as_a_file_and_is_held_against_it(tmp_path):
    from engine import open_workspace

    (tmp_path / "a.csv").write_text("text\n" + "\n".join(f"note {i} about soup" for i in range(20)))
    run(tmp_path / "w", "import", tmp_path / "a.csv", "--text", "text")
    run(tmp_path / "w", "audit", "--export", tmp_path / "log.json")
    checked = run(tmp_path / "w", "audit", "--verify", "--against", tmp_path / "log.json")
    assert checked["ok"]
    assert checked["head"]["line"] == checked["lines"]
    assert "exists already" in run(tmp_path / "w", "audit", "--export", tmp_path / "log.json", expect=1)
    assert "json, csv" in run(tmp_path / "w", "audit", "--export", tmp_path / "log.txt", expect=1)
    assert "goes with --verify" in run(tmp_path / "w", "audit", "--against", tmp_path / "log.json", expect=1)
    other = tmp_path / "other"
    assert "are not in the log" in run(other, "audit", "--verify", "--against", tmp_path / "log.json", expect=2)
    open_workspace(tmp_path / "w", "test").jobs.stop_worker()
