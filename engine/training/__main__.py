"""Train a language model: `python -m engine.training prepare|train|score --work FOLDER`.

`prepare` writes vocabulary, shards and held-out texts; `train` goes on from the folder's checkpoint, if there is one,
for some minutes of a schedule of tokens; `score` prints held-out bits per byte a kind. The net is the causal one that
starts from the sentence encoder (`minilm`), the same from nothing (`minilm-scratch`), or Llama's (`llama`).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from engine.models.builtin.tokenizer import load_tokenizer, train_tokenizer
from engine.training.language import exercises, sources, vocabulary
from engine.training.language.data import Document, held_out_rate, is_held_out
from engine.training.language.loop import Trainer, TrainSettings, bits_per_byte
from engine.training.language.pack import write_shard
from engine.training.language.prepare import pieces

CONTEXT = 1024
SHARES = {
    "narrative": 0.17, "clinic letter": 0.07, "support ticket": 0.06, "court decision": 0.06, "abstract": 0.11,
    "textbook": 0.07, "novel": 0.05, "complaint": 0.12, "incident report": 0.08, "short report": 0.03,
    "court opinion": 0.06, "health question": 0.05, "consultation": 0.01, "dialogue": 0.005, "letter": 0.01,
    "plain English": 0.015, "country description": 0.01, "encyclopedia": 0.015, "sentence": 0.005,
}  # fmt: skip
HELD_OUT_CHARACTERS = 150_000  # a kind, scored
VOCABULARY_CHARACTERS = 4_000_000  # a kind


def prepare(data: Path, work: Path, seed: int = 0) -> dict[str, int]:
    """Write vocabulary, shards and held-out texts into `work` and return the tokens a kind."""
    rng = random.Random(seed)
    (work / "shards").mkdir(parents=True, exist_ok=True)
    kinds = sources.read_all(data)
    train: dict[str, list[Document]] = {}
    held: dict[str, list[str]] = {}
    for kind, (documents, _, _) in kinds.items():
        rate = held_out_rate(kind)
        train[kind] = [d for d in documents if not is_held_out(d.text, rate)]
        kept = [d for d in documents if is_held_out(d.text, rate)]
        held[kind] = [d.text for d in pieces(kept, 250, HELD_OUT_CHARACTERS, rng)][:300]
    (work / "held_out.json").write_text(json.dumps(held, ensure_ascii=False), encoding="utf-8")
    if not (work / "tokenizer.json").exists():
        texts = (d.text for own in train.values() for d in pieces(own, 300, VOCABULARY_CHARACTERS, rng))
        train_tokenizer(texts, vocabulary.SIZE).save(str(work / "tokenizer.json"))
    tokenizer = load_tokenizer(work)
    written = {}
    for kind, own in train.items():
        made = exercises.sequences(own, kinds[kind][1], kinds[kind][2], rng)
        written[kind] = write_shard(work / "shards" / f"{kind.replace(' ', '_')}.npz", kind, made, tokenizer, CONTEXT)
        sys.stderr.write(json.dumps({"kind": kind, "documents": len(own), "tokens": written[kind]}) + "\n")
    return written


def _builder(net: str, work: Path) -> tuple[Callable[[], Any], Callable[[Any, Path], None]]:
    """Return (what makes the network, what writes it)."""
    from engine.models.builtin.decoder.bert_net import BertConfig, BertNet
    from engine.models.builtin.decoder.folders import save_folder
    from engine.models.builtin.decoder.llama_net import LlamaNet, NetConfig
    from engine.models.builtin.minilm import base_folder
    from engine.training.language.encoder_start import from_encoder

    save = partial(save_folder, with_output=False)
    size = load_tokenizer(work).get_vocab_size()
    if net == "llama":
        config = NetConfig(vocab_size=size, hidden_size=384, layers=6, heads=6, intermediate_size=1024, context=CONTEXT)
        return lambda: LlamaNet(config), save
    wide = BertConfig(vocab_size=size, context=CONTEXT)
    if net == "minilm-scratch":
        return lambda: BertNet(wide), save

    def start() -> BertNet:
        from safetensors.torch import load_file

        folder = base_folder()
        old = load_file(folder / "model.safetensors")["embeddings.word_embeddings.weight"].float()
        first = vocabulary.start_embeddings(load_tokenizer(work), folder / "vocab.txt", old)
        return from_encoder(wide, folder, first)

    return start, save


def train(options: argparse.Namespace) -> dict[str, float]:
    """Go on training and return the last line of the log."""
    build, write = _builder(options.net, options.work)
    settings = TrainSettings(
        minutes=options.minutes,
        tokens=options.tokens,
        muon_rate=options.muon_rate,
        adam_rate=options.adam_rate,
        device=options.device,
        threads=options.threads,
        batch_tokens=options.batch_tokens,
        warmup=options.warmup,
        seed=options.seed,
    )
    out = options.work / f"model-{options.net}"
    run = Trainer(options.work, out, build, settings, SHARES, write)
    run.run()
    return {"step": run.step, "tokens": run.tokens, "minutes": round(run.elapsed / 60, 1)}


def score(options: argparse.Namespace) -> dict[str, float]:
    """Return held-out bits a UTF-8 byte by kind, of bare documents, end token included, first 510 tokens of each."""
    import torch

    from engine.models.builtin.decoder.folders import load_folder

    torch.set_num_threads(options.threads)
    folder = options.folder or options.work / f"model-{options.net}"
    net = load_folder(folder)
    tokenizer = load_tokenizer(folder)
    found: dict[str, float] = {}
    for kind, texts in json.loads((options.work / "held_out.json").read_text(encoding="utf-8")).items():
        cut = [
            tokenizer.decode(tokenizer.encode(t, add_special_tokens=False).ids[:500]) for t in texts[: options.texts]
        ]
        rows = [[1, *tokenizer.encode(t, add_special_tokens=False).ids[:510], 2] for t in cut]
        if rows:
            found[kind] = round(bits_per_byte(net, rows, [len(t.encode()) for t in cut]), 4)
    found["mean"] = round(math.fsum(found.values()) / max(1, len(found)), 4)
    return found


def build_parser() -> argparse.ArgumentParser:
    """Return the command's parser."""
    parser = argparse.ArgumentParser(prog="python -m engine.training", description=__doc__)
    parser.add_argument("step", choices=("prepare", "train", "score"))
    data = Path(os.environ.get("UNDERSTUDY_TEST_DATA") or "../shared/data")
    parser.add_argument("--data", type=Path, default=data, help="folder that holds lm/")
    parser.add_argument("--work", type=Path, default=Path("build/lm"), help="folder for shards and checkpoints")
    parser.add_argument("--folder", type=Path, help="score: a model folder other than the work folder's own")
    parser.add_argument("--net", choices=("minilm", "minilm-scratch", "llama"), default="minilm")
    parser.add_argument("--tokens", type=int, default=100_000_000, help="train: of the whole schedule")
    parser.add_argument("--minutes", type=float, default=600.0, help="train: of this call at most")
    parser.add_argument("--muon-rate", type=float, default=1.5e-3)
    parser.add_argument("--adam-rate", type=float, default=1e-3)
    parser.add_argument("--batch-tokens", type=int, default=8192)
    parser.add_argument("--warmup", type=float, default=0.004, help="train: share of the schedule")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--texts", type=int, default=40, help="score: texts a kind")
    parser.add_argument("--seed", type=int, default=0)
    return parser


def main() -> int:
    """Run one step and print its result as JSON."""
    options = build_parser().parse_args()
    result: dict[str, int] | dict[str, float]
    if options.step == "prepare":
        result = prepare(options.data / "lm", options.work, options.seed)
    else:
        result = train(options) if options.step == "train" else score(options)
    sys.stdout.write(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
