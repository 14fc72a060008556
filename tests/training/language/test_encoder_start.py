"""The net that starts from the sentence encoder: it looks back only, starts warm, and goes on where it stopped."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from engine.models.builtin.decoder.bert_net import BertConfig, BertNet
from engine.models.builtin.decoder.folders import load_folder
from engine.models.builtin.minilm import base_folder
from engine.models.builtin.shipped import lm_folder
from engine.models.builtin.tokenizer import load_tokenizer, token_bytes
from engine.training.language.document_attention import document_attention, document_spans, packed_hidden, within
from engine.training.language.encoder_start import from_encoder
from engine.training.language.loop import Trainer, TrainSettings
from engine.training.language.pack import write_shard
from engine.training.language.sequences import Sequence_
from engine.training.language.vocabulary import start_embeddings

SMALL = BertConfig(vocab_size=8000, hidden_size=24, layers=2, heads=2, intermediate_size=48, context=128)


@pytest.fixture(scope="module")
def start() -> BertNet:
    folder = base_folder()
    old = load_file(folder / "model.safetensors")["embeddings.word_embeddings.weight"].float()
    tokenizer = load_tokenizer(lm_folder())
    first = start_embeddings(tokenizer, folder / "vocab.txt", old)
    return from_encoder(BertConfig(vocab_size=tokenizer.get_vocab_size()), folder, first).eval()


def test_what_comes_later_changes_nothing_before_it(start):
    ids = torch.randint(300, 7000, (2, 40), generator=torch.Generator().manual_seed(1))
    other = ids.clone()
    other[:, 25:] = 299
    with torch.no_grad():
        a, b = start(ids), start(other)
    torch.testing.assert_close(a[:, :25], b[:, :25])
    assert not torch.allclose(a[:, 25:], b[:, 25:])


def test_documents_of_a_row_do_not_see_each_other(start):
    ids = torch.randint(300, 7000, (1, 30), generator=torch.Generator().manual_seed(2))
    documents = torch.tensor([[0] * 12 + [1] * 18])
    mask = ((documents[:, :, None] == documents[:, None, :]) & torch.ones(30, 30, dtype=torch.bool).tril())[:, None]
    other = ids.clone()
    other[:, :12] = 299
    with torch.no_grad():
        torch.testing.assert_close(start.hidden(ids, mask)[:, 12:], start.hidden(other, mask)[:, 12:])


def test_words_start_near_the_encoders_own(start):
    tokenizer = load_tokenizer(lm_folder())
    by_text = {raw.decode("utf-8", "ignore"): i for i, raw in enumerate(token_bytes(tokenizer))}
    table = torch.nn.functional.normalize(start.embed_tokens.weight.detach(), dim=1)
    lines = (base_folder() / "vocab.txt").read_text("utf-8").split("\n")
    encoder = load_file(base_folder() / "model.safetensors")["embeddings.word_embeddings.weight"].float()
    encoder = torch.nn.functional.normalize(encoder, dim=1)
    for word in ("fever", "court", "pain"):
        own = table[by_text[f" {word}"]]
        assert int((encoder @ own).argmax()) == lines.index(word), word


@pytest.fixture(scope="module")
def shipped():
    return load_folder(lm_folder())


@pytest.mark.parametrize("which", ["start", "shipped"])
def test_packed_rows_are_read_as_each_document_alone(which, request):
    net = request.getfixturevalue(which)
    documents = np.array([[0] * 7 + [1] * 21 + [-1] * 2, [0] * 30])
    spans = document_spans(documents)
    assert spans == [(0, 0, 7), (0, 7, 28), (1, 0, 30)]
    positions = torch.from_numpy(within(documents, spans))
    assert positions[0].tolist() == [*range(7), *range(21), 0, 0]
    ids = torch.randint(300, 7000, (2, 30), generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        packed = packed_hidden(net, ids, positions, spans)
        for row, a, b in spans:
            torch.testing.assert_close(packed[row, a:b], net.hidden(ids[row : row + 1, a:b])[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("dtype", "near"), [(torch.float64, 1e-9), (torch.bfloat16, 0.05)])
def test_attention_of_documents_has_the_librarys_gradient(dtype, near):
    documents = np.array([[0] * 5 + [1] * 9 + [-1] * 2, [0] * 16])
    draw = torch.Generator().manual_seed(4)
    qkv = torch.randn(2, 16, 3 * 4 * 8, dtype=dtype, generator=draw).requires_grad_()
    slope = torch.randn(2, 16, 32, dtype=dtype, generator=draw)
    out = document_attention(qkv, 4, document_spans(documents))
    out.backward(slope)
    own, qkv.grad = qkv.grad, None
    same = torch.from_numpy(documents)
    mask = (same[:, :, None] == same[:, None, :]).tril()[:, None]
    q, k, v = qkv.double().view(2, 16, 3, 4, 8).permute(2, 0, 3, 1, 4)
    theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2)
    theirs = theirs.reshape(2, 16, 32) * (same >= 0)[..., None]
    theirs.backward(slope.double())
    torch.testing.assert_close(out.double(), theirs, rtol=near, atol=near)
    torch.testing.assert_close(own.double(), qkv.grad.double(), rtol=near, atol=near)


def test_learns_and_goes_on_from_its_checkpoint(tmp_path):
    tokenizer = load_tokenizer(lm_folder())
    (tmp_path / "shards").mkdir()
    (tmp_path / "tokenizer.json").write_bytes((lm_folder() / "tokenizer.json").read_bytes())
    made = [Sequence_("<|bos|>", f"the patient had fever for {n} days<|eos|>") for n in range(400)]
    write_shard(tmp_path / "shards" / "a.npz", "narrative", made, tokenizer, 64)

    def trainer(tokens: int) -> Trainer:
        settings = TrainSettings(tokens=tokens, minutes=5, batch_tokens=1024, micro_tokens=1024, threads=1, seed=3)
        return Trainer(tmp_path, tmp_path / "model", lambda: BertNet(SMALL), settings, {"narrative": 1.0})

    first = trainer(12_000)
    before = [p.detach().clone() for p in first.net.parameters()]
    first.run()
    assert first.tokens >= 12_000
    again = trainer(24_000)
    assert (again.step, again.tokens) == (first.step, first.tokens)
    for a, b in zip(again.net.parameters(), first.net.parameters(), strict=True):
        torch.testing.assert_close(a, b)
    again.run()
    saved = load_folder(tmp_path / "model")
    ids = torch.tensor([tokenizer.encode("<|bos|>the patient had fever for 3 days<|eos|>").ids])
    fresh = BertNet(SMALL)
    for p, q in zip(fresh.parameters(), before, strict=True):
        p.data.copy_(q)

    def loss(net: BertNet) -> float:
        with torch.no_grad():
            return float(torch.nn.functional.cross_entropy(net(ids[:, :-1])[0], ids[0, 1:]))

    assert loss(saved) < 0.8 * loss(fresh)
    assert np.isfinite(loss(saved))
