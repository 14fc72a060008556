"""Labels leave with the text: one that names a person is found, whatever the texts say."""

from __future__ import annotations

import pandas as pd
import pytest

from engine.examine.prepare import ExamineInput, prepare
from engine.examine.values.label_leaks import NO_DIRECT, NO_LABEL, examine_labels

NAME = "Rosalind Achterberg"


def side(first: int, *, name: str = NAME, kind: str = "direct") -> tuple[pd.DataFrame, pd.DataFrame]:
    texts = [f"{name} {i} told nobody at work about the sore knee." for i in range(first, first + 4)]
    ids = [f"id{i}" for i in range(first, first + 4)]
    spans = pd.DataFrame({"record_id": ids, "start": 0, "end": len(name), "label": "PERSON", "identifier_type": kind})
    return pd.DataFrame({"record_id": ids, "text": texts, "source_id": None, "label": "routine"}), spans


def rows(labels: list[str | None], **changes: str) -> dict:
    train, spans = side(0, **changes)
    holdout, held = side(4, name="Ottoline Birtwhistle")
    made = pd.DataFrame(
        {"record_id": [f"s{i}" for i in range(len(labels))], "text": "Nothing to report.", "label": labels,
         "lineage": None}
    )  # fmt: skip
    part = examine_labels(prepare(ExamineInput(made, train, holdout, spans, held)))
    return {(f.name, f.reference): f for f in part.findings}


@pytest.mark.parametrize("label", [f"{NAME}, HIV positive", f"about {NAME.upper()}", f"{NAME}s chart: {NAME}"])
def test_a_label_that_names_a_person_is_found(label: str) -> None:
    found = rows(["routine", "urgent", "routine", label, label])
    assert found["label_direct", "train"].value == pytest.approx(1 / 3)  # distinct labels, not records
    assert found["label_entities", "train"].value == pytest.approx(1 / 3)
    assert found["label_direct", "holdout"].value == 0


def test_labels_that_name_nobody_score_zero_and_none_is_said() -> None:
    assert rows(["routine", "urgent"])["label_direct", "train"].value == 0
    assert rows(["Rosalind", "urgent"])["label_direct", "train"].value == 0  # a part of the name is another finding
    missing = rows([None, None])["label_direct", "train"]
    assert missing.value != missing.value
    assert missing.settings["why"] == NO_LABEL


def test_quasi_identifiers_count_apart() -> None:
    found = rows([f"{NAME}, seen"], kind="quasi")
    assert found["label_entities", "train"].value == 1
    assert found["label_direct", "train"].settings["why"] == NO_DIRECT
