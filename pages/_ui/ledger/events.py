"""What happened to private data, in words: imports, runs, examinations, reveals, releases.

Nothing here holds record text: actions and counts come from the audit log.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pandas as pd
import streamlit as st

import engine
from pages._ui import states
from pages._ui.current import corpus_names
from pages._ui.ledger import alike, words
from pages._ui.ledger import names as ledger_names
from pages._ui.parts import rows
from pages._ui.parts.pager import offset_of, pager
from pages._ui.texts import count_of, plain, run_title, when

# kinds of the timeline, in the order of its rows
KINDS = ("Loaded", "Run finished", "Examined", "Released")
PAGE, MOST = 50, 200  # lines of the log a page; events shown at most
LINE = "Audit line"  # the ledger numbers its own
ROW = "What happened"
AUDIT = {LINE: 70, "When": 122, "Who": 88, ROW: 234, "About": 141}  # column -> pixels
LETTERS, SEEN = 40, 15  # of what happened, that a column shows; rows that are seen without scrolling inside
STATES = {"done": "finished"}  # states of a run that are called otherwise
FOLDED = "; those alike in a row are one row"
EXPORTED = (
    "Each line carries its SHA-256 and that of the line before, so whoever holds the file can check it without this "
    "program; the JSON file says how. Keep it elsewhere: `audit --verify --against FILE` shows later whether a line of "
    "it is missing here. That it was exported stands in the log."
)


def events(workspace: engine.Workspace, corpus_id: str | None) -> pd.DataFrame:
    """Return the timeline: at, kind, what, effect on the formal total; latest first."""
    names = corpus_names(workspace)
    found: list[tuple[str, str, str, str]] = []
    for corpus in workspace.corpora.all():
        if corpus_id in (None, corpus.id):
            found.append(
                (corpus.created, "Loaded", f"{names[corpus.id]}: {count_of(corpus.records, 'record')}", "none")
            )
    runs = {run.id: run for run in workspace.runs.all(corpus_id)}
    policies = {policy.id: policy.title for policy in workspace.releases.policies()}
    for run in runs.values():
        where = f"{run_title(run)} on {names.get(run.corpus_id, 'a deleted corpus')}"
        if run.finished:
            text = f"{where}: {count_of(run.kept, 'record')} kept, {STATES.get(run.state, run.state)}"
            found.append((run.finished, "Run finished", text, _drawn(run)))
        if run.examined_at:
            found.append((run.examined_at, "Examined", where, "none while the findings stay here"))
    for release in workspace.releases.all(corpus_id):
        made = runs.get(release.run_id)
        title = run_title(made) if made else "a deleted run"
        what = (
            f"{title}: {count_of(release.records, 'record')}, policy “{policies.get(release.policy, release.policy)}”"
        )
        if release.second_person:
            how = "signed in" if release.second_signed_in else "name typed, no sign-in"
            what += f"; second person: {release.second_person} ({how})"
        found.append((release.created, "Released", what, _left(made)))
    frame = pd.DataFrame(found, columns=["at", "kind", "what", "effect"])
    return frame.sort_values("at", ascending=False, ignore_index=True)


def _drawn(run: engine.RunSummary) -> str:
    """Return what a finished run did to the formal total."""
    claim = run.guarantee
    if claim.kind != "dp":
        return "none while it stays here"
    own = claim.drawn[0] if claim.epsilon else 0.0
    return f"drew on the budget: ε = {engine.upward(own)}" if own else "none: it read no private text"


def _left(run: engine.RunSummary | None) -> str:
    """Return what a release of a run did to the formal total; of a run that is gone the lines of the ledger say it."""
    if run is None:
        return "in the lines of the ledger"
    return "none beyond what the run drew" if run.guarantee.kind == "dp" else "unbounded from here on"


def timeline(frame: pd.DataFrame) -> None:
    """Draw the events in a table, the open one in full, and as marks on a time axis."""
    import plotly.graph_objects as go

    from engine.figures.palette import OKABE_ITO

    counts = frame["kind"].value_counts()
    takeaway = (
        f"{count_of(int(counts.get('Run finished', 0)), 'run')} finished, "
        f"{count_of(int(counts.get('Examined', 0)), 'examination')} held outputs against private text, "
        f"{count_of(int(counts.get('Released', 0)), 'release')} built."
    )
    st.markdown(takeaway)
    wanted = st.pills(
        "Kinds of events", [kind for kind in KINDS if kind in set(frame["kind"])], selection_mode="multi",
        key="ledger.events.kinds", label_visibility="collapsed",
    )  # fmt: skip
    some = frame[frame["kind"].isin(wanted)] if wanted else frame
    shown = pd.DataFrame(
        {
            "When": [when(at) for at in some["at"]],
            "What": some["kind"],
            "Details": some["what"],
            "Effect on the formal total": some["effect"],
        }
    ).head(MOST)
    ids = [f"{at} {what}" for at, what in zip(some["at"], some["what"], strict=True)][:MOST]
    at = rows.chosen(
        shown, key="ledger.events", ids=ids,
        widths={"When": 120, "What": 90, "Details": 255, "Effect on the formal total": 185},
        wraps=("Details", "Effect on the formal total"),
        alt="Uses and releases of private text, latest first; one is shown in full below",
    )  # fmt: skip
    rows.in_full({name: shown[name].iloc[at] for name in ("What", "Details", "Effect on the formal total")},
                 key="ledger.events")  # fmt: skip
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
    figure.update_xaxes(title="Time (UTC)", type="date")
    figure.update_layout(height=230, margin={"l": 10, "r": 10, "t": 10, "b": 10})
    st.plotly_chart(figure, key="ledger.timeline", alt=takeaway, config={"displayModeBar": False})


def audit_table(lines: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Return audit lines as people read them, by the names of what they speak of: those alike in a row are one row."""
    rows_of = alike.groups(lines)
    first = lines.iloc[[at[0] for at in rows_of]].reset_index(drop=True)
    subjects = [str(subject) for subject in first["subject"]]
    told = [alike.together([str(lines["detail"].iloc[one]) for one in at]) for at in rows_of]
    parts = list(zip(first["action"], told, subjects, rows_of, strict=True))
    return pd.DataFrame(
        {
            "When": [when(at) for at in first["at"]],
            "Who": [ledger_names.who(str(actor)) for actor in first["actor"]],
            "What": [ledger_names.act(str(action)) for action in first["action"]],
            ROW: [
                alike.headline(str(action), detail, names, subject=subject, times=len(at), most=LETTERS)
                for action, detail, subject, at in parts
            ],
            "About": [
                ledger_names.subject_of(subject, detail, names) for subject, detail in zip(subjects, told, strict=True)
            ],
            "Details": [
                ledger_names.details(detail, names, subject=subject)
                for detail, subject in zip(told, subjects, strict=True)
            ],
            "Lines": ["\n".join(_line(lines.iloc[one], names) for one in at) for at in rows_of],
            "Digests": [
                "\n".join(_digest_line(lines.iloc[one], names, several=len(at) > 1) for one in at) for at in rows_of
            ],
            LINE: first["seq"],
            "Id": subjects,
            "Chained hash": [str(value)[:12] + "…" for value in first["hash"]],
        }
    )


def _line(line: pd.Series, names: Mapping[str, str]) -> str:
    """Return a line of the log among others that are alike, on one line: its number, its time and its details."""
    said = " ".join(ledger_names.details(str(line["detail"]), names, subject=str(line["subject"])).split())
    return " · ".join(part for part in (f"Line {line['seq']}", when(str(line["at"])), said) if part)


def _digest_line(line: pd.Series, names: Mapping[str, str], *, several: bool) -> str:
    """Return the digests and the chained hash of a line of the log, with its number where it is one of several."""
    digests = ledger_names.digests(str(line["detail"]), names)
    said = [f"Digests: {digests}"] if digests else []
    return "\n".join([*([f"Line {line['seq']}"] if several else []), *said, f"Chained hash: {str(line['hash'])[:12]}…"])


def titles(workspace: engine.Workspace, corpus_id: str | None) -> dict[str, str]:
    """Return what things are called where a line has its own time and says what was done: a run, or its release,
    without its time, and in the log of several corpora with its corpus; people by their corpora alone.
    """
    names = ledger_names.read(workspace)
    corpora = workspace.corpora.all()
    found = {one.population: names[one.population].removeprefix("people of ") for one in corpora}
    for run in workspace.runs.all():
        where = (
            f", {names.get(run.corpus_id, ledger_names.GONE['c'])}" if corpus_id is None and len(corpora) > 1 else ""
        )
        found[run.id] = f"{run_title(run)}{where}"
    for release in workspace.releases.all():
        found[release.id] = found.get(release.run_id, ledger_names.GONE["r"])
    return names | found


def _missing(corpora: int) -> str:
    """Return of what the lines are whose numbers are missing in the log of one corpus; `corpora` there are."""
    others = "other corpora, or of " if corpora > 1 else ""
    return f"Lines are numbered through the whole workspace: what is missing here is of {others}the workspace itself."


def audit_log(workspace: engine.Workspace, corpus_id: str | None) -> None:
    """Draw the log, of one corpus or of all, with the check of its chain and its export."""
    written = bool(workspace.audit.count())
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Check the chain",
            icon=":material/link:",
            key="ledger.verify",
            on_click=check,
            args=(workspace,),
            disabled=not written,
        )
        for kind in ("csv", "json"):
            st.download_button(
                f"Export as {kind.upper()}",
                data=partial(workspace.audit.export, kind, corpus_id),
                file_name=f"audit.{kind}",
                mime=f"{'text' if kind == 'csv' else 'application'}/{kind}",
                key=f"ledger.export.{kind}",
                icon=":material/download:",
                on_click="ignore",
                disabled=not written,
                help=EXPORTED,
            )
    answer()
    key = f"ledger.page.{corpus_id}"
    total = workspace.audit.count(corpus_id)
    if total:
        page = workspace.audit.lines(limit=PAGE, offset=offset_of(key, PAGE), corpus_id=corpus_id)
        whole = audit_table(page, ledger_names.read(workspace) | words.policies(workspace))
        shown = audit_table(page, titles(workspace, corpus_id) | words.policies(workspace))
        at = rows.chosen(
            shown, key="ledger.audit", ids=[str(line) for line in shown[LINE]],
            widths=AUDIT, wraps=("Who", ROW, "About"), most=SEEN,
            alt="Audit lines, latest first; a line is shown in full below",
        )  # fmt: skip
        pager(total, key=key, size=PAGE, counted=f"{count_of(total, 'line')}{FOLDED if len(shown) < len(page) else ''}")
        _open(whole.iloc[at], shown.iloc[at])
        if corpus_id is not None and workspace.audit.count() > total:
            st.caption(_missing(len(workspace.corpora.all())))
    st.caption(
        "The log holds who did what and when, with counts, ids and the reasons people typed; never record text. "
        "Names are shown as they are now; the log itself holds ids."
    )


def _open(row: pd.Series, shown: pd.Series) -> None:
    """Draw the open row in full: what its cells leave out, its lines where it is several, and their digests."""
    lines = str(row["Lines"]).split("\n")
    said = {name: str(row[name]) for name in ("What", "About", "Details")}
    if said["What"] in str(shown[ROW]):
        said["What"] = ""
    if len(lines) > 1 and row["What"] == alike.CHANGED:  # what changed is not added up
        said["Latest"] = said.pop("Details")
    if said["What"] or row["Details"] or said["About"] != str(shown["About"]):  # else the row has said it all
        rows.in_full(said, key="ledger.audit")
    if len(lines) > 1:
        with st.expander(f"The {len(lines)} lines of this row", icon=":material/unfold_more:", key="ledger.audit.each"):
            st.markdown("\n".join(f"- {plain(line)}" for line in lines))
    with st.expander("Id and digests of this line", icon=":material/tag:", key="ledger.audit.digests"):
        about = f"Id: {row['Id']}\n" if str(row["Id"]) else ""
        st.code(f"{about}{row['Digests']}", language=None, wrap_lines=True)


def check(workspace: engine.Workspace) -> None:
    """Look for what does not hold, in the chain and in what it tells of reviews; keep the answer for this session."""
    found, untrue = states.act(workspace.audit.breaks), states.act(workspace.audit.untrue)
    outside = states.act(workspace.audit.outside)
    if found is None or untrue is None or outside is None:
        st.session_state["ledger.checked"] = None
        return
    said = (*(one.sentence for one in found), *(one[:1].upper() + one[1:] for one in untrue))
    st.session_state["ledger.checked"] = (workspace.audit.count(), said, outside)


def answer() -> None:
    """Draw the answer of the last check."""
    checked = st.session_state.get("ledger.checked")
    if checked is None:
        st.caption("Each line is chained to the one before, so a changed, removed or added line shows.")
        return
    lines, found, outside = checked
    if not found:
        st.success(
            f"All {lines:,} lines hold together, and the reviews' decisions and marks, the runs, roles, signatures and "
            "declarations are those that they tell of. Texts of runs are gone through by a release and by "
            "`audit --verify`.",
            icon=":material/verified:",
        )
    if outside:
        with st.expander(f"{len(outside):,} parts stand outside of the log: earlier editions told it nothing of them"):
            st.markdown("\n".join(f"- {plain(one[:1].upper() + one[1:])}" for one in outside))
    if not found:
        return
    told = "\n".join(f"- {plain(one)}" for one in found)
    st.error(
        f"**The log, or what it tells of, was changed.**\n\n{told}\n\nKeep this folder as it is and compare it with a "
        "backup, or with an earlier export of the log.",
        icon=":material/gpp_bad:",
    )
