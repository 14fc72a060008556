"""Make labelled sentences from the grammar that ships beside the sentiment model.

Templates, topics, times and opinion words come in two parts each: `train`, and `held` for measuring only.
Privacy posture: every sentence is made up; no record is read.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Literal, TypedDict

import yaml

from engine.errors import InternalError

CLASSES = ("negative", "neutral", "positive")
Part = Literal["train", "held"]
Choices = dict[Part, list[str]]


class Grammar(TypedDict):
    """Words by name, times, and a domain's topics and templates: each in its two parts."""

    words: dict[str, Choices]
    when: Choices
    domains: dict[str, dict[str, Choices]]


def read_grammar(path: Path) -> Grammar:
    """Return the grammar of a YAML file.

    Raises:
        InternalError: the file misses one of its three sections.
    """
    grammar = yaml.safe_load(path.read_text(encoding="utf-8"))
    for section in ("words", "when", "domains"):
        if section not in grammar:
            raise InternalError(f"grammar {path.name}: section {section!r} is missing")
    return Grammar(words=grammar["words"], when=grammar["when"], domains=grammar["domains"])


def make(grammar: Grammar, count: int, seed: int, part: Part) -> tuple[list[str], list[int], list[str]]:
    """Return sentences, their class (index into CLASSES) and their domain, classes and domains in equal shares.

    Args:
        grammar: what `read_grammar` gave.
        count: sentences wanted, >= 1.
        seed: fixes the choice.
        part: `train`, or `held`: templates and words that training never sees.
    """
    rng = random.Random(f"{seed}:{part}")
    domains = sorted(grammar["domains"])
    texts, classes, kinds = [], [], []
    for number in range(count):
        index, domain = number % len(CLASSES), domains[(number // len(CLASSES)) % len(domains)]
        texts.append(_passage(grammar, domain, CLASSES[index], part, rng))
        classes.append(index)
        kinds.append(domain)
    return texts, classes, kinds


def _passage(grammar: Grammar, domain: str, polarity: str, part: Part, rng: random.Random) -> str:
    """Return one to three sentences of one polarity; a polar passage may hold a neutral sentence too."""
    sentences = [_sentence(grammar, domain, polarity, part, rng)]
    for _ in range(rng.choice((0, 0, 1, 2))):
        other = "neutral" if polarity != "neutral" and rng.random() < 0.4 else polarity
        sentences.append(_sentence(grammar, domain, other, part, rng))
    rng.shuffle(sentences)
    return " ".join(sentences)


def _sentence(grammar: Grammar, domain: str, polarity: str, part: Part, rng: random.Random) -> str:
    entry, words = grammar["domains"][domain], grammar["words"]
    text = rng.choice(entry[polarity][part]).format(
        topic=rng.choice(entry["topics"][part]),
        when=rng.choice(grammar["when"][part]),
        adj=rng.choice(words[f"{polarity}_adj"][part]),
        verb=rng.choice(words[f"{polarity}_verb"][part]),
    )
    if rng.random() < 0.7:
        text = text[0].upper() + text[1:]
    return text if text.endswith(("!", "?")) else text + rng.choice((".", ".", ".", "!", ""))
