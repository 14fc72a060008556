"""Advice before spending: whether a planned run's budget can buy anything, in words, from public quantities alone.

What it reads: the method's parameters, the public facts (N, unit, cap, number of declared labels), the noise that the
guarantee names and the number of outputs wanted. It is computed at once, for the plan page and the command line; what
takes an embedder is in `engine.methods.advice.signal`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from pydantic import BaseModel

from engine.dp.guarantee import Guarantee
from engine.json_types import JSONObject
from engine.methods.advice import sizes
from engine.methods.advice.signal import number, population
from engine.methods.base import Facts
from engine.methods.evolution.dpga_elite import NEIGHBOURS
from engine.methods.tuned.claim import rate_of

ENOUGH = "That is enough to tell them apart."
TELLS = "That is enough to tell which way it points."
DENSE = (
    "Dense votes (votes: dense) were the better choice at every size that was measured: each {unit} then scores every "
    "candidate, and those are kept that together would have voted alike. One round of them (rounds: 1) was the best "
    "of all."
)
FEWER = "Use a method that asks for a few noisy counts instead of it, or more records, or a larger ε."


def advice(method: str, parameters: BaseModel, facts: Facts, claim: Guarantee, count: int) -> tuple[str, ...]:
    """Return sentences on what a run's budget can buy; none where nothing is spent or the noise is not known yet.

    Args:
        method: its id, also behind `filter:`. claim: the run's guarantee. count: outputs wanted.
    """
    own = _OF.get(method.removeprefix("filter:"))
    if own is None or claim.pending or claim.kind != "dp" or not claim.epsilon:
        return ()
    return own(method.removeprefix("filter:"), parameters, facts, claim, count)


def _training(method: str, parameters: BaseModel, facts: Facts, claim: Guarantee, count: int) -> tuple[str, ...]:
    from engine.methods.tuned.parameters import DpFinetuneParameters

    p, level = parameters, claim.noise.get("training")
    if level is None:
        return ()
    assert isinstance(p, DpFinetuneParameters)
    ratio = float(level["sigma"]) / p.clip / (rate_of(p, facts) * facts.units)
    return (training_sentence(ratio, facts, claim.drawn[0], p.steps, p.units_a_step),)


def training_sentence(ratio: float, facts: Facts, epsilon: float, steps: int, batch: int) -> str:
    """Return what a noise-batch ratio means, beside published training, and how many units it takes."""
    batch = max(batch, sizes.BATCH)
    least = sizes.training_units(epsilon, steps, batch)
    known = f"The noise is r = σ / (q N) = {ratio:.1e} of a unit's longest gradient, on the mean of a step"
    published = f"published training with noise that learned had at most {sizes.AS_PUBLISHED:.0e}"
    if ratio <= sizes.AS_PUBLISHED:
        return f"{known}: {published}, so this is within what has worked."
    larger = (
        f"With {batch:,} {facts.unit}s a step it takes about {least:,} {facts.unit}s at ε = {epsilon:g}; here are "
        f"{facts.units:,}."
    )
    if least <= facts.units:
        larger = f"Draw {batch:,} {facts.unit}s a step: with {facts.units:,} {facts.unit}s that is enough."
    if ratio <= sizes.NOTHING_LEARNED:
        return f"{known}: {published}. Expect less than published work shows. {larger}"
    none = f"none that we know of learned anything above {sizes.NOTHING_LEARNED:.0e}"
    return f"{known}: {published}, and {none}. {larger} {FEWER}"


def _votes(method: str, parameters: BaseModel, facts: Facts, claim: Guarantee, count: int) -> tuple[str, ...]:
    level = claim.noise.get("votes")
    if level is None:
        return ()
    settings: JSONObject = parameters.model_dump(mode="json")
    candidates, _ = population(method, settings, count)
    named = f"{candidates:,} candidates"
    if settings.get("votes") == "dense":
        return (dense_sentence(candidates, float(level["sigma"]), facts, claim.drawn[0]),)
    if method == "aug-pe" and settings.get("votes_for") == "clusters":
        candidates = min(candidates, int(number(settings, "clusters", 50)))
        named = f"{candidates:,} clusters of candidates"
    rate, sigma = number(settings, "sampling_rate", 1.0), float(level["sigma"])
    found = vote_sentence(named, candidates, rate * facts.units, sigma, facts, claim.drawn[0], rate)
    if method == "aug-pe" and settings.get("votes_for") != "clusters":
        return (found, DENSE.format(unit=facts.unit))
    return (found,)


def _select(method: str, parameters: BaseModel, facts: Facts, claim: Guarantee, count: int) -> tuple[str, ...]:
    level = claim.noise.get("votes")
    texts, _ = population(method, parameters.model_dump(mode="json"), count)
    if level is None or getattr(parameters, "promise", None) is None:
        return ()
    each, sigma = facts.units / texts, float(level["sigma"])
    left = sigma / math.sqrt(min(NEIGHBOURS, texts))
    known = (
        f"{facts.units:,} {facts.unit}s vote among {texts:,} texts: {each:.2g} votes for each on average, under noise "
        f"of σ = {sigma:.3g}; averaged over a text's {NEIGHBOURS} nearest, noise of about {left:.2g} is left, a "
        f"signal-to-noise ratio of {each / left:.2g}"
    )
    if each >= sizes.ENOUGH_SIGNAL * left:
        return (f"{known}. {ENOUGH}",)
    verdict = "hardly more than chance" if each < sizes.LITTLE_SIGNAL * left else "a weak signal"
    return (f"{known}: {verdict}. A smaller pool that is nearer to these texts, or a larger ε, leaves more for each.",)


def dense_sentence(candidates: int, sigma: float, facts: Facts, epsilon: float) -> str:
    """Return how dense votes for so many candidates stand against their noise."""
    signal = sizes.dense_signal(facts.units, candidates, sigma)
    known = (
        f"{facts.units:,} {facts.unit}s score {candidates:,} candidates: where they agree, their scores stand out from "
        f"noise of σ = {sigma:.3g} by a factor of {signal:.2g}"
    )
    fewest = sizes.least_units(epsilon)
    if signal >= sizes.ENOUGH_DENSE and facts.units < fewest:
        return f"{known}. Nobody has measured it with so few: what was measured is like {fewest:,} {facts.unit}s here."
    if signal >= sizes.ENOUGH_DENSE:
        return f"{known}. {ENOUGH}"
    least = _two_digits(sizes.ENOUGH_DENSE * sigma * math.sqrt(min(candidates, sizes.EMBEDDING)))
    return f"{known}: a weak signal. So many rounds take about {least:,} {facts.unit}s."


def vote_sentence(
    named: str, candidates: int, voters: float, sigma: float, facts: Facts, epsilon: float, rate: float = 1.0
) -> str:
    """Return how votes for so many candidates stand against their noise, and how many units it takes."""
    each = voters / max(1, candidates)
    signal = each / sigma
    known = (
        f"{facts.units:,} {facts.unit}s vote for {named}: {each:.2g} votes for each on average, under noise of σ = "
        f"{sigma:.3g}, a signal-to-noise ratio of {signal:.2g}"
    )
    if signal >= sizes.ENOUGH_SIGNAL:
        return f"{known}. {ENOUGH}"
    least = _two_digits(sizes.ENOUGH_SIGNAL * sigma * candidates / rate)
    verdict = "hardly more than chance" if signal < sizes.LITTLE_SIGNAL else "a weak signal"
    return (
        f"{known}: {verdict}. At ε = {epsilon:g} so many take about {least:,} {facts.unit}s; ask for fewer outputs or "
        "rounds, which leaves more votes for each."
    )


def _topics(method: str, parameters: BaseModel, facts: Facts, claim: Guarantee, count: int) -> tuple[str, ...]:
    from engine.methods.topics.claim import questions
    from engine.methods.topics.histogram import COARSE
    from engine.methods.topics.parameters import DpTopicsParameters

    p = parameters
    assert isinstance(p, DpTopicsParameters)
    sigma, cells = float(claim.noise["histogram"]["sigma"]), COARSE * max(1, facts.labels)
    each = facts.units / cells
    said = (
        f"{facts.units:,} {facts.unit}s are counted in {cells:,} cells first, {each:.2g} in each on average, under "
        f"noise of σ = {sigma:.3g}, then more finely where they are ({questions(p, facts)} questions in all)"
    )
    if each >= p.threshold * sigma:
        found = f"{said}. That is enough to tell common topics from absent ones."
    else:
        least = _two_digits(p.threshold * sigma * cells)
        found = (
            f"{said}. Only topics with more than about {_two_digits(p.threshold * sigma):,} records are seen; where "
            f"records are spread evenly it takes about {least:,} {facts.unit}s."
        )
    if p.tuning == "none":
        return (found,)
    ratio = float(claim.noise["training"]["sigma"]) / p.clip / (rate_of(p, facts) * facts.units)
    told = training_sentence(ratio, facts, claim.drawn[0], p.steps, p.units_a_step)
    if ratio > sizes.NOTHING_LEARNED:
        told += " Here that is tuning: none, which spends the whole budget on the histogram."
    return (found, told)


def _steer(method: str, parameters: BaseModel, facts: Facts, claim: Guarantee, count: int) -> tuple[str, ...]:
    from engine.methods.steer.claim import NUMBERS, USUAL, signal
    from engine.methods.steer.parameters import DpSteerParameters

    p = parameters
    assert isinstance(p, DpSteerParameters)
    ratio, size = signal(p, facts, claim), p.layers * (p.basis or NUMBERS)
    known = (
        f"{facts.units:,} {facts.unit}s are summed into {size:,} numbers{'' if p.basis else ' (more in a large model)'}"
        f": a mean difference of {USUAL:g} cuts would be {ratio:.2g} times as long as its noise"
    )
    if ratio >= 1.0:
        return (f"{known}. {TELLS}",)
    least = _two_digits(facts.units / ratio)
    fewer = "" if p.basis else " Fewer directions (basis) leave less noise."
    return (f"{known}: a weak signal. It takes about {least:,} {facts.unit}s, or a larger ε.{fewer}",)


def _prediction(method: str, parameters: BaseModel, facts: Facts, claim: Guarantee, count: int) -> tuple[str, ...]:
    from engine.methods.prediction.claim import figures
    from engine.methods.prediction.parameters import PrivatePredictionParameters

    assert isinstance(parameters, PrivatePredictionParameters)
    found = tuple(figures(parameters, facts)["advice"])
    return found or ("The clip is at least as long as the temperature, so a batch of records can move its tokens.",)


def _choice(method: str, parameters: BaseModel, facts: Facts, claim: Guarantee, count: int) -> tuple[str, ...]:
    from engine.methods.choice.method import behind
    from engine.methods.choice.parameters import PaidChoiceParameters

    assert isinstance(parameters, PaidChoiceParameters)
    if parameters.promise is None:
        return ()
    runs = len(parameters.promise.runs)
    lost = behind(runs, parameters.epsilon, parameters.adjacency)
    told = (
        f"Each of {facts.units:,} {facts.unit}s ranks {runs} runs and gives each 0 to 1 points. In 95 of 100 draws the "
        f"chosen run is at most {lost:,.0f} points behind the best, {lost / facts.units:.0%} of what one run can get."
    )
    if lost < facts.units / 10:
        return (f"{told} {ENOUGH}",)
    least = _two_digits(10 * lost)
    return (f"{told} That is mostly noise: it takes about {least:,} {facts.unit}s, or a larger ε.",)


def _two_digits(value: float) -> int:
    return int(float(f"{max(1.0, value):.2g}"))


_OF: dict[str, Callable[[str, BaseModel, Facts, Guarantee, int], tuple[str, ...]]] = {
    "dp-finetune": _training, "aug-pe": _votes, "dpga": _votes, "rpsg-public": _votes,
    "private-prediction": _prediction, "dp-topics": _topics, "dp-select": _select,
    "dp-steer": _steer,
    "paid-choice": _choice,
}  # fmt: skip
