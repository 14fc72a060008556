"""RPSG's writing stages: abstraction with sentiment control, variants, synthetic records.

Source: Ma and Rajtmajer, sections 3.1 and 3.3, appendix B.1 (equation 5, Table 5), B.2 (Table 7: the expand and
rephrase operators stand for its two prompts). The first pass is beam search where the model offers it (the built-in
one does), else sampling at a low temperature; the retry samples at temperature 1. Each record's abstractions are
asked for in a call of their own, so that its neighbours in a batch change neither their length nor their draw.
Privacy posture: private text, redacted, lives in memory and in the run's state; nothing here logs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.methods.base import Step, SyntheticRecord
from engine.methods.filter.method import batch_seed
from engine.methods.readable import rejects
from engine.models.builtin.sentiment import BuiltinSentiment, Classifier
from engine.models.builtin.sentiment_sentences import CLASSES
from engine.models.contracts import Beams, Embedder, Generator, OperatorInputs, Operators, Sampling

if TYPE_CHECKING:
    from engine.methods.rpsg.parameters import RpsgParameters

FIRST_TEMPERATURE = 0.6
TINY = 3  # words; shorter texts are unusable
TOP_P, REPETITION_PENALTY = 0.95, 1.1  # without a penalty small models stutter, mostly where little is to be said
_TOKENS_A_WORD = 1.6
_LONGEST = 220  # words a call can write


@dataclass(frozen=True)
class Models:
    """What the stages call."""

    generator: Generator
    operators: Operators
    embedder: Embedder
    sentiment: Classifier

    def read(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return embeddings (n, d) and sentiment probabilities (n, 3)."""
        vectors = self.embedder.embed(texts)
        if isinstance(self.sentiment, BuiltinSentiment):
            return vectors, self.sentiment.from_vectors(vectors)
        return vectors, self.sentiment.predict(texts)


@dataclass(frozen=True)
class Pool:
    """One seed's candidates after pruning, best score first: texts, utilities in [0, 1], sentiment kept or not.

    `tone` is the seed's sentiment class, `tones` the candidates'.
    """

    texts: list[str]
    utilities: list[float]
    agrees: list[bool]
    retried: bool = False
    made: int = 0
    tone: int = 0
    tones: list[int] = field(default_factory=list)


@dataclass
class _Draft:
    """One seed's candidates while they are collected."""

    texts: list[str] = field(default_factory=list)
    cosines: list[float] = field(default_factory=list)
    agrees: list[bool] = field(default_factory=list)
    tones: list[int] = field(default_factory=list)
    confident: bool = False
    retried: bool = False
    made: int = 0


class Writer:
    """Writes abstractions and texts with one set of models and settings.

    Args:
        seed: the run's seed; each call's draw follows from it, the position and the stage.
        domain: kind of text.
    """

    def __init__(self, models: Models, parameters: RpsgParameters, domain: str, seed: int) -> None:
        self.models, self.p, self.domain, self.seed = models, parameters, domain, seed
        self.rejects = rejects(parameters)

    def pools(self, seeds: Sequence[str], labels: Sequence[str | None], position: int) -> list[Pool]:
        """Return each redacted seed's pool of m candidates; an empty one where no abstraction was usable."""
        vectors, shares = self.models.read(seeds)
        poles = shares.argmax(axis=1)
        drafts = [_Draft() for _ in seeds]
        self._collect(drafts, range(len(seeds)), seeds, labels, vectors, poles, FIRST_TEMPERATURE, (position, 1))
        again = [i for i, draft in enumerate(drafts) if not draft.confident]
        if again and self.p.retry:
            self._collect(drafts, again, seeds, labels, vectors, poles, 1.0, (position, 2))
            for i in again:
                drafts[i].retried = True
        return [self._pruned(draft, int(pole)) for draft, pole in zip(drafts, poles, strict=True)]

    def _collect(
        self,
        drafts: list[_Draft],
        chosen: Sequence[int],
        seeds: Sequence[str],
        labels: Sequence[str | None],
        vectors: NDArray[np.float32],
        poles: NDArray[np.int64],
        temperature: float,
        draw: tuple[int, int],
    ) -> None:
        """Add K abstractions to each chosen draft, with cosine to the seed and agreement in sentiment."""
        instruct = "instruct" in self.models.generator.capabilities
        owners: list[int] = []
        texts: list[str] = []
        for i in chosen:
            text = controlled(seeds[i], CLASSES[poles[i]]) if instruct else seeds[i]
            sampling = Sampling(
                max_new_tokens=self.p.maximum_tokens,
                min_new_tokens=shortest(seeds[i], self.p.minimum_tokens),
                temperature=temperature,
                top_p=TOP_P,
                repetition_penalty=REPETITION_PENALTY,
                seed=batch_seed(self.seed, (draw[0] + i) * 64 + draw[1]),
            )
            made = self._abstractions({"text": text, "label": labels[i], "domain": self.domain}, sampling)
            owners += [i] * len(made)
            texts += made
        found, shares = self.models.read(texts)
        for number, (i, text) in enumerate(zip(owners, texts, strict=True)):
            draft = drafts[i]
            draft.made += 1
            known = {t.casefold() for t in draft.texts}
            if len(text.split()) < TINY or text.casefold() in known:
                continue
            same = int(shares[number].argmax()) == int(poles[i])
            draft.texts.append(text)
            draft.cosines.append(float(found[number] @ vectors[i]))
            draft.agrees.append(same)
            draft.tones.append(int(shares[number].argmax()))
            draft.confident |= same and float(shares[number].max()) >= self.p.minimum_confidence

    def _abstractions(self, entry: OperatorInputs, sampling: Sampling) -> list[str]:
        """Return K abstractions of one record, by beams in the first pass."""
        generator, operators, most = self.models.generator, self.models.operators, self.p.oversampling
        if sampling.temperature != FIRST_TEMPERATURE or not isinstance(generator, Beams):
            return self._call("abstract", [entry] * most, sampling)
        (found,) = generator.search([operators.prompt("abstract", **entry)], sampling, most)
        return [operators.parse("abstract", one.text, **entry).strip() for one in found]

    def _pruned(self, draft: _Draft, tone: int) -> Pool:
        """Keep the m candidates of highest score (equation 5)."""
        p = self.p
        scores = [
            p.similarity_weight * cosine + ((1 - p.similarity_weight) if same else -p.flip_penalty)
            for cosine, same in zip(draft.cosines, draft.agrees, strict=True)
        ]
        best = sorted(range(len(scores)), key=lambda i: -scores[i])[: p.candidates]
        return Pool(
            texts=[draft.texts[i] for i in best],
            utilities=[round(min(1.0, max(0.0, (1.0 + draft.cosines[i]) / 2.0)), 6) for i in best],
            agrees=[draft.agrees[i] for i in best],
            retried=draft.retried,
            made=draft.made,
            tone=tone,
            tones=[draft.tones[i] for i in best],
        )

    def written(
        self,
        operator: str,
        texts: Sequence[str],
        labels: Sequence[str | None],
        words: Sequence[int],
        draw: tuple[int, int],
    ) -> list[str]:
        """Return one text an input by `expand` (variants) or `rephrase`; a second try for unusable and unreadable ones.

        Args:
            words: lengths asked for. draw: batch position and stage, which fix its randomness.
        """
        inputs: list[OperatorInputs] = [
            {"text": text, "label": label, "domain": self.domain, "words": length}
            for text, label, length in zip(texts, labels, words, strict=True)
        ]
        longest = int(max(words, default=0) * _TOKENS_A_WORD * 1.5) + 20
        made: list[str] = []
        for attempt in (0, 1):
            sampling = Sampling(
                max_new_tokens=longest,
                temperature=self.p.temperature,
                top_p=TOP_P,
                repetition_penalty=REPETITION_PENALTY,
                seed=batch_seed(self.seed, draw[0] * 64 + draw[1] * 8 + attempt),
            )
            again = [
                i for i in range(len(inputs)) if attempt == 0 or len(made[i].split()) < TINY or self.rejects(made[i])
            ]
            fresh = self._call(operator, [inputs[i] for i in again], sampling) if again else []
            made = made or [""] * len(inputs)
            for i, text in zip(again, fresh, strict=True):
                made[i] = text if attempt == 0 or len(text.split()) >= TINY else made[i]
        return made

    def _call(self, operator: str, inputs: Sequence[OperatorInputs], sampling: Sampling) -> list[str]:
        operators = self.models.operators
        prompts = [operators.prompt(operator, **entry) for entry in inputs]
        outputs = self.models.generator.generate(prompts, sampling)
        return [operators.parse(operator, o.text, **e).strip() for o, e in zip(outputs, inputs, strict=True)]


def controlled(text: str, tone: str) -> str:
    """Return the seed behind appendix B.1's control phrase; a neutral one has none."""
    return text if tone == "neutral" else f"Keep {tone} tone: {text}"


def shortest(seed: str, least: int) -> int:
    """Return the fewest tokens an abstraction of a seed may have: Table 5's, but no more than half of the seed's own.

    A text that may not end stutters: told to abstract at full length the built-in model did so in a quarter.
    """
    return min(least, int(0.5 * _TOKENS_A_WORD * len(seed.split())))


def length_wanted(text: str) -> int:
    """Return the words asked for: the seed's own, within what one call can write."""
    return min(max(len(text.split()), 8), _LONGEST)


def funnel_step(
    state: Mapping[str, object],
    stage: str,
    done: int,
    total: int,
    dropped: dict[str, int],
    diagnostics: Mapping[str, object],
    records: Sequence[SyntheticRecord] = (),
) -> Step:
    """Return a step whose funnel adds up: what left the run here, dropped or kept."""
    drops = {name: n for name, n in dropped.items() if n}
    return Step(
        state=state,
        records=tuple(records),
        funnel={"made": len(records) + sum(drops.values()), **drops, "kept": len(records)},
        stage=stage,
        done=done,
        total=total,
        diagnostics=diagnostics,
    )
