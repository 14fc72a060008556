"""What happened to private data, in words: imports, runs, examinations, reveals, releases.

Nothing here holds record text: actions and counts come from the audit log.
"""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

import engine
from pages._ui.texts import count_of, plain, when

# kinds of the timeline, in the order of its rows
KINDS = ("Loaded", "Run finished", "Examined", "Released")
PAGE = 50


def events(workspace: engine.Workspace, corpus_id: str | None) -> pd.DataFrame:
    """Return the timeline: at, kind, what, effect on the formal total; latest first."""
    names = {corpus.id: corpus.name for corpus in workspace.corpora.all()}
    rows: list[tuple[str, str, str, str]] = []
    for corpus in workspace.corpora.all():
        if corpus_id in (None, corpus.id):
            rows.append((corpus.created, "Loaded", f"{corpus.name}: {count_of(corpus.records, 'record')}", "none"))
    titles = {}
    for run in workspace.runs.all(corpus_id):
        titles[run.id] = run.title
        where = f"{run.title} on {names.get(run.corpus_id, 'a deleted corpus')}"
        if run.finished:
            text = f"{where}: {count_of(run.kept, 'record')} kept, {run.state}"
            rows.append((run.finished, "Run finished", text, "none while it stays here"))
        if run.examined_at:
            rows.append((run.examined_at, "Examined", where, "none while the findings stay here"))
    for release in workspace.releases.all(corpus_id):
        made = titles.get(release.run_id, "a deleted run")
        what = f"{made}: {count_of(release.records, 'record')}, policy {release.policy}"
        rows.append((release.created, "Released", what, "unbounded from here on"))
    frame = pd.DataFrame(rows, columns=["at", "kind", "what", "effect"])
    return frame.sort_values("at", ascending=False, ignore_index=True)


def timeline(frame: pd.DataFrame) -> None:
    """Draw the events as marks on a time axis, and as a table."""
    import plotly.graph_objects as go

    from engine.figures.palette import OKABE_ITO

    counts = frame["kind"].value_counts()
    takeaway = (
        f"{count_of(int(counts.get('Run finished', 0)), 'run')} read private text, "
        f"{count_of(int(counts.get('Examined', 0)), 'examination')} held outputs against it, "
        f"{count_of(int(counts.get('Released', 0)), 'release')} left this machine."
    )
    st.markdown(takeaway)
    figure = go.Figure()
    for number, kind in enumerate(KINDS):
        part = frame[frame["kind"] == kind]
        figure.add_trace(
            go.Scatter(
                x=part["at"],
                y=[kind] * len(part),
                mode="markers",
                name=kind,
                showlegend=False,
                marker={
                    "size": 12,
                    "symbol": ("circle", "square", "diamond", "star")[number],
                    "color": OKABE_ITO[number],
                },
                text=[when(at) for at in part["at"]],
                hovertemplate="%{y}, %{text}<extra></extra>",
            )
        )
    figure.update_yaxes(categoryorder="array", categoryarray=list(reversed(KINDS)), title=None)
    figure.update_xaxes(title="time (UTC)", type="date")
    figure.update_layout(height=230, margin={"l": 10, "r": 10, "t": 10, "b": 10})
    st.plotly_chart(figure, key="ledger.timeline", alt=takeaway, config={"displayModeBar": False})
    shown = pd.DataFrame(
        {
            "When": [when(at) for at in frame["at"]],
            "What": frame["kind"],
            "Details": frame["what"],
            "Effect on the formal total": frame["effect"],
        }
    )
    st.dataframe(shown.head(200), hide_index=True, alt="Uses and releases of private text, latest first")


def audit_table(lines: pd.DataFrame) -> pd.DataFrame:
    """Return audit lines as people read them."""
    return pd.DataFrame(
        {
            "Line": lines["seq"],
            "When": [when(at) for at in lines["at"]],
            "Who": lines["actor"],
            "What": [str(action).replace("_", " ") for action in lines["action"]],
            "Subject": lines["subject"],
            "Details": [_details(detail) for detail in lines["detail"]],
            "Chained hash": [str(value)[:12] + "…" for value in lines["hash"]],
        }
    )


def _details(detail: str) -> str:
    try:
        body = json.loads(detail)
    except (TypeError, ValueError):
        return str(detail)
    words = {True: "yes", False: "no"}
    return ", ".join(
        f"{name.replace('_', ' ')}: {words[value] if isinstance(value, bool) else value}"
        for name, value in body.items()
        if value is not None
    )


def all_lines(workspace: engine.Workspace) -> bytes:
    """Return the whole audit log as CSV; it holds no record text."""
    parts, offset = [], 0
    while True:
        part = workspace.audit.lines(limit=5000, offset=offset)
        if part.empty:
            break
        parts.append(part)
        offset += len(part)
    frame = pd.concat(parts) if parts else workspace.audit.lines(limit=1)
    return frame.sort_values("seq").to_csv(index=False).encode("utf-8")


def check(workspace: engine.Workspace) -> None:
    """Verify the chain and keep the answer for this session."""
    st.session_state["ledger.checked"] = workspace.audit.verify()


def answer() -> None:
    """Draw the answer of the last check."""
    found = st.session_state.get("ledger.checked")
    if found is None:
        st.caption("Each line is chained to the one before, so a changed, removed or added line shows.")
    elif found["ok"]:
        st.success(f"All {found['lines']:,} lines hold together.", icon=":material/verified:")
    else:
        st.error(
            f"**The log was changed.** Line {plain(found['first_bad'])} is the first that does not hold. "
            "Keep this folder as it is and compare it with a backup.",
            icon=":material/gpp_bad:",
        )
