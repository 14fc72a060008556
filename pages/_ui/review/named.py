"""Named people: who stands in the records of several units, what a claim is worth for them, and the list to find them.

Privacy posture: names are shown in the table's text column alone; counts of k are read from private text and stay here.
"""

from __future__ import annotations

import streamlit as st

import engine
from engine import group_bound, group_words
from pages._ui import states
from pages._ui.current import distinct
from pages._ui.language import sentence, tr, trn
from pages._ui.parts.pager import digest, offset_of, pager
from pages._ui.texts import UNIT_PLURALS, count_of, number, plain, run_name

SIZE = 50
PAGER, LEAST = "review.named.page", "review.named.least"
STEPS = ((2, 2), (3, 5), (6, 10))


def draw(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> None:
    """Draw in how many units names stand, the bound of a run for them, and the table."""
    units = tr(UNIT_PLURALS[corpus.unit])
    st.markdown(
        tr(
            "A formal guarantee protects those whose records these are. Somebody who is **named** in "
            "the texts of several {units} is protected only as a group of that many. Here is who "
            "that concerns, before a run.",
            units=units,
        )
    )
    spread = workspace.named.spread(corpus.id)
    if spread.largest < 2:
        st.info(tr("No name that is marked as a person stands in the texts of two {units} or more.", units=units))
        _limits(units)
        return
    st.markdown(_spread(spread, units))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        least = st.number_input(
            tr("Named by at least"), 2, max(spread.largest, 2), min(3, spread.largest), key=LEAST, width=200
        )
        claim = _claim(workspace, corpus)
    if claim is not None:
        bound = group_words(group_bound(claim, spread.largest))
        st.markdown(
            tr(
                "If the name that occurs most widely is a person's, the claim of this run is worth for that person: "
                "**{bound}**, held against a corpus without the data of all {largest}.",
                largest=number(spread.largest),
                bound=bound,
            )
        )
    _table(workspace, corpus, int(least), claim, units)
    _limits(units)


def _spread(spread: engine.NamedSpread, units: str) -> str:
    """Return how many names stand in how many units, in a sentence."""
    parts = [
        tr(
            "{names} in {texts}",
            names=number(count),
            texts=low if low == high else tr("{low} to {high}", low=low, high=high),
        )
        for low, high in STEPS
        if (count := spread.at_least(low) - spread.at_least(high + 1))
    ]
    more = spread.at_least(STEPS[-1][1] + 1)
    parts += [tr("{names} in more than {texts}", names=number(more), texts=STEPS[-1][1])] if more else []
    return tr(
        "The name that occurs most widely stands in the texts of **{largest}** of the {all} "
        "{units} in the training part. How many names stand in those of several: {parts}.",
        largest=number(spread.largest),
        all=number(spread.units),
        units=units,
        parts=", ".join(parts),
    )


def _claim(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> engine.Guarantee | None:
    """Ask for a run with a formal claim and return the claim; None where there is none."""
    formal = {
        run.id: run
        for run in workspace.runs.all(corpus.id)
        if run.guarantee.kind == "dp" and run.guarantee.epsilon and not run.guarantee.pending
    }
    if not formal:
        return None
    named = distinct({run_id: run_name(run) for run_id, run in formal.items()})
    chosen = st.selectbox(tr("What the claim of this run is worth"), list(formal), format_func=named.__getitem__,
                          key="review.named.run", width=420)  # fmt: skip
    return formal[chosen].guarantee


def _table(
    workspace: engine.Workspace, corpus: engine.CorpusSummary, least: int, claim: engine.Guarantee | None, units: str
) -> None:
    """Draw the names, those in most units first, and what can be done with them."""
    frame, total = workspace.named.names(corpus.id, at_least=least, offset=offset_of(PAGER, SIZE), limit=SIZE)
    if frame.empty and total:
        st.session_state.pop(PAGER, None)
        frame, total = workspace.named.names(corpus.id, at_least=least, limit=SIZE)
    keys = [str(key) for key in frame["name_key"]]
    columns = ["name", "units", "known", "records", "spellings"]
    if claim is not None:
        bounds = {size: group_words(group_bound(claim, size)) for size in set(frame["units"])}
        frame = frame.assign(bound=[bounds[size] for size in frame["units"]])
        columns.insert(2, "bound")
    st.caption(tr("Tick those that are people: what the tagger took for a name may be a word."))
    event = st.dataframe(
        frame[columns],
        key=f"review.named.{digest([corpus.id, *keys])}",
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        column_config={
            "name": st.column_config.TextColumn(tr("Name"), width="medium"),
            "units": st.column_config.NumberColumn(sentence(units), help=tr("In the texts of how many it stands.")),
            "bound": st.column_config.TextColumn(tr("As a group of that many")),
            "records": st.column_config.NumberColumn(tr("Texts")),
            "spellings": st.column_config.NumberColumn(tr("Spellings")),
            "known": st.column_config.CheckboxColumn(tr("Known"), help=tr("On the list of known identifiers.")),
        },
        alt=tr("Names with the number of units that they stand in"),
    )
    pager(total, key=PAGER, size=SIZE, counted=count_of(total, "name"))
    chosen = [keys[row] for row in event.selection.rows if row < len(keys)]
    put = (
        trn(
            "Add {n} chosen name to the known identifiers", "Add {n} chosen names to the known identifiers", len(chosen)
        )
        if chosen
        else trn("Add the {n} name to the known identifiers", "Add all {n} names to the known identifiers", total)
    )
    st.button(
        put, key="review.named.known", type="primary" if chosen else "secondary", icon=":material/playlist_add:",
        on_click=_make_known, args=(workspace, corpus.id, chosen, least), disabled=not total,
        help=tr("On the list of known identifiers (Detector settings). The next detection finds them wherever they "
        "stand, also shortened or misspelt."),
    )  # fmt: skip


def _make_known(workspace: engine.Workspace, corpus_id: str, chosen: list[str], least: int) -> None:
    """Put the chosen names, or all that are listed, onto the list; a callback."""
    at_least = None if chosen else least
    added = states.act(workspace.named.make_known, corpus_id, name_keys=chosen, at_least=at_least)
    if added:
        states.notice(
            trn(
                "{n} value put on the list of known identifiers. Look again under “Detector settings”, so that "
                "every place is found.",
                "{n} values put on the list of known identifiers. Look again under “Detector settings”, so that "
                "every place is found.",
                added,
            )
        )
    elif added == 0:
        states.notice(tr("They were on the list already."))


def _limits(units: str) -> None:
    """Say what the counts cannot tell."""
    with st.expander(tr("What this counts, and what helps"), key="review.named.limits"):
        st.markdown(
            plain(
                tr(
                    "Counted are the places that are marked as a person and accepted, in the training part, each of "
                    "the {units} once; whoever the records belong to counts too. Names are compared whole, whatever "
                    "capitals, accents and titles they have. One name can be several people: then the number is too "
                    "high. One person can have several spellings, a name can be shortened or not found: then it is "
                    "too low.",
                    units=units,
                )
            )
        )
        st.markdown(
            tr(
                "A method that replaces what is marked (such as surrogates) takes these names out. A method with a "
                "formal guarantee reads the texts **as they are**, names included: if its bound for a group of this "
                "size is not enough, replace these names in the file and load that instead, before the run. None of "
                "these counts leaves: what is released states the bound for 2, 5 and 10 alone."
            )
        )
