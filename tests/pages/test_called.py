"""What the records of a corpus are called on the pages: by the declared kind of document, else records."""

from __future__ import annotations

import pytest

from pages._ui.corpus.called import RECORD, noun, said

LETTER = ("letter", "letters")


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        ("14.0% of the synthetic records copy one of 70 training records.",
         "14.0% of the synthetic letters copy one of 70 training letters."),
        ("puts the record that was used first", "puts the letter that was used first"),
        ("The strongest, “Nearest records”, of records", "The strongest, “Nearest records”, of letters"),
        ("(medical record number 3) in the records", "(medical record number 3) in the letters"),
        ("a recorded record", "a recorded letter"),
    ],
)  # fmt: skip
def test_records_are_called_by_their_own_word_and_names_stay(sentence: str, wanted: str) -> None:
    assert said(LETTER, sentence) == wanted
    assert said(RECORD, sentence) == sentence


def test_the_word_is_that_of_the_declared_kind(small) -> None:
    workspace = small.open()
    assert noun(workspace, small.bare) == RECORD  # nobody declared anything
    for kind, wanted in {
        "discharge letter": LETTER,
        "nurses' notes": ("note", "notes"),
        "discharge summary": ("summary", "summaries"),
        "Arztbrief": RECORD,  # no word that is told here
    }.items():
        workspace.descriptions.declare(small.bare, kind)
        assert noun(workspace, small.bare) == wanted, kind


def test_the_columns_of_a_corpus_are_told_without_its_rows(small) -> None:
    workspace = small.open()
    assert set(workspace.corpora.columns(small.bare)).isdisjoint({"text", "record_id"})
