"""How long a job will still take: by a moving rate of what is done, or by what its parts took when measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from engine.examine.expected import Expected
from engine.json_types import JSON


class Rate:
    """A moving rate of progress.

    Args:
        half_life_seconds: after this long an observation counts half.
        clock: monotonic seconds.
    """

    def __init__(self, half_life_seconds: float = 20.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._half_life, self._clock = half_life_seconds, clock
        self._stage, self._last, self._done = "", clock(), 0
        self._amount = self._seconds = 0.0

    def seconds_left(self, stage: str, done: int, total: int) -> float | None:
        """Record that `done` of `total` is reached and return the seconds left, None while unknown."""
        now = self._clock()
        if stage != self._stage or done < self._done:
            self._stage, self._amount, self._seconds = stage, 0.0, 0.0
            self._last, self._done = now, done
            return None
        elapsed, gained = now - self._last, done - self._done
        if gained > 0:
            kept = 0.5 ** (elapsed / self._half_life)
            self._amount, self._seconds = self._amount * kept + gained, self._seconds * kept + elapsed
            self._last, self._done = now, done
        if self._amount <= 0 or self._seconds <= 0:
            return None
        return max(0, total - done) * self._seconds / self._amount


class Parts:
    """How far a job of known parts is: expected times, scaled by how this machine has kept to them so far.

    The part at work counts by its own time, and never as more than nine tenths before it ends, so that the whole never
    goes back and never stands at its end while work is left.

    Args:
        expected: the parts in their order. clock: monotonic seconds. kept: seconds of parts that were done before the
            job went on; they count as done and take no time.
    """

    _MOST = 0.99  # of the whole before the job ends, also where all but a moment was done before it went on
    _TRUST = 10.0  # seconds of expected work that count as having been kept to, so that the first part does not decide

    def __init__(
        self, expected: Sequence[Expected], clock: Callable[[], float] = time.monotonic, *, kept: float = 0.0
    ) -> None:
        self._expected, self._kept, self._clock = list(expected), kept, clock
        self._at, self._begun = -1, clock()
        self._spent = self._planned = 0.0

    def begin(self, key: str) -> None:
        """Begin a part; those before it have ended."""
        found = next((i for i, one in enumerate(self._expected) if one.key == key and i > self._at), None)
        if found is None:
            return
        now = self._clock()
        if self._at >= 0:
            self._spent += now - self._begun
            self._planned += sum(one.seconds for one in self._expected[self._at : found])
        self._at, self._begun = found, now

    def whole(self) -> dict[str, JSON]:
        """Return number, parts, title, fraction, seconds_left and began, as `engine.store.views.Whole` takes them."""
        at = max(0, self._at)
        own = self._expected[at]
        within = self._clock() - self._begun
        kept = (self._spent + self._TRUST) / (self._planned + self._TRUST)
        # a part that takes longer than was expected tells of a slower machine before it has ended
        pace = max(kept, (self._spent + within + self._TRUST) / (self._planned + own.seconds + self._TRUST))
        done = min(0.9 * own.seconds, within / pace)
        later = sum(one.seconds for one in self._expected[at + 1 :])
        before = self._kept + sum(one.seconds for one in self._expected[:at])
        total = before + own.seconds + later
        left = pace * (max(own.seconds - done, 0.1 * own.seconds) + later)
        return {
            "number": at + 1, "parts": len(self._expected), "title": own.title,
            "fraction": self._share(before + done, total), "seconds_left": round(left, 1),
            "began": self._share(self._kept, total),
        }  # fmt: skip

    def _share(self, done: float, total: float) -> float:
        return round(min(self._MOST, done / total), 4) if total else 0.0
