"""What is learnt from the synthetic text, beside real text: labels, by subgroup and column, and types of details."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

import engine
from pages._ui.examined.table import cell
from pages._ui.parts import wrapped
from pages._ui.parts.progress import running_job
from pages._ui.sign_in.closed import closed, only
from pages._ui.states import act
from pages._ui.texts import label_name

SIDES = {"train": "Synthetic", "real": "As much real", "full": "All real", "gap": "Lost"}
OF_COLUMNS = SIDES | {"teacher": "Teacher", "chance": "Chance"}
TOLD = "Told?"
HELP = {
    "Asked": "Records of the holdout that were asked about; of an extractor, details reviewed in them.",
    "Synthetic": "Trained on the synthetic text.",
    "As much real": "Trained on as many real records.",
    "All real": "Trained on all real records of the training part.",
    "Lost": "As much real text less synthetic text.",
    "Teacher": "The classifier that told both sides their values.",
    "Chance": "Answers dealt at random.",
    TOLD: "Whether as much real text tells the column better than chance.",
}
NARROW = {"Asked": 62, "Chance": 72, TOLD: 68}  # pixels; all columns stand in a window of 1,024


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw F1 a label, and macro-F1 a subgroup where columns were kept at import."""
    labels = workspace.examinations.table(run.id, "classifier_labels")
    if labels is None or labels.empty:
        st.caption(
            "No classifier was trained in this examination. It needs labels in the synthetic records and in the "
            "corpus, and a holdout; “All numbers” says which of them was missing."
        )
        return
    st.markdown(
        "**How well classifiers say the labels of the holdout's records** (F1, 1 is best), by what taught them."
    )
    shown = _beside(labels, ["label"]).rename(columns={"label": "Label"})
    _table(shown, f"utility.labels.{run.id}", "F1 of each label, by training text")
    groups = workspace.examinations.table(run.id, "classifier_groups")
    if groups is not None and not groups.empty:
        st.markdown("**The same within subgroups** (columns kept at import; every label counts alike).")
        shown = _beside(groups, ["column", "value"]).rename(columns={"column": "Column", "value": "Value"})
        _table(shown, f"utility.groups.{run.id}", "Macro-F1 of each subgroup")
    st.caption(
        "Brackets hold the 95% interval; those of what was lost hold for all labels together, or all subgroups. Labels "
        "and columns of the private records stand here: this table is internal and never leaves with a release."
    )


def columns(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw macro-F1 of each column that the synthetic records do not carry."""
    if closed("The columns kept at import"):
        return
    table = workspace.examinations.table(run.id, "classifier_columns")
    if table is None or table.empty:
        return
    st.markdown(
        "**Columns that the synthetic records do not carry** (macro-F1 on the holdout; every value counts alike)"
    )
    told = (table["why"] == "").groupby(table["task"], sort=False).all()
    shown = _beside(table, ["task"], OF_COLUMNS).rename(columns={"task": "Column"})
    shown[TOLD] = ["yes" if told[task] else "not clearly" for task in shown["Column"]]
    _table(shown, f"utility.columns.{run.id}", "Macro-F1 of each column kept at import")
    st.caption(
        "A classifier of one half of the training part told the values of the synthetic texts, and of as many texts of "
        "the other half; on each a classifier was trained. So this is of the text alone: whoever gets the synthetic "
        "records gets no values of these columns. Where real text does not clearly tell a column, nothing can be lost "
        "on it. Brackets hold the 95% interval; those of what was lost hold for all columns together. Internal."
    )


def types(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw F1 of each type of detail that an extractor trained on the text was asked to find."""
    table = workspace.examinations.table(run.id, "extraction_types")
    if table is None or table.empty:
        return
    st.markdown("**How well extractors find the details of the holdout's records** (F1 of whole details)")
    shown = _beside(table, ["type"]).rename(columns={"type": "Type"})
    shown["Type"] = [label_name(str(label)) for label in shown["Type"]]
    _table(shown, f"utility.types.{run.id}", "F1 of each type of detail, by training text")
    st.caption(
        "Both extractors were told by the corpus' detector where details stand, and are held against what was reviewed "
        "in the holdout. Brackets hold the 95% interval; those of what was lost hold for all types together."
    )


def trained(workspace: engine.Workspace, run: engine.RunSummary, findings: Sequence[engine.Finding]) -> None:
    """Say how a small transformer trained on the text does, or offer to train one."""
    by = {(f.name, f.reference): f for f in findings if f.name.startswith("tuned_")}
    ours, real, gap = (by.get(key) for key in (("tuned_f1", "train"), ("tuned_f1", "real"), ("tuned_gap", "real")))
    st.markdown("**A small transformer trained on the text** (macro-F1 on the holdout's records)")
    if ours is not None and ours.value == ours.value:
        st.markdown(
            f"{cell(ours)} from {ours.settings.get('texts_trained_on')} synthetic texts, {cell(real)} from as many "
            f"real ones; lost: {cell(gap)}."
        )
        st.caption(_brackets(gap))
        return
    st.caption(
        "A sentence encoder whose weights are all trained, on synthetic and on as many real records (1,000 at most), "
        "five times each: many minutes. The usefulness of this run is examined again with it."
    )
    if running_job(workspace, kind="examine", run_id=run.id) is None:
        st.button(
            "Train a small transformer too", icon=":material/model_training:", key=f"utility.tuned.{run.id}",
            on_click=act, args=(partial(workspace.jobs.examine, privacy=False, tuned_classifier=True), run.id),
            **only(engine.Right.MANAGE),
        )  # fmt: skip


def _brackets(gap: engine.Finding | None) -> str:
    """Say what the interval of a trained encoder's gap holds; one of an earlier edition left training out."""
    if gap is not None and "those trained on" in str(gap.settings.get("interval_is_of")):
        return (
            "Brackets hold what other people asked and trained on, and another start, would change, as further "
            "trainings a side tell; not what writing the text anew would."
        )
    return (
        "One training a side: brackets hold what other people asked would change, and not what other texts trained "
        "on, or another start, would. Read a small loss with that in mind."
    )


def _beside(table: pd.DataFrame, names: list[str], sides: Mapping[str, str] = SIDES) -> pd.DataFrame:
    """Return one row a label or subgroup, with a column for what each classifier was trained on."""
    rows = []
    for keys, part in table.groupby(names, sort=False):
        row: dict[str, object] = dict(zip(names, keys, strict=True))
        row["Asked"] = int(part["asked"].iloc[0])
        by = {str(one["reference"]): one for one in part.to_dict("records")}
        for side, heading in sides.items():
            if side in set(table["reference"]):
                row[heading] = _cell(by.get(side))
        rows.append(row)
    return pd.DataFrame(rows)


def _table(frame: pd.DataFrame, key: str, alt: str) -> None:
    """Draw a table whose columns all stand in a narrow window; what a heading means is said where it is pointed at."""
    config = {
        name: st.column_config.Column(width=NARROW.get(name, 96), help=HELP.get(name))
        for name in map(str, frame.columns)
    }
    st.dataframe(frame, hide_index=True, key=key, row_height=wrapped.ROW, column_config=config, alt=alt)


def _cell(row: Mapping[Hashable, object] | None) -> str:
    if row is None:
        return ""
    value, low, high = (float(str(row[name])) for name in ("f1", "low", "high"))
    if value != value:
        return "too few"
    ends = "" if low != low or high != high else f" ({low:.2f} to {high:.2f})"
    return f"{value:.2f}{ends}".replace("-", "−")
