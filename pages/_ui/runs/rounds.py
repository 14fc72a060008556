"""How a run went from round to round: votes, self-similarity, distance to private text, most similar pairs.

All of it is internal: computed from private text, or from outputs in ways a guarantee does not cover.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

import pandas as pd
import streamlit as st

import engine
from engine import JSON, JSONObject, as_list, as_number, as_object
from engine.figures.iterations import over_rounds
from pages._ui.examined import figure as examined_figure
from pages._ui.texts import plain

Series = dict[int, float]


@dataclass(frozen=True)
class Course:
    """A measure's words: title, axis with unit, which way is better, whether private text went into it."""

    title: str
    axis: str
    better: str = ""
    private: bool = True


COURSES: dict[str, Course] = {
    "votes": Course("Votes counted, noise included", "Votes", private=False),
    "true_votes_kept": Course(
        "Share of votes kept, the noise's luck taken off", "Share of all votes", "higher", private=False
    ),
    "votes_kept": Course("Share of noisy votes kept, its luck included", "Share of noisy votes", private=False),
    "self_similarity": Course("Similarity of candidates to each other", "Mean cosine (0 to 1)", private=False),
    "fid": Course("Distance to private text (FID)", "Fréchet distance, no unit", "lower"),
    "mauve": Course("Closeness to private text (MAUVE)", "MAUVE (0 to 1)", "higher"),
    "selected": Course("Candidates kept", "Candidates", private=False),
    "population": Course("Candidates", "Candidates", private=False),
    "suppressed": Course("Too similar, held back", "Candidates", private=False),
    "tau": Course("Similarity from which candidates are held back (τ)", "Cosine (0 to 1)", private=False),
    "loss": Course("Training loss", "Loss, nats a token", "lower"),
}
HIDDEN = ("iteration", "round", "n", "seconds", "texts", "true_votes_error")
CHANCE = {"votes_chance": "true_votes_kept"}  # a measure that is a line in another one's figure
REAL = "_real"  # ends the name of what real texts against real texts score: a line in the measure's own figure


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw one curve a measure, and the most similar pairs, where the run has any."""
    noted = workspace.runs.diagnostics(run.id)
    courses = series(noted)
    table = workspace.examinations.table(run.id, "iterations")
    if table is not None:
        courses |= from_table(table)
    courses, lines = drawn(courses)
    said = workspace.runs.notes(run.id)
    rounds = pairs_by_round(noted.get("iterations"))
    if not courses and not rounds and not said:
        return
    if not courses and not said:  # the pairs have a heading and a badge of their own
        _pairs(rounds, run.id)
        return
    st.subheader("Round by round", anchor=False)
    st.badge("internal, may not be released", color="orange", icon=":material/lock:")
    for note in said:
        if note.problem:
            st.warning(plain(note.sentence), icon=":material/warning:")
        else:
            st.markdown(plain(note.sentence))
    with st.grid(2, min_column_width=320):
        for name, values in courses.items():
            course = COURSES.get(name, Course(name.replace("_", " ").capitalize(), name.replace("_", " ")))
            with st.container():
                figure = over_rounds(
                    list(values), list(values.values()),
                    title=course.title, axis=course.axis, better=course.better, internal=course.private,
                    reference=lines.get(name),
                )  # fmt: skip
                examined_figure.draw(figure, key=f"run.rounds.{run.id}.{name}")
    if courses and table is None and run.state == "done":
        st.caption("Distance to private text over the rounds (FID, MAUVE) is measured when the run is examined.")
    if rounds:
        _pairs(rounds, run.id)


def pairs_by_round(iterations: JSON) -> dict[int, list[JSONObject]]:
    """Return round -> the most similar pairs of texts kept in it, where there are any."""
    found: dict[int, list[JSONObject]] = {}
    for body in map(as_object, as_list(iterations)):
        at, pairs = as_number(body.get("iteration")), as_list(body.get("most_similar"))
        if at is not None and pairs:
            found[int(at)] = [as_object(pair) for pair in pairs]
    return found


def _pairs(rounds: Mapping[int, list[JSONObject]], run_id: str) -> None:
    """Draw the most similar candidates of a round; model output, so never through Markdown."""
    with st.expander("Most similar texts kept", key="run.rounds.pairs"):
        st.badge("internal, may not be released", color="orange", icon=":material/lock:")
        st.caption("Texts that repeat each other add little. Cut to their first 300 characters.")
        chosen = max(rounds)
        if len(rounds) > 1:
            order = sorted(rounds, reverse=True)
            chosen = st.selectbox("Round", order, key=f"run.rounds.pairs.{run_id}")
        for pair in rounds[chosen]:
            st.markdown(f"Cosine **{as_number(pair['similarity']):.3f}**")
            for column, side in zip(st.columns(2), ("first", "second"), strict=True):
                with column, st.container(border=True):
                    st.text(str(pair[side]))


def drawn(courses: Mapping[str, Series]) -> tuple[dict[str, Series], dict[str, tuple[str, float]]]:
    """Return the courses that get a figure, and the name and height of the line in it, where there is one."""
    lines = {
        name.removesuffix(REAL): ("real against real", fmean(body.values()))
        for name, body in courses.items()
        if name.endswith(REAL)
    }
    lines |= {CHANCE[name]: ("chance", fmean(body.values())) for name, body in courses.items() if name in CHANCE}
    kept = {
        name: body for name, body in courses.items() if len(body) > 1 and not name.endswith(REAL) and name not in CHANCE
    }
    if len(set(kept.get("selected", {}).values())) == 1:  # a flat line says nothing
        del kept["selected"]
    return kept, lines


def series(diagnostics: JSONObject) -> dict[str, Series]:
    """Return measure -> round -> value from what a run noted.

    Either a measure maps rounds to numbers, or a round maps measures to numbers (under any name).
    """
    found: dict[str, Series] = {}
    for name, body in diagnostics.items():
        if not isinstance(body, Mapping):
            continue
        for key, value in body.items():
            if not str(key).isdigit():
                continue
            if isinstance(value, Mapping):
                for inner, number in value.items():
                    if inner not in HIDDEN:
                        _add(found, str(inner), int(key), number)
            else:
                _add(found, str(name), int(key), value)
    return {name: dict(sorted(values.items())) for name, values in found.items()}


def from_table(table: pd.DataFrame) -> dict[str, Series]:
    """Return measure -> round -> value from the examination's table `iterations` (a row a round)."""
    found: dict[str, Series] = {}
    for row in table.sort_values("iteration").to_dict("records"):
        for name, value in row.items():
            if name not in HIDDEN:
                _add(found, str(name), int(row["iteration"]), value)
    return found


def _add(found: dict[str, Series], name: str, at: int, value: object) -> None:
    if isinstance(value, int | float) and not isinstance(value, bool) and value == value:
        found.setdefault(name, {})[at] = float(value)
