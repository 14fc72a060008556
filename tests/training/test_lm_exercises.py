"""The exercises of the built-in model's training, and its shards."""

import random
import re
from collections import Counter

import numpy as np
import pytest

from engine.models.builtin.format import BOS, EOS, OPERATORS
from engine.models.builtin.shipped import lm_folder
from engine.models.builtin.tokenizer import load_tokenizer
from engine.training.language import exercises
from engine.training.language.data import TRAINING_SEEDS, read_samples
from engine.training.language.operators import blanks_filled
from engine.training.language.pack import write_shard
from engine.training.language.sequences import MOST_KEYS, Exercises


@pytest.fixture(scope="module")
def tickets():
    return [d for d in read_samples(TRAINING_SEEDS[:1], 60) if d.kind == "support ticket"]


def test_every_operator_is_set():
    assert set(exercises.WEIGHTS) == set(OPERATORS)


def test_a_fill_asks_for_the_whole_text(tickets):
    asked = Exercises(tickets, random.Random(0), {"fill": 1})
    for ticket in tickets[:20]:
        made = asked.make(ticket)
        template = made.prompt.split("<|text|>")[1].split("<|out|>")[0]
        assert blanks_filled(template, made.output.removesuffix(EOS))
        assert made.output.removesuffix(EOS).split() == ticket.text.split()


def test_loss_falls_on_the_output_alone(tickets, tmp_path):
    tokenizer = load_tokenizer(lm_folder())
    asked = Exercises(tickets, random.Random(0), exercises.WEIGHTS)
    made = [asked.make(ticket) for ticket in tickets]
    write_shard(tmp_path / "x.npz", "support ticket", made, tokenizer)
    with np.load(tmp_path / "x.npz") as shard:
        tokens, ends, starts = shard["tokens"], shard["ends"], shard["loss_from"]
    out = tokenizer.token_to_id("<|out|>")
    begins = [0, *ends[:-1]]
    assert all(tokens[b + s - 1] == out for b, s in zip(begins, starts, strict=True))
    drawn = Counter(s.prompt.split("<|op:")[1].split("|>")[0] for s in made)
    assert drawn["invent"] > drawn["cross"]


def test_conditions_come_first_and_a_tenth_is_bare(tickets):
    made = list(exercises.sequences(tickets, 10**9, 6.0, random.Random(0)))
    bare = sum(one.prompt == BOS for one in made)
    assert 0.05 < bare / len(made) < 0.16
    asked = [one.prompt for one in made if "<|op:invent|>" in one.prompt]
    assert any("<|keys|>" in prompt and "<|label|>" in prompt and "<|len:" in prompt for prompt in asked)
    assert all(one.output.endswith(EOS) for one in made)


def test_most_key_words_stand_in_the_order_of_the_text(tickets):
    asked = Exercises(tickets, random.Random(0), {"invent": 1})
    ordered, lists = 0, 0
    for ticket in tickets * 6:
        made = asked.make(ticket)
        if "<|keys|>" not in made.prompt:
            continue
        keys = made.prompt.split("<|keys|>")[1].split("<|")[0].split("; ")
        assert len(keys) <= MOST_KEYS
        words = re.findall(r"[a-z][a-z'-]+", ticket.text.lower())
        places = [words.index(key) for key in keys]
        if len(keys) > 2:
            lists += 1
            ordered += places == sorted(places)
    assert lists > 100
    assert 0.65 < ordered / lists < 0.95  # three quarters, and one in six or fewer of the others by chance


def test_a_fraction_of_passes_is_a_share_of_the_last_one(tickets):
    whole = len(list(exercises.sequences(tickets, 10**9, 1.0, random.Random(0))))
    assert len(list(exercises.sequences(tickets, 10**9, 1.5, random.Random(0)))) == whole + whole // 2
