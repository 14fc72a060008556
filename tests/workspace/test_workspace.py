"""The facade: lazy, complete, typed."""

import inspect
import subprocess
import sys
import time
from pathlib import Path

import pytest

import engine
from engine.errors import NotFoundError, StorageError, UserError

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("torch", "transformers", "spacy", "presidio_analyzer", "sentence_transformers", "umap", "mauve", "numba")
FACADE = """
preview import_corpus import_sample samples corpora corpus statistics rename_corpus delete_corpus records
detector_settings set_detector_settings detect use_gold span_counts review_queue record_spans record_text redacted
same_value unmarked_places accept_same
decide decide_alike add_span undo values decide_values mark_reviewed residual_risk gold_evaluation
methods models guarantee plan synthesize runs run cancel resume delete_run job jobs synthetic lineage script
ensure_worker worker_status stop_worker examine findings table compare approve approve_all_pending approval_counts
policies gate release release_file releases audit verify_audit backup doctor doctor_bundle setting set_setting
""".split()


def test_the_public_names_are_sorted_and_there():
    assert engine.__all__ == sorted(engine.__all__)
    assert {name for name in engine.__all__ if hasattr(engine, name)} == set(engine.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = engine.nothing


@pytest.mark.parametrize("name", FACADE)
def test_the_facade_is_complete_and_annotated(name):
    method = getattr(engine.Workspace, name)
    assert inspect.getdoc(method)
    signature = inspect.signature(method)
    assert signature.return_annotation is not inspect.Signature.empty
    assert [p for p in list(signature.parameters.values())[1:] if p.annotation is inspect.Parameter.empty] == []


def test_opening_a_workspace_is_quick_and_loads_nothing_heavy(tmp_path):
    script = (
        "import time, sys; t = time.perf_counter(); import engine; first = time.perf_counter() - t\n"
        "from pathlib import Path\n"
        "w = engine.open_workspace(Path(sys.argv[1])); w.corpora(); w.runs(); w.jobs(); w.policies(); w.methods()\n"
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
    assert workspace.setting("domain", "generic") == "generic"
    workspace.set_setting("domain", {"name": "clinical", "n": [1, None]})
    workspace.set_setting("domain", {"name": "legal"})
    assert engine.open_workspace(workspace_path).setting("domain", None) == {"name": "legal"}
    with pytest.raises(UserError, match="JSON"):
        workspace.set_setting("domain", object())


def test_an_actor_needs_a_name(workspace_path):
    with pytest.raises(UserError, match="actor"):
        engine.open_workspace(workspace_path, actor=" ")


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(StorageError, match="--workspace"):
        engine.open_workspace(tmp_path / "x")


def test_a_missing_release_is_not_found(workspace_path):
    workspace = engine.open_workspace(workspace_path)
    assert workspace.releases() == []
    with pytest.raises(NotFoundError):
        workspace.release_file("rel-none", "records.csv")


def test_the_folder_comes_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("UNDERSTUDY_WORKSPACE", str(tmp_path / "env"))
    begun = time.perf_counter()
    assert engine.open_workspace().path == tmp_path / "env"
    assert time.perf_counter() - begun < 5
