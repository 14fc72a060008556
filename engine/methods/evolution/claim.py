"""The guarantee of methods that only ever see noisy statistics: events, sentence, public inputs, what voids it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from engine.dp.accounting import delta_rules
from engine.dp.accounting.accountant import Calibration
from engine.dp.accounting.closed_form import default_delta
from engine.dp.events import Event, count_sensitivity, vector_sensitivity
from engine.dp.guarantee import Guarantee
from engine.dp.noise.mechanisms import drawable
from engine.errors import UserError
from engine.json_types import JSON, JSONObject
from engine.methods import label_list
from engine.methods.base import Facts
from engine.methods.dp_claim import dp_claim
from engine.methods.parameters import BudgetParameters
from engine.methods.public_inputs import listed, settings_taken, size_taken

SIMILARITY = "self-similarity mean"
ENCODER = "The sentence encoder was not fitted to text of this corpus."
FLOATING = "training"  # the one statistic whose noise is no exact draw on a grid


def cap_of(facts: Facts) -> int:
    """Return how many records one unit contributes at most."""
    return facts.cap if facts.unit == "source" else 1


def delta_of(parameters: BudgetParameters, facts: Facts) -> float:
    """Return δ as asked, else 1 / (N ln N).

    Raises:
        UserError: it is 1/N or more, and nobody confirmed that.
    """
    delta = default_delta(facts.units) if parameters.delta is None else parameters.delta
    return delta_rules.check_against_units(delta, facts.units, parameters.large_delta)


def gaussian(
    what: str,
    parameters: BudgetParameters,
    facts: Facts,
    noise_multiplier: float,
    count: int = 1,
    sampling_probability: float = 1.0,
) -> Event:
    """Return the event of Gaussian noise on counts a unit adds at most `cap` to."""
    return Event(
        "gaussian",
        what,
        noise_multiplier=noise_multiplier,
        count=count,
        sampling_probability=sampling_probability,
        sensitivity=count_sensitivity(cap_of(facts), parameters.adjacency),
        unit=facts.unit,
        adjacency=parameters.adjacency,
    )


def vectors(what: str, parameters: BudgetParameters, facts: Facts, noise_multiplier: float, count: int = 1) -> Event:
    """Return the event of exact Gaussian noise on a sum of vectors, each unit's cut to length 1."""
    return Event(
        "gaussian", what, noise_multiplier=noise_multiplier, count=count,
        sensitivity=vector_sensitivity(1.0, parameters.adjacency), unit=facts.unit, adjacency=parameters.adjacency,
        geometry="vectors",
    )  # fmt: skip


def pure(what: str, parameters: BudgetParameters, facts: Facts, epsilon: float, kind: str = "laplace") -> Event:
    """Return the event of a pure-ε mechanism on counts (`laplace`, or `pure` for a sparse vector)."""
    return Event(
        "laplace" if kind == "laplace" else "pure",
        what,
        epsilon=epsilon,
        sensitivity=count_sensitivity(cap_of(facts), parameters.adjacency, "l1"),
        unit=facts.unit,
        adjacency=parameters.adjacency,
    )


def declared(what: str, parameters: BudgetParameters, facts: Facts) -> Event:
    """Return the event of a statistic that the custodian declared public."""
    return Event("declared", what, sensitivity=0.0, unit=facts.unit, adjacency=parameters.adjacency)


def noise_of(event: Event) -> dict[str, float]:
    """Return `sigma` in the statistic's unit, `noise_multiplier`, `sensitivity`, and `epsilon` where it is pure.

    The standard deviation of Laplace noise is √2 · sensitivity / ε; of a sparse vector's query noise, whose
    scale is 4 · sensitivity / ε, four times that.
    """
    values = {"sensitivity": event.sensitivity}
    if event.noise_multiplier is not None:
        multiplier = event.noise_multiplier
    else:
        multiplier = math.sqrt(2.0) * (4.0 if event.type == "pure" else 1.0) / float(event.epsilon or 1.0)
        values["epsilon"] = float(event.epsilon or 0.0)
    return {"sigma": multiplier * event.sensitivity, "noise_multiplier": multiplier, **values}


def check_scales(noise: Mapping[str, Event]) -> None:
    """Check, before anything is reserved, that the noise of every statistic on a grid can be drawn exactly.

    Raises:
        UserError: it cannot; the message names the statistic.
    """
    for name, event in noise.items():
        if name == FLOATING or event.type not in ("gaussian", "laplace", "pure"):
            continue
        if event.noise_multiplier is not None:
            scale = event.noise_multiplier * event.sensitivity
        else:
            # The mean similarity is asked about in units of its own sensitivity, a search's counts by 2Δ/ε.
            one = 1.0 if event.what == SIMILARITY else event.sensitivity
            scale = (2.0 if event.type == "pure" else 1.0) * one / float(event.epsilon or 1.0)
        if not drawable(scale):
            raise UserError(
                f"epsilon: the noise of {name.replace('_', ' ')} would have the scale {scale:.3g}, which cannot be "
                "drawn exactly; choose an epsilon between 0.001 and 100 and larger shares"
            )


def dp_guarantee(
    parameters: BudgetParameters,
    facts: Facts,
    calibration: Calibration,
    *,
    bought: Sequence[str],
    noise: Mapping[str, Event],
    inputs: Sequence[str],
    assumptions: Sequence[str],
    accounting: JSONObject | None = None,
    voided_by: Sequence[str] = (),
) -> Guarantee:
    """Return the claim of a calibrated schedule.

    Args:
        bought: what is drawn from private data, in words. noise: a statistic's name to its event.
        inputs: public inputs beside the ones every such method has, as nouns. assumptions: the same and further
        conditions as sentences. accounting: further totals. voided_by: what voids this method's claim beside.
    """
    check_scales(noise)
    facts, listing = label_list.known(parameters, facts), noise.get(label_list.NAME)
    capped = f", each {facts.unit} counting with at most {cap_of(facts)} records" if facts.unit == "source" else ""
    return dp_claim(
        facts,
        epsilon=parameters.epsilon,
        delta=delta_of(parameters, facts),
        adjacency=parameters.adjacency,
        events=calibration.events,
        read=f"{listed(bought)} only, with noise{capped}",
        inputs=inputs,
        labels_public=parameters.labels == "public",
        list_event=listing,
        public=(
            size_taken(facts),
            settings_taken("the number of rounds", "the domain", "the prompts", "the word lists"),
            "The language model was not trained on this corpus.",
            ENCODER,
        ),
        assumptions=assumptions,
        voided_by=(
            "The run's internal notes, its examination or the store of raw votes were published.",
            *voided_by,
        ),
        noise={
            name: label_list.level_of(event, facts) if event is listing else noise_of(event)
            for name, event in noise.items()
        },
        accounting={
            "epsilon_pld": calibration.epsilon,
            "epsilon_pld_low": calibration.epsilon_low,
            "epsilon_rdp": calibration.rdp_epsilon,
            **(accounting or {}),
        },
    )


def rounds_of_votes(rounds: int) -> str:
    """Return how many rounds of votes are bought, as words in the guarantee's sentence."""
    return "1 round of votes" if rounds == 1 else f"{rounds} rounds of votes"


def one_vote(facts: Facts) -> str:
    """Return what a figure of votes leaves out: how many records a source has is not public."""
    return ", counting one record a source" if facts.unit == "source" else ""


def ledger_preview(guarantee: Guarantee) -> tuple[dict[str, JSON], ...]:
    """Return the lines a run would add to the ledger."""
    return tuple(dict(event) for event in guarantee.events)
