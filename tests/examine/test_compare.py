"""Runs are told apart only where their difference is more than chance."""

from __future__ import annotations

import dataclasses
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.errors import UserError
from engine.examine.compare import compare, difference, paired
from engine.examine.findings.findings import Finding
from engine.examine.findings.sizes import at, at_one_number
from engine.examine.stats import intervals
from engine.examine.usefulness.metrics import METRICS, Sample
from engine.examine.usefulness.part import _rows
from engine.examine.usefulness.sides import Trio


def finding(name: str, value: float, low: float | None, high: float | None, *, reference: str = "train",
            direction: str = "lower is safer", group: str = "privacy") -> Finding:  # fmt: skip
    return Finding(name, value, low, high, 100, reference, f"share of {name}", direction, group)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("direction", "first", "second", "outcome"),
    [
        ("lower is safer", (0.5, 0.4, 0.6), (0.2, 0.1, 0.3), "better"),
        ("lower is safer", (0.2, 0.1, 0.3), (0.5, 0.4, 0.6), "worse"),
        ("lower is better", (0.5, 0.4, 0.6), (0.2, 0.1, 0.3), "better"),
        ("higher is better", (0.5, 0.4, 0.6), (0.2, 0.1, 0.3), "worse"),
        ("higher is better", (0.2, 0.1, 0.3), (0.5, 0.4, 0.6), "better"),
        ("lower is safer", (0.5, 0.4, 0.6), (0.4, 0.3, 0.5), "cannot tell"),  # overlap
        ("lower is safer", (0.5, 0.4, 0.6), (0.3, 0.2, 0.4), "better"),  # intervals touch, the difference is clear
        ("lower is safer", (0.5, None, None), (0.1, None, None), "cannot tell"),  # no interval
        ("lower is safer", (0.5, None, None), (0.5, None, None), "same"),
        ("lower is safer", (math.nan, math.nan, math.nan), (0.1, 0.0, 0.2), "not measured"),
    ],
)
def test_outcome(direction: str, first: tuple, second: tuple, outcome: str) -> None:
    table = compare({
        "r-1": [finding("x", *first, direction=direction)],
        "r-2": [finding("x", *second, direction=direction)],
    })  # fmt: skip
    assert table.loc[0, "r-2 against first"] == outcome


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        ((0.9, 0.85, 0.95), (0.55, 0.5, 0.6), "better"),  # real text has 0.5
        ((0.1, 0.05, 0.15), (0.55, 0.5, 0.6), "better"),  # too low is as far away as too high
        ((0.55, 0.5, 0.6), (0.9, 0.85, 0.95), "worse"),
        ((0.3, 0.25, 0.35), (0.7, 0.65, 0.75), "cannot tell"),  # same distance on both sides
    ],
)
def test_closer_to_real(first: tuple, second: tuple, outcome: str) -> None:
    def rows(values: tuple) -> list[Finding]:
        direction = "closer to real is better"
        return [
            finding("self_bleu", *values, reference="train", direction=direction, group="utility"),
            finding("self_bleu", 0.5, 0.49, 0.51, reference="real", direction=direction, group="utility"),
        ]

    table = compare({"r-1": rows(first), "r-2": rows(second)}).set_index("reference")
    assert table.loc["train", "r-2 against first"] == outcome
    assert table.loc["real", "r-2 against first"] == ""


def test_excess_over_the_holdout_is_judged() -> None:
    table = compare(
        {
            "r-1": [finding("pipp_excess", 0.5, 0.4, 0.6, reference="holdout")],
            "r-2": [finding("pipp_excess", 0.1, 0.0, 0.2, reference="holdout")],
        }
    )
    assert table.loc[0, "r-2 against first"] == "better"


def test_a_rate_of_the_synthetic_text_itself_is_judged_and_its_context_is_not() -> None:
    rows = [finding("pii_rate", 0.5, 0.4, 0.6, reference=reference) for reference in ("none", "train", "holdout")]
    table = compare({"r-1": rows, "r-2": [finding("pii_rate", 0.1, 0.0, 0.2, reference="none"), *rows[1:]]})
    assert list(table["r-2 against first"]) == ["better", "", ""]


def sized(
    name: str, value: float, texts: int, direction: str = "lower is better", reference: str = "train", **fewer: float
) -> Finding:
    """A finding of so many texts; `at_50=0.7` is its value at fifty of them."""
    made = finding(name, value, value - 0.01, value + 0.01, reference=reference, direction=direction, group="utility")
    smaller = {key.removeprefix("at_"): [one, one - 0.01, one + 0.01] for key, one in fewer.items()}
    return dataclasses.replace(made, settings={"texts_a_side": texts, "at_fewer_texts": smaller})


@pytest.mark.parametrize(
    ("name", "texts", "outcome"),
    [("js_2gram", (60, 600), "other size"), ("js_2gram", (590, 600), "other size"), ("js_2gram", (595, 600), "better"),
     ("kid", (60, 600), "better"), ("mauve", (600, 60), "other size")],
)  # fmt: skip
def test_what_moves_with_the_number_of_texts_is_judged_at_equal_numbers_alone(name, texts, outcome) -> None:
    direction = "higher is better" if name == "mauve" else "lower is better"
    table = compare({"r-1": [sized(name, 0.85, texts[0], direction)], "r-2": [sized(name, 0.65, texts[1], direction)]})
    assert table.loc[0, "r-2 against first"] == outcome
    assert math.isnan(table.loc[0, "r-2 p"]) == (outcome == "other size")


@pytest.mark.parametrize(
    ("old", "new", "outcome", "texts"),
    [
        (sized("js_2gram", 0.9, 250, at_200=0.91), sized("js_2gram", 0.65, 500, at_400=0.7, at_200=0.91),
         "cannot tell", 200),  # what made it smaller is the number of texts
        (sized("js_2gram", 0.9, 250, at_200=0.91), sized("js_2gram", 0.65, 500, at_400=0.7, at_200=0.8), "better", 200),
        (sized("js_2gram", 0.6, 250, at_200=0.61), sized("js_2gram", 0.5, 500, at_400=0.6, at_200=0.8), "worse", 200),
        (sized("js_2gram", 0.9, 400), sized("js_2gram", 0.65, 500, at_400=0.7), "better", 400),
        (sized("js_2gram", 0.9, 404), sized("js_2gram", 0.65, 500, at_400=0.7), "better", 400),
        (sized("js_2gram", 0.9, 250), sized("js_2gram", 0.65, 500, at_400=0.7), "other size", 0),
        (sized("js_2gram", 0.9, 499), sized("js_2gram", 0.65, 500, at_400=0.95), "better", 0),
    ],
)  # fmt: skip
def test_runs_of_other_numbers_of_texts_differ_where_they_do_at_one_number(old, new, outcome, texts) -> None:
    table = compare({"r-1": [old], "r-2": [new]})
    assert (table.loc[0, "r-2 against first"], table.loc[0, "r-2 texts"]) == (outcome, texts)
    assert table.loc[0, "r-2 value"] == new.value  # what is shown is what was measured of all its texts


def test_closeness_to_real_text_is_judged_at_one_number_too() -> None:
    """Real text of fewer texts repeats itself less as well, and that is what the run of as many is held against."""
    closer = "closer to real is better"

    def rows(texts: int, ours: float, real: float, **fewer: tuple[float, float]) -> list[Finding]:
        return [
            sized("self_bleu", value, texts, closer, reference, **{key: pair[place] for key, pair in fewer.items()})
            for place, (reference, value) in enumerate((("train", ours), ("real", real)))
        ]

    old = rows(200, 0.30, 0.30)
    assert compare({"a": old, "b": rows(1000, 0.50, 0.50, at_200=(0.45, 0.30))}).loc[0, "b against first"] == "worse"
    assert (
        compare({"a": old, "b": rows(1000, 0.70, 0.50, at_200=(0.30, 0.30))}).loc[0, "b against first"] == "cannot tell"
    )


WORDS = np.random.default_rng(3).permutation(4000).astype(np.int32)
TAIL = 1 / np.arange(1, 4001) / np.sum(1 / np.arange(1, 4001))


def drawn(rng: np.random.Generator, texts: int) -> Sample:
    rows = [WORDS[rng.choice(4000, rng.integers(10, 40), p=TAIL)] for _ in range(texts)]
    return Sample(tuple(rows), rng.permutation(10**6)[:texts].astype(object))


def measured(seed: int, texts: int) -> list[Finding]:
    """Measures of words of a run whose texts come from where the real ones do."""
    rng = np.random.default_rng([seed, texts])
    prepared: Any = SimpleNamespace(seed=seed, grouped=False, check=lambda: None)
    trio = Trio(*(drawn(rng, texts) for _ in range(3)), None, False)
    names = ("length_distance", "js_1gram", "js_2gram", "self_bleu", "distinct_1", "distinct_2", "duplicates")
    return [row for m in METRICS if m.name in names for row in _rows(m, trio, prepared)]


def test_runs_of_one_source_do_not_differ_by_how_many_texts_they_have() -> None:
    """Without a look at sizes, the largest one was better on two of the seven measures in each draw."""
    said, equal = [], []
    for seed in range(6):
        small, other = measured(seed, 60), measured(seed + 100, 60)
        for many in (90, 120, 240):
            said += list(compare({"a": small, "b": measured(seed, many)})["b against first"])
        equal.append(list(compare({"a": small, "b": other})["b against first"]))
    assert sum(word in ("better", "worse") for word in said) <= 1
    assert sum(bool({"better", "worse"} & set(one)) for one in equal) <= 2
    assert "other size" not in [*said, *np.concatenate(equal)]


def test_a_run_of_other_texts_is_told_apart_at_one_number() -> None:
    """Words of another kind are seen beside a run of as few texts as of many."""
    rng = np.random.default_rng(9)
    prepared: Any = SimpleNamespace(seed=1, grouped=False, check=lambda: None)

    def run(texts: int, other: int) -> list[Finding]:
        trio = Trio(*(drawn(rng, texts) for _ in range(3)), None, False)
        odd = tuple((row + 4000).astype(np.int32) for row in trio.synthetic.words[:other])
        made = dataclasses.replace(trio.synthetic, words=odd + trio.synthetic.words[other:])
        trio = dataclasses.replace(trio, synthetic=made)
        return [row for m in METRICS if m.name in ("js_1gram", "js_2gram") for row in _rows(m, trio, prepared)]

    table = compare({"a": run(100, 0), "b": run(400, 160)})
    judged = table[table["b against first"] != ""]
    assert list(judged["b against first"]) == ["worse", "worse"]
    assert list(judged["b texts"]) == [100, 100]


def test_unrelated_text_stands_at_as_few_texts_as_the_run_and_the_real_text() -> None:
    """Words of few texts are far from any others: the level of many is nearer than a run of few can be."""
    rng = np.random.default_rng(4)
    prepared: Any = SimpleNamespace(seed=1, grouped=False, check=lambda: None)
    metric = next(m for m in METRICS if m.name == "js_1gram")

    def run(texts: int) -> list[Finding]:
        strange = drawn(rng, texts)
        mixed = tuple(np.where(rng.random(len(row)) < 0.1, row + 4000, row).astype(np.int32) for row in strange.words)
        trio = Trio(*(drawn(rng, texts) for _ in range(3)), dataclasses.replace(strange, words=mixed), False)
        return _rows(metric, trio, prepared)

    equal, cut = at_one_number({"a": run(100), "b": run(1000)}, [metric.name])
    assert cut == {metric.name: 100}
    levels = {run: {one.reference: one for one in rows} for run, rows in equal.items()}
    for rows in levels.values():
        assert rows["unrelated"].value > rows["real"].value
        assert rows["unrelated"].low is None
    assert levels["b"]["unrelated"].settings["texts_a_side"] == 100


def test_an_interval_without_width_proves_no_certainty() -> None:
    """With two people a side, both halves left out may give the same."""
    certain = [sized("distinct_3", value, 50) for value in (1.0, 0.9997)]
    runs = {str(i): [dataclasses.replace(one, low=one.value, high=one.value)] for i, one in enumerate(certain)}
    assert compare(runs).loc[0, "1 against first"] == "cannot tell"
    assert compare({"0": runs["0"], "1": runs["0"]}).loc[0, "1 against first"] == "cannot tell"


def test_a_finding_at_fewer_texts_carries_nothing_of_its_own_number() -> None:
    made = sized("mauve", 0.5, 600, "higher is better", at_100=0.4)
    made.settings.update(buckets=30, note="compare only with MAUVE at 600 texts a side", method="jackknife")
    taken = at(dataclasses.replace(made, n=600), 100)
    assert taken is not None
    assert (taken.value, taken.n, taken.settings) == (0.4, 100, {"texts_a_side": 100, "method": "jackknife"})


def test_each_run_is_held_against_the_real_text_beside_it() -> None:
    """Real text is cut to the length of a run's texts: of six words it repeats itself otherwise than of thirty."""

    def rows(value: float, real: float) -> list[Finding]:
        return [finding("self_bleu", v, v - 0.02, v + 0.02, reference=reference, direction="closer to real is better",
                        group="utility") for reference, v in (("train", value), ("real", real))]  # fmt: skip

    runs = {"r-1": rows(0.60, 0.60), "r-2": rows(0.20, 0.20), "r-3": rows(0.20, 0.60)}
    table = compare(runs).set_index("reference").loc["train"]
    assert table["r-2 against first"] == "cannot tell"
    assert table["r-3 against first"] == "worse"


def test_readable_shares_are_held_against_real_records_and_not_judged_without() -> None:
    def rows(value: float, *levels: float) -> list[Finding]:
        found = (("none", value), *(("baseline", level) for level in levels))
        return [finding("readable", v, v - 0.03, v + 0.03, reference=reference, direction="closer to real is better")
                for reference, v in found]  # fmt: skip

    assert compare({"a": rows(0.5, 0.97), "b": rows(0.95, 0.97)}).loc[0, "b against first"] == "better"
    assert compare({"a": rows(0.5), "b": rows(0.95)}).loc[0, "b against first"] == "not measured"


def test_the_commonest_label_is_no_finding_of_a_run() -> None:
    rows = [finding("classifier_majority", 0.2, 0.18, 0.22, reference="none", direction="higher is better")]
    assert compare({"a": rows, "b": rows}).loc[0, "b against first"] == ""


def test_context_rows_are_not_judged() -> None:
    table = compare({
        "r-1": [finding("pipp", 0.5, 0.4, 0.6, reference="holdout")],
        "r-2": [finding("pipp", 0.1, 0.0, 0.2, reference="holdout")],
    })  # fmt: skip
    assert table.loc[0, "r-2 against first"] == ""


def test_missing_rows_and_columns() -> None:
    mauve = finding("mauve", 0.5, 0.4, 0.6, direction="higher is better", group="utility")
    table = compare({
        "r-1": [mauve, finding("pipp", 0.1, 0, 0.2)],
        "r-2": [finding("pipp", 0.1, 0, 0.2)],
        "r-3": [],
    })  # fmt: skip
    assert list(table["name"]) == ["pipp", "mauve"]  # privacy first
    assert math.isnan(table.loc[1, "r-2 value"])
    assert table.loc[1, "r-2 against first"] == "not measured"
    assert table.loc[0, "r-3 against first"] == "not measured"
    assert [c for c in table if c.startswith("r-1")] == ["r-1 value", "r-1 low", "r-1 high"]
    assert table.loc[0, "r-2 pairs"] == 0


def test_two_to_four_runs() -> None:
    for count in (0, 1, 5):
        with pytest.raises(UserError, match="two to four"):
            compare({f"r-{i}": [] for i in range(count)})
    assert compare({"r-1": [], "r-2": []}).empty


def each(values: np.ndarray, name: str = "verbatim_8gram", people: int = 0) -> pd.DataFrame:
    ids = np.arange(len(values))
    units = ids % people if people else ids
    return pd.DataFrame({"name": name, "reference": "train", "item": [f"d-{i}" for i in ids],
                         "unit": [f"p-{u}" for u in units], "value": values})  # fmt: skip


def share(hits: np.ndarray) -> Finding:
    found = intervals.share(hits)
    return finding("verbatim_8gram", found.value, found.low, found.high)


def test_records_that_both_runs_rewrote_are_held_against_each_other() -> None:
    """Nine records fewer of 300 say nothing between two draws, and much where all others are alike."""
    old = np.arange(300) < 150
    new = old & (np.arange(300) >= 9)
    rows = {"r-1": [share(old)], "r-2": [share(new)]}
    assert compare(rows).loc[0, "r-2 against first"] == "cannot tell"
    table = compare(rows, {"r-1": each(old.astype(float)), "r-2": each(new.astype(float))})
    assert table.loc[0, "r-2 against first"] == "better"
    assert table.loc[0, "r-2 pairs"] == 300
    assert table.loc[0, "r-2 difference"] == pytest.approx(-0.03)


def test_few_people_are_not_paired_however_many_records_they_have() -> None:
    old = (np.arange(300) < 150).astype(float)
    rows = {"r-1": [share(old > 0)], "r-2": [share(old > 2)]}
    table = compare(rows, {"r-1": each(old, people=19), "r-2": each(old * 0, people=19)})
    assert table.loc[0, "r-2 pairs"] == 0


def test_pairs_are_of_the_records_that_both_have() -> None:
    old, new = each(np.ones(100)), each(np.zeros(100)).iloc[50:]
    found = paired(new, old)
    assert (found.value, found.pairs) == (-1.0, 50)
    assert paired(new.assign(item="other"), old) is None
    assert paired(old, old).p == 1.0


@pytest.mark.parametrize("size", [30, 300, 3000])
def test_independent_differences_keep_their_level(size: int) -> None:
    """500 pairs of equal runs, and 500 of unequal ones."""
    rng = np.random.default_rng(size)

    def found(other: float) -> float:
        pairs = [(share(rng.random(size) < 0.2), share(rng.random(size) < other)) for _ in range(500)]
        return float(np.mean([difference(a, b).p <= 0.05 for a, b in pairs]))

    assert found(0.2) <= 0.08
    assert found(0.5) >= {30: 0.5, 300: 0.99, 3000: 0.99}[size]


@pytest.mark.parametrize("people", [25, 200])
def test_paired_differences_keep_their_level_with_several_records_a_person(people: int) -> None:
    """200 pairs of equal runs, and 200 with a planted shift; a person's records go together."""
    rng = np.random.default_rng(people)

    def drawn(base: np.ndarray, shift: float) -> pd.DataFrame:
        own = np.tile(rng.normal(size=people) * 0.5, 3)
        return each(base + shift + own + rng.normal(size=len(base)) * 0.5, people=people)

    def found(shift: float) -> float:
        hits = []
        for _ in range(200):
            base = rng.normal(size=3 * people) * 3
            hits.append(paired(drawn(base, shift), drawn(base, 0.0)).p <= 0.05)
        return float(np.mean(hits))

    assert found(0.0) <= 0.09
    assert found(0.6) >= 0.7


def test_a_hundred_equal_findings_hold_hardly_any_difference() -> None:
    """Without correction five of a hundred would be called better or worse."""
    rng = np.random.default_rng(5)
    called = 0
    for _ in range(40):
        rows = {
            run: [dataclasses.replace(share(rng.random(200) < 0.3), name=f"x{i}") for i in range(100)] for run in "ab"
        }
        called += bool(compare(rows)["b against first"].isin(["better", "worse"]).any())
    assert called <= 6  # at most 5% of tables, by chance a few more


def test_runs_of_different_embedders_are_not_held_against_each_other_and_it_is_said() -> None:
    from engine.figures.beside import beside

    ours, theirs = (finding("kid", value, value - 0.01, value + 0.01, reference="train", direction="lower is better",
                            group="utility") for value in (0.2, 0.6))  # fmt: skip
    theirs = dataclasses.replace(theirs, settings={"embedder": "character n-grams"})
    rows = {"r-1": [ours, finding("pipp_excess", 0.5, 0.4, 0.6, reference="holdout")],
            "r-2": [theirs, finding("pipp_excess", 0.1, 0.0, 0.2, reference="holdout")]}  # fmt: skip
    table = compare(rows).set_index("name")
    assert table.loc["kid", "r-2 against first"] == "other embedder"
    assert math.isnan(table.loc["kid", "r-2 p"])
    assert table.loc["pipp_excess", "r-2 against first"] == "better"
    named = dataclasses.replace(ours, settings={"embedder": "all-MiniLM-L6-v2"})  # what older findings do not name
    alike = compare({"r-1": [named], "r-2": [dataclasses.replace(theirs, settings={})]})
    assert alike.loc[0, "r-2 against first"] == "worse"
    said = beside({"A · one": rows["r-1"], "B · two": rows["r-2"]}, ["kid"]).caveat
    assert "measured by different embedders" in said
    assert "embedders" not in beside({"A · one": [named], "B · two": [ours]}, ["kid"]).caveat
