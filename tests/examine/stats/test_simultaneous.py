"""Many attacks at once: chance is not called a leak, a planted one is; groups and units are counted honestly."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from engine.examine.members import groups
from engine.examine.members.membership import MembershipScores
from engine.examine.members.unit_risk import attack_units, rank
from engine.examine.stats import intervals, roc
from engine.examine.stats.simultaneous import BLIND, holm, judge, membership, wider


def row(name: str, members, others, *, greyed: bool = False, observes: str = "released text") -> dict[str, object]:
    area, rate = roc.auc(members, others), roc.tpr_at(members, others, 0.01)
    return {"attack": name, "title": name, "observes": observes, "auc": area.value, "low": area.low,
            "high": area.high, "freedom": area.freedom, "p": math.nan, "tpr_01": rate.value, "tpr_01_low": rate.low,
            "tpr_01_high": rate.high, "members": len(members), "others": len(others), "greyed": greyed}  # fmt: skip


def null(seed: int, attacks: int = 8, size: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame([row(f"a{i}", rng.normal(size=size), rng.normal(size=size)) for i in range(attacks)])


def test_chance_is_called_a_leak_in_at_most_one_examination_in_twenty() -> None:
    called = sum(membership(null(seed))[0].level == "leak" for seed in range(100))
    alone = sum(bool((null(seed)["low"] > 0.5).any()) for seed in range(100))
    assert called <= 9  # 5 expected at most; 10 or more of 100 would have a chance of 0.03
    assert alone > called  # without a correction it would be more


def test_a_leak_among_many_attacks_is_called_one() -> None:
    rng = np.random.default_rng(1)
    table = pd.concat([null(2), pd.DataFrame([row("seen", rng.normal(0.5, 1, 300), rng.normal(size=300))])])
    (sentence,) = membership(table)
    assert sentence.level == "leak"
    assert "“seen”" in sentence.more
    assert sentence.text.startswith("Membership: 1 of 9 attacks")


def test_a_few_members_found_without_error_are_a_leak_though_the_area_is_near_chance() -> None:
    rng = np.random.default_rng(4)
    members, others = rng.normal(size=2000), rng.normal(size=2000)
    members[:100] += 10.0  # one in twenty was copied
    (look,) = judge(pd.DataFrame([row("copies", members, others)]))
    assert look.auc < 0.56
    assert look.level == "leak"


@pytest.mark.parametrize(
    ("areas", "rate", "nothing"),
    [
        ((0.53, 0.60), math.nan, True),
        ((0.53, 0.61), math.nan, False),  # one attack works better than a little, though it could be chance
        ((0.53, 0.60), 0.03, True),
        ((0.53, 0.60), 0.04, False),  # more members found than at one false alarm in a hundred, by more than a little
    ],
)
def test_where_no_attack_works_it_is_said_what_cannot_be_ruled_out(areas, rate: float, nothing: bool) -> None:
    rows = [
        {"attack": f"a{i}", "title": f"a{i}", "observes": "released text", "auc": area, "low": area - 0.15,
         "high": area + 0.15, "p": 0.5, "tpr_01": rate, "tpr_01_low": 0.0 if rate == rate else math.nan,
         "greyed": False}
        for i, area in enumerate(areas)
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    (sentence,) = membership(table)
    assert sentence.level == "unsure"
    assert sentence.nothing is nothing
    highest = max(look.high for look in judge(table))
    assert f"with so few records one could be right in up to {100 * highest:.1f}% of pairs unseen" in sentence.text


def test_greyed_and_blind_attacks_are_not_judged() -> None:
    rng = np.random.default_rng(5)
    members, others = rng.normal(1, 1, 300), rng.normal(size=300)
    table = pd.DataFrame([row("a", members, others, greyed=True), row("blind", members, others, observes=BLIND)])
    assert [look.level for look in judge(table)] == ["unknown"]
    (sentence,) = membership(table)
    assert (sentence.level, "not to be judged" in sentence.text) == ("unknown", True)
    assert "not measured" in membership(None)[0].text
    assert "no attack could be carried out" in membership(table.head(0))[0].text


def test_a_greyed_attack_far_above_what_words_alone_reach_is_said_to_be_a_leak() -> None:
    rng = np.random.default_rng(7)
    size = 300
    table = pd.DataFrame([
        row("copies", rng.normal(3, 1, size), rng.normal(size=size), greyed=True),
        row("weak", rng.normal(0.2, 1, size), rng.normal(size=size), greyed=True),
        row("blind", rng.normal(0.3, 1, size), rng.normal(size=size), observes=BLIND),
    ])  # fmt: skip
    assert {look.attack: (look.level, look.beyond) for look in judge(table)} == {
        "copies": ("unknown", True), "weak": ("unknown", False)
    }  # fmt: skip
    (sentence,) = membership(table)
    assert sentence.level == "leak"
    assert "1 of 2 attacks do clearly better" in sentence.text
    low = table.set_index("attack").loc["blind"]
    assert f"{100 * low['auc']:.1f}% of pairs ({100 * low['low']:.1f}% to" in sentence.text
    turned = table.assign(auc=1 - table["auc"], low=1 - table["high"], high=1 - table["low"])
    assert not any(look.beyond for look in judge(turned))  # far below chance is no proof of membership
    assert not any(look.beyond for look in judge(table[table["attack"] != "blind"]))  # nothing to hold it against


def test_a_leak_of_the_model_alone_is_a_sentence_of_its_own() -> None:
    rng = np.random.default_rng(6)
    size = 20_000
    table = pd.DataFrame([
        row("released", rng.normal(size=size), rng.normal(size=size)),
        row("surprisal", rng.normal(1, 1, 500), rng.normal(size=500), observes="generator"),
    ])  # fmt: skip
    text, model = membership(table)
    assert text.level == "chance"
    assert model.level == "leak"
    assert "publishing the model" in model.text


def test_holm_and_joint_intervals() -> None:
    assert holm([0.01, math.nan, 0.04, 0.03]) == [pytest.approx(0.03), pytest.approx(math.nan, nan_ok=True),
                                                  pytest.approx(0.06), pytest.approx(0.06)]  # fmt: skip
    assert wider(1) == 1.0
    assert wider(20) == pytest.approx(3.0233 / 1.95996, abs=1e-3)
    assert wider(20, 10.0) == pytest.approx(4.0045 / 2.2281, abs=1e-3)  # Student's t at 0.99875 and at 0.975


def test_attacks_on_few_people_are_widened_by_students_t_and_an_earlier_table_as_it_was() -> None:
    rng = np.random.default_rng(13)
    rows = [row(f"a{i}", rng.normal(1, 1, 9), rng.normal(size=9)) for i in range(5)]
    new, old = judge(pd.DataFrame(rows)), judge(pd.DataFrame(rows).drop(columns="freedom"))
    for look, before, given in zip(*(sorted(looks, key=lambda one: one.attack) for looks in (new, old)), rows,
                                   strict=True):  # fmt: skip
        reach = given["auc"] - given["low"]
        assert look.low == pytest.approx(max(0.0, given["auc"] - wider(5, given["freedom"]) * reach))
        assert before.low == pytest.approx(max(0.0, given["auc"] - wider(5) * reach))
        assert 0.0 < look.low < before.low


@pytest.mark.parametrize(("p", "level"), [(0.003, "leak"), (0.004, "unsure"), (0.001, "leak"), (math.nan, "leak")])
def test_an_area_is_a_leak_only_where_deals_of_membership_agree(p: float, level: str) -> None:
    """Fifteen attacks: 15 times 0.003 is below 0.05, 15 times 0.004 is not; a table without p is judged without."""
    rows = [{"attack": f"a{i}", "title": f"a{i}", "observes": "released text", "auc": 0.7 if i == 0 else 0.5,
             "low": 0.6 if i == 0 else 0.4, "high": 0.8 if i == 0 else 0.6, "p": p if i == 0 else 0.8,
             "tpr_01": math.nan, "tpr_01_low": math.nan, "greyed": False} for i in range(15)]  # fmt: skip
    looks = {look.attack: look.level for look in judge(pd.DataFrame(rows))}
    assert looks["a0"] == level
    many = pd.DataFrame([{**rows[0], "attack": f"a{i}", "p": 0.001} for i in range(60)])
    assert {look.level for look in judge(many)} == {"leak"}, "the least p that 999 deals can give always agrees"
    (copies,) = judge(pd.DataFrame([{**rows[0], "p": 0.9, "tpr_01": 0.2, "tpr_01_low": 0.1}]))
    assert copies.level == "leak", "members found without false alarms need no area"


def test_sparse_scores_without_a_leak_are_called_neither_a_leak_nor_chance_by_few_records() -> None:
    rng = np.random.default_rng(14)
    levels = []
    for _ in range(60):
        rows = [row(f"a{i}", (rng.random(1000) < 0.01) * 1.0, (rng.random(100) < 0.01) * 1.0) for i in range(3)]
        levels += [look.level for look in judge(pd.DataFrame(rows))]
    assert levels.count("leak") == 0
    blank = pd.DataFrame([row("blank", np.zeros(12), np.zeros(12))])
    assert [look.level for look in judge(blank)] == ["unsure"]
    planted = pd.DataFrame([row("planted", (np.arange(1000) < 100) * 1.0, np.zeros(900))])
    assert [look.level for look in judge(planted)] == ["leak"]


def scores(members, others, units) -> MembershipScores:
    rows = np.arange(len(members)), np.arange(len(others))
    return MembershipScores("a", *rows, np.asarray(members, float), np.asarray(others, float), False)


def test_units_are_flagged_with_their_records_allowed_for() -> None:
    others = np.arange(200.0)
    members = np.array([500.0, 199.5, 199.5, 10.0, 20.0])
    units = np.array(["alone", "two", "two", "low", "low"], dtype=object)
    ids = np.array(list("abcde"), dtype=object)
    table = attack_units(scores(members, others, units), units, ids).set_index("unit")
    assert table.loc["alone", "p"] == pytest.approx(1 / 201)
    assert table.loc["two", "p"] == pytest.approx(2 / 201)
    assert table.loc["low", "record_id"] == "e"
    ranked = rank([table.reset_index(), table.reset_index().assign(attack="b").head(1)])
    assert list(ranked["unit"]) == ["alone", "two"]
    assert list(ranked["flags"]) == [2, 1]
    assert ranked.iloc[0]["flagged_by"] == "a|b"


def test_one_member_in_a_hundred_is_flagged_by_chance() -> None:
    rng = np.random.default_rng(7)
    units = np.arange(5000).astype(str).astype(object)
    found = attack_units(scores(rng.normal(size=5000), rng.normal(size=5000), units), units, units)
    assert 25 <= int((found["p"] <= 0.01).sum()) <= 75


def test_the_clustered_area_is_delongs_where_every_unit_has_one_record() -> None:
    rng = np.random.default_rng(8)
    members, others = rng.normal(0.3, 1, 150), rng.normal(size=120)
    one, two = np.arange(150).astype(object), np.arange(120).astype(object)
    area, low, high = groups.clustered_auc(members, others, one, two)
    exact = roc.auc(members, others)
    assert (area, low, high) == (pytest.approx(exact.value), pytest.approx(exact.low, abs=1e-3),
                                 pytest.approx(exact.high, abs=1e-3))  # fmt: skip


def test_a_group_of_equal_scores_has_the_width_of_its_units() -> None:
    units = np.repeat(np.arange(25), 4).astype(object)
    area, low, high = groups.clustered_auc(np.zeros(100), np.zeros(100), units, units)
    apart = intervals.difference_independent(*[intervals.share(np.zeros(25, bool))] * 2)
    assert (area, low, high) == pytest.approx((0.5, 0.5 + apart.low / 2, 0.5 + apart.high / 2))


def test_the_clustered_interval_holds_under_dependence() -> None:
    held = 0
    for seed in range(100):
        rng = np.random.default_rng([9, seed])
        sides = []
        for _ in range(2):
            units = np.repeat(np.arange(60), 5).astype(object)
            sides.append((np.repeat(rng.normal(size=60), 5) + 0.3 * rng.normal(size=300), units))
        _, low, high = groups.clustered_auc(sides[0][0], sides[1][0], sides[0][1], sides[1][1])
        held += low <= 0.5 <= high
    assert 87 <= held <= 100
