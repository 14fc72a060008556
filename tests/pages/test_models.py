"""The models page: what is here, what is missing, and a self-test that notices damage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.jobs.models.built_in import BuiltInModel, check_files, header
from pages._ui.models import cards as models_cards
from pages._ui.plan.words import names


def words(app, *kinds: str) -> str:
    return "\n".join(str(e.value) for kind in kinds for e in getattr(app, kind))


def test_every_model_has_a_card(empty, visit):
    app = visit("models")
    for model_id in models_cards.EXPECTED:
        assert app.container(key=f"models.card.{model_id}").markdown
    shown = words(app, "markdown", "code")
    assert "Apache-2.0" in shown
    assert "SHA-256" in shown


def test_a_verdict_says_what_for_in_which_language_and_with_which_methods(empty, visit):
    from dataclasses import replace

    from engine.jobs.models.verdict import verdict
    from engine.methods import methods
    from engine.models.catalogue import CAPABILITIES
    from engine.workspace import open_workspace

    app = visit("models")
    workspace = open_workspace(empty)
    info, specs = workspace.models.info("builtin"), [method.spec for method in methods()]
    workspace.close()
    said = verdict(info, specs, names())
    assert said in words(app, "markdown")
    assert "English text alone" in said
    needing = [spec for spec in specs if "generator" in spec.needs]
    assert f"of the {len(needing)} methods" in said
    weak = verdict(replace(info, capabilities=frozenset()), specs)
    unfit = [spec for spec in needing if CAPABILITIES.keys() & {*spec.needs}]
    assert unfit
    assert f"Works with {len(needing) - len(unfit)} of the {len(needing)} methods" in weak
    assert f"not with {unfit[0].title}" in weak
    assert "until its files are put right" in verdict(replace(info, problem="damaged"), specs)


def test_self_test_passes_on_what_is_installed(empty, visit):
    app = visit("models")
    app.button(key="models.test").click().run(timeout=60)
    assert not app.exception
    assert "bit by bit" in words(app, "success")


def write_weights(folder: Path, *, extra: bytes = b"") -> BuiltInModel:
    import hashlib

    header = json.dumps({"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}).encode()
    data = len(header).to_bytes(8, "little") + header + b"\0" * 24 + extra
    (folder / "model.safetensors").write_bytes(data)
    return BuiltInModel(
        "builtin", "language model", "tests", 6, len(data), "", str(folder), hashlib.sha256(data).hexdigest()
    )


def test_whole_file_passes(tmp_path):
    assert check_files(write_weights(tmp_path))[0]
    assert header(tmp_path / "model.safetensors")[0] == 6


@pytest.mark.parametrize(
    "damage",
    [
        lambda p: p.write_bytes(p.read_bytes()[:-4]),  # cut off
        lambda p: p.write_bytes(p.read_bytes() + b"x"),  # grown
        lambda p: p.write_bytes(b"\x05"),  # no header
        lambda p: p.write_bytes(p.read_bytes()[:-1] + b"\x01"),  # one number changed
        lambda p: p.unlink(),
    ],
)
def test_damage_is_noticed(tmp_path, damage):
    model = write_weights(tmp_path)
    damage(tmp_path / "model.safetensors")
    ok, sentence = check_files(model)
    assert not ok
    assert sentence.endswith("nstall the application again.") or "Install it again" in sentence


def test_a_missing_model_says_so(empty, visit, monkeypatch):
    import engine.models.builtin.shipped

    monkeypatch.setattr(engine.models.builtin.shipped, "ASSETS", empty / "nowhere")
    app = visit("models")
    assert words(app, "error").count("Not on this machine") == 2


def test_what_measures_meaning_is_chosen_and_a_model_for_the_language_named(empty, visit, tmp_path):
    from engine.workspace import open_workspace

    app = visit("models")
    assert "for measuring meaning" not in words(app, "caption")
    app.selectbox(key="models.meaning.choice").select("ngrams").run()
    workspace = open_workspace(empty)
    assert workspace.models.embedder() == "ngrams"
    app.selectbox(key="models.suggested.language").select("et").run()
    assert "paraphrase-multilingual-MiniLM-L12-v2" in words(app, "caption")
    app.selectbox(key="models.meaning.choice").select("folder").run()
    app.text_input(key="models.meaning.folder").set_value(str(tmp_path)).run()
    app.button(key="models.meaning.use").click().run()
    assert not app.exception
    assert "lacks config.json, modules.json, model.safetensors" in words(app, "error", "warning", "markdown")
    assert workspace.models.embedder() == "ngrams"
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_text("{}")
    (tmp_path / "modules.json").write_text("[]")
    app.button(key="models.meaning.use").click().run()
    assert workspace.models.embedder() == str(tmp_path)
    workspace.close()
