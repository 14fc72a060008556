"""RPSG repaired: candidates from public prompts, chosen by private votes, so that a bound covers the output.

What RPSG (Ma and Rajtmajer) takes from private text before its noise, the seeds behind the candidates, their
sentiment and the cosine filter, is left out. What remains of Algorithm 1 works on public or noisy values alone:
candidates, two rewrites, a surrogate model tuned on the variants, and the likelihood filter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel

from engine.dp.accounting import closed_form, delta_rules
from engine.dp.events import Event, count_sensitivity
from engine.dp.groups import with_named
from engine.dp.guarantee import Guarantee
from engine.dp.upward import upward
from engine.errors import InternalError
from engine.methods import label_list
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step
from engine.methods.evolution.claim import one_vote
from engine.methods.public_inputs import given, listed, settings_taken, size_taken
from engine.methods.rpsg.parameters import PRESETS, RpsgPublicParameters
from engine.models.builtin.shipped import SECONDS_A_TOKEN

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant

_TOKENS_A_WORD = 1.6
_SECONDS_A_TUNED_TOKEN = 1 / 3000
_SECONDS_A_VOTE = 0.02  # embedding of a private record or a candidate


class RpsgPublicMethod:
    """Invent candidates from public prompts, let private records vote, rewrite the winners, filter by likelihood."""

    spec = MethodSpec(
        id="rpsg-public",
        title="RPSG with public candidates",
        summary="Has a language model invent candidates without any record, lets each private record vote for the "
        "nearest one, adds noise to the votes, rewrites the winners twice and drops what looks memorised.",
        origin="A language model wrote each record without an original text. Original texts only took part in counts"
        " with noise, by which records were chosen.",
        citation="after Ma and Rajtmajer, Private Seeds, Public LLMs (RPSG); votes as in Xie et al. 2024, AUG-PE",
        kind="dp",
        needs=("generator", "operators", "embedder", "train"),
        parameters=RpsgPublicParameters,
        good_for="A bound on everything that comes out, where many records tell similar things.",
        bad_for="Small or unusual corpora: what the model cannot invent without records cannot be chosen.",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return the (ε, δ) of the run's complete output and the noise that pays for it."""
        from engine.dp.accounting.accountant import ExactAccountant

        p = own(parameters)
        delta = closed_form.default_delta(facts.units) if p.delta is None else closed_form.check_delta(p.delta)
        delta_rules.check_against_units(delta, facts.units, p.large_delta)
        facts = label_list.known(p, facts)
        cap = facts.cap if facts.unit == "source" else 1
        sensitivity = count_sensitivity(cap, p.adjacency)
        shares = {"votes": 1.0}
        declared: list[Event] = []
        if facts.labels and p.labels == "bought":
            shares = {"labels": p.label_share, "votes": 1.0 - p.label_share}
        elif facts.labels:
            declared = [Event("declared", "label shares", unit=facts.unit, adjacency=p.adjacency)]
        free = [
            Event(
                "gaussian",
                "label histogram" if name == "labels" else "votes",
                noise_multiplier=1.0 / math.sqrt(share),
                sensitivity=sensitivity,
                unit=facts.unit,
                adjacency=p.adjacency,
            )
            for name, share in shares.items()
        ]
        listing = [label_list.list_event(p, facts, delta)] if label_list.is_bought(p) else []
        found = (accountant or ExactAccountant()).calibrate(listing, free, p.epsilon, delta)
        noise = {
            name: {
                "sigma": float(event.noise_multiplier or 0.0) * event.sensitivity,
                "noise_multiplier": float(event.noise_multiplier or 0.0),
                "sensitivity": event.sensitivity,
            }
            for name, event in zip(shares, found.events[len(listing) :], strict=True)
        }
        if listing:
            noise = {label_list.NAME: label_list.level_of(listing[0], facts), **noise}
        who = "one record" if facts.unit == "record" else f"all records of one person or source (at most {cap})"
        shown, allowed = upward(p.epsilon, 6), upward(delta)
        bought = ["a list of labels"] if listing else []
        bought += ["a histogram of labels"] if "labels" in noise else []
        bought.append("one count of votes for each candidate")
        what = "left out" if p.adjacency == "zero-out" else "replaced by other text"
        claim = Guarantee(
            kind="dp",
            sentence=f"Differentially private with ε = {shown} and δ = {allowed}: had {who} been {what}, any "
            f"outcome would have a probability at most e^{shown} times as large, plus {allowed}. "
            f"Private text is read for {listed(bought)} only, with Gaussian noise, of σ = "
            f"{noise['votes']['sigma']:.3g} on the counts of votes. "
            + given(
                facts,
                ("the domain and the prompts", "the settings of this plan", f"the length of {p.words} words"),
                shares_public=p.labels == "public",
                own_list=label_list.sentence(listing[0], facts) if listing else "",
            ),
            scope="the run's complete output",
            epsilon=p.epsilon,
            delta=delta,
            unit=facts.unit,
            adjacency=p.adjacency,
            events=tuple(event.as_dict() for event in (*found.events, *declared)),
            assumptions=(
                *(line for line in [delta_rules.warning(delta, facts.units, facts.unit)] if line),
                *_assumptions(p, facts),
            ),
            voided_by=(
                "Outputs were chosen, filtered or edited after a look at private text.",
                "One of several runs was chosen by comparing them with private text.",
                "A domain, a length or a label list was itself taken from the records.",
            ),
            noise=noise,
            accounting={
                "epsilon_pld": found.epsilon,
                "epsilon_pld_low": found.epsilon_low,
                "epsilon_rdp": found.rdp_epsilon,
            },
        )
        return with_named(claim)

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return calls, tokens and seconds for `count` outputs, and how votes compare with the noise."""
        p = own(parameters)
        chosen = p.wanted(count)
        tokens = int(chosen * (p.candidates + 2) * p.words * _TOKENS_A_WORD)
        tuned = chosen * p.words * _TOKENS_A_WORD * (p.epochs or PRESETS[p.preset].epochs)
        delta = closed_form.default_delta(facts.units) if p.delta is None else p.delta
        sigma = closed_form.noise_multiplier(p.epsilon, delta) * count_sensitivity(
            facts.cap if facts.unit == "source" else 1, p.adjacency
        )
        each = facts.units / max(1, chosen * p.candidates)
        notes = [
            f"{chosen * p.candidates:,} candidates share {facts.units:,} votes{one_vote(facts)}, {each:.2g} each on "
            f"average; the noise on each count has σ = {sigma:.2g}.",
            "Seconds are for the built-in model on two CPU cores.",
        ]
        if each < sigma / 2:
            notes.append("Votes drown in noise here: ask for fewer outputs or fewer candidates, or a larger ε.")
        seconds = tokens * SECONDS_A_TOKEN + tuned * _SECONDS_A_TUNED_TOKEN
        return Plan(
            model_calls=chosen * (p.candidates + 2),
            tokens=tokens,
            seconds=round(seconds + (facts.units + chosen * p.candidates) * _SECONDS_A_VOTE, 1),
            outputs=count,
            notes=tuple(notes),
        )

    def run(self, context: Context) -> Iterator[Step]:
        """Yield one step a batch and stage; outputs come with the last stage."""
        from engine.methods.rpsg.public_run import PublicRun

        yield from PublicRun(context, own(context.parameters)).steps()


def own(parameters: BaseModel) -> RpsgPublicParameters:
    """Return the parameters as this method's.

    Raises:
        InternalError: they are another method's.
    """
    if not isinstance(parameters, RpsgPublicParameters):
        raise InternalError("rpsg-public was started with another method's parameters")
    return parameters


def _assumptions(p: RpsgPublicParameters, facts: Facts) -> tuple[str, ...]:
    """Return each public input, one sentence each."""
    inputs = [
        size_taken(facts),
        settings_taken(
            "the number of candidates", f"the domain ({p.domain})", f"the words of an output ({p.words})", "the prompts"
        ),
        "The language model, the sentence encoder and their training text are public and hold none of the records.",
    ]
    if facts.labels:
        inputs.append(f"The list of {facts.labels} labels was declared public.")
        if p.labels == "public":
            inputs.append("The shares of the labels are declared public; they are opened without noise.")
    if facts.unit == "source":
        inputs.append(f"Each source votes with at most {facts.cap} records, over all labels.")
    return tuple(inputs)
