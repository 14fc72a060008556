"""Held-out texts for measuring the built-in language model's operators, and labelled text to train the judge on.

Public and project-made text only: documents that no training has seen (`data.split`, HELDOUT_SEED).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.corpus.text.words import WORD
from engine.training.language import sources
from engine.training.language.data import (
    HELDOUT_SEED,
    SOURCES,
    TRAINING_SEEDS,
    Document,
    pieces,
    read_samples,
    read_source,
    split,
)

MIN_WORDS, MAX_WORDS = 8, 130  # as long as the exercises of the training
_CHARACTERS = 400_000  # held-out text of a kind that is cut into pieces
_LABELS = 8  # most frequent labels of a kind that are asked for
_MORE = ("complaint", "health question")  # kinds of the newer sources whose labels say what a text is about
_RUN = 6  # words of a run by which a text is known in another wording
_TRAINING_TEXTS = 400  # texts a kind that the label classifier learns from


@dataclass(frozen=True)
class Kind:
    """One kind of text: held-out ones that are not long, and labelled texts to learn labels from."""

    name: str
    pieces: tuple[Document, ...]
    labels: tuple[str, ...]
    learn: tuple[Document, ...]
    real: tuple[Document, ...]


def without_twins(held: Sequence[Document], train: Sequence[Document]) -> list[Document]:
    """Return the held-out documents of which no other wording was trained on.

    Sources that pair a sentence with its simpler twin part the two by chance; a text whose twin was learned is no more
    unseen than its twin. A document may have one where training holds any of its runs of six words, or it has none.
    """
    wanted = [_runs(d.text) for d in held]
    asked = set().union(*wanted)
    learned = {run for d in train for run in _runs(d.text) & asked}
    return [d for d, own in zip(held, wanted, strict=True) if own and not own & learned]


def _runs(text: str) -> set[tuple[str, ...]]:
    words = [match.group().lower() for match in WORD.finditer(text)]
    return {tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)}


def held_out_kinds(data: Path | None, seed: int = 0, made: int = 300) -> list[Kind]:
    """Return what the operators are measured on, a kind.

    Args:
        data: folder that holds `lm/`; None: project-made kinds alone.
        seed: of the order and the cuts.
        made: project-made documents a kind.
    """
    rng = random.Random(seed)
    found = []
    for name in SOURCES if data is not None else ():
        train, held = split(read_source(name, Path(str(data)) / "lm"))
        short = pieces(held, 110, _CHARACTERS, rng) if name in ("textbook", "novel") else held
        found.append(_kind(name, short, train, held, rng))
    for source in sources.SOURCES if data is not None else ():
        if source.kind in _MORE:
            train, held = split(sources.read_table(source, Path(str(data)) / "lm"))
            found.append(_kind(source.kind, held, train, held, rng))
    held_made, learn_made = read_samples([HELDOUT_SEED], made), read_samples(TRAINING_SEEDS[:4], made)
    for name in sorted({d.kind for d in held_made}):
        held = [d for d in held_made if d.kind == name]
        found.append(_kind(name, held, [d for d in learn_made if d.kind == name], held, rng))
    return found


def _kind(
    name: str, short: Sequence[Document], train: Sequence[Document], held: Sequence[Document], rng: random.Random
) -> Kind:
    chosen = [d for d in short if MIN_WORDS <= len(d.text.split()) <= MAX_WORDS]
    rng.shuffle(chosen)
    counts: dict[str, int] = {}
    for document in train:
        if document.label:
            counts[document.label] = counts.get(document.label, 0) + 1
    labels = tuple(sorted(sorted(counts, key=lambda x: (-counts[x], x))[:_LABELS]))
    learn = _balanced([d for d in train if d.label in labels], labels, _TRAINING_TEXTS, rng)
    real = _balanced([d for d in held if d.label in labels], labels, 120, rng)
    return Kind(name, tuple(chosen), labels, learn, real)


def _balanced(
    documents: Sequence[Document], labels: Sequence[str], count: int, rng: random.Random
) -> tuple[Document, ...]:
    """Return up to `count` documents, as many of each label as there are, at most an equal share."""
    each = max(1, count // max(1, len(labels)))
    found: list[Document] = []
    for label in labels:
        own = [d for d in documents if d.label == label]
        found += rng.sample(own, min(each, len(own)))
    return tuple(found)
