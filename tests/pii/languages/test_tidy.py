"""Names as other languages write them: what leaves a person, what is none, and names again in their other cases."""

from __future__ import annotations

import pytest

from engine.pii.languages.tidy import tidied, without_codes
from engine.pii.spans import Span


def tagged(text: str, *found: tuple[str, str], score: float = 0.8) -> list[Span]:
    return [Span("", text.index(f), text.index(f) + len(f), label, score, "tagger", "direct") for f, label in found]


def kept(text: str, code: str, *found: tuple[str, str]) -> list[tuple[str, str]]:
    return [(text[s.start : s.end], s.label) for s in sorted(tidied(text, tagged(text, *found), code))]


@pytest.mark.parametrize(
    ("code", "text", "found", "name"),
    [
        ("es", "Atendió al niño Pablo Soler hoy.", "niño Pablo Soler", "Pablo Soler"),
        ("fr", "D'après Marc, l'ami d'Olivier Faure est parti.", "l'ami d'Olivier Faure", "Olivier Faure"),
        ("pt", "O António vive no Porto.", "O António", "António"),
        ("pt", "Cara Joana, até sábado.", "Cara Joana", "Joana"),
        ("sv", "Hej Johan! Vi ses.", "Hej Johan", "Johan"),
        ("et", "Ukrainlane Oleg Bondarenko tuli koju.", "Ukrainlane Oleg Bondarenko", "Oleg Bondarenko"),
        ("de", "über den Tischler Karl Baum aus Hof", "Tischler Karl Baum", "Karl Baum"),
        # these are whole names
        ("de", "über Schneider Anna aus dem Ort", "Schneider Anna", "Schneider Anna"),
        ("sv", "Mitt Romney talade länge.", "Mitt Romney", "Mitt Romney"),
        ("nl", "Hij sprak met van den Berg.", "van den Berg", "van den Berg"),
        ("es", "Llamó el abogado de la Torre.", "de la Torre", "de la Torre"),
        ("de", "wir sahen von Arnim dort", "von Arnim", "von Arnim"),
        ("nl", "Het bewind van lord Palmerston duurde.", "lord Palmerston", "lord Palmerston"),
        ("pt", "O senhor CARA MEZ falou muito.", "CARA MEZ", "CARA MEZ"),
        ("es", "todo en minúsculas: niño pablo soler", "niño pablo soler", "niño pablo soler"),
    ],
)
def test_what_stands_before_a_name(code: str, text: str, found: str, name: str) -> None:
    assert kept(text, code, (found, "PERSON")) == [(name, "PERSON")]


@pytest.mark.parametrize(
    ("code", "text", "found", "label", "result"),
    [
        ("de", "Sie kamen am Dienstag nach Wien.", "Dienstag", "LOCATION", [("Dienstag", "DATE")]),
        ("et", "Nad tulid Reedel koju tagasi.", "Reedel", "PERSON", [("Reedel", "DATE")]),
        ("fr", "Merci. Cordialement, Julie", "Cordialement", "LOCATION", []),
        ("pt", "Ligue. Telefone 912 345 678", "Telefone", "LOCATION", []),
        ("es", "El ciudadano colombiano Andrés llegó.", "colombiano", "PERSON", [("colombiano", "DEMOGRAPHIC")]),
        ("fr", "M. Moreau, boulanger de métier", "boulanger", "LOCATION", [("boulanger", "DEMOGRAPHIC")]),
        ("fr", "Il va à Lyon demain.", "Lyon", "LOCATION", [("Lyon", "LOCATION")]),
    ],
)
def test_what_is_no_name(code: str, text: str, found: str, label: str, result: list[tuple[str, str]]) -> None:
    assert kept(text, code, (found, label)) == result


@pytest.mark.parametrize(
    ("code", "text", "found", "again"),
    [
        ("et", "Henn Jõgi oli rahulik. Hennule anti valuvaigistit.", "Henn Jõgi", "Hennule"),
        ("fi", "Tuomas Laine asuu Oulussa. Tuomaan tytär soitti.", "Tuomas Laine", "Tuomaan"),
    ],
)
def test_a_name_again_in_another_case(code: str, text: str, found: str, again: str) -> None:
    assert (again, "PERSON") in kept(text, code, (found, "PERSON"))
    assert (again, "PERSON") in kept(text, code, (found, "PERSON"), (again, "LOCATION"))
    assert kept(text, code, (again, "LOCATION")) == [(again, "LOCATION")]  # nobody was named


def test_a_number_that_a_rule_knows_is_no_code() -> None:
    phone = Span("", 4, 18, "PHONE", 0.75, "fr.phone", "direct")
    code = Span("", 4, 18, "CODE", 0.95, "tagger", "direct")
    other = Span("", 30, 38, "CODE", 0.95, "tagger", "direct")
    assert without_codes([code, phone, other]) == [phone, other]


def test_rules_are_left_alone() -> None:
    span = Span("", 0, 9, "PERSON", 0.85, "pt.title", "direct")
    assert tidied("O António vive no Porto.", [span], "pt") == [span]


@pytest.mark.parametrize(
    ("code", "text", "found", "label", "result"),
    [
        ("fi", "Hän kävi Oulun sairaalassa.", "Oulun", "PERSON", [("Oulun", "LOCATION")]),
        ("pt", "Vive no Porto com a mulher.", "Porto com a mulher", "LOCATION", [("Porto", "LOCATION")]),
        ("pt", "O brasileiro Carlos veio.", "brasileiro", "LOCATION", [("brasileiro", "DEMOGRAPHIC")]),
        ("sv", "Eva Nilsson kom. Evas telefon.", "Eva Nilsson", "PERSON",
         [("Eva Nilsson", "PERSON"), ("Evas", "PERSON")]),
        ("de", "Zeuge Jan Richter kam. Richters Auto.", "Jan Richter", "PERSON",
         [("Jan Richter", "PERSON"), ("Richters", "PERSON")]),
    ],
)  # fmt: skip
def test_towns_tails_and_genitives(code: str, text: str, found: str, label: str, result: list[tuple[str, str]]) -> None:
    assert kept(text, code, (found, label)) == result
