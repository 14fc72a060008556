"""The made-up sample corpora: gold offsets, agreement of facts, variety, and the shipped files."""

from __future__ import annotations

import collections
import gzip

import pytest

from engine.corpus.samples import FOLDER, SAMPLES, load_sample
from engine.errors import UserError
from engine.pii.spans import LABELS
from engine.training.samples import file_bytes, generate

IDS = [info.id for info in SAMPLES]


@pytest.fixture(scope="module", params=IDS)
def corpus(request):
    return request.param, load_sample(request.param)


def test_three_samples_are_described():
    assert IDS == ["clinic_letters", "support_tickets", "court_decisions"]
    for info in SAMPLES:
        frame = load_sample(info.id)
        assert (info.records, info.sources) == (len(frame), frame.source_id.nunique())
        named = info.label_meaning.split(":")[1].split(",")
        assert set(frame.label) == {part.strip().replace(" ", "_") for part in named}


def test_shipped_size_and_ids(corpus):
    _, frame = corpus
    assert len(frame) >= 480
    assert frame.source_id.nunique() >= 90
    assert frame.record_id.is_unique
    assert frame.text.is_unique
    words = frame.text.str.split().str.len()
    assert 40 <= words.median() <= 200
    assert words.max() <= 400


def test_shipped_file_is_what_the_generator_makes(corpus):
    sample_id, _ = corpus
    shipped = (FOLDER / f"{sample_id}.jsonl.gz").read_bytes()
    assert gzip.decompress(shipped) == gzip.decompress(file_bytes(sample_id))
    assert shipped[4:8] == b"\0\0\0\0"  # no time stamp


def test_same_seed_same_corpus_other_seed_other_corpus():
    one, again, other = (generate("support_tickets", 40, seed) for seed in (3, 3, 4))
    assert one.equals(again)
    assert not set(one.text) & set(other.text)


def test_spans_are_ordered_disjoint_and_cover_no_blanks(corpus):
    _, frame = corpus
    for text, spans in zip(frame.text, frame.spans):
        before = 0
        for span in spans:
            assert before <= span["start"] < span["end"] <= len(text)
            surface = text[span["start"] : span["end"]]
            assert surface == surface.strip()
            assert span["label"] in LABELS
            assert span["identifier_type"] in {"direct", "quasi", "none"}
            before = span["end"]


def test_no_name_of_the_gold_is_left_unmarked_in_its_own_record(corpus):
    """A surname that is marked once in a record is marked wherever it stands there as a word."""
    import re

    _, frame = corpus
    missed = []
    for text, spans in zip(frame.text, frame.spans):
        covered = [(s["start"], s["end"]) for s in spans]
        for surname in {text[s["start"] : s["end"]].split()[-1] for s in spans if s["label"] == "PERSON"}:
            if len(surname) < 5 or not surname.isalpha():
                continue
            for match in re.finditer(rf"\b{surname}\b", text):
                if not any(a <= match.start() < b for a, b in covered):
                    missed.append(match.group())
    assert not missed


def test_few_eight_word_windows_recur_in_another_source(corpus):
    _, frame = corpus
    sources = collections.defaultdict(set)
    windows = [
        (source, [tuple(row[at : at + 8]) for at in range(len(row) - 7)])
        for source, row in zip(frame.source_id, frame.text.str.lower().str.findall(r"\w+"))
    ]
    for source, row in windows:
        for window in row:
            sources[window].add(source)
    shared = [[len(sources[window]) > 1 for window in row] for _, row in windows]
    assert sum(map(sum, shared)) / sum(map(len, shared)) < 0.005
    assert sum(map(any, shared)) / len(shared) < 0.2


def test_visits_of_a_patient_agree():
    """Date of birth and record number of a patient are the same in all letters that state them."""
    frame = generate("clinic_letters", 300, 5)
    numbers = collections.defaultdict(set)
    for source, text, spans in zip(frame.source_id, frame.text, frame.spans):
        numbers[source] |= {text[s["start"] : s["end"]].lower() for s in spans if s["label"] == "MEDICAL_ID"}
    assert max(map(len, numbers.values())) == 1
    assert sum(map(len, numbers.values())) > 20


def test_numbers_and_mail_are_of_reserved_ranges(corpus):
    _, frame = corpus
    for text, spans in zip(frame.text, frame.spans):
        for span in spans:
            surface = text[span["start"] : span["end"]]
            if span["label"] == "PHONE":
                assert "555" in surface
                assert surface[-4:].startswith("01")
            if span["label"] == "EMAIL":
                assert "example." in surface.lower()


def test_unknown_sample_is_a_user_error():
    with pytest.raises(UserError, match="sample_id must be one of"):
        generate("poems", 3, 1)
