"""Turn documents into self-supervised operator exercises.

Each exercise is made from the text alone: drop, shuffle or blank parts of it, and ask for the original.
Only what follows the output-start token carries loss.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.models.builtin.format import (
    EOS,
    NO,
    STOPWORDS,
    YES,
    Fields,
    blanked,
    build_prompt,
    clean,
    noisy,
    outline,
)
from engine.training.language.data import Document

MOST_KEYS = 8
IN_ORDER = 0.75
"""Key words an invented text is asked for at most, and how often they stand in the order of the text: what comes next
is then told, and the network learns sooner to put down what it is asked for."""

_DATE = re.compile(
    r"\b\d{1,2}\s?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]*\.?\s?\d{0,4}\b"
    r"|\b(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r"\s+\d{1,2}(?:,? \d{4})?\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b\d{1,2}/\d{1,2}(?:/\d{2,4})?\b"
    r"|\b(?:19|20)\d\d\b|\b\d{1,2}(?::\d\d)?\s?[ap]m\b",
    re.IGNORECASE,
)
_AGE = re.compile(r"\b\d{1,3}[\s-]?(?:y/?o|yr|year|mo|month|week|wk)s?[\s-]?(?:old)?\b", re.IGNORECASE)
_QUANTITY = re.compile(r"\b\d+(?:[.,]\d+)?(?:\s?(?:mg|ml|cc|cm|mm|hrs?|hours?|days?|%|kg|lbs?|degrees|inch(?:es)?))?\b")
_ORGANISATION = re.compile(
    r"\b(?:ER|PHN|CDC|HMO)\b|\b(?:[A-Z][a-z]+ )+(?:Hospital|Clinic|University|Institute|Ltd|Court)\b"
)
_PERSON = re.compile(r"\b(?:Dr|Mr|Mrs|Miss|Sir|Lady|Lord)\.? [A-Z][a-z]+(?: [A-Z][a-z]+)?\b|\bDoctor [A-Z][a-z]+\b")
_NAME_PAIR = re.compile(r"(?<=[a-z] )[A-Z][a-z]+(?: [A-Z][a-z]+)+\b")


@dataclass(frozen=True)
class Sequence_:
    """One training sequence: `prompt` gives no loss, `output` does."""

    prompt: str
    output: str


def redact(document: Document, rng: random.Random) -> str:
    """Return the text with typed placeholders for its spans, or for date-, number- and name-like strings."""
    text = document.text
    if document.spans:
        for span in sorted(document.spans, key=lambda s: -int(s["start"])):
            text = f"{text[: int(span['start'])]}[{span['label']}]{text[int(span['end']) :]}"
        return text
    text = _DATE.sub("[DATE]", text)
    text = _AGE.sub("[AGE]", text)
    text = _PERSON.sub("[PERSON]", text)
    text = _ORGANISATION.sub("[ORGANISATION]", text)
    text = _NAME_PAIR.sub(lambda m: rng.choice(("[PERSON]", "[LOCATION]", "[ORGANISATION]", m.group())), text)
    return _QUANTITY.sub("[QUANTITY]", text) if rng.random() < 0.4 else text


def document_frequency(documents: Iterable[Document]) -> Counter[str]:
    """Return in how many documents each lower-case word occurs."""
    counts: Counter[str] = Counter()
    for document in documents:
        counts.update(set(_words(document.text)))
    return counts


def keywords(text: str, frequency: Counter[str], rng: random.Random, limit: int = 5) -> list[str]:
    """Return up to `limit` salient words: drawn with weight falling in document frequency (tf-idf-like)."""
    candidates = [w for w in dict.fromkeys(_words(text)) if len(w) > 2 and w not in STOPWORDS and w.isalpha()]
    ranked = sorted(candidates, key=lambda w: rng.random() ** (1.0 / (1.0 + 100.0 / (1 + frequency[w]))), reverse=True)
    return ranked[: rng.randint(1, limit)]


class Exercises:
    """Makes operator sequences from documents of one kind.

    Args:
        documents: Training documents; partners for examples, crosses and wrong answers come from here.
        rng: Source of every choice.
        weights: How often each operator is set.
    """

    def __init__(self, documents: Sequence[Document], rng: random.Random, weights: Mapping[str, float]) -> None:
        self.documents, self.rng, self.weights = documents, rng, dict(weights)
        self.frequency = document_frequency(documents)
        self.labels = sorted({d.label for d in documents if d.label})
        self.by_label: dict[str, list[Document]] = {}
        for document in documents:
            self.by_label.setdefault(document.label, []).append(document)

    def make(self, document: Document) -> Sequence_:
        """Return one exercise on `document`, its operator drawn by weight."""
        op = self.rng.choices(list(self.weights), list(self.weights.values()))[0]
        builder: Callable[[Document], Sequence_] = getattr(self, f"_{op}")
        return builder(document)

    def _fields(self, document: Document, **extra: object) -> Fields:
        rng = self.rng
        return Fields(
            domain=document.domain,
            kind=document.kind if rng.random() < 0.5 else "",
            label=clean(document.label) if rng.random() < 0.6 else "",
            words=len(document.text.split()) if rng.random() < 0.8 else 0,
            **extra,  # type: ignore[arg-type]
        )

    def _input(self, document: Document) -> str:
        return clean(redact(document, self.rng) if self.rng.random() < 0.5 else document.text)

    def _answer(self, op: str, document: Document, **extra: object) -> Sequence_:
        return Sequence_(build_prompt(op, self._fields(document, **extra)), clean(document.text) + EOS)

    def _invent(self, document: Document) -> Sequence_:
        keys = keywords(document.text, self.frequency, self.rng, MOST_KEYS) if self.rng.random() < 0.7 else []
        if self.rng.random() < IN_ORDER:
            words = _words(document.text)
            keys.sort(key=words.index)
        return self._answer("invent", document, keys=keys)

    def _vary(self, document: Document) -> Sequence_:
        text = noisy(self._input(document), self.rng, drop=0.15 + 0.15 * self.rng.random(), shuffle=3.0)
        return self._answer("vary", document, texts=[text])

    def _rephrase(self, document: Document) -> Sequence_:
        text = noisy(self._input(document), self.rng, drop=0.2 + 0.25 * self.rng.random(), shuffle=2.5)
        return self._answer("rephrase", document, texts=[text])

    def _fill(self, document: Document) -> Sequence_:
        whole = " ".join(clean(document.text).split())  # blanking leaves single spaces
        text = blanked(whole, self.rng, 0.15 + 0.45 * self.rng.random())
        return Sequence_(build_prompt("fill", self._fields(document, texts=[text])), whole + EOS)

    def _expand(self, document: Document) -> Sequence_:
        phrases = outline(self._input(document), self.rng, 0.4 + 0.4 * self.rng.random())
        return self._answer("expand", document, keys=phrases)

    def _abstract(self, document: Document) -> Sequence_:
        phrases = outline(clean(document.text), self.rng, 0.5)
        prompt = build_prompt("abstract", Fields(domain=document.domain, texts=[clean(document.text)]))
        return Sequence_(prompt, "; ".join(phrases) + EOS)

    def _cross(self, document: Document) -> Sequence_:
        words = self._input(document).split()
        middle = len(words) // 2
        halves = ["; ".join(outline(" ".join(half), self.rng, 0.6)) for half in (words[:middle], words[middle:])]
        self.rng.shuffle(halves)
        return self._answer("cross", document, texts=[h for h in halves if h])

    def _from_control_code(self, document: Document) -> Sequence_:
        values = control_values(document)
        code = "\n".join(f"{label}: {', '.join(found)}" for label, found in sorted(values.items()))
        return self._answer("from_control_code", document, code=code or "NONE")

    def _from_examples(self, document: Document) -> Sequence_:
        same = self.by_label[document.label]
        examples = [clean(self.rng.choice(same).text) for _ in range(self.rng.randint(1, 3))]
        return self._answer("from_examples", document, examples=[e for e in examples if len(e) < 900])

    def _judge(self, document: Document) -> Sequence_:
        right = self.rng.random() < 0.5 or len(self.labels) < 2
        label = document.label if right else self.rng.choice([x for x in self.labels if x != document.label])
        prompt = build_prompt("judge", Fields(domain=document.domain, label=clean(label), texts=[clean(document.text)]))
        return Sequence_(prompt, (YES if right else NO) + EOS)


def control_values(document: Document) -> dict[str, list[str]]:
    """Return a document's identifying values by type, each once: its spans, or date-, age- and name-like strings."""
    values: dict[str, list[str]] = {}
    for span in document.spans:
        surface = document.text[int(span["start"]) : int(span["end"])]
        values.setdefault(str(span["label"]), []).append(clean(" ".join(surface.split())))
    if not values:
        patterns = (("DATE", _DATE), ("AGE", _AGE), ("PERSON", _PERSON), ("ORGANISATION", _ORGANISATION))
        for label, pattern in patterns:
            found = [m.group() for m in pattern.finditer(document.text)]
            if found:
                values[label] = found
    return {label: list(dict.fromkeys(found)) for label, found in values.items()}


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z][a-z'-]+", text.lower())
