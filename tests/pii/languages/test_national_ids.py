"""National numbers: every country of the table finds a valid number and leaves one with a wrong check alone."""

from __future__ import annotations

import pytest

from engine.pii.languages.national_ids import find_national_ids, national_ids

EU = set("AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split())
MORE = {"BR"}  # of a language that a pack has
VALID = {  # from python-stdnum's documentation and its numbers' own rules; nobody's
    "at.vnr": "1237 010180", "be.nn": "85.07.30-033.28", "bg.egn": "7523169263", "br.cpf": "390.533.447-05",
    "cy.vat": "10259033P", "cz.rc": "710319/2745", "de.idnr": "36 574 261 809", "dk.cpr": "211062-5629",
    "ee.ik": "37605030299",
    "es.dni": "54362315K", "es.nie": "X2482300W", "fi.hetu": "131052-308T", "fr.nir": "2 95 10 99 126 111 93",
    "gr.amka": "01013099997", "hr.oib": "33392005961", "hu.anum": "12892312", "ie.pps": "6433435F",
    "it.codicefiscale": "RCCMNL83S18D969H", "lt.asmens": "33309240064", "lu.tva": "15027442", "lv.pvn": "161175-19997",
    "mt.vat": "11679112", "nl.bsn": "1112.22.333", "pl.pesel": "44051401359", "pt.nif": "123456789",
    "pt.cc": "00000000 0 ZZ4", "ro.cnp": "1630615123457", "se.personnummer": "880320-0016", "si.emso": "0101006500006",
    "sk.rc": "710319/2745",
}  # fmt: skip


def found(text: str, home: tuple[str, ...]) -> set[str]:
    return {text[s.start : s.end] for s in find_national_ids(text, home) if s.label == "NATIONAL_ID"}


def test_every_country_of_the_union() -> None:
    assert {kind.country for kind in national_ids()} == EU | MORE
    assert set(VALID) == {kind.id for kind in national_ids()}


@pytest.mark.parametrize("kind", national_ids(), ids=lambda k: k.id)
def test_valid_beside_its_word_and_wrong_check_not(kind) -> None:
    number, word = VALID[kind.id], kind.words.pattern.split("(?:")[1].split("|")[0].split(")")[0].replace("\\", "")
    assert kind.valid(number)
    assert number in found(f"{word}: {number}, etc", ())
    last = max(i for i, c in enumerate(number) if c.isalnum())
    signs = "0123456789" if number[last].isdigit() else "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    wrong = [number[:last] + s + number[last + 1 :] for s in signs]
    wrong = [n for n in wrong if not kind.valid(n)]
    assert wrong or kind.id == "dk.cpr"  # Danish numbers have had no check digit since 2007
    for text in wrong[:4]:
        hits = {s.recogniser for s in find_national_ids(f"{word}: {text}, etc", ())}
        assert kind.id not in hits


def test_without_its_word_only_a_sure_number_of_the_own_country_counts() -> None:
    assert found("haige 37605030299 tuli", ("EE",)) == {"37605030299"}
    assert found("haige 37605030299 tuli", ("DE",)) == set()
    assert found("Nummer 36574261809 hier", ("DE",)) == set()  # one check digit is too little to believe


@pytest.mark.parametrize("text", ["", "ei numbreid", "10.50 EUR", "2021-05-12", "12345", "isikukood puudub"])
def test_nothing(text: str) -> None:
    assert found(text, ("EE",)) == set()
