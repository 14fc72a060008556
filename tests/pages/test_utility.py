"""The utility page: states, uses with words, the map, lengths and phrases."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from engine.analysis.findings import Finding
from pages._ui import utility_lengths, utility_map, utility_verdict

REAL = "closer to real is better"


def words(app, *kinds: str) -> str:
    return "\n".join(str(e.value) for kind in kinds for e in getattr(app, kind))


def finding(name: str, reference: str, value: float, direction: str) -> Finding:
    return Finding(name, value, None, None, 100, reference, name, direction, "utility")  # type: ignore[arg-type]


def test_empty(empty, visit):
    assert visit("utility").button(key="utility.load").label == "Load a file"


def test_running_and_failed(seeded, visit, add_run, add_job, import_small):
    workspace = seeded.open()
    corpus = import_small(workspace)
    add_run(workspace, corpus.id, [], state="failed", error="The disk is full.")
    assert "The disk is full" in words(visit("utility", **{"_ui.next_corpus": corpus.id}), "error")
    run = add_run(workspace, corpus.id, [{"text": "Made up.", "label": None, "lineage": None}])
    add_job(workspace, "examine", "running", corpus_id=corpus.id, run_id=run)
    app = visit("utility", **{"_ui.next_corpus": corpus.id, "_ui.run": run})
    assert app.get("progress")
    assert "appear here when the examination ends" in words(app, "caption")


def test_full(seeded, visit):
    app = visit("utility", **{"_ui.run": seeded.run})
    lines = [m.value for m in app.container(key="utility.verdict").markdown]
    assert len(lines) == len(utility_verdict.USES)
    for line in lines:
        assert any(word in line for _, word, _ in utility_verdict.LEVELS.values())
        assert "real against real" in line or "could be estimated" in line
    table = app.dataframe[0].value.set_index("Finding")
    assert {"Synthetic text", "Real against real", "Unrelated text", "Good is"} <= set(table.columns)
    assert table.loc["Mixture of topics and styles", "Synthetic text"] == "not estimable"


@pytest.mark.parametrize("view", ["Map of texts", "Lengths and phrases", "What the numbers mean", "All numbers"])
def test_views(seeded, visit, view):
    app = visit("utility", **{"_ui.run": seeded.run, "utility.view": view})
    if view == "Map of texts":
        assert "no map" in words(app, "caption")  # examined without an encoder
    elif view == "Lengths and phrases":
        assert "Half of the synthetic texts" in words(app, "markdown")
        assert set(app.dataframe[0].value["Phrase"].str.split().str.len()) == {1}
    elif view == "All numbers":
        assert len(app.dataframe[0].value) == sum(f.group == "utility" for f in seeded.open().findings(seeded.run))
    else:
        assert "It does not show" in words(app, "markdown")


def test_map_shows_ids_and_reads_synthetic_text_only(seeded, visit):
    workspace = seeded.open()
    made = [str(i) for i in workspace.synthetic(seeded.run, limit=3)["record_id"]]
    private = [str(i) for i in workspace.records(seeded.corpus, split="train", limit=3)["record_id"]]
    table = pd.DataFrame({
        "x": np.arange(6.0), "y": np.arange(6.0), "kind": ["synthetic"] * 3 + ["private"] * 3,
        "record_id": made + private, "label": None,
    })  # fmt: skip
    workspace._save_tables(seeded.run, {"map": table})
    app = visit("utility", **{"_ui.run": seeded.run, "utility.view": "Map of texts"})
    (chart,) = app.get("plotly_chart")
    spec = chart.spec
    text = str(workspace.synthetic(seeded.run, limit=1)["text"].iloc[0])
    assert made[0] in spec
    assert text[:30] not in spec
    assert not app.text


def test_chosen_points_are_told_apart_by_kind():
    points = [{"customdata": ["synthetic", "s-1"]}, {"customdata": ["private", "C1"]}, {"customdata": None}, {}]
    assert utility_map.chosen({"selection": {"points": points}}) == {"private": ["C1"], "synthetic": ["s-1"]}
    assert utility_map.chosen(None) == {"private": [], "synthetic": []}


@pytest.mark.parametrize(
    ("rows", "way"),
    [
        # lower is better: 0.3 lies half way from real (0.2) to unrelated (0.4)
        ([("js_1gram", "train", 0.3, "lower is better"), ("js_1gram", "real", 0.2, "lower is better"),
          ("js_1gram", "unrelated", 0.4, "lower is better")], 0.5),
        # better than real against real counts as none of the way
        ([("js_1gram", "train", 0.1, "lower is better"), ("js_1gram", "real", 0.2, "lower is better")], 0.0),
        # higher is better, other end 0 where no unrelated text was measured
        ([("mauve", "train", 0.6, "higher is better"), ("mauve", "real", 0.8, "higher is better")], 0.25),
        # closer to real: too high is as far as too low
        ([("distinct_2", "train", 0.8, REAL), ("distinct_2", "real", 0.6, REAL)], 0.5),
        ([("distinct_2", "train", 0.4, REAL), ("distinct_2", "real", 0.6, REAL)], 0.5),
        ([("mauve", "train", float("nan"), "higher is better"), ("mauve", "real", 0.8, "higher is better")], None),
        ([], None),
    ],
)  # fmt: skip
def test_distance_from_real(rows, way):
    findings = [finding(*row) for row in rows]
    name = rows[0][0] if rows else "mauve"
    found = utility_verdict.distance(findings, name)
    assert found == (pytest.approx(way) if way is not None else None)


@pytest.mark.parametrize(
    ("way", "level"), [(0.0, "good"), (0.15, "good"), (0.2, "care"), (0.9, "bad"), (None, "unknown")]
)
def test_levels(way, level):
    assert utility_verdict.level_of(way) == level


def test_worst_finding_of_a_use_decides():
    rows = [
        finding("self_bleu", "train", 0.5, REAL),
        finding("self_bleu", "real", 0.5, REAL),
        finding("distinct_2", "train", 0.1, REAL),
        finding("distinct_2", "real", 0.9, REAL),
    ]
    level, why = utility_verdict.judge(rows, utility_verdict.USES[-1])
    assert level == "bad"
    assert "variety of word pairs" in why


@pytest.mark.parametrize(("level", "value"), [(0.5, 2), (0.99, 9), (0.1, 1)])
def test_quantiles_of_counted_lengths(level, value):
    table = pd.DataFrame({"words": [9, 1, 2], "records": [1, 4, 5]})  # 1×4, 2×5, 9×1
    assert utility_lengths.quantile(table, level) == value
