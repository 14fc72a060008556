"""Digests of weights that renaming, splitting, re-saving and widening do not change; marks that damage cannot hide."""

import json

import pytest
import torch
from safetensors.torch import save_file

from engine.errors import UserError
from engine.models.marks import KEY, Mark, read_marks, weight_digests, workspace_above, write_marks


def saved(folder, tensors, name="model.safetensors", **metadata):
    folder.mkdir(exist_ok=True)
    save_file({k: v.contiguous() for k, v in tensors.items()}, folder / name, metadata=metadata or None)
    return folder


@pytest.fixture
def tensors():
    made = torch.Generator().manual_seed(3)
    return {f"layer.{i}": torch.randn(64, 16, generator=made).bfloat16() for i in range(5)}


def test_the_same_weights_have_the_same_digests_however_they_are_saved(tmp_path, tensors):
    found = weight_digests(saved(tmp_path / "a", tensors))
    assert len(found) == 5
    assert weight_digests(saved(tmp_path / "b", {f"x{i}": t for i, t in enumerate(tensors.values())})) == found
    assert weight_digests(saved(tmp_path / "c", tensors, "other.safetensors", format="pt", note="x")) == found
    assert weight_digests(saved(tmp_path / "d", {k: v.float() for k, v in tensors.items()})) == found
    assert weight_digests(saved(tmp_path / "e", {k: v.double() for k, v in tensors.items()})) == found
    half = dict(list(tensors.items())[:2])
    saved(tmp_path / "f", half)
    assert (
        weight_digests(saved(tmp_path / "f", {k: v for k, v in tensors.items() if k not in half}, "2.safetensors"))
        == found
    )


def test_weights_of_32_bits_are_found_again_when_narrowed(tmp_path):
    wide = {"w": torch.randn(200, 30)}
    narrow = {"w": wide["w"].bfloat16()}
    assert weight_digests(saved(tmp_path / "a", wide)) == weight_digests(saved(tmp_path / "b", narrow))


def test_one_value_more_or_less_is_another_tensor(tmp_path, tensors):
    found = weight_digests(saved(tmp_path / "a", tensors))
    changed = {k: v.clone() for k, v in tensors.items()}
    changed["layer.2"][0, 0] += 1.0
    other = weight_digests(saved(tmp_path / "b", changed))
    assert len(found & other) == 4
    assert weight_digests(saved(tmp_path / "c", {"small": torch.ones(100)})) == frozenset()


def test_a_file_that_holds_no_tensors_is_refused(tmp_path):
    for number, data in enumerate([b"", b"x" * 40, b"\x10" + b"\0" * 7 + b'{"a": {"dtype": "F32"}}', b"\xff" * 8]):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "m.safetensors").write_bytes(data)
        with pytest.raises(UserError, match="not a safetensors file"):
            weight_digests(folder)


@pytest.mark.parametrize("body", ["x", [1], [{"run": 1}], {"run": "r"}, [{"kind": "dp"}]])
def test_a_damaged_mark_counts_as_one_without_a_guarantee(tmp_path, body):
    (tmp_path / "config.json").write_text(json.dumps({KEY: body}))
    assert [mark.bounded for mark in read_marks(tmp_path)] == [False]


def test_marks_are_written_and_read(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "x"}')
    assert read_marks(tmp_path) == ()
    marks = (Mark("r-1", "pop-1", "dp", 2.0, 1e-5, "source", "zero-out"), Mark("r-2", "pop-2", "none"))
    write_marks(tmp_path, marks)
    assert read_marks(tmp_path) == marks
    assert json.loads((tmp_path / "config.json").read_text())["model_type"] == "x"
    assert [mark.bounded for mark in marks] == [True, False]


def test_a_path_inside_a_workspace_is_seen_through_links(tmp_path):
    from engine.store.store import Store

    store = Store(tmp_path / "w")
    (store.path / "runs" / "r-x" / "tuned").mkdir(parents=True)
    (tmp_path / "link").symlink_to(store.path / "runs" / "r-x" / "tuned")
    assert workspace_above(tmp_path / "link") == store.path.resolve()
    assert workspace_above(tmp_path) is None
    store.close()
