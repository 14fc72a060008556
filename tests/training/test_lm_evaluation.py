"""The built-in model's evaluation: the record beside the weights, and what is measured here."""

import dataclasses
import json
import math
import random

import numpy as np
import pytest

from engine.errors import UserError
from engine.models.builtin.embedder import load_embedder
from engine.models.builtin.format import BLANK, DOMAINS, KINDS
from engine.models.builtin.language_model import load_builtin_generator
from engine.models.builtin.ngram_model import KneserNey
from engine.models.builtin.shipped import lm_folder
from engine.models.contracts import Generation
from engine.models.offered.likeness import known_kinds
from engine.training.__main__ import SHARES
from engine.training.language.data import Document, split
from engine.training.language.evaluation import CHARACTERS, bits_a_byte, held_out, score
from engine.training.language.held_out import MAX_WORDS, held_out_kinds, without_twins
from engine.training.language.operators import (
    MEASURES,
    OperatorTest,
    blanks_filled,
    counted,
    length_kept,
    measure_operators,
    value_present,
    word_present,
)
from engine.training.language.sources import domains
from tests.models.small_lm import small_generator


def test_recorded_evaluation_beats_the_3gram_in_every_kind():
    recorded = json.loads((lm_folder() / "evaluation.json").read_text("utf-8"))["kinds"]
    assert len(recorded) >= 6
    for kind, row in recorded.items():
        assert row["bits_per_byte"] < row["bits_per_byte_3gram"], kind


def test_held_out_narratives_cost_less_than_with_a_3gram(test_data):
    import pyarrow.parquet as pq

    texts = pq.read_table(test_data / "lm" / "vaers_1990_1997.parquet", columns=["text"])["text"].to_pylist()
    train, held = split([Document(text.strip(), "clinical", "narrative") for text in texts])
    generator = load_builtin_generator()

    def encode(documents):
        entries = generator.tokenizer.encode_batch([d.text for d in documents], add_special_tokens=False)
        return [np.array([*entry.ids, 2], dtype=np.uint64) for entry in entries]

    baseline = KneserNey(encode(train[::2]), generator.net.config.vocab_size, 1)
    chosen = held[::8]  # rows are ordered by year
    neural = -sum(float(values.sum()) for values in generator.score([d.text for d in chosen])) / math.log(2)
    three_gram = sum(map(baseline.bits, encode(chosen)))
    assert neural < three_gram


@pytest.mark.parametrize(
    ("template", "text", "kept"),
    [
        (f"a rash {BLANK} the arm", "a rash on the arm", True),
        (f"a rash {BLANK} the arm", "a rash  all\nover the arm", True),
        (f"a rash {BLANK} the arm", "a rash the arm", False),  # nothing was filled in
        (f"a rash {BLANK} the arm", "a rash on the leg", False),
        (f"a rash {BLANK} the arm", "a rash on the arm today", False),
        (f"a rash {BLANK} the arm", "the rash on the arm", False),
        (f"{BLANK} the arm {BLANK}", "rash on the arm yesterday", True),
        (f"{BLANK} the arm {BLANK}", "rash on the arm", False),
        (f"{BLANK} the arm {BLANK}", "the arm yesterday", False),
        (f"{BLANK} {BLANK} arm", "the arm", False),  # two blanks, one word
        (f"{BLANK} {BLANK} arm", "on the arm", True),
        (f"a {BLANK} b {BLANK} b", "a x b y b", True),
        (f"a {BLANK} b {BLANK} b", "a x b b", False),
        ("a b", "a b", True),
        ("a b", "a c b", False),
        (f"{BLANK}", "", False),
    ],
)
def test_blanks_are_filled_only_where_all_else_stands(template, text, kept):
    assert blanks_filled(template, text) is kept


def test_a_length_is_kept_within_a_fifth():
    assert [n for n in range(60, 140) if length_kept(100, "word " * n)] == list(range(80, 121))


def test_words_and_values_are_found_whole_and_in_any_case():
    assert word_present("fever", "Fever, and a rash.")
    assert not word_present("ever", "Fever")
    assert value_present("Ann Bloggs", "it was ANN\nBLOGGS.")
    assert not value_present("Ann", "Annan")
    assert value_present("36244/06", "no. 36244/06,")


def test_shares_come_with_wilsons_interval():
    found = counted([True] * 8 + [False] * 2)
    assert (found.n, found.hits, found.share) == (10, 8, 0.8)
    assert (found.low, found.high) == (0.4902, 0.9433)
    assert math.isnan(counted([]).share)


@pytest.fixture(scope="module")
def letters():
    """Held-out letters made by the project."""
    (found,) = [kind for kind in held_out_kinds(None, made=20) if kind.name == "clinic letter"]
    return found


def test_a_held_out_text_whose_twin_was_trained_on_does_not_count():
    def of(text):
        return Document(text, "generic", "encyclopedia")

    train = [of("The bridge was built in 1890, and it was closed to carts in 1931."), of("A short one.")]
    twin = of("The bridge was built in 1890. It was closed to carts in 1931.")
    other = of("The mill was built by the river and burned down in the war.")
    assert without_twins([twin, other, of("Too short for a run.")], train) == [other]
    assert without_twins([other], [other]) == []


def test_held_out_texts_are_short_and_no_training_text(letters):
    assert len(letters.pieces) > 8
    assert all(len(d.text.split()) <= MAX_WORDS for d in letters.pieces)
    learned = {d.text for d in letters.learn}
    assert not [d for d in (*letters.pieces, *letters.real) if d.text in learned]
    assert {d.label for d in letters.learn} == set(letters.labels)


class Echo:
    """A model that gives the code, the filled template or the asked number of words back."""

    id, capabilities = "echo", frozenset()

    def generate(self, prompts, sampling, constraints=None):
        made = []
        for prompt in prompts:
            body = prompt.split("<|text|>")[-1].split("<|code|>")[-1].split("<|keys|>")[-1].split("<|out|>")[0]
            made.append(Generation(body.replace(BLANK, "something"), 5, "stop"))
        return made


def test_a_model_that_obeys_scores_one_and_a_random_one_scores_low(letters):
    def found(model):
        test = OperatorTest(model, None, count=6)
        rng = random.Random(1)
        chosen = list(letters.pieces[:6])
        return {**test._keywords(letters, chosen, rng), **test._codes(letters, rng), **test._blanks(chosen, rng)}

    assert {name for name, outcomes in found(Echo()).items() if all(outcomes)} == {
        "keyword_present", "every_keyword_present", "code_value_used", "every_code_value_used", "blanks_filled",
    }  # fmt: skip
    random_words = found(small_generator())
    assert not any(random_words["every_code_value_used"])
    assert not any(random_words["code_value_used"])


def test_the_label_classifier_is_better_than_chance_on_real_text(letters):
    letters = dataclasses.replace(letters, learn=letters.learn[::4])
    test = OperatorTest(small_generator(), load_embedder(), count=4)
    read = test.label_reader(letters)
    right = [d.label == said for d, said in zip(letters.real, read([d.text for d in letters.real]), strict=True)]
    assert sum(right) / len(right) > 1.0 / len(letters.labels)


def test_the_command_names_the_step_that_is_missing(tmp_path):
    from engine.training.language.evaluation import evaluate

    with pytest.raises(UserError, match="prepare"):
        evaluate(tmp_path, lm_folder(), tmp_path)


def test_a_score_is_of_the_same_characters_for_every_vocabulary(tmp_path):
    long = "The claimant asked for leave to appeal. " * 80
    (tmp_path / "held_out.json").write_text(json.dumps({"letter": [long, long[:300]], "none": []}), "utf-8")
    assert [len(text) for text in held_out(tmp_path)["letter"]] == [CHARACTERS, 300]
    found = score(lm_folder(), tmp_path, 1)
    assert set(found) == {"letter", "mean"}
    assert found["letter"] == found["mean"] == round(bits_a_byte(load_builtin_generator(), [long[:CHARACTERS]]), 4)


def test_every_kind_of_the_training_has_a_domain():
    assert set(domains()) == set(SHARES)
    assert set(domains().values()) <= set(DOMAINS)
    assert domains() == dict(KINDS), "what prompts take a kind to have been learned under"
    assert set(known_kinds()) <= set(KINDS)


def test_every_measure_is_recorded_with_counts_and_its_interval():
    recorded = json.loads((lm_folder() / "evaluation.json").read_text("utf-8"))["operators"]
    assert recorded["sampling"]["max_new_tokens"] >= 100
    assert set(MEASURES) <= set(recorded["measures"])
    for name, row in recorded["measures"].items():
        assert row["n"] >= 100, name
        again = counted([True] * row["hits"] + [False] * (row["n"] - row["hits"]))
        assert (row["share"], row["low"], row["high"]) == (again.share, again.low, again.high), name
        assert sum(kind["n"] for kind in row["kinds"].values()) == row["n"]
        assert sum(kind["hits"] for kind in row["kinds"].values()) == row["hits"]
    assert recorded["measures"]["code_value_used"]["low"] > 0.1  # a model that ignores its code is caught
    alone = recorded["not_held_while_decoding"]
    assert {"every_keyword_present", "every_code_value_used", "length_within_20_percent", "blanks_filled"} <= set(alone)


def test_measuring_gives_the_recorded_shape(letters):
    few = dataclasses.replace(letters, learn=letters.learn[:40], real=letters.real[:5])
    found = measure_operators(small_generator(), small_generator(), load_embedder(), [few], count=2)
    recorded = json.loads((lm_folder() / "evaluation.json").read_text("utf-8"))["operators"]
    assert set(found) == set(recorded)
    assert set(found["measures"]) <= set(recorded["measures"])
    assert set(found["measures"]["blanks_filled"]) == set(recorded["measures"]["blanks_filled"])


def test_ten_first_samples_a_kind_lie_beside_the_weights():
    drawn = json.loads((lm_folder() / "samples.json").read_text("utf-8"))
    known = set(json.loads((lm_folder() / "evaluation.json").read_text("utf-8"))["kinds"])
    assert len(known) >= 7
    assert set(drawn) == known <= set(domains())
    assert all(len(texts) == 10 and all(texts) for texts in drawn.values())
