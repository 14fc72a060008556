"""Whether a fragment may be published beside a public model: answers follow from the overlap of two distributions."""

import math

import numpy as np
import pytest

from engine.errors import UserError
from engine.studies.surprisal.fragment import assess


def test_scores_that_do_not_depend_on_membership_give_nothing_away():
    rng = np.random.default_rng(0)
    found = assess(0.2, rng.normal(size=20_000), rng.normal(size=20_000))
    assert abs(found.loss) < 0.15
    assert found.answer.startswith("By this attack, yes")
    assert found.posterior == pytest.approx(0.5, abs=0.05)


def test_a_fragment_where_only_members_are_is_not_to_be_published():
    rng = np.random.default_rng(1)
    found = assess(6.0, rng.normal(6, 1, 60), rng.normal(0, 1, 60))
    assert found.loss > math.log(10)
    assert found.low > 0
    assert found.answer.startswith("Better not")
    assert "was in" in found.answer
    assert "was not in" in assess(0.0, rng.normal(6, 1, 60), rng.normal(0, 1, 60)).answer


def test_few_records_cannot_tell_and_clusters_widen_the_band():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=60), rng.normal(size=60)
    alone, grouped = assess(0.0, x, y), assess(0.0, x, y, [i // 20 for i in range(60)], [i // 20 for i in range(60)])
    assert alone.answer.startswith("Cannot tell")
    assert grouped.loss == alone.loss
    with pytest.raises(UserError, match="at least 40"):
        assess(0.0, x[:10], y)


def test_the_loss_is_the_ratio_of_densities():
    rng = np.random.default_rng(3)
    found = assess(1.0, rng.normal(1, 1, 40_000), rng.normal(0, 1, 40_000))
    assert found.loss == pytest.approx(0.5, abs=0.12)  # ln φ(0)/φ(1) = 1/2
    assert found.included == pytest.approx(0.5, abs=0.02)
    assert found.posterior == pytest.approx(1 / (1 + math.exp(-found.loss)))
