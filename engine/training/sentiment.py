"""Train the built-in sentiment classifier: `python -m engine.training.sentiment [--public FOLDER]`.

Labels come from a made-up grammar; with `--public`, sentences of public text with clearly polar words (a word
list below) are added as weak labels. Nothing here was labelled by people.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.json_types import JSON
from engine.models.builtin.embedder import load_embedder
from engine.models.builtin.sentiment import BuiltinSentiment, sentiment_folder
from engine.models.builtin.sentiment_sentences import CLASSES, make, read_grammar

LOG = logging.getLogger("train_sentiment")
POSITIVE = frozenset(
    "happy joy joyful delight delighted love loved beautiful pleasure pleased smile smiled hope glad cheerful kind "
    "tender grateful recovered improved success excellent wonderful admirable triumph laughed merry resolved".split()
)
NEGATIVE = frozenset(
    "sad pain painful angry fear terrible horrible wept tears misery died death cruel hate hated despair fever "
    "vomiting seizure seizures crying screaming rash swelling severe hospitalized sick weak wretched failure".split()
)
_SENTENCE = re.compile(r"[^.!?]{40,220}[.!?]")
_WORD = re.compile(r"[a-z]+")
_NOT = frozenset("not no never nor without hardly".split())
_FILES = {"vaers_1990_1997.parquet": "SYMPTOM_TEXT", "eltec_eng.parquet": "text", "openstax.parquet": "text"}


def weak_label(sentence: str) -> int | None:
    """Return a class by the word lists: two words of one pole and none of the other, or none of either; else None."""
    words = _WORD.findall(sentence.lower())
    good, bad = sum(w in POSITIVE for w in words), sum(w in NEGATIVE for w in words)
    if (good and bad) or not _NOT.isdisjoint(words):
        return None
    if good >= 2:
        return 2
    if bad >= 2:
        return 0
    return 1 if not good and not bad else None


def weak_sentences(folder: Path, per_class: int, seed: int) -> tuple[list[str], list[int]]:
    """Return public sentences with weak labels, at most `per_class` of each class and file."""
    import pandas as pd

    rng = random.Random(seed)
    texts: list[str] = []
    classes: list[int] = []
    for name in _FILES:
        frame = pd.read_parquet(folder / name)
        column = max(frame.columns, key=lambda c: frame[c].head(50).astype(str).str.len().mean())
        rows = [str(t) for t in frame[column].dropna()]
        rng.shuffle(rows)
        held: dict[int, list[str]] = {0: [], 1: [], 2: []}
        for row in rows:
            at = rng.randrange(max(1, len(row) - 20_000))
            for sentence in _SENTENCE.findall(" ".join(row[at : at + 20_000].split())):
                label = weak_label(sentence)
                if label is not None and len(held[label]) < per_class:
                    held[label].append(sentence.strip())
            if all(len(found) >= per_class for found in held.values()):
                break
        for label, found in held.items():
            texts += found
            classes += [label] * len(found)
    return texts, classes


def measured(model: BuiltinSentiment, texts: list[str], classes: list[int], kinds: list[str]) -> dict[str, JSON]:
    """Return accuracy overall, a class and a domain, and the share that is confident (>= 0.55) and right."""
    found = model.predict(texts)
    right = found.argmax(axis=1) == np.array(classes)
    sure = found.max(axis=1) >= 0.55
    groups = {name: np.array([k == name for k in kinds]) for name in sorted(set(kinds))}
    return {
        "n": len(texts),
        "accuracy": round(float(right.mean()), 4),
        "confident_share": round(float(sure.mean()), 4),
        "accuracy_where_confident": round(float(right[sure].mean()), 4),
        "by_class": {c: round(float(right[np.array(classes) == i].mean()), 4) for i, c in enumerate(CLASSES)},
        "by_domain": {name: round(float(right[mask].mean()), 4) for name, mask in groups.items()},
    }


def fitted(
    vectors: NDArray[np.float32], classes: list[int], weights: NDArray[np.float64], strength: float
) -> dict[str, NDArray[np.float32]]:
    """Return weight (3, d) and bias (3,) of a multinomial logistic regression."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=strength, max_iter=2000).fit(vectors, classes, sample_weight=weights)
    # safetensors writes raw memory: a Fortran-ordered array would come back scrambled.
    found = {"weight": model.coef_, "bias": model.intercept_}
    return {name: np.ascontiguousarray(values, dtype=np.float32) for name, values in found.items()}


def train(out: Path, public: Path | None, count: int, weak: int, strength: float, seed: int) -> dict[str, JSON]:
    """Write model.safetensors, config.json and evaluation.json into `out`; return the evaluation."""
    from safetensors.numpy import save_file

    grammar = read_grammar(sentiment_folder() / "made.yaml")
    texts, classes, _ = make(grammar, count, seed, "train")
    weights = np.ones(len(texts))
    held_weak: tuple[list[str], list[int]] = ([], [])
    if public is not None:
        found, labels = weak_sentences(public, weak, seed)
        order = np.random.default_rng(seed).permutation(len(found))
        cut = len(found) * 4 // 5
        texts += [found[i] for i in order[:cut]]
        classes += [labels[i] for i in order[:cut]]
        weights = np.concatenate([weights, np.full(cut, 0.5)])
        held_weak = [found[i] for i in order[cut:]], [labels[i] for i in order[cut:]]
    embedder = load_embedder()
    tensors = fitted(embedder.embed(texts), classes, weights, strength)
    out.mkdir(parents=True, exist_ok=True)
    save_file(tensors, out / "model.safetensors")
    config = {"classes": list(CLASSES), "embedder": embedder.id, "strength": strength, "seed": seed}
    (out / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    model = BuiltinSentiment(embedder, out)
    report: dict[str, JSON] = {
        "labels": "No sentence was labelled by people. Labels of the made sentences follow from the grammar; "
        "weak labels of public sentences follow from a word list, so agreement with them is agreement with that list.",
        "trained_on": {"made": count, "weak": len(texts) - count},
        "held_out_templates_and_words": measured(model, *make(grammar, 3000, seed + 1, "held")),
    }
    if held_weak[0]:
        report["weakly_labelled_public_sentences"] = measured(model, *held_weak, ["public"] * len(held_weak[0]))
    (out / "evaluation.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return report


def main() -> None:
    """Read the options and train."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    parser = argparse.ArgumentParser(prog="python -m engine.training.sentiment")
    parser.add_argument("--out", type=Path, default=sentiment_folder())
    parser.add_argument("--public", type=Path, help="folder with public parquet files for weak labels")
    parser.add_argument("--count", type=int, default=6000)
    parser.add_argument("--weak", type=int, default=350, help="sentences a class and file at most")
    parser.add_argument("--strength", type=float, default=10.0, help="inverse of the L2 penalty")
    parser.add_argument("--seed", type=int, default=0)
    o = parser.parse_args()
    LOG.info("%s", json.dumps(train(o.out, o.public, o.count, o.weak, o.strength, o.seed), indent=1))


if __name__ == "__main__":
    main()
