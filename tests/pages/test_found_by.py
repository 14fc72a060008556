"""Who found a finding is said in words, never by the name that the program has for it."""

from __future__ import annotations

import pytest

import engine
from engine.corpus import readers
from engine.errors import DataError
from pages._ui.review.found_by import OWN, found_by


def test_every_recogniser_has_a_readable_name():
    words = found_by()
    assert {entry.id for entry in engine.recognisers()} | {"custodian", "gold"} <= words.keys()
    assert not [said for name, said in words.items() if "_" in said or said == name]
    assert words["titled_name"] == "“Titles with a name”"
    assert words["tagger"] == OWN["tagger"]


def test_a_picture_is_called_one_and_what_helps_is_said():
    with pytest.raises(DataError, match=r"^photo\.PNG: this is a picture; export the text as CSV"):
        readers.read_preview(b"\x89PNG", "photo.PNG")
    with pytest.raises(DataError, match=r"also packed as \.gz"):
        readers.read_preview(b"abc", "photo.xyz")
