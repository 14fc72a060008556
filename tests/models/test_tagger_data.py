"""Training data: partial annotation, windows, noise and made sentences."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

from engine.models import minilm
from engine.models.tagger import MAX_PIECES, TAGS, TYPES, load_tokenizer
from engine.models.tagger_data import (
    ALL,
    FOUR,
    MADE,
    SETS,
    THREE,
    Document,
    allowed_table,
    batches,
    from_spans,
    noisy,
    read_tab,
    spans_of,
    windows,
)
from engine.models.tagger_data_made import made_documents

NONE, DATE, PERSON = TAGS.index("O"), TAGS.index("B-DATE"), TAGS.index("B-PERSON")


def test_an_untagged_word_may_be_what_its_source_does_not_annotate() -> None:
    table = allowed_table()
    assert table[THREE, NONE, DATE]
    assert not table[THREE, NONE, PERSON]
    assert not table[FOUR, NONE, DATE]
    assert table[MADE, NONE].sum() == 1
    assert (table[:, 1 : len(TAGS)].sum(-1) == 1).all()
    assert set(np.flatnonzero(table[ALL, len(TAGS) + DATE])) == {NONE, DATE}  # the annotator left it in


def test_overlapping_spans_leave_the_longer() -> None:
    document = from_spans("Mr Kim here", [(0, 6, "PERSON"), (3, 6, "PERSON")], ALL)
    assert spans_of(document) == ("Mr Kim here", [(0, 6, "PERSON")])


def test_windows_carry_tags_at_the_right_pieces() -> None:
    tokenizer = load_tokenizer(minilm.base_folder())
    document = Document([("x " * 400, None), ("Amina Diallo", "PERSON"), (" left on ", None), ("3 May", "?DATE")], ALL)
    items = windows(tokenizer, [document], random.Random(0))
    assert all(len(w.ids) <= MAX_PIECES for w in items)
    tags = np.concatenate([w.tags for w in items])
    names = [TAGS[t % len(TAGS)] for t in tags if t]
    assert names[0] == "B-PERSON"
    assert names[-2:] == ["B-DATE", "I-DATE"]
    assert tags[-1] >= len(TAGS)


def test_batches_hold_every_window_once() -> None:
    tokenizer = load_tokenizer(minilm.base_folder())
    rng = random.Random(0)
    items = windows(tokenizer, made_documents(30, rng), rng)
    out = batches(items, 1024, rng)
    assert sum(len(b) for b in out) == len(items)
    assert all(len(b) * (max(len(w.ids) for w in b) + 2) <= 1024 for b in out if len(b) > 1)


def test_noise_keeps_labels_and_does_not_touch_the_original() -> None:
    document = made_documents(1, random.Random(1))[0]
    before = list(document.segments)
    for seed in range(40):
        changed = noisy(document, random.Random(seed))
        assert [label for _, label in changed.segments] == [label for _, label in before]
    assert document.segments == before


def test_made_documents_use_every_type_and_repeat_with_their_seed() -> None:
    made = made_documents(200, random.Random(2))
    assert {x for d in made for _, x in d.segments if x} == set(TYPES) - {"MISC"}
    assert made[:20] == made_documents(200, random.Random(2))[:20]
    assert not any("{" in text or "}" in text for d in made for text, _ in d.segments)
    assert all(d.types == MADE and SETS[MADE] for d in made)


def test_benchmark_documents_keep_their_text(test_data: Path) -> None:
    documents = read_tab(test_data / "tab_train_92.jsonl.gz")
    assert len(documents) == 92
    assert sum(len(spans_of(d)[0]) for _, d in documents) == 373_811
