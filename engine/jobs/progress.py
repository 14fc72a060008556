"""How long a job will still take: an exponential moving rate of what is done."""

from __future__ import annotations

import time
from collections.abc import Callable


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
