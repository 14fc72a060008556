"""The second stage of the built-in model's training: its exercises and its shards."""

import random
from collections import Counter

import numpy as np
import pytest

from engine.errors import UserError
from engine.models.builtin.format import EOS, OPERATORS
from engine.models.builtin.shipped import lm_folder
from engine.models.builtin.tokenizer import load_tokenizer
from engine.training.language.builtin import build_parser, main
from engine.training.language.data import TRAINING_SEEDS, read_samples
from engine.training.language.operators import blanks_filled
from engine.training.language.pack import write_shard
from engine.training.language.prepare import OPERATOR_PRACTICE
from engine.training.language.sequences import Exercises


@pytest.fixture(scope="module")
def tickets():
    return [d for d in read_samples(TRAINING_SEEDS[:1], 60) if d.kind == "support ticket"]


def test_practice_sets_every_operator():
    assert set(OPERATOR_PRACTICE) == set(OPERATORS)


def test_a_fill_asks_for_the_whole_text(tickets):
    exercises = Exercises(tickets, random.Random(0), {"fill": 1})
    for ticket in tickets[:20]:
        made = exercises.make(ticket)
        template = made.prompt.split("<|text|>")[1].split("<|out|>")[0]
        assert blanks_filled(template, made.output.removesuffix(EOS))
        assert made.output.removesuffix(EOS).split() == ticket.text.split()


def test_loss_falls_on_the_output_alone(tickets, tmp_path):
    tokenizer = load_tokenizer(lm_folder())
    exercises = Exercises(tickets, random.Random(0), OPERATOR_PRACTICE)
    made = [exercises.make(ticket) for ticket in tickets]
    write_shard(tmp_path / "x.npz", "support ticket", made, tokenizer)
    with np.load(tmp_path / "x.npz") as shard:
        tokens, ends, starts = shard["tokens"], shard["ends"], shard["loss_from"]
    out = tokenizer.token_to_id("<|out|>")
    begins = [0, *ends[:-1]]
    assert all(tokens[b + s - 1] == out for b, s in zip(begins, starts, strict=True))
    drawn = Counter(s.prompt.split("<|op:")[1].split("|>")[0] for s in made)
    assert drawn["invent"] > drawn["cross"]


def test_practice_needs_a_first_stage(monkeypatch, tmp_path):
    monkeypatch.setattr("sys.argv", ["train_builtin", "practise", "--work", str(tmp_path)])
    with pytest.raises(UserError, match="--first"):
        main()
    assert build_parser().parse_args(["train", "--rate", "0.6"]).rate == 0.6
