"""Figures from made-up findings: what they say, what they hold, and that they carry no text."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from engine import figures
from engine.examine.findings.findings import Finding
from engine.examine.findings.uses import Use, too_few
from engine.examine.findings.verdict import formal, privacy_verdict, ranked
from engine.examine.measures import MEASURES
from engine.figures import palette
from engine.figures.beside import MOST, lacking, shared
from engine.figures.board import BoardRun, dominated, placed, separation
from engine.figures.privacy.membership import add_roc, roc_curves
from engine.figures.privacy.privacy import SHARES, clearest_first, stands_out
from engine.figures.text_map import mixing, text_map
from engine.figures.utility import beside_real
from engine.methods import REGISTRY as METHODS


def finding(name: str, reference: Any, value: float, half: float | None = 0.01) -> Finding:
    measure = MEASURES[name]
    low, high = (None, None) if half is None else (value - half, value + half)
    return Finding(name, value, low, high, 100, reference, measure.measure, measure.direction, measure.group)


PRIVACY = [
    finding("pipp", "train", 0.4), finding("pipp", "holdout", 0.1), finding("pipp", "baseline", 0.2),
    finding("pipp_excess", "holdout", 0.3), finding("verbatim_8gram", "train", 0.05),
    finding("verbatim_8gram", "holdout", 0.04), finding("verbatim_8gram_excess", "holdout", 0.005),
    finding("nearest_similarity", "train", 0.7), finding("nearest_similarity_excess", "holdout", 0.02, 0.05),
]  # fmt: skip
UTILITY = [
    finding(name, reference, value)
    for name, ours, real, far in (
        ("length_distance", 0.02, 0.01, 1.5), ("js_1gram", 0.12, 0.10, 0.7), ("js_2gram", 0.7, 0.6, 0.98),
        ("js_3gram", 0.9, 0.85, 1.0), ("embedding_similarity", 0.40, 0.41, 0.1), ("mauve", 0.3, 0.98, 0.01),
    )
    for reference, value in (("train", ours), ("real", real), ("unrelated", far))
] + [finding("self_bleu", "train", 0.2), finding("self_bleu", "real", 0.19),
     finding("distinct_2", "train", 0.6), finding("distinct_2", "real", 0.62)]  # fmt: skip


def maps() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    kinds = np.repeat(["private", "synthetic"], 60)
    return pd.DataFrame({"x": rng.normal(size=120), "y": rng.normal(size=120), "kind": kinds,
                         "record_id": [f"r{i}" for i in range(120)], "text": "SECRET WORDS"})  # fmt: skip


def quantiles() -> pd.DataFrame:
    grid = np.linspace(0, 1, 11)
    return pd.concat([pd.DataFrame({"reference": r, "share": grid, "similarity": grid}) for r in ("train", "holdout")])


def lengths() -> pd.DataFrame:
    return pd.DataFrame(
        {"kind": ["synthetic"] * 3 + ["train"] * 3, "words": [1, 2, 9, 4, 5, 6], "records": [1, 1, 1, 2, 1, 1]}
    )


def likeness(kinds: tuple[str, ...] = ("synthetic", "private", "other private")) -> pd.DataFrame:
    middle = np.array([-0.5, 0.5, 0.9])
    shares = {"synthetic": (0.1, 0.2, 0.7), "private": (0.1, 0.6, 0.3), "other private": (0.6, 0.3, 0.1)}
    return pd.concat([pd.DataFrame({"kind": k, "cosine": middle, "share": shares[k], "texts": 9}) for k in kinds])


BOARD = {"r-1": BoardRun(1, "Surrogates", "surrogate", "no proof"), "r-2": BoardRun(2, "AUG-PE", "aug-pe", "ε 4")}
ALL = [
    figures.leak_shares(PRIVACY),
    figures.closeness(quantiles(), PRIVACY),
    figures.utility_dots(UTILITY),
    figures.lengths(lengths()),
    figures.likeness(likeness()),
    figures.text_map(maps()),
    figures.funnel({"made": 100, "dropped: copied": 30, "dropped: too short": 10, "kept": 60}),
    figures.board(BOARD, dict.fromkeys(BOARD, PRIVACY + UTILITY), "pipp", "mauve"),
    figures.beside({"A · One": PRIVACY + UTILITY, "B · Two": PRIVACY + UTILITY}, ["mauve"]),
]  # fmt: skip


@pytest.mark.parametrize("made", ALL, ids=lambda made: made.takeaway[:24])
def test_every_figure_has_words_and_follows_the_theme(made: figures.Figure) -> None:
    assert made.takeaway.endswith(".")
    assert made.caveat.endswith(".")
    assert made.takeaway in made.alt
    layout = made.plot.to_plotly_json()["layout"]
    assert layout["paper_bgcolor"] == "rgba(0,0,0,0)"
    assert "color" not in layout.get("font", {})
    assert made.plot.layout.xaxis.title.text
    text = made.plot.to_json()
    assert "SECRET" not in text
    assert json.loads(text)["data"]


@pytest.mark.parametrize(
    "made",
    [figures.leak_shares([]), figures.utility_dots([]), figures.funnel({}), figures.lengths(lengths().head(0)),
     figures.likeness(likeness().head(0)), figures.likeness(likeness(("synthetic",))),
     figures.text_map(maps().head(0)), figures.closeness(quantiles().head(0), []),
     figures.board({}, {}, "pipp", "mauve"), figures.beside({}, [])],
)  # fmt: skip
def test_nothing_measured_is_drawn_as_such(made: figures.Figure) -> None:
    assert made.takeaway.endswith(".")


def test_takeaways_are_computed() -> None:
    assert "records with a private entity" in figures.leak_shares(PRIVACY).takeaway
    assert "eight-word copy" not in figures.leak_shares(PRIVACY).takeaway
    safe = [f for f in PRIVACY if not f.name.startswith("pipp")]
    assert "Nothing of this stands out" in figures.leak_shares(safe).takeaway
    assert figures.funnel({"made": 100, "dropped: copied": 30, "kept": 60}).takeaway.startswith("60 of 100")
    assert "5 words" not in figures.lengths(lengths()).takeaway
    assert "at most 2 words" in figures.lengths(lengths()).takeaway
    assert "alike by at least 0.90; in the two halves of the private text it is -0.50 and 0.50" in (
        figures.likeness(likeness()).takeaway.replace("−", "-")
    )
    assert "mixture of topics and styles" in figures.utility_dots(UTILITY).takeaway


@pytest.mark.parametrize(
    ("direction", "ends", "place"),
    [
        ("lower is better", (0.05, 0.15), "close"), ("lower is better", (0.3, 0.4), "apart"),
        ("lower is better", (0.05, 0.95), "unknown"), ("lower is better", (0.01, 0.02), "close"),
        ("higher is better", (0.3, 0.4), "apart"), ("higher is better", (1.1, 1.2), "close"),
        ("higher is better", (0.15, 0.95), "unknown"),
        ("closer to real is better", (0.01, 0.02), "apart"), ("closer to real is better", (0.15, 0.25), "close"),
        ("closer to real is better", (0.1, 0.95), "unknown"),
    ],
)  # fmt: skip
def test_an_interval_too_wide_to_tell_is_not_called_close(direction, ends, place) -> None:
    real, far = ((0.1, 0.2), (0.9, 1.0)) if direction != "higher is better" else ((0.9, 1.0), (0.1, 0.2))
    rows = [
        replace(finding("js_1gram", reference, sum(span) / 2), low=span[0], high=span[1], direction=direction)
        for reference, span in (("train", ends), ("real", real), ("unrelated", far))
    ]
    assert beside_real(rows, "js_1gram") == place
    figure = figures.utility_dots(rows, ("js_1gram",))
    wide = not figure.plot.layout.shapes  # no limits are drawn where no interval lies within one
    assert wide is figure.takeaway.startswith("Too uncertain to say: every interval reaches")
    assert wide is (ends not in ((0.05, 0.15), (0.3, 0.4), (0.01, 0.02), (1.1, 1.2)))
    takeaway = figure.takeaway.removeprefix("Too uncertain to say: every interval reaches from one verdict into ")
    assert takeaway.removeprefix("another. ").startswith(
        "The main measure cannot be told from real text"
        if place == "close"
        else "The main measure does not come up to real text"
    )
    (dots,) = [trace for trace in figure.plot.data if trace.name == "Synthetic"]
    assert list(dots.marker.symbol) == ["circle-open" if place == "unknown" else "circle"]
    assert ("Too uncertain" in takeaway) == (place == "unknown")
    assert ("Apart: words used." in takeaway) == (place == "apart")


@pytest.mark.parametrize("direction", ["lower is better", "closer to real is better"])
def test_a_measure_by_which_unrelated_text_could_be_real_calls_nothing_close(direction) -> None:
    rows = [
        replace(finding("js_1gram", reference, sum(span) / 2), low=span[0], high=span[1], direction=direction)
        for reference, span in (("train", (0.01, 0.02)), ("real", (0.0, 0.95)), ("unrelated", (0.9, 1.0)))
    ]
    assert beside_real(rows, "js_1gram") == "unknown"
    rows[1] = replace(rows[1], high=0.5)
    assert beside_real(rows, "js_1gram") == "close"


def test_what_was_not_measured_has_no_place() -> None:
    rows = [finding("js_1gram", "train", 0.1), finding("js_1gram", "real", float("nan"))]
    assert beside_real(rows, "js_1gram") is None
    assert beside_real(rows[:1], "js_1gram") is None


@pytest.mark.parametrize(
    ("equal", "expected"),
    [
        (None, True),  # 0.70 [0.65, 0.75] against 0.41 [0.36, 0.47], sizes unknown
        (0.40, False),  # against as many training records as the holdout has it is no more than the holdout's
        (0.60, True),
    ],
)
def test_unequal_sizes_alone_do_not_stand_out(equal: float | None, expected: bool) -> None:
    settings = {} if equal is None else {"equal_size_value": equal}
    words = ("share", "lower is safer", "privacy")
    train = Finding("pipp_direct", 0.70, 0.65, 0.75, 300, "train", *words, settings)
    holdout = Finding("pipp_direct", 0.41, 0.36, 0.47, 300, "holdout", *words)
    assert stands_out([train, holdout], "pipp_direct") is expected


def test_mixing_is_even_for_one_cloud_and_nil_for_two() -> None:
    table = maps()
    assert mixing(table) == pytest.approx(0.5, abs=0.1)
    table.loc[table["kind"] == "synthetic", "x"] += 100
    assert mixing(table) == 0.0


@pytest.mark.parametrize("shift", [0.0, 2.0])
def test_the_map_says_how_as_many_held_out_texts_would_mix(shift: float) -> None:
    """As well as text of the same kind, better than text of another, whatever their numbers are."""
    rng = np.random.default_rng(1)
    sizes = {"private": 300, "holdout": 150, "synthetic": 600}
    table = pd.DataFrame({"kind": np.repeat(list(sizes), list(sizes.values()))})
    table[["x", "y"]] = rng.normal(size=(len(table), 2))
    table.loc[table["kind"] == "synthetic", "x"] += shift
    made, held = mixing(table, count=150), mixing(table, kind="holdout", count=150)
    assert held == pytest.approx(1 / 3, abs=0.03)
    assert (abs(made - held) < 0.03) == (shift == 0.0)
    said = text_map(table.assign(record_id="", label=None)).takeaway
    assert said.endswith(f"of as many held-out real texts in their place (150) it would be {100 * held:.0f}%.")
    few = text_map(table[table["kind"] != "holdout"].assign(record_id="", label=None)).takeaway
    assert few.endswith("even mixing would give 67%.")


def test_dominated_needs_a_run_that_is_better_on_both() -> None:
    assert dominated({"a": (1, 1), "b": (2, 2), "c": (3, 0)}) == {"a"}
    assert dominated({"a": (1, 1), "b": (1, 2)}) == set()


def beaten(runs: dict[str, list[Finding]], privacy: str, utility: str) -> set[str]:
    drawn = figures.board(BOARD, runs, privacy, utility).plot
    return {str(run[0]) for trace in drawn.data if "(beaten)" in trace.name for run in trace.customdata}


def test_less_than_chance_is_no_safer_than_chance_on_the_board() -> None:
    """A run whose bar reaches from −100% to above chance beats nobody on privacy, however low its own value lies."""

    def run(value: float, half: float, use: float) -> list[Finding]:
        return [finding("strict_pipp_excess", "holdout", value, half), finding("mauve", "none", use)]

    runs = {"r-1": run(-0.4, 0.6, 0.9), "r-2": run(0.0, 0.01, 0.2)}
    assert beaten(runs, "strict_pipp_excess", "mauve") == set()
    assert (
        "Below chance is no safer than chance and drawn there"
        in figures.board(BOARD, runs, "strict_pipp_excess", "mauve").caveat
    )
    assert beaten({**runs, "r-1": run(-0.4, 0.2, 0.9)}, "strict_pipp_excess", "mauve") == {"r-2"}


def test_a_curve_and_its_band_are_drawn_only_where_there_are_enough_non_members() -> None:
    """Below, a band fills the whole figure, and a curve may lie above a proof by chance."""
    points = pd.DataFrame({"attack": "ngram", "fpr": [0.0, 0.005, 0.05, 1.0], "tpr": [0.9, 0.95, 1.0, 1.0],
                           "tpr_low": [0.0, 0.0, 0.9, 1.0], "tpr_high": 1.0})  # fmt: skip
    plot = go.Figure()
    add_roc(plot, points, "Word sequences", 0, edge=0.02)
    *band, curve = plot.data
    assert [list(side.x) for side in (*band, curve)] == [[0.05, 1.0]] * 3


def test_the_board_holds_what_moves_with_the_number_of_texts_at_equal_numbers_alone() -> None:
    def run(risk: float, apart: float, texts: int) -> list[Finding]:
        return [finding("pipp", "train", risk),
                replace(finding("js_2gram", "train", apart), settings={"texts_a_side": texts})]  # fmt: skip

    assert beaten({"r-1": run(0.4, 0.8, 600), "r-2": run(0.2, 0.6, 600)}, "pipp", "js_2gram") == {"r-1"}
    other = {"r-1": run(0.4, 0.8, 60), "r-2": run(0.2, 0.6, 600)}
    assert beaten(other, "pipp", "js_2gram") == set()
    assert "was taken of 60 to 600 of them" in figures.board(BOARD, other, "pipp", "js_2gram").caveat


def of_texts(name: str, reference: str, value: float, texts: int, **fewer: float) -> Finding:
    settings = {"texts_a_side": texts, "at_fewer_texts": {key[3:]: [one, one, one] for key, one in fewer.items()}}
    return replace(finding(name, reference, value), settings=settings)


def test_the_board_draws_what_moves_with_the_number_of_texts_at_one_number() -> None:
    """The larger run is beaten, though as it stands it is the better one; and real text is drawn at as many."""
    runs = {
        "r-1": [finding("pipp", "train", 0.4), of_texts("js_2gram", "train", 0.5, 600, at_50=0.9, at_100=0.8),
                of_texts("js_2gram", "real", 0.2, 600, at_50=0.6, at_100=0.5)],
        "r-2": [finding("pipp", "train", 0.2), of_texts("js_2gram", "train", 0.7, 100, at_50=0.8),
                of_texts("js_2gram", "real", 0.45, 100, at_50=0.55)],
    }  # fmt: skip
    drawn = figures.board(BOARD, runs, "pipp", "js_2gram")
    assert {str(run[0]) for trace in drawn.plot.data if "(beaten)" in trace.name for run in trace.customdata} == {"r-1"}
    assert sorted(x for trace in drawn.plot.data if trace.customdata is not None for x in trace.x) == [0.7, 0.8]
    assert "it is drawn at 100 texts of each run" in drawn.caveat
    assert "at 100 texts" in drawn.plot.layout.xaxis.title.text
    side = figures.beside({"A · One": runs["r-1"], "B · Two": runs["r-2"]}, ["js_2gram"])
    values = {y: x for trace in side.plot.data for x, y in zip(trace.x, trace.y, strict=True)
              if trace.marker.symbol != "line-ns-open"}  # fmt: skip
    assert values == {"Run A": 0.8, "Run B": 0.7}
    assert "at 100 texts" in side.plot.layout.annotations[0].text
    marks = {y: x for trace in side.plot.data for x, y in zip(trace.x, trace.y, strict=True)
             if trace.marker.symbol == "line-ns-open"}  # fmt: skip
    assert marks == {"Run A": 0.5, "Run B": 0.45}


def test_runs_side_by_side_with_no_number_of_texts_in_common_are_not_to_be_compared() -> None:
    runs = {"A · One": [of_texts("js_2gram", "train", 0.5, 600), finding("kid", "train", 0.1)],
            "B · Two": [of_texts("js_2gram", "train", 0.7, 100, at_50=0.8), finding("kid", "train", 0.2)]}  # fmt: skip
    caveat = figures.beside(runs, ["kid", "js_2gram"]).caveat
    assert "“Word pairs used” moves with the number of texts, of which these runs have none in common" in caveat
    assert "none in common" not in figures.beside(runs, ["kid"]).caveat
    runs["A · One"][0] = of_texts("js_2gram", "train", 0.5, 600, at_100=0.9)
    assert "none in common" not in figures.beside(runs, ["kid", "js_2gram"]).caveat


def test_runs_side_by_side_stand_each_beside_its_own_real_text() -> None:
    """One band for all where real text is the same; else a mark in the row of each run."""

    def run(real: float) -> list[Finding]:
        return [finding("self_bleu", "train", 0.3), finding("self_bleu", "real", real)]

    def levels(first: float, second: float) -> tuple[dict[str, float], int]:
        plot = figures.beside({"A · One": run(first), "B · Two": run(second)}, ["self_bleu"]).plot
        marks = [trace for trace in plot.data if trace.marker.symbol == "line-ns-open"]
        return {y: x for trace in marks for x, y in zip(trace.x, trace.y, strict=True)}, len(plot.layout.shapes)

    assert levels(0.2, 0.2) == ({}, 2)
    assert levels(0.2, 0.6) == ({"Run A": 0.2, "Run B": 0.6}, 0)


def test_the_board_holds_readable_shares_against_real_records() -> None:
    runs = {run: [finding("readable", "none", value), finding("readable", "baseline", 0.97),
                  finding("kid", "train", apart)]
            for run, value, apart in (("r-1", 0.3, 0.2), ("r-2", 0.95, 0.1))}  # fmt: skip
    assert beaten(runs, "readable", "kid") == {"r-1"}


@pytest.mark.parametrize(("half", "untouched", "expected"), [(0.01, False, {"r-1"}), (0.2, False, set()),
                                                             (None, False, set()), (0.01, True, set())])  # fmt: skip
def test_a_run_is_beaten_only_where_its_intervals_are_clear_of_the_others(half, untouched, expected) -> None:
    """Nor where there is no interval, nor where it read no private record."""
    runs = {run: [finding("pipp", "train", risk, half), finding("mauve", "none", use)]
            for run, risk, use in (("r-1", 0.4, 0.2), ("r-2", 0.2, 0.9))}  # fmt: skip
    called = {**BOARD, "r-1": replace(BOARD["r-1"], untouched=untouched)}
    drawn = figures.board(called, runs, "pipp", "mauve")
    marked = {str(run[0]) for trace in drawn.plot.data if "(beaten)" in trace.name for run in trace.customdata}
    assert marked == expected
    assert ("No run clearly beats another" in drawn.takeaway) == (not expected)
    assert ("Every match of run 1 is chance" in drawn.caveat) == untouched


def test_what_separates_the_runs_is_clear_of_chance() -> None:
    def runs(far: float, half: float) -> dict[str, list[Finding]]:
        return {run: [finding("pipp", "train", 0.2), finding("mauve", "none", value, half)]
                for run, value in (("r-1", 0.2), ("r-2", far))}  # fmt: skip

    assert separation(runs(0.9, 0.01), "pipp", "mauve")[0] == 1
    assert separation(runs(0.9, 0.5), "pipp", "mauve")[0] == 0
    assert separation(runs(0.9, 0.01), "pipp", "mauve") > separation(runs(0.3, 0.01), "pipp", "mauve")
    assert separation({}, "pipp", "mauve") == (0, 0.0)


def test_a_curve_that_cannot_be_read_is_named_and_not_in_the_legend() -> None:
    attacks = pd.DataFrame({"attack": ["a", "b"], "title": ["One", "Two"], "observes": "text", "auc": 0.5, "low": 0.4,
                            "high": 0.6, "others": 40, "members": 40, "greyed": False, "p": 0.5, "tpr_01": float("nan"),
                            "without_duplicates_auc": float("nan"), "note": ""})  # fmt: skip
    roc = pd.DataFrame({"attack": ["a", "a", "b", "b", "b"], "fpr": [0.0, 1.0, 0.0, 0.5, 1.0],
                        "tpr": [0.1, 1.0, 0.1, 0.5, 1.0], "tpr_low": 0.0, "tpr_high": 1.0})  # fmt: skip
    drawn = roc_curves(roc, attacks, ["a", "b"])
    assert "Too few units to draw: “One”." in drawn.takeaway
    assert {trace.name for trace in drawn.plot.data if trace.name in ("One", "Two")} == {"Two"}


def test_a_method_keeps_its_colour() -> None:
    assert palette.of_method("surrogate") != palette.of_method("filter")
    assert palette.of_method("other") == palette.of_method("other")
    assert set(palette.METHOD_SYMBOLS) == set(palette.METHODS) == {method for method, _, _ in METHODS}
    assert len(set(palette.METHOD_SYMBOLS.values()) | {palette.OTHER_SYMBOL}) == len(METHODS) + 1


def test_the_verdict_follows_the_excess() -> None:
    leak, chance, member, unsure, proof = privacy_verdict(PRIVACY)
    assert (leak.level, chance.level, unsure.level) == ("leak", "chance", "unsure")
    assert "more often than of records nobody used (40.0% against 10.0%)" in leak.text
    assert "Difference: 30.0 pp" in leak.more
    assert "40.0%" in leak.more
    assert "10.0%" in leak.more  # the side that decides stands beside it
    assert (member.level, proof.level) == ("unknown", "no proof")
    assert [s.level for s in privacy_verdict([])] == ["unknown"] * 4 + ["no proof"]
    alone = privacy_verdict([finding("pipp", "train", 0.2)])[0]
    assert alone.level == "unsure"
    assert (
        "of the synthetic records contain a private entity of the training records; there is no holdout" in alone.text
    )


def test_the_sentence_names_the_share_that_was_judged() -> None:
    words = ("share", "lower is safer", "privacy")
    rows = [
        Finding("pipp", 0.70, 0.65, 0.75, 300, "train", *words, {"equal_size_value": 0.40}),
        Finding("pipp", 0.41, 0.36, 0.47, 300, "holdout", *words),
        Finding("pipp_excess", -0.01, -0.05, 0.015, 300, "holdout", *words, {"reference_records": 512}),
    ]
    first = privacy_verdict(rows)[0]
    assert first.level == "chance"
    assert "40.0% of the synthetic records contain a private entity of 512 training records, 41.0%" in first.more
    assert "Against all training records: 70.0%." in first.more
    assert "(40.0% against 41.0%)" in first.text
    assert first.text.count("%") == 2, "the two shares that were compared lead, and no other number"
    assert first.brief == (
        "Real identifiers: 120 of 300 texts (40.0%) hold a private entity of 512 records used, by chance 123 would "
        "(41.0%)."
    )


@pytest.mark.parametrize(
    ("baseline", "held", "level"),
    [
        (0.0, 0.0, "leak"),  # whole letters were copied, though few of them fall into a cut of the holdout's size
        (0.10, 0.0, "unsure"),  # real records repeat the training part as often: stock phrases
        (0.0, 0.10, "unsure"),  # the holdout, which nobody used, is repeated as often
    ],
)
def test_copies_are_also_judged_by_what_real_records_repeat(baseline: float, held: float, level: str) -> None:
    rows = [
        finding("verbatim_8gram", "train", 0.10, 0.04), finding("verbatim_8gram", "baseline", baseline, 0.03),
        finding("verbatim_8gram", "holdout", held, 0.03), finding("verbatim_8gram_excess", "holdout", 0.01, 0.03),
    ]  # fmt: skip
    sentence = privacy_verdict(rows)[1]
    assert sentence.level == level
    assert ("of real records that nobody used only 0.0%" in sentence.text) is (level == "leak")
    if level == "leak":
        assert sentence.brief == (
            "Copied text: 10.0% of records repeat eight words in a row of all that was used; of real records that "
            "nobody used, 0.0% do."
        )
    assert stands_out(rows, "verbatim_8gram") is (level == "leak")


def test_text_of_the_own_source_and_guessed_details_are_said_and_ranked():
    rows = [
        finding("pipp", "train", 0.2, 0.05), finding("pipp", "holdout", 0.2, 0.05),
        finding("pipp_excess", "holdout", 0.0),
        finding("pipp_context", "train", 0.10), finding("pipp_context", "baseline", 0.01),
        finding("detail_inference", "train", 0.15), finding("detail_inference", "holdout", 0.04),
        finding("detail_inference_excess", "holdout", 0.11, 0.04),
        finding("linkage", "train", 0.02), finding("linkage", "holdout", 0.01),
        finding("linkage_excess", "holdout", 0.01, 0.009),  # clear alone, not among three
    ]  # fmt: skip
    said = privacy_verdict(rows)
    assert said[0].level == "leak"
    assert "10.0% contain one of them, 1.0% one of another training record" in said[0].text
    (details,) = [s for s in said if s.text.startswith("Details of people")]
    assert "guesses a missing detail, all kinds taken together, right for 15.0% of the records used" in details.text
    assert [s.level for s in ranked(said)] == ["leak", "leak", "unknown", "unknown", "unknown", "no proof"]
    broken = formal({"kind": "dp", "epsilon": 1.0}, ["An attack"])
    assert ranked([*said, broken])[0] == broken


@pytest.mark.parametrize(
    ("excess", "half", "level"),
    [(0.011, 0.005, "slight"), (0.011, 0.02, "unsure"), (0.04, 0.01, "leak"), (0, 0.01, "chance")],
)
def test_a_small_closeness_is_not_told_as_copies_are(excess: float, half: float, level: str) -> None:
    rows = [
        finding("nearest_similarity", "train", 0.78 + excess), finding("nearest_similarity", "holdout", 0.78),
        finding("nearest_similarity_excess", "holdout", excess, half), finding("verbatim_8gram", "train", 0.5),
        finding("verbatim_8gram", "holdout", 0.1), finding("verbatim_8gram_excess", "holdout", 0.4),
    ]  # fmt: skip
    found = {one.finding: one for one in privacy_verdict(rows)}
    assert found["nearest_similarity"].level == level
    assert ("but by 0.02 on average at most" in found["nearest_similarity"].text) is (level == "slight")
    assert ranked(list(found.values()))[0].finding == "verbatim_8gram"


def test_the_web_process_can_import_figures_and_verdicts() -> None:
    code = (
        "import sys, engine.figures, engine.examine.findings.verdict, engine.examine.findings.uses;"
        "import engine.examine.measures;"
        "bad = {'torch', 'umap', 'mauve', 'sklearn', 'numba', 'faiss', 'scipy', 'spacy'} & set(sys.modules);"
        "sys.exit(str(sorted(bad)) if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_training_part_is_also_drawn_at_the_size_of_the_holdout() -> None:
    words = ("share", "lower is safer", "privacy")
    train = Finding("elp", 0.70, 0.65, 0.75, 3000, "train", *words, {"equal_size_value": 0.40})
    holdout = Finding("elp", 0.41, 0.36, 0.47, 300, "holdout", *words)
    dots = {trace.name: trace for trace in figures.leak_shares([train, holdout]).plot.data}
    (equal,) = (dot for name, dot in dots.items() if "as many records" in name)
    assert list(equal.x) == [pytest.approx(40.0)]
    assert equal.error_x.array[0] == pytest.approx(5.6, abs=0.3)  # Wilson at 300 entities, not at 3,000
    assert len(dots) == 3
    assert len(figures.leak_shares([holdout, Finding("elp", 0.7, 0.6, 0.8, 9, "train", *words)]).plot.data) == 2


def test_what_counts_is_drawn_in_colour_and_the_rest_in_grey_or_not_at_all() -> None:
    words = ("share", "lower is safer", "privacy")
    rows = [
        Finding("elp", 0.70, 0.65, 0.75, 3000, "train", *words, {"equal_size_value": 0.40}),
        Finding("elp", 0.41, 0.36, 0.47, 300, "holdout", *words),
        Finding("elp", 0.90, 0.86, 0.95, 300, "baseline", *words),
        Finding("elp_rare", 0.10, 0.06, 0.15, 300, "train", *words),
        Finding("elp_rare", 0.20, 0.16, 0.25, 300, "holdout", *words),
    ]
    every = {trace.name: trace for trace in figures.leak_shares(rows).plot.data}
    assert len(every) == 4
    assert every["training part"].marker.color == every["real records in place of synthetic ones"].marker.color
    few = {trace.name: trace for trace in figures.leak_shares(rows, whole=False).plot.data}
    elp, rare = (MEASURES[name].title for name in ("elp", "elp_rare"))
    assert {name: list(trace.y) for name, trace in few.items()} == {
        "training part, as many records as set aside": [elp],
        "training part": [rare],  # of which there is no part of equal size
        "set aside (used by nobody)": [elp, rare],
    }
    assert few["training part, as many records as set aside"].marker.color != every["training part"].marker.color
    alone = figures.leak_shares(rows[3:], whole=False).plot.data
    assert [trace.name for trace in alone] == ["training part", "set aside (used by nobody)"]


def test_copies_judged_by_the_whole_part_are_drawn_with_it_and_with_real_records() -> None:
    """The pair of the sentence is in the chart without a word of the reader's; a measure at equal size stays so."""
    words = ("share", "lower is safer", "privacy")
    rows = [
        Finding("verbatim_8gram", 0.35, 0.24, 0.48, 60, "train", *words, {"equal_size_value": 0.08}),
        Finding("verbatim_8gram", 0.05, 0.02, 0.14, 60, "holdout", *words),
        Finding("verbatim_8gram", 0.12, 0.07, 0.20, 83, "baseline", *words),
        Finding("elp", 0.70, 0.65, 0.75, 3000, "train", *words, {"equal_size_value": 0.40}),
        Finding("elp", 0.41, 0.36, 0.47, 300, "holdout", *words),
        Finding("elp", 0.90, 0.86, 0.95, 300, "baseline", *words),
    ]
    few = figures.leak_shares(rows, whole=False)
    drawn = {t.name: dict(zip(t.y, t.x, strict=True)) for t in few.plot.data}
    copies, elp = (MEASURES[name].title for name in ("verbatim_8gram", "elp"))
    assert drawn["training part"] == {copies: pytest.approx(35.0)}
    assert drawn["real records in place of synthetic ones"] == {copies: pytest.approx(12.0)}
    assert set(drawn["set aside (used by nobody)"]) == {copies, elp}
    assert "stand out against all that was used" in few.takeaway
    rows[2] = replace(rows[2], value=0.34, low=0.25, high=0.45)  # real records repeat as much: nothing to add
    assert "training part" not in {t.name for t in figures.leak_shares(rows, whole=False).plot.data}


def test_what_is_judged_is_what_is_drawn() -> None:
    """Values that many people share differ by chance; the dots to compare leave them out, as the verdict does."""
    words = ("share", "lower is safer", "privacy")
    rows = [
        Finding("pipp_direct", 0.30, 0.25, 0.35, 100, "train", *words, {"equal_size_value": 0.13}),
        Finding("pipp_direct", 0.02, 0.01, 0.07, 100, "holdout", *words),
        Finding("pipp_direct", 0.20, 0.15, 0.25, 100, "baseline", *words),
        Finding("pipp_direct_excess", 0.01, -0.03, 0.05, 100, "holdout", *words),
    ]
    old = figures.leak_shares(rows, whole=False)  # measured by an edition that did not keep what is judged
    assert "judged without it" in old.caveat
    assert "which rows with * are drawn with" in old.takeaway
    assert {str(y) for trace in old.plot.data for y in trace.y} == {f"{MEASURES['pipp_direct'].title} *"}
    told = {"train_unshared": [0.03, 100], "holdout_unshared": [0.02, 100]}
    rows[3] = replace(rows[3], settings=told)
    drawn = figures.leak_shares(rows, whole=False)
    assert {trace.name.split(" ")[0].strip(","): list(trace.x) for trace in drawn.plot.data} == {
        "training": [pytest.approx(3.0)], "set": [pytest.approx(2.0)],
    }  # fmt: skip
    assert "left out" in drawn.caveat
    assert "*" not in drawn.takeaway
    every = {trace.name: list(trace.x) for trace in figures.leak_shares(rows).plot.data}
    assert every["training part"] == [pytest.approx(30.0)]


def test_words_of_close_marks_stand_on_different_sides():
    close = {"a": (0.5, 0.5), "b": (0.51, 0.5), "c": (0.5, 0.52), "far": (0.0, 0.0)}
    sides = placed(close, dict.fromkeys(close, "4 · ε 1"), (1.0, 1.0))
    assert len({sides[run] for run in "abc"}) == 3
    assert sides["far"] == "top right"
    assert placed({}, {}, (1.0, 1.0)) == {}


def test_measures_of_use_stand_on_the_axis_of_the_verdict() -> None:
    """A value far away in its own unit no longer squeezes the others: each is drawn as the part of its way it lost."""
    rows = [
        finding("js_1gram", "train", 0.30, 0.05), finding("js_1gram", "real", 0.10, 0.02),
        finding("js_1gram", "unrelated", 0.50, None),
        finding("length_distance", "train", 0.5, 0.1), finding("length_distance", "real", 0.0, 0.1),
        finding("length_distance", "unrelated", 5.0, None),
    ]  # fmt: skip
    plot = figures.utility_dots(rows, ("js_1gram", "length_distance")).plot
    drawn = {trace.name: dict(zip(trace.y, trace.x, strict=True)) for trace in plot.data}
    words, length = (MEASURES[name].title for name in ("js_1gram", "length_distance"))
    assert drawn["Synthetic"] == pytest.approx({words: 50.0, length: 10.0})
    assert drawn["Unrelated text"] == {words: 100.0, length: 100.0}
    assert set(drawn["Real against real"].values()) == {0.0}
    alone = figures.utility_dots([*rows[:2], finding("js_1gram", "unrelated", 0.05, None)], ("js_1gram",))
    assert f"Not drawn, since real text itself leaves no such way: {words.lower()}." in alone.caveat


def test_a_side_that_was_not_measured_is_named_and_has_no_dot() -> None:
    rows = [finding("pipp", "train", 0.4), finding("pipp", "holdout", 0.0), finding("pipp_direct", "train", 0.1)]
    traces = figures.leak_shares(rows).plot.data
    dots = {t.name: dict(zip(t.y, zip(t.text, t.marker.opacity, strict=True), strict=True)) for t in traces}
    title, direct = (MEASURES[name].title for name in ("pipp", "pipp_direct"))
    assert dots["set aside (used by nobody)"] == {title: ("", 1), direct: ("not measured", 0)}
    assert dots["training part"] == {title: ("", 1), direct: ("", 1)}


@pytest.mark.parametrize(("half", "led"), [(0.2, "more often than of records"), (0.6, "cannot be told from so few")])
def test_a_difference_that_tells_nothing_is_not_led_by(half: float, led: str) -> None:
    rows = [
        finding("strict_pipp", "train", 0.997), finding("strict_pipp", "holdout", 0.992),
        finding("strict_pipp_excess", "holdout", 0.3, half),
    ]  # fmt: skip
    said = privacy_verdict(rows)[0]
    assert led in said.text
    assert ("99.7% of the synthetic records give away" in said.text) is (half > 0.5)
    flat = [*rows[:2], finding("strict_pipp_excess", "holdout", 0.0, 0.0)]
    assert "0.0 to 0.0" not in privacy_verdict(flat)[0].text


def test_shares_above_chance_are_drawn_side_by_side_on_one_scale_in_per_cent() -> None:
    names = ["pipp_excess", "verbatim_8gram_excess", "nearest_similarity_excess"]
    layout = figures.beside({"A · One": PRIVACY, "B · Two": PRIVACY}, names).plot.layout
    shares, other = (layout.xaxis, layout.xaxis2), layout.xaxis3
    assert shares[0].range == shares[1].range
    assert -shares[0].range[0] == shares[0].range[1] >= 0.31, "whatever was measured is drawn"
    assert [axis.tickformat for axis in shares] == [".0%", ".0%"]
    assert (other.range, other.tickformat) == (None, None), "a likeness is no share"


def test_no_leak_is_cut_off_side_by_side_and_what_a_run_lacks_is_named() -> None:
    names = ["strict_pipp_excess", "verbatim_8gram_excess", "near_copies_08_excess", "longest_run_excess",
             "linkage_excess", "detail_inference_excess", "attribute_inference_excess"]  # fmt: skip
    clear, quiet = [finding(name, "holdout", 0.3) for name in names], [finding(n, "holdout", 0.0) for n in names]
    runs = {"3 · One": clear, "12 · Two": quiet}
    assert shared(runs, names) == names
    assert len(shared({"3 · One": quiet, "12 · Two": quiet}, names)) == MOST
    assert lacking(runs, names) == ""
    fewer = {"3 · One": clear[:-1], "12 · Two": [quiet[0], quiet[-1]]}
    assert shared(fewer, names) == names[:1]
    said = lacking(fewer, names)
    title = MEASURES["linkage_excess"].title
    assert f"“{title}” (not measured in run 12; clearly above chance in run 3)" in said
    assert f"“{MEASURES[names[-1]].title}”" not in said, "it leaks in no run; five others do"
    assert said.endswith("and 1 more.")


def test_a_run_keeps_its_number_colour_and_shape_beside_others() -> None:
    methods = {"3 · One": "filter", "12 · Two": "aug-pe"}
    drawn = figures.beside(dict.fromkeys(methods, PRIVACY), ["pipp_excess"], methods)
    looks = {trace.y[0]: (trace.marker.color, trace.marker.symbol) for trace in drawn.plot.data}
    assert looks == {
        "Run 3": (palette.of_method("filter"), palette.symbol_of("filter")),
        "Run 12": (palette.of_method("aug-pe"), palette.symbol_of("aug-pe")),
    }
    assert "run 3 on 1 and run 12 on 1" in drawn.takeaway


def test_words_beside_a_mark_keep_clear_of_the_line_of_real_text() -> None:
    marks, words = {"a": (0.36, 0.5)}, {"a": "1 · nothing proven"}
    assert placed(marks, words, (0.4, 1.0)) == {"a": "top right"}
    assert placed(marks, words, (0.4, 1.0), 0.40) == {"a": "top left"}
    assert placed(marks, words, (0.4, 1.0), 0.1) == {"a": "top right"}


def test_of_too_few_texts_the_chart_of_uses_says_so_and_names_no_verdict() -> None:
    def at(texts: int) -> list[Finding]:
        return [replace(one, n=texts) for one in UTILITY]

    few, many = figures.utility_dots(at(28)).plot, figures.utility_dots(at(400)).plot
    said = {name: [note.text for note in plot.layout.annotations] for name, plot in (("few", few), ("many", many))}
    assert said["few"] == ["<b>28 texts: too few to judge, at least 50 are needed</b>"]
    assert said["many"] == ["suits", "with care", "does not suit"]
    colours = [{shape.fillcolor for shape in plot.layout.shapes} for plot in (few, many)]
    assert len(colours[0]) == 1, "grey"
    assert not colours[0] & colours[1]
    assert figures.utility_dots(at(28)).takeaway.startswith("28 texts: too few to judge")
    assert "Lost against real text (0% = as real, 100% = as unrelated text)" in many.layout.xaxis.title.text


def test_too_few_is_said_only_where_no_use_is_judged_and_one_waits() -> None:
    wait = Use("Statistics", "unknown", "", "length_distance", 0.1, 28, 50)
    assert too_few([wait, replace(wait, least=100)]) == "28 texts: too few to judge, at least 50 are needed"
    assert too_few([wait, replace(wait, mark="cross", size=400)]) == ""
    assert too_few([replace(wait, size=60)]) == "", "unknown, and not for want of texts"
    assert too_few([replace(wait, counted="tokens")]) == ""


def near_chance(name: str, ours: float, theirs: float, ends: tuple[float, float], n: int = 60) -> list[Finding]:
    return [
        replace(finding(name, "train", 0.5, 0.1), n=n, settings={"equal_size_value": ours}),
        replace(finding(name, "holdout", theirs, 0.1), n=n),
        replace(finding(f"{name}_excess", "holdout", ours - theirs), low=ends[0], high=ends[1],
                settings={"reference_records": 140}),
    ]  # fmt: skip


def test_a_short_line_counts_texts_says_of_whose_records_and_why_it_cannot_tell() -> None:
    direct = near_chance("strict_pipp_direct", 12 / 60, 8 / 60, (-0.1, 0.2))  # so it is not said that none was seen
    rows = [*near_chance("strict_pipp", 10 / 60, 15 / 60, (-0.18, 0.05)), *direct]
    assert privacy_verdict(rows)[0].brief == (
        "Real identifiers: 10 of 60 texts (16.7%) hold a private value of 140 records used, by chance 15 would "
        "(25.0%); up to 5.0 points above chance not excluded."
    )
    part = [*near_chance("strict_pipp", 10.4 / 60, 15 / 60, (-0.18, 0.05)), *direct]  # no whole number of texts
    assert "17.3% of texts hold a private value of 140 records used, by chance 25.0% would; up to" in (
        privacy_verdict(part)[0].brief
    )
    copies = near_chance("verbatim_8gram", 13 / 60, 5 / 60, (-0.06, 0.326))
    assert (
        "13 of 60 texts (21.7%) repeat eight words in a row from 140 records used, by chance 5 would (8.3%); up to"
        in (privacy_verdict(copies)[1].brief)
    )
    flat = near_chance("strict_pipp", 10 / 60, 15 / 60, (0.0, 0.0))  # an interval that says nothing
    assert "not excluded" not in privacy_verdict(flat)[0].brief


def test_a_difference_that_is_clear_by_itself_alone_is_not_made_milder_in_a_short_line() -> None:
    rows = [*near_chance("strict_pipp", 20 / 60, 15 / 60, (0.005, 0.16)),
            *near_chance("strict_pipp_direct", 3 / 60, 3 / 60, (-0.1, 0.1)),
            *near_chance("strict_elp", 3 / 60, 3 / 60, (-0.1, 0.1))]  # fmt: skip
    said = privacy_verdict(rows)[0]
    assert said.level == "unsure"
    assert said.brief.endswith("clear by itself, but not among 3 measures looked at together.")


def test_a_leak_that_what_many_people_share_hides_is_told_by_the_shares_without_it() -> None:
    """Every text holds what many share, of either part: a line of both shares whole would read as no difference."""
    settings = {"reference_records": 140, "set_aside": 2, "train_unshared": [0.4, 60], "holdout_unshared": [0.1, 60]}
    rows = near_chance("pipp", 1.0, 1.0, (0.2, 0.4))
    rows[2] = replace(rows[2], value=0.3, settings=settings)
    said = privacy_verdict(rows)[0]
    assert said.level == "leak"
    assert said.brief == (
        "Real identifiers: 24 of 60 texts (40.0%) hold a private entity of 140 records used, by chance 6 would "
        "(10.0%), both without what many people share."
    )
    assert "(40.0% against 10.0%)" in said.text
    rows[2] = replace(rows[2], settings={**settings, "set_aside": 0})
    assert "without what many people share" not in privacy_verdict(rows)[0].brief
    one = [replace(row, n=1) for row in near_chance("strict_pipp", 1.0, 0.0, (0.5, 1.0))]
    assert "1 of 1 text (100.0%) hold" in privacy_verdict(one)[0].brief


def test_the_difference_in_full_names_the_shares_that_it_is_of() -> None:
    settings = {"reference_records": 140, "set_aside": 2, "train_unshared": [0.4, 60], "holdout_unshared": [0.1, 60]}
    rows = near_chance("pipp", 0.8, 0.5, (0.2, 0.4))
    rows[2] = replace(rows[2], value=0.3, settings=settings)
    said = "ifference without what many people share (40.0% against 10.0%)"
    assert f"\nD{said}: 30.0 pp (95% interval " in privacy_verdict(rows)[0].more
    wide = [*rows[:2], replace(rows[2], low=-0.5, high=0.9)]
    assert f"of the d{said} is " in privacy_verdict(wide)[0].more
    rows[2] = replace(rows[2], settings={**settings, "set_aside": 0})
    assert "\nDifference: 30.0 pp (95% interval " in privacy_verdict(rows)[0].more


def test_shares_that_say_otherwise_than_a_difference_of_counts_do_not_stand_beside_it() -> None:
    rows = near_chance("strict_alone", 0.58, 0.67, (-0.05, 0.2))
    rows[2] = replace(rows[2], value=0.11)
    assert "used more often than of records nobody used: " in privacy_verdict(rows)[0].text
    rows[1] = replace(rows[1], value=0.47)
    assert "used more often than of records nobody used (58.0% against 47.0%): " in privacy_verdict(rows)[0].text


def test_leaks_are_ordered_by_how_clear_they_are() -> None:
    rows = [*near_chance("strict_pipp", 0.2, 0.25, (-0.15, 0.05)), *near_chance("pipp", 0.5, 0.1, (0.3, 0.5)),
            *near_chance("strict_pipp_direct", 0.2, 0.1, (-0.05, 0.25))]  # fmt: skip
    order = clearest_first(rows)
    assert order[:3] == ["pipp", "strict_pipp_direct", "strict_pipp"]
    assert set(order) == set(SHARES)
    drawn = figures.leak_shares(rows, order).plot.layout.yaxis.categoryarray
    assert [title.removesuffix(" *") for title in drawn] == [MEASURES[name].title for name in order[:3]]


def test_all_members_are_not_said_to_be_found_where_nothing_can_be_read():
    from engine.figures.privacy.membership import finds_all

    roc = pd.DataFrame({"attack": ["a"] * 3 + ["b"] * 2, "fpr": [0.01, 0.044, 1.0, 0.3, 1.0],
                        "tpr": [0.5, 1.0, 1.0, 1.0, 1.0]})  # fmt: skip
    titles = {"a": "One", "b": "Two"}
    assert finds_all(roc, ["a", "b"], titles, 10 / 90) == (
        " “One” finds all members at 11.1% false alarms, the fewest that can be read here, and 1 more at under half."
    )
    assert finds_all(roc, ["a"], titles, 0.02) == " “One” finds all members at 4.4% false alarms."
    assert finds_all(roc, ["a"], titles, 0.5) == ""


def test_what_cannot_be_excluded_is_never_rounded_down():
    from engine.examine.findings.briefly import points

    excess = finding("pipp_excess", "holdout", 0.0)
    assert [points(excess, high) for high in (0.06017, 0.06, 0.0599, 0.3)] == [
        "6.1 points", "6.0 points", "6.0 points", "30.0 points",
    ]  # fmt: skip
