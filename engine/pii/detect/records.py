"""Detection over many records: batches, and the processes that share them.

Records are independent, so processes share the work: each one runs the rules and the tagger on one
thread. Batches come back in record order; a job commits each with its cursor and can go on after a kill.

Privacy posture: record text goes to child processes through pipes and to nothing else; no
connection is opened; errors name a record's position, never its text.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from multiprocessing import get_context
from typing import TYPE_CHECKING

import pandas as pd

from engine.errors import UserError
from engine.models import cancel
from engine.models.threads import one_thread
from engine.pii.detect.detector import RecordDetector
from engine.pii.detect.settings import DetectorSettings
from engine.pii.languages.telling import languages_of
from engine.pii.spans import Span

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

BATCH_RECORDS = 64
BATCH_CHARACTERS = 32_000  # a longer record is a batch of its own, so that progress and a cancel never wait long
POLL_SECONDS = 0.25  # between two looks at a cancel while other processes work
SPAWN_RECORDS = 400
MAX_WORKERS = 16
Progress = Callable[[int, int], None]
Results = Generator[list[list[Span]], None, None]
Batch = tuple[list[str], list[str]]  # texts, and the language of each

_worker: RecordDetector | None = None
_stop: Callable[[], bool] | None = None


def _start(settings: DetectorSettings, parent: int, leave: Event) -> None:
    """Prepare a child process: one thread, no network use by libraries, ends with its parent."""
    global _worker, _stop
    _stop = leave.is_set
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        os.environ[name] = "1"
    import torch

    torch.set_num_threads(1)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _worker = RecordDetector(settings)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def _find_batch(batch: Batch) -> list[list[Span]]:
    if _worker is None:
        raise UserError("the detection process was not prepared")
    return _worker.find(batch[0], _stop, batch[1])


def default_workers(records: int) -> int:
    """Return how many processes pay for `records` records on this machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, MAX_WORKERS, records // SPAWN_RECORDS))


class Detectors:
    """What detects, loaded once: here, or in each of several processes. To be closed.

    Args:
        settings: what to run.
        workers: processes; 1 stays in this process.
        one_thread: in this process too, as each of several processes does: a score's last digit may depend on it.
    """

    def __init__(self, settings: DetectorSettings, workers: int, *, one_thread: bool = False) -> None:
        self._settings, self._workers, self._one_thread = settings, workers, one_thread and settings.tagger
        self._detector: RecordDetector | None = None
        self._pool: tuple[ProcessPoolExecutor, Event] | None = None

    def find(self, batches: Sequence[Batch], stop: Callable[[], bool] | None) -> Results:
        """Yield the spans of each text of each batch, in their order."""
        return self._here(batches, stop) if self._workers == 1 else self._spread_out(batches, stop)

    def close(self) -> None:
        """End the processes; another call would start new ones."""
        if self._pool is not None:
            pool, leave = self._pool
            self._pool = None
            leave.set()
            pool.shutdown(wait=True, cancel_futures=True)

    def _here(self, batches: Sequence[Batch], stop: Callable[[], bool] | None) -> Results:
        if batches and self._detector is None:
            self._detector = RecordDetector(self._settings)
        for texts, languages in batches:
            if self._detector is not None:
                with one_thread() if self._one_thread else nullcontext():
                    found = self._detector.find(texts, stop, languages)
                yield found

    def _opened(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = get_context("spawn")
            leave = context.Event()
            start = (self._settings, os.getpid(), leave)
            self._pool = ProcessPoolExecutor(self._workers, context, _start, start), leave
        return self._pool[0]

    def _spread_out(self, batches: Sequence[Batch], stop: Callable[[], bool] | None) -> Results:
        """Yield results in order while at most three batches a process are under way."""
        waiting: deque[Future[list[list[Span]]]] = deque()
        given = 0
        try:
            pool = self._opened()
            for batch in batches:
                waiting.append(pool.submit(_find_batch, batch))
                if len(waiting) >= self._workers * 3:
                    found, given = _result(waiting.popleft(), stop), given + 1
                    yield found
            while waiting:
                found, given = _result(waiting.popleft(), stop), given + 1
                yield found
        except BrokenProcessPool:
            pass  # a process was killed, where memory is short say: this one goes on alone below
        finally:
            if given < len(batches):
                self.close()
        yield from self._here(batches[given:], stop)


def _result(future: Future[list[list[Span]]], stop: Callable[[], bool] | None) -> list[list[Span]]:
    """Return a batch's result, with an eye on a cancel."""
    while True:
        cancel.check(stop)
        try:
            return future.result(timeout=POLL_SECONDS)
        except TimeoutError:
            if future.done():  # the batch's own error
                raise


def detect_records(
    records: pd.DataFrame,
    settings: DetectorSettings,
    *,
    workers: int | None = None,
    by: Detectors | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    languages: Sequence[str] | None = None,
    bounds: Sequence[int] = (),
) -> Iterator[list[Span]]:
    """Yield the spans of a batch of records at a time, in their order; see `batch_ends`.

    Args:
        records: record_id and text.
        settings: what to run.
        workers: processes; None takes one a core where there are enough records, 1 stays in this process.
        by: what is loaded already and stays so, in place of `workers`.
        progress: called with (records done, records in all) before each yield.
        cancelled: asked before each batch and record, and within a long one; True ends the iteration.
        languages: the language of each record, told beforehand from the whole corpus; None tells it from these.
        bounds: numbers of records after which a batch ends in any case, ascending.
    """
    ids, texts = records["record_id"].astype(str).tolist(), records["text"].astype(str).tolist()
    ends = batch_ends([len(text) for text in texts], bounds)
    spoken = languages_of(texts, settings.language) if languages is None else list(languages)
    batches = [(texts[start:end], spoken[start:end]) for start, end in pairwise([0, *ends])]
    own = by is None
    if by is None:
        by = Detectors(settings, default_workers(len(texts)) if workers is None else max(1, workers))
    found = by.find(batches, cancelled)
    try:
        for start, done in pairwise([0, *ends]):
            if cancelled is not None and cancelled():
                return
            rows = next(found)
            if progress is not None:
                progress(done, len(texts))
            yield [replace(s, record_id=i) for i, row in zip(ids[start:done], rows) for s in row]
    except cancel.Cancelled:
        return
    finally:
        found.close()
        if own:
            by.close()


def batch_ends(lengths: Sequence[int], bounds: Sequence[int] = ()) -> list[int]:
    """Return where each batch ends: after 64 records, or before more than 32,000 characters come together.

    What follows a batch does not depend on what came before it, so a job that goes on after one makes the same ones.

    Args:
        lengths: characters of each record. bounds: where one ends in any case, so that what follows is the same too.
    """
    ends: list[int] = []
    start = characters = 0
    wanted = set(bounds)
    for at, length in enumerate(lengths):
        full = at - start == BATCH_RECORDS or characters + length > BATCH_CHARACTERS
        if at > start and (full or at in wanted):
            ends.append(at)
            start, characters = at, 0
        characters += length
    return [*ends, len(lengths)] if lengths else []
