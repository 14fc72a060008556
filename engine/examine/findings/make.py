"""Build findings so that no number travels without its measure, direction and interval's method."""

from __future__ import annotations

import math

from engine.examine.findings.findings import Finding, Reference
from engine.examine.measures import MEASURES
from engine.examine.stats.intervals import Interval
from engine.json_types import JSON


def finding(name: str, reference: Reference, interval: Interval, **settings: JSON) -> Finding:
    """Return the finding of an interval, with what the interval and the measure rest on in `settings`."""
    measure = MEASURES[name]
    basis: dict[str, JSON] = {"method": interval.method, "source": f"{measure.source}; interval: {interval.source}"}
    if not math.isfinite(interval.value):
        settings.setdefault("why", "there is nothing to measure")
    return Finding(
        name=name,
        value=float(interval.value),
        low=interval.low,
        high=interval.high,
        n=int(interval.n),
        reference=reference,
        measure=measure.measure,
        direction=measure.direction,
        group=measure.group,
        settings=basis | settings,
    )


def missing(name: str, reference: Reference, why: str) -> Finding:
    """Return a finding that could not be estimated, with the reason."""
    return finding(name, reference, Interval(math.nan, None, None, 0, "none", "none"), why=why)
