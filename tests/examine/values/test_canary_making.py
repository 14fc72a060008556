"""Canaries: how they look, how they are planted, and what is found of them again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from engine.errors import UserError
from engine.examine.values.canary_echo import score_canaries
from engine.examine.values.canary_making import KINDS, SPAN_COLUMNS, make_canaries, plant, record_id, toss
from engine.training.samples import generate


@pytest.fixture(scope="module")
def records() -> pd.DataFrame:
    return generate("clinic_letters", 60, 4)[["record_id", "text", "source_id", "label"]].reset_index(drop=True)


def spans_at_the_start(records: pd.DataFrame) -> pd.DataFrame:
    rows = [(r, 0, 4, "PERSON", "direct") for r in records["record_id"]]
    rows += [(r, len(t) - 3, len(t), "DATE", "quasi") for r, t in zip(records["record_id"], records["text"])]
    return pd.DataFrame(rows, columns=SPAN_COLUMNS)


@pytest.mark.parametrize("kind", KINDS)
def test_canaries_are_distinct_fixed_by_the_seed_and_hold_their_secret(kind, records) -> None:
    made = make_canaries(kind, 150, records, 3)
    assert made == make_canaries(kind, 150, records, 3) != make_canaries(kind, 150, records, 4)
    assert len({c.secret for c in made}) == 150
    everything = "\n".join(records["text"])
    texts = dict(zip(records["record_id"], records["text"], strict=True))
    for canary in made:
        assert canary.secret
        assert canary.secret not in everything
        values = [canary.text[s:e] for s, e in canary.pieces]
        assert all(value and value not in everything for value in values)
        head = canary.text[: canary.start].rstrip()
        if kind == "random":
            assert head == ""
        else:
            assert texts[canary.source].startswith(head)
            assert 0 < len(head) < len(texts[canary.source])
    pieces = [c.text[s:e] for c in made for s, e in c.pieces]
    assert len(set(pieces)) == len(pieces)


def test_identifiers_stand_where_their_spans_say_and_were_never_given_out(records) -> None:
    for canary in make_canaries("identifier", 20, records, 1):
        values = {label: canary.text[s:e] for s, e, label in canary.spans}
        assert set(values) == {"PERSON", "MEDICAL_ID", "EMAIL", "PHONE"}
        assert values["EMAIL"].endswith("@example.org")
        assert " 555-01" in values["PHONE"]
        assert values["MEDICAL_ID"].startswith("MRN-")


def test_unknown_kinds_and_empty_corpora_are_refused(records) -> None:
    with pytest.raises(UserError, match="kind: must be one of prefix, random, identifier"):
        make_canaries("loud", 3, records, 0)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="training part"):
        make_canaries("prefix", 3, records.iloc[:0], 0)


def test_coins_are_fair_and_never_the_same() -> None:
    coins = toss(20_000)
    assert abs(coins.mean() - 0.5) < 4 * 0.5 / np.sqrt(20_000)
    assert abs((coins[1:] == coins[:-1]).mean() - 0.5) < 4 * 0.5 / np.sqrt(20_000)
    assert not np.array_equal(toss(200), toss(200))
    assert toss(0).tolist() == []


def test_planting_puts_in_those_whose_coin_says_so_each_as_one_person(records) -> None:
    made = make_canaries("prefix", 10, records, 0)
    coins = np.arange(10) % 2 == 0
    planted, _ = plant(made, coins, records, pd.DataFrame(columns=SPAN_COLUMNS), 5, copies=3)
    assert len(planted) == 60 + 15
    new = planted[planted["record_id"].str.startswith("canary-")]
    assert set(new["record_id"]) == {record_id(n, c) for n in range(0, 10, 2) for c in range(3)}
    assert new.groupby("source_id").size().tolist() == [3] * 5
    assert set(new["text"]) == {c.text for c in made if coins[c.number]}
    assert list(planted.columns) == ["record_id", "text", "source_id", "label"]
    old = planted[~planted["record_id"].str.startswith("canary-")].sort_values("record_id")
    assert old["text"].tolist() == records.sort_values("record_id")["text"].tolist()


def test_places_say_nothing_about_the_other_coins(records) -> None:
    made = make_canaries("random", 6, records, 0)
    empty = pd.DataFrame(columns=SPAN_COLUMNS)
    every = plant(made, np.ones(6, bool), records, empty, 2)[0]["record_id"].tolist()
    some = plant(made, np.array([True, False, True, False, False, True]), records, empty, 2)[0]["record_id"].tolist()
    assert some == [r for r in every if r in set(some)]
    assert every.index(record_id(0)) != 60  # not simply put behind the rest


def test_spans_of_the_beginning_come_along_and_made_up_ones_where_they_are_known(records) -> None:
    made = make_canaries("identifier", 4, records, 0)
    spans = spans_at_the_start(records)
    coins = np.array([True, True, False, True])
    for known, expected in ((False, 1), (True, 5)):
        _, marks = plant(made, coins, records, spans, 0, known=known)
        new = marks[marks["record_id"].str.startswith("canary-")]
        assert new.groupby("record_id").size().to_dict() == {record_id(n): expected for n in (0, 1, 3)}
        assert len(marks) == len(spans) + len(new)
        for row in new.itertuples():
            canary = made[int(row.record_id.split("-")[1])]
            assert 0 <= row.start < row.end <= len(canary.text)


def test_echoes_by_hand(records) -> None:
    made = make_canaries("prefix", 3, records, 7)
    words = [c.secret.split() for c in made]
    synthetic = [
        f"She came home. {made[0].secret.upper()}!",  # whole, in capitals
        "A part: " + ", ".join(words[1][2:6]) + " and no more.",  # four of eight in a row, commas between
        " ".join(words[2][:2]), " ".join(words[2][2:4]),  # a run does not go from one text into the next
    ]  # fmt: skip
    table = score_canaries(made, synthetic, records["text"].tolist())
    assert table["exact"].tolist() == [True, False, False]
    assert table["run"].tolist() == [1.0, 0.5, 0.25]
    assert table["ngram"].is_monotonic_decreasing
    assert table["nearest"].iloc[0] == table["nearest"].max()


def test_one_identifier_is_enough_for_an_echo(records) -> None:
    made = make_canaries("identifier", 2, records, 7)
    start, end = made[0].pieces[1]
    table = score_canaries(made, [f"Write to {made[0].text[start:end]} now."], records["text"].tolist())
    assert table["exact"].tolist() == [True, False]
    assert table["run"].iloc[0] < 1.0


def test_given_vectors_decide_the_nearest_text(records) -> None:
    made = make_canaries("random", 2, records, 7)
    ours = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    other = np.array([[0.6, 0.8], [1.0, 0.0]], np.float32)
    table = score_canaries(made, ["a", "b"], ["c"], (ours, other))
    assert table["nearest"].tolist() == pytest.approx([1.0, 0.8])


def test_no_text_means_no_echo(records) -> None:
    made = make_canaries("random", 2, records, 7)
    table = score_canaries(made, [], records["text"].tolist())
    assert not table["exact"].any()
    assert table["run"].tolist() == [0.0, 0.0]
    assert np.isfinite(table["ngram"]).all()
    assert table["nearest"].tolist() == [0.0, 0.0]
