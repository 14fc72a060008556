"""Training data: partial annotation, windows, noise and made sentences."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import numpy as np
import pandas as pd

from engine.models.builtin import minilm
from engine.models.builtin.tagger.tagger import MAX_PIECES, TAGS, TYPES, load_tokenizer
from engine.training.tagger.data import (
    ALL,
    FOUR,
    MADE,
    PLAIN,
    SETS,
    THREE,
    Document,
    allowed_table,
    batches,
    from_spans,
    noisy,
    read_plain,
    read_sentences,
    read_tab,
    spans_of,
    windows,
)
from engine.training.tagger.made import made_documents

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


def test_narrative_that_names_nobody_has_no_name_place_of_work_or_figure(tmp_path: Path) -> None:
    texts = [
        "Pain in the left shoulder and neck, no fever. Dr lind was told the next day.",
        "swelling went down to the elbow; seen at the clinic in leeds; rash on the collarbone and the back",
        "Temp 104 for days. Gave Tylenol to the baby. the nurse said that it would go away soon",
    ]
    pd.DataFrame({"text": texts}).to_parquet(tmp_path / "a.parquet")
    made = read_plain(tmp_path / "a.parquet", 3, random.Random(0))
    kept = {part for d in made for part in d.segments[0][0].split("; ")}
    assert kept <= {
        "Pain in the left shoulder and neck, no fever",
        "swelling went down to the elbow",
        "rash on the collarbone and the back",
    }
    assert kept
    assert all(d.types == PLAIN and d.segments[0][1] is None for d in made)
    assert len(read_plain(tmp_path / "a.parquet", 1, random.Random(0))) == 1


def test_bodies_of_the_state_may_be_left_in_by_the_sentence_corpora(tmp_path: Path) -> None:
    rows = [
        {
            "split": "x",
            "source": "gum",
            "tokens": ["The", "Supreme", "Court", "sat"],
            "tags": ["O", "B-ORG", "I-ORG", "O"],
        },
        {"split": "x", "source": "gum", "tokens": ["Nokia", "sells"], "tags": ["B-ORG", "O"]},
    ]
    with gzip.open(tmp_path / "s.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    found = {s for d in read_sentences(tmp_path / "s.jsonl.gz", rng=random.Random(0)) for s in d.segments if s[1]}
    assert found == {("Supreme Court", "?ORGANISATION"), ("Nokia", "ORGANISATION")}


def test_made_grammar_fills_every_template() -> None:
    from engine.training.tagger.made import Filler, _sentence, grammar

    filler = Filler(random.Random(5))
    filler.meet()
    templates = [t for d in grammar()["domains"].values() for t in d["sentences"]]
    for template in templates:
        assert not any("{" in text or "}" in text for text, _ in _sentence(template, filler))
    forms = [f for s in grammar()["slots"].values() for f in s["forms"]]
    for form in forms:
        filler.now = filler.people[0]
        assert "{" not in filler.expand(form)
