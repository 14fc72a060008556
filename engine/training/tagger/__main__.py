"""Train the built-in tagger: `python -m engine.training.tagger --data FOLDER --out FOLDER [--without-tab]`.

Marginal likelihood over the tags a partly annotated source allows; AdamW, layer-wise learning-rate
decay, linear warm-up and decay, bf16 autocast. Word and position embeddings stay frozen.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from engine.models.builtin import minilm
from engine.models.builtin.embedder import bf16_pays
from engine.models.builtin.tagger.tagger import (
    FROZEN,
    SHAPES,
    TAGS,
    TYPES,
    TaggerNet,
    collate,
    load_tokenizer,
    load_weights,
)
from engine.training.tagger import data as tagger_data
from engine.training.tagger.data import Document, Window
from engine.training.tagger.made import made_documents

LOG = logging.getLogger("train_tagger")
LAYERS = 6
MASK = 103
WORD_DROPOUT = 0.04


def documents(args: argparse.Namespace, tab_ids: frozenset[str] | None, rng: random.Random) -> list[Document]:
    """Return one epoch's documents; `tab_ids` None leaves the benchmark out, its sentences included.

    The benchmark's documents come `--tab-repeats` times, the first time as they are.
    """
    others = tagger_data.read_sentences(args.data / "ner_permissive.jsonl.gz", rng=rng)
    others += tagger_data.read_presidio(args.data / "presidio_synth_v2.json.gz")
    others += made_documents(args.made, rng)
    if args.plain:
        others += tagger_data.read_plain(args.data / "lm" / "vaers_1990_1997.parquet", args.plain, rng)
    if args.others < 1:
        others = rng.sample(others, round(len(others) * args.others))
    out = [tagger_data.noisy(d, rng) for d in others]
    if tab_ids is not None:
        tab = [d for i, d in tagger_data.read_tab(args.data / "tab_train_92.jsonl.gz") if i in tab_ids]
        out += tab + [tagger_data.noisy(d, rng) for d in tab for _ in range(args.tab_repeats - 1)]
    return out


def groups(net: TaggerNet, rate: float, decay: float) -> list[dict[str, object]]:
    """Return parameter groups: the head at three times `rate`, layer i of 6 at rate * decay^(5 - i)."""
    out: dict[float, list[torch.nn.Parameter]] = {}
    for name, parameter in net.named_parameters():
        if not parameter.requires_grad:
            continue
        if name.startswith("head"):
            step = rate * 3
        elif ".layer." in name:
            step = rate * decay ** (LAYERS - 1 - int(name.split(".layer.")[1].split(".")[0]))
        else:
            step = rate * decay**LAYERS
        out.setdefault(step, []).append(parameter)
    return [{"params": p, "lr": r, "weight_decay": 0.01} for r, p in out.items()]


def freeze_below(net: TaggerNet, layers: int) -> None:
    """Freeze the embeddings and the lowest `layers` layers; nothing for 0. A short adaptation needs no more."""
    if layers > 0:
        for name, parameter in net.encoder.named_parameters():
            number = int(name.split("layer.")[1].split(".")[0]) if "layer." in name else -1
            if number < layers:
                parameter.requires_grad = False


def loss_of(net: TaggerNet, batch: Sequence[Window], table: torch.Tensor) -> torch.Tensor:
    """Return the mean negative log marginal likelihood of a batch's tags."""
    ids, shapes, mask = collate([(w.ids, w.shapes) for w in batch])
    ids[(torch.rand(ids.shape) < WORD_DROPOUT) & (ids > MASK)] = MASK
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16_pays()):
        logits = net(ids, shapes, mask)
    flat = torch.cat([logits[i, 1 : len(w.ids) + 1] for i, w in enumerate(batch)]).float()
    gold = torch.from_numpy(np.concatenate([w.tags for w in batch]).astype(np.int64))
    kind = torch.from_numpy(np.concatenate([np.full(len(w.ids), w.types) for w in batch]))
    allowed = flat.masked_fill(~table[kind, gold], -1e4)
    return (flat.logsumexp(-1) - allowed.logsumexp(-1)).mean()


def train(net: TaggerNet, args: argparse.Namespace, tab_ids: frozenset[str] | None) -> dict[str, float]:
    """Train `net` in place and return the last losses and the time taken in seconds."""
    tokenizer = load_tokenizer(Path(minilm.base_folder()))
    table = torch.from_numpy(tagger_data.allowed_table())
    rng = random.Random(args.seed)
    optimiser = torch.optim.AdamW(groups(net, args.rate, args.decay), fused=True)
    base = [g["lr"] for g in optimiser.param_groups]
    begun, step, total, seen, running = time.monotonic(), 0, 0, 0, 0.0
    net.train()
    for epoch in range(args.epochs):
        docs = documents(args, tab_ids, rng)
        todo = tagger_data.batches(tagger_data.windows(tokenizer, docs, rng), args.pieces, rng)
        total = total or len(todo) * args.epochs
        for batch in todo:
            share = min(step / (0.06 * total), max(0.02, 1 - step / total))
            for group, rate in zip(optimiser.param_groups, base):
                group["lr"] = rate * min(1.0, share)
            loss = loss_of(net, batch, table)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_([p for p in net.parameters() if p.requires_grad], 1.0)
            optimiser.step()
            step += 1
            seen += sum(len(w.ids) for w in batch)
            running = 0.98 * running + 0.02 * float(loss.detach())
            if step % 25 == 0:
                spent = time.monotonic() - begun
                smooth = running / (1 - 0.98**step)
                if step % 50 == 0:
                    save(net, args.out / "checkpoint", {"step": step, "of": total})
                LOG.info(
                    "epoch %d step %d/%d loss %.4f pieces/s %.0f seconds %.0f",
                    epoch,
                    step,
                    total,
                    smooth,
                    seen / spent,
                    spent,
                )
    return {"loss": running / (1 - 0.98**step), "seconds": time.monotonic() - begun, "steps": float(step)}


def save(net: TaggerNet, folder: Path, notes: dict[str, object]) -> None:
    """Write the trained weights in half precision and `config.json` with the base model's digest."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    weights = {
        name: value.to(torch.float16).contiguous()
        for name, value in net.state_dict().items()
        if not name.removeprefix("encoder.").startswith((*FROZEN, "embeddings.position_ids"))
    }
    save_file(weights, str(folder / "model.safetensors"))
    config = {
        "base": "all-MiniLM-L6-v2",
        "base_sha256": minilm.SHA256,
        "tags": list(TAGS),
        "types": list(TYPES),
        "shapes": SHAPES,
    }
    (folder / "config.json").write_text(json.dumps(config | {"training": notes}, indent=1) + "\n", encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Train and save; the benchmark's documents are all, none (`--without-tab`) or the first N of a seeded order."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the annotated files")
    parser.add_argument("--out", type=Path, required=True, help="folder for the weights, the log and the configuration")
    parser.add_argument("--without-tab", action="store_true", help="leave the benchmark out of the training data")
    parser.add_argument("--tab-documents", type=int, default=0, help="train on this many benchmark documents, 0 = all")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--made", type=int, default=6000, help="made documents an epoch")
    parser.add_argument("--plain", type=int, default=2500, help="documents an epoch of narrative that names nobody")
    parser.add_argument("--others", type=float, default=1.0, help="share of the other documents an epoch")
    parser.add_argument("--tab-repeats", type=int, default=3, help="times each benchmark document comes an epoch")
    parser.add_argument("--pieces", type=int, default=3072, help="padded word pieces a batch")
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--decay", type=float, default=0.9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=Path, default=None, help="folder of earlier weights to continue from")
    parser.add_argument("--freeze", type=int, default=0, help="leave this many lower layers as they are")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    handlers: list[logging.Handler] = [logging.StreamHandler(), logging.FileHandler(args.out / "train.log", mode="w")]
    logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=handlers)
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    tab_ids = None if args.without_tab else split_ids(args.data, args.tab_documents)[0]
    net = TaggerNet(minilm.base_folder())
    if args.start:
        load_weights(net, args.start)
    freeze_below(net, args.freeze)
    found = train(net, args, tab_ids)
    settings = {k: v for k, v in vars(args).items() if k not in {"data", "out", "start"}}
    save(net, args.out, {**settings, **found})
    return 0


def split_ids(data: Path, first: int) -> tuple[frozenset[str], frozenset[str]]:
    """Return (training ids, left-out ids) of the benchmark in a fixed shuffled order; `first` 0 trains on all."""
    ids = sorted(i for i, _ in tagger_data.read_tab(data / "tab_train_92.jsonl.gz"))
    random.Random(62).shuffle(ids)
    cut = first or len(ids)
    return frozenset(ids[:cut]), frozenset(ids[cut:])


if __name__ == "__main__":
    raise SystemExit(main())
