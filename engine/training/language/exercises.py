"""Turn documents into training sequences whose conditions come first: kind, label, key words, length, then the text.

Every document is seen under conditions, so that the network itself learns to obey them; a tenth are bare, so that text
can still be scored as it stands.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from engine.models.builtin.format import BOS, EOS, clean
from engine.training.language.data import Document, pieces
from engine.training.language.sequences import Exercises, Sequence_

WEIGHTS = {
    "invent": 38, "from_control_code": 16, "fill": 12, "expand": 14, "rephrase": 9, "vary": 3, "cross": 2,
    "abstract": 3, "from_examples": 2, "judge": 1,
}  # fmt: skip
BARE = 0.1
LENGTHS = (450, 220, 90)  # words of the pieces a long document is cut into, each a third of its characters


def sequences(documents: Sequence[Document], limit: int, passes: float, rng: random.Random) -> Iterator[Sequence_]:
    """Yield the sequences of one kind.

    Args:
        documents: of the kind, training part.
        limit: characters that enter, over all lengths of pieces.
        passes: over the pieces; a fraction is a share of the last pass.
        rng: source of every choice.
    """
    mixed: list[Document] = []
    if any(d.spans for d in documents):  # their offsets hold for whole texts only
        mixed += documents
    else:
        long = sum(len(d.text.split()) > LENGTHS[-1] for d in documents) > len(documents) // 2
        for words in LENGTHS if long else LENGTHS[:1]:
            mixed += pieces(documents, words, limit // (len(LENGTHS) if long else 1), rng)
    exercises = Exercises(mixed, rng, WEIGHTS)
    rounds = int(passes)
    for number in range(rounds + 1):
        rng.shuffle(mixed)
        part = mixed if number < rounds else mixed[: int((passes - rounds) * len(mixed))]
        for document in part:
            short = replace(document, text=document.text.strip())
            yield Sequence_(BOS, clean(short.text) + EOS) if rng.random() < BARE else exercises.make(short)
