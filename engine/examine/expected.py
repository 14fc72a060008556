"""What each part of an examination takes, by measured times: for progress of the whole, and to choose beforehand.

Seconds are of two cores of a server processor without bf16 (`tests/benchmarks/examination.py`, 1,000 and 20,706 records
against 200 and 1,000 texts). They are a plan, not a promise: a job scales them by how it has kept to them so far.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.examine import registry

READING, LENGTHS, METRICS, MAP = "reading", "lengths", "metrics", "map"
OTHERS = {
    READING: "reading words",
    LENGTHS: "lengths and phrases",
    METRICS: "closeness to the real text",
    MAP: "map of texts",
}
USUAL = (0.1, 0.04, 0.3)

# key: seconds whatever the size, a thousand records, a thousand texts.
MEASURED: dict[str, tuple[float, float, float]] = {
    "models": (115.0, 0.6, 60.0),
    "language": (110.0, 0.0, 90.0),  # told from six models: there are thirteen
    "found": (0.0, 19.0, 16.0),
    "closeness": (0.0, 9.0, 8.0),
    MAP: (23.0, 0.1, 16.0),
    METRICS: (4.0, 0.1, 12.0),
    "strict": (0.4, 0.22, 0.1),
    "originals": (0.0, 0.17, 0.1),
    "downstream": (0.5, 0.15, 1.0),
    "extraction": (9.0, 0.07, 2.7),  # told from one training a side: there are nine
    "tasks": (1.0, 0.15, 2.0),  # told from `downstream`, for two columns
    "neighbours": (0.0, 0.2, 0.2),
    "ngrams": (0.1, 0.1, 0.5),
    "style": (0.0, 0.1, 0.2),
    LENGTHS: (0.2, 0.1, 0.2),
}
TUNED_CLASSIFIER = (300.0, 0.0, 600.0)
# thousands of records, and of texts, beyond which a part draws a sample
MOST = {"closeness": 3.4, "found": 1.9}
MOST_TEXTS = {
    "models": 0.8, "language": 1.0, "found": 2.0, "closeness": 2.3, MAP: 1.0, METRICS: 2.0, "extraction": 0.6,
    "tasks": 1.0, "downstream": 5.0, "neighbours": 5.0,
}  # fmt: skip


@dataclass(frozen=True)
class Sizes:
    """What an examination's time depends on: private records, synthetic texts, and whether a part was set aside."""

    records: int
    texts: int
    holdout: bool = True


@dataclass(frozen=True)
class Expected:
    """One part with its plain title and the seconds that it is expected to take."""

    key: str
    title: str
    seconds: float


def parts(
    sizes: Sizes, *, privacy: bool = True, utility: bool = True, models: bool = True, tuned: bool = False
) -> tuple[Expected, ...]:
    """Return the parts of an examination in their order, with what each takes.

    Args:
        sizes: of the run. privacy, utility: which halves. models: whether models are trained on the text.
        tuned: whether an encoder is trained to label records too.
    """
    return tuple(_parts(sizes, privacy, utility, models, tuned))


def _parts(sizes: Sizes, privacy: bool, utility: bool, models: bool, tuned: bool) -> Iterator[Expected]:
    yield _one(READING, OTHERS[READING], sizes)
    if privacy:
        for one in (*registry.EXAMINATIONS, *registry.LAST):
            yield _registered(one, sizes, models)
    if not utility:
        return
    for key in (LENGTHS, METRICS):
        yield _one(key, OTHERS[key], sizes)
    for one in registry.USEFULNESS:
        yield _registered(one, sizes, models, tuned and one.key == "downstream")
    yield _one(MAP, OTHERS[MAP], sizes)


def _registered(one: registry.Examination, sizes: Sizes, models: bool, tuned: bool = False) -> Expected:
    skipped = ("models" in one.needs and not models) or ("holdout" in one.needs and not sizes.holdout)
    if skipped:
        return Expected(one.key, one.title, 0.05)
    found = _one(one.key, one.title, sizes)
    return Expected(found.key, found.title, found.seconds + (_seconds(TUNED_CLASSIFIER, sizes) if tuned else 0.0))


def _one(key: str, title: str, sizes: Sizes) -> Expected:
    records = min(sizes.records, int(1000 * MOST[key])) if key in MOST else sizes.records
    texts = min(sizes.texts, int(1000 * MOST_TEXTS[key])) if key in MOST_TEXTS else sizes.texts
    return Expected(key, title, _seconds(MEASURED.get(key, USUAL), Sizes(records, texts)))


def _seconds(measured: tuple[float, float, float], sizes: Sizes) -> float:
    fixed, record, text = measured
    return fixed + record * sizes.records / 1000.0 + text * sizes.texts / 1000.0
