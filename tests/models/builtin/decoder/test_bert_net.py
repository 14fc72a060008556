"""The network with an encoder's architecture: as transformers computes it, over a cache, in every way text is made."""

from __future__ import annotations

import pytest
import torch

from engine.errors import InternalError
from engine.models.builtin.decoder.attend import Place
from engine.models.builtin.decoder.beam import beam_search
from engine.models.builtin.decoder.bert_net import BertNet
from engine.models.builtin.decoder.causal_net import Cache
from engine.models.builtin.decoder.folders import load_folder, save_folder
from engine.models.builtin.decoder.generate import EOS, BatchDecoder
from engine.models.builtin.decoder.net import DecodeNet
from engine.models.builtin.decoder.prefix import BuiltinPrefix
from engine.models.builtin.language_model import BuiltinGenerator
from engine.models.contracts import Sampling
from engine.models.folder.logits import BuiltinLogits
from engine.models.tune.prefix_tuning import Pair
from tests.models.small_lm import small_bert_generator

CPU = torch.device("cpu")
DRAW = torch.Generator().manual_seed(5)
ROWS = [torch.randint(300, 7000, (length,), generator=DRAW).tolist() for length in (3, 40, 17, 40, 9)]


@pytest.fixture(scope="module")
def generator() -> BuiltinGenerator:
    return small_bert_generator()


@pytest.fixture(scope="module")
def net(generator: BuiltinGenerator) -> BertNet:
    assert isinstance(generator.net, BertNet)
    return generator.net


def greedy(net: BertNet, row: list[int], tokens: int) -> list[int]:
    """Return the likeliest tokens, one after another, without a cache."""
    made: list[int] = []
    with torch.inference_mode():
        while len(made) < tokens:
            made.append(int(net(torch.tensor([[*row, *made]]))[0, -1].argmax()))
    return made


def test_transformers_opens_the_folder_and_agrees(net, tmp_path):
    from transformers import AutoModelForCausalLM

    save_folder(net, tmp_path, torch.float32)
    theirs, report = AutoModelForCausalLM.from_pretrained(
        tmp_path, local_files_only=True, trust_remote_code=False, output_loading_info=True
    )
    assert not report["missing_keys"]
    assert type(theirs).__name__ == "BertGenerationDecoder"
    ids = torch.tensor([ROWS[1]])
    with torch.inference_mode():
        torch.testing.assert_close(theirs.eval()(ids).logits, net(ids), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("with_output", [True, False])
def test_a_folder_gives_back_the_network(net, tmp_path, with_output):
    save_folder(net, tmp_path, torch.float32, with_output=with_output)
    again = load_folder(tmp_path)
    assert again.config == net.config
    for name, value in net.state_dict().items():
        torch.testing.assert_close(again.state_dict()[name], value, rtol=0, atol=0)


def test_a_folder_without_a_weight_is_refused(net, tmp_path):
    from safetensors.torch import load_file, save_file

    save_folder(net, tmp_path, torch.float32, with_output=False)
    held = load_file(tmp_path / "model.safetensors")
    held.pop("transform.bias")
    save_file(held, tmp_path / "model.safetensors")
    with pytest.raises(InternalError, match=r"transform\.bias"):
        load_folder(tmp_path)


def test_tokens_one_by_one_over_a_cache_give_what_all_at_once_do(net):
    ids = torch.tensor([ROWS[1], ROWS[3]])
    cache = Cache(net.config, 2, 40, torch.float32, CPU)
    with torch.inference_mode():
        whole = net(ids)
        first = net.logits(net.hidden(ids[:, :30], cache=cache))
        torch.testing.assert_close(first, whole[:, :30], rtol=1e-4, atol=1e-4)
        for at in range(30, 40):
            places = torch.full((2, 1), at)
            mask = torch.ones(1, 1, 1, at + 1, dtype=torch.bool)
            one = net.logits(net.hidden(ids[:, at : at + 1], mask, places, cache))
            torch.testing.assert_close(one[:, 0], whole[:, at], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("compiled", [True, False])
def test_packed_tokens_give_what_each_sequence_alone_does(net, compiled):
    layout = DecodeNet(net, torch.float32, compiled)
    store = layout.slots(len(ROWS), 60)
    counts = [len(row) for row in ROWS]
    place = Place([i for i, n in enumerate(counts) for _ in range(n)], [at for n in counts for at in range(n)])
    packed = layout.logits(torch.tensor([t for row in ROWS for t in row]), place, store)
    with torch.inference_mode():
        alone = torch.cat([net(torch.tensor([row]))[0] for row in ROWS])
        torch.testing.assert_close(packed, alone, rtol=1e-4, atol=1e-4)
        after = layout.logits(torch.full((len(ROWS),), 777), Place(range(len(ROWS)), counts), store)
        behind = torch.stack([net(torch.tensor([[*row, 777]]))[0, -1] for row in ROWS])
    torch.testing.assert_close(after, behind, rtol=1e-4, atol=1e-4)


def test_batches_write_what_is_likeliest(net, generator):
    sampling = Sampling(max_new_tokens=8, min_new_tokens=8, temperature=0.0)
    run = BatchDecoder(DecodeNet(net, torch.float32), generator.tokenizer, sampling)
    made = run.run(ROWS, 3)
    for row, one in zip(ROWS, made, strict=True):
        expected = greedy(net, row, 8)
        if EOS not in expected:
            assert one.text == generator.tokenizer.decode(expected, skip_special_tokens=True)


def test_beams_begin_with_the_greedy_choice(net):
    (lists,) = beam_search(net, [ROWS[0]], 1, longest=6, shortest=6, banned=[EOS])
    assert lists[0] == greedy(net, ROWS[0], 6)


def test_private_predictions_logits_are_the_networks(net, generator):
    source = BuiltinLogits(generator)
    held = source.prefixes(ROWS, width=40, room=4, block=2)
    found = held.logits()
    with torch.inference_mode():
        expected = torch.stack([net(torch.tensor([row]))[0, -1] for row in ROWS]).numpy()
    assert found.shape == expected.shape
    assert abs(found - expected).max() < 1e-3


def test_a_prefix_that_is_the_networks_own_reading_changes_nothing(generator, net):
    prefix = BuiltinPrefix(generator)
    prefix.start(6, 0)
    ids = generator.tokenizer.encode("This is a document. It is", add_special_tokens=False).ids
    text = torch.tensor([[9, 80, 800, 7]])
    with torch.inference_mode():
        behind = prefix.logits(text, text >= 0, prefix=True)
        whole = net(torch.tensor([[1, *ids[:5], *text[0].tolist()]]))[:, -4:]
    torch.testing.assert_close(behind, whole, rtol=1e-4, atol=1e-4)
    assert prefix.writer().generate(["<|bos|>"], Sampling(max_new_tokens=5, min_new_tokens=5, seed=1))[0].tokens == 5
    assert prefix.rows([Pair("<|bos|>", "a b")], 6)[0].ids[-1] == EOS


def test_text_is_written_and_scored(generator):
    one, again = (generator.generate(["<|bos|>"] * 3, Sampling(max_new_tokens=12, seed=4)) for _ in range(2))
    assert [m.text for m in one] == [m.text for m in again]
    (scores,) = generator.score(["The clinic answered on the same day."])
    assert scores.max() < 0
