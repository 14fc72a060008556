"""AUG-PE: private records vote for the nearest of public candidates; the winners are varied; repeat.

Source: Xie et al. 2024, "Differentially Private Synthetic Data via Foundation Model APIs 2: Text", algorithm 1
and appendix; defaults are its settings for local models. Noise is calibrated exactly (Balle and Wang 2018).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from engine.dp.accounting.accountant import ExactAccountant
from engine.dp.guarantee import Guarantee
from engine.methods import label_list
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step
from engine.methods.evolution import claim as pe_claim
from engine.methods.evolution import common as pe
from engine.methods.evolution.clusters import cluster, spread
from engine.methods.evolution.kept_votes import kept_votes
from engine.methods.evolution.matching import matched
from engine.methods.evolution.parameters import AugPeParameters
from engine.methods.evolution.rounds import Evolution, Level, Meta, Selection, State, shares_of
from engine.models.builtin.format import blanked

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant

DENSE = "dense votes"
_SHORTEST = 25  # words, the least length asked of a variation
_SPREAD = (40.0, 60.0)  # words; the target length varies by degree × a value in this range


class AugPeMethod:
    """Evolve public texts by noisy votes of private records."""

    spec = MethodSpec(
        id="aug-pe",
        title="Private evolution (AUG-PE)",
        summary="A language model writes candidates from public prompts; private records vote, with noise, for those "
        "nearest to them; the winners are varied and put to the vote again.",
        origin="A language model wrote each record from public prompts. Original texts only took part in counts with"
        " noise, by which records were chosen and varied.",
        citation="Xie et al. 2024, Differentially Private Synthetic Data via Foundation Model APIs 2: Text",
        kind="dp",
        needs=("generator", "operators", "embedder"),
        parameters=AugPeParameters,
        good_for="A provable bound with any model that writes the kind of text at hand; thousands of records.",
        bad_for="Small corpora at a small ε: noise then outweighs the votes (see what the budget buys).",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return (ε, δ) of one Gaussian release a round and, where labels are bought, one more."""
        assert isinstance(parameters, AugPeParameters)
        facts, delta = label_list.known(parameters, facts), pe_claim.delta_of(parameters, facts)
        bought = facts.labels > 0 and parameters.labels == "bought"
        share = parameters.label_share if bought else 0.0
        multiplier = math.sqrt(parameters.rounds / (1.0 - share))
        if parameters.votes == "dense":
            votes = pe_claim.vectors(DENSE, parameters, facts, multiplier, parameters.rounds)
        else:
            votes = pe_claim.gaussian("votes", parameters, facts, multiplier, parameters.rounds)
        free = [votes]
        if bought:
            free.insert(0, pe_claim.gaussian("label histogram", parameters, facts, math.sqrt(1.0 / share)))
        open_ = [] if bought or not facts.labels else [pe_claim.declared("label declared public", parameters, facts)]
        if label_list.is_bought(parameters):
            open_ = [label_list.list_event(parameters, facts, delta)]
        found = (accountant or ExactAccountant()).calibrate(open_, free, parameters.epsilon, delta)
        named = {event.what: event for event in found.events}
        noise = {"votes": named[votes.what]}
        if bought:
            noise = {"labels": named["label histogram"], **noise}
        if label_list.WHAT in named:
            noise = {label_list.NAME: named[label_list.WHAT], **noise}
        return pe_claim.dp_guarantee(
            parameters,
            facts,
            found,
            bought=[
                *(["a list of labels"] if label_list.WHAT in named else []),
                *(["a histogram of labels"] if bought else []),
                pe_claim.rounds_of_votes(parameters.rounds),
            ],
            noise=noise,
            inputs=(
                "the domain and the prompts",
                "the settings of this plan",
                f"the length asked for at first, {parameters.words} words",
            ),
            assumptions=(f"The length asked for at first, {parameters.words} words, is public.",),
        )

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return calls, tokens and seconds for `count` outputs, and the ledger's lines."""
        assert isinstance(parameters, AugPeParameters)
        calls = texts_written(parameters, count)
        tokens = int(calls * max(parameters.words, _SHORTEST) * pe.TOKENS_A_WORD)
        seconds = tokens * pe.SECONDS_A_TOKEN
        seconds += (count * parameters.variations * parameters.rounds + facts.read) * pe.SECONDS_A_TEXT
        claim = self.guarantee(parameters, facts)
        each, sigma = facts.units / max(1, count * parameters.variations), claim.noise["votes"]["sigma"]
        votes = f"A candidate gets about {each:.2g} votes{pe_claim.one_vote(facts)}, with noise of σ = {sigma:.3g}."
        if parameters.votes == "dense":
            votes = f"A {facts.unit} scores all candidates, with noise of σ = {sigma:.3g} on each sum of scores."
        notes = [
            f"{count} outputs from {count * parameters.variations} candidates, {parameters.rounds} rounds, L = "
            f"{parameters.variations}.",
            votes,
            "Seconds are for the built-in model on two CPU cores.",
        ]
        if seconds > 3600:
            notes.append("Fewer rounds or variations shorten the run, and fewer rounds lower the noise of each.")
        return Plan(
            model_calls=calls,
            tokens=tokens,
            seconds=round(seconds, 1),
            outputs=count,
            ledger=pe_claim.ledger_preview(claim),
            notes=tuple(notes),
        )

    def run(self, context: Context) -> Iterator[Step]:
        """Yield one step a batch of candidates and one a vote; the last vote's winners are the outputs."""
        assert isinstance(context.parameters, AugPeParameters)
        return _AugPe(context, context.parameters).steps()


def texts_written(parameters: AugPeParameters, count: int) -> int:
    """Return how many texts a run writes: L × count at first, then L − 1 variations of each winner."""
    later = (parameters.rounds - 1) * (parameters.variations - 1)
    return count * (parameters.variations + later) + _ahead(parameters, count)


def _ahead(parameters: AugPeParameters, count: int) -> int:
    return parameters.lookahead * parameters.rounds * parameters.variations * count


class _AugPe(Evolution):
    """One run of AUG-PE."""

    def __init__(self, context: Context, parameters: AugPeParameters) -> None:
        super().__init__(context, parameters, parameters.rounds)
        self.parameters = parameters

    def total(self) -> int:
        """Return how many texts the whole run writes."""
        return texts_written(self.parameters, self.context.count) - _ahead(self.parameters, self.context.count)

    def open(self) -> Meta:
        """Buy the label shares, or take them as declared."""
        bought = self.buys_shares(self.parameters.labels)
        noise: Level = {"noise_multiplier": self.noise_multiplier("labels")} if bought else {}
        shares = self.label_shares(self.parameters.labels, "label histogram", noise)
        return {"shares": list(shares.items())}

    def wanted(self, state: State) -> dict[str | None, int]:
        """Return the outputs of each label."""
        return pe.quotas(shares_of(state["meta"]), self.context.count)

    def tasks(self, state: State) -> list[pe.Task]:
        """Return L × count inventions at first, then L − 1 variations of each survivor."""
        size = self.parameters.variations
        if state["round"] == 1:
            labels = [label for label, quota in self.wanted(state).items() for _ in range(quota * size)]
            return [self._invent(label, i) for i, label in enumerate(labels)]
        return [
            self._vary(text, label, "vary", state["round"], i, turn)
            for turn in range(size - 1)
            for i, (text, label) in enumerate(state["pool"])
        ]

    def _invent(self, label: str | None, position: int) -> pe.Task:
        rng, prompts = pe.rng_of(self.seed, "invent", position), self.writer.prompts
        keywords = tuple(rng.sample(prompts.keywords, 2))
        return pe.Task("invent", label, self.parameters.words, keywords=keywords, persona=rng.choice(prompts.personas))

    def _vary(self, text: str, label: str | None, *place: str | int) -> pe.Task:
        rng, parameters = pe.rng_of(self.seed, *place), self.parameters
        degree = rng.uniform(*sorted((parameters.degree_low, parameters.degree_high)))
        words = target_length(len(text.split()), degree, rng.uniform(*_SPREAD), rng.gauss(0.0, 1.0))
        if parameters.variation == "rephrase":
            return pe.Task("rephrase", label, words, text=text, style=rng.choice(self.writer.prompts.styles))
        return pe.Task("fill", label, words, text=blanked(text, rng, degree))

    def select(self, state: State, pool: list[pe.Pair], embeddings: NDArray[np.float32]) -> Selection:
        """Let private records vote for candidates, or for clusters of them, of their own label."""
        round_, points = state["round"], self._looked_ahead(state["round"], pool, embeddings)
        groups = [str(label) for _, label in pool] if self.context.labels else None
        coarse = self.parameters.votes_for == "clusters"
        parts = cluster(points, groups, self.parameters.clusters) if coarse else None
        if self.parameters.votes == "dense":
            scores = self.mechanisms.noisy_scores(
                f"votes/{round_}", points, fingerprint=pe.fingerprint(pool),
                noise_multiplier=self.noise_multiplier("votes"), groups=groups, what=DENSE,
            )  # fmt: skip
            return Selection(self._matched(state, pool, scores, points), scores)
        votes = self.mechanisms.noisy_votes(
            f"votes/{round_}",
            points,
            fingerprint=pe.fingerprint(pool),
            noise_multiplier=self.noise_multiplier("votes"),
            groups=groups,
            clusters=parts,
        )
        if parts is not None:
            votes = spread(votes, parts)
        kept = self._winners(state, pool, votes, parts)
        if parts is not None:
            return Selection(kept, votes)
        measured = kept_votes(
            votes, self.sigma("votes"), pool, self.wanted(state), lambda seen: self._winners(state, pool, seen, None),
            np.random.default_rng(pe.seed_of(self.seed, "kept votes", round_)),
        )  # fmt: skip
        return Selection(kept, votes, measured.notes())

    def _looked_ahead(self, round_: int, pool: list[pe.Pair], embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return what stands for each candidate: its own embedding, or the mean of a few variations'."""
        if not self.parameters.lookahead:
            return embeddings
        sums = np.zeros_like(embeddings)
        for turn in range(self.parameters.lookahead):
            tasks = [self._vary(text, label, "ahead", round_, i, turn) for i, (text, label) in enumerate(pool)]
            texts = [
                text or pool[i][0]
                for i, text in enumerate(self.writer.write(tasks, "ahead", round_, turn, worked=True).texts)
            ]
            sums += self.embedder.embed(texts)
        return (sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)).astype(np.float32)

    def _matched(
        self, state: State, pool: list[pe.Pair], votes: NDArray[np.float64], points: NDArray[np.float32]
    ) -> list[int]:
        """Return each label's winners by dense votes, as many records being taken for a label as its share says."""
        assert self.context.facts is not None
        shares = {label: max(0.0, share) for label, share in shares_of(state["meta"]).items()}
        whole, kept = sum(shares.values()) or 1.0, list[int]()
        for label, quota in self.wanted(state).items():
            own = [i for i, (_, other) in enumerate(pool) if other == label]
            if own and quota:
                records = self.context.facts.units * shares.get(label, 0.0) / whole
                kept += [own[i] for i in matched(votes[own], points[own], records, quota)]
        return kept

    def _winners(
        self,
        state: State,
        pool: list[pe.Pair],
        votes: NDArray[np.float64],
        parts: NDArray[np.int64] | None,
    ) -> list[int]:
        """Return each label's winners, ties broken by the run's seed."""
        rng = pe.rng_of(self.seed, "select", state["round"])
        members: dict[str | None, list[int]] = defaultdict(list)
        for i in rng.sample(range(len(pool)), len(pool)):
            members[pool[i][1]].append(i)
        kept: list[int] = []
        for label, quota in self.wanted(state).items():
            own = members[label]
            if parts is not None:
                kept += by_cluster(own, votes, parts, quota)
            elif self.parameters.selection == "rank":
                kept += sorted(own, key=lambda i: -votes[i])[:quota]
            else:
                # Weighted draw without replacement: the largest u^(1/w) (Efraimidis and Spirakis 2006).
                keys = {i: math.log(rng.random() or 1e-300) / max(float(votes[i]), 1e-9) for i in own}
                kept += sorted(own, key=lambda i: -keys[i])[:quota]
        return kept


def by_cluster(own: list[int], votes: NDArray[np.float64], parts: NDArray[np.int64], quota: int) -> list[int]:
    """Return `quota` candidates, shared by clusters' votes; what a full cluster cannot hold is passed on."""
    members: dict[str | None, list[int]] = defaultdict(list)
    for i in own:
        members[str(parts[i])].append(i)
    kept: list[int] = []
    while len(kept) < quota and members:
        weights = {name: float(sum(votes[i] for i in part)) for name, part in members.items()}
        for name, share in pe.quotas(weights, quota - len(kept)).items():
            kept += members[name][:share]
            members[name] = members[name][share:]
        members = {name: part for name, part in members.items() if part}
        if not any(max(0.0, weights[name]) for name in members):
            kept += [i for part in members.values() for i in part][: quota - len(kept)]
            break
    return kept


def target_length(words: int, degree: float, spread_words: float, draw: float) -> int:
    """Return the length asked of a variation: the parent's plus N(0, (degree × spread)²), at least 25 words."""
    return min(400, max(_SHORTEST, round(words + draw * degree * spread_words)))
