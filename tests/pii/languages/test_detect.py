"""Detection of records in several languages: each by its own tagger and rules, English as before."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd
import pytest

from engine.errors import UserError
from engine.pii.detect.detector import RecordDetector
from engine.pii.detect.records import detect_records
from engine.pii.detect.settings import DetectorSettings
from engine.pii.languages.detect import dated_in

ENGLISH = (
    "Dr Alice Whitmore saw Mr Bogdan Nowak at Leeds General Infirmary on 4 May 2019 and wrote to his wife about it."
)
ESTONIAN = (
    "Patsient Mari-Liis Tamm, isikukood 37605030299, elab Õnne 13, Morna linn, Raplamaa. Dr Jaan Kask suunas ta "
    "haiglasse 12. mail 2021 ja helistas Mari-Liis Tammele. Telefon: 5123 4567, kiri tuli aadressilt mari@post.ee."
)
GERMAN = (
    "Wir berichten über Herrn Hans von der Heide, geb. am 12.03.1956, wohnhaft Lindenstraße 14, 20095 Hamburg. Die "
    "Ehefrau ist unter 040 1234567 zu erreichen.\nMit freundlichen Grüßen\nDr. med. Eva Schulz"
)
SPANISH = (
    "Nombre: Gabriel.\nApellidos: Navarro Cabrera.\nNHC: 272226.\nDomicilio: C/ Sauceda 3.\nCP: 41001.\nPaciente varón "
    "de 26 años que acude con su madre. Médico: Rosa Jiménez Rodríguez. DNI 54362315K."
)
FRENCH = (
    "Madame Claire Dubois, née le 12/05/1956, demeurant 12 rue de la Paix, 69003 Lyon, a été vue par le Dr Martin le 3 "
    "mai 2021. Son mari est joignable au 06 12 34 56 78."
)
MIXED = [ENGLISH, ESTONIAN, GERMAN, SPANISH, FRENCH]


@pytest.fixture(scope="module")
def detector() -> RecordDetector:
    return RecordDetector()


@pytest.fixture(scope="module")
def mixed(detector: RecordDetector) -> list[set[str]]:
    """Return the accepted surfaces of each text of a mixed column."""
    rows = detector.find(MIXED)
    return [{t[s.start : s.end] for s in row if s.score >= 0.5} for t, row in zip(MIXED, rows)]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (1, ("Mari-Liis Tamm", "37605030299", "Õnne 13", "Raplamaa", "12. mail 2021", "Tammele", "5123 4567")),
        (2, ("Hans von der Heide", "12.03.1956", "Lindenstraße 14", "20095 Hamburg", "040 1234567", "Eva Schulz")),
        (3, ("Gabriel", "Navarro Cabrera", "272226", "C/ Sauceda 3", "41001", "26 años", "54362315K")),
        (4, ("Claire Dubois", "12/05/1956", "12 rue de la Paix", "69003 Lyon", "3 mai 2021", "06 12 34 56 78")),
    ],
)
def test_each_in_its_language(mixed: list[set[str]], row: int, expected: tuple[str, ...]) -> None:
    masked = "\n".join(mixed[row])
    assert [v for v in expected if v not in masked] == []


def test_an_english_record_is_read_the_same_in_a_mixed_column(detector: RecordDetector) -> None:
    alone = detector.find([ENGLISH])[0]
    assert detector.find(MIXED)[0] == alone
    assert RecordDetector(DetectorSettings(language="en")).find([ENGLISH])[0] == alone


def test_spans_are_sorted_without_overlap_and_inside(detector: RecordDetector) -> None:
    for text, row in zip(MIXED, detector.find(MIXED)):
        assert row == sorted(row)
        assert all(0 <= s.start < s.end <= len(text) for s in row)
        assert all(a.end <= b.start for a, b in pairwise(row))


def test_processes_and_one_process_agree() -> None:
    records = pd.DataFrame({"record_id": [str(i) for i in range(10)], "text": MIXED * 2})
    here = [s for batch in detect_records(records, DetectorSettings(), workers=1) for s in batch]
    spread = [s for batch in detect_records(records, DetectorSettings(), workers=2) for s in batch]
    assert here == spread
    assert len({s.record_id for s in here}) == 10


def test_lists_of_the_custodian_count_in_every_language() -> None:
    settings = DetectorSettings.from_dict({"deny": ["kiri"], "allow": ["Raplamaa"]})
    row = RecordDetector(settings).find([ESTONIAN])[0]
    found = {ESTONIAN[s.start : s.end]: s for s in row}
    assert found["kiri"].recogniser == "deny"
    assert "Raplamaa" not in found


def test_without_the_tagger_the_rules_stay() -> None:
    row = RecordDetector(DetectorSettings(tagger=False)).find([ESTONIAN])[0]
    assert "Mari-Liis Tamm" in {ESTONIAN[s.start : s.end] for s in row}
    assert not any(s.recogniser == "tagger" for s in row)


@pytest.mark.parametrize("text", ["", " ", "õ", "\n\n\n", "Ä" * 5000, "ja ei on ta et see kui oli", "🙂 ja ei on ta"])
def test_odd_texts(text: str) -> None:
    rows = RecordDetector(DetectorSettings(language="et")).find([text])
    assert all(0 <= s.start < s.end <= len(text) for s in rows[0])


def test_a_language_that_is_no_code() -> None:
    with pytest.raises(UserError, match="language"):
        DetectorSettings.from_dict({"language": "Estonian"})


def test_names_without_a_title_or_a_list_are_found_by_the_tagger_of_these_languages(detector: RecordDetector) -> None:
    """Neither rules nor lists know these names: what finds them is the tagger, by letters and neighbours."""
    texts = [
        "Eile jõudis Zandrik Põldvaher tööle alles keskpäeval ja Õnnela Kuusberg ütles talle seda ka.",
        "Gestern hat Zandrik Wolkenbruch mit Ortrun Haselbeck gesprochen, die davon nichts wusste.",
        "Ayer habló Zandrico Peñaloza con Ortruna Valdespino, que no sabía nada del asunto.",
    ]
    names = [("Põldvaher", "Kuusberg"), ("Wolkenbruch", "Haselbeck"), ("Peñaloza", "Valdespino")]
    for text, code, wanted in zip(texts, ("et", "de", "es"), names):
        (row,) = detector.find([text], languages=[code])
        persons = " ".join(text[s.start : s.end] for s in row if s.label == "PERSON" and s.score >= 0.5)
        assert [name for name in wanted if name not in persons] == [], code


def test_a_preset_doubts_spans_of_time_by_the_words_of_the_language(detector: RecordDetector) -> None:
    for text, code, dated in (
        ("Ta sündis 26. juunil ja tuli haiglasse juba kevadel.", "et", "26. juunil"),
        ("Sie wurde am 3. März aufgenommen und im Frühling entlassen.", "de", "3. März"),
    ):
        (row,) = detector.find([text], languages=[code])
        accepted = [text[s.start : s.end] for s in row if s.label == "DATE" and s.score >= 0.5]
        assert any(dated in one for one in accepted), (code, accepted)
        assert not any(one.lower() in {"kevadel", "frühling", "im frühling"} for one in accepted), accepted


def test_a_form_of_address_alone_is_nobody(detector: RecordDetector) -> None:
    for text, code, address in (
        ("Sin ingresos previos. Responsable clínico: Dra. Maria Teresa Martínez Iturriaga", "es", "Dra"),
        ("Le pardon annuel. Thomas ferma la porte et donna des soins à M. Morel.", "fr", "M"),
        ("Diagnose: chronisches Rückenleiden\nArzt: Dr. Klaus Klein", "de", "Dr"),
    ):
        (row,) = detector.find([text], languages=[code])
        assert address not in {text[s.start : s.end].rstrip(".") for s in row}


@pytest.mark.parametrize(
    ("code", "day", "span"),
    [("et", "neljapäeval", "tänavu"), ("de", "am Dienstag", "dieses Jahr"), ("pt", "segunda-feira", "este ano")],
)
def test_a_day_of_the_week_is_a_date_as_it_is_in_english(code: str, day: str, span: str) -> None:
    assert dated_in(code).search(day)
    assert not dated_in(code).search(span)
