"""What the prompt-based private methods share: parameters, writing in batches, label quotas.

Nothing here sees a record. Texts are written from public inputs and from outputs of mechanisms alone, so a
resumed run writes what an uninterrupted one would: each batch's seed follows from the run's seed and its place.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.errors import InternalError, UserError
from engine.json_types import JSON, JSONObject
from engine.methods.base import Context
from engine.methods.parameters import WritingParameters
from engine.methods.readable import rejects
from engine.models.builtin.shipped import SECONDS_A_TOKEN as SECONDS_A_TOKEN
from engine.models.contracts import OperatorInputs, Sampling
from engine.models.prompts.domains import ENGLISH, Prompts, load_prompts

TOKENS_A_WORD = 1.6
SECONDS_A_TEXT = 0.004  # embedding of one candidate, or of one record
TINY = 3  # words; shorter outputs are unusable
_ECHO = 9  # words in a row that the instruction and an output share
_CONTROL = re.compile(r"<\|[^|<>]{1,24}\|>")
_LARGEST_BATCH = 256
EMPTY, ECHO = "dropped: empty or too short", "dropped: prompt text in the output"
Pair = tuple[str, str | None]


@dataclass(frozen=True)
class Task:
    """One text to write: the operator and its public or already paid inputs."""

    operator: str
    label: str | None
    words: int
    text: str = ""
    texts: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    persona: str = ""
    style: str = ""


@dataclass(frozen=True)
class Written:
    """What a batch gave: one text a task, None where it is unusable, and why those were dropped."""

    texts: list[str | None]
    dropped: dict[str, int]

    def as_dict(self, made: int) -> JSONObject:
        """Return what a piece of a run is made of."""
        return {"texts": self.texts, "made": made, "dropped": self.dropped}


class Writer:
    """Writes tasks with the run's model and operators."""

    def __init__(self, context: Context, parameters: WritingParameters) -> None:
        if context.generator is None or context.operators is None:
            raise InternalError("the method was started without generator or operators")
        self._generator, self._operators = context.generator, context.operators
        self._parameters, self._seed, self._rejects = parameters, context.seed, rejects(parameters)
        self.domain = resolved(parameters.domain)
        language = str(getattr(self._operators, "language", ENGLISH))  # the built-in model's formats have none
        self.prompts: Prompts = load_prompts(self.domain, language)
        self._batch = max(2 * context.batch_size, 1)

    def batch_size(self, tasks: int) -> int:
        """Return how many tasks make one committed batch: more of them where there are many."""
        return min(_LARGEST_BATCH, max(self._batch, -(-tasks // 64)))

    def write(
        self, tasks: Sequence[Task], *place: str | int, temperature: float | None = None, worked: bool = False
    ) -> Written:
        """Return a text a task; what is unusable, or would be dropped as unreadable, is tried once more.

        The second try has another seed. A text that is unreadable twice is returned: the run drops it.

        Args:
            tasks: what to write. place: where in the run, which fixes the seed.
            temperature: another than the run's. worked: whether the model has given usable text before in this run;
                one batch without any then ends nothing, since what the run has paid for would be lost.

        Raises:
            UserError: a whole batch of eight or more tasks gave nothing usable, and none came before it.
        """
        texts, reasons = self._attempt(tasks, temperature, *place, 0)
        again = [i for i, text in enumerate(texts) if text is None or self._rejects(text)]
        dropped: Counter[str] = Counter()
        if again:
            more, reasons = self._attempt([tasks[i] for i in again], temperature, *place, 1)
            for i, text, reason in zip(again, more, reasons, strict=True):
                texts[i] = texts[i] if text is None else text
                if texts[i] is None:
                    dropped[reason] += 1
        if len(tasks) >= 8 and not any(texts) and not worked:
            raise UserError(
                f"the model gave no usable text for {len(tasks)} prompts ({', '.join(sorted(dropped))}): check the "
                "model, or ask for other words or another domain"
            )
        return Written(texts, dict(dropped))

    def _attempt(
        self, tasks: Sequence[Task], temperature: float | None, *place: str | int
    ) -> tuple[list[str | None], list[str]]:
        inputs = [self._inputs(task) for task in tasks]
        prompts = [self._operators.prompt(task.operator, **entry) for task, entry in zip(tasks, inputs, strict=True)]
        sampling = Sampling(
            max_new_tokens=int(max(task.words for task in tasks) * TOKENS_A_WORD * 1.5) + 20,
            temperature=temperature or self._parameters.temperature,
            top_p=self._parameters.top_p,
            repetition_penalty=1.1,
            seed=seed_of(self._seed, *place) >> 1,
        )
        made = self._generator.generate(prompts, sampling)
        texts: list[str | None] = []
        reasons: list[str] = []
        for task, entry, prompt, generation in zip(tasks, inputs, prompts, made, strict=True):
            text = self._operators.parse(task.operator, generation.text, **entry).strip()
            reason = unusable(text, prompt, (task.text, *task.texts))
            texts.append(None if reason else text)
            reasons.append(reason)
        return texts, reasons

    def _inputs(self, task: Task) -> OperatorInputs:
        values: OperatorInputs = {
            "domain": self.domain, "kind": self._parameters.kind, "label": task.label, "words": task.words,
            "style": task.style,
        }  # fmt: skip
        if task.text:
            values["text"] = task.text
        if task.texts:
            values["texts"] = task.texts
        if task.keywords:
            values["keywords"] = task.keywords
        if task.persona:
            values["persona"] = task.persona
        return values


def unusable(text: str, prompt: str, inputs: Sequence[str] = ()) -> str:
    """Return why an output cannot be used, or an empty string.

    Args:
        text: The parsed output. prompt: what it answers. inputs: texts inside the prompt that may be repeated, with
            or without blanks: what stands between the blanks of a template has to come back.
    """
    if len(text.split()) < TINY:
        return EMPTY
    if _CONTROL.search(text):
        return ECHO
    instruction = prompt
    for given in inputs:
        instruction = instruction.replace(given, "\n") if given else instruction
    known = _lines(instruction) - {gram for given in inputs for gram in _lines(given)}
    return ECHO if known and any(gram in known for gram in _grams(text)) else ""


def _lines(text: str) -> set[tuple[str, ...]]:
    """Return the runs of words of a prompt's lines; a control token ends a line."""
    return {gram for line in _CONTROL.sub("\n", text).split("\n") for gram in _grams(line)}


def _grams(text: str) -> set[tuple[str, ...]]:
    words = text.lower().split()
    return {tuple(words[i : i + _ECHO]) for i in range(len(words) - _ECHO + 1)}


def resolved(domain: str) -> str:
    """Return the domain to write in; what was left open is generic."""
    return "generic" if domain == "auto" else domain


def seed_of(seed: int, *place: str | int) -> int:
    """Return a 64-bit seed of one place in a run, so that a resumed run draws what an uninterrupted one would."""
    text = ":".join(map(str, (seed, *place)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def rng_of(seed: int, *place: str | int) -> random.Random:
    """Return a generator of one place in a run; never used for mechanism noise."""
    return random.Random(seed_of(seed, *place))


def fingerprint(pairs: Sequence[Pair]) -> str:
    """Return a digest of candidates in order, to tell a resumed vote from another one."""
    digest = hashlib.blake2b(digest_size=16)
    for text, label in pairs:
        for part in (text, label or ""):
            body = part.encode("utf-8", "surrogatepass")
            digest.update(len(body).to_bytes(8, "big") + body)
    return digest.hexdigest()


def quotas(shares: Mapping[str | None, float], count: int) -> dict[str | None, int]:
    """Return `count` outputs split by shares, largest remainder first; negative shares count as nothing.

    Shares that are all nothing become equal.
    """
    positive = {label: max(0.0, float(share)) for label, share in shares.items()}
    total = sum(positive.values())
    exact = {k: count * (v / total if total > 0 else 1 / len(positive)) for k, v in positive.items()}
    result = {k: int(v) for k, v in exact.items()}
    for k in sorted(exact, key=lambda k: (result[k] - exact[k], str(k)))[: count - sum(result.values())]:
        result[k] += 1
    return result


def check_pool(pool: Sequence[Pair], wanted: Mapping[str | None, int]) -> None:
    """Check that every label that outputs are wanted of still has enough candidates.

    Raises:
        UserError: a label vanished, or too few texts of it were usable.
    """
    have = Counter(label for _, label in pool)
    for label, quota in wanted.items():
        if have[label] < quota:
            named = "" if label is None else f" of label {label!r}"
            raise UserError(
                f"only {have[label]} usable candidates{named} are left, {quota} are needed: the model's texts were "
                "empty or repeated the prompt too often; use another model, more variations or fewer outputs"
            )


def similarities(embeddings: NDArray[np.float32], pairs: int = 3) -> tuple[float, list[tuple[int, int, float]]]:
    """Return the mean cosine over all pairs, clipped to [0, 1], and the most similar pairs.

    Args:
        embeddings: float32 (n, d) of unit rows. pairs: how many pairs to name.
    """
    n = len(embeddings)
    if n < 2:
        return 0.0, []
    total, best = 0.0, []
    for start in range(0, n, 1024):
        block = embeddings[start : start + 1024] @ embeddings[start:].T  # (b, n - start)
        upper = np.triu(block, 1)
        total += float(np.clip(upper, 0.0, 1.0).sum(dtype=np.float64))
        upper[np.tril_indices(len(block), 0, upper.shape[1])] = -np.inf  # else zeros come before pairs that point apart
        for flat in np.argpartition(-upper, min(pairs, upper.size - 1), axis=None)[:pairs]:
            i, j = divmod(int(flat), upper.shape[1])
            if j > i:
                best.append((start + i, start + j, float(upper[i, j])))
    return total / (n * (n - 1) / 2), sorted(best, key=lambda pair: -pair[2])[:pairs]


def noted(
    round_: int,
    votes: NDArray[np.float64],
    kept: Sequence[int],
    pool: Sequence[Pair],
    embeddings: NDArray[np.float32],
    **more: float,
) -> dict[str, JSON]:
    """Return the internal numbers of a round: votes, what was kept of them, self-similarity, most similar pairs."""
    positive = np.maximum(votes, 0.0)
    mean, pairs = similarities(embeddings[list(kept)])
    quantiles = np.quantile(votes, [0.0, 0.25, 0.5, 0.75, 1.0]) if len(votes) else np.zeros(5)
    return {
        "iteration": round_,
        "population": len(pool),
        "selected": len(kept),
        "votes": float(votes.sum()),
        "votes_kept": float(positive[list(kept)].sum() / max(positive.sum(), 1e-12)),
        "votes_quantiles": [round(float(value), 3) for value in quantiles],
        "votes_top": [round(float(value), 3) for value in np.sort(votes)[::-1][:10]],
        "self_similarity": mean,
        "most_similar": [
            {"first": pool[kept[i]][0][:300], "second": pool[kept[j]][0][:300], "similarity": round(value, 4)}
            for i, j, value in pairs
        ],
        **more,
    }


def diagnostics_of(iterations: Sequence[JSONObject]) -> dict[str, JSON]:
    """Return what a finished round adds to a run's notes: the growing list, and the new round's numbers by name."""
    last = iterations[-1]
    numbers = {name: value for name, value in last.items() if isinstance(value, int | float)}
    return {"iterations": list(iterations), "rounds": {str(last["iteration"]): numbers}}
