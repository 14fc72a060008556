"""How far a run is as a whole: by what each step of the last run of its method took here, and by its own pace."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from engine.json_types import JSON, JSONObject, as_number, as_object

MOST = 0.99  # of a run that still works: a bar that is full says that it is done
UNKNOWN = 0.9  # of one that takes longer than was planned, where no run before tells what steps are still to come
LEAST_SECONDS = 1.0
TRUST = 30.0  # seconds that count as having kept to the run before, so that the first text does not decide


class Course:
    """The steps of a run as they come, with the seconds that each took, and an estimate of what is left.

    The step at work is estimated by its own rate, those to come by the run before; where there was none the whole is
    held against what was planned. Steps that take turns, round after round, count what is done together: each of them
    has got as far as the one at work. What is done never goes back, also where the run is stopped and goes on.

    Args:
        before: step -> seconds that it took in the last finished run of this method here, in their order, for as many
            outputs as this one; empty where there is none.
        planned: seconds that the run is reckoned to take. clock: monotonic seconds.
        told: what `whole` returned last before this run was stopped; empty where it begins.
    """

    def __init__(
        self,
        before: Mapping[str, float],
        planned: float,
        clock: Callable[[], float] = time.monotonic,
        told: JSONObject | None = None,
    ) -> None:
        self._before, self._clock = dict(before), clock
        self._expected = sum(self._before.values()) or max(planned, LEAST_SECONDS)
        earlier = told or {}
        self._times = {name: as_number(spent) or 0.0 for name, spent in as_object(earlier.get("times")).items()}
        self._fraction = min(MOST, as_number(earlier.get("fraction")) or 0.0)
        self._last, self._number = clock(), 0
        self._at, self._turns = ("", 0, 0), set[str]()

    def whole(self, stage: str, done: int, total: int, seconds_left: float | None) -> JSONObject:
        """Record where the run is and return the fields of `engine.store.views.Whole`.

        Args:
            stage: the step at work. done, total: of its own unit. seconds_left: of the step, None while unknown.
        """
        now = self._clock()
        self._times[stage] = self._times.get(stage, 0.0) + now - self._last
        self._last = now
        self._note(stage, done, total)
        ended = bool(total) and done >= total
        later = [name for name in self._before if name not in self._times]
        at = later[0] if ended and later else stage
        steps = [*self._before, *(name for name in self._times if name not in self._before)]
        self._number = max(self._number, steps.index(at) + 1)
        left = self._left(stage, min(1.0, done / total) if total else 0.0, seconds_left, later)
        spent = sum(self._times.values())
        over = not self._before and spent > self._expected and stage not in self._turns
        self._fraction = max(self._fraction, min(UNKNOWN if over else MOST, spent / (spent + left)))
        times: dict[str, JSON] = {name: round(value, 2) for name, value in self._times.items()}
        return {
            "number": self._number if self._before else 1, "parts": len(steps) if self._before else 1, "title": at,
            "fraction": round(self._fraction, 4), "seconds_left": round(left, 1), "times": times,
            "over": over,
        }  # fmt: skip

    def _note(self, stage: str, done: int, total: int) -> None:
        """Note which steps take turns: one goes on where the other, which is not at its end, has got to."""
        name, reached, of = self._at
        if stage != name and of == total > 1 and reached < total and done >= reached:
            self._turns |= {name, stage}
        self._at = stage, done, total

    def _left(self, stage: str, part: float, seconds_left: float | None, later: list[str]) -> float:
        """Return the seconds left: of the step by its rate, of the later ones by the run before, at the pace so far."""
        spent = sum(self._times.values())
        turns = self._turns - {stage} if stage in self._turns else set[str]()
        if not self._before:
            took = sum(self._times.get(name, 0.0) for name in {stage, *turns})
            by_part = took * (1.0 - part) / part if part > 0 else 0.0
            own = max(0.1 * self._expected, by_part) if seconds_left is None or turns else seconds_left
            return max(self._expected - spent, own, LEAST_SECONDS)
        others = {name: seconds for name, seconds in self._before.items() if name in self._times and name != stage}
        beside = sum(seconds for name, seconds in others.items() if name in turns)
        own = self._before.get(stage, 0.0)
        pace = (spent + TRUST) / (sum(others.values()) - beside + part * (own + beside) + TRUST)
        step = pace * own * (1.0 - part) if seconds_left is None else seconds_left
        ahead = beside * (1.0 - part) + sum(self._before[name] for name in later)
        return max(step + pace * ahead, LEAST_SECONDS)
