"""Language models that were added: cards, self-tests, consents, removal.

How to use: `card(workspace, info)` draws one; `self_test(workspace, model_id)` draws the last test of any model.
The page opens no model and speaks to no server; the worker does.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

import engine
from engine import CAPABILITIES
from pages._ui.current import corpus_names
from pages._ui.language import mark
from pages._ui.models import describe as models_describe
from pages._ui.plan.words import names
from pages._ui.states import act
from pages._ui.texts import number, plain

KINDS = {
    "builtin": (mark("Built-in language model"), "edit_note"),
    "folder": (mark("Imported model"), "folder"),
    "hub": (mark("Model from the hub library's cache"), "folder"),
    "endpoint": (mark("Server"), "dns"),
}
REFUSED = "models.consent.refused"
PRECISIONS = {"": "16 or 32 bit, as this machine is fast in", "8 bit": "8 bit", "4 bit": "4 bit"}
ASKED = {
    "instruct": "Asked with instructions.",
    "plain": "Asked with text to continue; it follows no instructions, so outputs may wander.",
    "builtin": "Asked with the control tokens of the built-in model.",
}


def card(
    workspace: engine.Workspace,
    info: engine.ModelInfo,
    corpus: engine.CorpusSummary | None = None,
    beside: Callable[[], None] | None = None,
) -> None:
    """Draw one model that was added, with its texts for the current corpus' description; `beside` as in `self_test`."""
    title, icon = KINDS[info.back_end]
    with st.container(border=True, key=f"models.card.{info.id}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/{icon}: **{plain(info.id)}** · {title}")
            if info.local:
                st.badge("stays on this machine", color="gray", icon=":material/computer:")
            else:
                st.badge("another machine", color="orange", icon=":material/public:")
        if info.problem:
            st.error(plain(info.problem), icon=":material/error:")
            _precision(workspace, info)
            _remove(workspace, info)
            return
        st.markdown(plain(workspace.models.verdict(info.id, names())))
        if info.source:
            st.caption(f"Fetched from the hub with consent: {plain(info.source)}.")
        if info.saw:
            st.warning(f"This model was {plain(info.saw)}. Claims made with it count that, or are refused.")
        with st.expander("Details: abilities, size, licence", key=f"models.where.{info.id}"):
            _details(info)
        if not info.local:
            consents(workspace, info)
        _precision(workspace, info)
        self_test(workspace, info.id, beside)
        if corpus is not None:
            models_describe.first_texts(workspace, info.id, corpus)
        _remove(workspace, info)


def _details(info: engine.ModelInfo) -> None:
    """Draw what a model can do, its size and where it lies."""
    capabilities(info)
    left, middle, right = st.columns(3)
    if info.back_end == "endpoint":
        left.metric("Model there", info.architecture)
        middle.metric("Host", info.where)
    else:
        small, large = info.memory_bytes
        left.metric("On disk", size(info.bytes))
        middle.metric(
            "Memory at work", f"{size(small)} to {size(large)}",
            help=f"Estimated, weights in {info.precision}." if info.precision
            else "Estimated: 16-bit numbers where the machine is fast in them, else 32-bit ones, and a quarter on top "
            "for the text at work.",
        )  # fmt: skip
    right.metric("Tokens it reads at most", number(info.context))
    st.markdown(f"{ASKED[info.prompts]} Licence: {plain(info.licence)}.")
    if info.back_end != "endpoint":
        st.code(f"{info.where}\nSHA-256 {info.revision}", language=None, wrap_lines=True)


def capabilities(info: engine.ModelInfo) -> None:
    """Draw what a model can do and, in grey words, what it cannot."""
    with st.container(horizontal=True):
        for name, words in CAPABILITIES.items():
            if name in info.capabilities:
                st.badge(words, color="gray")
    missing = [words for name, words in CAPABILITIES.items() if name not in info.capabilities]
    if missing:
        st.caption(f"Not: {'; '.join(missing)}. Methods that need this are refused with it.")


def self_test(workspace: engine.Workspace, model: str, beside: Callable[[], None] | None = None) -> None:
    """Draw the last self-test of a model and the button for the next; `beside` draws what stands beside that."""
    found = workspace.models.last_test(model)
    waiting = found["state"] in ("queued", "running")
    with st.container(horizontal=True, key=f"models.acts.{model}"):
        st.button(
            "Testing" if waiting else "Test it",
            icon=":material/play_circle:",
            key=f"models.try.{model}",
            disabled=waiting,
            on_click=act,
            args=(workspace.models.test, model),
            help="Has the worker open it, write a line, score one, and keep given words out; of a server, it sees "
            "what it follows. No text of yours is used.",
        )
        if beside is not None:
            beside()
    result = found["result"]
    if result is None:
        return
    at = str(result["at"])[:16].replace("T", " ")
    if result["ok"]:
        st.success(f"All {len(result['checks'])} checks passed on {at} (UTC).", icon=":material/check_circle:")
    else:
        st.error(f"A check failed on {at} (UTC).", icon=":material/error:")
    with st.expander("What was tested, with times", expanded=not result["ok"], key=f"models.tested.{model}"):
        _checks(result, model)


def _checks(result: engine.SelfTest, model: str) -> None:
    table = pd.DataFrame(
        [("passed" if c["ok"] else "FAILED", c["name"], c["detail"]) for c in result["checks"]],
        columns=["Result", "Check", "Detail"],
    )
    st.dataframe(
        table, hide_index=True, height="content", alt=f"Self-test of {model}", key=f"models.checks.{model}",
        column_config={"Result": st.column_config.TextColumn(width=80)},
    )  # fmt: skip
    if result["line"]:
        st.caption("The line it wrote:")
        st.text(result["line"])


def consents(workspace: engine.Workspace, info: engine.ModelInfo) -> None:
    """Draw which corpora may be sent to a server on another machine."""
    name = info.id.removeprefix("endpoint:")
    known = corpus_names(workspace)
    given = [c for c in workspace.models.consents() if c.endpoint == name and c.host == info.where]
    if not given:
        st.warning(
            "No corpus may be sent there: each one needs your written consent first. Until then nothing is connected.",
            icon=":material/lock:",
        )
    for consent in given:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f":material/lock_open: **{plain(known.get(consent.corpus_id, consent.corpus_id))}** may be sent there: "
                f"{plain(consent.who)}, {consent.at[:10]}. Line {consent.line:,} of the audit log."
            )
            st.button(
                "Withdraw", key=f"models.withdraw.{name}.{consent.corpus_id}", icon=":material/lock:", on_click=act,
                args=(workspace.models.withdraw_consent, consent.corpus_id, name),
                kwargs={"done": "The consent has ended. Runs that were stopped: {}."},
                help="Ends the consent and cancels runs that rely on it. What was sent cannot be taken back.",
            )  # fmt: skip
            st.text(consent.text)
    if len(given) < len(known) and st.button(
        "Give consent for a corpus", key=f"models.consent.{name}", icon=":material/draw:"
    ):
        _consent(workspace, name, info.where, {i: n for i, n in known.items() if i not in {c.corpus_id for c in given}})


@st.dialog("Send a corpus to another machine?", width="large")
def _consent(workspace: engine.Workspace, name: str, host: str, known: dict[str, str]) -> None:
    """Ask for corpus, reason and host; all of it goes into the audit log."""
    corpus = st.selectbox("Corpus", list(known), format_func=known.__getitem__, key=f"models.consent.corpus.{name}")
    st.warning(plain(workspace.models.consent_statement(corpus, name)), icon=":material/public:")
    st.text_area(
        "Why this is allowed, in your words", key=f"models.consent.text.{name}", max_chars=1000,
        placeholder="The agreement, the decision, who took it",
        help="At least 20 characters. It stands in the audit log with your name and the time.",
    )  # fmt: skip
    st.text_input(f"Type the host to confirm: {host}", key=f"models.consent.host.{name}")
    st.caption(f"Acting: {plain(workspace.actor)}. Change the name on the Settings page.")
    if st.button(
        "I consent", type="primary", icon=":material/draw:", key=f"models.consent.do.{name}", on_click=_give,
        args=(workspace, name),
    ):  # fmt: skip
        if REFUSED not in st.session_state:
            st.rerun()
        st.error(plain(st.session_state.pop(REFUSED)), icon=":material/block:")  # the dialog stays, with what was typed


def _give(workspace: engine.Workspace, name: str) -> None:
    corpus, text, host = (str(st.session_state[f"models.consent.{part}.{name}"]) for part in ("corpus", "text", "host"))
    try:
        workspace.models.give_consent(corpus, name, text, host)
    except engine.UserError as error:
        st.session_state[REFUSED] = str(error)


def _precision(workspace: engine.Workspace, info: engine.ModelInfo) -> None:
    if info.back_end != "folder" or info.prompts == "builtin":
        return
    key = f"models.precision.{info.id}"
    st.selectbox(
        "Numbers are kept in", list(PRECISIONS), index=list(PRECISIONS).index(info.precision), key=key,
        format_func=PRECISIONS.__getitem__, on_change=_set_precision, args=(workspace, info.id, key),
        help="Fewer bits need less memory and cost some quality. The package bitsandbytes does both, torchao 8 bit. "
        "Such a model writes and scores; private prediction refuses it, and tuning takes the full numbers.",
    )  # fmt: skip


def _set_precision(workspace: engine.Workspace, model: str, key: str) -> None:
    act(
        workspace.models.set_precision, model, str(st.session_state[key]), done="Test the model once before it is used."
    )


def _remove(workspace: engine.Workspace, info: engine.ModelInfo) -> None:
    with st.popover("Remove", icon=":material/delete:", key=f"models.remove.box.{info.id}"):
        st.markdown(
            "Its address, its key and its consents are forgotten."
            if info.back_end == "endpoint"
            else "Its files in this workspace are deleted. Runs that were made with it stay."
        )
        st.button(
            "Remove for good", key=f"models.remove.{info.id}", on_click=act, args=(workspace.models.remove, info.id),
            kwargs={"done": f"{info.id} was removed."},
        )  # fmt: skip


def size(count: float) -> str:
    """Return bytes in MB or GB."""
    return f"{number(count / 1e9, 1)} GB" if count >= 1e9 else f"{number(count / 1e6, 0 if count >= 1e7 else 1)} MB"
