"""One run of DPGA-TextSyn on the loop of private evolution.

Privacy posture: as of that loop; texts, key words and choices stem from public prompts and stored noisy outputs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.methods.base import Context
from engine.methods.evolution import common as pe
from engine.methods.evolution.dpga_elite import as_printed, elite, near_duplicate
from engine.methods.evolution.dpga_stages import (
    above_noise,
    draw_length,
    keyword_list,
    length_edges,
    matched_lengths,
    softmax,
    words_of,
)
from engine.methods.evolution.kept_votes import kept_votes
from engine.methods.evolution.parameters import MUTATION_BLANKS, DpgaParameters, sizes_of, texts_written
from engine.methods.evolution.rounds import Evolution, Level, Meta, Selection, State, shares_of
from engine.models.builtin.format import blanked

_SAMPLES = 12  # texts a label that key words are taken from


class DpgaRun(Evolution):
    """Metadata, votes, suppression, and the four ways to a new text."""

    def __init__(self, context: Context, parameters: DpgaParameters) -> None:
        super().__init__(context, parameters, parameters.rounds)
        self.parameters = parameters
        self.sizes = sizes_of(parameters, context.count)

    def total(self) -> int:
        """Return how many texts the whole run writes."""
        return texts_written(self.parameters, self.context.count)

    def open(self) -> Meta:
        """Draw label shares, length range and histogram, key words and threshold, as far as they are switched on."""
        parameters = self.parameters
        bought = self.buys_shares(parameters.labels)
        noise: Level = {"epsilon": self.epsilon("labels")} if bought else {}
        shares = self.label_shares(parameters.labels, "label histogram", noise)
        meta: Meta = {"shares": list(shares.items())}
        if parameters.length:
            meta["edges"], meta["lengths"] = self._lengths()
        if parameters.keywords:
            meta["keywords"] = self._keywords(list(shares))
        if parameters.buys_tau():
            meta["tau"] = min(1.0, max(0.0, self.mechanisms.noisy_mean("tau", epsilon=self.epsilon("tau"))))
        elif parameters.suppression != "off" and parameters.tau is not None:
            meta["tau"] = parameters.tau
        return meta

    def _lengths(self) -> tuple[list[float], list[float]]:
        """Return edges and noisy counts of the length histogram between two searched ends."""
        rising = list(range(self.parameters.longest + 1))
        top = self.mechanisms.above_threshold(
            "length_maximum", queries=[float(q) for q in rising], direction="above", measure=words_of,
            epsilon=self.epsilon("length_maximum"), what="length search, maximum",
        )  # fmt: skip
        longest = min(top, self.parameters.longest)
        falling = list(range(longest, -1, -1))
        bottom = self.mechanisms.above_threshold(
            "length_minimum", queries=[float(q) for q in falling], direction="below", measure=words_of,
            epsilon=self.epsilon("length_minimum"), what="length search, minimum",
        )  # fmt: skip
        edges = length_edges(longest - min(bottom, longest), longest)
        counts = self.mechanisms.noisy_histogram(
            "lengths", "length", edges, epsilon=self.epsilon("lengths"), measure=words_of, what="length histogram"
        )
        return edges, [float(count) for count in counts]

    def _keywords(self, labels: list[str | None]) -> list[tuple[str | None, list[str], list[float]]]:
        """Return each label's key words and the chance of each, after noisy votes within the label."""
        size, public = self.parameters.keyword_count, self.writer.prompts.keywords
        tasks = [
            pe.Task(
                "invent",
                label,
                self.parameters.words,
                keywords=tuple(pe.rng_of(self.seed, "key", i, j).sample(public, 1)),
            )
            for i, label in enumerate(labels)
            for j in range(_SAMPLES)
        ]
        texts: dict[str | None, list[str]] = defaultdict(list)
        for start in range(0, len(tasks), 64):
            batch = tasks[start : start + 64]
            warm = self.parameters.keyword_temperature
            written = self.writer.write(batch, "keywords", start, temperature=warm, worked=any(texts.values()))
            for task, text in zip(batch, written.texts, strict=True):
                if text is not None:
                    texts[task.label].append(text)
        lists = {
            label: keyword_list(
                texts[label], [text for other in labels if other != label for text in texts[other]], public, size
            )
            for label in labels
        }
        pairs = [(word, label) for label in labels for word in lists[label]]
        votes = self.mechanisms.noisy_votes(
            "keywords", self.embedder.embed([word for word, _ in pairs]), fingerprint=pe.fingerprint(pairs),
            epsilon=self.epsilon("keywords"), what="keyword votes",
            groups=[str(label) for _, label in pairs] if self.context.labels else None,
        )  # fmt: skip
        scale = self.sigma("keywords") / math.sqrt(2.0)  # of Laplace noise
        found, start = [], 0
        for label in labels:
            own = votes[start : start + len(lists[label])]
            start += len(own)
            paper = self.parameters.keyword_choice == "softmax"
            chances = softmax(own, self.parameters.keyword_temperature) if paper else above_noise(own, scale)
            found.append((label, lists[label], [round(float(chance), 6) for chance in chances]))
        return found

    def wanted(self, state: State) -> dict[str | None, int]:
        """Return the elite of each label; never less than its outputs."""
        shares = shares_of(state["meta"])
        outputs = pe.quotas(shares, self.context.count)
        return {label: max(quota, outputs[label]) for label, quota in pe.quotas(shares, self.sizes["elite"]).items()}

    def tasks(self, state: State) -> list[pe.Task]:
        """Return the first population, or mutations, crosses and new texts beside the elite."""
        meta, round_ = state["meta"], state["round"]
        if round_ == 1:
            labels = self._spread(meta, self.sizes["population"])
            return [self._generate(meta, label, 1, i) for i, label in enumerate(labels)]
        pool: list[pe.Pair] = [(text, label) for text, label in state["pool"]]
        words = [words_of(text) for text, _ in pool]
        lengths = matched_lengths(words, meta["edges"], meta["lengths"]) if "edges" in meta else words
        tasks = [
            self._mutate(pool[i % len(pool)], lengths[i % len(pool)], i // len(pool), round_, i)
            for i in range(self.sizes["mutate"])
        ]
        tasks += self._crosses(pool, lengths, round_)
        labels = self._spread(meta, self.sizes["generate"])
        return tasks + [self._generate(meta, label, round_, i) for i, label in enumerate(labels)]

    def _spread(self, meta: Meta, size: int) -> list[str | None]:
        """Return a label a text, so that each label's candidates are enough for its elite."""
        return [label for label, quota in pe.quotas(shares_of(meta), size).items() for _ in range(quota)]

    def _generate(self, meta: Meta, label: str | None, round_: int, position: int) -> pe.Task:
        """Return a new text's task from the bought lengths and key words."""
        rng = pe.rng_of(self.seed, "generate", round_, position)
        words = draw_length(rng, meta["edges"], meta["lengths"]) if "edges" in meta else self.parameters.words
        keywords: tuple[str, ...] = ()
        for own, listed, chances in meta.get("keywords", ()):
            if own == label:
                keywords = tuple(dict.fromkeys(rng.choices(listed, chances, k=2)))
        return pe.Task("invent", label, words, keywords=keywords, persona=rng.choice(self.writer.prompts.personas))

    def _mutate(self, pair: pe.Pair, length: int, turn: int, round_: int, position: int) -> pe.Task:
        """Return a rewriting on even turns, of the length asked for, and a filling of half of the words on odd ones."""
        rng = pe.rng_of(self.seed, "mutate", round_, position)
        text, label = pair
        words = min(400, max(3, length))
        if turn % 2 == 0:
            return pe.Task("rephrase", label, words, text=text, style=rng.choice(self.writer.prompts.styles))
        return pe.Task("fill", label, words, text=blanked(text, rng, MUTATION_BLANKS))

    def _crosses(self, pool: list[pe.Pair], lengths: Sequence[int], round_: int) -> list[pe.Task]:
        """Return crosses of two elite texts of one label, as long as the mean of the lengths asked of each."""
        members: dict[str | None, list[str]] = defaultdict(list)
        asked: dict[str, int] = {}
        for (text, label), length in zip(pool, lengths, strict=True):
            members[label].append(text)
            asked[text] = length
        tasks = []
        for i in range(self.sizes["cross"]):
            rng = pe.rng_of(self.seed, "cross", round_, i)
            text, label = pool[rng.randrange(len(pool))]
            others = [other for other in members[label] if other != text] or [text]
            parents = (text, rng.choice(others))
            words = round(sum(asked[parent] for parent in parents) / 2)
            tasks.append(pe.Task("cross", label, min(400, max(3, words)), texts=parents))
        return tasks

    def select(self, state: State, pool: list[pe.Pair], embeddings: NDArray[np.float32]) -> Selection:
        """Let a Poisson sample of private units vote; keep the best that are no near-duplicates of better ones."""
        votes = self.mechanisms.noisy_votes(
            f"votes/{state['round']}",
            embeddings,
            fingerprint=pe.fingerprint(pool),
            noise_multiplier=self.noise_multiplier("votes"),
            sampling_probability=self.parameters.sampling_rate,
            groups=[str(label) for _, label in pool] if self.context.labels else None,
        )
        meta, parameters = state["meta"], self.parameters
        facts: Meta = {}
        if parameters.suppression == "near-duplicates" and "tau" not in meta:
            facts["tau"] = near_duplicate(embeddings)  # of the first candidates, before a vote told anything of them
        tau = facts.get("tau", meta.get("tau"))
        rule, wanted = as_printed if parameters.suppression == "as printed" else elite, self.wanted(state)
        kept, used, held = rule(embeddings, votes, pool, wanted, tau)
        measured = kept_votes(
            votes, self.sigma("votes"), pool, wanted, lambda seen: rule(embeddings, seen, pool, wanted, tau)[0],
            np.random.default_rng(pe.seed_of(self.seed, "kept votes", state["round"])),
        )  # fmt: skip
        notes = {} if tau is None else {"tau": used, "suppressed": held}
        return Selection(kept, votes, {**notes, **measured.notes()}, facts)
