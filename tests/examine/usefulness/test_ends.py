"""On real text: real against real sits at the best end of each measure, text of another kind at the other."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.examine.measures import MEASURES
from engine.examine.prepare import ExamineInput, Prepared, prepare
from engine.examine.usefulness.metrics import METRICS
from engine.examine.usefulness.sides import Trio, pick
from engine.examine.usefulness.wording.reference_loss import examine_reference_loss
from engine.models.builtin.embedder import load_embedder

SPANS = pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"])
METRIC = {metric.name: metric for metric in METRICS}
VARIETY = ("distinct_1", "distinct_2", "distinct_3")  # as high in any kind of varied text
OF_ONE = (*VARIETY, "compression", "alike", "reading_level", "self_bleu")
APART_BELOW = ("headings", "duplicates", "near_duplicates")  # notes without headings; both ends at nought
BETWEEN = tuple(name for name in METRIC if name not in (*OF_ONE, *APART_BELOW))
TURNED = {"lower is better": 1, "higher is better": -1}


def frame(texts: list[str], mark: str) -> pd.DataFrame:
    ids = [f"{mark}{i}" for i in range(len(texts))]
    return pd.DataFrame({"record_id": ids, "text": texts, "source_id": ids, "label": None, "lineage": None})


@cache
def examined(folder: Path, made: str) -> Prepared:
    notes = pd.read_parquet(folder / "vaers_1998_1999.parquet")["text"].drop_duplicates().sample(600, random_state=0)
    chat = pd.read_parquet(folder / "ubuntu_irc.parquet")["text"].sample(300, random_state=0)
    texts = notes.tolist()
    sides = {"same": texts[300:], "chat": chat.tolist(), "one": [texts[5]] * 300}
    given = (frame(sides[made], "s"), frame(texts[:300], "t"), frame([], "h"))
    return prepare(ExamineInput(*given, SPANS, SPANS, privacy=False, embedder=load_embedder()))


def trio(folder: Path, made: str, name: str) -> Trio:
    return pick(examined(folder, made), METRIC[name].largest, METRIC[name].needs, None)


@pytest.mark.parametrize("name", BETWEEN)
def test_between_two_sides(test_data: Path, name: str) -> None:
    """Text of the kind falls short of real text by at most a quarter of what text of another kind does."""
    sides = {made: trio(test_data, made, name) for made in ("same", "chat")}
    reached = {made: METRIC[name].score(side.synthetic, side.target, 0).value for made, side in sides.items()}
    real = METRIC[name].score(sides["same"].real, sides["same"].target, 0).value
    sign = TURNED.get(MEASURES[name].direction, -1)  # a closeness of meaning is best as high as real text has it
    short = {made: sign * (value - real) for made, value in reached.items()}
    assert short["chat"] > 0.1 * abs(real)
    assert short["same"] < 0.25 * short["chat"]


@pytest.mark.parametrize("name", OF_ONE)
def test_values_of_one_side(test_data: Path, name: str) -> None:
    """Equal sources differ by less than half of what text of another kind does."""
    apart = {}
    for made in ("same", "chat", "one"):
        side = trio(test_data, made, name)
        ours, real = (
            METRIC[name].score(*pair, 0).value for pair in ((side.synthetic, side.real), (side.real, side.synthetic))
        )
        apart[made] = abs(np.log(ours / real))
    assert apart["same"] < 0.5 * (apart["one"] if name in VARIETY else min(apart["chat"], apart["one"]))


@pytest.mark.parametrize("name", ["duplicates", "near_duplicates"])
def test_repeated_texts(test_data: Path, name: str) -> None:
    for made, share in (("same", 0.0), ("one", 1.0)):
        side = trio(test_data, made, name)
        assert METRIC[name].score(side.synthetic, side.real, 0).value == pytest.approx(share, abs=0.03)
        assert METRIC[name].score(side.real, side.synthetic, 0).value == pytest.approx(0.0, abs=0.03)


def test_surprise(test_data: Path) -> None:
    same, real = examine_reference_loss(examined(test_data, "same")).findings
    assert same.low < real.high
    assert real.low < same.high
    chat, _ = examine_reference_loss(examined(test_data, "chat")).findings
    one, _ = examine_reference_loss(examined(test_data, "one")).findings
    assert chat.low > real.high
    assert one.high < real.low


def test_headings_of_clinical_notes(test_data: Path) -> None:
    notes = pd.read_parquet(test_data / "aci_bench.parquet")["note"].sample(frac=1.0, random_state=0).tolist()
    bare = [" ".join(note.split()) for note in notes[140:]]  # the same words in one line
    carried = []
    for made in (notes[140:], bare):
        given = (frame(made, "s"), frame(notes[:140], "t"), frame([], "h"))
        side = pick(prepare(ExamineInput(*given, SPANS, SPANS, privacy=False)), 1000, "features", None)
        found = [
            METRIC["headings"].score(*pair, 0).value for pair in ((side.synthetic, side.real), (side.real, side.target))
        ]
        carried.append(found)
    assert carried[0][0] == pytest.approx(carried[0][1], abs=0.08)
    assert carried[0][1] > 0.5
    assert carried[1][0] < 0.3 * carried[1][1]
