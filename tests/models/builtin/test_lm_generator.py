"""The built-in language model: cache, determinism, blocked words, scoring, and that transformers opens it."""

import numpy as np
import pytest
import torch

from engine.corpus.text.folding import folded as fold
from engine.errors import UserError
from engine.models.builtin.decoder.causal_net import Cache
from engine.models.builtin.decoder.draw import draw_tokens
from engine.models.builtin.language_model import BuiltinGenerator, load_builtin_generator
from engine.models.builtin.shipped import builtin_models, lm_folder
from engine.models.contracts import Constraints, Sampling
from engine.models.prompts.operators_builtin import BuiltinOperators

TEXTS = [
    "Patient had fever and a rash on the left arm two days after the vaccine.",
    "The order arrived late and the box was open.",
    "The tribunal heard the appeal.",
]


@pytest.fixture(scope="module")
def generator():
    return load_builtin_generator()


@pytest.fixture(scope="module")
def exact():
    """Return a generator that multiplies in float32, where outputs can be compared."""
    return BuiltinGenerator(lm_folder(), dtype=torch.float32)


@pytest.fixture(scope="module")
def prompts():
    operators = BuiltinOperators()
    return [operators.prompt("expand", text=text, domain="clinical", words=20) for text in TEXTS]


def greedy(tokens=24):
    return Sampling(max_new_tokens=tokens, temperature=0.0)


def test_cached_steps_equal_one_full_pass(generator):
    net = generator.net
    ids = torch.tensor([generator.tokenizer.encode(TEXTS[0], add_special_tokens=False).ids[:16]])
    with torch.inference_mode():
        whole = net(ids)[0]
        cache = Cache(net.config, 1, 16, torch.float32, torch.device("cpu"))
        parts = []
        for at, size in ((0, 5), (5, 1), (6, 1), (7, 9)):
            size = min(size, ids.shape[1] - at)
            positions = torch.arange(at, at + size)[None]
            mask = torch.ones(size, at + size, dtype=torch.bool).tril(at)[None, None]
            parts.append(net.logits(net.hidden(ids[:, at : at + size], mask, positions, cache))[0])
    assert torch.allclose(whole, torch.cat(parts), atol=1e-4)


def test_greedy_output_does_not_depend_on_the_batch(exact, prompts):
    together = exact.generate(prompts, greedy())
    alone = [exact.generate([prompt], greedy())[0] for prompt in prompts]
    reverse = exact.generate(prompts[::-1], greedy())[::-1]
    assert [g.text for g in together] == [g.text for g in alone] == [g.text for g in reverse]


def test_greedy_output_equals_a_loop_without_cache(exact, prompts):
    ids = exact.tokenizer.encode(prompts[0], add_special_tokens=False).ids
    made = []
    with torch.inference_mode():
        for _ in range(12):
            logits = exact.net(torch.tensor([ids + made]))[0, -1]
            logits[exact._banned] = -torch.inf
            token = int(logits.argmax())
            if token == 2:
                break
            made.append(token)
    text = exact.tokenizer.decode(made, skip_special_tokens=True)
    assert exact.generate(prompts[:1], greedy(12))[0].text == text


def test_same_seed_same_text_other_seed_other_text(generator, prompts):
    def draw(seed):
        return [g.text for g in generator.generate(prompts, Sampling(max_new_tokens=40, temperature=1.0, seed=seed))]

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)


def test_blocked_words_never_appear_in_any_variant(generator, prompts):
    sampling = Sampling(max_new_tokens=60, temperature=1.0, seed=4)
    free = " ".join(g.text for g in generator.generate(prompts * 4, sampling))
    words = sorted({w.strip(".,;:()").lower() for w in free.split() if w.strip(".,;:()").isalpha()})
    phrase = " ".join(TEXTS[0].split()[1:3])
    blocked = (*(w.upper() for w in words[:40]), phrase)
    made = generator.generate(prompts * 4, sampling, Constraints(blocked))
    produced = {fold(w.strip(".,;:()'\"")) for g in made for w in g.text.split()}
    assert words[:40], "the free run must produce words, or this test shows nothing"
    assert not produced & set(words[:40])
    assert all(phrase.lower() not in g.text.lower() for g in made)


def test_the_number_of_threads_is_the_callers_again(generator, prompts):
    before = torch.get_num_threads()
    generator.generate(prompts, greedy(4))
    assert torch.get_num_threads() == before


def test_lengths_and_finish(generator, prompts):
    sampling = Sampling(max_new_tokens=7, min_new_tokens=7, temperature=1.0, seed=1)
    made = generator.generate(prompts, sampling)
    assert [g.tokens for g in made] == [7, 7, 7]
    assert {g.finish for g in made} == {"length"}


def test_no_prompt_and_no_control_token_in_the_output(generator, prompts):
    for made in generator.generate(prompts, Sampling(max_new_tokens=60, temperature=1.2, seed=2)):
        assert "<|" not in made.text


def test_a_prompt_over_the_context_is_shortened(generator):
    operators = BuiltinOperators()
    long = operators.prompt("from_examples", examples=["one two three four " * 60] * 5, domain="generic")
    assert len(generator.tokenizer.encode(long, add_special_tokens=False).ids) > 512
    made = generator.generate([long], Sampling(max_new_tokens=20, min_new_tokens=5, seed=1))[0]
    assert 5 <= made.tokens <= 20


def test_scores_are_log_probabilities(generator):
    scores = generator.score([*TEXTS, "", "word " * 900])
    for text, values in zip(TEXTS, scores, strict=False):
        assert len(values) == len(generator.tokenizer.encode(text, add_special_tokens=False).ids) + 1
    assert all((values <= 0).all() for values in scores)
    assert len(scores[3]) == 1
    assert len(scores[4]) > 900
    one_by_one = [generator.score([text])[0] for text in TEXTS]
    for together, alone in zip(scores, one_by_one, strict=False):
        assert together == pytest.approx(alone, abs=1e-3)


def test_plausible_text_scores_above_shuffled_words(generator, test_data):
    import pyarrow.parquet as pq

    texts = pq.read_table(test_data / "lm" / "vaers_1990_1997.parquet", columns=["text"])["text"].to_pylist()[:60]
    rng = np.random.default_rng(0)
    shuffled = [" ".join(rng.permutation(text.split())) for text in texts]
    real, mixed = (np.concatenate(generator.score(group)).mean() for group in (texts, shuffled))
    assert real > mixed


def test_draws_follow_the_truncated_distribution():
    values = np.log(np.array([0.5, 0.3, 0.15, 0.05], dtype=np.float32))
    random = np.random.default_rng(0)
    sampling = Sampling(temperature=1.0, top_k=4, top_p=0.79)
    drawn = np.bincount(draw_tokens(np.tile(values, (4000, 1)), sampling, [random] * 4000), minlength=4) / 4000
    assert drawn == pytest.approx([0.625, 0.375, 0, 0], abs=0.03)
    assert draw_tokens(values[None], Sampling(temperature=0.0), [random]).tolist() == [0]
    most_likely = draw_tokens(np.tile(values, (20, 1)), Sampling(temperature=1.0, top_k=1), [random] * 20)
    assert set(most_likely.tolist()) == {0}


@pytest.mark.parametrize(
    "text", ["naïve café", "日本語のテキスト", "עברית", "👩‍⚕️ ok", "a\tb\n\nc", "İstanbul ﬁ", "\u200b"]
)
def test_tokenizer_round_trip(generator, text):
    ids = generator.tokenizer.encode(text, add_special_tokens=False).ids
    assert generator.tokenizer.decode(ids) == text


def test_transformers_opens_the_folder_and_agrees(generator):
    from transformers import AutoModelForCausalLM

    other = AutoModelForCausalLM.from_pretrained(lm_folder(), dtype=torch.float32, local_files_only=True).eval()
    ids = torch.tensor([generator.tokenizer.encode(TEXTS[0], add_special_tokens=False).ids])
    with torch.inference_mode():
        own, theirs = generator.net(ids).log_softmax(-1), other(ids).logits.log_softmax(-1)
    assert (own.argmax(-1) == theirs.argmax(-1)).float().mean() > 0.9
    assert float((own.exp() * (own - theirs)).sum(-1).mean()) < 1e-3  # nats a token: the file keeps 8 bits of a number


def test_missing_files_are_named(tmp_path):
    with pytest.raises(UserError, match=r"model\.safetensors"):
        load_builtin_generator(tmp_path)


def test_registry_lists_what_is_there():
    entries = {entry["id"]: entry for entry in builtin_models()}
    entry = entries["builtin"]
    assert 6_000_000 <= entry["parameters"] <= 18_000_000
    assert entry["bytes"] <= 45_000_000
    assert len(entry["sha256"]) == 64


def test_an_output_layer_that_follows_from_other_weights_is_no_parameter(tmp_path):
    from safetensors.torch import save_file

    from engine.models.builtin.shipped import _parameters

    made = {"transform.weight": torch.zeros(4, 4), "x": torch.zeros(7, 2), "lm_head.decoder.weight": torch.zeros(9, 4)}
    save_file(made, tmp_path / "a.safetensors")
    save_file({name: t for name, t in made.items() if name != "transform.weight"}, tmp_path / "b.safetensors")
    assert (_parameters(tmp_path / "a.safetensors"), _parameters(tmp_path / "b.safetensors")) == (30, 50)


def test_without_help_a_length_is_the_networks_alone(generator):
    alone = BuiltinGenerator(lm_folder(), steered=False)
    prompt = BuiltinOperators().prompt("invent", domain="clinical", kind="narrative", words=60)
    sampling = Sampling(max_new_tokens=160, temperature=0.7, top_p=0.9, seed=0)
    held, free = ([len(g.text.split()) for g in m.generate([prompt] * 24, sampling)] for m in (generator, alone))
    assert min(held) >= 51  # the bucket's least
    assert held != free


def test_generator_names_its_capabilities():
    assert BuiltinGenerator.capabilities <= {"instruct", "logits", "logprobs", "train", "block_tokens", "states"}


def test_children_are_as_long_as_asked_on_average(generator):
    from engine.corpus.samples import load_sample

    operators, texts = (
        BuiltinOperators(),
        [" ".join(t.split()[:22]) for t in load_sample("support_tickets")["text"][:24]],
    )
    for name in ("rephrase", "cross"):
        rows = [{"text": t, "texts": (t, texts[i - 1]), "words": 22, "domain": "reviews"} for i, t in enumerate(texts)]
        sampling = Sampling(max_new_tokens=80, temperature=1.0, repetition_penalty=1.1, seed=1)
        made = generator.generate([operators.prompt(name, **row) for row in rows], sampling)
        assert 0.93 < np.mean([len(one.text.split()) for one in made]) / 22 < 1.07, name


def test_values_that_the_prompt_presses_for_are_written_around_not_nearly_written(generator):
    from engine.models.constraints import Blocklist

    values = ("T09/2675", "55220/31", "Hasslund")
    shown = "Mrs Esther Hasslund of Hasslund Practice came under T09/2675 and 55220/31. Hasslund wrote on T09/2675. "
    asked = [f"{shown * 4}Then Hasslund said of {x} that Esther" for x in values[:2]] * 8
    sampling = Sampling(max_new_tokens=50, min_new_tokens=40, temperature=0.7, top_p=0.9, seed=3)
    blocked = Blocklist(values)
    free = generator.generate(asked, sampling)
    assert sum(blocked.contains(m.text) for m in free) >= 5, "the free run must write them, or this test shows nothing"
    made = generator.generate(asked, sampling, Constraints(values))
    assert not any(blocked.contains(m.text) for m in made)
    assert sum(m.tokens >= 40 for m in made) >= 14  # the model goes on with other words
