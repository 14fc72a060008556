"""Whose budget a ledger is: how people are recognised, whether others are the same, and joining their ledgers."""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui import states
from pages._ui.current import corpus_names
from pages._ui.sign_in.closed import lacks, only
from pages._ui.texts import plain

POPULATION = (
    "The budget belongs to the people, not to the file. They are recognised by keyed hashes of whole texts, of runs of "
    "eight words, of short records with and without each of their words, of lines, of what is left of a record without "
    "the words of its form, and of source ids. So the same file, a part of it, or one with other headers, footers, "
    "numbers, spelling or names, or with records joined by line, shares its ledger, also after a corpus was deleted: "
    "importing it again does not bring budget back. Short records, lines and what is left of a form count where two "
    "files share more rare ones than each repeats within itself. Clear overlap joins two ledgers at once: what was "
    "spent adds up and the smaller limit holds. Lesser overlap asks you, as do answers too common to tell people "
    "apart, and no run with a guarantee is admitted until you answer."
)
UNSEEN = (
    "What it cannot see: other text about the same people without source ids, or with other ids; translations and "
    "paraphrases; a few short records in a large file; records of fewer than four words in which a word was changed; "
    "readings whose numbers were changed; text without blanks, or joined without a mark in "
    "between. The limit holds for the people recognised and for those whom you join here. A copy of the workspace's "
    "folder says that spends elsewhere are unknown when it is opened, also where it was put back at the folder's own "
    "place; this one cannot know of its copies, nor of a time in which it lay aside and a copy stood in its place."
)


def questions(workspace: engine.Workspace, corpus: engine.CorpusSummary, view: engine.LedgerView) -> None:
    """Draw what shares something with these people, and the two answers."""
    for asked in view.questions:
        other = str(asked.population)
        with st.container(border=True, key=f"ledger.same.{other}"):
            named = ", ".join(asked.corpora) or "a corpus that was deleted"
            st.markdown(f"**Are these the same people as those of {plain(named)}?**")
            st.markdown(
                f"The texts share {plain(asked.sentence)}. If some people are in both, join the ledgers: what was "
                "spent adds up, for good. If only a form or a phrase is shared, keep them apart: the limit then relies "
                "on your word, which stands in both ledgers and holds until a later file shares clearly more."
            )
            with st.container(horizontal=True):
                if st.button(
                    "Same people: join", icon=":material/merge:", key=f"ledger.same.join.{other}",
                    **only(engine.Right.MANAGE),
                ):  # fmt: skip
                    _sure(workspace, corpus.id, other, named)
                st.button(
                    "Other people: keep apart", icon=":material/call_split:", key=f"ledger.same.apart.{other}",
                    on_click=states.act, args=(workspace.ledger.keep_apart, corpus.id, other),
                    **only(engine.Right.MANAGE),
                    kwargs={"done": "The ledgers stay apart, by your word."},
                )  # fmt: skip


def join(workspace: engine.Workspace, corpus: engine.CorpusSummary, view: engine.LedgerView) -> None:
    """Draw how people are recognised, and the control that joins them with those of another corpus."""
    st.markdown(POPULATION)
    st.markdown(UNSEEN)
    st.caption(plain(f"These people are kept as {view.population}."))
    apart = {one.id for one in workspace.corpora.all() if one.population != view.population}
    others = {corpus_id: name for corpus_id, name in corpus_names(workspace).items() if corpus_id in apart}
    if not others:
        return
    chosen = st.selectbox(
        "Same people as", list(others), format_func=others.__getitem__, index=None, key="ledger.join.other",
        placeholder="Choose a corpus",
    )  # fmt: skip
    if st.button(
        "Join …", icon=":material/merge:", key="ledger.join.do",
        disabled=chosen is None or lacks(engine.Right.MANAGE),
    ) and chosen is not None:  # fmt: skip
        _sure(workspace, corpus.id, chosen, others[chosen])


@st.dialog("Join these ledgers for good?")
def _sure(workspace: engine.Workspace, corpus_id: str, other: str, named: str) -> None:
    """Say what a joined ledger means, and ask once."""
    st.markdown(
        f"The people behind this corpus and behind {plain(named)} would share one budget: what was spent on either "
        "adds up and the smaller limit holds. A release of one without a proof counts for the other too. **That cannot "
        "be undone.**"
    )
    with st.container(horizontal=True):
        if st.button(
            "Join for good", type="primary", icon=":material/merge:", key="ledger.join.sure",
            on_click=states.act, args=(workspace.ledger.join_people, corpus_id, other),
            kwargs={"done": "The two ledgers are one now."},
        ):  # fmt: skip
            st.rerun()
        if st.button("Do not join", key="ledger.join.keep"):
            st.rerun()
