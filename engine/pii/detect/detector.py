"""Detection: rules, the tagger, known identifiers, lists, custom patterns and a spaCy folder, resolved.

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
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import regex

from engine.errors import UserError
from engine.models import cancel
from engine.models.contracts import Found
from engine.pii.detect.known import KnownIdentifiers
from engine.pii.detect.overlap import choose_spans
from engine.pii.detect.plain import plain_words
from engine.pii.detect.presets import presets
from engine.pii.detect.rules import Rules
from engine.pii.detect.settings import PATTERN_SECONDS, DetectorSettings
from engine.pii.languages.detect import OtherLanguages, dated_in
from engine.pii.languages.telling import ENGLISH, languages_of
from engine.pii.spans import Span, canonical_label, default_identifier_type, folded

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

    from spacy.language import Language


OWN_LISTS = ("known", "deny", "custom")
BATCH_RECORDS = 64
BATCH_CHARACTERS = 32_000  # a longer record is a batch of its own, so that progress and a cancel never wait long
POLL_SECONDS = 0.25  # between two looks at a cancel while other processes work
SPAWN_RECORDS = 400
MAX_WORKERS = 16
Progress = Callable[[int, int], None]
Results = Generator[list[list[Span]], None, None]
Batch = tuple[list[str], list[str]]  # texts, and the language of each


class RecordDetector:
    """Everything loaded once for one set of settings; implements `engine.models.contracts.Detector`."""

    def __init__(self, settings: DetectorSettings | None = None) -> None:
        self.settings = settings or DetectorSettings()
        off = self.settings.disabled
        self.preset = presets()[self.settings.preset]
        self.rules = Rules(off)
        self.known = KnownIdentifiers(() if "known" in off else self.settings.known, fuzzy=self.settings.fuzzy)
        self.allow = frozenset(folded(v) for v in self.settings.allow)
        self.deny = _deny_pattern(() if "deny" in off else self.settings.deny)
        self.custom = [(p, p.compiled()) for p in (() if "custom" in off else self.settings.patterns)]
        self.spacy = None if "spacy" in off else _load_spacy(self.settings.spacy_model)
        self.tagger = None
        if self.settings.tagger and "tagger" not in off:
            from engine.models.builtin.tagger.tagger_run import load_tagger

            self.tagger = load_tagger(self.settings.tagger_model)
        self.others = OtherLanguages(off, self.tagger)

    def find(
        self,
        texts: Sequence[str],
        stop: Callable[[], bool] | None = None,
        languages: Sequence[str] | None = None,
    ) -> list[list[Span]]:
        """Return the spans of each text, sorted, without overlap, with an empty record id.

        Args:
            texts: the records.
            stop: asked before each record and each pass of the tagger.
            languages: the language of each text; None tells it from these texts alone.

        Raises:
            Cancelled: `stop` said so.
        """
        spoken = languages_of(texts, self.settings.language) if languages is None else languages
        rows: list[list[Span]] = [[] for _ in texts]
        english = [i for i, code in enumerate(spoken) if code == ENGLISH]
        for i, row in zip(english, self._english([texts[i] for i in english], stop)):
            rows[i] = row
        others = [i for i, code in enumerate(spoken) if code != ENGLISH]
        for i, row in zip(others, self._other([texts[i] for i in others], [spoken[i] for i in others], stop)):
            rows[i] = row
        return rows

    def _other(
        self, texts: Sequence[str], languages: Sequence[str], stop: Callable[[], bool] | None
    ) -> list[list[Span]]:
        """Return the spans of texts in other languages: their tagger, their rules, the custodian's own lists."""
        if not texts:
            return []
        found = self.others.find(texts, languages, stop)
        rows = [
            self.preset.held(t, row, dated=dated_in(code), english=not self.others.own_tagger)
            + self.known.find(t)
            + self._lists(t)
            for t, code, row in zip(texts, languages, found)
        ]
        self._add_spacy(texts, rows)
        return [choose_spans(t, row, self.settings.threshold, self.allow) for t, row in zip(texts, rows)]

    def _add_spacy(self, texts: Sequence[str], rows: Sequence[list[Span]]) -> None:
        if self.spacy is not None:
            for row, doc in zip(rows, self.spacy.pipe(texts)):
                row += [_made(e.start_char, e.end_char, canonical_label(e.label_), 0.85, "spacy") for e in doc.ents]

    def _english(self, texts: Sequence[str], stop: Callable[[], bool] | None) -> list[list[Span]]:
        """Return the spans of English texts."""
        if not texts:
            return []
        tagged: list[list[Span]] = [[] for _ in texts]
        if self.tagger is not None:
            for row, found in zip(tagged, self.tagger.tag(texts, stop)):
                row += [_made(t.start, t.end, t.label, t.score, "tagger") for t in found]
        for row, text in zip(tagged, texts):
            cancel.check(stop)
            row[:] = [plain_words.doubted(text, s) for s in row]
            ruled = self.rules.find(text)
            row += ruled if self.tagger is None else plain_words.held_back(text, ruled)
            row[:] = self.preset.held(text, [s for s in row if not plain_words.names_nobody(text, s)])
            row += self.known.find(text) + self._lists(text)
        self._add_spacy(texts, tagged)
        resolved = [choose_spans(t, row, self.settings.threshold, self.allow) for t, row in zip(texts, tagged)]
        return [[s for s in row if self._counts(t, s)] for t, row in zip(texts, resolved)]

    def _counts(self, text: str, span: Span) -> bool:
        """Return whether a span may stay: the custodian's own lists always, a rest of function words never."""
        return span.recogniser in OWN_LISTS or not plain_words.names_nobody(text, span)

    def _lists(self, text: str) -> list[Span]:
        out = []
        if self.deny is not None:
            out += [_made(m.start(), m.end(), "MISC", 1.0, "deny") for m in self.deny.finditer(text)]
        for spec, pattern in self.custom:
            try:
                for m in pattern.finditer(text, timeout=PATTERN_SECONDS * 8):
                    if m.end() > m.start():
                        out.append(_made(m.start(), m.end(), spec.label, spec.score, "custom"))
            except TimeoutError:
                raise UserError(f"custom pattern {spec.name!r} took too long on a record: make it simpler") from None
        return out

    def detect(self, texts: Sequence[str]) -> list[list[Found]]:
        """Return what each text holds, in the order of the texts."""
        return [[_found(span) for span in row] for row in self.find(texts)]


def _found(span: Span) -> Found:
    return {
        "start": span.start, "end": span.end, "label": span.label, "score": span.score, "recogniser": span.recogniser,
        "identifier_type": span.identifier_type,
    }  # fmt: skip


def _made(start: int, end: int, label: str, score: float, recogniser: str) -> Span:
    return Span("", start, end, label, score, recogniser, default_identifier_type(label))


def _deny_pattern(values: Sequence[str]) -> regex.Pattern[str] | None:
    forms = [r"\s+".join(map(regex.escape, v.split())) for v in sorted(values, key=len, reverse=True) if v.strip()]
    if not forms:
        return None
    return regex.compile(r"(?<!\w)(?:" + "|".join(forms) + r")(?!\w)", regex.IGNORECASE)


def _load_spacy(folder: str | None) -> Language | None:
    """Return the spaCy pipeline of a local folder, or None.

    Raises:
        UserError: the folder is no pipeline or has nothing that finds entities.
    """
    if folder is None:
        return None
    import spacy

    path = Path(folder)
    if not (path / "config.cfg").is_file():
        raise UserError(f"spacy_model: {path.name!r} is no spaCy pipeline folder (no config.cfg): name a local folder")
    try:
        nlp = spacy.load(path)
    except (OSError, ValueError, ImportError) as error:
        raise UserError(
            f"spacy_model: {path.name!r} cannot be loaded ({type(error).__name__}): check its version"
        ) from None
    if not any(p in nlp.pipe_names for p in ("ner", "entity_ruler", "span_ruler", "transformer")):
        raise UserError(f"spacy_model: {path.name!r} has no component that finds entities")
    return nlp


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


def detect_records(
    records: pd.DataFrame,
    settings: DetectorSettings,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    languages: Sequence[str] | None = None,
) -> Iterator[list[Span]]:
    """Yield the spans of a batch of records at a time, in their order; see `batch_ends`.

    Args:
        records: record_id and text.
        settings: what to run.
        workers: processes; None takes one a core where there are enough records, 1 stays in this process.
        progress: called with (records done, records in all) before each yield.
        cancelled: asked before each batch and record, and within a long one; True ends the iteration.
        languages: the language of each record, told beforehand from the whole corpus; None tells it from these.
    """
    ids, texts = records["record_id"].astype(str).tolist(), records["text"].astype(str).tolist()
    ends = batch_ends([len(text) for text in texts])
    count = default_workers(len(texts)) if workers is None else max(1, workers)
    spoken = languages_of(texts, settings.language) if languages is None else list(languages)
    batches = [(texts[start:end], spoken[start:end]) for start, end in zip([0, *ends], ends)]
    found = _here(batches, settings, cancelled) if count == 1 else _spread_out(batches, settings, count, cancelled)
    try:
        for start, done in zip([0, *ends], ends):
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


def batch_ends(lengths: Sequence[int]) -> list[int]:
    """Return where each batch ends: after 64 records, or before more than 32,000 characters come together.

    What follows a batch does not depend on what came before it, so a job that goes on after one makes the same ones.
    """
    ends: list[int] = []
    start = characters = 0
    for at, length in enumerate(lengths):
        if at > start and (at - start == BATCH_RECORDS or characters + length > BATCH_CHARACTERS):
            ends.append(at)
            start, characters = at, 0
        characters += length
    return [*ends, len(lengths)] if lengths else []


def _here(batches: Sequence[Batch], settings: DetectorSettings, stop: Callable[[], bool] | None) -> Results:
    detector = RecordDetector(settings) if batches else None
    for batch in batches:
        if detector is not None:
            yield detector.find(batch[0], stop, batch[1])


def _spread_out(
    batches: Sequence[Batch], settings: DetectorSettings, workers: int, stop: Callable[[], bool] | None
) -> Results:
    """Yield results in order while at most three batches a process are under way."""
    context = get_context("spawn")
    leave = context.Event()
    pool = ProcessPoolExecutor(workers, context, _start, (settings, os.getpid(), leave))
    waiting: deque[Future[list[list[Span]]]] = deque()
    given = 0
    try:
        for batch in batches:
            waiting.append(pool.submit(_find_batch, batch))
            if len(waiting) >= workers * 3:
                found, given = _result(waiting.popleft(), stop), given + 1
                yield found
        while waiting:
            found, given = _result(waiting.popleft(), stop), given + 1
            yield found
    except BrokenProcessPool:
        pass  # a process was killed, where memory is short say: this one goes on alone below
    finally:
        leave.set()
        pool.shutdown(wait=True, cancel_futures=True)
    yield from _here(batches[given:], settings, stop)


def _result(future: Future[list[list[Span]]], stop: Callable[[], bool] | None) -> list[list[Span]]:
    """Return a batch's result, with an eye on a cancel."""
    while True:
        cancel.check(stop)
        try:
            return future.result(timeout=POLL_SECONDS)
        except TimeoutError:
            if future.done():  # the batch's own error
                raise
