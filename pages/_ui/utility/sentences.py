"""What a table of findings has no column for: perplexities, what no training gives, and how likely chance is."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine import Finding, embedder_sentence, show_measure
from pages._ui.texts import plain

SIDES = {"train": "the synthetic text", "real": "as much real text", "unrelated": "as much unrelated text"}

MOST = 1e6  # a perplexity above it is not told in figures


def language(findings: Sequence[Finding]) -> None:
    """Say perplexities a word, and how many next words each model knows; nothing where no model was trained."""
    loss = _measured(findings, "next_word_loss")
    if "train" not in loss or "real" not in loss:
        return
    known = _measured(findings, "next_word")
    said = [f"{perplexity(loss[side].value)} from {words}" for side, words in SIDES.items() if side in loss]
    before = loss["train"].settings.get("untrained")
    if before is not None:
        said.append(f"{perplexity(float(before))} without training")
    sentence = (
        f"Perplexity a word of the holdout under a small language model: {', '.join(said)}. "
        "Lower is better; read it between real text and no training, never beside published perplexities."
    )
    blank = known["train"].settings.get("untrained") if "train" in known else None
    if blank is not None:
        sentence += f" Without training the model knows {show_measure('next_word', float(blank))} of the next words."
    st.caption(sentence)


def meaning(findings: Sequence[Finding]) -> None:
    """Say by what meaning was measured, and how often texts dealt at random would lie as far apart in it."""
    if said := embedder_sentence(findings):
        st.caption(plain(said))
    chance = {side: one.settings.get("p") for side, one in _measured(findings, "kid").items()}
    if chance.get("train") is None or chance.get("real") is None:
        return
    ours, real = (f"p = {float(str(chance[side])):.2g}" for side in ("train", "real"))
    st.caption(
        f"Distance in meaning, against texts dealt to the two sides at random: {ours} for the synthetic text, {real} "
        "for real against real. A small p says that the two sides differ; a large one does not say that they are equal."
    )


def _measured(findings: Sequence[Finding], name: str) -> dict[str, Finding]:
    return {f.reference: f for f in findings if f.name == name and f.value == f.value}


def perplexity(bits: float) -> str:
    """Return two to the power of the bits, in three figures; no more is said of what no model knows."""
    value = 2.0 ** min(bits, 60.0)
    if value > MOST:
        return "over a million"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
