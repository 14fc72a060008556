"""Figures of the control-code study, on numbers made by hand."""

import pandas as pd
import pytest

from engine.studies.control_codes import figures as study_control
from engine.studies.control_codes.tables import tables
from engine.studies.figures import figures

METHODS = ("icl", "control-icl-blocked", "control-prefix", "control-prefix-masked")


def made(settings=(("direct", "known"),), utility=True, leak=0.3):
    """Three repeats: examples alone leak, the rest does not; the masked prefix copies less than the plain one."""
    rows = []
    for identifiers, entities in settings:
        for number, method in enumerate(METHODS):
            for repeat in range(3):
                near = 0.1 + 0.1 * number if method != "control-prefix-masked" else 0.2
                row = {
                    "variant": method if len(settings) == 1 else f"{method} ({identifiers}, {entities})",
                    "method": method, "identifiers": identifiers, "entities": entities, "sweep": "", "repeat": repeat,
                    "pipp": leak if method == "icl" else 0.0, "elp": 0.0, "rouge_2": 0.1, "rouge_l": 0.2,
                    "rouge_2_max": near / 2, "rouge_l_max": near + repeat / 1000, "texts": 100, "valid": 95 + repeat,
                    "valid_with_value": 0, "tried_again": repeat,
                }  # fmt: skip
                rows.append(row | ({"perplexity": 60.0 - number, "mauve": 0.1} if utility else {}))
    return tables(rows, [])


def test_every_figure_says_what_it_draws():
    found = dict(figures("control-codes", made()))
    assert list(found) == ["private", "copied", "worth", "masked", "validity"]
    assert "Examples alone (30.0% of texts)" in found["private"].takeaway
    assert "None came out with Codes, values blocked, Tuned prefix" in found["private"].takeaway
    assert found["copied"].takeaway.startswith("Tuned prefix repeats most of a private record (ROUGE-L 0.30)")
    assert "Tuned prefix, masked" in found["worth"].takeaway
    assert "57.0" in found["worth"].takeaway
    assert "below in" in found["masked"].takeaway
    assert "One cannot tell for Texts with a private value" in found["masked"].takeaway
    assert "At least 96% of the texts are valid" in found["validity"].takeaway


def test_nothing_leaked_is_said_and_other_tables_draw_nothing():
    found = dict(figures("control-codes", made(utility=False, leak=0.0)))
    assert found["private"].takeaway == "No text of any method holds a private value."
    assert "worth" not in found
    assert figures("control-codes", {}) == []
    assert figures("control-codes", {"runs": pd.DataFrame(), "summary": pd.DataFrame()}) == []


@pytest.mark.parametrize("settings", [(("direct", "known"), ("quasi", "unknown"))])
def test_several_settings_are_bars_side_by_side(settings):
    found = dict(figures("control-codes", made(settings)))
    assert [bar.name for bar in found["private"].plot.data] == ["direct, known", "quasi, unknown"]
    assert len(found["copied"].plot.data) == 4
    assert list(found["private"].plot.data[0].x) == list(found["private"].plot.data[1].x)


def test_whiskers_end_where_the_interval_does():
    found = made()
    plot = dict(figures("control-codes", found))["copied"].plot
    row = found["summary"].query("variant == 'icl' and measure == 'rouge_l_max'").iloc[0]
    trace = plot.data[0]
    assert trace.y[0] + trace.error_y.array[0] == pytest.approx(row["high"])
    assert trace.y[0] - trace.error_y.arrayminus[0] == pytest.approx(row["low"])


def test_ties_are_said_as_ties():
    rows = pd.DataFrame({
        "variant": ["a", "b"], "method": ["icl", "control-icl"], "setting": ["one", "one"], "measure": "rouge_l_max",
        "value": [0.2, 0.2], "low": [0.1, 0.1], "high": [0.3, 0.3],
    })  # fmt: skip
    both = pd.concat([rows, rows.assign(measure="rouge_2_max")], ignore_index=True)
    assert "All methods repeat as much" in study_control.copied(both).takeaway
    valid = pd.DataFrame(
        {"variant": ["icl", "control-icl"], "texts": [10, 10], "valid": [10, 10], "tried_again": [0, 0]}
    )
    assert study_control.validity(valid).takeaway == "All texts are valid."
