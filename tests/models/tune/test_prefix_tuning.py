"""Prefix tuning: the signs of the objective, a frozen model, resuming, and writing behind a prefix."""

from __future__ import annotations

import json

import pytest
import torch

from engine.errors import UserError
from engine.models.builtin.decoder.generate import BOS, EOS
from engine.models.builtin.decoder.prefix import BuiltinPrefix, PrefixGenerator
from engine.models.builtin.language_model import load_builtin_generator
from engine.models.contracts import Constraints, Sampling
from engine.models.tune.prefix_nets import FolderPrefix
from engine.models.tune.prefix_tuning import (
    Objective,
    Pair,
    PrefixLearner,
    PrefixSettings,
    collate,
    losses,
    private_tokens,
)

PAIRS = [
    Pair(
        f"<|bos|><|op:from_control_code|><|code|>PERSON: {name}<|out|>",
        f"{name} came to the clinic.",
        ((0, len(name)),),
    )
    for name in ("Anna Lee", "Tom Stone", "Ida Berg", "Olaf Hill", "Una Marsh")
]


@pytest.fixture(scope="module")
def generator():
    return load_builtin_generator()


def gradients(objective, ahead):
    """Return d loss / d log-probability of the right token, private and plain, where log P - log Pbase is `ahead`."""
    base = torch.zeros(1, 2, 5)
    logits = torch.zeros(1, 2, 5)
    logits[0, :, 3] = ahead
    logits.requires_grad_()
    targets = torch.tensor([[3, 3]])
    private = torch.tensor([[True, False]])
    losses(logits, base, targets, private, objective).total.backward()
    return logits.grad[0, 0, 3].item(), logits.grad[0, 1, 3].item()


@pytest.mark.parametrize("ahead", [-2.0, 0.0, 2.0])
def test_suppress_lowers_private_tokens_and_the_paper_raises_them(ahead):
    only = {"lm": 0.0, "kl": 0.0}
    hidden, plain = gradients(Objective(True, "suppress", **only), ahead)
    assert hidden > 0  # descent lowers the private token's logit
    assert plain == 0
    hidden, plain = gradients(Objective(True, "paper", **only), ahead)
    assert hidden < 0  # equation 3 as printed raises it
    assert plain == 0


def test_contrast_is_the_equation():
    logits, base = torch.randn(2, 3, 7), torch.randn(2, 3, 7)
    targets = torch.tensor([[1, 2, -100], [4, 5, 6]])
    private = torch.tensor([[True, False, True], [False, True, False]])
    p, q = logits.softmax(-1), base.softmax(-1)
    for contrastive in ("suppress", "paper"):
        expected = 0.0
        for i, t in ((0, 0), (1, 1)):  # private and not padding
            mine, theirs = p[i, t, targets[i, t]], q[i, t, targets[i, t]]
            top = theirs if contrastive == "suppress" else mine
            expected -= torch.log(top / (mine + theirs)).item()
        found = losses(logits, base, targets, private, Objective(True, contrastive)).contrast
        assert found.item() == pytest.approx(expected / 5, rel=1e-5)


def test_language_modelling_counts_private_tokens_only_in_the_papers_form():
    logits, base = torch.randn(1, 4, 6), torch.randn(1, 4, 6)
    targets, private = torch.tensor([[1, 2, 3, -100]]), torch.tensor([[False, True, False, False]])
    nll = -logits.log_softmax(-1)[0, range(3), targets[0, :3]]
    parts = {c: losses(logits, base, targets, private, Objective(True, c)).lm.item() for c in ("suppress", "paper")}
    assert parts["paper"] == pytest.approx(nll.sum().item() / 3, rel=1e-5)
    assert parts["suppress"] == pytest.approx((nll[0] + nll[2]).item() / 3, rel=1e-5)
    assert losses(logits, None, targets, private, Objective()).total.item() == pytest.approx(parts["paper"])


def test_kl_runs_from_base_to_tuned_and_only_over_plain_tokens():
    base, logits = torch.randn(1, 3, 6), torch.randn(1, 3, 6)
    targets, private = torch.tensor([[1, 2, 3]]), torch.tensor([[False, True, False]])
    q, p = base.log_softmax(-1), logits.log_softmax(-1)
    kl = (q.exp() * (q - p)).sum(-1)[0]
    objective = Objective(True, lm=0.0, contrast=0.0)
    assert losses(logits, base, targets, private, objective).total.item() == pytest.approx((kl[0] + kl[2]).item() / 3)
    elsewhere = logits.clone()
    elsewhere[0, 1] += torch.randn(6)  # a private token's distribution does not count
    same = losses(elsewhere, base, targets, private, objective).total.item()
    assert same == pytest.approx((kl[0] + kl[2]).item() / 3)
    everything = torch.ones(1, 3, dtype=torch.bool)
    assert losses(logits, base, targets, everything, objective).total.item() == 0


def test_private_tokens_are_those_that_touch_a_private_range(generator):
    assert private_tokens([(0, 2), (2, 4), (4, 6)], ((3, 4), (6, 9))) == [False, True, False]
    (row,) = BuiltinPrefix(generator).rows([Pair("<|bos|><|out|>", "We met Anna Lee there.", ((7, 15),))], 4)
    encoded = generator.tokenizer.decode([i for i, hidden in zip(row.ids, row.private, strict=True) if hidden])
    assert encoded.strip() == "Anna Lee"
    assert row.ids[0] == BOS
    assert row.ids[-1] == EOS


def test_a_shut_out_prefix_changes_nothing_and_an_untrained_one_equals_its_public_sentence(generator):
    base = BuiltinPrefix(generator)
    base.start(6, 0)
    ids = torch.tensor([[BOS, 40, 900, 77]])
    plain = base.logits(ids, ids >= 0, prefix=False)
    text = generator.tokenizer.encode("This is a document. It is written", add_special_tokens=False).ids
    longer = base.module(torch.tensor([[BOS, *text[:5], *ids[0].tolist()]]))[:, 6:]
    assert torch.allclose(base.logits(ids, ids >= 0, prefix=True), longer, atol=1e-4)
    assert not torch.allclose(plain, longer, atol=0.1)


@pytest.mark.parametrize("objective", [Objective(), Objective(True), Objective(True, "paper")])
def test_training_moves_the_prefix_and_nothing_else(generator, objective):
    before = {n: p.detach().clone() for n, p in generator.net.named_parameters()}
    base = BuiltinPrefix(generator)
    own = {n: p.detach().clone() for n, p in base.module.named_parameters()}
    learner = PrefixLearner(base, PAIRS, PrefixSettings(4, epochs=2, rate=0.02, objective=objective))
    fit, start = learner.fit(), base.keys.detach().clone()
    fit.advance(fit.total)
    learner.check()
    assert fit.step == fit.total == 4
    assert not torch.equal(base.keys, start)
    assert all(torch.equal(p, own[n]) for n, p in base.module.named_parameters())
    assert all(torch.equal(p, before[n]) and p.requires_grad for n, p in generator.net.named_parameters())


def private_nll(base, pairs):
    """Return the mean negative log-likelihood of private tokens behind the prefix."""
    ids, targets, private = collate(base.rows(pairs, base.keys.shape[2]), base.device)
    with torch.no_grad():
        logits = base.logits(ids.clamp(min=0), ids != -100, prefix=True)
    nll = -logits.log_softmax(-1).gather(2, targets.clamp(min=0)[..., None])[..., 0]
    return nll[private & (targets != -100)].mean().item()


def test_trained_values_are_less_likely_with_suppress_and_more_likely_with_the_paper(generator):
    found = {}
    for contrastive in ("suppress", "paper"):
        base = BuiltinPrefix(generator)
        settings = PrefixSettings(8, epochs=6, rate=0.03, objective=Objective(True, contrastive, kl=0.1))
        trainer = PrefixLearner(base, PAIRS, settings).fit()
        at_start = private_nll(base, PAIRS)
        trainer.advance(trainer.total)
        found[contrastive] = private_nll(base, PAIRS) - at_start
    assert found["suppress"] > 0.2
    assert found["paper"] < -0.2


def test_training_goes_on_from_what_was_kept(generator, tmp_path):
    settings = PrefixSettings(4, epochs=3, rate=0.02, objective=Objective(True))

    def run(folder, stops):
        for stop in stops:
            base = BuiltinPrefix(generator)
            trainer = PrefixLearner(base, PAIRS, settings).fit(folder)
            trainer.advance(stop)
        return base, trainer

    whole, one = run(None, [6])
    parts, two = run(tmp_path, [1, 4, 6])
    assert torch.allclose(whole.keys, parts.keys, atol=1e-6)
    assert [x["total"] for x in one.losses] == pytest.approx([x["total"] for x in two.losses], abs=1e-4)
    assert len(two.losses) == 6
    assert [p.name for p in tmp_path.iterdir()] == ["prefix.safetensors"]
    other = PrefixLearner(BuiltinPrefix(generator), PAIRS[:3], settings).fit(tmp_path)
    assert other.step == 0  # a prefix of other pairs is not taken up


def test_writing_behind_a_prefix_is_what_the_network_says(generator):
    base = BuiltinPrefix(generator)
    trainer = PrefixLearner(base, PAIRS, PrefixSettings(6, epochs=2, rate=0.05)).fit()
    trainer.advance(trainer.total)
    prompts = [PAIRS[0].prompt, PAIRS[1].prompt[:60] + " Jones the younger<|out|>", "<|bos|>"]
    writer = base.writer()
    greedy = Sampling(max_new_tokens=12, temperature=0.0)
    exact = PrefixGenerator(base, dtype=torch.float32)
    for prompt, made in zip(prompts, exact.generate(prompts, greedy), strict=True):
        ids = generator.tokenizer.encode(prompt, add_special_tokens=False).ids
        new = []
        while len(new) < 12:
            row = torch.tensor([[*ids, *new]])
            with torch.no_grad():
                values = base.logits(row, row >= 0, prefix=True)[0, -1]
            values[writer._banned] = -torch.inf
            token = int(values.argmax())
            if token == EOS:
                break
            new.append(token)
        assert made.text == generator.tokenizer.decode(new)
    drawn = Sampling(max_new_tokens=20, seed=4, min_new_tokens=10)
    assert writer.generate(prompts, drawn) == writer.generate(prompts, drawn)
    assert all(g.tokens >= 10 for g in writer.generate(prompts, drawn))
    assert writer.generate(prompts, drawn) != generator.generate(prompts, drawn)
    blocked = writer.generate([PAIRS[0].prompt] * 4, drawn, Constraints(("anna", "lee")))
    assert not any("anna" in g.text.lower().split() for g in blocked)


def test_nothing_to_learn_is_said(generator):
    with pytest.raises(UserError, match="not empty"):
        PrefixLearner(BuiltinPrefix(generator), [], PrefixSettings())


def tiny_folder(path):
    """Write a tiny causal model of transformers and return its folder."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["<s>", "</s>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        [p.text for p in PAIRS], trainers.BpeTrainer(vocab_size=300, special_tokens=special, initial_alphabet=alphabet)
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")
    fast.save_pretrained(path)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(fast), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=128, bos_token_id=0, eos_token_id=1,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_folder(tmp_path_factory.mktemp("tiny"))


def test_a_transformers_model_is_tuned_through_peft(folder, tmp_path):
    pairs = [Pair(p.prompt[-20:], p.text, p.private) for p in PAIRS]
    settings = PrefixSettings(4, epochs=12, rate=0.05, objective=Objective(True, lm=1.0, kl=0.0))
    base = FolderPrefix(folder)
    learner = PrefixLearner(base, pairs, settings)
    trainer = learner.fit(tmp_path)

    def lm():
        ids, targets, private = collate(learner.rows, base.device)
        with torch.no_grad():
            logits = base.logits(ids.clamp(min=0), ids != -100, prefix=True)
        return losses(logits, logits, targets, private, settings.objective).lm.item()

    before = lm()
    trainer.advance(trainer.total)
    learner.check()
    assert all("base_model" not in n or "prompt_encoder" in n for n, _ in learner.named)
    assert lm() < before - 0.02
    out = base.writer().generate([pairs[0].prompt] * 2, Sampling(max_new_tokens=8, seed=3))
    assert out == base.writer().generate([pairs[0].prompt] * 2, Sampling(max_new_tokens=8, seed=3))
    assert all(g.tokens <= 8 for g in out)
    again = PrefixLearner(FolderPrefix(folder), pairs, settings).fit(tmp_path)
    assert again.step == trainer.total
    json.dumps(again.losses)
