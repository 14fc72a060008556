"""How often a verdict says that nothing beyond chance was seen: without a leak, and with one that it calls excluded."""

from __future__ import annotations

import numpy as np
import pytest

from engine.examine.findings.findings import Finding, Reference
from engine.examine.findings.sentence import BARELY
from engine.examine.findings.verdict import privacy_verdict
from engine.examine.measures import MEASURES
from engine.examine.stats.highest import share_excess

DRAWS = 200


def finding(name: str, reference: Reference, value: float, low: float, high: float, n: int) -> Finding:
    measure = MEASURES[name]
    return Finding(name, value, low, high, n, reference, measure.measure, measure.direction, measure.group, {})


def none_seen(rng: np.random.Generator, texts: int, chance: float, leaking: float) -> float:
    """Return the share of verdicts on a meter that say so; texts give something away by chance, and by a leak."""
    said = 0
    for _ in range(DRAWS):
        ours, theirs = rng.random((texts, 1)) < chance + leaking, rng.random((texts, 1)) < chance
        excess = share_excess(ours, theirs, None)
        assert excess.low is not None
        assert excess.high is not None
        rows = [
            finding("strict_pipp", "train", float(ours.mean()), 0.0, 1.0, texts),
            finding("strict_pipp", "holdout", float(theirs.mean()), 0.0, 1.0, texts),
            finding("strict_pipp_excess", "holdout", excess.value, excess.low, excess.high, texts),
        ]
        (sentence,) = [one for one in privacy_verdict(rows) if one.finding == "strict_pipp"]
        said += sentence.nothing
        if sentence.nothing:
            assert sentence.level == "unsure"
            assert "cannot be excluded" in sentence.text
    return said / DRAWS


@pytest.mark.parametrize("texts", [40, 100, 400])
@pytest.mark.parametrize("chance", [0.02, 0.10])
def test_a_leak_that_is_excluded_is_seldom_one_that_is_there(texts: int, chance: float) -> None:
    """The upper end is that of a 95% interval: a leak beyond it is passed over once in forty, here with slack."""
    rng = np.random.default_rng(texts)
    assert none_seen(rng, texts, chance, BARELY + 0.01) <= 0.06
    assert none_seen(rng, texts, chance, 2 * BARELY) <= 0.02


def test_without_a_leak_it_is_said() -> None:
    rng = np.random.default_rng(1)
    assert none_seen(rng, 100, 0.02, 0.0) >= 0.6
    assert none_seen(rng, 100, 0.0, 0.0) == 1.0
