"""One line on a planned run: is there signal above the noise, and what would it take.

What it reads: the method's parameters, the public facts, the noise that the guarantee names and the number of outputs
wanted; nothing private, so neighbouring corpora get the same line. The measured ends are in
`engine.methods.advice.sizes`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from engine.dp.accounting.closed_form import epsilon, mu_of, smallest, zcdp_epsilon
from engine.dp.guarantee import Guarantee
from engine.json_types import JSONObject
from engine.methods.advice import sizes
from engine.methods.advice.signal import number, population
from engine.methods.base import Facts
from engine.methods.evolution.dpga_elite import NEIGHBOURS
from engine.methods.tuned.claim import rate_of

Level = Literal["enough", "weak", "noise", "nothing private", "unproven", "pending", "unknown"]
WEAKEST_USEFUL = 10.0  # ε beyond which nobody is told to go: an attacker who was 10 % sure may then be 99.96 % sure


@dataclass(frozen=True)
class SignalVerdict:
    """How a planned run's signal stands against its noise.

    sentence: plain words, one or two sentences. units: people or records that it takes, where there are fewer here and
    more would do; None otherwise.
    """

    level: Level
    sentence: str
    units: int | None = None


UNKNOWN = SignalVerdict("unknown", "How far the signal stands out is not known.")


@dataclass(frozen=True)
class _Found:
    """What a method's own rule found.

    strength: signal over noise, as a share of what is known to be enough (1 or more: enough). little: the share below
    which next to nothing comes through. says: how they stand, a clause. besides: a sentence on what helps.
    units, epsilon: what it takes, or None where that does not help.
    """

    strength: float
    little: float
    says: str
    units: int | None = None
    epsilon: float | None = None
    besides: str = ""


def signal_verdict(method: str, parameters: BaseModel, facts: Facts, claim: Guarantee, count: int) -> SignalVerdict:
    """Return the verdict on a run, at once.

    Args:
        method: its id, also behind `filter:`. claim: the run's guarantee. count: outputs wanted.
    """
    method = method.removeprefix("filter:")
    if claim.kind != "dp":
        return SignalVerdict("unproven", "Nothing is proven: how much leaks is measured after the run.")
    if claim.epsilon == 0:
        return SignalVerdict("nothing private", "Nothing private is read: no budget is spent, nothing is learned.")
    if claim.pending:
        return SignalVerdict("pending", "The exact noise is being computed.")
    own = _OF.get(method)
    found = own(method, parameters, facts, claim, count) if own is not None else None
    return UNKNOWN if found is None else _told(found, facts)


def _told(found: _Found, facts: Facts) -> SignalVerdict:
    if found.strength >= 1.0:
        return SignalVerdict("enough", f"Enough signal to choose by: {found.says}.{found.besides}")
    noise = found.strength < found.little
    more = found.units if found.units and found.units > facts.units else None
    ways = [f"about {more:,} {people(facts)}"] if more else []
    if found.epsilon is not None and found.epsilon <= WEAKEST_USEFUL:
        ways.append(f"ε = {_up(found.epsilon):g}")
    takes = f" Takes {' or '.join(ways)}; here are {facts.units:,}." if ways else ""
    return SignalVerdict(
        "noise" if noise else "weak",
        f"{'Mostly noise' if noise else 'Weak signal'}: {found.says}.{takes}{found.besides}",
        more,
    )


def people(facts: Facts) -> str:
    """Return what is protected, in the plural."""
    return "people" if facts.unit == "source" else "records"


def _up(value: float) -> float:
    """Return a number to two digits, upwards."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return round(math.ceil(value / step - 1e-9) * step, 6)


def _times(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def _gaussian_epsilon(claim: Guarantee, factor: float) -> float:
    """Return the ε of the run itself at which its Gaussian noise is `factor` times as small, at its δ."""
    now, delta = claim.drawn
    return epsilon(factor * mu_of(now, delta), delta)


def _compared(ratio: float, what: str) -> str:
    """Return how many times more noise than signal there is, or the other way round."""
    if ratio >= 1.0:
        return f"about {_times(ratio)} times more {what} than noise"
    return f"about {_times(1.0 / ratio)} times more noise than {what}"


def _votes(method: str, parameters: BaseModel, facts: Facts, claim: Guarantee, count: int) -> _Found | None:
    level = claim.noise.get("votes")
    if level is None:
        return None
    settings: JSONObject = parameters.model_dump(mode="json")
    if method == "dp-select" and settings.get("promise") is None:
        return None
    candidates, _ = population(method, settings, count)
    sigma = float(level["sigma"])
    if settings.get("votes") == "dense":
        ratio = sizes.dense_signal(facts.units, candidates, sigma)
        least, factor = sizes.least_units(claim.drawn[0]), sizes.ENOUGH_DENSE / ratio
        says = f"where {people(facts)} agree, their scores stand out from the noise {_times(ratio)} times"
        if ratio < 1.0:
            says = f"about {_times(1.0 / ratio)} times more noise than scores, even where {people(facts)} agree"
        if factor <= 1.0 and facts.units < least:  # the formula says enough, and nobody has tried it with so few
            return _Found(0.9, 0.0, f"{says}, but nobody has measured it with so few", least)
        return _Found(
            1.0 / factor, 0.2, says, sizes.two_digits_up(facts.units * factor),
            _gaussian_epsilon(claim, factor) if factor > 1.0 else None,
        )  # fmt: skip
    if method == "aug-pe" and settings.get("votes_for") == "clusters":
        candidates = min(candidates, int(number(settings, "clusters", 50)))
    if method == "dp-select":
        sigma /= math.sqrt(min(NEIGHBOURS, candidates))
    ratio = number(settings, "sampling_rate", 1.0) * facts.units / max(1, candidates) / sigma
    factor = sizes.ENOUGH_SIGNAL / ratio
    return _Found(
        ratio / sizes.ENOUGH_SIGNAL, sizes.LITTLE_SIGNAL / sizes.ENOUGH_SIGNAL, _compared(ratio, "votes"),
        sizes.two_digits_up(facts.units * factor), _gaussian_epsilon(claim, factor) if factor > 1 else None,
    )  # fmt: skip


def _training(method: str, parameters: BaseModel, facts: Facts, claim: Guarantee, count: int) -> _Found | None:
    from engine.methods.tuned.parameters import DpFinetuneParameters

    level, p = claim.noise.get("training"), parameters
    if level is None:
        return None
    assert isinstance(p, DpFinetuneParameters)
    ratio = float(level["sigma"]) / p.clip / (rate_of(p, facts) * facts.units)
    now, _ = claim.drawn
    batch = max(p.units_a_step, sizes.BATCH)
    least = sizes.training_units(now, p.steps, batch)
    larger = smallest(lambda e: e > 1e-3 and sizes.training_ratio(facts.units, e, p.steps, batch) <= sizes.AS_PUBLISHED)
    strength = sizes.AS_PUBLISHED / ratio
    says = f"{_times(ratio / sizes.AS_PUBLISHED)} times the noise under which published training learned"
    if strength >= 1.0:
        says = "the noise is within what published training learned under"
    besides = ""
    if strength < 1.0 and least <= facts.units:
        besides = f" {batch:,} {people(facts)} a step would be enough: choose Thorough."
    return _Found(
        strength, sizes.AS_PUBLISHED / sizes.NOTHING_LEARNED, says, least, None if besides else larger, besides
    )


def _topics(method: str, parameters: BaseModel, facts: Facts, claim: Guarantee, count: int) -> _Found | None:
    from engine.methods.topics.histogram import COARSE
    from engine.methods.topics.parameters import DpTopicsParameters

    p = parameters
    assert isinstance(p, DpTopicsParameters)
    seen = p.threshold * float(claim.noise["histogram"]["sigma"])
    cells = COARSE * max(1, facts.labels)
    strength = facts.units / cells / seen
    says = f"a topic is seen from about {math.ceil(seen):,} records on"
    if seen >= facts.units / 2:
        says = f"a topic would be seen only from about {math.ceil(seen):,} records on"
    return _Found(
        strength, 2.0 / cells, says, sizes.two_digits_up(seen * cells),
        _gaussian_epsilon(claim, 1.0 / strength) if strength < 1.0 else None,
    )  # fmt: skip


def _steer(method: str, parameters: BaseModel, facts: Facts, claim: Guarantee, count: int) -> _Found | None:
    from engine.methods.steer.claim import signal
    from engine.methods.steer.parameters import DpSteerParameters

    assert isinstance(parameters, DpSteerParameters)
    ratio = signal(parameters, facts, claim)
    return _Found(
        ratio, 0.2, _compared(ratio, "difference"), sizes.two_digits_up(facts.units / ratio),
        _gaussian_epsilon(claim, 1.0 / ratio) if ratio < 1.0 else None,
    )  # fmt: skip


def _prediction(method: str, parameters: BaseModel, facts: Facts, claim: Guarantee, count: int) -> _Found | None:
    from engine.methods.prediction.claim import schedule
    from engine.methods.prediction.parameters import PrivatePredictionParameters

    assert isinstance(parameters, PrivatePredictionParameters)
    planned = schedule(parameters, facts)
    ratio = planned.settings.reach * planned.slots / parameters.temperature
    made = f"; it makes {planned.texts:,} {'text' if planned.texts == 1 else 'texts'} at most"
    if ratio >= 1.0:
        return _Found(ratio, 0.3, f"{math.ceil(planned.slots):,} records together can decide a word{made}")
    wanted = math.ceil(planned.slots / ratio)
    return _Found(
        ratio, 0.3, f"a batch of {math.floor(planned.slots):,} records hardly moves a word, {wanted:,} would{made}",
        None, zcdp_epsilon(planned.rho / ratio**2, planned.delta),
    )  # fmt: skip


def _choice(method: str, parameters: BaseModel, facts: Facts, claim: Guarantee, count: int) -> _Found | None:
    from engine.methods.choice.method import behind
    from engine.methods.choice.parameters import PaidChoiceParameters

    assert isinstance(parameters, PaidChoiceParameters)
    if parameters.promise is None:
        return None
    lost = behind(len(parameters.promise.runs), parameters.epsilon, parameters.adjacency)  # of one point a unit
    says = f"the chosen run may stand {lost / facts.units:.0%} of all points behind the best"
    return _Found(
        facts.units / (10.0 * lost), 0.2, says, sizes.two_digits_up(10.0 * lost),
        parameters.epsilon * 10.0 * lost / facts.units,
    )  # fmt: skip


_OF: dict[str, Callable[[str, BaseModel, Facts, Guarantee, int], _Found | None]] = {
    "dp-finetune": _training, "aug-pe": _votes, "dpga": _votes, "rpsg-public": _votes, "dp-select": _votes,
    "private-prediction": _prediction, "dp-topics": _topics,
    "paid-choice": _choice, "dp-steer": _steer,
}  # fmt: skip
