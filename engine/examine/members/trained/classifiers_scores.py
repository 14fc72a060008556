"""Membership scores from a classifier trained on the synthetic text: how sure it is of private records.

Sources: Salem et al. 2019 (ML-Leaks, section 5: entropy and highest confidence of one model's outputs); Song and
Mittal 2021 (Systematic evaluation of privacy risks, section 3: confidence, entropy and modified entropy); table 5 of
DPGA-TextSyn reports both for a classifier fine-tuned on synthetic text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Predict = Callable[[Sequence[str]], Floats]
FEATURES = 20_000
STRENGTH = 100.0  # inverse of the penalty: weak, so that records can be learned by heart
LEAST = 2
_TINY = 1e-12


def trained(texts: Sequence[str], labels: Sequence[str], seed: int) -> tuple[list[str], Predict]:
    """Return the classes, and a function from texts to their probabilities (n, classes).

    A logistic regression on TF-IDF of words and word pairs of the synthetic text alone, hardly penalised.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    maker = TfidfVectorizer(ngram_range=(1, 2), max_features=FEATURES, sublinear_tf=True, token_pattern=r"(?u)\w+")
    table = maker.fit_transform([str(text) for text in texts])
    model = LogisticRegression(C=STRENGTH, max_iter=300, random_state=seed)
    model.fit(table, list(labels))
    return [str(one) for one in model.classes_], lambda found: model.predict_proba(maker.transform(list(found)))


def entropy(chances: Floats) -> Floats:
    """Return minus the entropy of each record's class probabilities, nats; higher = surer.

    Source: Salem et al. 2019, section 5; Song and Mittal 2021, equation 7.
    """
    return np.asarray((chances * np.log(np.maximum(chances, _TINY))).sum(axis=1))


def confidence(chances: Floats, label: NDArray[np.int64]) -> Floats:
    """Return the log-odds of each record's own class.

    The order is that of its probability; log-odds keep differences near 1 apart (Carlini et al. 2022, section V-B).
    Source: Song and Mittal 2021, equation 6.
    """
    own = chances[np.arange(len(label)), label]
    return np.asarray(np.log(np.maximum(own, _TINY)) - np.log(np.maximum(1 - own, _TINY)))


def modified_entropy(chances: Floats, label: NDArray[np.int64]) -> Floats:
    """Return minus the modified entropy: low where the classifier is sure and right, high where sure and wrong.

    Source: Song and Mittal 2021, equation 8.
    """
    rows = np.arange(len(label))
    own = chances[rows, label]
    others = -chances * np.log(np.maximum(1 - chances, _TINY))
    found = -(1 - own) * np.log(np.maximum(own, _TINY)) + others.sum(axis=1) - others[rows, label]
    return np.asarray(-found)
