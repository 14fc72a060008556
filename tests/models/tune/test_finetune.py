"""Fine-tuning: it learns the texts it was shown, repeats exactly, and goes on after a stop."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.errors import UserError
from engine.models.tune.finetune import Cancelled, FinetuneSettings, finetune
from engine.models.tune.finetune_nets import BuiltinNet, FolderNet

TEXTS = [f"The {a} {n} crossed the {p} before noon." for a in ("grey", "old") for n in ("fox", "ship") for p in "abc"]
OTHERS = ["Please send the invoice again, the total is wrong.", "Patient was seen in the clinic with a fever."]
QUICK = FinetuneSettings(epochs=2, batch_size=6, tokens=40, seed=4)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def generator():
    from engine.models.builtin.language_model import load_builtin_generator

    return load_builtin_generator()


@pytest.fixture(scope="module")
def tuned(generator):
    return finetune(BuiltinNet(generator), TEXTS, QUICK)


def test_seen_texts_become_likelier(generator, tuned):
    before = np.mean([-row.mean() for row in generator.score(TEXTS)])
    assert tuned.nll(TEXTS).mean() < before - 0.5
    assert tuned.nll(TEXTS).mean() < tuned.nll(OTHERS).mean()
    assert tuned.losses[1] < tuned.losses[0]


def test_untuned_scores_equal_the_generators(generator):
    settings = FinetuneSettings(epochs=1, rate=0.0, weight_decay=0.0, tokens=40)
    same = finetune(BuiltinNet(generator), TEXTS[:2], settings).score(OTHERS)
    for mine, theirs in zip(same, generator.score(OTHERS), strict=True):
        assert mine == pytest.approx(theirs, abs=1e-4)


def test_the_generator_itself_stays_as_it_was(generator, tuned):
    from engine.models.builtin.decoder.folders import load_folder
    from engine.models.builtin.shipped import lm_folder

    fresh = load_folder(lm_folder())
    assert all(torch.equal(a, b.cpu()) for a, b in zip(fresh.parameters(), generator.net.parameters()))


def test_same_seed_same_scores_whatever_the_batch(generator, tuned):
    again = finetune(BuiltinNet(generator), TEXTS, QUICK)
    assert np.array_equal(again.nll(OTHERS), tuned.nll(OTHERS))
    one_by_one = [float(-tuned.score([text])[0].mean()) for text in TEXTS[:3]]
    assert tuned.nll(TEXTS)[:3] == pytest.approx(one_by_one, abs=1e-3)


def test_embeddings_are_unit_rows(tuned):
    vectors = tuned.embed([*TEXTS[:3], OTHERS[0]])
    assert vectors.shape[0] == 4
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(4), abs=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[3]


@pytest.mark.parametrize("stop", [1, 3])
def test_cancel_stops_before_the_next_batch_and_the_rest_gives_the_same(generator, tuned, tmp_path, stop):
    asked = []
    with pytest.raises(Cancelled):
        finetune(BuiltinNet(generator), TEXTS, QUICK, tmp_path, lambda: asked.append(1) or len(asked) > stop)
    assert len(asked) == stop + 1
    assert (tmp_path / "epoch.safetensors").exists() == (stop >= 2)  # two batches an epoch
    steps = []
    resumed = finetune(BuiltinNet(generator), TEXTS, QUICK, tmp_path, on_batch=lambda d, t: steps.append((d, t)))
    assert steps[0] == ((1, 4) if stop == 1 else (3, 4))
    assert np.array_equal(resumed.nll(OTHERS), tuned.nll(OTHERS))
    assert resumed.losses == tuned.losses


def test_an_epoch_of_other_texts_is_not_taken_up(generator, tmp_path):
    quick = FinetuneSettings(epochs=1, batch_size=6, tokens=40)
    finetune(BuiltinNet(generator), TEXTS[:3], quick, tmp_path)
    steps = []
    finetune(BuiltinNet(generator), TEXTS[3:6], quick, tmp_path, on_batch=lambda d, t: steps.append(d))
    assert steps == [1]


def test_nothing_to_train_on_is_refused(generator):
    with pytest.raises(UserError, match="at least one text that is not empty"):
        finetune(BuiltinNet(generator), ["", ""], QUICK)


def test_control_tokens_in_a_text_are_plain_text(generator):
    ids = BuiltinNet(generator).encode(["before <|out|> after"])[0]
    assert min(ids) > 2
    assert generator.tokenizer.token_to_id("<|out|>") not in ids


def test_a_transformers_folder_is_tuned_too(tmp_path):
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    words = sorted({w for text in TEXTS for w in text.rstrip(".").split()})
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(["<eos>", "<unk>", ".", *words])}, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>", unk_token="<unk>").save_pretrained(tmp_path)
    GPT2LMHeadModel(
        GPT2Config(vocab_size=len(words) + 3, n_positions=32, n_embd=16, n_layer=1, n_head=2)
    ).save_pretrained(tmp_path)
    settings = FinetuneSettings(epochs=3, rate=1e-2, batch_size=4, tokens=20)
    first, second = (finetune(FolderNet(tmp_path), TEXTS, settings) for _ in range(2))
    assert first.losses[-1] < first.losses[0] - 0.3
    assert np.array_equal(first.nll(TEXTS), second.nll(TEXTS))  # dropout is seeded
    with pytest.raises(UserError, match="no such folder"):
        FolderNet(tmp_path / "nothing")
