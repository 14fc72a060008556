"""On real text, what is learnt from it: as much from other real text of the kind, far less from text of another."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.examine.findings.findings import Finding
from engine.examine.findings.part import Part
from engine.examine.measures import MEASURES
from engine.examine.prepare import ExamineInput, Prepared, prepare
from engine.examine.usefulness.downstream.downstream import examine_downstream
from engine.examine.usefulness.downstream.extraction import examine_extraction
from engine.examine.usefulness.downstream.label_agreement import examine_label_agreement
from engine.examine.usefulness.downstream.language_model import examine_language
from engine.examine.usefulness.mixture.entity_mix import examine_entity_mix
from engine.examine.usefulness.mixture.tone import examine_tone
from engine.models.builtin.embedder import load_embedder
from engine.pii.detect.detector import RecordDetector
from engine.pii.detect.settings import DetectorSettings

COLUMNS = ["record_id", "start", "end", "label", "identifier_type"]
SPANS = pd.DataFrame(columns=COLUMNS)
TYPES = {"PERSON": "PERSON", "STREET_ADDRESS": "LOCATION", "GPE": "LOCATION", "DATE_TIME": "DATE"}


def frame(texts: list[str], labels: list[str] | None, mark: str) -> pd.DataFrame:
    ids = [f"{mark}{i}" for i in range(len(texts))]
    return pd.DataFrame({"record_id": ids, "text": texts, "source_id": ids, "label": labels, "lineage": None})


def chat(folder: Path, count: int) -> list[str]:
    return pd.read_parquet(folder / "ubuntu_irc.parquet")["text"].sample(count, random_state=0).tolist()


@cache
def sections(folder: Path, made: str) -> Prepared:
    """Sections of clinical notes, labelled by what they tell of."""
    found = pd.read_parquet(folder / "mts_dialog.parquet").drop_duplicates("section_text")
    found = found[found["section_header"].isin(["FAM/SOCHX", "GENHX", "PASTMEDICALHX"])].sample(900, random_state=1)
    texts, labels = found["section_text"].tolist(), found["section_header"].tolist()
    parts = [frame(texts[a:b], labels[a:b], mark) for a, b, mark in ((0, 300, "t"), (300, 600, "h"), (600, 900, "s"))]
    if made == "chat":  # with labels that nothing in it tells
        parts[2] = frame(chat(folder, 300), labels[600:], "s")
    return prepare(ExamineInput(parts[2], *parts[:2], SPANS, SPANS, privacy=False, embedder=load_embedder()))


@cache
def narratives(folder: Path, made: str) -> Prepared:
    texts = pd.read_parquet(folder / "vaers_1998_1999.parquet")["text"].drop_duplicates().sample(520, random_state=1)
    parts = [frame(texts.tolist()[a:b], None, mark) for a, b, mark in ((0, 300, "t"), (300, 400, "h"), (400, 520, "s"))]
    if made == "chat":
        parts[2] = frame(chat(folder, 600), None, "s")
    return prepare(ExamineInput(parts[2], *parts[:2], SPANS, SPANS, privacy=False, embedder=load_embedder()))


@cache
def sentences(folder: Path, made: str) -> Prepared:
    """Sentences whose names, places and dates are known."""
    rows = json.loads(gzip.decompress((folder / "presidio_synth_v2.json.gz").read_bytes()))
    order = np.random.default_rng(0).permutation(len(rows))[:900]
    texts = [rows[i]["full_text"] for i in order]
    parts = [frame(texts[a:b], None, mark) for a, b, mark in ((0, 300, "t"), (300, 600, "h"), (600, 900, "s"))]
    if made == "chat":
        parts[2] = frame(chat(folder, 300), None, "s")
    known = [
        [(f"{mark}{i}", one["start_position"], one["end_position"], TYPES[one["entity_type"]], "quasi")
         for i, row in enumerate(order[a:b]) for one in rows[row]["spans"] if one["entity_type"] in TYPES]
        for a, b, mark in ((0, 300, "t"), (300, 600, "h"))
    ]  # fmt: skip
    spans = [pd.DataFrame(one, columns=COLUMNS) for one in known]
    return prepare(ExamineInput(
        parts[2], parts[0], parts[1], *spans, privacy=False, detector=RecordDetector(DetectorSettings())
    ))  # fmt: skip


WHERE: dict[str, tuple[Callable[[Path, str], Prepared], Callable[[Prepared], Part]]] = {
    "language": (narratives, examine_language),
    "downstream": (sections, examine_downstream),
    "label_agreement": (sections, examine_label_agreement),
    "tone": (narratives, examine_tone),
    "entity_mix": (sentences, examine_entity_mix),
    "extraction": (sentences, examine_extraction),
}


@cache
def found(folder: Path, part: str, made: str) -> dict[tuple[str, str], Finding]:
    world, examine = WHERE[part]
    return {(one.name, one.reference): one for one in examine(world(folder, made)).findings}


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("part", "name"),
    [
        *(pytest.param("language", name, marks=pytest.mark.long) for name in ("next_word", "next_word_loss")),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in (
                ("downstream", "classifier_f1"), ("downstream", "encoder_f1"), ("tone", "tone_shift"),
                ("label_agreement", "label_agreement"), ("entity_mix", "entity_mix"), ("extraction", "extraction_f1"),
            )
        ),
    ],
)  # fmt: skip
def test_text_of_the_kind_teaches_what_text_of_another_does_not(test_data: Path, part: str, name: str) -> None:
    """Text of the kind falls short of real text by at most a quarter of what text of another kind does."""
    same, other = (found(test_data, part, made) for made in ("same", "chat"))
    made, real, chat = same[name, "train"], same[name, "real"], other[name, "train"]
    higher = MEASURES[name].direction != "lower is better"  # labels that fit are best as high as real text has them
    best_first = (real, chat) if higher else (chat, real)
    assert best_first[0].low > best_first[1].high
    assert made.low < real.high
    assert real.low < made.high
    short = [real.value - one.value if higher else one.value - real.value for one in (made, chat)]
    assert short[0] < 0.25 * short[1]


@pytest.mark.slow
@pytest.mark.parametrize(("part", "name"), [("downstream", "classifier_gap"), ("extraction", "extraction_gap")])
def test_what_is_lost(test_data: Path, part: str, name: str) -> None:
    same, other = (found(test_data, part, made)[name, "real"] for made in ("same", "chat"))
    assert same.low < 0 < same.high
    assert other.low > max(same.high, 0.2)
