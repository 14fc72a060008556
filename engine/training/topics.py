"""Make the public topics: `python -m engine.training.topics DATA`, DATA the folder of public texts.

Passages of public text are embedded with the shipped encoder and split three times by spherical k-means, into 16, 8
and 8 parts, so that a leaf has a way of three steps from the root. Key words of a leaf are the words that stand out in
it (class-based tf-idf, Grootendorst 2022, section 3.2), single words of at least four letters that at least four of
its passages have. Nothing but those words and the centres is kept: no passage.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.methods.topics.public import FOLDER
from engine.models.builtin.format import STOPWORDS

WORDS, KEYS, LEAST = 120, 10, 4
SMALLEST = 8  # passages of a leaf; smaller ones go to the next nearest
TURNS = 30
BRANCHES = (16, 8, 8)
FILES = {
    "vaers_1990_1997": 3000, "cfpb_complaints": 3000, "safety_incidents": 2500, "osha_nhtsa_short": 3000,
    "scotus_opinions": 1500, "medquad": 2500, "arxiv_abstracts_60k": 3500, "openstax": 2000, "letters_gutenberg": 620,
    "usgov_plain_english": 600, "world_factbook": 1000, "taskmaster4_dialogues": 600, "commonvoice_en": 1200,
    "eltec_eng": 1500, "primock57": 114,
}  # fmt: skip
_LONG = ("openstax", "eltec_eng", "scotus_opinions")  # read from anywhere, not from their beginning
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]{3,}")
_NAMED = 0.8  # share of a word's places with a capital first letter from which it is a name, and left out
_NOISE = re.compile(r"x{3,}")  # what a source blacked out


def passages(data: Path, seed: int = 20) -> list[str]:
    """Return passages of at most 120 words from the public texts."""
    import pandas as pd

    rng, found = np.random.default_rng(seed), []
    for name, count in FILES.items():
        frame = pd.read_parquet(data / f"{name}.parquet")
        texts = [str(text).split() for text in frame["text" if "text" in frame else "abstract"].dropna()]
        for i in rng.choice(len(texts), min(count, len(texts)), replace=False):
            words = texts[i]
            start = int(rng.integers(0, max(1, len(words) - WORDS))) if name in _LONG else 0
            if len(words) >= 6:
                found.append(" ".join(words[start : start + WORDS]))
    return found


def tree(rows: NDArray[np.float32]) -> tuple[NDArray[np.int64], list[tuple[int, ...]]]:
    """Return each passage's leaf and each leaf's way from the root."""
    way, rng = np.zeros((len(rows), 0), dtype=np.int64), np.random.default_rng(21)
    for branches in BRANCHES:
        step = np.zeros(len(rows), dtype=np.int64)
        for node in np.unique(way, axis=0) if way.shape[1] else [way[0]]:
            own = np.flatnonzero((way == node).all(axis=1))
            step[own] = clustered(rows[own], max(1, min(branches, len(own) // (3 * SMALLEST))), rng)
        way = np.column_stack([way, step])
    paths, leaf = np.unique(way, axis=0, return_inverse=True)
    return leaf.ravel().astype(np.int64), [tuple(int(step) for step in path) for path in paths]


def clustered(rows: NDArray[np.float32], k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return spherical k-means clusters without gaps, from seeds drawn far apart (k-means++)."""
    centres = rows[[int(rng.integers(len(rows)))]]
    for _ in range(k - 1):
        far = np.maximum(1.0 - (rows @ centres.T).max(axis=1), 0.0) ** 2 + 1e-12
        centres = np.vstack([centres, rows[rng.choice(len(rows), p=far / far.sum())]])
    own = np.zeros(len(rows), dtype=np.int64)
    for _ in range(TURNS):
        found = (rows @ centres.T).argmax(axis=1)
        sizes = np.bincount(found, minlength=len(centres))
        if sizes.min() < SMALLEST and len(centres) > 1:
            centres = np.delete(centres, int(sizes.argmin()), axis=0)
            continue
        if (found == own).all():
            break
        own = found
        sums = np.stack([rows[own == c].sum(axis=0) for c in range(len(centres))])
        centres = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    return np.unique((rows @ centres.T).argmax(axis=1), return_inverse=True)[1].astype(np.int64)


def key_words(texts: list[str], leaf: NDArray[np.int64], leaves: int) -> list[list[str]]:
    """Return the words that stand out in each leaf, by class-based tf-idf, the most telling first; no names."""
    counts = [Counter[str]() for _ in range(leaves)]
    texts_with = [Counter[str]() for _ in range(leaves)]
    whole, titled = Counter[str](), Counter[str]()
    for text, own in zip(texts, leaf.tolist(), strict=True):
        seen = [word.strip("'-") for word in _WORD.findall(text)]
        words = [word.lower() for word in seen]
        titled.update(word.lower() for word in seen if word.istitle())
        counts[own].update(words)
        texts_with[own].update(set(words))
        whole.update(words)
    mean = sum(whole.values()) / leaves
    barred = {
        word for word, number in whole.items()
        if word in STOPWORDS or len(word) < LEAST or _NOISE.search(word) or titled[word] > _NAMED * number
    }  # fmt: skip
    found = []
    for own, having in zip(counts, texts_with, strict=True):
        scores = {w: n * np.log1p(mean / whole[w]) for w, n in own.items() if having[w] >= LEAST and w not in barred}
        best = sorted(scores, key=lambda word: (-scores[word], word))
        found.append(best[:KEYS] or [word for word, _ in own.most_common() if word not in barred][:KEYS])
    return found


def write(texts: list[str], rows: NDArray[np.float32], folder: Path = FOLDER) -> int:
    """Write the topics of embedded passages and return how many leaves there are."""
    from safetensors.numpy import save_file

    leaf, paths = tree(rows)
    centres = np.stack([rows[leaf == i].sum(axis=0) for i in range(len(paths))])
    centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
    keys, texts_of = key_words(texts, leaf, len(paths)), np.bincount(leaf, minlength=len(paths))
    folder.mkdir(parents=True, exist_ok=True)
    whole = np.rint(centres * (127.0 / np.abs(centres).max(axis=1, keepdims=True))).astype(np.int8)  # direction alone
    save_file({"centres": whole}, folder / "centres.safetensors")
    lines = [
        json.dumps({"path": path, "texts": int(number), "keys": own}, ensure_ascii=False)
        for path, number, own in zip(paths, texts_of, keys, strict=True)
    ]
    (folder / "topics.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    return len(paths)


if __name__ == "__main__":
    from engine.models.builtin.embedder import load_embedder

    given = passages(Path(sys.argv[1]))
    sys.stderr.write(f"{write(given, load_embedder().embed(given))} topics\n")
