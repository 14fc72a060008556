"""What two filters on finished outputs do: an attack at each pair of thresholds, the ablation, other thresholds.

All of it is internal: computed from private text outside any guarantee.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

import engine
from engine.figures.thresholds import attack_grid
from pages._ui.examined import figure as examined_figure
from pages._ui.sliders import slider
from pages._ui.texts import number


def draw(workspace: engine.Workspace, run: Any) -> None:
    """Draw the section of a run whose filters were scored; nothing for other runs."""
    noted = workspace.runs.diagnostics(run.id)
    scores, attack = noted.get("scores"), noted.get("attack") or {}
    if run.state != "done" or not isinstance(scores, Mapping) or not scores.get("similarity"):
        return
    st.subheader("What the filters do", anchor=False)
    st.badge("internal, may not be released", color="orange", icon=":material/lock:")
    left, right = st.columns(2, gap="large")
    with left:
        rows = attack.get("nearest_output")
        if rows:
            examined_figure.draw(attack_grid(rows), key=f"run.filters.{run.id}")
        else:
            st.caption("Too few records were left over to attack these filters.")
    with right:
        for sentence in ablation(attack):
            st.markdown(sentence)
        _other_thresholds(run, noted)


def ablation(attack: Mapping[str, Any]) -> list[str]:
    """Return what attacks on tuned models found, with and without the likelihood filter."""
    found = []
    if attack.get("variants_model") is not None:
        found.append(f"The model tuned on the variants tells seeds from other records with AUC "
                     f"{attack['variants_model']:.2f} (0.5: chance).")  # fmt: skip
    without, with_filter = attack.get("without_nll"), attack.get("with_nll")
    if without and with_filter:
        found.append(
            f"Tuned on outputs without the likelihood filter ({number(without['outputs'])}): AUC {without['auc']:.2f}; "
            f"with it ({number(with_filter['outputs'])}): {with_filter['auc']:.2f}."
        )
    elif found:
        found.append("The ablation without the likelihood filter was not asked for (setting “Ablation”).")
    return found


def _other_thresholds(run: Any, noted: Mapping[str, Any]) -> None:
    """Draw what other shares would have retained."""
    from engine.methods.rpsg.filters import moved

    st.markdown("**Other thresholds would have kept …**")
    similarity = slider(
        "Kept by the cosine filter", 5, 100, 90, 5, key="run.filters.similarity", unit="%", persist=True
    )
    likelihood = slider("Kept by the likelihood filter", 5, 100, 90, 5, key="run.filters.nll", unit="%", persist=True)
    kept = moved(noted["scores"], similarity / 100, likelihood / 100)
    st.markdown(
        f"Of {number(kept['made'])} outputs {number(kept['after_similarity'])} pass the cosine filter (at most "
        f"{kept['similarity_threshold']:.3f}) and {number(kept['after_nll'])} the likelihood filter (at least "
        f"{kept['nll_threshold']:.2f} nats a token)."
    )
    st.caption("Only counted: this run keeps what its own thresholds kept.")
