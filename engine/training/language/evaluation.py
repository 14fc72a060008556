"""Measure a language model: held-out bits a byte beside a 3-gram model, what operators do, and its first texts.

`evaluation.json` and `samples.json` lie beside the weights. Public and project-made text only.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.errors import UserError
from engine.json_types import JSON

if TYPE_CHECKING:
    from engine.models.builtin.language_model import BuiltinGenerator

CHARACTERS = 1500
"""Of a document that are scored: the same text for every vocabulary, within the context of each."""


def held_out(work: Path) -> dict[str, list[str]]:
    """Return the held-out texts of a training's work folder by kind, each cut to `CHARACTERS`.

    Raises:
        UserError: the folder has none.
    """
    path = work / "held_out.json"
    if not path.is_file():
        raise UserError("--work: the folder holds no held_out.json and shards; run the step prepare with it first")
    kinds = json.loads(path.read_text(encoding="utf-8"))
    return {kind: [text[:CHARACTERS] for text in texts] for kind, texts in kinds.items() if texts}


def bits_a_byte(model: BuiltinGenerator, texts: Sequence[str]) -> float:
    """Return the bits a UTF-8 byte that bare documents cost the model, end token included."""
    nats = -sum(float(values.sum()) for values in model.score(texts))
    return nats / math.log(2) / max(1, sum(len(text.encode()) for text in texts))


def score(folder: Path, work: Path, texts: int) -> dict[str, float]:
    """Return bits a byte by kind, of the first `texts` held-out documents of each, and their mean."""
    from engine.models.builtin.language_model import BuiltinGenerator

    model = BuiltinGenerator(folder)
    found = {kind: round(bits_a_byte(model, own[:texts]), 4) for kind, own in held_out(work).items()}
    return {**found, "mean": round(math.fsum(found.values()) / max(1, len(found)), 4)}


def evaluate(work: Path, folder: Path, data: Path, count: int = 60) -> dict[str, JSON]:
    """Return and write the evaluation of a model folder: bits a byte a kind and operator accuracy; and its samples.

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

    held = held_out(work)
    model, alone = BuiltinGenerator(folder), BuiltinGenerator(folder, steered=False)
    operators = measure_operators(model, alone, load_embedder(), held_out_kinds(data), count)
    result = {**_beside_grams(work, held, model), "operators": operators}
    (folder / "evaluation.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    samples(folder)
    return result


def _beside_grams(work: Path, held: dict[str, list[str]], model: BuiltinGenerator) -> dict[str, JSON]:
    """Return held-out bits a byte a kind, of the model and of a 3-gram model."""
    from engine.models.builtin.ngram_model import KneserNey

    baseline = KneserNey(_training_documents(work), model.net.config.vocab_size, 1)
    rows: dict[str, JSON] = {}
    for kind, texts in held.items():
        size = sum(len(text.encode()) for text in texts)
        entries = model.tokenizer.encode_batch(texts, add_special_tokens=False)
        grams = sum(baseline.bits(np.array([*entry.ids, 2], dtype=np.uint64)) for entry in entries)
        rows[kind] = {
            "documents": len(texts),
            "bytes": size,
            "bits_per_byte": round(bits_a_byte(model, texts), 4),
            "bits_per_byte_3gram": round(grams / size, 4),
        }
    return {
        "measure": f"bits per UTF-8 byte of held-out documents, end included, first {CHARACTERS} characters of each",
        "baseline": "3-gram, interpolated Kneser-Ney, on the distinct outputs of the same training shards",
        "kinds": rows,
    }


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
    from engine.training.language.sources import domains

    model = BuiltinGenerator(folder)
    sampling = Sampling(max_new_tokens=180, temperature=0.8, top_k=50, top_p=0.95, seed=seed)
    drawn = {
        kind: [g.text.strip() for g in model.generate([build_prompt("", Fields(domain, kind))] * count, sampling)]
        for kind, domain in domains().items()
    }
    (folder / "samples.json").write_text(json.dumps(drawn, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return drawn


def shorten_log(work: Path, folder: Path, lines: int = 60) -> None:
    """Write about `lines` evenly spaced lines of the training log beside the weights."""
    log = (work / "training_log.jsonl").read_text(encoding="utf-8").splitlines()
    step = max(1, len(log) // lines)
    (folder / "training_log.jsonl").write_text("\n".join([*log[:-1:step], log[-1]]) + "\n", encoding="utf-8")
