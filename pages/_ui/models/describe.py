"""What a corpus is in public words, and five texts that a model writes for them before it sees anything private.

Privacy posture: what is typed here is declared public; nothing is read from records. Texts of a model go through
`st.text` alone.
"""

from __future__ import annotations

import streamlit as st

import engine
from engine import LANGUAGE_NAMES
from pages._ui.progress import job_progress, running_job
from pages._ui.states import act
from pages._ui.texts import plain

DOMAINS = {"clinical": "Health care", "legal": "Law", "social": "Messages and posts", "reviews": "Customers",
           "generic": "Something else"}  # fmt: skip


def form(workspace: engine.Workspace, corpus: engine.CorpusSummary, key: str) -> engine.Description | None:
    """Draw the description of a corpus with the means to change it, and return it."""
    found = workspace.descriptions.get(corpus.id)
    key = f"{key}.describe.{corpus.id}"
    title = "Say in public words what this corpus holds" if found is None else f"In public words: {plain(found.asked)}"
    with st.expander(title, icon=":material/description:", key=f"{key}.box"):
        st.markdown(
            "A kind of document, as you would name it to a stranger. It goes into prompts and is public; nothing is "
            "read from the records. It also tells whether a model knows such text."
        )
        left, middle, right = st.columns(3)
        left.text_input(
            "Kind of document", value=found.kind if found else "", max_chars=40, key=f"{key}.kind",
            placeholder="discharge letter",
        )  # fmt: skip
        languages, domains = list(LANGUAGE_NAMES), list(DOMAINS)
        middle.selectbox(
            "Language", languages, index=languages.index(found.language if found else "en"),
            format_func=LANGUAGE_NAMES.__getitem__, key=f"{key}.language",
        )  # fmt: skip
        right.selectbox(
            "Domain", domains, index=domains.index(found.domain if found else "generic"),
            format_func=DOMAINS.__getitem__, key=f"{key}.domain",
        )  # fmt: skip
        st.button("This is public; keep it", icon=":material/check:", key=f"{key}.keep", on_click=_keep,
                  args=(workspace, corpus.id, key))  # fmt: skip
    return found


def _keep(workspace: engine.Workspace, corpus_id: str, key: str) -> None:
    kind, language, domain = (str(st.session_state[f"{key}.{part}"]) for part in ("kind", "language", "domain"))
    act(workspace.descriptions.declare, corpus_id, kind, language, domain, done="The description is kept.")


def first_texts(workspace: engine.Workspace, model: str, corpus: engine.CorpusSummary) -> None:
    """Draw the five texts of a model for the corpus' description, or the button that asks for them."""
    found = workspace.first_look.of(model, corpus.id)
    if workspace.descriptions.get(corpus.id) is None:
        return
    waiting = found.state in ("queued", "running")
    st.button(
        "Writing" if waiting else "Show five texts for this corpus' description", icon=":material/edit_note:",
        key=f"models.first.{model}", disabled=waiting, on_click=act,
        args=(workspace.first_look.write, model, corpus.id),
        help="Written from the public description alone, shown as they come; no record is read.",
    )  # fmt: skip
    if waiting and (job := running_job(workspace, kind="first texts")) is not None:
        job_progress(workspace, job.id, key=f"models.first.progress.{model}")
    result = found.result
    if result is None:
        return
    unlike = workspace.first_look.unlike(model, corpus.id)
    if unlike:
        st.warning(plain(unlike), icon=":material/warning:")
    pace = result["tokens"] / max(result["seconds"], 1e-6)
    with st.expander("Five texts for the description, not chosen", expanded=True, key=f"models.first.box.{model}"):
        for number, text in enumerate(result["texts"], start=1):
            st.caption(f"Text {number}")
            st.text(text or "(empty)")
        st.caption(
            f"For “{plain(result['description']['kind'])}”, {pace:.0f} tokens a second, {result['at'][:10]}. Mean "
            f"cosine with that name: {result['cosine']:.2f}. It says what they are about, not how well "
            "they are written."
        )
