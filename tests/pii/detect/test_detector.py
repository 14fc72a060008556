"""The whole detector: offsets, lists, resolving overlaps, batches, processes, spaCy folders, no sockets."""

from __future__ import annotations

import contextlib
import socket
import time
from itertools import pairwise
from pathlib import Path

import pandas as pd
import psutil
import pytest

from engine.errors import UserError
from engine.pii.detect.detector import RecordDetector
from engine.pii.detect.records import BATCH_RECORDS, Detectors, batch_ends, default_workers, detect_records
from engine.pii.detect.settings import CustomPattern, DetectorSettings, KnownIdentifier
from engine.pii.spans import LABELS, Span

LETTER = "Dear Dr. Lindqvist, Mrs Amina Diallo (born 14 March 1961) was seen at Riverside General Hospital in Leeds."


def found(text: str, spans: list[Span]) -> set[tuple[str, str]]:
    return {(text[s.start : s.end], s.label) for s in spans if s.score >= 0.5}


@pytest.fixture(scope="module")
def detector() -> RecordDetector:
    return RecordDetector()


@pytest.fixture
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("detection opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.usefixtures("no_sockets")
def test_a_letter_without_a_connection() -> None:
    text = LETTER + " Mail a.b@nowhere.example or https://x.example/y"
    got = found(text, RecordDetector().find([text])[0])
    assert {
        ("Dr. Lindqvist", "PERSON"),
        ("Mrs Amina Diallo", "PERSON"),
        ("14 March 1961", "DATE"),
        ("Riverside General Hospital", "ORGANISATION"),
        ("Leeds", "LOCATION"),
        ("a.b@nowhere.example", "EMAIL"),
        ("https://x.example/y", "URL"),
    } <= got


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t ",
        "😀👩‍👩‍👧‍👦 Dr. Lindqvist 😀 14 March 1961",
        "Jose\u0301 Nun\u0303ez saw Zoe\u0308 on 3 May 2001",
        "\u05d3\u05d5\u05d3 \u05db\u05d4\u05df \u05d2\u05e8 \u05d1\u05d7\u05d9\u05e4\u05d4 - called 212-555-5555",
        "\u0645\u062d\u0645\u062f on 2001-05-03 \u202bעברית\u202c Mr Kim",
        "before\x00after Dr. Lindqvist 3 May 2001",
        "ﬁle of Dr. Lindqvist, Ⅷ, ½, ﷺ",
        "İSTANBUL'da Dr. Lindqvist",
    ],
)
def test_offsets_are_code_points(detector: RecordDetector, text: str) -> None:
    spans = detector.find([text])[0]
    for span in spans:
        assert 0 <= span.start < span.end <= len(text)
        assert text[span.start : span.end].strip() == text[span.start : span.end]
        assert span.label in LABELS
        assert 0.0 < span.score <= 1.0
    assert all(a.end <= b.start for a, b in pairwise(spans)), "spans overlap"
    if "Dr. Lindqvist" in text:
        assert ("Dr. Lindqvist", "PERSON") in found(text, spans)


def test_emoji_do_not_shift_what_is_found(detector: RecordDetector) -> None:
    plain, moved = detector.find([LETTER, "😀é🏳️‍🌈 " + LETTER])
    assert {s for _, s in found(LETTER, plain)} == {s for _, s in found("😀é🏳️‍🌈 " + LETTER, moved)}
    shift = len("😀é🏳️‍🌈 ")
    assert {(s.start + shift, s.end + shift) for s in plain if s.label == "DATE"} <= {(s.start, s.end) for s in moved}


def test_a_very_long_text_is_tagged_to_its_end(detector: RecordDetector) -> None:
    text = "The weather was mild and nothing happened. " * 1_500 + "Then Amina Diallo moved to Leeds."
    spans = detector.find([text])[0]
    assert ("Amina Diallo", "PERSON") in found(text, spans)
    assert len(spans) < 40


def test_hard_negatives_stay(detector: RecordDetector) -> None:
    text = "Patient with Parkinson's disease and Crohn's disease took Tylenol 500 mg; it may help."
    assert found(text, detector.find([text])[0]) == set()


def test_lists_known_identifiers_and_patterns() -> None:
    settings = DetectorSettings(
        tagger=False,
        known=(KnownIdentifier(value="Zora Quill"),),
        allow=("riverside general hospital",),
        deny=("blue  falcon",),
        patterns=(CustomPattern(name="ward", pattern=r"ward \d+", label="LOCATION"),),
    )
    text = "Zora Quill of Ward 12, code Blue Falcon, left Riverside General Hospital; bluefalcon."
    spans = RecordDetector(settings).find([text])[0]
    assert found(text, spans) == {("Zora Quill", "PERSON"), ("Ward 12", "LOCATION"), ("Blue Falcon", "MISC")}
    assert {s.recogniser for s in spans} == {"known", "custom", "deny"}


def test_an_allowed_value_stays_marked_where_it_is_a_known_identifier() -> None:
    settings = DetectorSettings(tagger=False, known=(KnownIdentifier(value="Quill"),), allow=("Quill",))
    assert found("to Quill", RecordDetector(settings).find(["to Quill"])[0]) == {("Quill", "PERSON")}


def test_switched_off_recognisers_are_silent() -> None:
    settings = DetectorSettings(disabled=frozenset({"tagger", "titled_name", "labelled_name", "institution"}))
    labels = {s.label for s in RecordDetector(settings).find([LETTER])[0]}
    assert labels == {"DATE"}


def test_detect_gives_the_contract_s_mappings(detector: RecordDetector) -> None:
    row = detector.detect([LETTER])[0][0]
    assert set(row) == {"start", "end", "label", "score", "recogniser", "identifier_type"}


RECORDS = pd.DataFrame(
    {"record_id": [f"r{i}" for i in range(150)], "text": [f"Seen on {1 + i % 28} May 2001." for i in range(150)]}
)
RULES_ONLY = DetectorSettings(tagger=False)


def test_batches_come_in_order_with_progress() -> None:
    seen: list[tuple[int, int]] = []
    batches = list(detect_records(RECORDS, RULES_ONLY, workers=1, progress=lambda a, b: seen.append((a, b))))
    assert seen == [(64, 150), (128, 150), (150, 150)]
    assert [len(b) for b in batches] == [BATCH_RECORDS, BATCH_RECORDS, 22]
    assert [s.record_id for b in batches for s in b] == list(RECORDS["record_id"])


def test_cancelling_ends_after_the_batch() -> None:
    seen: list[int] = []
    batches = detect_records(
        RECORDS, RULES_ONLY, workers=1, progress=lambda a, b: seen.append(a), cancelled=lambda: bool(seen)
    )
    assert len(list(batches)) == 1


def test_cancelling_ends_within_a_batch_of_many_records() -> None:
    asked: list[int] = []
    batches = detect_records(RECORDS, RULES_ONLY, workers=1, cancelled=lambda: bool(asked.append(1)) or len(asked) > 9)
    assert list(batches) == []
    assert len(asked) == 10, "it was asked a record"


def test_cancelling_ends_within_one_long_record() -> None:
    """A word of many pieces takes the tagger many passes; a cancel comes between two of them."""
    long = pd.DataFrame({"record_id": ["r"], "text": ["a-" * 20_000]})
    asked: list[int] = []
    batches = detect_records(
        long, DetectorSettings(), workers=1, cancelled=lambda: bool(asked.append(1)) or len(asked) > 3
    )
    assert list(batches) == []
    assert len(asked) == 4


@pytest.mark.slow
def test_cancelling_ends_processes_that_are_at_work() -> None:
    many = pd.DataFrame({"record_id": [f"r{i}" for i in range(60)], "text": ["a-" * 20_000] * 60})
    begun = time.monotonic()
    batches = detect_records(many, DetectorSettings(), workers=2, cancelled=lambda: time.monotonic() > begun + 12)
    done = len(list(batches))
    took = time.monotonic() - begun
    assert done < 60
    assert took < 60, "sixty such records would take many minutes"


def test_batches_are_bounded_by_characters() -> None:
    assert batch_ends([]) == []
    assert batch_ends([10] * 130) == [64, 128, 130]
    assert batch_ends([40_000] * 3) == [1, 2, 3]
    assert batch_ends([20_000, 10_000, 10_000, 5, 90_000, 5]) == [2, 4, 5, 6]
    lengths = [(i * 7919) % 20_000 for i in range(500)]
    ends = batch_ends(lengths)
    for end in ends[:-1]:  # a job that goes on after a batch makes the same ones
        assert [end + e for e in batch_ends(lengths[end:])] == ends[ends.index(end) + 1 :]


def test_batches_end_at_bounds_whatever_came_before() -> None:
    assert batch_ends([10] * 130, [100]) == [64, 100, 130]
    assert batch_ends([10] * 130, [0, 64, 130]) == [64, 128, 130]
    whole = batch_ends([10] * 500, [150, 300])
    assert [150 + e for e in batch_ends([10] * 350, [150])] == [e for e in whole if e > 150]


@pytest.mark.slow
def test_detectors_stay_over_several_calls_and_come_again_after_a_cancel() -> None:
    one = [s for b in detect_records(RECORDS, RULES_ONLY, workers=1) for s in b]
    both = Detectors(RULES_ONLY, 2)
    try:
        for _ in range(2):
            assert [s for b in detect_records(RECORDS, RULES_ONLY, by=both) for s in b] == one
        seen: list[int] = []
        cut = detect_records(RECORDS, RULES_ONLY, by=both, progress=lambda a, _: seen.append(a),
                             cancelled=lambda: bool(seen))  # fmt: skip
        assert len(list(cut)) == 1
        assert [s for b in detect_records(RECORDS, RULES_ONLY, by=both) for s in b] == one
    finally:
        both.close()


def spawned() -> list[psutil.Process]:
    """Return the processes that this one has spawned and that still live; a zombie is another test's, not reaped."""
    children = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if "spawn_main" in " ".join(child.cmdline()):
                children.append(child)
    return children


def test_two_processes_find_what_one_finds() -> None:
    one = [s for b in detect_records(RECORDS, RULES_ONLY, workers=1) for s in b]
    two = []
    for number, batch in enumerate(detect_records(RECORDS, RULES_ONLY, workers=2)):
        two += batch
        assert number or spawned()  # where they cannot start, one goes on alone and finds the same
    assert one == two


@pytest.mark.slow
def test_killed_processes_cost_no_result() -> None:
    texts = [f"Seen on 1{i % 9}/0{i % 8 + 1}/2020 by a nurse." for i in range(64 * 12)]
    records = pd.DataFrame({"record_id": [str(i) for i in range(len(texts))], "text": texts})
    one = [s for b in detect_records(records, RULES_ONLY, workers=1) for s in b]
    two = []
    for number, batch in enumerate(detect_records(records, RULES_ONLY, workers=2)):
        two += batch
        if not number:
            children = spawned()
            assert children
            for child in children:
                child.kill()
    assert one == two


def test_no_records_no_batches() -> None:
    assert list(detect_records(RECORDS.iloc[:0], RULES_ONLY, workers=1)) == []


def test_few_records_stay_in_one_process() -> None:
    assert default_workers(10) == 1


def test_a_local_spacy_folder_finds_its_entities(tmp_path: Path) -> None:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "GPE", "pattern": "Atlantis"}])  # type: ignore[attr-defined]
    nlp.to_disk(tmp_path / "tiny")
    settings = DetectorSettings(tagger=False, spacy_model=str(tmp_path / "tiny"))
    text = "She moved to Atlantis."
    assert found(text, RecordDetector(settings).find([text])[0]) == {("Atlantis", "LOCATION")}


@pytest.mark.parametrize("content", [{}, {"config.cfg": "nonsense"}])
def test_a_folder_that_is_no_pipeline_is_refused(tmp_path: Path, content: dict[str, str]) -> None:
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match="spacy_model"):
        RecordDetector(DetectorSettings(tagger=False, spacy_model=str(tmp_path)))


def test_a_pipeline_without_entities_is_refused(tmp_path: Path) -> None:
    import spacy

    spacy.blank("en").to_disk(tmp_path)
    with pytest.raises(UserError, match="no component that finds entities"):
        RecordDetector(DetectorSettings(tagger=False, spacy_model=str(tmp_path)))


@pytest.mark.parametrize(
    "line", ["Patient: Yes.", "Doctor: What is it?", "Patient: It's worse.", "Doctor: Let me look."]
)
def test_function_words_are_no_names(detector: RecordDetector, line: str) -> None:
    assert "PERSON" not in {span.label for span in detector.find([line])[0]}


def test_a_name_after_a_function_word_stays(detector: RecordDetector) -> None:
    assert any(
        label == "PERSON" for _, label in found("Patient: Amina Diallo.", detector.find(["Patient: Amina Diallo."])[0])
    )
