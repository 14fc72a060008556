"""The language of a record: its own where it can be told, else the corpus', and English stays English."""

from __future__ import annotations

import json

import pytest

from engine.corpus.samples import SAMPLES
from engine.pii.languages.telling import languages_of, told
from tests.pii.languages.test_packs import SENTENCES

ENGLISH = "The patient came to the clinic and said that she has had a fever for three days and cannot sleep."


def test_a_mixed_column() -> None:
    texts = [ENGLISH, SENTENCES["et"], SENTENCES["de"], SENTENCES["es"], SENTENCES["fr"]]
    assert languages_of(texts) == ["en", "et", "de", "es", "fr"]


@pytest.mark.parametrize("text", ["", "ok", "12 34", "Tamm 5", "pt c/o h/a x3d, N/V, BP 120/80, HR 88"])
def test_too_short_or_shorthand_is_not_told_as_another_language(text: str) -> None:
    assert told(text) in {None, "en"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Vererõhk on kõrge. Kaal on 82 kg, kopsud on puhtad, pulss on ebaregulaarne.", "et"),
        ("Utente do sexo feminino, a fazer a medicação; as análises não as trouxe.", "pt"),
        ("Seen on 4 May, on abx, no change; as before, do not stop.", "en"),
        ("Patienten er en kvinde på 54 år, som kom til lægen med smerter og ikke kan sove om natten.", None),  # Danish
    ],
)
def test_words_of_two_languages(text: str, code: str | None) -> None:
    assert told(text) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [  # short records of names and few words, which no list of function words tells
        ("Hageja Sander Mägi nõuab kostjalt Epp Lepikult 500 eurot.", "et"),
        ("Lääkäri Anna Mäkelä tapasi Pekka Niemisen vaimon Sirkka Niemisen.", "fi"),
        ("67-vuotias eläkeläinen Tuomas Laine on syntynyt Kuopiossa.", "fi"),  # English has "on" too, as Estonian
        ("Le témoin Karim Benali, de nationalité algérienne, a déclaré la vérité.", "fr"),
        ("Hej Johan! Vi ses på lördag i Uppsala. Vänliga hälsningar, Birgitta Holm", "sv"),
        ("Herr Felix Vogt, geboren am 12.03.1956, stellte sich am 3. Mai in der Charité vor.", "de"),
        ("A ella no me la he encontrado en casa.", "es"),
        ("Billing address: Noelle Martinsson, 1593 Pagari 18 Suite 932, Põlluküla", None),  # one name tells nothing
        ("Dx: HTN, DM2. Seen with son José, R knee pain x3d, ROM full, NKDA", "en"),
    ],
)
def test_short_records_by_their_letters(text: str, code: str | None) -> None:
    assert told(text) == code


def test_what_cannot_be_told_goes_with_most_of_the_corpus() -> None:
    assert languages_of([SENTENCES["et"]] * 3 + ["Tamm, 5."]) == ["et"] * 4
    assert languages_of([SENTENCES["et"], ENGLISH, "Tamm, 5."])[2] == "en"
    assert languages_of(["Tamm, 5."]) == ["en"]


def test_a_setting_wins() -> None:
    assert languages_of([ENGLISH, SENTENCES["de"]], "et") == ["et", "et"]


@pytest.mark.parametrize("name", [sample.id for sample in SAMPLES])
def test_the_english_samples_stay_english(name: str) -> None:
    import gzip

    from engine.assets import ASSETS

    with gzip.open(ASSETS / "samples" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    assert set(languages_of(texts)) == {"en"}
