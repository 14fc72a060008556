"""Marks of people are stored: whatever they are made with, they stay what they were."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from engine.corpus.people import marks
from engine.corpus.people.folded_texts import FoldedTexts, earlier
from engine.corpus.people.marks import PeopleMarks, people_marks
from engine.corpus.samples import load_sample
from engine.corpus.text.folding import folded

KEY = b"k" * 32


def digest(found: PeopleMarks) -> str:
    """Return a digest of all marks of a file, in their order."""
    parts = [found.runs, found.record, found.sources, found.bare]
    parts += [found.short.hashes, found.short.record, found.short.whole]
    for _, equal in sorted(found.equal.items()):
        parts += [equal.hashes, equal.item]
    told = hashlib.sha256()
    for part in parts:
        told.update(f"{part.dtype}{len(part)}".encode() + part.tobytes())
    told.update(repr((found.chance, found.short.total)).encode())
    return told.hexdigest()


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ("clinic_letters", "0f288564e9c3a5aa606398701f7da39dc0d1621d2609a8417a8b5f60ef7f9813"),
        ("support_tickets", "049f4794d9bedac46d772ed82480a20116ca61a82bcbadece1b8f2cf663844dd"),
        ("court_decisions", "4bf3ae9e903710726e26d0f2cce33a9a9b0765dc54a453a48a6f3c92625928a7"),
        ("clinic_letters_et", "a21db105b433317e11c6e4e1233cc35e5efe6a132240fca9f710a262c9dbd028"),
        ("clinic_letters_de", "29da944660047affbe4f165842836f83e3fa1824af4fe5938cd6cb472c0057e3"),
    ],
)
@pytest.mark.parametrize("at_once", [None, (37, 400)])
def test_they_are_what_they_were(sample, expected, at_once, monkeypatch):
    """Digests of the marks that were stored before texts were folded once and runs compared in parts."""
    if at_once is not None:
        monkeypatch.setattr(marks, "AT_ONCE", at_once[0])
        monkeypatch.setattr(marks, "RUNS_AT_ONCE", at_once[1])
    table = load_sample(sample)
    assert digest(people_marks(list(table["text"]), list(table["source_id"]), KEY)) == expected


def test_texts_are_folded_as_they_are_one_by_one():
    texts = ["Ann’s arm was sore.", "", "Ann's ARM was sore", "On 31/08/2006 she had 1,570 units", "!!"]
    whole = FoldedTexts(texts)
    assert [" ".join(words) for words in whole] == [folded(text) for text in texts]
    assert whole.bare(3, 9) == ["on she had units", ""]
    assert whole.distinct()[0] == whole.distinct()[2]
    assert len(set(whole.distinct().tolist())) == 4 - (folded("!!") == "")
    held, count = whole.held()
    assert count == 2
    assert dict(zip(whole.words, held.tolist(), strict=True))["was"] == 1


def test_a_value_is_counted_where_it_stood_before():
    rng = np.random.default_rng(0)
    values = rng.integers(-3, 4, 200)
    assert earlier(values).tolist() == [int((values[:i] == value).sum()) for i, value in enumerate(values)]
