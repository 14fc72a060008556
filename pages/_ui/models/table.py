"""One table of language models, those here and those that would suit this machine, and the one that was chosen.

How to use: `table.draw(workspace, corpus, description)` draws both; `choose(model_id)` turns to another, in a callback.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

import engine
from engine import LANGUAGE_NAMES, MODEL_USES
from pages._ui.models import cards as models_cards
from pages._ui.models import language as models_language
from pages._ui.models import suggested as models_suggested
from pages._ui.models.chosen import CHOICE, choose, plan_with
from pages._ui.parts.pager import digest
from pages._ui.texts import count_of, number, seconds

TIME = "time"  # headed by the number of texts
ROW, HEAD, MOST = 35, 36, 11  # pixels of a row and of the headings; rows that are seen at once
BUILTIN = "builtin"


@dataclass(frozen=True)
class Row:
    """A line of the table: the model's id here or at the hub, and what stands in its cells."""

    id: str
    cells: tuple[str, ...]


COLUMNS = {
    "Model": 222,
    "Good enough for": 140,
    "On this machine": 112,
    "Memory": 108,
    TIME: 62,
}
CELLS = (*COLUMNS, "Languages", "Licence")  # the card below says these


def draw(
    workspace: engine.Workspace, corpus: engine.CorpusSummary | None, description: engine.Description | None
) -> None:
    """Draw the table, and below it the chosen model with what can be done with it."""
    texts = texts_of(workspace, corpus)
    found = models_suggested.asked(workspace, description, texts)
    built_in = models_cards.known(workspace)[BUILTIN]
    here = workspace.models.all()
    sources = {info.source.partition("@")[0] for info in here}
    offers = {one.offer.hub: one for one in found.models if one.offer.hub not in sources}
    rows = [
        *(_of_here(workspace, info, _time_here(workspace, corpus, info.id, texts)) for info in here),
        *(_offered(one, texts) for one in offers.values()),
    ]
    ids = [row.id for row in rows]
    chosen = str(st.session_state.get(CHOICE) or BUILTIN)
    chosen = chosen if chosen in ids else ids[0]
    _table(rows, ids.index(chosen), texts)
    with st.container(key="models.chosen.panel"):
        if chosen in offers:
            models_suggested.card(workspace, offers[chosen], description, texts)
            return
        info = next(info for info in here if info.id == chosen)
        barred = "Repair it first." if info.problem else "" if corpus is not None else "Load a corpus first."
        to_plan = partial(plan_with, chosen, barred=barred)
        if chosen == BUILTIN:
            models_cards.card(BUILTIN, built_in, workspace, corpus, beside=to_plan)
        else:
            models_language.card(workspace, info, corpus, beside=to_plan)


def texts_of(workspace: engine.Workspace, corpus: engine.CorpusSummary | None) -> int:
    """Return how many texts a run of the corpus makes where nobody says how many, which Plan's times are for too."""
    units = models_suggested.TEXTS if corpus is None else workspace.ledger.public_facts(corpus.id).units
    return min(models_suggested.TEXTS, units)


def _table(rows: Sequence[Row], at: int, texts: int) -> None:
    """Draw the rows; a click on one chooses its model."""
    ids = [row.id for row in rows]
    key = f"models.table.{digest(ids)}"

    def selected() -> None:
        taken = st.session_state[key]["selection"]
        row = next((int(cell[0]) for cell in taken["cells"]), next(iter(taken["rows"]), None))
        if row is not None and row < len(ids):
            choose(ids[row])

    if st.session_state.get(key, {}).get("selection", {}).get("rows") not in (None, [at]):
        st.session_state[key] = {"selection": {"rows": [at]}}  # chosen by a click on a cell, or by an import
    heads = {name: count_of(texts, "text") if name == TIME else name for name in CELLS}
    st.dataframe(
        pd.DataFrame([row.cells for row in rows], columns=list(heads.values())),
        key=key, on_select=selected, selection_mode=("single-row-required", "single-cell"),
        selection_default={"selection": {"rows": [at]}}, hide_index=True,
        column_order=[heads[name] for name in COLUMNS],
        height=HEAD + ROW * min(len(rows), MOST), row_height=ROW,
        alt="Language models here and suggested; a row shows its model below",
        column_config={
            heads[name]: st.column_config.TextColumn(
                width=width, help=HELP.get(name),
            )
            for name, width in COLUMNS.items()
        },
    )  # fmt: skip


NOT_HERE = "too large here"  # what a model is good enough for that this one cannot run
SHORT = {"best": "largest fit", "first": "first try"}
HELP = {
    "Good enough for": "“Training it here”: it follows no instructions, so a method trains it, or lets it write on. "
    "“Rewriting and imitating”: it follows instructions; how well, five of its texts show",
    "On this machine": "Whether it is on this machine, and how its last self-test ended; how well one writes is known "
    "here once its test has shown five of its texts",
    "Memory": "What its weights take, and whether this machine can run it",
    TIME: "About how long a run of so many texts would take while nothing else runs; the self-test measures",
}


def _time_here(workspace: engine.Workspace, corpus: engine.CorpusSummary | None, model_id: str, texts: int) -> str:
    """Return how long the built-in model writes so many texts, as Plan reckons it; a dash where that is not known."""
    if corpus is None or model_id != BUILTIN:
        return "–"
    try:
        plan = workspace.plan.draft(corpus.id, "public", count=texts).plan
    except engine.UserError:
        return "–"
    return seconds(max(1.0, plan.seconds))


def _of_here(workspace: engine.Workspace, info: engine.ModelInfo, time: str = "–") -> Row:
    """Return the line of a model that was added or came with the program."""
    name = "Built-in, for trying out" if info.id == BUILTIN else info.id.partition(":")[2] or info.id
    test = workspace.models.last_test(info.id)
    result = test["result"]
    if info.problem:
        state = "cannot be used"
    elif test["state"] in ("queued", "running"):
        state = "being tested"
    else:
        untested = "built in" if info.id == BUILTIN else "not tested"
        state = untested if result is None else "tested" if result["ok"] else "a test failed"
    place = "yes" if info.local else "elsewhere"
    memory = "–" if info.back_end == "endpoint" else models_language.size(info.memory_bytes[0])
    memory += ", fits" if info.id == BUILTIN else ""
    languages = LANGUAGE_NAMES["en"] if info.id == BUILTIN else "–"
    return Row(
        info.id,
        (name, _use(info), f"{place}, {state}", memory, time, languages, info.licence or "–"),
    )


def _use(info: engine.ModelInfo) -> str:
    """Return what a model is good enough for in a few words, by how it is asked."""
    return "nothing, until repaired" if info.problem else MODEL_USES[info.prompts]


def _offered(one: engine.Suggestion, texts: int) -> Row:
    """Return the line of an open model that could be fetched."""
    role, too_large = SHORT.get(one.role), one.verdict == "too large"
    return Row(one.offer.hub, (
        models_suggested.short_name(one) + (f" · {role}" if role else ""),
        NOT_HERE if too_large else MODEL_USES[one.offer.prompts], "no, not tried",
        f"{models_language.size(one.memory_bytes)}, {models_suggested.VERDICTS[one.verdict]}",
        "–" if too_large else models_suggested.time(one, texts, short=True),
        _languages(one.offer.languages), one.offer.licence,
    ))  # fmt: skip


def _languages(codes: Sequence[str]) -> str:
    """Return the one language by its name, several by their number."""
    return LANGUAGE_NAMES.get(codes[0], codes[0]) if len(codes) == 1 else number(len(codes))
