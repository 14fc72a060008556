"""RPSG's writing stages: abstraction with sentiment control, variants, synthetic records.

Source: Ma and Rajtmajer, sections 3.1 and 3.3, appendix B.1 (equation 5, Table 5), B.2 (Table 7: the expand and
rephrase operators stand for its two prompts). The first pass is beam search where the model offers it (the built-in
one does), else sampling at a low temperature; the retry samples at temperature 1.
Privacy posture: private text, redacted, lives in memory and in the run's state; nothing here logs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.methods.base import Step, SyntheticRecord
from engine.methods.filter import batch_seed
from engine.models.contracts import Beams, Embedder, Generator, Operators, Sampling
from engine.models.sentiment import BuiltinSentiment, Classifier
from engine.models.sentiment_data import CLASSES

if TYPE_CHECKING:
    from engine.methods.rpsg import RpsgParameters

FIRST_TEMPERATURE = 0.6
TINY = 3  # words; shorter texts are unusable
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
    """One seed's candidates after pruning, best score first: texts, utilities in [0, 1], sentiment kept or not."""

    texts: list[str]
    utilities: list[float]
    agrees: list[bool]
    retried: bool = False
    made: int = 0


@dataclass
class _Draft:
    """One seed's candidates while they are collected."""

    texts: list[str] = field(default_factory=list)
    cosines: list[float] = field(default_factory=list)
    agrees: list[bool] = field(default_factory=list)
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
        return [self._pruned(draft) for draft in drafts]

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
        p = self.p
        instruct = "instruct" in self.models.generator.capabilities
        inputs = [
            {
                "text": controlled(seeds[i], CLASSES[poles[i]]) if instruct else seeds[i],
                "label": labels[i],
                "domain": self.domain,
                "tone": CLASSES[poles[i]],
            }
            for i in chosen
        ]
        shortest = min(len(seeds[i].split()) for i in chosen)
        sampling = Sampling(
            max_new_tokens=p.maximum_tokens,
            min_new_tokens=min(p.minimum_tokens, shortest),
            temperature=temperature,
            seed=batch_seed(self.seed, draw[0] * 64 + draw[1]),
        )
        owners, texts = self._abstractions(chosen, inputs, sampling)
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
            draft.confident |= same and float(shares[number].max()) >= p.minimum_confidence

    def _abstractions(
        self, chosen: Sequence[int], inputs: Sequence[dict[str, Any]], sampling: Sampling
    ) -> tuple[list[int], list[str]]:
        """Return K abstractions an input, by beams in the first pass, and whose each is."""
        generator, operators, most = self.models.generator, self.models.operators, self.p.oversampling
        if sampling.temperature != FIRST_TEMPERATURE or not isinstance(generator, Beams):
            repeated = [entry for entry in inputs for _ in range(most)]
            return [i for i in chosen for _ in range(most)], self._call("abstract", repeated, sampling)
        found = generator.search([operators.prompt("abstract", **entry) for entry in inputs], sampling, most)
        owners = [i for i, made in zip(chosen, found, strict=True) for _ in made]
        texts = [
            operators.parse("abstract", one.text, **entry).strip()
            for entry, made in zip(inputs, found, strict=True)
            for one in made
        ]
        return owners, texts

    def _pruned(self, draft: _Draft) -> Pool:
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
        )

    def written(
        self,
        operator: str,
        texts: Sequence[str],
        labels: Sequence[str | None],
        words: Sequence[int],
        draw: tuple[int, int],
    ) -> list[str]:
        """Return one text an input by `expand` (variants) or `rephrase`; a second try for unusable ones.

        Args:
            words: lengths asked for. draw: batch position and stage, which fix its randomness.
        """
        inputs: list[dict[str, Any]] = [
            {"text": text, "label": label, "domain": self.domain, "words": length}
            for text, label, length in zip(texts, labels, words, strict=True)
        ]
        longest = int(max(words, default=0) * _TOKENS_A_WORD * 1.5) + 20
        made: list[str] = []
        for attempt in (0, 1):
            sampling = Sampling(
                max_new_tokens=longest,
                temperature=self.p.temperature,
                seed=batch_seed(self.seed, draw[0] * 64 + draw[1] * 8 + attempt),
            )
            again = [i for i in range(len(inputs)) if attempt == 0 or len(made[i].split()) < TINY]
            fresh = self._call(operator, [inputs[i] for i in again], sampling) if again else []
            made = made or [""] * len(inputs)
            for i, text in zip(again, fresh, strict=True):
                made[i] = text
        return made

    def _call(self, operator: str, inputs: Sequence[dict[str, Any]], sampling: Sampling) -> list[str]:
        operators = self.models.operators
        prompts = [operators.prompt(operator, **entry) for entry in inputs]
        outputs = self.models.generator.generate(prompts, sampling)
        return [operators.parse(operator, o.text, **e).strip() for o, e in zip(outputs, inputs, strict=True)]


def controlled(text: str, tone: str) -> str:
    """Return the seed behind appendix B.1's control phrase; a neutral one has none."""
    return text if tone == "neutral" else f"Keep {tone} tone: {text}"


def length_wanted(text: str) -> int:
    """Return the words asked for: the seed's own, within what one call can write."""
    return min(max(len(text.split()), 8), _LONGEST)


def funnel_step(
    state: dict[str, Any],
    stage: str,
    done: int,
    total: int,
    dropped: dict[str, int],
    diagnostics: dict[str, Any],
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
