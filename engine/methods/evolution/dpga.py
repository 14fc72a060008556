"""DPGA-TextSyn: a genetic algorithm on texts whose fitness is a noisy vote of private records.

Source: Sun et al. 2025, "DPGA-TextSyn: Differentially Private Genetic Algorithm for Synthetic Text Generation",
sections 3 and 4, appendix D. Three things differ from it. Suppression holds back near-duplicates alone, by a public
threshold, since as printed it leaves votes without effect (see `dpga_elite`); printed as it is, it stays on offer, and
then its threshold τ, which the paper reads from private data unpaid, is bought. Votes compose as T Poisson-sampled
Gaussians by loss distributions. Private records vote among candidates of their own label.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel

from engine.dp.accounting.accountant import ExactAccountant
from engine.dp.events import Event, mean_sensitivity
from engine.dp.guarantee import Guarantee
from engine.methods import label_list
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step
from engine.methods.evolution import claim as pe_claim
from engine.methods.evolution import common as pe
from engine.methods.evolution.dpga_run import DpgaRun
from engine.methods.evolution.dpga_stages import paper_epsilon
from engine.methods.evolution.parameters import DpgaParameters, sizes_of, texts_written

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant


class DpgaMethod:
    """Breed texts by mutation, crossing and new invention; let private records vote on who survives."""

    spec = MethodSpec(
        id="dpga",
        title="Private genetic algorithm (DPGA-TextSyn)",
        summary="Buys label shares, lengths and key words with noise, writes a first population from them, and breeds "
        "it over rounds of noisy votes in which texts that resemble a better one are held back.",
        origin="A language model wrote each record from prompts built of statistics with noise. Original texts took "
        "part in nothing but those statistics and in counts with noise.",
        citation="Sun et al. 2025, DPGA-TextSyn: Differentially Private Genetic Algorithm for Synthetic Text "
        "Generation",
        kind="dp",
        needs=("generator", "operators", "embedder"),
        parameters=DpgaParameters,
        good_for="A provable bound with lengths, subjects and variety nearer to the private text than prompts alone.",
        bad_for="Small corpora at a small ε: half of the budget goes to facts about the corpus before the first vote.",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return (ε, δ): fixed parts by their shares, the votes' noise calibrated for the whole schedule."""
        assert isinstance(parameters, DpgaParameters)
        facts = label_list.known(parameters, facts)
        fixed = fixed_events(parameters, facts)
        votes = pe_claim.gaussian("votes", parameters, facts, 1.0, parameters.rounds, parameters.sampling_rate)
        delta = pe_claim.delta_of(parameters, facts)
        open_ = []
        if facts.labels and parameters.labels == "public":
            open_ = [pe_claim.declared("label declared public", parameters, facts)]
        exact = accountant or ExactAccountant()
        found = exact.calibrate([*open_, *fixed.values()], [votes], parameters.epsilon, delta)
        drawn = next(event for event in found.events if event.what == "votes")
        spent = sum(float(event.epsilon or 0.0) for event in fixed.values())
        paper = paper_epsilon(
            float(drawn.noise_multiplier or 1.0), parameters.rounds, parameters.sampling_rate, delta, spent
        )
        rate = (
            "" if parameters.sampling_rate == 1 else f" by a random {parameters.sampling_rate:.0%} of the {facts.unit}s"
        )
        return pe_claim.dp_guarantee(
            parameters,
            facts,
            found,
            bought=[*(WORDS[name] for name in fixed), f"{pe_claim.rounds_of_votes(parameters.rounds)}{rate}"],
            noise={**fixed, "votes": drawn},
            inputs=_inputs(parameters),
            assumptions=_assumptions(parameters),
            accounting={"epsilon_paper": paper},
        )

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return calls, tokens and seconds for `count` outputs, and the ledger's lines but for the votes' noise."""
        assert isinstance(parameters, DpgaParameters)
        sizes = sizes_of(parameters, count)
        calls = texts_written(parameters, count)
        tokens = int(calls * parameters.words * pe.TOKENS_A_WORD)
        seconds = tokens * pe.SECONDS_A_TOKEN
        seconds += (sizes["population"] * parameters.rounds + facts.read) * pe.SECONDS_A_TEXT
        votes = pe_claim.gaussian("votes", parameters, facts, 1.0, parameters.rounds, parameters.sampling_rate)
        lines = [event.as_dict() for event in (*fixed_events(parameters, facts).values(), votes)]
        lines[-1].pop("noise_multiplier")
        return Plan(
            model_calls=calls,
            tokens=tokens,
            seconds=round(seconds, 1),
            outputs=count,
            ledger=tuple(lines),
            notes=(
                f"A population of {sizes['population']} (the paper's 10,000 scaled, shares kept): "
                f"{sizes['elite']} elite, {sizes['mutate']} mutations, {sizes['cross']} crosses, "
                f"{sizes['generate']} new texts a round.",
                "The noise of the votes follows from exact accounting.",
                "Seconds are for the built-in model on two CPU cores.",
            ),
        )

    def run(self, context: Context) -> Iterator[Step]:
        """Yield one step a batch of candidates and one a vote; the last elite is the output."""
        assert isinstance(context.parameters, DpgaParameters)
        return DpgaRun(context, context.parameters).steps()


WORDS = {
    label_list.NAME: "a list of labels",
    "labels": "a histogram of labels",
    "length_maximum": "a search for the greatest length",
    "length_minimum": "a search for the least length",
    "lengths": "a histogram of lengths",
    "keywords": "votes for key words",
    "tau": "the mean similarity of texts to each other",
}


def fixed_events(parameters: DpgaParameters, facts: Facts) -> dict[str, Event]:
    """Return the events of a fixed size that a run draws before its first vote, by name, in order."""
    search = parameters.search_share * parameters.epsilon / 2.0
    third = parameters.attribute_share * parameters.epsilon / 3.0
    events: dict[str, Event] = {}
    if label_list.is_bought(parameters):
        delta = pe_claim.delta_of(parameters, facts)
        events[label_list.NAME] = label_list.list_event(parameters, facts, delta)
        facts = label_list.known(parameters, facts)
    if facts.labels and parameters.labels == "bought":
        events["labels"] = pe_claim.pure("label histogram", parameters, facts, third)
    if parameters.length:
        cap = float(pe_claim.cap_of(facts))
        for name, what in (("length_maximum", "length search, maximum"), ("length_minimum", "length search, minimum")):
            events[name] = Event(
                "pure", what, epsilon=search, sensitivity=cap, unit=facts.unit, adjacency=parameters.adjacency
            )
        events["lengths"] = pe_claim.pure("length histogram", parameters, facts, third)
    if parameters.keywords:
        events["keywords"] = pe_claim.pure("keyword votes", parameters, facts, third)
    if parameters.buys_tau():
        events["tau"] = Event(
            "laplace", pe_claim.SIMILARITY, epsilon=parameters.tau_share * parameters.epsilon,
            sensitivity=mean_sensitivity(facts.units), unit=facts.unit, adjacency=parameters.adjacency,
        )  # fmt: skip
    return events


def _inputs(parameters: DpgaParameters) -> list[str]:
    found = ["the domain and the prompts", "the settings of this plan"]
    if parameters.length:
        found.append(f"the bound of {parameters.longest} words on lengths")
    else:
        found.append(f"the length asked for, {parameters.words} words")
    if parameters.suppression != "off" and parameters.tau is not None:
        found.append(f"the similarity threshold {parameters.tau:g}")
    return found


def _assumptions(parameters: DpgaParameters) -> list[str]:
    found = []
    if parameters.length:
        found.append(
            f"Lengths are counted in words up to a public bound of {parameters.longest}, in steps of one word."
        )
    else:
        found.append(f"The length asked for, {parameters.words} words, is public.")
    if parameters.keywords:
        found.append(
            f"The {parameters.keyword_count} key words a label come from texts the model made for that label and "
            "from a public list, not from private text."
        )
    if parameters.suppression != "off" and parameters.tau is not None:
        found.append(f"The similarity threshold {parameters.tau:g} is public.")
    elif parameters.suppression == "near-duplicates":
        found.append(
            "The similarity threshold comes from the first candidates, before any vote, not from private text."
        )
    if parameters.sampling_rate < 1:
        found.append("Who votes in a round is drawn from the operating system's randomness and stays secret.")
    return found
