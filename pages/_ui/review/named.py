"""Named people: who stands in the records of several units, what a claim is worth for them, and the list to find them.

Privacy posture: names are shown in the table's text column alone; counts of k are read from private text and stay here.
"""

from __future__ import annotations

import math

import streamlit as st

import engine
from engine import group_bound, group_words, posterior
from pages._ui import states
from pages._ui.current import distinct
from pages._ui.language import localised, sentence, tr, trn
from pages._ui.parts.pager import digest, offset_of, pager
from pages._ui.plan import certainty
from pages._ui.texts import UNIT_PLURALS, count_of, number, plain, run_name

SIZE = 50
PAGER, LEAST = "review.named.page", "review.named.least"
MOST_EPSILON, MOST_DELTA = 100.0, 0.01  # beyond either a bound says nothing in words
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
        st.markdown(_worth(claim, spread.largest, units))
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
        frame = frame.assign(bound=[_sure(claim, size) for size in frame["units"]])
        columns.insert(2, "bound")
    frame = frame.assign(known=["✓" if known else "" for known in frame["known"]])
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
            "bound": st.column_config.TextColumn(
                tr("10% sure becomes"),
                help=tr(
                    "How sure somebody may become that this name is in the data, who was 10% sure before. "
                    "What δ allows comes on top."
                ),
            ),
            "records": st.column_config.NumberColumn(tr("Texts")),
            "spellings": st.column_config.NumberColumn(tr("Spellings")),
            "known": st.column_config.TextColumn(tr("Known"), help=tr("On the list of known identifiers.")),
        },
        alt=tr("Names with the number of units that they stand in"),
    )
    pager(total, key=PAGER, size=SIZE, counted=count_of(total, "name"))
    chosen = [keys[row] for row in event.selection.rows if row < len(keys)]
    if claim is not None:
        _numbers(claim, sorted({int(size) for size in frame["units"]}, reverse=True), units)
    put = (
        trn(
            "Add {n} chosen name to the known identifiers", "Add {n} chosen names to the known identifiers", len(chosen)
        )
        if chosen
        else tr("Tick the names that are people")
    )
    st.button(
        put, key="review.named.known", type="primary" if chosen else "secondary", icon=":material/playlist_add:",
        on_click=_make_known, args=(workspace, corpus.id, chosen), disabled=not chosen,
        help=tr("On the list of known identifiers (Detector settings). The next detection finds them wherever they "
        "stand, also shortened or misspelt."),
    )  # fmt: skip


def _sure(claim: engine.Guarantee, size: int) -> str:
    """Return how sure somebody who was 10% sure may become of a group of that many, in a cell."""
    after = _after(claim, size)
    return tr("no bound to speak of") if after is None else tr("at most {sure}", sure=localised(f"{after}%"))


def _after(claim: engine.Guarantee, size: int) -> int | None:
    """Return the percent to which 10% may rise for a group, rounded up; None where that is no bound to speak of."""
    bound = group_bound(claim, size)
    after = math.ceil(100 * posterior(certainty.BEFORE, bound.epsilon) - 1e-6) if bound.epsilon < MOST_EPSILON else 100
    return None if after > certainty.MOST or bound.delta > MOST_DELTA else after


def _worth(claim: engine.Guarantee, size: int, units: str) -> str:
    """Return what the claim is worth for the name that occurs most widely."""
    after = _after(claim, size)
    if after is None:
        return tr(
            "If the name that occurs most widely is a person's, the proof of this run is **worth practically nothing** "
            "for that person: they are named in the texts of {largest} {units}.",
            largest=number(size), units=units,
        )  # fmt: skip
    return tr(
        "If the name that occurs most widely is a person's, the proof of this run holds for that person less strictly: "
        "who was 10% sure that the texts of these {largest} {units} are in the data can become at most **{after}** "
        "sure, apart from what δ allows on top.",
        largest=number(size), units=units, after=localised(f"{after}%"),
    )  # fmt: skip


def _numbers(claim: engine.Guarantee, sizes: list[int], units: str) -> None:
    """Draw the bounds themselves, folded."""
    with st.expander(tr("The numbers of the proof"), type="compact", key="review.named.numbers"):
        said = [f"{number(size)}: {group_words(group_bound(claim, size))}" for size in sizes]
        st.caption(tr("For a name in the texts of so many {units}: {bounds}.", units=units, bounds="; ".join(said)))


def _make_known(workspace: engine.Workspace, corpus_id: str, chosen: list[str]) -> None:
    """Put the chosen names onto the list; a callback."""
    added = states.act(workspace.named.make_known, corpus_id, name_keys=chosen)
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
