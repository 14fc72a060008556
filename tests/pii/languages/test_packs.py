"""Every language pack: read strictly, complete, right about its own examples. A new one is tested by being there."""

from __future__ import annotations

import gzip
import re
import shutil

import pytest
import regex
import yaml

from engine.corpus.text.language import PACKED
from engine.errors import InternalError, UserError
from engine.pii.detect.plain.function_words import FUNCTION_WORDS
from engine.pii.languages import pack as packs
from engine.pii.languages.pack import FOLDER, codes, pack
from engine.pii.languages.pools import read_pools
from engine.pii.languages.registry import languages
from engine.pii.languages.rules import LanguageRules, expressions
from engine.pii.languages.telling import told

SENTENCES = {  # a few words anybody could write, to be told by
    "et": "Patsient tuli haiglasse ja ütles, et tal on juba kolm päeva palavik ning ta ei saa magada.",
    "de": "Die Patientin kam in die Klinik und sagte, dass sie seit drei Tagen Fieber hat und nicht schlafen kann.",
    "es": "La paciente llegó al hospital y dijo que desde hace tres días tiene fiebre y no puede dormir.",
    "fr": "La patiente est venue à l'hôpital et a dit qu'elle avait de la fièvre depuis trois jours sans dormir.",
    "fi": "Potilas tuli sairaalaan ja kertoi, että hänellä on ollut kuumetta jo kolme päivää eikä hän saa nukuttua.",
    "sv": "Patienten kom till sjukhuset och sade att hon har haft feber i tre dagar och inte kan sova.",
    "nl": "De patiënte kwam naar het ziekenhuis en zei dat zij al drie dagen koorts heeft en niet kan slapen.",
    "pt": "A paciente chegou ao hospital e disse que tem febre há três dias e que não consegue dormir.",
}


@pytest.fixture(scope="module")
def rules() -> LanguageRules:
    return LanguageRules()


def test_there_are_the_packs_that_the_corpus_names() -> None:
    assert set(PACKED) == set(codes())  # a lower layer cannot ask this one


@pytest.mark.parametrize("code", codes())
class TestPack:
    def test_is_complete(self, code: str) -> None:
        own, pools = pack(code), read_pools(code)
        assert all((own.data.source, own.data.titles.f, own.data.titles.m))
        assert {"PERSON", "ADDRESS", "DATE", "PHONE", "NATIONAL_ID"} <= set(own.data.fields)
        assert len(own.function_words) >= 60
        assert len(own.function_words & FUNCTION_WORDS) <= 12  # words English has tell nothing
        assert min(len(pools.female), len(pools.male)) >= 50
        assert len(pools.surnames) >= 300
        assert len(pools.towns) >= 200
        assert pools.streets or own.data.street_stems
        assert not any(regex.search(r"[\d@;|]", n) for n in (*pools.forenames, *pools.surnames))

    def test_examples(self, code: str) -> None:
        by: dict[str, list[regex.Pattern[str]]] = {}
        for expression in expressions(code):
            by.setdefault(expression.id, []).append(expression.pattern)
        assert pack(code).recognisers
        for spec in pack(code).recognisers:
            assert all((spec.find, spec.leave)), spec.id
            for text in spec.find:
                plain = re.sub(r"\[\[|\]\]", "", text)
                found = {m.group() for p in by[spec.id] for m in p.finditer(plain)}
                assert set(re.findall(r"\[\[(.*?)\]\]", text)) <= found, (spec.id, text, found)
            for text in spec.leave:
                assert not [m.group() for p in by[spec.id] for m in p.finditer(text)], (spec.id, text)

    def test_titles_fields_and_dates(self, code: str, rules: LanguageRules) -> None:
        data = pack(code).data
        title = data.titles.f[0]
        text = f"{title} Kivistik-Moreau, {data.months[4]} 2019\n{data.fields['PERSON'][0]}: Zanetti Oru\n"
        text += f"{data.fields['CODE'][0]}: 77-81234"
        found = {(text[s.start : s.end], s.label) for s in rules.find(text, code)}
        assert {("Kivistik-Moreau", "PERSON"), ("Zanetti Oru", "PERSON"), (f"{data.months[4]} 2019", "DATE")} <= found
        assert ("77-81234", "CODE") in found

    def test_phone_shapes_are_found_as_phones(self, code: str, rules: LanguageRules) -> None:
        data = pack(code).data
        for shape in data.phones:
            number = shape.replace("#", "4")
            text = f"{data.fields['PHONE'][0]}: {number}"
            assert any(s.label == "PHONE" for s in rules.find(text, code)), text

    def test_is_told(self, code: str) -> None:
        assert told(SENTENCES[code]) == code
        assert told(SENTENCES[code].upper()) == code

    def test_is_shown(self, code: str) -> None:
        view = next(x for x in languages() if x.code == code)
        assert all((view.has, view.lacks))

    def test_nothing_takes_long(self, code: str, rules: LanguageRules) -> None:
        for probe in ("A" * 4000, "Aa " * 1500, "1 " * 2000, "\n" * 3000, "Aa-" * 1300, "a. " * 1400, "12." * 1300):
            for expression in expressions(code):
                list(expression.pattern.finditer(probe, timeout=1.0))


def found_in(rules: LanguageRules, text: str, code: str) -> set[tuple[str, str]]:
    return {(text[s.start : s.end], s.label) for s in rules.find(text, code)}


@pytest.mark.parametrize(
    ("code", "text", "date"),
    [
        ("fr", "vu le 12 oct. 2020 à", "12 oct. 2020"),
        ("fr", "le dix-sept mars 1998 elle", "dix-sept mars 1998"),
        ("es", "el 3-ene-2019 ingresó", "3-ene-2019"),
        ("es", "el diecisiete de mayo de 1999", "diecisiete de mayo de 1999"),
        ("pt", "em 12 fev 2020 foi", "12 fev 2020"),
        ("pt", "em 3 de out. de 2019", "3 de out. de 2019"),
        ("nl", "op 12 okt 2020 gezien", "12 okt 2020"),
        ("nl", "op 3 jan. 2019 gezien", "3 jan. 2019"),
        ("sv", "den 12 okt 2020 kom", "12 okt 2020"),
        ("sv", "den sjuttonde maj kom", "sjuttonde maj"),
        ("de", "am 12. Mrz. 2020 war", "12. Mrz. 2020"),
        ("de", "am einundzwanzigsten Mai 1999 war", "einundzwanzigsten Mai 1999"),
        ("et", "12. dets 2019 käis", "12. dets 2019"),
        ("et", "3. mail 2019 käis", "3. mail 2019"),
    ],
)
def test_months_cut_short_and_days_in_words(rules: LanguageRules, code: str, text: str, date: str) -> None:
    assert (date, "DATE") in found_in(rules, text, code)


@pytest.mark.parametrize(
    ("code", "text"),
    [  # words that begin as a month does, letters that are no title, spans of time, units
        ("fr", "Douleurs dans les 2 mains, il a 2 maisons et 3 mais."),
        ("nl", "Met 2 meisjes en 3 jongens, 5000 IE heparine."),
        ("es", "Vive con 2 mayores; vitamina D Calcio baja."),
        ("pt", "Os 2 maiores problemas, já foi um mar."),
        ("sv", "Med 2 marsvin och 1 majoritet, Behandlingsplan 3."),
        ("de", "Er aß 3 Maiskolben, vor 5 J. operiert."),
        ("et", "Tal on 2 maitset; 5 aastat tagasi; elab Tartus 5 aastat; Meie linnas on."),
        ("fi", "Seurattu 5 v. ajan."),
    ],
)
def test_what_only_looks_like_something_is_left(rules: LanguageRules, code: str, text: str) -> None:
    assert not found_in(rules, text, code)


def broken(tmp_path, monkeypatch, change: dict[str, object]) -> None:
    """Read a copy of the Estonian pack with fields changed."""
    shutil.copytree(FOLDER, tmp_path / "languages")
    path = tmp_path / "languages" / "et" / "pack.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text("utf-8")) | change, allow_unicode=True), "utf-8")
    monkeypatch.setattr(packs, "FOLDER", tmp_path / "languages")
    packs.pack.cache_clear()
    try:
        packs.pack("et")
    finally:
        packs.pack.cache_clear()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tittles": {}}, "tittles"),  # a field nobody knows
        ({"months": ["jaanuar"]}, "months"),
        ({"prefix": "372"}, "prefix"),
        ({"code": "fi"}, "folder and code"),
        ({"recognisers": [{"id": "age", "title": "x", "label": "AGE", "patterns": []}]}, "patterns"),
    ],
)
def test_a_broken_pack_stops(tmp_path, monkeypatch, change: dict[str, object], said: str) -> None:
    with pytest.raises(InternalError, match=said):
        broken(tmp_path, monkeypatch, change)


def test_no_pack() -> None:
    with pytest.raises(UserError, match="no pack for 'xx'"):
        pack("xx")


@pytest.mark.parametrize("code", codes())
def test_pools_are_of_their_language(code: str) -> None:
    pools = read_pools(code)
    assert not set(pools.female) & set(pools.male)
    assert not set(pools.female) & {"Ahmed", "Ali", "Hassan", "José", "Mohamed", "Olav"}
    assert not {*pools.regions, *(t.region for t in pools.towns)} & {"Bavaria", "Saxony", "Cataluna", "Aragon"}
    assert all(not t.postcode or regex.fullmatch(r"[\dA-Z -]+", t.postcode) for t in pools.towns)
    assert not any("CEDEX" in t.postcode for t in pools.towns)


def test_pools_hold_no_time_of_writing() -> None:
    for path in FOLDER.glob("*/*.csv.gz"):
        assert path.read_bytes()[4:8] == b"\0\0\0\0", path
        assert gzip.decompress(path.read_bytes()).startswith(b"name,kind,")
