"""What private prediction promises and what its budget buys: clip, tokens, texts, from public quantities alone.

Sources: Vinod, Pillutla and Thakurta 2025 (InvisibleInk), theorem 2; Canonne, Kamath and Steinke 2020, proposition 12.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from engine.corpus.label_rules import MOST_LABELS
from engine.dp.accounting import delta_rules
from engine.dp.accounting.closed_form import default_delta, zcdp_rho
from engine.dp.accounting.rdp import epsilon_rdp
from engine.dp.events import Event, Whom, count_sensitivity
from engine.dp.guarantee import Guarantee
from engine.dp.noise import prediction
from engine.errors import UserError
from engine.methods import label_list
from engine.methods.advice.budget_figures import Answer, row
from engine.methods.base import Facts
from engine.methods.dp_claim import dp_claim
from engine.methods.evolution import claim as pe_claim
from engine.methods.prediction.parameters import PrivatePredictionParameters
from engine.methods.public_inputs import settings_taken, size_taken
from engine.methods.topics.public import Node, load_topics

CLUSTERS = "cluster histogram"
ONE_TOPIC = "Each record lies in one public topic, so that batches of different topics share no record."
_ROUNDING = 1.0 - 1e-9


@dataclass(frozen=True)
class Schedule:
    """A run's losses: total, a token, the settings of the mechanism, how many batches and what it may write."""

    delta: float
    rho: float
    settings: prediction.Prediction
    slots: float
    batches: int
    texts: int
    events: tuple[Event, ...]
    label_event: Event | None
    list_event: Event | None
    cluster_event: Event | None = None


def rows_of(p: PrivatePredictionParameters, facts: Facts) -> int:
    """Return how many records of a unit take part at most."""
    return min(p.rows_a_unit, facts.cap) if facts.unit == "source" else 1


def parts_of(p: PrivatePredictionParameters, rows: float) -> tuple[int, float]:
    """Return into how many batches so many expected rows are split, and the expected rows of each (s)."""
    parts = max(1, round(rows / p.batch_size))
    return parts, max(1.0, rows / parts)


def schedule(p: PrivatePredictionParameters, facts: Facts) -> Schedule:
    """Return the losses of a run, fixed beforehand.

    Raises:
        UserError: δ is out of range.
    """
    delta = default_delta(facts.units) if p.delta is None else p.delta
    if not 1e-12 <= delta <= 1e-3:
        raise UserError(f"delta: must be between 1e-12 and 0.001, got {delta:g}")
    delta_rules.check_against_units(delta, facts.units, p.large_delta)
    facts = label_list.known(p, facts)
    rho = _rho(p.epsilon, delta - label_list.list_delta(p, delta))
    listing: Event | None = None
    whom: Whom = {"unit": facts.unit, "adjacency": p.adjacency}
    label, bought = None, 0.0
    if facts.labels:
        bought = p.label_share * rho if p.labels == "bought" else 0.0
        cap = facts.cap if facts.unit == "source" else 1
        label = (
            Event("gaussian", "label histogram", noise_multiplier=1.0 / math.sqrt(2.0 * bought),
                  sensitivity=count_sensitivity(cap, p.adjacency), **whom)
            if bought
            else Event("declared", "label declared public", sensitivity=0.0, **whom)
        )  # fmt: skip
    if label_list.is_bought(p):
        bought = p.list_share * rho
        listing = label_list.list_event(p, facts, delta, 1.0 / math.sqrt(2.0 * bought))
    cluster: Event | None = None
    if p.clusters != "none":
        own = p.cluster_share * rho
        bought += own
        cluster = Event(
            "gaussian", CLUSTERS, noise_multiplier=1.0 / math.sqrt(2.0 * own),
            sensitivity=count_sensitivity(facts.cap if facts.unit == "source" else 1, p.adjacency), **whom,
        )  # fmt: skip
    token = (rho - bought) / (p.tokens * p.texts_a_batch)
    rows = rows_of(p, facts)
    parts, slots = parts_of(p, facts.units * rows)
    mean = p.variant == "mean-clip"
    search = p.search_share * token if mean else 0.0
    settings = prediction.Prediction(
        variant=p.variant,
        rows=rows,
        reach=prediction.reach_of(token - search, rows, p.temperature, p.adjacency),
        temperature=p.temperature,
        tokens=p.tokens,
        longest=max(p.tokens, p.longest) if mean else p.tokens,
        top_k=p.top_k,
        threshold=p.threshold,
        search=prediction.search_of(search, p.adjacency),
    )
    # Labels round their batches up, each on its own.
    groups = max(1, MOST_LABELS if listing else facts.labels) * (1 + len(nodes(p)))
    batches = parts + groups - 1
    events = prediction.events(settings, whom, p.texts_a_batch, batches)
    return Schedule(
        delta, rho, settings, slots, batches, parts * p.texts_a_batch,
        (*(one for one in (listing, label, cluster) if one is not None), *events), label, listing, cluster,
    )  # fmt: skip


def nodes(p: PrivatePredictionParameters) -> tuple[Node, ...]:
    """Return the public topics that batches are made by; none where they are mixed."""
    if p.clusters == "none":
        return ()
    coarse = load_topics().children(())
    return coarse if p.clusters == "coarse" else tuple(n for node in coarse for n in load_topics().children(node))


@lru_cache(maxsize=256)
def _rho(epsilon: float, delta: float) -> float:
    return zcdp_rho(epsilon, delta) * _ROUNDING


def guarantee_of(p: PrivatePredictionParameters, facts: Facts) -> Guarantee:
    """Return the claim of a run."""
    planned, facts = schedule(p, facts), label_list.known(p, facts)
    settings = planned.settings
    clip, topical = settings.reach * planned.slots, p.clusters != "none"
    bought = ["a list of labels"] if planned.list_event is not None else []
    bought += ["the label shares"] if planned.label_event is not None and p.labels == "bought" else []
    bought += ["how many records each public topic has"] if planned.cluster_event is not None else []
    read = f"{', '.join(bought)} and " if bought else ""
    asked = ""
    if settings.search:  # what follows is read off which tokens are private
        asked = (
            f", and one noisy question at each of at most {settings.longest} tokens, whether the batch differs from "
            "the public prompt, and nothing else"
        )
    total = epsilon_rdp(planned.events, planned.delta)
    noise: dict[str, dict[str, float]] = {
        "tokens": {
            # A draw from softmax(m/τ) is the largest of m with Gumbel noise of scale τ on each entry.
            "sigma": p.temperature * math.pi / math.sqrt(6.0), "sensitivity": settings.rows * settings.reach,
            "reach": settings.reach, "clip": clip,
            "temperature": p.temperature, "rho": settings.token_rho(p.adjacency), "search": settings.search,
        }
    }  # fmt: skip
    if planned.list_event is not None:
        noise[label_list.NAME] = label_list.level_of(planned.list_event, facts)
    for name, event in (("labels", planned.label_event), ("clusters", planned.cluster_event)):
        if event is not None and event.noise_multiplier is not None:
            multiplier, one = event.noise_multiplier, event.sensitivity
            noise[name] = {"sigma": multiplier * one, "noise_multiplier": multiplier, "sensitivity": one}
    return dp_claim(
        facts,
        epsilon=p.epsilon,
        delta=planned.delta,
        adjacency=p.adjacency,
        events=planned.events,
        read=(
            f"{read}{p.tokens} tokens a text{'' if asked else ' only'}, each drawn at random from a mean over about "
            f"{planned.slots:.0f} records in which one {facts.unit} counts for at most "
            f"{settings.rows * settings.reach:.3g} nats{asked}"
        ),
        inputs=(
            "the domain and the prompts",
            *(["the public topics"] if topical else []),
            "the model",
            "the settings of this plan",
            f"the length of {p.words} words",
        ),
        labels_public=p.labels == "public",
        list_event=planned.list_event,
        public=(
            size_taken(facts),
            settings_taken("the batch size", "the lengths", "the domain", "the prompts", "the model"),
            "Batches are disjoint by keyed hash; all tokens of the schedule are paid, also where a text ends early.",
            *([ONE_TOPIC] if topical else []),
            "Tokens are drawn by inversion of 53-bit uniforms from the operating system, in floating point.",
            "A record's logits do not depend on which other records are computed beside it, and timings are not seen.",
            "The model was not trained on this corpus.",
            *([pe_claim.ENCODER] if topical else []),
        ),
        assumptions=(),
        voided_by=(
            *(["The topics or their key words were changed by looking at private text."] if topical else []),
            "The choice of tokens was cut by private logits, or logits were published.",
            "The run's internal notes or its examination were published.",
        ),
        noise=noise,
        accounting={"epsilon_rdp": total, "rho": planned.rho},
    )


def figures(p: PrivatePredictionParameters, facts: Facts) -> Answer:
    """Return `rows` (figure, value, reference) and `advice`: what a budget buys, from public quantities."""
    planned = schedule(p, facts)
    settings = planned.settings
    ratio = settings.reach * planned.slots / p.temperature
    spent = p.tokens * p.texts_a_batch
    affordable = int(spent * ratio**2)
    wanted = math.ceil(planned.slots / ratio)
    rows = [
        row("Clip over temperature, C/τ", f"{ratio:.2g}", "at least 1 is useful"),
        row("Private tokens a batch affords at C/τ = 1", f"{affordable:,}", f"{spent:,} asked for"),
        row("Records a batch, for C/τ = 1", f"{wanted:,}", f"{planned.slots:.0f} expected in a batch now"),
        row("Texts this corpus gives", f"{planned.texts:,}", f"of {facts.units:,} {facts.unit}s"),
        row("Loss of one token, ρ", f"{settings.token_rho(p.adjacency):.2g}", f"{planned.rho:.3g} in all"),
    ]
    advice = []
    if ratio < 1.0:
        advice.append(
            f"C/τ is {ratio:.2g}: one record hardly moves a token, and the texts will read like the public prompt's. "
            f"Ask for batches of {wanted:,} records, for {max(1, affordable):,} tokens a batch, or for a larger ε."
        )
    if wanted > facts.units * settings.rows:
        advice.append(f"No batch of this corpus of {facts.units:,} {facts.unit}s is large enough at these settings.")
    return {"rows": rows, "advice": advice}
