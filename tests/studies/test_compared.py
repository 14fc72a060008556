"""Verdicts over repeats, from values written by hand: better, worse, cannot tell, and what was never measured."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from engine.examine.stats.over_repeats import difference
from engine.studies.bench import compared
from engine.studies.bench.bench import standard
from engine.studies.bench.figures import share_of
from tests.studies.bench_world import rows


def verdicts(runs, pair=("a", "b")):
    table = compared.compare(runs, [pair])
    return dict(zip(table["measure"], table["verdict"], strict=True))


def test_direction_decides_what_is_better():
    near, far = [0.1, 0.11, 0.09, 0.1], [0.5, 0.52, 0.49, 0.51]
    runs = pd.concat([
        rows("a", "low", near), rows("b", "low", far),
        rows("a", "high", near, "higher is better"), rows("b", "high", far, "higher is better"),
        rows("a", "close", near, compared.CLOSER, 0.5), rows("b", "close", far, compared.CLOSER, 0.5),
        rows("a", "safe", near, "lower is safer"), rows("b", "safe", far, "lower is safer"),
    ])  # fmt: skip
    assert verdicts(runs) == {"low": "better", "high": "worse", "close": "worse", "safe": "better"}
    assert verdicts(runs, ("b", "a"))["low"] == "worse"


def test_values_on_both_sides_of_real_text_are_as_far_from_it():
    runs = pd.concat([
        rows("a", "m", [0.3, 0.31, 0.29, 0.3], compared.CLOSER, 0.5),
        rows("b", "m", [0.7, 0.69, 0.71, 0.7], compared.CLOSER, 0.5),
    ])  # fmt: skip
    assert verdicts(runs) == {"m": "cannot tell"}


def test_what_was_not_measured_is_never_called_cannot_tell():
    runs = pd.concat([
        rows("a", "none", [math.nan] * 3), rows("b", "none", [1.0, 2.0, 3.0]),
        rows("a", "few", [1.0, 2.0]), rows("b", "few", [1.0, 2.0, 4.0]),
        rows("a", "noise", [1.0, 2.0, 3.0]), rows("b", "noise", [1.1, 2.1, 2.9]),
    ])  # fmt: skip
    assert verdicts(runs) == {
        "none": compared.UNMEASURED, "few": compared.FEW, "noise": compared.UNTOLD
    }  # fmt: skip
    (said,) = compared.sentences(compared.compare(runs, [("a", "b")]))
    assert said == (
        "a, against b: no difference can be told in “NOISE”; not measured: “NONE”; fewer than 3 repeats: “FEW”."
    )


def test_what_differs_and_never_varies_is_not_called_cannot_tell():
    """No test fits it: a copying method copies in every repeat, and one that does not in none."""
    runs = pd.concat([
        rows("a", "copies", [1.0] * 6, "lower is safer"), rows("b", "copies", [0.0] * 6, "lower is safer"),
        rows("a", "same", [0.5] * 6), rows("b", "same", [0.5] * 6),
        rows("a", "one", [1.0] * 6), rows("b", "one", [0.0, 0.1, 0.0, 0.1, 0.0, 0.1]),
    ])  # fmt: skip
    assert verdicts(runs) == {"copies": compared.FIXED, "same": compared.UNTOLD, "one": compared.WORSE}
    table = compared.compare(runs, [("a", "b")])
    assert "apart by the same in every repeat, so that no test fits: “COPIES”" in compared.sentences(table)[0]
    assert "as far from b in every repeat, so that no test fits: a" in share_of(table, "copies", "b")


def test_repeats_that_are_missing_are_told():
    values = [1.0, 2.0, 3.0, 4.0, 5.0, math.nan]
    runs = pd.concat([rows(v, "kid", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) for v in ("a", "b")]
                     + [rows("a", "alike", values), rows("b", "alike", values[::-1]), rows("b", "none", [math.nan] * 6),
                        rows("a", "none", values)])  # fmt: skip
    told = standard(runs, [("a", "b")], 6)["in_words"]["sentence"].tolist()
    assert "Not every repeat has a value, and which ones do may be no chance: “ALIKE” of a against b (5 of 6)." in told
    assert not any("are there" in line for line in told)
    stopped = standard(runs[(runs["repeat"] < 4) | ((runs["repeat"] == 4) & (runs["variant"] == "a"))], [("a", "b")], 6)
    said = " ".join(stopped["in_words"]["sentence"])
    assert "4 of 6 repeats are there. The tests hold for a number of repeats that was fixed beforehand" in said
    assert "With 4 repeats the paired permutation test has no p value below 0.125" in said


def test_who_stops_at_the_first_difference_is_wrong_more_often_than_the_tests_say():
    """What the sentence about a stopped study warns of: looked at after each repeat, chance passes more often."""
    rng = np.random.default_rng(12)
    fixed = peeked = 0
    for _ in range(400):
        one, two = rng.normal(size=10), rng.normal(size=10)
        found = [difference(one[:n].tolist(), two[:n].tolist()).p < 0.05 for n in range(3, 11)]
        fixed, peeked = fixed + found[-1], peeked + any(found)
    assert fixed <= 34  # 20 expected
    assert peeked >= 2 * fixed


def test_what_moves_with_the_number_of_texts_is_compared_at_equal_numbers_alone():
    """A method that drops half of its outputs is not worse for that."""

    def of(variant, texts, **fewer):
        near = [0.5, 0.51, 0.49] if variant == "a" else [0.8, 0.81, 0.79]
        made = pd.concat([rows(variant, name, near).assign(of_texts=texts) for name in ("js_2gram", "kid")])
        kept = [
            json.dumps({key.removeprefix("at_"): [value + 0.01 * repeat, 0.4] for key, value in fewer.items()})
            for repeat in made["repeat"]
        ]
        return made.assign(at_fewer_texts=kept)

    assert verdicts(pd.concat([of("a", 400), of("b", 100)])) == {"js_2gram": compared.SIZED, "kid": "better"}
    assert (
        verdicts(pd.concat([of("a", 400).drop(columns="at_fewer_texts"), of("b", 100)]))["js_2gram"] == compared.SIZED
    )
    told = pd.concat([of("a", 400, at_100=0.6, at_50=0.7), of("b", 100, at_50=0.9)])
    assert verdicts(told) == {"js_2gram": "better", "kid": "better"}
    table = compared.compare(told, [("a", "b")]).set_index("measure")
    assert table.loc["js_2gram", "difference"] == pytest.approx(0.61 - 0.8)  # at 100, not at 50 and not as it stands
    assert (table.loc["js_2gram", "at_texts"], table.loc["kid", "at_texts"]) == (100, 0)
    assert "better in “JS_2GRAM” at 100 texts and “KID”" in compared.sentences(table.reset_index())[0]
    turned = pd.concat([of("a", 400, at_100=0.95, at_50=0.9), of("b", 100)])
    assert verdicts(turned)["js_2gram"] == "worse"  # what made it smaller was the number of texts
    assert verdicts(pd.concat([of("a", 400), of("b", 397)])) == {"js_2gram": "better", "kid": "better"}
    short = of("b", 100)
    short.loc[(short["measure"] == "js_2gram") & (short["repeat"] == 1), "of_texts"] = 50
    assert verdicts(pd.concat([of("a", 400, at_100=0.6, at_50=0.7), short]))["js_2gram"] == compared.SIZED
    table = compared.compare(pd.concat([of("a", 400), of("b", 100)]), [("a", "b")])
    assert "of which they have none in common: “JS_2GRAM”" in compared.sentences(table)[0]
    assert table["p"].notna().sum() == 1  # what is not compared is no test


def test_repeats_are_held_against_each_other_where_all_of_them_have_a_value():
    """Some numbers of texts give none, some rows are of an edition that kept none, some settings have no value."""

    def of(variant, values, texts=(400, 400, 400), **fewer):
        made = rows(variant, "js_2gram", values).assign(of_texts=texts)
        kept = [{key.removeprefix("at_"): [own[i], 0.4] for key, own in fewer.items()} for i in range(3)]
        return made.assign(at_fewer_texts=[json.dumps(one) for one in kept])

    near, far, none = [0.5, 0.51, 0.49], [0.9, 0.91, 0.89], [math.nan] * 3
    short = of("a", near, (400, 100, 400), at_100=near, at_50=near)
    gap = of("b", far, at_100=[math.nan, *far[1:]], at_50=far)
    table = compared.compare(pd.concat([short, gap]), [("a", "b")])
    assert table[["verdict", "at_texts", "repeats"]].to_numpy().tolist() == [["better", 50, 3]]
    earlier = of("b", far, (400, math.nan, 400), at_100=far).astype({"at_fewer_texts": object})
    earlier.loc[1, "at_fewer_texts"] = None
    assert verdicts(pd.concat([short, earlier])) == {"js_2gram": compared.SIZED}
    for order in ([short, of("b", none)], [of("b", none), short]):  # a's repeats are of clearly different numbers
        assert verdicts(pd.concat(order)) == {"js_2gram": compared.UNMEASURED}
        assert verdicts(pd.concat(order), ("b", "a")) == {"js_2gram": compared.UNMEASURED}


def test_many_differences_by_chance_are_not_called_differences():
    rng = np.random.default_rng(4)
    false = 0
    for _ in range(60):
        runs = pd.concat(
            [rows(v, f"m{i}", rng.normal(size=4)) for v in ("a", "b") for i in range(10)], ignore_index=True
        )
        false += any(v in (compared.BETTER, compared.WORSE) for v in verdicts(runs).values())
    assert false <= 8  # 3 expected; without a correction 24


def test_what_three_repeats_can_show_is_said():
    said = " ".join(compared.power(3, 7))
    assert "no p value below 0.25, so it can never fall below 0.05" in said
    assert "6 repeats are the fewest" in said
    assert "7 tests are corrected together" in said
    assert "3.1 standard deviations" in said
    assert "calls chance a difference up to 1.9 times as often; more repeats mend that" in said
    assert not any("times as often" in line for line in compared.power(10, 7))
    assert "which is below 0.05" in compared.power(6, 1)[0]
    assert "no interval and no difference" in compared.power(2, 7)[0]
    assert "one in twenty is false on average" in " ".join(compared.power(3, 60))


def test_a_mean_has_its_interval_where_there_is_one():
    table = compared.summary(pd.concat([rows("a", "kid", [0.1, 0.2, 0.3], epsilon="4"), rows("a", "next_word", [0.0])]))
    assert table.loc[0, "high"] > 0.4
    assert math.isnan(table.loc[1, "high"])
    assert list(compared.summary(rows("a", "kid", [0.1], epsilon="4"), ("epsilon",))["epsilon"]) == ["4"]
