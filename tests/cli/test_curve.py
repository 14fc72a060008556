"""The verb `curve`: worked examples from files, a corpus by record and by source, and what it refuses."""

from __future__ import annotations

import json
import math

import pytest

from engine.__main__ import main

NINE = [str(i) for i in range(2, 11)]
M1 = ({"1": 1, **dict.fromkeys(NINE, 1)}, dict.fromkeys(NINE, 1))
M2 = ({"1": 0.19, **dict.fromkeys(NINE, 0.09)}, {"1": 0.1, **dict.fromkeys(NINE, 0.1)})
LN09 = abs(math.log(0.9))


def call(capsys, *arguments):
    status = main([str(a) for a in arguments])
    captured = capsys.readouterr()
    return status, json.loads(captured.out) if status == 0 else captured.err


def files(tmp_path, tables):
    paths = [tmp_path / "x.json", tmp_path / "y.json"]
    for path, table in zip(paths, tables):
        path.write_text(json.dumps(table), "utf-8")
    return ["--x", paths[0], "--y", paths[1]]


def test_m1(capsys, tmp_path):
    _, found = call(capsys, "curve", *files(tmp_path, M1))
    assert found == {
        "curve": [
            {"epsilon": pytest.approx(LN09), "delta": pytest.approx(0.1), "delta_standard": pytest.approx(0.1)},
            {"epsilon": None, "delta": 0.0, "delta_standard": 0.0},
        ]
    }


def test_m2(capsys, tmp_path):
    _, found = call(capsys, "curve", *files(tmp_path, M2))
    first, last = found["curve"]
    assert (first["epsilon"], first["delta"]) == pytest.approx((LN09, 0.19))
    assert round(first["delta_standard"], 3) == 0.079
    assert (last["epsilon"], last["delta"], last["delta_standard"]) == pytest.approx((math.log(1.9), 0, 0))


def test_two_draws_of_m2(capsys, tmp_path):
    _, found = call(capsys, "curve", *files(tmp_path, M2), "--draws", 2)
    assert found["curve"][-1]["epsilon"] == pytest.approx(2 * math.log(1.9))
    assert found["epsilon_rounded_up_by"] == 0.0


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        (([1], {"a": 1}), "JSON object"),
        (({"a": 1}, {}), "at least one output"),
        (({"a": "secret"}, {"a": 1}), "number"),
    ],
)
def test_bad_tables_are_refused_without_their_content(capsys, tmp_path, tables, reason):
    status, said = call(capsys, "curve", *files(tmp_path, tables))
    assert status == 1
    assert reason in said
    assert "secret" not in said


def test_an_adversary_who_chooses_afterwards(capsys, tmp_path):
    _, found = call(capsys, "curve", *files(tmp_path, M2), "--adaptive", "--rounds", "1,3")
    assert "not the δ of accountants" in found["claim"]
    one, three = found["adaptive"]
    assert (one["rounds"], three["rounds"]) == (1, 3)
    rows = [next(r for r in k["curve"] if math.isclose(r["epsilon"], math.log(1.2))) for k in (one, three)]
    assert (rows[0]["delta"], rows[0]["delta_fixed"]) == pytest.approx((0.19, 0.19))
    # of three draws, one shows "1": its probe's LBF is ln (1 − .81³)/(1 − .9³) = .55; that none does, a probe fixed
    # before can read as well, for Y: ln .9³/.81³ = .32
    assert (rows[1]["delta"], rows[1]["delta_fixed"]) == pytest.approx((1 - 0.81**3, 0.9**3))
    status, said = call(capsys, "curve", *files(tmp_path, M2), "--adaptive", "--draws", "2")
    assert status == 1
    assert "--rounds" in said


@pytest.fixture
def corpus(capsys, tmp_path):
    rows = [f'"common words w{i} and w{i % 7}",u{i % 20}' for i in range(200)]
    (tmp_path / "chat.csv").write_text("text,user\n" + "\n".join(rows), "utf-8")
    place = ("--workspace", tmp_path / "ws")
    status, found = call(
        capsys, *place, "import", tmp_path / "chat.csv", "--text", "text", "--source", "user", "--unit", "source",
        "--cap", 10,
    )  # fmt: skip
    assert status == 0
    return place, found


def test_a_corpus_by_source_and_by_record(capsys, corpus):
    place, imported = corpus
    corpus_id, held = imported["corpus"], imported["holdout_units"]
    status, found = call(capsys, *place, "curve", corpus_id, "--n", "1,3", "--exclude", "1,5", "--trials", 4)
    assert status == 0
    assert found["unit"] == "source"
    assert "must not leave" in found["internal"]
    one, three = found["results"]
    assert (one["n"], three["n"]) == (1, 3)
    assert one["sources"] == 20 - held
    assert (found["records"], found["left_out"]) == (10 * (20 - held), 10 * held)
    assert [row["excluded"] for row in one["sizes"]] == [1, 5]
    assert three["sizes"][0]["floor"]["mean"] > one["sizes"][0]["floor"]["mean"]
    assert len(one["trials"]) == 8
    assert {row["delta"] for row in one["power_law"]} == {0.001, 0.01}
    assert "w1" not in json.dumps(found).replace("w1/", "")
    assert found["left_out_over_cap"] == 0
    status, more = call(
        capsys, *place, "curve", corpus_id, "--exclude", "5", "--trials", 2, "--draws", 3, "--part", "all"
    )
    assert status == 0
    assert (more["records"], more["left_out"]) == (200, 0)
    together = more["results"][0]["seen_together"]
    assert together["draws"] == 3
    at = {round(math.exp(row["epsilon"]), 2): row for row in together["curve"]}
    single = next(r for r in more["results"][0]["sizes"][0]["curve"] if math.isclose(r["epsilon"], math.log(1.2)))
    assert at[1.2]["delta_standard"] >= single["delta_standard"]
    status, adaptive = call(
        capsys, *place, "curve", corpus_id, "--exclude", "5", "--trials", 2, "--adaptive", "--rounds", "2,20"
    )
    curve = adaptive["results"][0]["adaptive"]["curve"]
    assert {row["rounds"] for row in curve} == {2, 20}
    assert all(row["low"] <= row["delta"] + 1e-12 for row in curve)
    status, by_record = call(
        capsys, *place, "curve", corpus_id, "--exclude", "1", "--trials", 2, "--adjacency", "record", "--censor", 2
    )
    assert by_record["results"][0]["sources"] == 10 * (20 - held)
    assert by_record["results"][0]["sizes"][0]["floor"]["mean"] == 0.0
    _, log = call(capsys, *place, "audit")
    assert sum(line["action"] == "n-gram curves computed" for line in log["audit"]) == 4


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--n", "4"), "1 to 3"),
        (("--n", "one"), "whole numbers"),
        (("--exclude", "20"), "left out"),
        (("--x", "a.json"), "either"),
        (("--trials", "0"), "at least 1"),
        (("--draws", "0"), "at least 1"),
        (("--adaptive", "--rounds", "0"), "whole numbers"),
    ],
)
def test_what_a_corpus_cannot_do(capsys, corpus, arguments, reason):
    place, imported = corpus
    status, said = call(capsys, *place, "curve", imported["corpus"], *arguments)
    assert status == 1
    assert reason in said
