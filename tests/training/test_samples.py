"""The made-up sample corpora: gold offsets, agreement of facts, variety, and the shipped files."""

from __future__ import annotations

import collections
import gzip
import re

import pytest

from engine.corpus.samples import ALL_SAMPLES, FOLDER, OTHER_SAMPLES, load_sample
from engine.errors import UserError
from engine.pii.languages.national_ids import national_ids
from engine.pii.languages.pack import pack
from engine.pii.languages.telling import languages_of
from engine.pii.spans import LABELS
from engine.training.samples import file_bytes, generate

IDS = [info.id for info in ALL_SAMPLES]
ABROAD = [info.id for info in OTHER_SAMPLES]


@pytest.fixture(scope="module", params=IDS)
def corpus(request):
    return request.param, load_sample(request.param)


def test_the_samples_are_described():
    assert [*IDS] == ["clinic_letters", "support_tickets", "court_decisions", *ABROAD]
    assert ABROAD == ["clinic_letters_et", "clinic_letters_de"]
    for info in ALL_SAMPLES:
        frame = load_sample(info.id)
        assert (info.records, info.sources) == (len(frame), frame.source_id.nunique())
        named = info.label_meaning.split(":")[1].split(",")
        assert set(frame.label) == {part.strip().replace(" ", "_") for part in named}


def test_shipped_size_and_ids(corpus):
    sample_id, frame = corpus
    assert len(frame) >= (200 if sample_id in ABROAD else 480)
    assert frame.source_id.nunique() >= (60 if sample_id in ABROAD else 90)
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


@pytest.mark.parametrize("sample_id", ABROAD)
def test_a_sample_of_another_language_is_told_so(sample_id):
    assert set(languages_of(list(load_sample(sample_id).text))) == {sample_id[-2:]}


@pytest.mark.parametrize("sample_id", ["clinic_letters", *ABROAD])
def test_visits_of_a_patient_agree(sample_id):
    """Date of birth and record number of a patient are the same in all letters that state them."""
    frame = generate(sample_id, 300, 5)
    numbers = collections.defaultdict(set)
    for source, text, spans in zip(frame.source_id, frame.text, frame.spans):
        numbers[source] |= {text[s["start"] : s["end"]].lower() for s in spans if s["label"] == "MEDICAL_ID"}
    assert max(map(len, numbers.values())) == 1
    assert sum(map(len, numbers.values())) > 20


def test_numbers_and_mail_are_of_reserved_ranges(corpus):
    sample_id, frame = corpus
    kept = {"clinic_letters_et": r"34\d \d{4}", "clinic_letters_de": r"(030 23125|040 66969|069 90009|089 99998) \d{3}"}
    for text, spans in zip(frame.text, frame.spans):
        for span in spans:
            surface = text[span["start"] : span["end"]]
            if span["label"] == "PHONE":
                assert re.fullmatch(kept.get(sample_id, r".*555.*01.."), surface)  # no subscriber has it
            if span["label"] == "NATIONAL_ID" and sample_id in ABROAD:
                home = pack(sample_id[-2:]).data.countries
                assert not any(kind.valid(surface) for kind in national_ids() if kind.country in home)
            if span["label"] == "EMAIL":
                assert "example." in surface.lower()


def test_unknown_sample_is_a_user_error():
    with pytest.raises(UserError, match="sample_id must be one of"):
        generate("poems", 3, 1)
