"""Vectors from runs of letters: the same on every machine, of the text alone, and alike for texts that share words."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np

from engine.corpus.samples import load_sample
from engine.models.builtin.character_ngrams import DIMENSION, CharacterNgrams

TEXTS = ["Patsient kaebab peavalu ja iiveldust.", "Peavalud kestavad juba nädala.", "Der Hund läuft über die Straße."]

FIRST = [-0.141842, 0.0, 0.03546, 0.0]  # numbers of the first text, as this version makes them


def test_rows_are_unit_rows_of_the_text_alone_and_an_empty_text_has_zeros():
    texts = [*load_sample("clinic_letters_et").head(300)["text"], "", " \n", *TEXTS]
    rows = CharacterNgrams().embed(texts)
    assert rows.shape == (305, DIMENSION)
    assert rows.dtype == np.float32
    lengths = np.linalg.norm(rows.astype(float), axis=1)
    assert np.allclose(np.delete(lengths, [300, 301]), 1.0, atol=1e-6)
    assert not rows[300:302].any()
    for place in (0, 150, 256, 303):
        assert np.array_equal(CharacterNgrams().embed([texts[place]])[0], rows[place])
    assert np.array_equal(CharacterNgrams().embed(texts[::-1])[::-1], rows)
    assert CharacterNgrams().embed([]).shape == (0, DIMENSION)


def test_rows_are_those_of_this_version_in_any_process():
    code = (
        "import sys; from engine.models.builtin.character_ngrams import CharacterNgrams as C; "
        f"r = C().embed([{TEXTS[0]!r}])[0]; assert 'torch' not in sys.modules; print(r[:4].tolist())"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert np.allclose(json.loads(told), FIRST, atol=1e-6)


def test_texts_that_share_words_in_other_forms_are_nearer_and_letters_with_marks_are_one_sign():
    rows = CharacterNgrams().embed(TEXTS)
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.1
    apart = "Patsient kaebab söögiisu.", "PATSIENT kaebab so\u0308o\u0308giisu."
    assert np.array_equal(*CharacterNgrams().embed(apart))
