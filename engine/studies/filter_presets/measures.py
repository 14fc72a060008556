"""What the outputs of one filter configuration leak and are worth, against planted values and the clean records.

Source: Mohammed 2025, section 4.2. Where it scores outputs with GPT-2, the run's own language model does here.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.text.words import Vocabulary, cut
from engine.examine.stats.intervals import mean as bootstrap
from engine.examine.stats.intervals import wilson
from engine.examine.usefulness.base import Sample
from engine.examine.usefulness.wording.ngrams import ngram_divergence
from engine.examine.values.context_leaks import LeakMeter
from engine.methods.filter.stages import PLACEHOLDER, SIMILAR
from engine.models.contracts import Embedder, Generator
from engine.pii.control_codes import Passage
from engine.pii.sentences import sentence_bounds
from engine.studies.injected import Planted

LIMITS = (0.85, 0.90, 0.92, 0.95)  # the thresholds of Table 1 and of the adaptive mode
RUN = 4  # consecutive words of a canary that count as a part of it
CONTENT = 4  # letters from which a word of a canary counts by itself
COLUMNS = ["variant", "measure", "value", "low", "high", "n"]
_WORD = re.compile(r"\w+")
Row = tuple[str, float, float, float, int]


@dataclass(frozen=True)
class Outputs:
    """What one configuration made: texts, and the number of the record that each stems from.

    similar: pieces that the similarity stage replaced. nearest: each output's highest similarity to a known item before
    that stage acted, -1 where none was near; empty where nothing was compared.
    """

    texts: tuple[str, ...]
    sources: tuple[int, ...]
    similar: int = 0
    nearest: tuple[float, ...] = ()


def privacy(made: Outputs, planted: Sequence[Planted]) -> list[Row]:
    """Return the shares of outputs that hold a value of their own record: planted identifiers, canaries, own ones."""
    groups = {
        "identifier_leakage": [p.identifiers for p in planted],
        "canary_leakage": [p.canaries for p in planted],
        "own_identifier_leakage": [tuple(s for s in p.spans if s.identifier_type == "direct") for p in planted],
    }
    rows = []
    for name, spans in groups.items():
        passages = [Passage(str(i), 0, p.text, own) for i, (p, own) in enumerate(zip(planted, spans, strict=True))]
        rows.append(_share(name, _holding(made, passages), len(made.texts)))
    parts = _share("canary_parts", _parts(made, planted), len(made.texts))
    return [*rows, parts, average("canary_words", _words(made, planted), 0)]


def stage(made: Outputs) -> list[Row]:
    """Return the pieces an output that the similarity stage replaced, and the shares of outputs near, by threshold."""
    count = len(made.nearest)
    rows: list[Row] = [("replaced_as_similar", made.similar / count if count else math.nan, math.nan, math.nan, count)]
    return [*rows, *(_share(f"near_{limit:.2f}", sum(x >= limit for x in made.nearest), count) for limit in LIMITS)]


def written(made: Outputs, key: bytes) -> pd.DataFrame:
    """Return a keyed mark of each record's output, so that configurations that wrote the same can be told."""
    marks = [hashlib.blake2b(text.encode(), key=key[:64], digest_size=12).hexdigest() for text in made.texts]
    return pd.DataFrame({"record": list(made.sources), "mark": marks})


def _holding(made: Outputs, passages: Sequence[Passage]) -> int:
    if not made.texts:
        return 0
    shown = [(passages[source],) for source in made.sources]
    return round(LeakMeter(passages).in_context(made.texts, shown).pipp * len(made.texts))


def _parts(made: Outputs, planted: Sequence[Planted]) -> int:
    """Return how many outputs repeat RUN consecutive words of their record's canary."""

    def runs(text: str) -> set[tuple[str, ...]]:
        words = _WORD.findall(text.casefold())
        return {tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)}

    phrases = [set().union(*(runs(p.text[s.start : s.end]) for s in p.canaries)) for p in planted]
    return sum(bool(runs(text) & phrases[source]) for text, source in zip(made.texts, made.sources, strict=True))


def _words(made: Outputs, planted: Sequence[Planted]) -> NDArray[np.float64]:
    """Return, for each output of a record with a canary, the share of the canary's content words in it."""
    shares = []
    for text, source in zip(made.texts, made.sources, strict=True):
        record = planted[source]
        phrase = " ".join(record.text[s.start : s.end] for s in record.canaries).casefold()
        rest = set(_WORD.findall(record.text.casefold().replace(phrase, " "))) if phrase else set()
        words = {w for w in _WORD.findall(phrase) if len(w) >= CONTENT} - rest
        if words:
            shares.append(len(words & set(_WORD.findall(text.casefold()))) / len(words))
    return np.array(shares)


def _share(name: str, hits: int, n: int) -> Row:
    if not n:
        return name, math.nan, math.nan, math.nan, 0
    low, high = wilson(hits, n)
    return name, hits / n, low, high, n


def similarities(made: Outputs, texts: Sequence[str], embedder: Embedder) -> NDArray[np.float64]:
    """Return each output's cosine similarity to the text it stems from, float64 array (outputs,)."""
    if not made.texts:
        return np.zeros(0)
    theirs = embedder.embed([texts[source] for source in made.sources])
    found: NDArray[np.float64] = (embedder.embed(list(made.texts)) * theirs).sum(axis=1).astype(float)
    return found


def average(name: str, values: NDArray[np.float64], seed: int) -> Row:
    """Return a mean with its bootstrap interval as a row."""
    found = bootstrap(values, seed)
    low, high = (math.nan if x is None else float(x) for x in (found.low, found.high))
    return name, float(found.value), low, high, len(values)


def perplexity(texts: Sequence[str], generator: Generator, seed: int) -> Row:
    """Return exp of the mean negative log-probability a token over all texts, interval by bootstrap over texts."""
    usable = [t for t in texts if t.strip()]
    if not usable or "logprobs" not in generator.capabilities:
        return "perplexity", math.nan, math.nan, math.nan, 0
    scores = generator.score(usable)
    sums = np.array([float(s.sum()) for s in scores])
    tokens = np.array([max(1, len(s)) for s in scores], float)
    draws = np.random.default_rng(seed).integers(0, len(usable), (500, len(usable)))
    again = np.exp(-sums[draws].sum(axis=1) / tokens[draws].sum(axis=1))
    low, high = np.quantile(again, [0.025, 0.975])
    return "perplexity", float(np.exp(-sums.sum() / tokens.sum())), float(low), float(high), len(usable)


def divergences(texts: Sequence[str], clean: Sequence[str]) -> list[Row]:
    """Return the Jensen-Shannon divergences of 1, 2 and 3-grams from the clean records, in bits."""
    if not texts:
        return [(f"js_{n}gram", math.nan, math.nan, math.nan, 0) for n in (1, 2, 3)]
    vocabulary = Vocabulary()
    ours, theirs = _sample(texts, vocabulary), _sample(clean, vocabulary)
    return [
        (f"js_{n}gram", float(ngram_divergence(ours, theirs, n).value), math.nan, math.nan, len(texts))
        for n in (1, 2, 3)
    ]


def _sample(texts: Sequence[str], vocabulary: Vocabulary) -> Sample:
    table = cut(texts, vocabulary)
    return Sample(tuple(table.of(i) for i in range(len(texts))), np.arange(len(texts)).astype(object))


def statistics(texts: Sequence[str], seed: int) -> list[Row]:
    """Return words, characters and sentences an output, and placeholders a hundred words."""
    words = np.array([len(_WORD.findall(t)) for t in texts], float)
    marks = np.array([len(PLACEHOLDER.findall(t.replace(SIMILAR, "[SIMILAR]"))) for t in texts], float)
    sentences = np.array([len(b) for b in sentence_bounds(texts)], float)
    rows = [
        average("words", words, seed),
        average("characters", np.array([len(t) for t in texts], float), seed),
        average("sentences", sentences, seed),
        average("placeholders_per_100_words", 100 * marks / np.maximum(words, 1), seed),
    ]
    return rows


def frame(variant: str, rows: Sequence[Row]) -> pd.DataFrame:
    """Return rows as a tidy table of one variant."""
    return pd.DataFrame([(variant, *row) for row in rows], columns=COLUMNS)
