"""The privacy verdict in sentences: what the text gives away, and what is proven."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

import engine
from engine import Sentence, privacy_verdict, ranked_sentences
from pages._ui.privacy.data import Examined
from pages._ui.states import act
from pages._ui.texts import plain

# level -> icon, word, colour; the word carries the meaning
LEVELS: dict[str, tuple[str, str, str]] = {
    "leak": (":material/report:", "more than chance", "red"),
    "unsure": (":material/help:", "cannot tell", "orange"),
    "chance": (":material/check_circle:", "no more than chance", "green"),
    "unknown": (":material/pending:", "not known", "gray"),
    "proof": (":material/verified_user:", "proof", "blue"),
    "no proof": (":material/remove_moderator:", "no proof", "gray"),
}
BROKEN = (":material/gpp_bad:", "proof contradicted", "red")


def sentences(side: Examined) -> tuple[Sentence, ...]:
    """Return the engine's sentences about one run."""
    from engine.figures.proof_attack import violations

    passed = violations(side.roc, side.attacks, side.claim)
    if side.audit is not None and side.audit.violated:
        passed.append("the canary audit of this method")
    return privacy_verdict(side.findings, side.attacks, side.run.guarantee.as_dict(), passed)


def draw(workspace: engine.Workspace, sides: Sequence[Examined]) -> None:
    """Draw the sentences in one box, most serious first; two runs in two columns; offer to examine an old run again."""
    with st.container(border=True, key="privacy.verdict", gap="small"):
        for column, side in zip(st.columns(len(sides), gap="medium"), sides, strict=True):
            with column:
                if len(sides) > 1:
                    st.markdown(f"**{plain(side.name)}**")
                said = sentences(side)
                for sentence in ranked_sentences(said) if len(sides) == 1 else said:  # two runs: line by line
                    icon, word, colour = LEVELS[sentence.level]
                    if sentence.finding == "guarantee" and sentence.level == "leak":
                        icon, word, colour = BROKEN
                    st.markdown(f":{colour}[{icon} **{word}**] · {plain(sentence.text)}")
                if side.attacks is None:
                    _again(workspace, side)


def _again(workspace: engine.Workspace, side: Examined) -> None:
    st.button(
        "Examine again", key=f"privacy.examine_new.{side.run.id}", icon=":material/query_stats:",
        on_click=act, args=(workspace.jobs.examine, side.run.id),
        help="This run was examined before membership attacks were carried out. Examining takes some minutes.",
    )  # fmt: skip
