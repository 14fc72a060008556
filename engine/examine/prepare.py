"""Bring an examination's input into the form attacks and metrics take: words once, embeddings once.

Privacy posture: everything here is private and lives in memory for one examination only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.text.words import Vocabulary, cut
from engine.errors import UnderstudyError, UserError
from engine.examine.base import Side
from engine.examine.memory import give_back
from engine.examine.samples import sample, sample_units
from engine.examine.threads import embedding
from engine.models.contracts import Detector, Embedder

EMBEDDED = 2000  # texts a side that are embedded
EMBED_ALL_WORDS = 150_000  # a training part with no more words is embedded whole
OWN_SOURCES = 300  # synthetic records whose own source is embedded as well
BATCH = 128
NEAR_DUPLICATES = "near duplicates"  # in `Prepared.kept`: flags of records with a twin on the other side


class CancelledError(UnderstudyError):
    """The examination was stopped on request."""


Progress = Callable[[str, int, int], None]


def no_progress(stage: str, done: int, total: int) -> None:
    """Ignore progress."""


def no_part(key: str) -> None:
    """Ignore which part begins."""


def never() -> bool:
    """Never cancel."""
    return False


@dataclass(frozen=True)
class Effort:
    """What a run took: records kept, seconds at work, and what a server was asked for (nothing where none was)."""

    kept: int
    seconds: float
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float = 0.0


@dataclass(frozen=True)
class ExamineInput:
    """What is examined.

    Args:
        synthetic: columns record_id, text, label, lineage (source record id or None).
        train, holdout: records frames (record_id, text, source_id, label).
        train_spans, holdout_spans: accepted spans (record_id, start, end, label, identifier_type).
        unit: `record` or `source`: what intervals treat as one.
        privacy, utility: which halves to compute.
        embedder, detector: tools, or None; then what needs them is reported as not estimable.
        model_attacks: whether models are trained on the synthetic text, to be attacked and asked; it takes minutes.
        tuned_classifier: whether an encoder is trained to label records too; it takes minutes more.
        seed: fixes every sample and every resampling.
        effort: what the run took, where that is known.
        embedder_since: why another embedder than the built-in one was taken, where the text's language says so.
        corpus_map: the plane of this corpus' texts as an earlier examination laid it out, or None.
    """

    synthetic: pd.DataFrame
    train: pd.DataFrame
    holdout: pd.DataFrame
    train_spans: pd.DataFrame
    holdout_spans: pd.DataFrame
    unit: str = "record"
    privacy: bool = True
    utility: bool = True
    embedder: Embedder | None = None
    embedder_since: str = ""
    detector: Detector | None = None
    seed: int = 0
    model_attacks: bool = True
    tuned_classifier: bool = False
    effort: Effort | None = None
    corpus_map: pd.DataFrame | None = None


class Shelf(Protocol):
    """Where finished parts of one examination are kept until it is finished; see `engine.examine.keeping`."""

    def take(self, key: str) -> bytes | None:
        """Return a part as it was put there, None where it is not there or described something else."""

    def put(self, key: str, content: bytes) -> None:
        """Keep a part that has just ended."""


@dataclass
class Prepared:
    """Both sides cut into words, the embeddings computed so far, and what parts share (`kept`, by purpose).

    `begin` is told the key of each part as it begins. `shelf` keeps finished parts, None keeps none.
    """

    given: ExamineInput
    synthetic: Side
    train: Side
    holdout: Side
    vocabulary: Vocabulary
    progress: Progress = no_progress
    cancelled: Callable[[], bool] = never
    begin: Callable[[str], None] = no_part
    shelf: Shelf | None = None
    vectors: dict[tuple[str, str], NDArray[np.float32]] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)

    @property
    def seed(self) -> int:
        """The examination's seed."""
        return self.given.seed

    @property
    def grouped(self) -> bool:
        """Whether records of one person are treated as one."""
        return self.given.unit == "source"

    @property
    def one_to_one(self) -> bool:
        """Whether every synthetic record names the record it stems from."""
        lineage = self.synthetic.lineage
        return lineage is not None and all(source is not None for source in lineage)

    def check(self) -> None:
        """Stop if asked to.

        Raises:
            CancelledError: the caller asked to stop.
        """
        if self.cancelled():
            raise CancelledError("the examination was stopped on request")

    def report(self, stage: str, done: int, total: int) -> None:
        """Tell progress, and stop if asked to.

        Raises:
            CancelledError: the caller asked to stop.
        """
        self.check()
        self.progress(stage, done, total)

    def embedded(self, side: Side, which: str) -> Side:
        """Return `side` with embeddings; texts embedded before are not embedded again.

        Args:
            side: the texts wanted.
            which: `synthetic`, `train`, `holdout` or `unrelated`: where its record ids belong.
        """
        embedder = self.given.embedder
        if embedder is None:
            raise UserError("embedder: this examination was started without one; start it again with an embedder")
        missing = [row for row, record in enumerate(side.record_ids) if (which, record) not in self.vectors]
        missing.sort(key=lambda row: len(side.texts[row]))
        for start in range(0, len(missing), BATCH):
            rows = missing[start : start + BATCH]
            self.report(f"embedding: {which}", start, len(missing))
            with embedding():
                made = embedder.embed([side.texts[row] for row in rows])
            for row, vector in zip(rows, made, strict=True):
                self.vectors[which, side.record_ids[row]] = vector
        if not len(side):
            return side
        vectors = np.stack([self.vectors[which, record] for record in side.record_ids]).astype(np.float32)
        return Side(**{**vars(side), "embeddings": vectors})

    def embedding_rows(self) -> dict[str, NDArray[np.int64]]:
        """Return which rows a side are embedded: `synthetic`, `train`, `holdout`."""
        train = sample_units(self.train.units, EMBEDDED, self.seed, "embed")
        return {
            "synthetic": sample(self.synthetic.record_ids, EMBEDDED, self.seed, "embed"),
            "train": train,
            "holdout": sample_units(self.holdout.units, EMBEDDED, self.seed, "embed"),
        }

    def synthetic_groups(self, rows: NDArray[np.int64] | None = None) -> NDArray[np.object_] | None:
        """Return the unit behind each synthetic record where units hold several records, else None."""
        if not self.grouped or self.synthetic.lineage is None:
            return None
        return self.synthetic.units if rows is None else self.synthetic.units[rows]


def _texts(frame: pd.DataFrame) -> NDArray[np.object_]:
    return np.array([text if isinstance(text, str) else "" for text in frame["text"]], dtype=object)


def _objects(values: Sequence[object] | pd.Series) -> NDArray[np.object_]:
    result = np.empty(len(values), dtype=object)
    result[:] = [None if value is None or value != value else str(value) for value in values]
    return result


def _units(frame: pd.DataFrame, unit: str, records: NDArray[np.object_]) -> NDArray[np.object_]:
    if unit != "source" or "source_id" not in frame:
        return records
    sources = _objects(frame["source_id"])
    return np.array([r if s is None else f"s:{s}" for r, s in zip(records, sources, strict=True)], dtype=object)


def _side(frame: pd.DataFrame, spans: pd.DataFrame | None, unit: str, vocabulary: Vocabulary) -> Side:
    texts, records = _texts(frame), _objects(frame["record_id"])
    return Side(records, texts, cut(texts.tolist(), vocabulary), _units(frame, unit, records), spans=spans)


def _synthetic(given: ExamineInput, train: Side, vocabulary: Vocabulary) -> Side:
    frame = given.synthetic
    texts, ids = _texts(frame), _objects(frame["record_id"])
    lineage = _objects(frame["lineage"]) if "lineage" in frame else None
    if lineage is not None and all(source is None for source in lineage):
        lineage = None
    units = ids
    if lineage is not None:
        row_of = {record: row for row, record in enumerate(train.record_ids)}
        rows = [row_of.get(source) for source in lineage]
        units = np.array([i if row is None else train.units[row] for row, i in zip(rows, ids, strict=True)], object)
        lineage = np.array(  # one string a record, not two
            [source if row is None else train.record_ids[row] for row, source in zip(rows, lineage, strict=True)],
            object,
        )
    return Side(ids, texts, cut(texts.tolist(), vocabulary), units, lineage)


def prepare(given: ExamineInput, progress: Progress = no_progress, cancelled: Callable[[], bool] = never) -> Prepared:
    """Cut all texts into words of one vocabulary.

    Raises:
        UserError: there is no synthetic or no training record.
    """
    if not len(given.synthetic):
        raise UserError("synthetic: the run kept no record, so there is nothing to examine; look at its funnel")
    if not len(given.train):
        raise UserError("train: the corpus has no training record; import it again with a smaller holdout")
    vocabulary = Vocabulary()
    progress("reading words", 0, 3)
    give_back()
    train = _side(given.train, given.train_spans, given.unit, vocabulary)
    holdout = _side(given.holdout, given.holdout_spans, given.unit, vocabulary)
    synthetic = _synthetic(given, train, vocabulary)
    give_back()
    progress("reading words", 3, 3)
    return Prepared(given, synthetic, train, holdout, vocabulary, progress, cancelled)
