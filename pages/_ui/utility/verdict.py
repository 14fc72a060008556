"""The utility verdict: a table of uses with tick, warning or cross, and the chart beside real text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import streamlit as st

import engine
from engine import TICK, WARN, Finding, headline, use_table
from pages._ui.examined import figure as examined_figure
from pages._ui.navigation import go, page_only
from pages._ui.plan.model import BUILTIN
from pages._ui.texts import FILTERED, count_of, plain

# mark -> icon, word, colour; the word carries the meaning
MARKS: dict[str, tuple[str, str, str]] = {
    "tick": (":material/check_circle:", "suits", "green"),
    "warning": (":material/warning:", "with care", "orange"),
    "cross": (":material/cancel:", "does not suit", "red"),
    "unknown": (":material/help:", "not known", "gray"),
}


def draw(workspace: engine.Workspace, run: engine.RunSummary, findings: Sequence[Finding]) -> None:
    """Draw the answer first, then one line a use with the finding that decided, and what could help."""
    uses = use_table(findings)
    with st.container(key="utility.head"):
        st.markdown(f"#### {_icon(uses)} {headline(uses)}")
    if more := more_texts(uses, run.kept, _most(workspace, run)):
        with st.container(horizontal=True, vertical_alignment="center", key="utility.few"):
            st.markdown(more, width="content")
            if st.button(
                "Plan that run", key="utility.few.plan", icon=":material/tune:",
                type="primary" if nothing_known(uses) else "secondary", **page_only("plan"),
            ):  # fmt: skip
                go("plan")
    with st.container(border=True, key="utility.verdict", gap="small"):
        for names, mark, said in lines(uses):
            icon, word, colour = MARKS[mark]
            st.markdown(f":{colour}[{icon} **{word}**] · {' · '.join(names)}  \n:small[:gray[{said}]]")
    if any(use.mark == "cross" for use in uses):
        _help(workspace, run)
    st.caption(
        "This is a first look: test your own task before you rely on it.",
        help=f"A use suits where its weakest finding loses at most {TICK:.0%} of the way from real to unrelated text, "
        f"and needs care up to {WARN:.0%}. What rests on too few texts, or could be good as well as bad, is not known.",
    )


def nothing_known(uses: Sequence[engine.Use]) -> bool:
    """Return whether the text could be judged for no use."""
    return all(use.mark == "unknown" for use in uses)


def lines(uses: Sequence[engine.Use]) -> list[tuple[list[str], str, str]]:
    """Return the uses, their mark and why, ready for markdown: a line a use, those that wait for as many in one."""
    short = [use for use in uses if use.waits]
    groups = [[use for use in short if use.least == least] for least in sorted({use.least for use in short})]
    together = [group for group in groups if len(group) > 1]
    joined = [use for group in together for use in group]
    if not joined:
        return [_one(use) for use in uses]
    return [
        *(_one(use) for use in uses if use.mark != "unknown"),
        *(_waiting(group) for group in together),
        *(_one(use) for use in uses if use.mark == "unknown" and use not in joined),
    ]


def _waiting(group: Sequence[engine.Use]) -> tuple[list[str], str, str]:
    few = " or ".join(f"{one:,}" for one in sorted({use.size or 0 for use in group}))
    return (
        [f"**{plain(use.use)}**" for use in group],
        "unknown",
        f"They rest on {few} texts; {group[0].least:,} are needed.",
    )


def _one(use: engine.Use) -> tuple[list[str], str, str]:
    return [f"**{plain(use.use)}**"], use.mark, plain(f"{use.sentence}{size(use)}")


def _most(workspace: engine.Workspace, run: engine.RunSummary) -> int | None:
    """Return how many texts its method can make here at most; None where that is not bound to the records."""
    spec = next((one for one in workspace.plan.methods() if one.id == run.method.removeprefix(FILTERED)), None)
    if spec is None or not spec.one_to_one:
        return None
    return workspace.ledger.facts_for(engine.get_method(spec.id), run.corpus_id).records  # as many as Plan offers


def more_texts(uses: Sequence[engine.Use], kept: int, most: int | None = None) -> str:
    """Return how many texts of a run would settle the uses that wait for more; empty where none does.

    Args:
        kept: how many texts the run has: fewer can be held against real text, since a text is not held against its own
            source, and both sides are made equally long.
        most: how many its method can make here, where that is bound to the records.
    """
    short = [use for use in uses if use.waits]
    if not short:
        return ""
    fewest = min(use.size or 0 for use in short)
    beside = f", of which {fewest:,} could be held against as many real ones" if fewest < kept else ""
    needs = "one use needs" if len(short) == 1 else f"{len(short)} uses need"
    first, every = enough(short, kept), max(_wanted(use, kept) for use in short)
    soon = sum(_wanted(use, kept) <= first for use in short)
    would = (
        f"about {first:,}"
        if soon == len(short)
        else f"more, about {first:,} for {soon} of them, about {every:,} for all"
    )
    said = f"The run has {count_of(kept, 'text')}{beside}: {needs} {would}."
    beyond = most is not None and max(first, every) > most
    return f"{said} This method can make {most:,} of these records." if beyond else said


def enough(short: Sequence[engine.Use], kept: int) -> int:
    """Return of how many texts a run of `kept` would be judged for uses that wait for more: those that take fewest.

    Uses that take more than twice as many as the one that takes fewest are left for a larger run.
    """
    wanted = sorted(_wanted(use, kept) for use in short)
    return max(one for one in wanted if one <= 2 * wanted[0])


def _wanted(use: engine.Use, kept: int) -> int:
    """Return of how many texts a run of `kept` would be judged for one use; never fewer than Plan offers."""
    wanted = math.ceil(kept * (use.least or 0) / (use.size or 1))
    return max(engine.ENOUGH_OUTPUTS, -(-wanted // 10) * 10)


def _help(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Say what could bring the text nearer to real text, with the pages where that is chosen."""
    needs = next((spec.needs for spec in workspace.plan.methods() if spec.id == run.method.removeprefix(FILTERED)), ())
    written = "generator" in needs
    with st.container(horizontal=True, vertical_alignment="center", key="utility.help"):
        said = could_help(
            written=written, proven=run.guarantee.kind == "dp" and run.guarantee.epsilon != 0,
            tries_out=written and run.model == BUILTIN,
        )  # fmt: skip
        st.markdown(said, width="content")
        if written and st.button("Models", key="utility.help.models", icon=":material/memory:", **page_only("models")):
            go("models")
        if st.button("Plan a run", key="utility.help.plan", icon=":material/tune:", **page_only("plan")):
            go("plan")


def could_help(*, written: bool, proven: bool, tries_out: bool = False) -> str:
    """Return what could bring a run's text nearer to real text, the likeliest first.

    Args:
        written: a language model wrote the text. proven: its ε is limited and above 0. tries_out: it is the built-in
            model.
    """
    if tries_out:
        first = "The built-in model wrote this, and it is for trying out: change that first."
        return f"{first} A corpus of more people helps too{'; a larger ε as well, but it is spent for good' * proven}."
    first = "another language model" if written else "another method"
    return (
        f"What could help: {first}, a corpus of more people, or a larger ε, which is spent for good."
        if proven
        else (f"What could help: {first}, or a corpus of more people.")
    )


def _icon(uses: Sequence[engine.Use]) -> str:
    """Return the icon of the best mark that a use has."""
    best = next((mark for mark in MARKS if any(use.mark == mark for use in uses)), "unknown")
    icon, _, colour = MARKS[best]
    return f":{colour}[{icon}]"


def size(use: engine.Use) -> str:
    """Return on how many texts a judgement rests, as a sentence; empty where there is no judgement."""
    if use.mark == "unknown" or use.size is None:
        return ""
    done = "Measured" if use.counted == "texts" else "Models trained"
    return f" {done} on {use.size:,} {use.counted} of each side, synthetic and real."


def measures(findings: Sequence[Finding]) -> AbstractContextManager[object]:
    """Return the place of the measures: folded where no use could be judged by them."""
    if not nothing_known(use_table(findings)):
        return nullcontext()
    return st.expander("The measures: no use could be judged by them", key="utility.measures")


def figure(findings: Sequence[Finding], run: engine.RunSummary) -> None:
    """Draw each finding beside the band of real against real, or say that none can stand there.

    Args:
        findings: of the run, those of privacy too, so that the chart knows of which uses the verdict is.
    """
    from engine.figures.utility import utility_dots

    made = utility_dots(findings)
    if not made.plot.data:
        st.markdown("No measure of use could be taken at this number of texts, so there is nothing to draw.")
        return
    examined_figure.draw(made, key=f"utility.figure.{run.id}", folded=True)
