"""What a corpus is in public words, and five texts that a model writes for them before it sees anything private.

Privacy posture: what is typed here is declared public; nothing is read from records. Texts of a model go through
`st.text` alone.
"""

from __future__ import annotations

import streamlit as st

import engine
from engine import LANGUAGE_NAMES
from pages._ui.language import mark, tr, translator
from pages._ui.language.words import language_name
from pages._ui.parts.progress import job_progress, running_job
from pages._ui.states import act
from pages._ui.texts import decimal, plain

DOMAINS = {
    "clinical": mark("Health care"),
    "legal": mark("Law"),
    "social": mark("Messages and posts"),
    "reviews": mark("Customers"),
    "generic": mark("Something else"),
}


def form(workspace: engine.Workspace, corpus: engine.CorpusSummary, key: str) -> engine.Description | None:
    """Draw the description of a corpus with the means to change it, and return it."""
    found = workspace.descriptions.get(corpus.id)
    key = f"{key}.describe.{corpus.id}"
    title = (
        tr("Say in public words what this corpus holds")
        if found is None
        else tr("In public words: {asked}", asked=plain(found.asked))
    )
    with st.expander(title, icon=":material/description:", key=f"{key}.box"):
        st.markdown(
            tr(
                "A kind of document, as you would name it to a stranger. It goes into prompts and is public; "
                "nothing is read from the records. It also tells whether a model knows such text."
            )
        )
        left, middle, right = st.columns(3)
        left.text_input(
            tr("Kind of document"), value=found.kind if found else "", max_chars=40, key=f"{key}.kind",
            placeholder=tr("discharge letter"),
        )  # fmt: skip
        languages, domains = list(LANGUAGE_NAMES), list(DOMAINS)
        middle.selectbox(
            tr("Language"),
            languages,
            index=languages.index(found.language if found else "en"),
            format_func={code: language_name(code, name) for code, name in LANGUAGE_NAMES.items()}.__getitem__,
            key=f"{key}.language",
        )
        right.selectbox(
            tr("Domain"), domains, index=domains.index(found.domain if found else "generic"),
            format_func=translator(DOMAINS), key=f"{key}.domain",
        )  # fmt: skip
        st.button(tr("This is public; keep it"), icon=":material/check:", key=f"{key}.keep", on_click=_keep,
                  args=(workspace, corpus.id, key))  # fmt: skip
    return found


def _keep(workspace: engine.Workspace, corpus_id: str, key: str) -> None:
    kind, language, domain = (str(st.session_state[f"{key}.{part}"]) for part in ("kind", "language", "domain"))
    act(workspace.descriptions.declare, corpus_id, kind, language, domain, done=tr("The description is kept."))


def first_texts(workspace: engine.Workspace, model: str, corpus: engine.CorpusSummary) -> None:
    """Draw the five texts of a model for the corpus' description, or the button that asks for them."""
    found = workspace.first_look.of(model, corpus.id)
    if workspace.descriptions.get(corpus.id) is None:
        return
    waiting = found.state in ("queued", "running")
    st.button(
        tr("Writing") if waiting else tr("Show five texts for this corpus' description"), icon=":material/edit_note:",
        key=f"models.first.{model}", disabled=waiting, on_click=act,
        args=(workspace.first_look.write, model, corpus.id),
        help=tr("Written from the public description alone, shown as they come; no record is read."),
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
    with st.expander(tr("Five texts for the description, not chosen"), expanded=True, key=f"models.first.box.{model}"):
        for number, text in enumerate(result["texts"], start=1):
            st.caption(tr("Text {number}", number=number))
            st.text(text or tr("(empty)"))
        st.caption(
            tr(
                "For “{kind}”, {pace} tokens a second, {at}. Mean cosine with that name: {cosine}. It "
                "says what they are about, not how well they are written.",
                kind=plain(result["description"]["kind"]),
                pace=decimal(pace, 0),
                at=result["at"][:10],
                cosine=decimal(result["cosine"], 2),
            )
        )
