"""Whoever appends decisions or changes marks writes the audit line that tells of them in the same transaction.

At run time `Database.write` refuses a transaction that leaves something untold, where a test goes through it; this
reads the code, so that a path no test takes is found too. Functions are matched by name.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = [*(ROOT / "engine" / "store").rglob("*.py"), *(ROOT / "engine" / "jobs").rglob("*.py")]
APPENDS = {("chained", "append"), ("marks", "add"), ("marks", "decided"), ("marks", "watched"), ("", "watched")}
TELLS = {("decisions", "note"), ("chained", "told"), ("decided", "told"), ("", "told")}
SCHEMA = "engine.store.database.schema"
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> list[tuple[Path, Function]]:
    return [
        (path, node)
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, Function) and path.name != "marks.py"
    ]


def calls(node: ast.AST) -> set[tuple[str, str]]:
    """Return what is called, each as the plain name before the dot, and the name."""
    made = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            before = part.func.value
            made.add((before.id if isinstance(before, ast.Name) else ".", part.func.attr))
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
            made.add(("", part.func.id))
    return made


def writes(node: Function) -> bool:
    """Say whether a function opens a transaction that writes."""
    return any(
        isinstance(item.context_expr, ast.Call) and isinstance(item.context_expr.func, ast.Attribute)
        and item.context_expr.func.attr in ("write", "batch")
        for part in ast.walk(node) if isinstance(part, ast.With) for item in part.items
    )  # fmt: skip


def closure(start: set[tuple[str, str]], known: list[tuple[Path, Function]]) -> set[int]:
    """Return the functions that call one of these, by themselves or through each other."""
    names, inside, grown = set(start), set[int](), True
    while grown:
        grown = False
        for path, node in known:
            if id(node) not in inside and calls(node) & names:
                inside.add(id(node))
                names |= {("", node.name), (path.stem, node.name), ("self", node.name)}
                grown = True
    return inside


def test_every_transaction_that_appends_decisions_or_changes_marks_tells_of_it():
    known = functions()
    appending, telling = closure(APPENDS, known), closure(TELLS, known)
    named = {node.name for _, node in known if id(node) in appending}
    assert {"apply", "undo", "record_added", "mark_reviewed", "add_spans", "take", "_mark", "keep"} <= named
    untold = [
        f"{path.relative_to(ROOT)}: {node.name}" for path, node in known
        if id(node) in appending and writes(node) and id(node) not in telling
    ]  # fmt: skip
    assert untold == []
    opening = {node.name for _, node in known if id(node) in appending and writes(node)}
    assert {"decide", "decide_alike", "accept_same", "take", "undo", "mark_reviewed", "use_gold", "adopt"} <= opening


def test_what_appends_and_does_not_tell_is_seen(tmp_path):
    body = "def act(self):\n    with self.db.write() as c:\n        chained.append(c, k, i, [])\n"
    (node,) = ast.parse(body).body
    assert isinstance(node, ast.FunctionDef)
    known: list[tuple[Path, Function]] = [(tmp_path / "made.py", node)]
    assert closure(APPENDS, known) == {id(node)}
    assert writes(node)
    assert closure(TELLS, known) == set()


def test_nobody_else_writes_decisions():
    """Rows of `decisions` are inserted in `chained` alone, and changed there where an earlier edition's are chained."""
    found = set()
    for path in FILES:
        text = path.read_text("utf-8")
        imports = (part for part in ast.walk(ast.parse(text)) if isinstance(part, ast.ImportFrom))
        for alias in (alias for part in imports if part.module == SCHEMA for alias in part.names):
            name = alias.asname or alias.name
            written = rf"\b{name}\.(insert|update|delete)\(|\w\({name}\)\.values"
            if alias.name == "decisions" and (re.search(written, text) or f"update({name})" in text):
                found.add(path.name)
    assert found == {"chained.py"}


def writing(table: str, *verbs: str) -> set[str]:
    """Return the files in which rows of a table are written by one of these verbs, by SQLAlchemy or in SQL."""
    found = set()
    for path in FILES:
        text = path.read_text("utf-8")
        imports = (part for part in ast.walk(ast.parse(text)) if isinstance(part, ast.ImportFrom))
        names = {alias.asname or alias.name for part in imports if part.module == SCHEMA for alias in part.names
                 if alias.name == table}  # fmt: skip
        for name, verb in ((name, verb) for name in names for verb in verbs):
            said = rf"\b{name}\.{verb}\(|\b{verb}\({name}\)|\b{verb}\(connection, {name}\)"
            if re.search(said, text):
                found.add(path.name)
        if "update" in verbs and re.search(rf"\b(UPDATE|INSERT INTO|DELETE FROM) {table}\b", text):
            found.add(path.name)
    return found


def test_runs_and_their_texts_are_put_in_by_chained_alone():
    assert writing("runs", "insert") == writing("synthetic", "insert") == {"chained.py"}
    assert writing("findings", "insert", "update", "delete") == {"examinations.py"}


def test_approvals_and_risks_are_written_where_the_sum_is_watched_alone():
    assert writing("synthetic", "update") == {"runs.py", "examinations.py"}
    for name, times in (("runs.py", 2), ("examinations.py", 1)):
        text = (ROOT / "engine" / "store" / "runs" / name).read_text("utf-8")
        assert len(re.findall(r"update\(synthetic\)|UPDATE synthetic", text)) == times
        assert text.count("with chained.watched(") == times
        assert text.count("chained.told(") == times


def test_rows_whose_lines_tell_of_them_are_put_in_by_rows_alone():
    from engine.store.logs.rows import COUNTED_LATER, KINDS, NOT_HELD

    tables = {kind.table.name for kind in KINDS if not kind.before}
    shared = [kind for kind in KINDS if kind.before]
    assert [kind.table.name for kind in shared] == ["settings"], "a part of a table that others write to as well"
    answers = (ROOT / "engine" / "store" / "runs" / "assessments.py").read_text("utf-8")
    assert not re.search(r"insert\(|settings\.(insert|update|delete)|update\(settings\)", answers)
    assert {name for name in tables if writing(name, "insert")} == set()
    assert {name for name in tables if writing(name, "update")} == set(NOT_HELD), "others never change"
    assert changed_columns("releases") == set(NOT_HELD["releases"])
    assert changed_columns("corpora") <= {*NOT_HELD["corpora"], "statistics"}
    profile = (ROOT / "engine" / "jobs" / "tasks" / "profile.py").read_text("utf-8")
    assert f"replace(stored, {COUNTED_LATER}=found)" in profile, "of a corpus' statistics nothing else changes"


def changed_columns(table: str) -> set[str]:
    """Return the columns of a table that the program gives other values to."""
    found = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "values"):
                continue
            if f"update({table})" in ast.unparse(node.func.value):
                assert all(one.arg for one in node.keywords), path
                found |= {str(one.arg) for one in node.keywords}
    return found


def test_whoever_ends_a_job_says_so_of_the_run_that_it_made():
    ending = {node.name for _, node in functions() if ("queue", "finish") in calls(node)}
    assert ending == {"_end", "_stopped"}, "the one that tells, and the one that cancels"
    (end,) = [node for path, node in functions() if node.name == "_end" and path.name == "worker.py"]
    assert ("chained", "end") in calls(end)
