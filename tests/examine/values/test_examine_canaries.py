"""Canaries that a corpus holds: found again where they come back, counted once, and missed out loud where none are."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.examine.examination import ExamineInput
from engine.examine.findings.part import Part
from engine.examine.prepare import prepare
from engine.examine.values.canaries import examine_canaries
from engine.store.store import Store
from tests.examine.examine_helpers import synthetic
from tests.store.conftest import MAPPING, made_up

WORDS = "amber brass cobalt jade ivory lunar marble opal paper velvet badger falcon".split()


NO_SPANS = pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"])


def corpus(side: str, canaries: int, plain: int = 20) -> pd.DataFrame:
    """Return records whose first `canaries` ones hold a secret of eight words, named in a column of its own."""
    rng = np.random.default_rng([len(side), 3])
    texts, secrets = [], []
    for i in range(plain):
        text = f"A visit went as planned on day {i} of the stay."
        if i < canaries:
            secret = " ".join(rng.permutation(WORDS)[:8])
            text = f"{text} {secret}."
            secrets.append(secret)
        texts.append(text)
    records = pd.DataFrame({"record_id": [f"{side}{i}" for i in range(plain)], "text": texts, "source_id": None,
                            "label": None})  # fmt: skip
    return records.assign(x_canary=secrets + [None] * (plain - canaries)) if canaries else records


def examined(made: list[str], train: int = 10, holdout: int = 6, **given: object) -> Part:
    records, held = corpus("t", train), corpus("ho", holdout)
    told: list[tuple[str, int, int]] = []
    prepared = prepare(
        ExamineInput(synthetic(made), records, held, NO_SPANS, NO_SPANS, **given),  # type: ignore[arg-type]
        lambda *step: told.append(step),
    )
    part = examine_canaries(prepared)
    assert told[-1] == ("planted canaries", 3, 3)
    return part


def value(part: Part, name: str, reference: str) -> float:
    found = [f for f in part.findings if (f.name, f.reference) == (name, reference)]
    assert len(found) == 1
    return found[0].value


def secret(side: str, number: int) -> str:
    return str(corpus(side, 10)["x_canary"].iloc[number])


def test_planted_canaries_that_come_back_are_counted_whole_and_by_half() -> None:
    half = " ".join(secret("t", 3).split()[:4])
    part = examined([f"So {secret('t', 0).upper()}", f"And {secret('t', 1)} {secret('t', 1)}", f"Then {half} ended."])
    assert value(part, "canary_echo", "train") == pytest.approx(0.2)
    assert value(part, "canary_partial", "train") == pytest.approx(0.3)
    assert value(part, "canary_echo", "holdout") == 0.0
    assert value(part, "canary_echo", "baseline") == 0.0
    assert value(part, "canary_echo_excess", "holdout") == pytest.approx(0.2)
    table = part.tables["canaries"]
    assert len(table) == 16
    assert set(table.loc[table["whole"], "record_id"]) == {"t0", "t1"}
    assert table.set_index("record_id").loc["t3", "longest_words"] >= 4
    assert not any(isinstance(v, str) and " " in v for v in table.to_numpy().ravel())


def test_an_echo_of_canaries_nobody_used_is_no_excess() -> None:
    part = examined([secret("ho", 0), secret("ho", 1)])
    assert value(part, "canary_echo", "holdout") == pytest.approx(2 / 6)
    excess = next(f for f in part.findings if f.name == "canary_echo_excess")
    assert excess.value < 0
    assert excess.low is not None
    assert excess.low < 0


def test_without_canaries_the_reason_and_the_next_step_are_given() -> None:
    part = examined(["Nothing here."], train=0, holdout=0)
    assert {f.name for f in part.findings} == {"canary_echo", "canary_partial"}
    for found in part.findings:
        assert math.isnan(found.value)
        assert "Canary audit" in found.settings["why"]
    assert part.tables == {}


def test_canaries_on_one_side_only_are_said_so() -> None:
    part = examined([secret("t", 0)], holdout=0)
    held = next(f for f in part.findings if (f.name, f.reference) == ("canary_echo", "holdout"))
    assert math.isnan(held.value)
    assert "training part" in held.settings["why"]
    assert value(part, "canary_echo", "train") == pytest.approx(0.1)


def test_a_value_that_its_record_does_not_hold_was_not_planted() -> None:
    records = corpus("t", 3)
    records.loc[0, "x_canary"] = "never planted anywhere"
    prepared = prepare(
        ExamineInput(synthetic(["never planted anywhere"]), records, corpus("ho", 0), NO_SPANS, NO_SPANS)
    )
    part = examine_canaries(prepared)
    assert value(part, "canary_echo", "train") == 0.0
    assert len(part.tables["canaries"]) == 2


def test_canaries_of_an_imported_file_are_found(tmp_path) -> None:
    """Letters whose person is a canary: the column survives the import, on both sides of the split."""
    given = made_up()
    given["canary"] = [text[s[0]["start"] : s[0]["end"]] for text, s in zip(given["text"], given["spans"], strict=True)]
    store = Store(tmp_path / "workspace", actor="tester")
    try:
        mapping = replace(MAPPING, keep=("canary",))
        corpus_id = store.corpora.import_table(given, mapping, name="Letters", unit="record", holdout=0.25).id
        frame = store.corpora.frame(corpus_id)
    finally:
        store.close()
    train, holdout = (frame[frame["split"] == side].reset_index(drop=True) for side in ("train", "holdout"))
    prepared = prepare(ExamineInput(synthetic([train["text"].iloc[0]]), train, holdout, NO_SPANS, NO_SPANS))
    part = examine_canaries(prepared)
    assert value(part, "canary_echo", "train") == pytest.approx(1 / 5)  # five people in all letters
    assert len(part.tables["canaries"]) == 5
