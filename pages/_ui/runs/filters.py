"""What two filters on finished outputs do: an attack at each pair of thresholds, the ablation, other thresholds.

All of it is internal: computed from private text outside any guarantee.
"""

from __future__ import annotations

from typing import cast

import streamlit as st

import engine
from engine import JSON, JSONObject, as_list, as_number, as_object
from engine.figures.privacy.thresholds import attack_grid
from pages._ui.examined import figure as examined_figure
from pages._ui.parts.sliders import slider
from pages._ui.texts import number


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the section of a run whose filters were scored; nothing for other runs."""
    noted = workspace.runs.diagnostics(run.id)
    attack = as_object(noted.get("attack"))
    if run.state != "done" or not as_object(noted.get("scores")).get("similarity"):
        return
    st.subheader("What the filters do", anchor=False)
    st.badge("internal, may not be released", color="orange", icon=":material/lock:")
    left, right = st.columns(2, gap="large")
    with left:
        rows = [as_object(row) for row in as_list(attack.get("nearest_output"))]
        if rows:
            examined_figure.draw(attack_grid(rows), key=f"run.filters.{run.id}")
        else:
            st.caption("Too few records were left over to attack these filters.")
    with right:
        for sentence in ablation(attack):
            st.markdown(sentence)
        _other_thresholds(cast("engine.Scores", noted["scores"]))


def ablation(attack: JSONObject) -> list[str]:
    """Return what attacks on tuned models found, with and without the likelihood filter."""
    found = []
    variants = as_number(attack.get("variants_model"))
    if variants is not None:
        found.append(f"The model tuned on the variants tells seeds from other records with AUC "
                     f"{variants:.2f} (0.5: chance).")  # fmt: skip
    without, with_filter = _outputs(attack.get("without_nll")), _outputs(attack.get("with_nll"))
    if without and with_filter:
        found.append(
            f"Tuned on outputs without the likelihood filter ({number(without[0])}): AUC {without[1]:.2f}; "
            f"with it ({number(with_filter[0])}): {with_filter[1]:.2f}."
        )
    elif found:
        found.append("The ablation without the likelihood filter was not asked for (setting “Ablation”).")
    return found


def _outputs(noted: JSON) -> tuple[int, float] | None:
    """Return how many outputs a model was tuned on and the AUC of the attack on it."""
    outputs, auc = (as_number(as_object(noted).get(name)) for name in ("outputs", "auc"))
    return None if outputs is None or auc is None else (int(outputs), auc)


def _other_thresholds(scores: engine.Scores) -> None:
    """Draw what other shares would have retained."""
    from engine import filters_moved

    st.markdown("**Other thresholds would have kept …**")
    similarity = slider(
        "Kept by the cosine filter", 5, 100, 90, 5, key="run.filters.similarity", unit="%", persist=True
    )
    likelihood = slider("Kept by the likelihood filter", 5, 100, 90, 5, key="run.filters.nll", unit="%", persist=True)
    kept = filters_moved(scores, similarity / 100, likelihood / 100)
    st.markdown(
        f"Of {number(kept['made'])} outputs {number(kept['after_similarity'])} pass the cosine filter (at most "
        f"{kept['similarity_threshold']:.3f}) and {number(kept['after_nll'])} the likelihood filter (at least "
        f"{kept['nll_threshold']:.2f} nats a token)."
    )
    st.caption("Only counted: this run keeps what its own thresholds kept.")
