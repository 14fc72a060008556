"""How far a run is as a whole: by what each step of the last run of its method took here, and by its own pace."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from engine.json_types import JSON, JSONObject

MOST = 0.99  # of a run that still works: a bar that is full says that it is done
LEAST_SECONDS = 1.0
TRUST = 30.0  # seconds that count as having kept to the run before, so that the first text does not decide


class Course:
    """The steps of a run as they come, with the seconds that each took, and an estimate of what is left.

    The step at work is estimated by its own rate, those to come by the run before; where there was none the whole is
    held against what was planned. What is done never goes back.

    Args:
        before: step -> seconds that it took in the last finished run of this method here, in their order, for as many
            outputs as this one; empty where there is none.
        planned: seconds that the run is reckoned to take. clock: monotonic seconds.
    """

    def __init__(
        self, before: Mapping[str, float], planned: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._before, self._clock = dict(before), clock
        self._expected = sum(self._before.values()) or max(planned, LEAST_SECONDS)
        self._times: dict[str, float] = {}
        self._last, self._fraction, self._number = clock(), 0.0, 0

    def whole(self, stage: str, done: int, total: int, seconds_left: float | None) -> JSONObject:
        """Record where the run is and return the fields of `engine.store.views.Whole`.

        Args:
            stage: the step at work. done, total: of its own unit. seconds_left: of the step, None while unknown.
        """
        now = self._clock()
        self._times[stage] = self._times.get(stage, 0.0) + now - self._last
        self._last = now
        ended = bool(total) and done >= total
        later = [name for name in self._before if name not in self._times]
        at = later[0] if ended and later else stage
        steps = [*self._before, *(name for name in self._times if name not in self._before)]
        self._number = max(self._number, steps.index(at) + 1)
        left = self._left(stage, done / total if total else 0.0, seconds_left, later)
        spent = sum(self._times.values())
        self._fraction = max(self._fraction, min(MOST, spent / (spent + left)))
        times: dict[str, JSON] = {name: round(value, 2) for name, value in self._times.items()}
        return {
            "number": self._number, "parts": len(steps) if self._before else 1, "title": at,
            "fraction": round(self._fraction, 4), "seconds_left": round(left, 1), "times": times,
        }  # fmt: skip

    def _left(self, stage: str, part: float, seconds_left: float | None, later: list[str]) -> float:
        """Return the seconds left: of the step by its rate, of the later ones by the run before, at the pace so far."""
        spent = sum(self._times.values())
        if not self._before:
            own = 0.1 * self._expected if seconds_left is None else seconds_left
            return max(self._expected - spent, own, LEAST_SECONDS)
        passed = sum(seconds for name, seconds in self._before.items() if name in self._times and name != stage)
        own = self._before.get(stage, 0.0)
        pace = (spent + TRUST) / (passed + part * own + TRUST)
        step = pace * own * (1.0 - part) if seconds_left is None else seconds_left
        return max(step + pace * sum(self._before[name] for name in later), LEAST_SECONDS)
