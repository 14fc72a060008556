"""Write the prompts of a pack: new texts from public words, or variations of texts that noisy votes chose.

Privacy posture: a function of its arguments. It is given words that a person declared public and winners of a run with
a formal guarantee; it reads no record, no statistic and no name of a corpus.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.models.contracts import OperatorInputs
from engine.models.prompts.domains import load_prompts
from engine.models.prompts.operators_instruct import InstructOperators
from engine.models.prompts.pack_words import MOST_PROMPTS, PackWords


@dataclass(frozen=True)
class Winner:
    """A text that private votes chose: its label, and its noisy votes."""

    text: str = field(repr=False)
    label: str | None
    votes: float


@dataclass(frozen=True)
class Asked:
    """One prompt: what it asks for, and the winner it asks a variation of."""

    prompt: str = field(repr=False)
    label: str | None
    words: int
    parent: Winner | None = None


def inventions(words: PackWords, changed: Mapping[str, Mapping[str, str]] | None = None) -> list[Asked]:
    """Return `count` prompts for new texts; labels and lengths in equal shares, the rest drawn.

    Args:
        changed: the workspace's own templates.
    """
    operators, rng = InstructOperators(changed, words.language), random.Random(words.seed)
    public = load_prompts(words.domain, words.language)
    keywords = words.keywords or (() if words.topics else public.keywords)
    personas, made = words.personas or public.personas, []
    for i in range(words.count):
        label = words.labels[i % len(words.labels)] if words.labels else None
        length = words.lengths[(i // max(1, len(words.labels))) % len(words.lengths)]
        about = [*([rng.choice(words.topics)] if words.topics else []), *rng.sample(keywords, min(2, len(keywords)))]
        inputs: OperatorInputs = {
            "domain": words.domain, "kind": words.kind, "label": label, "words": length, "keywords": tuple(about),
            "persona": rng.choice(personas) if personas else "",
        }  # fmt: skip
        style = " " + public.style.format(rng.choice(words.styles)) if words.styles else ""
        made.append(Asked(operators.prompt("invent", **inputs) + style, label, length))
    return made


def variations(
    winners: Sequence[Winner], words: PackWords, changed: Mapping[str, Mapping[str, str]] | None = None
) -> list[Asked]:
    """Return prompts for variations of winners, as many a winner as asked for; its label and length are kept."""
    operators, rng = InstructOperators(changed, words.language), random.Random(words.seed)
    public = load_prompts(words.domain, words.language)
    styles = words.styles or public.styles
    made = []
    for winner, times in zip(winners, _times(winners, words), strict=True):
        length = min(2000, max(5, len(winner.text.split())))
        for _ in range(times):
            inputs: OperatorInputs = {
                "domain": words.domain, "kind": words.kind, "label": winner.label, "words": length,
                "text": winner.text,
            }  # fmt: skip
            if words.operator == "rephrase":
                inputs["style"] = rng.choice(styles)
            if words.operator == "cross":
                alike = [one for one in winners if one.label == winner.label and one is not winner] or [winner]
                inputs["texts"] = (winner.text, rng.choice(alike).text)
            made.append(Asked(operators.prompt(words.operator, **inputs), winner.label, length, winner))
    return made


def _times(winners: Sequence[Winner], words: PackWords) -> list[int]:
    """Return how many variations each winner gets; those with no votes above the noise get one where votes decide."""
    total = min(words.variations * len(winners), MOST_PROMPTS)
    if words.spread == "even" or not winners:
        return [max(1, total // max(1, len(winners)))] * len(winners)
    positive = [max(0.0, winner.votes) for winner in winners]
    share = (total - len(winners)) / max(sum(positive), 1e-9)
    return [1 + int(votes * share) for votes in positive]
