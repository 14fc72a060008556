"""Speed of language model training: documents attended alone against the library's attention over masked rows.

`python tests/benchmarks/training_attention.py` takes a few steps of the same packed rows with both, in one process, and
prints one JSON line: tokens a second of processor time of each, their ratio, how far the losses are apart, and which
share of the machine's own bfloat16 products (one large product, timed beside) each reaches. The network is the shipped
sizes' with random weights; rows are packed from made-up clinic letters, a quarter of whose tokens is a prompt.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.corpus.samples import load_sample  # noqa: E402
from engine.models.builtin.decoder.bert_net import BertConfig, BertNet  # noqa: E402
from engine.models.builtin.shipped import lm_folder  # noqa: E402
from engine.models.builtin.tokenizer import load_tokenizer  # noqa: E402
from engine.training.language import loop  # noqa: E402
from engine.training.language.pack import Batch, Packer, ShardReader, write_shard  # noqa: E402
from engine.training.language.sequences import Sequence_  # noqa: E402

ROW_TOKENS = 8192
LEAST_RATIO = 1.15


def batches(count: int) -> list[Batch]:
    """Return packed rows of made-up letters."""
    tokenizer = load_tokenizer(lm_folder())
    made = []
    for text in load_sample("clinic_letters")["text"]:
        words = str(text).split()
        cut = len(words) // 4
        made.append(Sequence_("<|bos|>" + " ".join(words[:cut]), " ".join(words[cut:]) + "<|eos|>"))
    with tempfile.TemporaryDirectory() as folder:
        write_shard(Path(folder) / "a.npz", "narrative", made, tokenizer)
        reader = ShardReader(Path(folder), {"narrative": 1.0}, 0)
        return list(itertools.islice(Packer(reader, ROW_TOKENS, 0).batches(), count))


def steps(net: BertNet, rows: list[Batch], device: str) -> tuple[float, float]:
    """Return tokens a second of processor time of forward and backward passes, and the mean loss in nats."""
    begun, total, predicted = time.process_time(), 0.0, 0
    for batch in rows:
        loss, count = loop.batch_loss(net, batch, device)
        (loss / max(count, 1)).backward()
        net.zero_grad(set_to_none=True)
        total, predicted = total + float(loss.detach()), predicted + count
    return sum(b.ids.size for b in rows) / (time.process_time() - begun), total / predicted


def product_rate() -> float:
    """Return products and sums a second of one large bfloat16 matrix product."""
    a, b = (torch.randn(2048, 2048, dtype=torch.bfloat16) for _ in range(2))
    run: Callable[[], torch.Tensor] = lambda: a @ b  # noqa: E731
    run()
    begun, count = time.process_time(), 20
    for _ in range(count):
        run()
    return 2 * 2048**3 * count / (time.process_time() - begun)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=6)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    net = BertNet(BertConfig(vocab_size=8000))
    weights = sum(p.numel() for p in net.parameters()) - net.embed_positions.weight.numel()
    rows = batches(options.batches)
    steps(net, rows[:1], "cpu")
    peak = product_rate()
    documents, loss = steps(net, rows, "cpu")
    spans, loop.packed_hidden = loop.packed_hidden, _masked(rows)
    try:
        masked, same = steps(net, rows, "cpu")
    finally:
        loop.packed_hidden = spans
    print(json.dumps({
        "documents_tokens_per_second": round(documents), "masked_tokens_per_second": round(masked),
        "times_faster": round(documents / masked, 2), "loss": round(loss, 4), "loss_masked": round(same, 4),
        "share_of_peak": round(6 * weights * documents / peak, 3),
        "share_of_peak_masked": round(6 * weights * masked / peak, 3),
    }))  # fmt: skip
    assert abs(loss - same) < 0.01
    assert documents / masked >= LEAST_RATIO


def _masked(rows: list[Batch]) -> Callable[..., torch.Tensor]:
    """Return what reads rows under a mask, in the order of the batches."""
    waiting = iter(rows)

    def hidden(net: BertNet, ids: torch.Tensor, positions: torch.Tensor, spans: object) -> torch.Tensor:
        del spans
        return net.hidden(ids, loop.document_mask(next(waiting).documents, "cpu"), positions)

    return hidden


if __name__ == "__main__":
    main()
