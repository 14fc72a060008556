"""The privacy verdict in three sentences, what is proven, and the chart behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from engine.analysis.findings import Finding
from engine.analysis.measures import show
from engine.analysis.verdict import Sentence, privacy_verdict
from pages._ui import examined_figure
from pages._ui.texts import plain

# level -> icon, word, colour; the word carries the meaning
LEVELS: dict[str, tuple[str, str, str]] = {
    "leak": (":material/report:", "more than chance", "red"),
    "unsure": (":material/help:", "cannot tell", "orange"),
    "chance": (":material/check_circle:", "no more than chance", "green"),
    "unknown": (":material/pending:", "not known", "gray"),
}
PROOF = {  # icon, word, sentence
    "dp": (
        ":material/verified_user:",
        "proof",
        "A formal guarantee covers the run's complete output; these numbers are a check, not the proof.",
    ),
    "other": (
        ":material/remove_moderator:",
        "no proof",
        "Nothing is proven about this method. A better attack could find more than these did.",
    ),
}


def sentences(findings: Sequence[Finding]) -> list[Sentence]:
    """Return the engine's three sentences; where direct identifiers stand out, the first one says so."""
    first, *rest = privacy_verdict(findings)
    clearer = _direct(findings)
    return [clearer if clearer is not None and first.level != "leak" else first, *rest]


def _direct(findings: Sequence[Finding]) -> Sentence | None:
    """Return a sentence if direct identifiers of the training part are clearly more common than the holdout's.

    All identifiers together can hide this: common places and dates are in most texts anyway.
    """
    from engine.figures.privacy import stands_out

    known = {f.reference: f for f in findings if f.name == "pipp_direct" and f.value == f.value}
    train, holdout = known.get("train"), known.get("holdout")
    if train is None or holdout is None or not stands_out(findings, "pipp_direct"):
        return None
    equal = train.settings.get("equal_size_value", train.value)
    return Sentence(
        f"Real identifiers: {show(train.name, equal)} of the synthetic records contain a direct identifier "
        f"of the training part, and {show(holdout.name, holdout.value)} one of as many records that nobody used.",
        "leak",
        train.name,
    )


def draw(findings: Sequence[Finding], run: Any) -> None:
    """Draw the sentences in one box."""
    with st.container(border=True, key="privacy.verdict", gap="small"):
        for sentence in sentences(findings):
            icon, word, colour = LEVELS[sentence.level]
            st.markdown(f":{colour}[{icon} **{word}**] · {plain(sentence.text)}")
        icon, word, proof = PROOF["dp" if run.guarantee.get("kind") == "dp" else "other"]
        st.markdown(f":gray[{icon} **{word}**] · {proof}")


def figure(findings: Sequence[Finding], run: Any) -> None:
    """Draw shares against training part, holdout and real records, with their intervals."""
    from engine.figures.palette import GREY
    from engine.figures.privacy import triple_bars

    figure = triple_bars(findings)
    figure.plot.update_traces(error_x_color=GREY)  # whiskers that can be seen on light and dark ground
    examined_figure.draw(figure, key=f"privacy.figure.{run.id}")
