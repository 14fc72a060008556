"""Name the topics of a corpus by their most telling words, with the share of synthetic and of real texts in each.

Privacy posture: the table holds words of the private text, so it is internal; a word is named only where it stands in
the records of at least `COMMON` people and in no accepted span.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.base import words_in_spans
from engine.examine.persons.profiles import units_holding
from engine.examine.prepare import Prepared
from engine.examine.tables import COMMON
from engine.examine.usefulness.base import Sample
from engine.examine.usefulness.meaning.distribution import nearest_cluster
from engine.examine.usefulness.sides import Trio, pick
from engine.examine.usefulness.unrelated import unrelated_text

COLUMNS = ["topic", "words", "synthetic_share", "real_share", "synthetic_texts", "real_texts", "internal"]
LARGEST = 1000
WORDS = 5  # a topic
SHORTEST = 3  # letters of a telling word
TELLING = 1.96  # standard errors by which a word must be more frequent inside than outside


def topics(prepared: Prepared) -> pd.DataFrame:
    """Return one row a topic, the largest real one first: its words, and the share and number of texts on both sides.

    The topics are the clusters that the findings on topics count in. No row where there are too few texts.
    """
    trio = pick(prepared, LARGEST, "embeddings", unrelated_text(prepared))
    if trio.target.centres is None:
        return pd.DataFrame(columns=COLUMNS)
    real_places = np.concatenate([nearest_cluster(side) for side in (trio.target, trio.real)])
    made_places = nearest_cluster(trio.synthetic)
    number = len(trio.target.centres)
    real, made = (np.bincount(places, minlength=number) for places in (real_places, made_places))
    words = _telling(prepared, trio, np.concatenate([real_places, made_places]), number)
    table = pd.DataFrame({
        "topic": np.arange(1, number + 1), "words": words, "synthetic_share": made / max(1, made.sum()),
        "real_share": real / max(1, real.sum()), "synthetic_texts": made, "real_texts": real, "internal": True,
    })  # fmt: skip
    return table.sort_values(["real_texts", "topic"], ascending=[False, True], ignore_index=True)


def _telling(prepared: Prepared, trio: Trio, places: NDArray[np.int64], number: int) -> list[str]:
    """Return the words of each cluster that tell it best from the others, of texts of both kinds.

    The score is the logarithm of the odds that a text holds the word, inside against outside, over its standard error,
    with half a text added to each count. Source: Monroe, Colaresi and Quinn 2008, equations 16 to 22.
    """
    known = nameable(prepared)
    column = {int(word): i for i, word in enumerate(known)}
    names = prepared.vocabulary.words()
    texts: tuple[Sample, ...] = (trio.target, trio.real, trio.synthetic)
    holds = np.zeros((number, len(known)))
    row = 0
    for side in texts:
        for words in side.words:
            found = [column[word] for word in set(words.tolist()) if word in column]
            holds[places[row], found] += 1.0
            row += 1
    sizes = np.bincount(places, minlength=number).astype(float)[:, None]
    inside, outside = holds + 0.5, holds.sum(axis=0) - holds + 0.5
    without, beyond = sizes - holds + 0.5, sizes.sum() - sizes - (holds.sum(axis=0) - holds) + 0.5
    odds = np.log(inside / without) - np.log(outside / beyond)
    score = odds / np.sqrt(1.0 / inside + 1.0 / without + 1.0 / outside + 1.0 / beyond)
    best = np.argsort(-score, axis=1, kind="stable")[:, :WORDS]
    return [
        ", ".join(names[known[i]] for i in row if scores[i] >= TELLING) for row, scores in zip(best, score, strict=True)
    ]


def nameable(prepared: Prepared) -> NDArray[np.int64]:
    """Return the numbers of the words that may be named: letters alone, of many people, in no accepted span."""
    train = prepared.train
    names = prepared.vocabulary.words()
    units = units_holding(train.words, pd.factorize(train.units)[0], len(names))
    words = np.flatnonzero(units)
    private = words_in_spans(train)
    return np.array(
        [
            word
            for word, count in zip(words.tolist(), units[words].tolist(), strict=True)
            if count >= COMMON and word not in private and names[word].isalpha() and len(names[word]) >= SHORTEST
        ],
        np.int64,
    )
