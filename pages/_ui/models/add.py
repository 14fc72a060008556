"""Adding language models: a folder on this machine, or a server.

Privacy posture: a key is typed into a password field, handed to the engine and cleared from the session at once.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

import engine
from pages._ui.models.chosen import choose
from pages._ui.models.language import ASKED, size
from pages._ui.states import act, notice
from pages._ui.texts import count_of, number, plain

FORM = "models.add"
AUTO = "auto"
PROMPTS = {AUTO: "As the model suggests", "instruct": "Instructions", "plain": "Text to continue",
           "builtin": "Control tokens of the built-in model"}  # fmt: skip
APIS = {"chat": "Chat", "completions": "Completions"}
KEYS = {"none": "No key", "file": "Typed here", "environment": "In an environment variable"}


def folder(workspace: engine.Workspace) -> None:
    """Offer to import a model folder: look at it first, then copy it."""
    st.markdown(
        "For a machine without a network: bring the model's folder on a disk, name it here. The files are copied "
        "into the workspace; backups leave them out."
    )
    path = st.text_input(
        "Folder on this machine", key=f"{FORM}.folder", placeholder="/media/disk/model",
        help="The folder with config.json, the tokenizer and *.safetensors.",
    )  # fmt: skip
    if not path.strip():
        return
    try:
        facts = workspace.models.inspect(Path(path.strip()))
    except engine.UserError as error:
        st.error(plain(str(error)), icon=":material/block:")
        return
    st.success(
        f"{plain(facts.architecture)}, {number(facts.parameters / 1e6, 1)} million numbers, {size(facts.bytes)}, reads "
        f"{number(facts.context)} tokens. Licence: {plain(facts.licence)}. {ASKED[facts.prompts]}",
        icon=":material/check_circle:",
    )
    if facts.left_out:
        st.caption(f"{count_of(len(facts.left_out), 'file')} that it does not need will stay where they are.")
    left, right = st.columns(2)
    suggested = "".join(c if c.isalnum() or c in "._-" else "-" for c in Path(path.strip()).name.lower()).strip("-._")
    left.text_input("Name here", value=suggested[:40], key=f"{FORM}.name", max_chars=40)
    right.selectbox("How it is asked", list(PROMPTS), format_func=PROMPTS.__getitem__, key=f"{FORM}.prompts")
    st.button(
        f"Import {size(facts.bytes)}", type="primary", icon=":material/download:", key=f"{FORM}.import",
        on_click=_import, args=(workspace,),
    )  # fmt: skip


def _import(workspace: engine.Workspace) -> None:
    chosen = st.session_state[f"{FORM}.prompts"]
    info = act(
        workspace.models.import_folder,
        Path(str(st.session_state[f"{FORM}.folder"]).strip()),
        str(st.session_state[f"{FORM}.name"]),
        None if chosen == AUTO else chosen,
    )
    if info is not None:
        choose(info.id)
        notice(f"{info.id} was imported. Test it once before the first run.")
        st.session_state[f"{FORM}.folder"] = ""


def server(workspace: engine.Workspace) -> None:
    """Offer to keep an OpenAI-compatible server."""
    st.markdown(
        "vLLM, TGI, llama.cpp, Ollama and others that speak as OpenAI's service does. A server on this machine can be "
        "used at once. One on another machine needs https, and your written consent for each corpus. Nothing is "
        "connected from this page."
    )
    left, right = st.columns(2)
    left.text_input("Name here", key=f"{FORM}.s.name", max_chars=40, placeholder="ward-server")
    right.text_input("Address", key=f"{FORM}.s.url", placeholder="http://127.0.0.1:8000/v1")
    left.text_input("Model's name at the server", key=f"{FORM}.s.model", placeholder="mistral-7b-instruct")
    right.selectbox("Kind of requests", list(APIS), format_func=APIS.__getitem__, key=f"{FORM}.s.api")
    source = left.selectbox("Key", list(KEYS), format_func=KEYS.__getitem__, key=f"{FORM}.s.source")
    if source == "file":
        right.text_input(
            "The key", type="password", key=f"{FORM}.s.key", autocomplete="off",
            help="Kept in a file that only you can read (mode 600), outside database, logs, manifests and backups.",
        )  # fmt: skip
    elif source == "environment":
        right.text_input("Name of the variable", key=f"{FORM}.s.variable", placeholder="MODEL_KEY",
                         help="Set where the program is started; the key itself is stored nowhere.")  # fmt: skip
    with st.expander("Limits, prices and details", key=f"{FORM}.s.more"):
        _details()
    st.button("Keep this server", type="primary", icon=":material/dns:", key=f"{FORM}.server", on_click=_server,
              args=(workspace,))  # fmt: skip


def _details() -> None:
    st.text_input(
        "Further servers of the same model", key=f"{FORM}.s.replicas",
        placeholder="http://127.0.0.1:8001/v1, http://127.0.0.1:8002/v1",
        help="They share the load, and stand in for one another when one is down. Each must hold the same model under "
        "the same name; the key is sent to all of them, and a consent names all of them.",
    )  # fmt: skip
    left, right = st.columns(2)
    left.number_input(
        "Requests at once", 1, 512, 4, key=f"{FORM}.s.concurrency",
        help="At each server. One with continuous batching, such as vLLM, is fastest with hundreds.",
    )  # fmt: skip
    right.number_input("Requests a minute at most (0: no limit)", 0, 100_000, 0, key=f"{FORM}.s.requests_per_minute")
    left.number_input("Seconds to wait for one answer", 1, 3600, 120, key=f"{FORM}.s.timeout_seconds")
    right.number_input("Attempts for one request", 1, 10, 5, key=f"{FORM}.s.tries",
                       help="Between attempts it waits longer each time, or as long as the server asks.")  # fmt: skip
    left.number_input("Price of a million tokens read", 0.0, 1e6, 0.0, key=f"{FORM}.s.price_in")
    right.number_input("Price of a million tokens written", 0.0, 1e6, 0.0, key=f"{FORM}.s.price_out")
    left.selectbox("How it is asked", list(PROMPTS), format_func=PROMPTS.__getitem__, key=f"{FORM}.s.prompts")
    right.number_input("Tokens it reads at most", 64, 10_000_000, 4096, key=f"{FORM}.s.context")
    left.text_input("Licence", key=f"{FORM}.s.licence", max_chars=60)
    right.checkbox("Takes top_k and min_tokens as vLLM does", key=f"{FORM}.s.extended", wrap=True)


NUMBERS = ("concurrency", "requests_per_minute", "timeout_seconds", "tries", "price_in", "price_out", "context")


def _server(workspace: engine.Workspace) -> None:
    def field(name: str) -> object:
        return st.session_state.get(f"{FORM}.s.{name}")

    values: dict[str, object] = {name: field(name) for name in (*NUMBERS, "extended") if field(name) is not None}
    chosen = field("prompts")
    values |= {
        "name": str(field("name") or "").strip(), "url": str(field("url") or ""), "model": str(field("model") or ""),
        "api": field("api"), "key_source": field("source"), "key_variable": str(field("variable") or "").strip(),
        "replicas": str(field("replicas") or ""),
        "prompts": "" if chosen in (None, AUTO) else chosen, "licence": str(field("licence") or "").strip(),
    }  # fmt: skip
    key = str(field("key") or "")
    if f"{FORM}.s.key" in st.session_state:
        st.session_state[f"{FORM}.s.key"] = ""
    info = act(workspace.models.add_endpoint, values, key if values["key_source"] == "file" else None)
    if info is not None:
        choose(info.id)
        notice(f"{info.id} is kept. " + ("Test it once." if info.local else "Give a consent before it is used."))
        for name in ("name", "url", "model", "replicas"):
            st.session_state[f"{FORM}.s.{name}"] = ""
