"""Batched generation: equal to one at a time and to transformers, shared beginnings, memory, blocked values."""

import random
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.corpus.samples import load_sample
from engine.errors import InternalError
from engine.models.builtin.decoder.attend import Attention, Place, Slots, kernel
from engine.models.builtin.decoder.folders import load_folder
from engine.models.builtin.decoder.generate import EOS, BatchDecoder, out_of_memory
from engine.models.builtin.decoder.llama_net import LlamaNet, NetConfig
from engine.models.builtin.decoder.net import DecodeNet, fast_type
from engine.models.builtin.language_model import BuiltinGenerator
from engine.models.builtin.shipped import lm_folder
from engine.models.builtin.tokenizer import load_tokenizer, token_bytes
from engine.models.cancel import Cancelled
from engine.models.constraints import Blocklist
from engine.models.contracts import Sampling
from tests.models.small_lm import opened_by_transformers

CPU = torch.device("cpu")
GREEDY = Sampling(max_new_tokens=30, temperature=0.0)


@pytest.fixture(scope="module")
def net():
    return load_folder(lm_folder())


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer(lm_folder())


@pytest.fixture(scope="module")
def letters(tokenizer):
    text = " ".join(load_sample("clinic_letters")["text"][:60])
    return tokenizer.encode(text, add_special_tokens=False).ids


@pytest.fixture(scope="module")
def rows(letters):
    """Return 24 prompts of 8 to 120 tokens."""
    rng = random.Random(3)
    return [letters[at : at + rng.randint(8, 120)] for at in (rng.randrange(len(letters) - 130) for _ in range(24))]


def decoder(net, tokenizer, sampling=GREEDY, dtype=torch.float32, **more):
    return BatchDecoder(DecodeNet(net, dtype), tokenizer, sampling, **more)


def gap(net, ids, a, b):
    """Return how far apart the network's logits of two next tokens are."""
    with torch.inference_mode():
        values = net(torch.tensor([ids]))[0, -1]
    return abs(float(values[a] - values[b]))


def assert_equal_but_for_ties(net, prompt, a, b):
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    if at == len(a) == len(b):
        return
    left, right = (made[at] if at < len(made) else EOS for made in (a, b))
    assert gap(net, prompt + a[:at], left, right) < 1e-3


def made_tokens(run, prompts, size):
    """Return the tokens made for each prompt."""
    kept = {}
    original = run._result

    def keep(row):
        kept[row.index] = row.tokens[row.prompt :]
        return original(row)

    run._result = keep
    run.run(prompts, size)
    return [kept[i] for i in range(len(prompts))]


def test_greedy_outputs_equal_one_at_a_time(net, tokenizer, rows):
    run = decoder(net, tokenizer)
    together = made_tokens(run, rows, 7)
    for prompt, made in zip(rows, together, strict=True):
        assert_equal_but_for_ties(net, prompt, made, made_tokens(decoder(net, tokenizer), [prompt], 1)[0])
    assert len({len(made) for made in together}) > 1, "some must end early, or no slot changes hands"


def test_greedy_outputs_equal_transformers(net, tokenizer, rows, tmp_path):
    model = opened_by_transformers(net, tmp_path)
    chosen = rows[:8]
    together = made_tokens(decoder(net, tokenizer), chosen, 5)
    for prompt, made in zip(chosen, together, strict=True):
        ids = torch.tensor([prompt])
        out = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            max_new_tokens=30,
            eos_token_id=EOS,
            pad_token_id=0,
        )
        other = out[0, len(prompt) :].tolist()
        other = other[: other.index(EOS)] if EOS in other else other
        assert_equal_but_for_ties(net, prompt, made, other)


def test_a_call_repeats_and_each_row_has_its_own_stream(net, tokenizer, rows):
    sampling = Sampling(max_new_tokens=25, temperature=1.0, seed=5)
    first = decoder(net, tokenizer, sampling).run(rows, 6)
    assert decoder(net, tokenizer, sampling).run(rows, 6) == first
    same = decoder(net, tokenizer, sampling).run([rows[0]] * 6, 6)
    assert len({made.text for made in same}) > 1


class Counting(DecodeNet):
    """Counts the tokens that go through."""

    seen = 0

    def _hidden(self, ids, place, store, newest=None):
        self.seen += len(ids)
        return super()._hidden(ids, place, store, newest)


def test_a_shared_beginning_is_computed_once(net, tokenizer, letters):
    prompts = [letters[:100] + letters[200 + 9 * i : 205 + 9 * i] for i in range(10)] + [letters[:100]] * 3
    counting = Counting(net, torch.float32)
    sampling = Sampling(max_new_tokens=4, min_new_tokens=4, temperature=0.0)
    shared = BatchDecoder(counting, tokenizer, sampling)
    texts = shared.run(prompts, 5)
    assert counting.seen < 100 + 10 * 5 + 3 + len(prompts) * 4 + 16
    assert texts == [decoder(net, tokenizer, sampling).run([prompt], 1)[0] for prompt in prompts]


def test_a_learned_beginning_stands_before_every_prompt(net, tokenizer, letters):
    first, rest = letters[:12], [letters[30:50], letters[60:64], letters[90:130]]
    layout = DecodeNet(net, torch.float32)
    store = layout.slots(1, 12)
    with torch.inference_mode():
        layout.fill(torch.tensor(first), Place([0] * 12, range(12)), store)
    learned = (store.keys[:, 0], store.values[:, 0])
    behind = decoder(net, tokenizer, learned=learned).run(rest, 2)
    assert behind == decoder(net, tokenizer).run([first + row for row in rest], 2)
    assert behind != decoder(net, tokenizer).run(rest, 2)


def test_memory_that_runs_out_halves_the_batch_and_the_texts_stay(net, tokenizer, rows):
    resource = pytest.importorskip("resource")
    if not Path("/proc/self/statm").exists():
        pytest.skip("this system does not tell the size of a process")
    sampling = Sampling(max_new_tokens=3, min_new_tokens=3, temperature=0.0)
    expected = decoder(net, tokenizer, sampling).run(rows, 3)
    prompts = rows + [row[:9] for row in rows for _ in range(9)]  # 240
    run = decoder(net, tokenizer, sampling)
    held = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (held + 150_000_000, hard))  # 240 sequences want some 400 MB
    try:
        made = run.run(prompts, 240)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert run.batch_size < 240
    assert made[: len(rows)] == expected


def test_memory_that_runs_out_midway_loses_no_token(net, tokenizer, rows):
    class Failing(DecodeNet):
        calls = 0

        def logits(self, *args):
            self.calls += 1
            if self.calls == 9:
                raise torch.OutOfMemoryError("no memory")
            return super().logits(*args)

    sampling = Sampling(max_new_tokens=20, min_new_tokens=20, temperature=1.0, seed=2)
    run = BatchDecoder(Failing(net, torch.float32), tokenizer, sampling)
    assert run.run(rows[:8], 8) == decoder(net, tokenizer, sampling).run(rows[:8], 8)
    assert run.batch_size == 4


def test_a_watched_call_ends_at_the_next_token(letters):
    generator = BuiltinGenerator(lm_folder())
    asked = []
    generator.watch(lambda: asked.append(1) or len(asked) > 3)
    with pytest.raises(Cancelled):
        generator.generate([generator.tokenizer.decode(letters[:30])], Sampling(max_new_tokens=40, min_new_tokens=40))
    assert len(asked) == 4


def test_other_errors_are_no_lack_of_memory(net, tokenizer, rows):
    class Broken(DecodeNet):
        def logits(self, *args):
            raise RuntimeError("shapes differ")

    with pytest.raises(RuntimeError, match="shapes differ"):
        BatchDecoder(Broken(net, torch.float32), tokenizer, GREEDY).run(rows[:2], 2)
    assert out_of_memory(MemoryError())


def test_compiled_attention_equals_torch():
    if kernel(64) is None:
        pytest.skip("numba cannot compile here")
    net = LlamaNet(NetConfig(hidden_size=256, heads=4))
    for dtype, tolerance in ((torch.float32, 1e-5), (torch.bfloat16, 0.02)):
        both = [Attention(net.config, net.cos, net.sin, compiled) for compiled in (True, False)]
        stores = [Slots(net.config, 4, 80, dtype, CPU) for _ in both]
        generator = torch.Generator().manual_seed(1)
        for slots, positions in (
            ([0] * 50 + [2] * 7, [*range(50), *range(7)]),
            ([0, 2], [50, 7]),
            ([2] * 3, [8, 9, 10]),
        ):
            qkv = torch.randn(len(slots), 768, generator=generator).to(dtype)
            one, other = (a(1, qkv, Place(slots, positions), s) for a, s in zip(both, stores, strict=True))
            assert one.dtype == dtype
            assert torch.allclose(one.float(), other.float(), atol=tolerance)


def test_without_a_compiler_the_texts_are_the_same(net, tokenizer, rows, monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert kernel.__wrapped__(64) is None
    sampling = Sampling(max_new_tokens=12, temperature=0.0)
    plain = BatchDecoder(DecodeNet(net, torch.float32, compiled=False), tokenizer, sampling)
    for prompt, made, other in zip(
        rows, made_tokens(plain, rows, 5), made_tokens(decoder(net, tokenizer, sampling), rows, 5), strict=True
    ):
        assert_equal_but_for_ties(net, prompt, made, other)


def test_narrow_logits_are_those_of_the_network(net, letters):
    narrow = DecodeNet(net, torch.bfloat16)
    ids = torch.tensor(letters[:300])
    with torch.inference_mode():
        exact = net(ids[None])[0].log_softmax(-1)
        close = narrow.logits(ids, Place([0] * 300, range(300)), narrow.slots(1, 300)).log_softmax(-1)
    divergence = (exact.exp() * (exact - close)).sum(-1)
    assert float(divergence.mean()) < 1e-3  # nats a token


def test_generation_follows_the_weights(letters):
    generator = BuiltinGenerator(lm_folder(), dtype=torch.float32)
    assert fast_type() in (torch.float32, torch.bfloat16)
    prompt = generator.tokenizer.decode(letters[:30])
    before = generator.generate([prompt], GREEDY)
    with torch.no_grad():
        generator.net.layers[0].mlp.down_proj.weight.mul_(3)
    assert generator.generate([prompt], GREEDY) != before


def test_wrapped_projections_are_refused(net):
    other = type(net)(net.config)
    other.layers[0].self_attn.q_proj = torch.nn.Sequential(other.layers[0].self_attn.q_proj)
    with pytest.raises(InternalError, match="merge adapters"):
        DecodeNet(other, torch.float32)


@pytest.fixture(scope="module")
def pieces(tokenizer):
    return token_bytes(tokenizer)


def test_pieces_are_what_the_tokenizer_decodes(tokenizer, pieces):
    for text in ("naïve café 日本語 👩‍⚕️ x\n\n y[PERSON] z 12.4", "É Ann\u0301 O'Neil"):
        assert b"".join(pieces[i] for i in tokenizer.encode(text, add_special_tokens=False).ids).decode() == text


def test_blocked_values_are_stepped_around_not_cut_off(net, tokenizer, pieces, rows):
    sampling = Sampling(max_new_tokens=40, min_new_tokens=40, temperature=0.8, seed=3)
    free = decoder(net, tokenizer, sampling).run(rows, 8)
    words = sorted({w for made in free for w in re.findall(r"\b[A-Za-z]{2,}\b", made.text)}, key=str.lower)[::2]
    assert len(words) > 40
    made = decoder(net, tokenizer, sampling, blocked=words, pieces=pieces).run(rows, 8)
    blocked = Blocklist(words)
    assert not any(blocked.contains(m.text) for m in made)
    assert np.mean([m.tokens == 40 for m in made]) > 0.9
    assert np.mean([len(m.text) for m in made]) > 0.6 * np.mean([len(m.text) for m in free])
