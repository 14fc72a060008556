"""Configurations of the filter: told apart where their numbers differ, called equal or unknown where they do not."""

import numpy as np
import pandas as pd
import pytest

from engine.examine.stats.intervals import mean, wilson
from engine.methods.filter.parameters import PRESET_TITLES
from engine.studies.filter_presets.apart import HIGHER, LOWER, SAME, UNTOLD, compare, sentences

NAMES = ("baseline", "pre-only", "all", "adaptive")
COLUMNS = ["variant", "measure", "value", "low", "high", "n"]


def shares(**hits):
    """Return the summary of leaking outputs out of a hundred, a configuration each."""
    rows = [(v, "identifier_leakage", k / 100, *wilson(k, 100), 100) for v, k in hits.items()]
    return pd.DataFrame(rows, columns=COLUMNS)


def marks(**texts):
    """Return the table of written marks, a letter a record."""
    rows = [(i, m, v.replace("_", "-")) for v, text in texts.items() for i, m in enumerate(text)]
    return pd.DataFrame(rows, columns=["record", "mark", "variant"])


def verdicts(comparison):
    return {(row.one, row.other): row.verdict for row in comparison.itertuples()}


def test_what_differs_what_does_not_and_what_is_the_same():
    summary = shares(baseline=29, **{"pre-only": 1}, all=0, adaptive=0)
    found = compare(
        {"summary": summary, "written": marks(baseline="ab", pre_only="cd", all="ef", adaptive="ef")}, NAMES
    )
    assert verdicts(found) == {
        ("baseline", "pre-only"): HIGHER, ("baseline", "all"): HIGHER, ("baseline", "adaptive"): HIGHER,
        ("pre-only", "all"): UNTOLD, ("pre-only", "adaptive"): UNTOLD, ("all", "adaptive"): SAME,
    }  # fmt: skip
    assert sentences(found, PRESET_TITLES) == [
        "Outputs with a planted identifier: Baseline above Pre-only, All Filters and Adaptive; the other 3 of 6 pairs "
        "cannot be told apart.",
        "All Filters and Adaptive wrote the same text for every record: one result, not two.",
    ]
    turned = compare({"summary": summary}, ("all", "baseline"))
    assert verdicts(turned) == {("all", "baseline"): LOWER}
    assert turned["low"].iloc[0] < turned["difference"].iloc[0] < turned["high"].iloc[0] < 0


def test_where_nothing_differs_that_is_said():
    found = compare({"summary": shares(baseline=3, all=1)}, ("baseline", "all"))
    assert sentences(found, PRESET_TITLES) == [
        "Outputs with a planted identifier: no two configurations can be told apart."
    ]


def test_a_measure_without_intervals_is_left_out():
    missing = pd.DataFrame([(v, "perplexity", 5.0, None, None, 9) for v in ("baseline", "all")], columns=COLUMNS)
    assert compare({"summary": missing}, ("baseline", "all")).empty


@pytest.mark.parametrize("chance", [0.01, 0.05, 0.3])
def test_equal_configurations_are_seldom_told_apart(chance):
    """All pairs hold together: of 200 studies of seven equal configurations at most one in twenty says anything."""
    rng, names = np.random.default_rng(5), tuple("abcdefg")
    told = 0
    for _ in range(200):
        summary = shares(**dict(zip(names, rng.binomial(100, chance, 7).tolist(), strict=True)))
        told += bool((compare({"summary": summary}, names)["verdict"] != UNTOLD).any())
    assert told <= 16  # binomial(200, 0.05) reaches 17 with a probability of 2%


def test_a_planted_difference_of_means_is_seen_with_enough_records():
    rng = np.random.default_rng(6)
    for size, seen in ((1000, HIGHER), (10, UNTOLD)):
        rows = []
        for name, middle in (("baseline", 16.0), ("all", 14.0)):
            found = mean(rng.normal(middle, 6.0, size), 0)
            rows.append((name, "words", found.value, found.low, found.high, size))
        comparison = compare({"summary": pd.DataFrame(rows, columns=COLUMNS)}, ("baseline", "all"))
        assert verdicts(comparison) == {("baseline", "all"): seen}
