"""The facade: lazy, complete, typed."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import engine
from engine.errors import NotFoundError, StorageError, UserError

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("torch", "transformers", "spacy", "presidio_analyzer", "sentence_transformers", "umap", "mauve", "numba")
PARTS = {
    "corpora", "descriptions", "labels", "review", "bulk", "values", "models",
    "hub", "first_look", "prompts", "packs", "pools", "assessments", "people", "signatures", "spot_checks", "intruder",
    "named", "recipes", "plan", "jobs", "runs", "examinations", "studies", "ledger", "releases", "settings", "audit",
    "disk", "doctor", "session",
}  # fmt: skip
MOST_METHODS = 25


def test_the_public_names_are_sorted_and_there():
    assert engine.__all__ == sorted(engine.__all__)
    assert {name for name in engine.__all__ if hasattr(engine, name)} == set(engine.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = engine.nothing


def parts(workspace):
    return {name: value for name, value in vars(workspace).items() if not name.startswith("_")}


def test_a_workspace_is_made_of_parts_and_does_little_itself(workspace_path):
    workspace = engine.open_workspace(workspace_path)
    assert set(parts(workspace)) == PARTS
    own = {name for kind in type(workspace).__mro__[:-1] for name in vars(kind) if not name.startswith("_")}
    assert own == {"acting_as", "visit", "path", "folder", "actor", "close"}
    for name, part in parts(workspace).items():
        assert type(part).__mro__[1:] == (object,), f"{name} inherits methods"
        public = [n for n in vars(type(part)) if not n.startswith("_")]
        assert 0 < len(public) <= MOST_METHODS, (name, len(public))


def test_every_method_of_every_part_is_explained_and_annotated(workspace_path):
    for part in parts(engine.open_workspace(workspace_path)).values():
        for name, member in inspect.getmembers(type(part), callable):
            if name.startswith("_"):
                continue
            assert inspect.getdoc(member), (part, name)
            signature = inspect.signature(member)
            assert signature.return_annotation is not inspect.Signature.empty, (part, name)
            given = [p for p in signature.parameters.values() if p.name != "self"]
            assert [p.name for p in given if p.annotation is inspect.Parameter.empty] == [], (part, name)


def test_opening_a_workspace_is_quick_and_loads_nothing_heavy(tmp_path):
    script = (
        "import time, sys; t = time.perf_counter(); import engine; first = time.perf_counter() - t\n"
        "from pathlib import Path\n"
        "w = engine.open_workspace(Path(sys.argv[1]))\n"
        "w.corpora.all(); w.runs.all(); w.jobs.all(); w.releases.policies(); w.plan.methods()\n"
        f"print(first, [m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "w")], cwd=ROOT, capture_output=True, text=True, check=True
    )
    seconds, loaded = done.stdout.split(" ", 1)
    assert loaded.strip() == "[]"
    assert float(seconds) < 1.0


def test_settings_are_json_by_key(workspace_path):
    workspace = engine.open_workspace(workspace_path)
    assert workspace.settings.get("domain", "generic") == "generic"
    workspace.settings.set("domain", {"name": "clinical", "n": [1, None]})
    workspace.settings.set("domain", {"name": "legal"})
    assert engine.open_workspace(workspace_path).settings.get("domain", None) == {"name": "legal"}
    with pytest.raises(UserError, match="JSON"):
        workspace.settings.set("domain", object())


def test_an_actor_needs_a_name(workspace_path):
    with pytest.raises(UserError, match="actor"):
        engine.open_workspace(workspace_path, actor=" ")


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(StorageError, match="--workspace"):
        engine.open_workspace(tmp_path / "x")


def test_a_missing_release_is_not_found(workspace_path):
    workspace = engine.open_workspace(workspace_path)
    assert workspace.releases.all() == []
    with pytest.raises(NotFoundError):
        workspace.releases.file("rel-none", "records.csv")


def test_the_folder_comes_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("UNDERSTUDY_WORKSPACE", str(tmp_path / "env"))
    assert engine.open_workspace().path == tmp_path / "env"
