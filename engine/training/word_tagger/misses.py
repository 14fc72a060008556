"""Print what detection missed and marked wrongly in one language.

`python -m engine.training.word_tagger.misses --data FOLDER --language de [--count 20] [--seed 1]`. Unpicked: a draw
with a fixed seed from the parts that may be tuned on, never from the one that is reported. What is printed is other
people's text: read it, keep it nowhere.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from engine.training.word_tagger.data import ANY, Document, read_sets
from engine.training.word_tagger.measure import WORD, detected, kind

NAMES = frozenset({"PERSON", "LOCATION", "ORGANISATION"})
AROUND = 45  # characters shown on each side
Found = Sequence[tuple[int, int, str]]


def development(folder: Path, language: str, rng: random.Random, most: int = 600) -> list[Document]:
    """Return texts of a language that may be looked at: the tuning part first, then some of the training part."""
    rows = [d for d in read_sets(folder, "tune") if d.language == language and d.types & NAMES]
    more = [d for d in read_sets(folder, "train") if d.language == language and d.types & NAMES]
    return rows + rng.sample(more, min(len(more), max(0, most - len(rows))))


def missed(document: Document, found: Found) -> Iterator[tuple[int, int, str]]:
    """Yield the names of which a letter is not masked."""
    masked = _covered(document.text, ((start, end) for start, end, _ in found))
    for start, end, label in document.spans:
        if label in NAMES and not all(masked[i] or not document.text[i].isalnum() for i in range(start, end)):
            yield start, end, label


def wrong(document: Document, found: Found) -> Iterator[tuple[int, int, str]]:
    """Yield the masked names of which no word stands in an annotated span."""
    shown = _covered(document.text, ((start, end) for start, end, _ in document.spans))
    for start, end, label in found:
        words = list(WORD.finditer(document.text, start, end))
        if kind(label) in document.types & NAMES and not any(any(shown[m.start() : m.end()]) for m in words):
            yield start, end, label


def _covered(text: str, spans: Iterator[tuple[int, int]]) -> bytearray:
    out = bytearray(len(text))
    for start, end in spans:
        out[start:end] = b"\1" * (end - start)
    return out


def line(document: Document, start: int, end: int, label: str) -> str:
    """Return a span in its surroundings on one line."""
    text = document.text
    around = f"{text[max(0, start - AROUND) : start]}[[{text[start:end]}]]{text[end : end + AROUND]}"
    return f"{label} {document.source.split('/')[0]}: {' '.join(around.split())}"


def main() -> int:
    """Print so many misses and so many false alarms of one language."""
    parser = argparse.ArgumentParser(prog="python -m engine.training.word_tagger.misses", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--language", required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(1)
    rng = random.Random(args.seed)
    documents = development(args.data / "ner", args.language, rng)
    if not documents:
        sys.stderr.write(f"no annotated text in {args.language!r} may be looked at\n")
        return 1
    rows = list(zip(documents, detected(documents)))
    for title, of in (("missed", missed), ("marked, and nobody annotated it", wrong)):
        lines = [line(d, *span) for d, found in rows for span in of(d, found) if span[2] != ANY]
        some = rng.sample(lines, min(args.count, len(lines)))
        sys.stdout.write(f"{title}: {len(some)} of {len(lines)}, in {len(rows)} texts\n")
        sys.stdout.write("".join(f"  {one}\n" for one in some))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
