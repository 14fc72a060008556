"""`workspace copy` and `--workspace postgresql://…` on the command line."""

import json

import pytest

from engine.__main__ import main
from engine.store.store import Store


def test_a_workspace_is_moved_and_the_old_one_is_closed(tmp_path, capsys):
    store = Store(tmp_path / "a", actor="tester")
    store.audit.note("looked")
    store.close()
    assert main(["workspace", "copy", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["audit"] == 1
    assert json.loads(told.out)["workspace"] == str(tmp_path / "b")
    assert ".moved" in told.err
    assert main(["--workspace", str(tmp_path / "a"), "audit"]) == 1
    assert main(["--workspace", str(tmp_path / "b"), "audit", "--verify"]) == 0


def test_what_cannot_be_moved_is_a_sentence(tmp_path, capsys):
    assert main(["workspace", "copy", str(tmp_path / "none"), str(tmp_path / "b")]) == 1
    assert "holds no workspace" in capsys.readouterr().err
    assert main(["workspace", "copy", str(tmp_path), "postgresql://anna@host/x"]) == 1
    assert "need a folder" in capsys.readouterr().err


@pytest.mark.parametrize("where", ["before", "after"])
def test_an_address_with_a_password_is_refused_and_not_repeated(tmp_path, capsys, where):
    given = ["--workspace", f"postgresql://anna:hunter2@host/x?folder={tmp_path / 'w'}"]
    with pytest.raises(SystemExit) as ended:
        main([*given, "audit"] if where == "before" else ["audit", *given])
    told = capsys.readouterr()
    assert ended.value.code == 1
    assert "PGPASSFILE" in told.err
    assert "hunter2" not in told.out + told.err
    assert not (tmp_path / "w").exists()
