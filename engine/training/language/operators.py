"""Measure whether the built-in language model does what its operators ask for.

Each measure asks for one thing an output and counts the outputs that have it, so that outputs are independent and
Wilson's interval holds. Inputs are public or project-made and held out.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from engine.json_types import JSON
from engine.models.builtin.format import BLANK, NO, YES, Fields, blanked, build_prompt, clean
from engine.models.contracts import Embedder, Generator, OperatorInputs, Sampling
from engine.models.prompts.operators_builtin import BuiltinOperators
from engine.training.language.data import Document
from engine.training.language.held_out import Kind
from engine.training.language.sequences import control_values, document_frequency, keywords

SAMPLING = Sampling(max_new_tokens=240, temperature=0.7, top_p=0.9, seed=0)
TOLERANCE = 0.2  # of the words asked for
_CLEAR = 0.6  # share of one sentiment from which a text has it
_WORD = re.compile(r"[a-z][a-z'-]+")
MEASURES: Mapping[str, str] = {
    "length_within_20_percent": "invent, asked for the words of a held-out text: words within 20% of it",
    "keyword_present": "invent, asked for one to five keywords: one of them, drawn beforehand, stands in the text",
    "every_keyword_present": "the same texts: all keywords stand in the text",
    "label_recovered": "invent, asked for a label: a classifier trained on real text reads that label",
    "code_value_used": "from_control_code: one value of the code, drawn beforehand, stands in the text",
    "every_code_value_used": "the same texts: all values of the code stand in the text",
    "blanks_filled": "fill: what stood around the blanks is there unchanged and in order, and no blank is empty",
    "sentiment_kept": "abstract: the classifier gives the abstract the clear sentiment that it gives the text",
    "judged_right": "judge: yes for the text's own label, no for another",
}


@dataclass(frozen=True)
class Count:
    """How many of `n` outputs did what was asked, with the ends of Wilson's 95% interval of the share."""

    n: int
    hits: int
    share: float
    low: float
    high: float


def counted(outcomes: Sequence[bool]) -> Count:
    """Return outcomes as a count. Source: Wilson 1927; none without outcomes."""
    from scipy.stats import binomtest

    if not outcomes:
        return Count(0, 0, float("nan"), 0.0, 1.0)
    hits = sum(outcomes)
    ends = binomtest(hits, len(outcomes)).proportion_ci(method="wilson")
    return Count(len(outcomes), hits, round(hits / len(outcomes), 4), round(ends.low, 4), round(ends.high, 4))


def length_kept(asked: int, text: str) -> bool:
    """Return whether the text has the words asked for, give or take 20%."""
    return abs(len(text.split()) - asked) <= TOLERANCE * asked


def word_present(word: str, text: str) -> bool:
    """Return whether a lower-case word stands in the text, in any case."""
    return word in _WORD.findall(text.lower())


def value_present(value: str, text: str) -> bool:
    """Return whether a value stands in the text as whole words, in any case and white space."""
    body = r"\s+".join(re.escape(word) for word in value.casefold().split())
    return re.search(rf"(?<!\w){body}(?!\w)", text.casefold()) is not None


def blanks_filled(template: str, text: str) -> bool:
    """Return whether the text is the template with at least a word for each blank and no other word changed.

    What stands between blanks is looked for from the left, each stretch as early as it can stand; the first must begin
    the text and the last must end it.
    """
    words, waiting = text.split(), 0
    stretches: list[tuple[int, list[str]]] = []  # blanks before it, fixed words
    for item in template.replace(BLANK, f" {BLANK} ").split():
        if item == BLANK:
            waiting += 1
        elif waiting or not stretches:
            stretches.append((waiting, [item]))
            waiting = 0
        else:
            stretches[-1][1].append(item)
    at = 0
    for number, (blanks, fixed) in enumerate(stretches):
        last = number == len(stretches) - 1 and not waiting
        first = len(words) - len(fixed) if last else at + blanks
        places = range(first, first + 1) if last or not blanks else range(first, len(words) - len(fixed) + 1)
        place = next((i for i in places if i >= at + blanks and words[i : i + len(fixed)] == fixed), None)
        if place is None or (not blanks and place != at):
            return False
        at = place + len(fixed)
    return len(words) >= at + waiting and (bool(waiting) or at == len(words))


class OperatorTest:
    """Asks one model for one kind of text.

    Args:
        generator: the model. embedder: for the label classifier and the sentiment classifier.
        count: outputs a measure and kind.
        seed: of what is drawn and written.
    """

    def __init__(self, generator: Generator, embedder: Embedder, count: int = 60, seed: int = 0) -> None:
        self.generator, self.embedder, self.count, self.seed = generator, embedder, count, seed
        self.operators = BuiltinOperators()

    def measure(self, kind: Kind, alone: bool = False) -> dict[str, list[bool]]:
        """Return the outcomes of every measure that the kind allows; `alone`: of those that decoding may help."""
        rng = random.Random(f"{self.seed} {kind.name}")
        chosen = list(kind.pieces[: self.count])
        found = {**self._lengths(chosen), **self._keywords(kind, chosen, rng), **self._codes(kind, rng)}
        found |= self._blanks(chosen, rng)
        if alone:
            return found
        found |= self._sentiment(kind)
        if len(kind.labels) > 1:
            found |= {**self._labels(kind), **self._judged(kind, rng)}
        return found

    def _asked(self, name: str, rows: Sequence[OperatorInputs]) -> list[str]:
        made = self.generator.generate([self.operators.prompt(name, **row) for row in rows], SAMPLING)
        return [self.operators.parse(name, one.text, **row) for one, row in zip(made, rows, strict=True)]

    def _lengths(self, chosen: Sequence[Document]) -> dict[str, list[bool]]:
        words = [len(d.text.split()) for d in chosen]
        rows: list[OperatorInputs] = [
            {"domain": d.domain, "kind": d.kind, "words": n} for d, n in zip(chosen, words, strict=True)
        ]
        texts = self._asked("invent", rows)
        return {"length_within_20_percent": [length_kept(n, t) for n, t in zip(words, texts, strict=True)]}

    def _keywords(self, kind: Kind, chosen: Sequence[Document], rng: random.Random) -> dict[str, list[bool]]:
        frequency = document_frequency(kind.pieces)
        drawn = [(d, keywords(d.text, frequency, rng)) for d in chosen]
        rows = [(d, keys, rng.choice(keys)) for d, keys in drawn if keys]
        texts = self._asked("invent", [{"domain": d.domain, "kind": d.kind, "keywords": keys} for d, keys, _ in rows])
        pairs = list(zip(rows, texts, strict=True))
        return {
            "keyword_present": [word_present(one, text) for (_, _, one), text in pairs],
            "every_keyword_present": [all(word_present(k, text) for k in keys) for (_, keys, _), text in pairs],
        }

    def _codes(self, kind: Kind, rng: random.Random) -> dict[str, list[bool]]:
        drawn = [(d, control_values(d)) for d in kind.pieces]
        rows = [(d, values, rng.choice(sorted({v for own in values.values() for v in own})))
                for d, values in drawn if values][: self.count]  # fmt: skip
        asked: list[OperatorInputs] = [
            {"domain": d.domain, "kind": d.kind, "words": len(d.text.split()),
             "code": "\n".join(f"{label}: {', '.join(own)}" for label, own in sorted(values.items()))}
            for d, values, _ in rows
        ]  # fmt: skip
        pairs = list(zip(rows, self._asked("from_control_code", asked), strict=True))
        return {
            "code_value_used": [value_present(one, text) for (_, _, one), text in pairs],
            "every_code_value_used": [
                all(value_present(v, text) for own in values.values() for v in own) for (_, values, _), text in pairs
            ],
        }

    def _blanks(self, chosen: Sequence[Document], rng: random.Random) -> dict[str, list[bool]]:
        rows = [(d, blanked(clean(" ".join(d.text.split())), rng, 0.3)) for d in chosen]
        texts = self._asked("fill", [{"domain": d.domain, "kind": d.kind, "text": t} for d, t in rows])
        return {"blanks_filled": [blanks_filled(t, text) for (_, t), text in zip(rows, texts, strict=True)]}

    def _sentiment(self, kind: Kind) -> dict[str, list[bool]]:
        from engine.models.builtin.sentiment import BuiltinSentiment

        classifier = BuiltinSentiment(self.embedder)
        looked_at = kind.pieces[: 4 * self.count]
        said = classifier.predict([d.text for d in looked_at])
        chosen = [
            (d, int(row.argmax()))
            for d, row in zip(looked_at, said, strict=True)
            if row.max() >= _CLEAR and row.argmax() != 1
        ][: self.count]
        texts = self._asked("abstract", [{"domain": d.domain, "text": d.text} for d, _ in chosen])
        again = classifier.predict(texts).argmax(axis=1).tolist() if texts else []
        return {"sentiment_kept": [now == before for now, (_, before) in zip(again, chosen, strict=True)]}

    def _labels(self, kind: Kind) -> dict[str, list[bool]]:
        read = self.label_reader(kind)
        asked = [kind.labels[i % len(kind.labels)] for i in range(self.count)]
        domain = kind.learn[0].domain
        texts = self._asked("invent", [{"domain": domain, "kind": kind.name, "label": label} for label in asked])
        found = {"label_recovered": [a == b for a, b in zip(asked, read(texts), strict=True)]}
        if kind.real:
            theirs = read([d.text for d in kind.real])
            found["label_of_real_text_recovered"] = [
                d.label == b for d, b in zip(kind.real, theirs, strict=True)
            ]  # what the classifier can do at best
        return found

    def label_reader(self, kind: Kind) -> Callable[[Sequence[str]], list[str]]:
        """Return a classifier of the kind's labels: logistic regression on embeddings of training text."""
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(max_iter=2000, C=10.0, class_weight="balanced")
        model.fit(self.embedder.embed([d.text for d in kind.learn]), [d.label for d in kind.learn])

        def read(texts: Sequence[str]) -> list[str]:
            return [str(label) for label in model.predict(self.embedder.embed([t or "-" for t in texts]))]

        return read

    def _judged(self, kind: Kind, rng: random.Random) -> dict[str, list[bool]]:
        rows = []
        for i, document in enumerate([d for d in kind.pieces if d.label in kind.labels][: self.count]):
            other = rng.choice([x for x in kind.labels if x != document.label])
            rows.append((document, document.label if i % 2 else other, bool(i % 2)))
        prompts = [
            build_prompt("judge", Fields(domain=d.domain, label=clean(label), texts=[clean(d.text)]))
            for d, label, _ in rows
        ]
        said = [self._yes(prompt) for prompt in prompts]
        return {"judged_right": [a == right for a, (_, _, right) in zip(said, rows, strict=True)]}

    def _yes(self, prompt: str) -> bool:
        """Return whether yes is likelier than no, read from the model's probabilities."""
        import torch

        model: Any = self.generator
        tokens = model.tokenizer.encode(prompt, add_special_tokens=False).ids
        with torch.inference_mode():
            logits = model.net(torch.tensor([tokens[-model.net.config.context + 1 :]]))[0, -1].float()
        yes, no = (model.tokenizer.token_to_id(token) for token in (YES, NO))
        return bool(logits[yes] > logits[no])


def measure_operators(
    generator: Generator, alone: Generator, embedder: Embedder, kinds: Sequence[Kind], count: int = 60, seed: int = 0
) -> dict[str, JSON]:
    """Return operator accuracy: each measure over all kinds and by kind, what it asks, and how texts were drawn.

    Args:
        generator: the model as methods use it. alone: the same, held to nothing while it decodes.
        embedder: for the label classifier and the sentiment classifier.
        kinds: of held-out text. count: outputs a measure and kind. seed: of what is drawn and written.
    """
    test, bare = (OperatorTest(model, embedder, count, seed) for model in (generator, alone))
    chance = {kind.name: round(1 / len(kind.labels), 4) for kind in kinds if len(kind.labels) > 1}
    return {
        "sampling": asdict(SAMPLING),
        "interval": "Wilson 1927, 95%",
        "outputs_a_kind": count,
        "label_chance": chance,
        "measures": _rows({kind.name: test.measure(kind) for kind in kinds}),
        "not_held_while_decoding": _rows({kind.name: bare.measure(kind, alone=True) for kind in kinds}),
    }


def _rows(by_kind: Mapping[str, Mapping[str, Sequence[bool]]]) -> dict[str, JSON]:
    rows: dict[str, JSON] = {}
    for name in dict.fromkeys(name for found in by_kind.values() for name in found):
        own = {kind: found[name] for kind, found in by_kind.items() if found.get(name)}
        rows[name] = {
            "asks": MEASURES.get(name, "the same classifier on held-out real text: what it can do at best"),
            **asdict(counted([x for outcomes in own.values() for x in outcomes])),
            "kinds": {kind: asdict(counted(outcomes)) for kind, outcomes in own.items()},
        }
    return rows
