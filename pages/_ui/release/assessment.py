"""The assessment file: questions of a data-protection officer, a person's answers, and two editions to download.

Privacy posture: answers are kept with the corpus; the internal edition is handed to the browser of who made it, and
nothing is stored of it but its checksum in the audit log.
"""

from __future__ import annotations

from typing import Literal

import streamlit as st

import engine
from engine import LONGEST_ANSWER, assessment_questions
from pages._ui.language import mark, tr
from pages._ui.release.bundle import card_words
from pages._ui.sign_in.closed import barred
from pages._ui.states import act, flash
from pages._ui.texts import method_title, plain

MADE = "release.assessment.made"
EDITIONS: dict[Literal["internal", "external"], tuple[str, str]] = {
    "internal": (
        mark("Make the internal edition"),
        mark("With measured values and the policy's answer. It stays in the house."),
    ),
    "external": (
        mark("Make the external edition"),
        mark("No measured value; words that repeat the original are refused."),
    ),
}


@st.fragment
def draw(workspace: engine.Workspace, run: engine.RunSummary, policy: engine.Policy, signed: str) -> None:
    """Draw the questions, folded, and what was made of them; an answer is kept when its field is left."""
    flash()
    with st.expander(tr("Assessment file"), icon=":material/fact_check:", key="release.assessment"):
        kept = workspace.assessments.answers(run.corpus_id)
        groups = assessment_questions().groups()
        asked = [one for fields in groups.values() for one in fields]
        st.caption(
            tr(
                "For the data-protection officer: what is proven, what was tested and against whom, and "
                "what was not tested. It gives no verdict. {answered} of its {asked} questions for a person "
                "are answered; answers are kept with the corpus.",
                answered=sum(one.id in kept for one in asked),
                asked=len(asked),
            )
        )
        fixed = barred(tr("Answering these questions"), engine.Right.MANAGE)
        names = {one.id: f"release.assessment.{run.corpus_id}.{one.id}" for one in asked}
        for title, fields in groups.items():
            st.markdown(f"**{title}**")
            columns = st.columns(2)
            for place, one in enumerate(fields):
                with columns[place % 2]:
                    _field(workspace, run.corpus_id, one, names, kept.get(one.id), disabled=fixed)
        with st.container(horizontal=True):
            for edition, (label, said) in EDITIONS.items():
                st.button(
                    tr(label), key=f"release.assessment.{edition}", help=tr(said), on_click=_make,
                    args=(workspace, run.id, policy.id, edition, signed, method_title(run)),
                )  # fmt: skip
        _made(run, policy)


def _field(
    workspace: engine.Workspace, corpus_id: str, one: engine.AssessmentField, names: dict[str, str],
    answer: str | None, *, disabled: bool,
) -> None:  # fmt: skip
    """Draw one question: a choice where there are some, else words."""
    note = None if one.outside else tr("Stands in the internal edition alone.")
    if one.choices:
        st.session_state.setdefault(names[one.id], answer)
        st.selectbox(
            one.title, [each.id for each in one.choices], index=None, key=names[one.id], placeholder=one.asks,
            help=note, format_func=one.words, disabled=disabled, on_change=_keep,
            args=(workspace, corpus_id, names),
        )  # fmt: skip
        return
    st.session_state.setdefault(names[one.id], answer or "")
    st.text_area(
        one.title, key=names[one.id], placeholder=one.asks, height=80, max_chars=LONGEST_ANSWER, disabled=disabled,
        help=note, on_change=_keep, args=(workspace, corpus_id, names),
    )  # fmt: skip


def _made(run: engine.RunSummary, policy: engine.Policy) -> None:
    """Offer what was made of this run under this policy."""
    made = st.session_state.get(MADE)
    if made is None or made["of"] != (run.id, policy.id):
        return
    edition, page = made["edition"], made["page"]
    st.download_button(
        tr("Download the internal edition") if edition == "internal" else tr("Download the external edition"),
        data=page.encode(),
        file_name=f"assessment_{edition}.html",
        mime="text/html",
        key="release.assessment.download",
        type="primary",
        icon=":material/download:",
        on_click="ignore",
    )
    st.caption(
        tr(
            "One page without outside parts; print it to PDF from the browser. Under {policy}.",
            policy=plain(policy.title),
        )
    )


def _keep(workspace: engine.Workspace, corpus_id: str, names: dict[str, str]) -> None:
    st.session_state.pop(MADE, None)
    typed = {name: str(st.session_state.get(key) or "") for name, key in names.items()}
    act(workspace.assessments.keep, corpus_id, typed)


def _make(
    workspace: engine.Workspace, run_id: str, policy_id: str, edition: Literal["internal", "external"], signed: str,
    called: str,
) -> None:  # fmt: skip
    st.session_state.pop(MADE, None)
    page = act(
        workspace.assessments.make, run_id, policy_id, edition, words=card_words(), signed_off_by=signed, called=called
    )
    if page is not None:
        st.session_state[MADE] = {"of": (run_id, policy_id), "edition": edition, "page": page}
