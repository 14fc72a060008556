"""Tell negative, neutral and positive text apart: a small built-in classifier, or a model folder.

The built-in one is a multinomial logistic regression on sentence embeddings (all-MiniLM-L6-v2).
Privacy posture: texts and probabilities stay in memory; nothing is logged.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.assets import ASSETS
from engine.errors import UserError
from engine.models.builtin.sentiment_sentences import CLASSES
from engine.models.contracts import Embedder

BUILTIN = "builtin"
_WEIGHTS = "model.safetensors"
_BATCH = 16


class Classifier(Protocol):
    """Tells sentiment."""

    id: str

    def predict(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return probabilities (n, 3) float32, columns negative, neutral, positive, rows summing to one."""
        ...


def sentiment_folder() -> Path:
    """Return the folder of the built-in sentiment model."""
    return ASSETS / "models" / "sentiment"


class BuiltinSentiment:
    """Logistic regression on sentence embeddings.

    Args:
        embedder: the packaged sentence encoder, whose vectors the weights belong to.
        folder: where model.safetensors and config.json lie.
    """

    id = BUILTIN

    def __init__(self, embedder: Embedder, folder: Path | None = None) -> None:
        from safetensors.numpy import load_file

        folder = folder or sentiment_folder()
        if not (folder / _WEIGHTS).is_file():
            raise UserError(
                f"the built-in sentiment model lacks {_WEIGHTS} in assets/models/sentiment: check out again"
            )
        tensors = load_file(folder / _WEIGHTS)
        self.weight, self.bias = tensors["weight"].astype(np.float32), tensors["bias"].astype(np.float32)
        made_for = json.loads((folder / "config.json").read_text(encoding="utf-8"))["embedder"]
        if embedder.id != made_for:
            raise UserError(
                f"sentiment: the built-in classifier reads embeddings of {made_for}, got {embedder.id!r}; "
                "use that encoder, or name a sentiment model folder"
            )
        self.embedder = embedder

    def predict(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return probabilities (n, 3) float32, columns negative, neutral, positive."""
        return self.from_vectors(self.embedder.embed(texts))

    def from_vectors(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return probabilities (n, 3) of texts whose embeddings (n, d) are at hand already."""
        return softmax(vectors.reshape(-1, self.weight.shape[1]) @ self.weight.T + self.bias)


class FolderSentiment:
    """A sequence classifier that lies in a folder (or in the local hub cache), safetensors only.

    Labels are matched by name: anything with `neg`, `neu` or `pos`; two-label models have no neutral column.

    Raises:
        UserError: the model cannot be loaded, or its labels are not of that kind.
    """

    def __init__(self, model: str | Path) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        name = Path(model).name
        options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        try:
            self.tokenizer: Any = AutoTokenizer.from_pretrained(str(model), **options)
            self.model: Any = AutoModelForSequenceClassification.from_pretrained(
                str(model), use_safetensors=True, **options
            )
        except (OSError, ValueError, KeyError) as error:
            raise UserError(
                f"sentiment model {name!r} cannot be loaded ({type(error).__name__}): name a local folder of a "
                "sequence-classification model with safetensors weights"
            ) from None
        self.id, self.columns = name, columns_of(self.model.config.id2label, name)
        self.model.eval()
        self.limit = max(8, min(512, int(getattr(self.model.config, "max_position_embeddings", 514)) - 2))

    def predict(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return probabilities (n, 3) float32, columns negative, neutral, positive; long texts are cut."""
        import torch

        found = np.zeros((len(texts), len(CLASSES)), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = list(texts[start : start + _BATCH])
            encoded = self.tokenizer(batch, return_tensors="pt", padding=True, truncation=True, max_length=self.limit)
            with torch.inference_mode():
                shares = self.model(**encoded).logits.float().softmax(-1).numpy()  # (b, labels)
            for source, target in self.columns.items():
                found[start : start + len(batch), target] += shares[:, source]
        return found


def columns_of(names: Mapping[int, str], model: str = "") -> dict[int, int]:
    """Return a classifier's label index to the column of CLASSES it belongs to.

    Raises:
        UserError: a label is none of negative, neutral, positive, or a pole is missing.
    """
    columns = {}
    for index, name in names.items():
        hits = [i for i, kind in enumerate(CLASSES) if kind[:3] in str(name).casefold()]
        if len(hits) == 1:
            columns[int(index)] = hits[0]
    if len(columns) != len(names) or not {0, 2} <= set(columns.values()):
        raise UserError(
            f"sentiment model {model!r}: labels must be negative, positive and perhaps neutral, "
            f"got {', '.join(map(str, names.values()))}; choose another model"
        )
    return columns


def softmax(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return row-wise softmax of scores (n, k)."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
    return (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)


def load_sentiment(model: str | None, embedder: Embedder) -> Classifier:
    """Return the built-in classifier for None or `builtin`, else the one in a folder or the local hub cache."""
    if model in (None, "", BUILTIN):
        return BuiltinSentiment(embedder)
    return _folder(str(model))


@lru_cache(maxsize=1)
def _folder(model: str) -> FolderSentiment:
    return FolderSentiment(model)
