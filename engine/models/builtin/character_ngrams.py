"""Vectors of texts from runs of letters, for any language: what stands in where no sentence model knows it.

Counts of runs of three to five letters within words, hashed and damped (the logarithm of a count), brought to the
width of the built-in embeddings by a fixed public projection with few numbers a column. Nothing is learnt from any
text, so a row hangs on its text alone. It follows words and their parts more than meaning.

Source: Weinberger et al. 2009 (Feature hashing), Kane and Nelson 2014 (Sparser Johnson-Lindenstrauss transforms).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import HashingVectorizer

ID = "character n-grams"
DIMENSION = 384  # as the built-in embeddings are
VERSION = "character n-grams 1"
_COLUMNS, _SHORTEST, _LONGEST = 2**17, 3, 5
_EACH = 8  # numbers a column of the projection
_SEED = 20_261_128
_BATCH = 256  # texts at once


class CharacterNgrams:
    """Turns texts into unit vectors; implements `engine.models.contracts.Embedder`."""

    id = ID
    dimension = DIMENSION
    fingerprint = VERSION

    def __init__(self) -> None:
        self._counts = HashingVectorizer(
            analyzer="char_wb", ngram_range=(_SHORTEST, _LONGEST), lowercase=False, preprocessor=_plain,
            n_features=_COLUMNS, alternate_sign=True, norm=None,
        )  # fmt: skip

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit-norm rows (n, d) float32 in the order of `texts`; a text without letters or signs has zeros."""
        found = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            counts = self._counts.transform(texts[start : start + _BATCH]).tocsr()
            counts.data = np.sign(counts.data) * np.log1p(np.abs(counts.data))
            rows = (counts @ _projection()).toarray()
            norms = np.linalg.norm(rows, axis=1, keepdims=True)
            found[start : start + _BATCH] = rows / np.maximum(norms, 1e-12)
        return found


def _plain(text: str) -> str:
    """Return a text in small letters, each letter with its marks as one sign."""
    return unicodedata.normalize("NFC", text).lower()


@lru_cache(maxsize=1)
def _projection() -> csr_matrix:
    """Return the public projection, float64 (columns, d): so many numbers 1 or -1 a column, at places drawn once."""
    raw = np.random.PCG64(_SEED).random_raw(_COLUMNS * _EACH)  # the same bits in every edition of the library
    places = ((raw >> np.uint64(1)) % np.uint64(DIMENSION)).astype(np.int32)
    signs = np.where(raw & np.uint64(1), 1.0, -1.0)
    starts = np.arange(0, len(raw) + 1, _EACH)
    return csr_matrix((signs, places, starts), shape=(_COLUMNS, DIMENSION))
