"""Prompts of the built-in model: control-token formats, the same ones it was trained on.

Privacy posture: builds strings from what it is given; keeps nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypedDict, Unpack

from engine.errors import UserError
from engine.models.builtin.format import (
    BLANK,
    DOMAINS,
    OPERATORS,
    Fields,
    blanked,
    build_prompt,
    clean,
    learned,
    outline,
    text_rng,
)
from engine.models.contracts import OperatorInputs
from engine.models.prompts.negation import faithful_outline, noisy_keeping, restored

_GROWN = {"vary": 1.1, "rephrase": 1.13, "cross": 1.15, "expand": 1.13}
"""How much longer than asked for the model's texts come out, up to `_SHORT` words; half as much beyond.

Measured on 24 texts a length, three kinds of text: it takes the upper end of a length's bucket and finishes its
sentence. Uncorrected, texts that are bred from each other grow with every round.
"""
_SHORT = 40
_CONTROL = re.compile(r"<\|[^|<>]{1,24}\|>")


class Shown(TypedDict, total=False):
    """What an operator shows the model beside domain, kind, label and length."""

    keys: Sequence[str]
    code: str
    texts: Sequence[str]
    examples: Sequence[str]


class BuiltinOperators:
    """Builds and reads the built-in model's ten operators.

    Inputs every operator takes: `domain`, `kind`, `label`, `words` (0 = free). Besides: `text` (vary, fill,
    abstract, expand, rephrase, judge), `texts` (cross), `keywords` (invent), `code` (from_control_code),
    `examples` (from_examples; from_control_code, each behind its own code).
    """

    def prompt(self, name: str, **inputs: Unpack[OperatorInputs]) -> str:
        """Return the prompt up to and including the output token.

        Raises:
            UserError: the operator or the domain is unknown, or a needed input is missing.
        """
        if name not in OPERATORS:
            raise UserError(f"operator {name!r} does not exist; choose one of {', '.join(OPERATORS)}")
        domain = inputs.get("domain") or "generic"
        if domain not in DOMAINS:
            raise UserError(f"domain {domain!r} does not exist; choose one of {', '.join(DOMAINS)}")
        build: Callable[[OperatorInputs], Shown] = getattr(self, f"_{name}")
        kind, domain = learned(clean(inputs.get("kind") or ""), domain)
        label = clean(inputs.get("label") or "")
        words = _asked(name, int(inputs.get("words") or 0))
        try:
            return build_prompt(name, Fields(domain=domain, kind=kind, label=label, words=words, **build(inputs)))
        except KeyError as error:
            raise UserError(f"operator {name!r} needs the input {error.args[0]!r}") from None

    def parse(self, name: str, output: str, **inputs: Unpack[OperatorInputs]) -> str:
        """Return the usable text of a raw output: control tokens gone, cut at the first stray field.

        An abstract gets back what its `text` denies: the model writes content words alone.
        """
        text = _CONTROL.split(output)[0].strip() if output else ""
        return restored(text, clean(inputs["text"])) if name == "abstract" and inputs.get("text") else text

    def _invent(self, inputs: OperatorInputs) -> Shown:
        return {"keys": [clean(k) for k in inputs.get("keywords") or ()]}

    def _vary(self, inputs: OperatorInputs) -> Shown:
        text = clean(inputs["text"])
        return {"texts": [noisy_keeping(text, text_rng(text), 0.12, 3.0)]}

    def _rephrase(self, inputs: OperatorInputs) -> Shown:
        text = clean(inputs["text"])
        return {"texts": [noisy_keeping(text, text_rng(text), 0.18, 2.5)]}

    def _fill(self, inputs: OperatorInputs) -> Shown:
        parts = [clean(part) for part in inputs["text"].split(BLANK)]
        text = (
            BLANK.join(f" {part} " for part in parts).strip()
            if len(parts) > 1
            else blanked(parts[0], text_rng(parts[0]))
        )
        return {"texts": [text]}

    def _expand(self, inputs: OperatorInputs) -> Shown:
        text = clean(inputs["text"])
        return {"keys": faithful_outline(text, text_rng(text), 0.78)}

    def _abstract(self, inputs: OperatorInputs) -> Shown:
        return {"texts": [clean(inputs["text"])]}

    def _cross(self, inputs: OperatorInputs) -> Shown:
        texts = [clean(text) for text in inputs["texts"]]
        return {"texts": ["; ".join(outline(text, text_rng(text), 0.6)) for text in texts]}

    def _from_control_code(self, inputs: OperatorInputs) -> Shown:
        examples = [clean(example) for example in inputs.get("examples") or ()]
        return {"code": clean(inputs["code"]) or "NONE", "examples": examples}

    def _from_examples(self, inputs: OperatorInputs) -> Shown:
        return {"examples": [clean(example) for example in inputs["examples"]]}

    def _judge(self, inputs: OperatorInputs) -> Shown:
        return {"texts": [clean(inputs["text"])]}


def _asked(name: str, words: int) -> int:
    """Return the length to ask for so that `words` come out; 0 stays free."""
    grown = _GROWN.get(name, 1.0)
    return round(words / (grown if words <= _SHORT else 1.0 + (grown - 1.0) / 2.0))
