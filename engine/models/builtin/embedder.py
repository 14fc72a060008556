"""Sentence embeddings by all-MiniLM-L6-v2 through sentence-transformers, from files on this machine.

Privacy posture: texts and vectors stay in memory; nothing is logged or cached.

Source: Reimers and Gurevych 2019 (Sentence-BERT), mean pooling and unit norm.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import UserError
from engine.models.builtin import minilm
from engine.models.contracts import Embedder
from engine.models.threads import one_thread

TOKENS = 1024  # a batch on a processor: its caches hold the activations of about so many
TOKENS_GPU = 32_768
SHORT = 16  # tokens below which a row in float32 hangs on how many rows and threads there are
UNPADDED = "unpadded"  # how rows are made: those of an edition that padded its batches differ in their last digits


class SentenceEmbedder:
    """Turns texts into unit vectors; implements `engine.models.contracts.Embedder`."""

    def __init__(self, model: str | Path | None = None) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging

        transformers_logging.set_verbosity_error()
        transformers_logging.disable_progress_bar()
        source = minilm.model_to_load(model)
        self.id = "all-MiniLM-L6-v2" if model is None or source != str(model) else Path(source).name
        try:
            self.model: Any = SentenceTransformer(
                source, trust_remote_code=False, local_files_only=True, model_kwargs={"use_safetensors": True}
            )
        except (OSError, ValueError) as error:
            raise UserError(
                f"embedding model {Path(source).name!r} cannot be loaded ({type(error).__name__}): name a local "
                "sentence-transformers folder with safetensors weights"
            ) from None
        self.model.eval()
        self._weights = _digest(Path(source) / minilm.WEIGHTS)
        if model is not None and source == str(model) and self._weights is not None:
            self.id = f"{self.id} ({self._weights[:8]})"  # two folders of one name are told apart
        self.dimension = int(self.model.get_embedding_dimension() or 0)
        self._one_caller = RLock()  # the tokenizer keeps how it cuts and pads: of two threads one sets it for both
        self.half = self.model.device.type == "cpu" and bf16_pays()

    @property
    def fingerprint(self) -> str:
        """What tells its rows from those of other weights or precision; empty where no weights lie in a folder."""
        if self._weights is None:
            return ""
        return f"{self.id} {self._weights} {'bf16' if self.half else 'float32'} {UNPADDED}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit-norm rows (n, d) float32 in the order of `texts`; long texts are cut at the model's limit.

        Nothing is padded, so a row is that of its text alone where a processor multiplies each row by itself (measured
        on x86-64 in bf16 and in float32, by one thread and by two). Mechanisms rest on `embed_apart`.
        """
        found = np.zeros((len(texts), self.dimension), dtype=np.float32)
        with self._computing():
            for rows in self._batches(texts):
                found[rows] = self._embedded([texts[row] for row in rows])
        return _unit(found)

    @contextmanager
    def _computing(self) -> Iterator[None]:
        import torch

        half = torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.half)
        with self._one_caller, torch.inference_mode(), half:
            yield

    def _embedded(self, texts: Sequence[str]) -> NDArray[np.float32]:
        from sentence_transformers.util import batch_to_device

        features = batch_to_device(self.model.preprocess(list(texts)), self.model.device)
        with one_thread(not self.half and int(features["input_ids"].shape[1]) < SHORT):
            rows: NDArray[np.float32] = self.model(features)["sentence_embedding"].float().cpu().numpy()
        return rows

    def _batches(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the rows of batches whose texts have the same number of tokens, so many tokens a batch at most."""
        if not texts:
            return []
        longest = int(self.model.max_seq_length or 512)
        ids = self.model.tokenizer(list(texts), truncation=True, max_length=longest)["input_ids"]
        lengths = [len(row) for row in ids]
        most = TOKENS if self.model.device.type == "cpu" else TOKENS_GPU
        batches: list[list[int]] = [[]]
        for row in sorted(range(len(texts)), key=lengths.__getitem__):
            last, length = batches[-1], lengths[row]
            apart = not self.half and length < SHORT
            if last and (apart or lengths[last[0]] != length or (len(last) + 1) * length > most):
                batches.append([])
            batches[-1].append(row)
        return batches

    def embed_apart(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return what `embed` returns for each text alone: (n, d) rows that no other text of the call can move.

        One text a pass, so that there is no padding; faster than as many calls, since weights are converted once.
        """
        rows = [np.zeros((0, self.dimension), dtype=np.float32)]
        with self._computing():
            rows += [self._embedded([text]) for text in texts]
        return _unit(np.concatenate(rows))


def _digest(weights: Path) -> str | None:
    """Return the SHA-256 of a file of weights, None where there is none."""
    if not weights.is_file():
        return None
    with weights.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.maximum(norms, 1e-12)).astype(np.float32)


def embed_apart(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return one row a text, each embedded on its own, with any embedder."""
    if isinstance(embedder, SentenceEmbedder):
        return embedder.embed_apart(texts)
    return np.concatenate([embedder.embed([]), *(embedder.embed([text]) for text in texts)])


@lru_cache(maxsize=1)
def bf16_pays() -> bool:
    """Return whether this processor multiplies bf16 natively (elsewhere it is slower than float32)."""
    import torch

    check = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return bool(check and check())


@lru_cache(maxsize=2)
def load_embedder(model: str | None = None) -> SentenceEmbedder:
    """Return the embedder of a model, the packaged one for None, kept for the life of the process."""
    return SentenceEmbedder(model)
