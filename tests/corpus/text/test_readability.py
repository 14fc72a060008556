"""Text that says nothing is told from real text of many kinds by public rules alone."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest

from engine.corpus.text.readability import pieces, readability, unknown_share, unreadable

SAMPLES = Path(__file__).resolve().parents[3] / "assets" / "samples"
GOOD = 0.97


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Please use the machine all night, and use the machine all night", "phrases"),
        ("the applicant of the applicant of the applicant", "phrases"),
        ("The applicant was born in 1987. The applicant was born in 1987.", "phrases"),
        ("Please change my address: now 42 Chapel Street. My number is 42 Chapel Street", "phrases"),
        ("16444/09, 16444/09, 16444/09", "words"),
        ("He was a full full full convulsion after the visit.", "words"),
        ("Seen today with cough. Rest advised. He went home. Rest well now. Seen today with cough. He went home.",
         "sentences"),
        ("zqxwv plmkt grnfle skrzbt of the xqvbnm and wkjhgf to plmzxq rtyghv bnvcxz", "unknown"),
        ("DOB: 4 May 1988\nA forthright 79 year old welder came in.", "fields"),
        ("Mr Samantha Wyndoro came in because of a cough.", "fields"),
        ("Her mother Esteban says that it has been worse since the last visit.", "fields"),
        ("The survey of the valley was made by two people of the old firm from 1964 to 1964, as they said.", "fields"),
        ("FIRTHANCED\nThe applicant was a publication of the applicant", "phrases"),
    ],
)  # fmt: skip
def test_text_that_says_nothing_fails_with_its_reason(text: str, reason: str) -> None:
    assert readability(text).reason == reason
    assert unreadable(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No complaints.",
        "pt recv vax & exp fever, vomiting, myalgias, congestion; rash broke out 15 hrs p/vax;No further details;",
        "He appealed to the Regional Board (the Regional Board). "
        + " ".join(f"Point {i} was heard." for i in range(20)),
        "DOB: 4 May 1988\nA forthright 31 year old welder came in.",
        "Mrs Samantha Wyndoro came in. Mr Grace paid.",
        "Rest. Rest. No, no, no: it is 12 12 12.",
        "I asked XXXX XXXX XXXX to stop, and XXXX XXXX informed me that he would call again.",
        "[PERSON] [PERSON] [PERSON] met [PERSON] in [LOCATION] on [DATE], and [PERSON] left with [PERSON].",
        "How many people have familial pain disorder?\nFamilial pain disorder is found in one of a million people.",
        "Yeah yeah yeah, I took it with water. Bye bye bye.",
        "Her mother Samantha and her uncle Peter came along; the years from 1964 to 1966 were hard.",
    ],
)
def test_plain_text_passes(text: str) -> None:
    assert readability(text).reason == ""
    assert unreadable(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Der Patient klagte über Kopfschmerzen und Schwindel, besonders am Morgen beim Aufstehen aus dem Bett.",
        "Пациент жаловался на головную боль и головокружение, особенно утром при вставании с постели.",
        "Patsient kaebas peavalu ja pearingluse üle, eriti hommikuti voodist tõustes, kuid palavikku ei olnud.",
        "Short note.",
    ],
)
def test_words_of_other_languages_are_not_judged(text: str) -> None:
    assert unknown_share(text) is None
    assert readability(text).readable
    assert readability(text).rules == "repetition"


def test_a_script_without_spaces_is_not_judged_and_that_is_said() -> None:
    loop = readability("患者は頭痛を訴えた。患者は頭痛を訴えた。患者は頭痛を訴えた。")
    assert (loop.reason, loop.unknown, loop.rules) == ("", None, "none")
    assert readability("She was seen with a cough, and they sent her home with it.").rules == "all"


def test_repetition_is_judged_in_any_language_whose_words_stand_apart() -> None:
    said = "Der Patient klagte. Der Patient klagte. Der Patient klagte. Er ging nach Hause."
    assert readability(said).reason
    assert readability("Die Klinik von der Stadt liegt nah von der Bahn entfernt.").readable


def test_pieces_are_counted_from_the_shipped_vocabulary() -> None:
    assert pieces("the") == 1
    assert pieces("zqxwv") > 3


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.glob("*.jsonl.gz")))
def test_the_made_up_samples_pass(name: str) -> None:
    with gzip.open(SAMPLES / name, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file][:300]
    assert sum(readability(text).readable for text in texts) >= GOOD * len(texts)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("vaers_1998_1999.parquet", "text"), ("biorxiv_633.parquet", "abstract"), ("ubuntu_irc.parquet", "text"),
        ("aci_bench.parquet", "note"), ("mts_dialog.parquet", "section_text"),
    ],
)  # fmt: skip
def test_real_public_text_passes(test_data: Path, name: str, column: str) -> None:
    table = pd.read_parquet(test_data / name)
    texts = [str(text) for text in table[column].sample(min(300, len(table)), random_state=0)]
    assert sum(readability(text).readable for text in texts) >= GOOD * len(texts)


# Kinds of text that no threshold was set on.
HELD_OUT = (
    "openstax", "arxiv_abstracts_60k", "safety_incidents", "osha_nhtsa_short", "scotus_opinions", "letters_gutenberg",
    "taskmaster4_dialogues", "usgov_plain_english", "world_factbook", "wikisplit_en_BYSA", "commonvoice_en",
    "commonvoice_es", "commonvoice_fi", "commonvoice_nl", "commonvoice_pl", "commonvoice_it", "german_courts_de",
    "eltec_fra", "eltec_spa", "ud_estonian_ewt_BYSA",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", HELD_OUT)
def test_kinds_of_text_not_used_for_the_thresholds_pass(test_data: Path, name: str) -> None:
    table = pd.read_parquet(test_data / "lm" / f"{name}.parquet")
    column = "abstract" if "abstract" in table else "text"
    texts = [str(text)[:6_000] for text in table[column].dropna().sample(min(300, len(table)), random_state=0)]
    assert sum(readability(text).readable for text in texts) >= 0.98 * len(texts)


def test_judgments_pass(test_data: Path) -> None:
    with gzip.open(test_data / "tab_train_92.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    assert sum(readability(text).readable for text in texts) >= GOOD * len(texts)
