"""Train a language model: `python -m engine.training prepare|train|score|evaluate|samples --work FOLDER`.

`prepare` writes vocabulary, shards and held-out texts; `train` goes on from the folder's checkpoint, if there is one,
for some minutes of a schedule of tokens; `score` prints held-out bits per byte a kind; `evaluate` writes what is known
of a model beside its weights, `samples` the first texts it draws. The net is the causal one that starts from the
sentence encoder (`minilm`), the same from nothing (`minilm-scratch`), or Llama's (`llama`). With `--start` a model
folder's network and vocabulary are gone on with, so that a training may continue what an earlier one left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import UserError
from engine.json_types import JSON
from engine.models.builtin.tokenizer import load_tokenizer, train_tokenizer
from engine.training.language import evaluation, exercises, sources, vocabulary
from engine.training.language.data import Document, held_out_rate, is_held_out, pieces
from engine.training.language.held_out import without_twins
from engine.training.language.loop import Trainer, TrainSettings
from engine.training.language.pack import write_shard

if TYPE_CHECKING:
    from engine.models.builtin.decoder.causal_net import CausalNet

CONTEXT = 1024
SHARES = {
    "narrative": 0.17, "clinic letter": 0.07, "support ticket": 0.06, "court decision": 0.06, "abstract": 0.11,
    "textbook": 0.07, "novel": 0.05, "complaint": 0.12, "incident report": 0.08, "short report": 0.03,
    "court opinion": 0.06, "health question": 0.05, "consultation": 0.01, "dialogue": 0.005, "letter": 0.01,
    "plain English": 0.015, "country description": 0.01, "encyclopedia": 0.015, "sentence": 0.005,
}  # fmt: skip
LAST_SHARES = {
    "narrative": 0.25, "clinic letter": 0.12, "support ticket": 0.11, "court decision": 0.1, "abstract": 0.13,
    "textbook": 0.08, "novel": 0.06, "complaint": 0.035, "incident report": 0.03, "short report": 0.01,
    "court opinion": 0.02, "health question": 0.01, "consultation": 0.005, "dialogue": 0.002, "letter": 0.008,
    "plain English": 0.01, "country description": 0.005, "encyclopedia": 0.01, "sentence": 0.005,
}  # fmt: skip
"""Shares while the rate falls: more of the kinds that are hardest to write or that the sample corpora are of."""
HELD_OUT_CHARACTERS = 150_000  # a kind, scored
VOCABULARY_CHARACTERS = 4_000_000  # a kind


def prepare(data: Path, work: Path, seed: int = 0, start: Path | None = None) -> dict[str, int]:
    """Write vocabulary, shards and held-out texts into `work` and return the tokens a kind.

    start: a model folder whose vocabulary is used; without one, and where `work` holds none, one is trained.
    """
    rng = random.Random(seed)
    (work / "shards").mkdir(parents=True, exist_ok=True)
    kinds = sources.read_all(data)
    train: dict[str, list[Document]] = {}
    held: dict[str, list[str]] = {}
    for kind, (documents, _, _) in kinds.items():
        rate = held_out_rate(kind)
        train[kind] = [d for d in documents if not is_held_out(d.text, rate)]
        kept = [d for d in documents if is_held_out(d.text, rate)]
        if kind in sources.TWINS:
            kept = without_twins(kept, train[kind])
        held[kind] = [d.text for d in pieces(kept, 250, HELD_OUT_CHARACTERS, rng)][:300]
    (work / "held_out.json").write_text(json.dumps(held, ensure_ascii=False), encoding="utf-8")
    if start is not None:
        (work / "tokenizer.json").write_bytes((start / "tokenizer.json").read_bytes())
    elif not (work / "tokenizer.json").exists():
        texts = (d.text for own in train.values() for d in pieces(own, 300, VOCABULARY_CHARACTERS, rng))
        train_tokenizer(texts, vocabulary.SIZE).save(str(work / "tokenizer.json"))
    tokenizer = load_tokenizer(work)
    written = {}
    for kind, own in train.items():
        made = exercises.sequences(own, kinds[kind][1], kinds[kind][2], rng)
        written[kind] = write_shard(work / "shards" / f"{kind.replace(' ', '_')}.npz", kind, made, tokenizer, CONTEXT)
        sys.stderr.write(json.dumps({"kind": kind, "documents": len(own), "tokens": written[kind]}) + "\n")
    return written


def _gone_on_with(folder: Path, work: Path) -> CausalNet:
    """Return the network of a model folder, its context widened to the shards' where its positions are not learned.

    Raises:
        UserError: its vocabulary is not the work folder's.
    """
    from engine.models.builtin.decoder.folders import load_folder
    from engine.models.builtin.decoder.llama_net import LlamaNet

    if (folder / "tokenizer.json").read_bytes() != (work / "tokenizer.json").read_bytes():
        raise UserError("--start: the folder has another vocabulary than the shards; prepare them with it")
    net = load_folder(folder).train()
    if not isinstance(net, LlamaNet) or net.config.context >= CONTEXT:
        return net
    wide = LlamaNet(replace(net.config, context=CONTEXT))
    wide.load_state_dict(net.state_dict())
    return wide


def _builder(net: str, work: Path, start: Path | None = None) -> tuple[Callable[[], Any], Callable[[Any, Path], None]]:
    """Return (what makes the network, what writes it)."""
    from engine.models.builtin.decoder.bert_net import BertConfig, BertNet
    from engine.models.builtin.decoder.folders import save_folder
    from engine.models.builtin.decoder.llama_net import LlamaNet, NetConfig
    from engine.models.builtin.minilm import base_folder
    from engine.training.language.encoder_start import from_encoder

    if start is not None:
        return lambda: _gone_on_with(start, work), save_folder
    size = load_tokenizer(work).get_vocab_size()
    if net == "llama":
        config = NetConfig(vocab_size=size, hidden_size=384, layers=6, heads=6, intermediate_size=1024, context=CONTEXT)
        return lambda: LlamaNet(config), save_folder
    wide = BertConfig(vocab_size=size, context=CONTEXT)
    if net == "minilm-scratch":
        return lambda: BertNet(wide), save_folder

    def encoder() -> BertNet:
        from safetensors.torch import load_file

        folder = base_folder()
        old = load_file(folder / "model.safetensors")["embeddings.word_embeddings.weight"].float()
        first = vocabulary.start_embeddings(load_tokenizer(work), folder / "vocab.txt", old)
        return from_encoder(wide, folder, first)

    return encoder, save_folder


def _own_folder(options: argparse.Namespace) -> Path:
    """Return the folder in the work folder that a training writes its model to."""
    work: Path = options.work
    return work / ("model-continued" if options.start else f"model-{options.net}")


def train(options: argparse.Namespace) -> dict[str, float]:
    """Go on training and return the last line of the log."""
    build, write = _builder(options.net, options.work, options.start)
    settings = TrainSettings(
        minutes=options.minutes,
        tokens=options.tokens,
        muon_rate=options.muon_rate,
        adam_rate=options.adam_rate,
        device=options.device,
        threads=options.threads,
        batch_tokens=options.batch_tokens,
        micro_tokens=min(options.batch_tokens, TrainSettings.micro_tokens),
        warmup=options.warmup,
        decay=options.decay,
        seed=options.seed,
    )
    out = _own_folder(options)
    run = Trainer(options.work, out, build, settings, LAST_SHARES if options.last else SHARES, write)
    run.run()
    evaluation.shorten_log(options.work, out)
    return {"step": run.step, "tokens": run.tokens, "minutes": round(run.elapsed / 60, 1)}


def build_parser() -> argparse.ArgumentParser:
    """Return the command's parser."""
    parser = argparse.ArgumentParser(prog="python -m engine.training", description=__doc__)
    parser.add_argument("step", choices=("prepare", "train", "score", "evaluate", "samples"))
    data = Path(os.environ.get("UNDERSTUDY_TEST_DATA") or "../shared/data")
    parser.add_argument("--data", type=Path, default=data, help="folder that holds lm/")
    parser.add_argument("--work", type=Path, default=Path("build/lm"), help="folder for shards and checkpoints")
    parser.add_argument("--folder", type=Path, help="a model folder other than the work folder's own")
    parser.add_argument("--net", choices=("minilm", "minilm-scratch", "llama"), default="minilm")
    parser.add_argument("--start", type=Path, help="prepare, train: a model folder to go on with")
    parser.add_argument("--tokens", type=int, default=100_000_000, help="train: of the whole schedule")
    parser.add_argument("--minutes", type=float, default=600.0, help="train: of this call at most")
    parser.add_argument("--muon-rate", type=float, default=0.8e-3)
    parser.add_argument("--adam-rate", type=float, default=0.6e-3)
    parser.add_argument("--batch-tokens", type=int, default=4096)
    parser.add_argument("--warmup", type=float, default=0.004, help="train: share of the schedule")
    parser.add_argument("--decay", type=float, default=0.5, help="train: share of the schedule with a falling rate")
    parser.add_argument("--last", action="store_true", help="train: in the shares of the falling rate")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--texts", type=int, default=40, help="score: texts a kind")
    parser.add_argument("--outputs", type=int, default=60, help="evaluate: outputs a measure and kind")
    parser.add_argument("--seed", type=int, default=0)
    return parser


def main() -> int:
    """Run one step and print its result as JSON."""
    options = build_parser().parse_args()
    sys.stdout.write(json.dumps(_step(options), indent=1, ensure_ascii=False) + "\n")
    return 0


def _step(options: argparse.Namespace) -> JSON:
    folder: Path = options.folder or _own_folder(options)
    if options.step == "prepare":
        return dict(prepare(options.data / "lm", options.work, options.seed, options.start))
    if options.step == "train":
        return dict(train(options))
    if options.step == "score":
        return dict(evaluation.score(folder, options.work, options.texts))
    if options.step == "evaluate":
        return evaluation.evaluate(options.work, folder, options.data, options.outputs)
    return {kind: list(texts) for kind, texts in evaluation.samples(folder).items()}


if __name__ == "__main__":
    sys.exit(main())
