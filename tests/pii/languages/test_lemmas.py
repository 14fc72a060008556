"""Lemmas by what is installed, cases by synthesis, and that nothing of EstNLTK is loaded but its morphology."""

from __future__ import annotations

import subprocess
import sys

import pytest

from engine.errors import UserError
from engine.pii.languages import lemmas, synthesis, vabamorf
from engine.pii.languages.pack import codes, pack
from engine.pii.languages.registry import languages
from engine.pii.surrogates.local.names import LocalNames

ESTNLTK = pytest.mark.skipif(not vabamorf.there(), reason="EstNLTK (extra `et`) is not installed")
LISTS = pytest.mark.skipif("en" not in lemmas._lists(), reason="simplemma (extra `lemmas`) is not installed")
KEY = b"0123456789abcdef0123456789abcdef"


@ESTNLTK
def test_estonian_lemmas_are_those_of_the_words_alone():
    et = lemmas.lemmatiser("et")
    assert et.by.startswith("Vabamorf of EstNLTK 1.7")
    words = {"haigusest": "haigus", "rääkis": "rääkima", "majades": "maja", "RAPLAMAAL": "raplamaa", "läks": "minema"}
    assert {word: et(word) for word in words} == words
    assert et.text("Tamm RÄÄKIS oma haigusest, 12.03.") == "Tamm RÄÄKIMA oma haigus, 12.03."
    alone = [et(word) for word in ("tee", "on", "sees")]
    assert [et(word) for word in reversed(("tee", "on", "sees"))] == alone[::-1]  # whatever came before


@ESTNLTK
def test_only_the_morphology_of_estnltk_is_loaded_and_nothing_is_connected_to():
    code = """
import socket, sys
def refused(*given):
    raise AssertionError("a connection")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refused
from engine.pii.languages import vabamorf
assert vabamorf.lemma("majades") == "maja"
assert vabamorf.inflected("Mihkel", "gen") == "Mihkli"
unwanted = ("estnltk", "estnltk_core", "nltk", "matplotlib", "requests")
print(sorted(m for m in sys.modules if m.split(".")[0] in unwanted))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "[]"


@ESTNLTK
@pytest.mark.parametrize(
    ("name", "genitive"),
    [("Mihkel", "Mihkli"), ("Peeter", "Peetri"), ("Reet", "Reeda"), ("Järv", "Järve"), ("Põder", "Põdra"),
     ("Tamm", "Tamme"), ("Kask", "Kase"), ("Mari-Liis", "Mari-Liisi"), ("Täht", "Tähe")],
)  # fmt: skip
def test_names_are_put_into_their_cases_and_read_back(name, genitive):
    table = synthesis.names_of("et")
    assert table is not None
    assert table.inflected(name, "gen") == genitive
    for case, ending in (("all", "le"), ("com", "ga"), ("ela", "st")):
        assert table.inflected(name, case) == genitive + ending
        assert table.case_of(genitive + ending, frozenset({name})) == (case, name)


@ESTNLTK
def test_first_forms_are_not_taken_for_cases_of_other_names():
    """Every listed name, read as if no list held it: none ends as a case does and is believed to be one."""
    table, nobody = synthesis.names_of("et"), frozenset({"Nobody"})
    assert table is not None
    assert [name for name in sorted(synthesis._listed()) if table.case_of(name, nobody)[0] != "nom"] == []
    assert table.case_of("Meelisele", nobody) == ("all", "Meelis")


@ESTNLTK
def test_one_person_is_one_surrogate_in_every_case():
    text = ("Mihkel Põder", "Mihkli Põdra", "Mihkel Põdrale", "Mihkel Põdraga", "Põdrast")
    names = LocalNames(KEY, "unit", frozenset(), frozenset(), "et")
    for mention in text:
        names.household.observe(mention, "")
    made = [names.replace(mention) for mention in text]
    table = synthesis.names_of("et")
    assert table is not None
    surname = made[0].split()[-1]
    assert made[2].split()[-1] == table.inflected(surname, "all")
    assert made[3].split()[-1] == table.inflected(surname, "com")
    assert made[4] == table.inflected(surname, "ela")
    assert not {"Mihkel", "Põder"} & set(" ".join(made).split())


def test_without_estnltk_the_table_alone_is_used(monkeypatch):
    monkeypatch.setattr(vabamorf, "there", lambda: False)
    synthesis.names_of.cache_clear()
    try:
        assert synthesis.names_of("et") is pack("et").inflection
        assert LocalNames(KEY, "unit", frozenset(), frozenset(), "et").replace("Jaan Tammele").endswith("le")
        assert lemmas.told_by("et") is None or lemmas.told_by("et").startswith("simplemma")
    finally:
        synthesis.names_of.cache_clear()


def test_other_languages_keep_their_tables():
    for code in codes():
        if code != "et":
            assert synthesis.names_of(code) is pack(code).inflection


@LISTS
@pytest.mark.parametrize(
    ("code", "word", "lemma"),
    [("de", "krankenhäuser", "krankenhaus"), ("fr", "chevaux", "cheval"), ("en", "studies", "study")],
)
def test_other_languages_have_lemmas_by_lists(code, word, lemma):
    assert lemmas.lemmatiser(code)(word) == lemma


def test_what_no_installed_list_knows_is_said():
    assert lemmas.told_by("ja") is None
    with pytest.raises(UserError, match=r"No lemmas for this language \(Japanese\)"):
        lemmas.lemmatiser("ja")
    assert lemmas.told_by("../et") is None


def test_the_registry_says_of_each_language_whether_there_are_lemmas():
    for view in languages()[1:]:
        has = any(line.startswith("lemmas for the curves") for line in view.has)
        lacks = any(line.startswith("No lemmas for this language") for line in view.lacks)
        assert has is (lemmas.told_by(view.code) is not None)
        assert has is not lacks


def test_the_language_of_a_corpus_is_told_or_set():
    texts = ["Patsient pöördus arsti poole ja kaebas tugevat valu paremas õlas, mis algas eile õhtul."] * 3
    texts.append("The patient was seen in the clinic today and had no further complaints at all.")
    code, share = lemmas.language_of(texts)
    assert code == "et"
    assert 0.5 < share < 1.0
    assert lemmas.language_of(texts, "en")[0] == "en"
    assert lemmas.language_of([])[0] == "en"
