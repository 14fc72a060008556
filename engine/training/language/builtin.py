"""Train the built-in language model: `python -m engine.training.language.builtin
prepare|practise|train|evaluate|samples`.

`prepare` writes vocabulary and shards, `train` runs for a number of minutes (and resumes), `practise` readies a second
work folder, where `train` goes on from the first one's checkpoint with operators above all, `evaluate` writes
evaluation.json (held-out bits per byte beside a 3-gram model of the same text, operator accuracy) and samples.json,
`samples` writes the first ten drawn a kind alone. Reads public and project-made text only.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.errors import UserError
from engine.json_types import JSON, JSONObject
from engine.models.builtin.shipped import lm_folder

if TYPE_CHECKING:
    from engine.models.builtin.language_model import BuiltinGenerator


KINDS = ("narrative", "clinic letter", "support ticket", "court decision", "abstract", "textbook", "novel")
SAMPLE_DOMAINS = {"narrative": "clinical", "clinic letter": "clinical", "support ticket": "reviews",
                  "court decision": "legal", "abstract": "generic",
                  "textbook": "generic", "novel": "generic"}  # fmt: skip
_HELD_OUT = 300  # documents a kind
_CONTEXT = 510  # tokens of a document that are scored


def evaluate(work: Path, folder: Path, data: Path, count: int = 60) -> dict[str, JSON]:
    """Return and write the evaluation of a model folder: bits per byte a kind and operator accuracy; and its samples.

    Args:
        work: folder with held-out texts and the training shards the 3-gram model reads.
        folder: of the model; evaluation.json and samples.json go there.
        data: folder that holds lm/.
        count: outputs an operator measure and kind.
    """
    from engine.models.builtin.embedder import load_embedder
    from engine.models.builtin.language_model import BuiltinGenerator
    from engine.training.language.held_out import held_out_kinds
    from engine.training.language.operators import measure_operators

    model = BuiltinGenerator(folder)
    result = {**_bits(work, model), "operators": measure_operators(model, load_embedder(), held_out_kinds(data), count)}
    (folder / "evaluation.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    samples(folder)
    return result


def _bits(work: Path, model: BuiltinGenerator) -> dict[str, JSON]:
    """Return held-out bits per UTF-8 byte a kind, of the model and of a 3-gram model."""
    from engine.models.builtin.ngram_model import KneserNey

    if not (work / "held_out.json").is_file():
        raise UserError("--work: the folder holds no held_out.json and shards; run the step prepare with it first")
    held = json.loads((work / "held_out.json").read_text(encoding="utf-8"))
    encode = model.tokenizer.encode_batch
    baseline = KneserNey(_training_documents(work), model.net.config.vocab_size, 1)
    rows: dict[str, JSON] = {}
    for kind in KINDS:
        texts = [_shorten(text, model) for text in held.get(kind, [])[:_HELD_OUT]]
        size = sum(len(text.encode()) for text in texts)
        if not size:
            continue
        neural = -sum(float(values.sum()) for values in model.score(texts)) / math.log(2)
        grams = sum(
            baseline.bits(np.array([*entry.ids, 2], dtype=np.uint64))
            for entry in encode(texts, add_special_tokens=False)
        )
        rows[kind] = {
            "documents": len(texts),
            "bytes": size,
            "bits_per_byte": round(neural / size, 4),
            "bits_per_byte_3gram": round(grams / size, 4),
        }
    return {
        "measure": "bits per UTF-8 byte of held-out documents, end token included, first 510 tokens of each",
        "baseline": "3-gram, interpolated Kneser-Ney, on the plain and operator outputs of the same training shards",
        "kinds": rows,
    }


def _shorten(text: str, model: BuiltinGenerator) -> str:
    ids = model.tokenizer.encode(text, add_special_tokens=False).ids
    return text if len(ids) <= _CONTEXT else str(model.tokenizer.decode(ids[:_CONTEXT]))


def _training_documents(work: Path) -> list[NDArray[np.uint64]]:
    """Return the distinct outputs of the training shards as token arrays with their end token."""
    documents: dict[bytes, NDArray[np.integer]] = {}
    for path in sorted((work / "shards").glob("*.npz")):
        with np.load(path, allow_pickle=False) as data:
            tokens, ends, starts = data["tokens"], data["ends"], data["loss_from"]
        begin = 0
        for end, start in zip(ends, starts, strict=True):
            piece = tokens[begin + int(start) : int(end)]
            begin = int(end)
            documents.setdefault(piece.tobytes(), piece)
    return [np.asarray(piece, dtype=np.uint64) for piece in documents.values() if len(piece)]


def samples(folder: Path, count: int = 10, seed: int = 0) -> dict[str, list[str]]:
    """Return and write the first `count` texts drawn a kind, not chosen."""
    from engine.models.builtin.format import Fields, build_prompt
    from engine.models.builtin.language_model import BuiltinGenerator
    from engine.models.contracts import Sampling

    model = BuiltinGenerator(folder)
    sampling = Sampling(max_new_tokens=180, temperature=0.8, top_k=50, top_p=0.95, seed=seed)
    drawn = {
        kind: [g.text.strip() for g in model.generate([build_prompt("", Fields(domain, kind))] * count, sampling)]
        for kind, domain in SAMPLE_DOMAINS.items()
    }
    (folder / "samples.json").write_text(json.dumps(drawn, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return drawn


def _train(options: argparse.Namespace) -> dict[str, JSON]:
    from engine.models.builtin.decoder.llama_net import LlamaNet, NetConfig
    from engine.training.language.loop import Trainer, TrainSettings

    usual = TrainSettings()
    settings = TrainSettings(
        minutes=options.minutes,
        muon_rate=options.rate * usual.muon_rate,
        adam_rate=options.rate * usual.adam_rate,
        device=options.device,
        threads=options.threads,
        seed=options.seed,
    )
    Trainer(options.work, options.out, lambda: LlamaNet(NetConfig()), settings).run()
    return shorten_log(options.work, options.out)


def shorten_log(work: Path, folder: Path, lines: int = 60) -> dict[str, JSON]:
    """Write about `lines` evenly spaced lines of the training log beside the weights and return the last."""
    log = (work / "training_log.jsonl").read_text(encoding="utf-8").splitlines()
    step = max(1, len(log) // lines)
    (folder / "training_log.jsonl").write_text("\n".join([*log[:-1:step], log[-1]]) + "\n", encoding="utf-8")
    last: dict[str, JSON] = json.loads(log[-1])
    return last


def _prepare(options: argparse.Namespace) -> dict[str, JSON]:
    from engine.training.language.prepare import prepare, prepare_rewriting, prepare_samples

    prepare(options.data / "lm", options.work, options.seed)
    prepare_samples(options.work)
    prepare_rewriting(options.data / "lm", options.work)
    return {"work": str(options.work)}


def _practise(options: argparse.Namespace) -> dict[str, JSON]:
    from engine.training.language.prepare import prepare_practice

    if options.first is None or not (options.first / "checkpoint.safetensors").is_file():
        raise UserError("--first: the step practise needs the work folder of a training that has a checkpoint")
    (options.work / "shards").mkdir(parents=True, exist_ok=True)
    for name in ("tokenizer.json", "held_out.json", "checkpoint.safetensors", "training_log.jsonl"):
        shutil.copyfile(options.first / name, options.work / name)
    prepare_practice(options.data / "lm", options.work)
    return {"work": str(options.work)}


def build_parser() -> argparse.ArgumentParser:
    """Return the command's parser."""
    parser = argparse.ArgumentParser(prog="python -m engine.training.language.builtin", description=__doc__)
    parser.add_argument("step", choices=("prepare", "practise", "train", "evaluate", "samples"))
    data = Path(os.environ.get("UNDERSTUDY_TEST_DATA") or "../shared/data")
    parser.add_argument("--data", type=Path, default=data, help="folder that holds lm/")
    parser.add_argument("--work", type=Path, default=Path("build/lm"), help="folder for shards and checkpoints")
    parser.add_argument("--first", type=Path, help="practise: work folder to go on from")
    parser.add_argument("--out", type=Path, default=lm_folder(), help="model folder to write")
    parser.add_argument("--minutes", type=float, default=120.0, help="train: of all stages together")
    parser.add_argument("--rate", type=float, default=1.0, help="train: factor on the peak learning rates")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--outputs", type=int, default=60, help="evaluate: outputs a measure and kind")
    parser.add_argument("--seed", type=int, default=0)
    return parser


def main() -> int:
    """Run one step and print its result as JSON."""
    options = build_parser().parse_args()
    if options.step == "prepare":
        result: JSONObject = _prepare(options)
    elif options.step == "practise":
        result = _practise(options)
    elif options.step == "train":
        result = _train(options)
    elif options.step == "evaluate":
        result = evaluate(options.work, options.out, options.data, options.outputs)
    else:
        result = samples(options.out)
    sys.stdout.write(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
