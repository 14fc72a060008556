"""Embeddings of a corpus' private texts and of a run's, made once a text and model and found by later examinations.

A file in the corpus' own folder and one in the run's, which go with them and are left out of backups. A row stands
under a keyed digest of model and text, so the file tells nobody without the workspace's key which texts it is of; it
carries a keyed digest of itself. A file that is damaged, of another key or of another model is not used and is written
anew.

Not for mechanisms: they need rows that no other text of a batch can move, which `engine.jobs.worker.private` keeps.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.at_rest import files
from engine.at_rest.sealed import UnsealError
from engine.at_rest.tensors import metadata
from engine.models.contracts import Embedder
from engine.store.disk.backup import EMBEDDINGS
from engine.store.disk.folder import write_atomic

if TYPE_CHECKING:
    from engine.store.store import Store

NAME = f"{EMBEDDINGS}kept.safetensors"
MOST = 50_000  # rows a file; of 384 numbers 77 MB
DIGEST = 16
Mac = Callable[[NDArray[np.uint8], NDArray[np.float32]], str]


def kept_embeddings(
    store: Store, embedder: Embedder, corpus_id: str, run_id: str, texts: Sequence[str], outputs: Sequence[str]
) -> Embedder:
    """Return an embedder with the corpus' texts and a run's remembered, where its weights can be told.

    One file a corpus and one a run: those of the model in use.
    """
    model = getattr(embedder, "fingerprint", "")
    if not model:
        return embedder
    key, folder = store.corpora.subkey("embeddings"), store.folder
    own = KeptEmbeddings(embedder, model, folder.corpus(corpus_id) / NAME, key, texts)
    return KeptEmbeddings(own, model, folder.run(run_id) / NAME, key, outputs)


class KeptEmbeddings:
    """An embedder that remembers the texts of one corpus or run; implements `engine.models.contracts.Embedder`.

    Other texts pass through and are not kept; they may be by the embedder behind it, if that is such a one too.
    """

    def __init__(self, embedder: Embedder, model: str, path: Path, key: bytes, texts: Sequence[str]) -> None:
        """Open the file of a corpus or run and a model.

        Args:
            embedder: makes what is not there. model: tells its weights and precision from others.
            path: the file. key: of the digests. texts: those to keep, of which the first 50,000 are.
        """
        self.id, self.fingerprint = embedder.id, model
        self.made = 0  # texts embedded since
        self._embedder, self._path, self._key = embedder, path, key
        self._model = model.encode()
        self._own = {self._digest(text) for text in dict.fromkeys(texts[:MOST])}
        self._rows = _read(path, self._mac)
        self._new = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows, float32 (n, d); those of known texts are not made again."""
        digests = [self._digest(text) for text in texts]
        missing = [place for place, digest in enumerate(digests) if digest not in self._rows]
        if len(missing) == len(texts):
            found = self._embedder.embed(texts)
            rows = dict(zip(digests, found, strict=True))
        else:
            fresh = self._embedder.embed([texts[place] for place in missing]) if missing else ()
            rows = {digests[place]: row for place, row in zip(missing, fresh, strict=True)}
            found = np.stack([rows[d] if d in rows else self._rows[d] for d in digests]).astype(np.float32)
        self.made += len(missing)
        for digest, row in rows.items():
            if digest in self._own:
                self._rows[digest] = row.copy()
                self._new = True
        return found

    def known(self, text: str) -> bool:
        """Say whether a text need not be embedded again."""
        held = self._digest(text) in self._rows
        return held or (isinstance(self._embedder, KeptEmbeddings) and self._embedder.known(text))

    def learn(self, texts: Sequence[str], rows: NDArray[np.float32]) -> None:
        """Take over rows that another worker made of texts."""
        for text, row in zip(texts, rows, strict=True):
            digest = self._digest(text)
            if digest in self._own and digest not in self._rows:
                self._rows[digest], self._new = row.copy(), True
        if isinstance(self._embedder, KeptEmbeddings):
            self._embedder.learn(texts, rows)

    def keep(self) -> None:
        """Write what is new to the file, in one step, and so behind it; nothing where the folder is gone."""
        if isinstance(self._embedder, KeptEmbeddings):
            self._embedder.keep()
        if not self._new or not self._path.parent.is_dir():
            return
        from safetensors.numpy import save

        kept = [digest for digest in self._rows if digest in self._own]
        digests = np.frombuffer(b"".join(kept), np.uint8).reshape(len(kept), DIGEST)
        rows = np.stack([self._rows[digest] for digest in kept]).astype(np.float32)
        tensors: dict[str, np.ndarray] = {"digests": digests, "rows": rows}
        write_atomic(self._path, save(tensors, {"mac": self._mac(digests, rows)}))
        self._new = False

    def _digest(self, text: str) -> bytes:
        content = self._model + b"\0" + text.encode("utf-8", "surrogatepass")
        return hmac.new(self._key, content, hashlib.sha256).digest()[:DIGEST]

    def _mac(self, digests: NDArray[np.uint8], rows: NDArray[np.float32]) -> str:
        made = hmac.new(self._key, self._model + b"\0" + repr((digests.shape, rows.shape)).encode(), hashlib.sha256)
        made.update(digests.tobytes())
        made.update(rows.tobytes())
        return made.hexdigest()


def _read(path: Path, mac: Mac) -> dict[bytes, NDArray[np.float32]]:
    """Return the rows of a file by digest; none where there is no file, or not the one that was written."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        files.fetch(path)
        if not path.is_file():
            return {}
        body = files.read_bytes(path)
        written, found = metadata(body).get("mac", ""), load(body)
        digests, rows = found["digests"], found["rows"]
    except (SafetensorError, UnsealError, OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}
    if digests.dtype != np.uint8 or rows.dtype != np.float32 or digests.ndim != 2 or rows.ndim != 2:
        return {}
    if not hmac.compare_digest(written.encode(), mac(digests, rows).encode()):
        return {}
    return {digest.tobytes(): row for digest, row in zip(digests, rows, strict=True)}
