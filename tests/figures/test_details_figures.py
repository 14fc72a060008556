"""Figures of near copies, combined details, guessed attributes: what they draw and say follows from the tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from engine.examine.findings.make import finding, missing
from engine.examine.stats import intervals
from engine.figures.equal import equal_axes, equal_heights
from engine.figures.privacy.inference import _single, inference
from engine.figures.privacy.linkage import linkage
from engine.figures.privacy.near_copies import near_copies

SIZE = 200


def share(hits: int, n: int = SIZE) -> intervals.Interval:
    return intervals.share(np.arange(n) < hits)


def near(train: int, holdout: int, baseline: int = 4) -> tuple[pd.DataFrame, list]:
    """`train` of 200 records repeat a training record; half of the rest of them at 0.6 only."""
    rows = [
        (f"s-{i}", side, f"r-{i}", 1, 1.0 if i % 2 else 0.6, 0.9, 12, 0, 9, 0, 9)
        for side, count in (("train", train), ("holdout", holdout)) for i in range(count)
    ]  # fmt: skip
    columns = ["record_id", "reference", "source_record_id", "equal_records", "jaccard", "estimate", "words", "start",
               "end", "source_start", "source_end"]  # fmt: skip
    found = []
    for name, part in (("near_copies_05", 1.0), ("near_copies_08", 0.5)):
        counts = {"train": train, "holdout": holdout, "baseline": baseline}
        for side, count in counts.items():
            extra = {"equal_size_value": part * train / SIZE} if side == "train" else {}
            found.append(finding(name, side, share(int(part * count)), **extra))
        ours, theirs = np.arange(SIZE) < part * train, np.arange(SIZE)[::-1] < part * holdout
        found.append(finding(f"{name}_excess", "holdout", intervals.difference_paired(ours, theirs, None)))
    return pd.DataFrame(rows, columns=columns), found


def test_near_copies_fall_from_the_share_at_one_half_to_that_of_equal_texts():
    pairs, found = near(40, 6)
    figure = near_copies(pairs, found)
    assert figure is not None
    line = next(trace for trace in figure.plot.data if trace.mode == "lines")
    assert dict(zip(line.x, line.y, strict=True)) == {0.5: 20.0, 0.6: 20.0, 1.0: 10.0}
    marks = [trace for trace in figure.plot.data if trace.mode == "markers"]
    assert len(marks) == 4  # training part, as many as the holdout, holdout, baseline
    assert all(max(mark.error_y.array) > 0 for mark in marks)
    assert "10.0% of the synthetic records" in figure.takeaway
    assert "more than chance" in figure.takeaway


def test_near_copies_without_any_pair_or_holdout():
    pairs, found = near(0, 0, 0)
    figure = near_copies(pairs, found)
    assert figure is not None
    assert not [trace for trace in figure.plot.data if trace.mode == "lines"]
    assert "0.0% of the synthetic records" in figure.takeaway
    alone = [finding("near_copies_08", "train", share(3)), missing("near_copies_08", "holdout", "no holdout")]
    figure = near_copies(pairs, alone)
    assert figure is not None
    assert "no holdout" in figure.takeaway
    assert near_copies(pairs, [missing("near_copies_08", "train", "no words")]) is None


def links(train: int, holdout: int) -> tuple[pd.DataFrame, list]:
    rows = [
        (f"s-{i}", 1, f"{side}-{i}", f"{side}-{i}", side, True, 2, "1+2",
         "AGE + LOCATION" if i % 3 else "LOCATION + DATE")
        for side, count in (("train", train), ("holdout", holdout)) for i in range(count)
    ]  # fmt: skip
    rows.append(("s-1", 1, "x", "x", "train", False, 2, "1+2", "MISC + DATE"))  # was not asked about
    columns = ["record_id", "records", "source_record_id", "unit", "reference", "asked", "size", "details", "labels"]
    counts = {"train": share(train), "holdout": share(holdout, 100), "baseline": share(2)}
    found = [finding("linkage", side, value) for side, value in counts.items()]
    apart = intervals.difference_independent(counts["train"], counts["holdout"])
    return pd.DataFrame(rows, columns=columns), [*found, finding("linkage_excess", "holdout", apart)]


def test_people_singled_out_are_counted_once_a_kind_of_details():
    table, found = links(60, 3)
    figure = linkage(pd.concat([table, table]), found)
    assert figure is not None
    ours = next(trace for trace in figure.plot.data if trace.name == "training part")
    assert list(ours.y) == ["any details in one record", "age + location", "date + location"]
    assert list(ours.x) == pytest.approx([30.0, 20.0, 10.0])
    other = next(trace for trace in figure.plot.data if trace.name.startswith("set aside"))
    assert list(other.x) == pytest.approx([3.0, 2.0, 1.0])
    assert "more than chance" in figure.takeaway
    assert "age + location and date + location" in figure.takeaway
    assert not any("MISC" in str(trace.y) for trace in figure.plot.data)


def test_nobody_singled_out_and_nothing_measured():
    table, found = links(0, 0)
    figure = linkage(table.iloc[:0], found)
    assert figure is not None
    assert "0.0% of the people" in figure.takeaway
    assert linkage(table, [missing("linkage", "train", "no holdout")]) is None


def guesses(train: int) -> tuple[pd.DataFrame, list]:
    rows = []
    for attribute in ("label", "AGE"):
        for side, hits in (("train", train), ("holdout", 80), ("baseline", 84)):
            value = share(hits)
            rows.append({"attribute": attribute, "reference": side, "value": value.value, "low": value.low,
                         "high": value.high, "targets": SIZE, "majority": 0.3})  # fmt: skip
    apart = intervals.difference_independent(share(train), share(80))
    return pd.DataFrame(rows), [
        finding("attribute_inference_excess", "holdout", apart),
        finding("detail_inference_excess", "holdout", apart),
    ]


def test_guesses_stand_beside_the_commonest_value_and_unused_records():
    figure = inference(*guesses(150))
    assert figure is not None
    assert [list(trace.y) for trace in figure.plot.data] == [["label", "age"]] * 4
    assert figure.plot.data[0].name == "always guessing the commonest"
    assert list(figure.plot.data[1].x) == [75.0, 75.0]
    assert figure.takeaway == (
        "Guessed right more often for records used than for unused ones: labels by 35.0 points and details by 35.0 "
        "points. Of single details, with allowance for how many were looked at, more often too: age by 35.0 points."
    )
    same = inference(*guesses(80))
    assert same is not None
    assert "no more often" in same.takeaway
    assert inference(pd.DataFrame(), []) is None


def test_two_runs_share_axes():
    for figures in (
        [near_copies(*near(40, 6)), near_copies(*near(5, 6))],
        [linkage(*links(60, 3)), linkage(*links(6, 3))],
        [inference(*guesses(150)), inference(*guesses(80))],
    ):
        plots = [figure.plot for figure in figures if figure is not None]
        equal_axes(plots)
        equal_heights(plots)
        assert plots[0].layout.height == plots[1].layout.height
        assert plots[0].layout.xaxis.range == plots[1].layout.xaxis.range is not None
        assert plots[0].layout.yaxis.categoryarray == plots[1].layout.yaxis.categoryarray


def many(train: list[int], holdout: list[int], n: int) -> pd.DataFrame:
    return pd.DataFrame(
        {"attribute": f"D{i}", "reference": side, "value": one.value, "low": one.low, "high": one.high, "majority": 0.3}
        for i, pair in enumerate(zip(train, holdout, strict=True))
        for side, hits in zip(("train", "holdout"), pair, strict=True)
        for one in (share(hits, n),)
    )


@pytest.mark.parametrize("n", [20, 100, 400])
def test_a_single_detail_is_named_beyond_chance_only(n: int) -> None:
    """Of 200 charts of 20 details without a leak few name one; a detail with 30 points more is named where n allows."""
    rng = np.random.default_rng(n)
    chance = np.array([0.05, 0.2, 0.5, 0.8] * 5)
    named = planted = 0
    for _ in range(200):
        holdout, train = (list(rng.binomial(n, chance)) for _ in range(2))
        named += " Of single details" in _single(many(train, holdout, n))
        train[2] = rng.binomial(n, 0.8)
        planted += "d2 by" in _single(many(train, holdout, n))
    assert named <= 10
    assert planted >= {20: 0, 100: 150, 400: 200}[n]
