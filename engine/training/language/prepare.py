"""Make the work folder of a training: vocabulary, shards, held-out texts."""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.models.builtin.tokenizer import load_tokenizer, train_tokenizer
from engine.training.language.data import (
    HELDOUT_SEED,
    SOURCES,
    TRAINING_SEEDS,
    Document,
    chunks,
    read_samples,
    read_source,
    split,
)
from engine.training.language.pack import write_shard
from engine.training.language.sequences import Exercises, Sequence_, plain

if TYPE_CHECKING:
    from tokenizers import Tokenizer

LIMITS = {"narrative": 10**9, "abstract": 16_000_000, "textbook": 14_000_000, "novel": 16_000_000}
"""Characters of each public source that enter the shards."""
VOCABULARY_LIMITS = {"narrative": 9_700_000, "abstract": 6_000_000, "textbook": 5_000_000, "novel": 5_000_000}
PASSES = {"narrative": 3, "abstract": 1, "textbook": 1, "novel": 1}
OPERATOR_SHARE = {"narrative": 0.5, "abstract": 0.4, "textbook": 0.35, "novel": 0.3, "project": 0.6}
MAX_WORDS = {"plain": 330, "operator": 130}


def _say(line: dict[str, object]) -> None:
    sys.stderr.write(json.dumps(line) + "\n")


def pieces(documents: Sequence[Document], words: int, limit: int, rng: random.Random) -> list[Document]:
    """Return documents cut to about `words` words, up to `limit` characters in all, in random order."""
    cut = [
        replace(d, text=c)
        for d in documents
        for c in (chunks(d.text, words, rng) if len(d.text.split()) > words else [d.text])
        if len(c) >= 30
    ]
    rng.shuffle(cut)
    total, out = 0, []
    for piece in cut:
        total += len(piece.text)
        if total > limit:
            break
        out.append(piece)
    return out


def sequences(documents: Sequence[Document], passes: int, share: float, rng: random.Random) -> Iterator[Sequence_]:
    """Yield plain and operator sequences over `passes` passes of the documents."""
    exercises = Exercises([d for d in documents if len(d.text.split()) <= MAX_WORDS["operator"]] or documents, rng)
    for _ in range(passes):
        for document in documents:
            if rng.random() < share and len(document.text.split()) <= MAX_WORDS["operator"] * 1.3:
                yield exercises.make(document)
            else:
                yield plain(document, rng)


def prepare(data: Path, work: Path, seed: int = 0) -> None:
    """Write vocabulary, shards and held-out texts of the public sources into `work`."""
    rng = random.Random(seed)
    work.mkdir(parents=True, exist_ok=True)
    (work / "shards").mkdir(exist_ok=True)
    parts = {name: split(read_source(name, data)) for name in SOURCES}
    tokenizer = _vocabulary(parts, work, rng)
    held: dict[str, list[str]] = {}
    for name, (train, held_out) in parts.items():
        long = name in ("textbook", "novel")
        mixed = pieces(train, 330, LIMITS[name] // 2 if long else LIMITS[name], rng)
        if long:
            mixed += pieces(train, 110, LIMITS[name] // 2, rng)
        written = write_shard(
            work / "shards" / f"{name}.npz", name, sequences(mixed, PASSES[name], OPERATOR_SHARE[name], rng), tokenizer
        )
        _say({"shard": name, "documents": len(mixed), "tokens": written})
        held[name] = [d.text for d in pieces(held_out, 250, 300_000, rng)][:600]
    _merge_held_out(work, held)


def prepare_samples(work: Path, seeds: Sequence[int] = TRAINING_SEEDS[:16], count: int = 400, seed: int = 1) -> None:
    """Write a shard of project-made text into `work`; a running training picks it up."""
    rng = random.Random(seed)
    train = read_samples(seeds, count)
    rng.shuffle(train)
    tokenizer = load_tokenizer(work)
    for kind in sorted({d.kind for d in train}):
        documents = [d for d in train if d.kind == kind]
        made = sequences(documents, 2, OPERATOR_SHARE["project"], rng)
        name = kind.replace(" ", "_")
        written = write_shard(work / "shards" / f"{name}_{seed}.npz", kind, made, tokenizer)
        _say({"shard": name, "documents": len(documents), "tokens": written})
    held: dict[str, list[str]] = {}
    for document in read_samples([HELDOUT_SEED], 150):
        held.setdefault(document.kind, []).append(document.text)
    _merge_held_out(work, held)


REWRITING_WEIGHTS = {"expand": 50, "rephrase": 40, "vary": 10}


def prepare_rewriting(data: Path, work: Path, passes: int = 2, seed: int = 2) -> None:
    """Write shards of easier rewriting exercises, short pieces of letters included: what the filter method asks for."""
    rng = random.Random(seed)
    tokenizer = load_tokenizer(work)
    project = [d for d in read_samples(TRAINING_SEEDS[:16], 400) if d.text]
    sources = {"narrative": split(read_source("narrative", data))[0]}
    for document in project:
        sources.setdefault(document.kind, []).extend(_windows(document, rng))
    for kind, documents in sources.items():
        exercises = Exercises(documents, rng, REWRITING_WEIGHTS, ease=0.55)
        short = [d for d in documents if _is_short(d)]
        made = (exercises.make(d) for _ in range(passes if kind == "narrative" else 1) for d in short)
        written = write_shard(work / "shards" / f"{kind.replace(' ', '_')}_rewriting.npz", kind, made, tokenizer)
        _say({"shard": kind, "rewriting_documents": len(short), "tokens": written})


OPERATOR_PRACTICE = {
    "invent": 26, "fill": 20, "from_control_code": 16, "judge": 12, "abstract": 8, "expand": 6, "rephrase": 5,
    "vary": 4, "from_examples": 4, "cross": 3,
}  # fmt: skip
PRACTICE_LIMITS = {"narrative": 7_000_000, "abstract": 5_000_000, "textbook": 4_000_000, "novel": 4_000_000}
"""Characters of each public source in the second stage of the training."""


def prepare_practice(data: Path, work: Path, share: float = 0.7, seed: int = 3) -> None:
    """Write the shards of the second stage: operators in `share` of the sequences, those that copy above all."""
    rng = random.Random(seed)
    tokenizer = load_tokenizer(work)
    sources: dict[str, list[Document]] = {}
    for name in SOURCES:
        words = 110 if name in ("textbook", "novel") else 330
        sources[name] = pieces(split(read_source(name, data))[0], words, PRACTICE_LIMITS[name], rng)
    for document in read_samples(TRAINING_SEEDS[16:32], 300):
        sources.setdefault(document.kind, []).extend([document, *_windows(document, rng)[:1]])
    for kind, documents in sources.items():
        rng.shuffle(documents)
        short = [d for d in documents if _is_short(d)]
        exercises = Exercises(short, rng, OPERATOR_PRACTICE)
        made = (exercises.make(d) if _is_short(d) and rng.random() < share else plain(d, rng) for d in documents)
        written = write_shard(work / "shards" / f"{kind.replace(' ', '_')}_practice.npz", kind, made, tokenizer)
        _say({"shard": kind, "practice_documents": len(documents), "short": len(short), "tokens": written})


def _is_short(document: Document) -> bool:
    return 4 <= len(document.text.split()) <= MAX_WORDS["operator"]


def _windows(document: Document, rng: random.Random) -> list[Document]:
    """Return the document cut at line and sentence ends into pieces of 20 to 90 words, spans kept."""
    bounds = [m.end() for m in re.finditer(r"\n+|(?<=[.!?])\s+", document.text)] + [len(document.text)]
    out, start, target = [], 0, rng.randint(20, 90)
    for end in bounds:
        if end < len(document.text) and len(document.text[start:end].split()) < target:
            continue
        spans = [
            {**s, "start": int(s["start"]) - start, "end": int(s["end"]) - start}
            for s in document.spans
            if start <= int(s["start"]) and int(s["end"]) <= start + len(document.text[start:end].rstrip())
        ]
        out.append(replace(document, text=document.text[start:end].rstrip(), spans=spans))
        start, target = end, rng.randint(20, 90)
    return out


def _vocabulary(parts: dict[str, tuple[list[Document], list[Document]]], work: Path, rng: random.Random) -> Tokenizer:
    texts = [d.text for n, (train, _) in parts.items() for d in pieces(train, 300, VOCABULARY_LIMITS[n], rng)]
    try:
        texts += [d.text for d in read_samples(TRAINING_SEEDS[:2], 400)]
    except (ImportError, AttributeError):
        _say({"vocabulary": "trained without project-made text"})
    tokenizer = train_tokenizer(texts)
    tokenizer.save(str(work / "tokenizer.json"))
    return tokenizer


def _merge_held_out(work: Path, held: dict[str, list[str]]) -> None:
    path = work / "held_out.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**known, **held}, ensure_ascii=False), encoding="utf-8")
