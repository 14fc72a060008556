"""Models as cards: what each does here, its size, licence, where it lies, and a self-test of its files.

The self-test reads files in this process; no model is loaded here, that is the worker's part.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import streamlit as st

import engine
from engine.models.builtin import minilm
from pages._ui.models import language as models_language
from pages._ui.texts import number, plain

TITLES = {
    "builtin": "Built-in language model",
    "builtin-tagger": "Built-in tagger",
    "builtin-sentiment": "Built-in sentiment classifier",
    "encoder": "Sentence encoder",
}
ICONS = {"language model": "edit_note", "tagger": "sell", "encoder": "hub"}
CAPABILITIES = {
    "tagger": ("marks names, places, organisations, dates",),
    "encoder": ("turns text into vectors", "base of the tagger"),
}
EXPECTED = ("builtin", "builtin-tagger", "encoder")
RESULTS = "models.tested"
BYTES_A_PARAMETER = 4  # the worker computes with 32-bit numbers


def known(workspace: engine.Workspace) -> list[dict[str, Any]]:
    """Return the built-in models and the encoder they build on; a missing one says so."""
    found = {model["id"]: model for model in [*workspace.models.built_in(), *_encoder()]}
    missing = [{"id": model_id, "missing": True} for model_id in EXPECTED if model_id not in found]
    return [*found.values(), *missing]


def _encoder() -> list[dict[str, Any]]:
    try:
        folder = minilm.packaged_folder()
        weights = folder / minilm.WEIGHTS
        size = weights.stat().st_size
    except (engine.UserError, OSError):
        return []
    return [
        {
            "id": "encoder",
            "kind": "encoder",
            "use": "similarity, the map of texts, base of the tagger (all-MiniLM-L6-v2)",
            "bytes": size,
            "parameters": _header(weights)[0],
            "licence": "Apache-2.0",
            "folder": str(folder),
            "sha256": minilm.SHA256,
        }
    ]


def card(model: dict[str, Any], workspace: engine.Workspace | None = None) -> None:
    """Draw one built-in model; with a workspace, also what the worker found when it tested it."""
    name = TITLES.get(model["id"], str(model["id"]))
    with st.container(border=True, key=f"models.card.{model['id']}"):
        if model.get("missing"):
            st.markdown(f":material/error: **{plain(name)}**")
            st.error("Not on this machine. Install the application again.", icon=":material/error:")
            return
        st.markdown(f":material/{ICONS.get(model['kind'], 'memory')}: **{plain(name)}** · {plain(model['use'])}")
        with st.container(horizontal=True):
            if workspace is None:
                for word in CAPABILITIES.get(model["kind"], ()):
                    st.badge(word, color="gray")
        if workspace is not None:
            models_language.capabilities(workspace.models.info(model["id"]))
        memory = model["parameters"] * BYTES_A_PARAMETER
        left, middle, right = st.columns(3)
        left.metric("On disk", _size(model["bytes"]))
        middle.metric("Memory in the worker", f"about {_size(memory)}", help="Numbers alone, without the text at work.")
        right.metric("Numbers in it", _millions(model["parameters"]))
        st.markdown(f"Licence: {plain(model['licence'])}. Works without a network.")
        with st.expander("Where it lies and its checksum", key=f"models.where.{model['id']}"):
            st.code(f"{model['folder']}\nSHA-256 {model['sha256']}", language=None, wrap_lines=True)
        _result(model["id"])
        if workspace is not None:
            models_language.self_test(workspace, model["id"])


def _result(model_id: str) -> None:
    answer = st.session_state.get(RESULTS, {}).get(model_id)
    if answer is not None:
        ok, sentence = answer
        (st.success if ok else st.error)(plain(sentence), icon=":material/check_circle:" if ok else ":material/error:")


def test_all(workspace: engine.Workspace) -> None:
    """Check every model's files and keep the answers for this session."""
    st.session_state[RESULTS] = {m["id"]: check(m) for m in known(workspace) if not m.get("missing")}


def check(model: dict[str, Any]) -> tuple[bool, str]:
    """Return whether a model's files are whole and as expected, and a sentence."""
    try:
        if model["id"] == "encoder":
            minilm.check_weights.cache_clear()
            minilm.check_weights(Path(model["folder"]))
            return True, "The weights are the published ones, bit by bit."
        files = sorted(Path(model["folder"]).glob("*.safetensors"))
        for weights in files:
            parameters, length = _header(weights)
            if length != weights.stat().st_size:
                return False, f"{weights.name} is cut off or has grown. Install the application again."
            if not parameters:
                return False, f"{weights.name} holds no numbers. Install the application again."
        if hashlib.sha256(files[0].read_bytes()).hexdigest() != model["sha256"]:
            return False, "The weights changed while the application was running. Install it again."
    except (engine.UserError, OSError, ValueError, KeyError, IndexError):
        return False, "The weights cannot be read. Install the application again."
    return True, "The weights are whole and in the safe format (safetensors)."


def _header(weights: Path) -> tuple[int, int]:
    """Return the number of values in a safetensors file and the length in bytes its header promises."""
    with weights.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    entries = [entry for name, entry in header.items() if name != "__metadata__"]
    values = 0
    for entry in entries:
        count = 1
        for side in entry["shape"]:
            count *= side
        values += count
    return values, 8 + size + max((entry["data_offsets"][1] for entry in entries), default=0)


def _size(count: int) -> str:
    if count < 1e5:
        return f"{number(count / 1e3, 1)} kB"
    return f"{number(count / 1e6, 0 if count >= 1e7 else 1)} MB"


def _millions(count: int) -> str:
    if count < 1e5:
        return number(count)
    return f"{count / 1e6:.1f} million"
