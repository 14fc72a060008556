"""Train the tagger for other languages: `python -m engine.training.word_tagger --data FOLDER --out FOLDER`.

Marginal likelihood over the tags a partly annotated source allows, AdamW, bf16 autocast, from nothing. The state is
kept every few hundred steps; the same command goes on from it.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from engine.models.builtin.embedder import bf16_pays
from engine.models.builtin.tagger.tagger import TYPES
from engine.models.builtin.tagger.word_tagger import OWN_TAGS, Batch, WordTaggerNet, words_in
from engine.training.word_tagger.data import ANY, Document, read_english, read_plain, read_sets
from engine.training.word_tagger.made import Filler, World, grammar, made_documents, recased, renamed

LOG = logging.getLogger("train_word_tagger")
KINDS = TYPES[:5]
LONGEST = 120  # words of a window
STATE = "state.safetensors"


@dataclass(frozen=True)
class Item:
    """A window: words and shapes (n,), and which tags each word may have (n, len(OWN_TAGS))."""

    words: list[str]
    shapes: NDArray[np.int8]
    allowed: NDArray[np.bool_]


def items_of(document: Document, rng: random.Random) -> list[Item]:
    """Return the windows of one document."""
    pieces = words_in(document.text)
    words = [document.text[a:b] for a, b in zip(pieces.starts, pieces.ends)]
    allowed = np.zeros((len(words), len(OWN_TAGS)), dtype=bool)
    allowed[:, 0] = True
    for i, kind in enumerate(KINDS):
        if kind not in document.types:
            allowed[:, 1 + 2 * i : 3 + 2 * i] = True
    for start, end, label in document.spans:
        inside = np.flatnonzero((pieces.starts < end) & (pieces.ends > start))
        if label == ANY:
            allowed[inside] = True
        elif len(inside):
            allowed[inside] = False
            allowed[inside, OWN_TAGS.index(f"I-{label}")] = True
            allowed[inside[0]] = False
            allowed[inside[0], OWN_TAGS.index(f"B-{label}")] = True
    out, at = [], 0
    while at < len(words):
        size = LONGEST if len(words) <= LONGEST else rng.choice((60, 90, LONGEST))
        out.append(Item(words[at : at + size], pieces.shapes[at : at + size], allowed[at : at + size]))
        at += size
    return out


def batches(items: Sequence[Item], words: int, rng: random.Random) -> list[list[Item]]:
    """Return shuffled batches of windows of like length, about `words` padded words each."""
    out: list[list[Item]] = [[]]
    for item in sorted(items, key=lambda i: len(i.words) + rng.random() * 8):
        if out[-1] and (len(out[-1]) + 1) * len(item.words) > words:
            out.append([])
        out[-1].append(item)
    rng.shuffle(out)
    return [b for b in out if b]


def loss_of(net: WordTaggerNet, items: Sequence[Item], rng: random.Random, drop: float = 0.05) -> torch.Tensor:
    """Return the mean negative log marginal likelihood; a share of the words is hidden."""
    rows = [([("" if rng.random() < drop else w) for w in i.words], i.shapes) for i in items]
    batch = Batch(rows)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16_pays()):  # without the units for it there is no LSTM
        logits = net(batch)
    flat = torch.cat([logits[i, :n] for i, n in enumerate(batch.sizes)]).float()
    allowed = torch.from_numpy(np.concatenate([i.allowed for i in items]))
    return (flat.logsumexp(-1) - flat.masked_fill(~allowed, -1e4).logsumexp(-1)).mean()


def epoch_of(
    args: argparse.Namespace, train: list[Document], fillers: dict[str, Filler], rng: random.Random
) -> list[Document]:
    """Return one epoch's documents, with other names in a part of them, and with the case disturbed."""
    for filler in fillers.values():
        filler.rng = rng
    some = [renamed(d, fillers, rng, 0.45) for d in train if not d.source.startswith("europeana") or rng.random() < 0.4]
    others = made_documents(fillers, args.made, rng) + read_plain(args.data / "lm", rng, 350)
    others += read_english(args.data, rng, 1500)
    return [recased(d, rng) for d in some + others]


def train(args: argparse.Namespace) -> None:
    """Train from nothing, or from the state in `--out`, and write weights and configuration."""
    torch.manual_seed(args.seed)
    net = WordTaggerNet()
    optimiser = torch.optim.AdamW(net.parameters(), lr=args.rate, weight_decay=0.01, fused=True)
    documents = read_sets(args.data / "ner", "train")
    world = World(args.data)
    step, spent, first = 0, 0.0, 0
    if (args.out / STATE).exists():
        step, spent, first = resumed(net, optimiser, args.out)
    began, running, total = time.monotonic() - spent, 0.0, 0
    for epoch in range(first, args.epochs):
        rng = random.Random(args.seed * 1000 + epoch)
        fillers = {c: Filler(c, world, rng) for c in grammar()}
        docs = epoch_of(args, documents, fillers, rng)
        todo = batches([i for d in docs for i in items_of(d, rng)], args.words, rng)
        total = len(todo) * args.epochs
        net.train()
        for number, batch in enumerate(todo):
            done = (epoch * len(todo) + number) / total
            for group in optimiser.param_groups:
                group["lr"] = args.rate * min(1.0, (step + 1) / 150, max(0.02, 1 - done))
            loss = loss_of(net, batch, rng)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimiser.step()
            step += 1
            running = 0.98 * running + 0.02 * float(loss.detach())
            if step % 50 == 0:
                LOG.info(
                    "epoch %d step %d/%d loss %.4f seconds %.0f", epoch, step, total, running, time.monotonic() - began
                )
        seconds = time.monotonic() - began
        keep(net, optimiser, args.out, {"step": step, "seconds": seconds, "epoch": epoch})
        save(
            net,
            args.out,
            {"steps": step, "epochs": epoch + 1, "seconds": round(seconds), "seed": args.seed, "made": args.made},
        )


def keep(net: WordTaggerNet, optimiser: torch.optim.Optimizer, folder: Path, at: dict[str, float]) -> None:
    """Write weights and the optimiser's averages, from which the same command goes on."""
    from safetensors.torch import save_file

    tensors = {f"net.{k}": v.detach().contiguous() for k, v in net.state_dict().items()}
    for i, parameter in enumerate(net.parameters()):
        for name in ("exp_avg", "exp_avg_sq"):
            tensors[f"{name}.{i}"] = optimiser.state[parameter][name].contiguous()
    save_file(tensors, str(folder / f"{STATE}.new"), {k: str(v) for k, v in at.items()})
    (folder / f"{STATE}.new").replace(folder / STATE)


def resumed(net: WordTaggerNet, optimiser: torch.optim.Optimizer, folder: Path) -> tuple[int, float, int]:
    """Load what `keep` wrote and return (steps done, seconds spent, the epoch to begin with)."""
    from safetensors import safe_open
    from safetensors.torch import load_file

    tensors = load_file(str(folder / STATE))
    with safe_open(str(folder / STATE), "pt") as file:
        at = {k: float(v) for k, v in file.metadata().items()}
    net.load_state_dict({k.removeprefix("net."): v for k, v in tensors.items() if k.startswith("net.")})
    for i, parameter in enumerate(net.parameters()):
        optimiser.state[parameter] = {
            "step": torch.tensor(at["step"]),
            "exp_avg": tensors[f"exp_avg.{i}"],
            "exp_avg_sq": tensors[f"exp_avg_sq.{i}"],
        }
    return int(at["step"]), at["seconds"], int(at["epoch"]) + 1


def save(net: WordTaggerNet, folder: Path, notes: dict[str, object]) -> None:
    """Write the weights in half precision and `config.json`."""
    from safetensors.torch import save_file

    weights = {k: v.detach().to(torch.float16).contiguous() for k, v in net.state_dict().items()}
    save_file(weights, str(folder / "model.safetensors"))
    config = {"tags": list(OWN_TAGS), "thresholds": dict.fromkeys(KINDS, 0.5), "training": notes}
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Train and save."""
    parser = argparse.ArgumentParser(prog="python -m engine.training.word_tagger", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with ner/, lm/ and names/")
    parser.add_argument("--out", type=Path, required=True, help="folder for the weights, the state and the log")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--made", type=int, default=5000, help="made documents an epoch")
    parser.add_argument("--words", type=int, default=2560, help="padded words a batch")
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    handlers: list[logging.Handler] = [logging.StreamHandler(), logging.FileHandler(args.out / "train.log")]
    logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=handlers)
    torch.set_num_threads(args.threads)
    train(args)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
