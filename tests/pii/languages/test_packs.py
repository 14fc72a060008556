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


def test_pools_hold_no_time_of_writing() -> None:
    for path in FOLDER.glob("*/*.csv.gz"):
        assert path.read_bytes()[4:8] == b"\0\0\0\0", path
        assert gzip.decompress(path.read_bytes()).startswith(b"name,kind,")
