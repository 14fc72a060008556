"""Prompts of instruct models: a template an operator and domain, and replies stripped of chatter, language by language.

Privacy posture: builds strings from what it is given; keeps nothing. Templates run in Jinja's sandbox.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Unpack

from engine.errors import UserError
from engine.models.builtin.format import BLANK, OPERATORS, blanked, text_rng
from engine.models.contracts import OperatorInputs
from engine.models.prompts.domains import ENGLISH, load_prompts, prompt_languages
from engine.models.prompts.negation import faithful_outline

if TYPE_CHECKING:
    from jinja2 import Template

NEEDED = {
    "vary": "text", "fill": "text", "cross": "texts", "abstract": "text", "expand": "text", "rephrase": "text",
    "from_control_code": "code", "from_examples": "examples", "judge": "text",
}  # fmt: skip
_FENCE = re.compile(r"^```[\w-]*\n(.*?)\n?```\s*$", re.DOTALL)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_PREAMBLE = re.compile(
    r"^(?:(?:sure|certainly|of course|absolutely|okay|ok)\b[^\n:]{0,120}[:!.,]\s*\n+"
    r"|(?:sure|certainly|of course)[,!.]?\s+(?=here)"
    r"|here(?:'s| is| are| comes)\b[^\n:]{0,120}:[ \t]*\n+"
    r"|(?:\*\*|#+ )?(?:new |rewritten |completed |final )?"
    r"(?:text|note|answer|output|summary|review|post|document|variation|abstract|clinical note|court document)"
    r"(?:\*\*)?:(?:\*\*)?[ \t]*\n+)",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"\n+(?:let me know|i hope|please let me|feel free|note:|\(?word count|is there anything)[^\n]*\s*$", re.IGNORECASE
)
_QUOTES = {'"': '"', "“": "”", "'": "'", "‘": "’", "«": "»"}


@dataclass(frozen=True)
class _Chatter:
    """How replies in a language begin and end besides what English ones do, and what a judge's words mean."""

    answer: re.Pattern[str]
    answers: Mapping[str, str]
    opening: re.Pattern[str] | None = None
    closing: re.Pattern[str] | None = None


@lru_cache(maxsize=16)
def _chatter(language: str) -> _Chatter:
    prompts = load_prompts("generic", language)
    answers = {"yes": "yes", "no": "no", prompts.no: "no", prompts.yes: "yes"}
    plain = unicodedata.normalize("NFD", prompts.yes).encode("ascii", "ignore").decode()
    answers.setdefault(plain, "yes")  # without its accent
    answer = re.compile(rf"\b({'|'.join(map(re.escape, answers))})\b", re.IGNORECASE)
    if language == ENGLISH:
        return _Chatter(answer, answers)
    begun, ended = ("|".join(map(re.escape, words)) for words in (prompts.openings, prompts.closings))
    opening = re.compile(rf"^(?:{begun})(?!\w)[^\n:]{{0,120}}[:!.,][ \t]*\n+", re.IGNORECASE)
    return _Chatter(answer, answers, opening, re.compile(rf"\n+(?:{ended})[^\n]*\s*$", re.IGNORECASE))


class InstructOperators:
    """Builds and reads the ten operators for models that follow instructions.

    Inputs as for the built-in model; besides: `persona` and `tone` (invent), `style` (rephrase), and `outlined`
    (expand: the model sees key phrases of the text in place of the text).

    Args:
        changed: templates in place of shipped ones, a domain and a name each, in every language; see `templates`.
        language: that prompts are written in and replies are asked for, one of `prompt_languages`.
    """

    def __init__(self, changed: Mapping[str, Mapping[str, str]] | None = None, language: str = ENGLISH) -> None:
        self.changed, self.language = changed or {}, language

    def prompt(self, name: str, **inputs: Unpack[OperatorInputs]) -> str:
        """Return the instruction for one call.

        Raises:
            UserError: the operator or the domain is unknown, a needed input is missing, or a template is broken.
        """
        if name not in OPERATORS:
            raise UserError(f"operator {name!r} does not exist; choose one of {', '.join(OPERATORS)}")
        needed = NEEDED.get(name)
        if needed is not None and needed not in inputs:
            raise UserError(f"operator {name!r} needs the input {needed!r}")
        domain = inputs.get("domain") or "generic"
        prompts = load_prompts(domain, self.language)
        values: dict[str, object] = {
            "document": prompts.document, "kind": "", "label": "", "words": 0, "keywords": (), "persona": "",
            "style": "", "tone": "", "outlined": False, "examples": (),
            **{key: value for key, value in inputs.items() if value is not None},
        }  # fmt: skip
        if name == "fill":
            text = str(values["text"])
            text = text if BLANK in text else blanked(text, text_rng(text))
            values["text"] = text.replace(BLANK, "_")
        if name == "expand" and values["outlined"]:
            text = str(values["text"])
            values["text"] = "; ".join(faithful_outline(text, text_rng(text), 0.78))
        own = self.changed.get(domain, {})
        body = render(own.get(name, prompts.operators[name]), values, domain, name)
        return f"{own.get('system', prompts.system)}\n\n{body}"

    def parse(self, name: str, output: str, **inputs: Unpack[OperatorInputs]) -> str:
        """Return the usable text of a reply: no reasoning, code fence, preamble, closing remark or quotes."""
        text = _THOUGHT.sub("", output or "").strip()
        chatter = _chatter(self.language)
        if name == "judge":
            found = chatter.answer.search(text)
            return chatter.answers[found.group(1).lower()] if found else ""
        fence = _FENCE.match(text)
        text = fence.group(1).strip() if fence else text
        for _ in range(2):
            text = _PREAMBLE.sub("", text, count=1).strip()
            text = chatter.opening.sub("", text, count=1).strip() if chatter.opening else text
        text = _CLOSING.sub("", text).strip()
        text = chatter.closing.sub("", text).strip() if chatter.closing else text
        closing = _QUOTES.get(text[:1])
        if closing and len(text) > 1 and text.endswith(closing) and text[1:-1].count(closing) == 0:
            text = text[1:-1].strip()
        return text


def text_of_reply(output: str) -> str:
    """Return the usable text of a reply in whichever language of prompts it was asked for."""
    for language in prompt_languages():
        output = InstructOperators(language=language).parse("invent", output)
    return output


@lru_cache(maxsize=128)
def _compiled(template: str) -> Template:
    """Return a template compiled for Jinja's sandbox; templates are public, and a run fills few in often."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False).from_string(template)


LONGEST_PROMPT = 2_000_000  # characters; no model reads as many


def render(template: str, values: Mapping[str, object], domain: str, name: str) -> str:
    """Return a template filled in, in Jinja's sandbox; an unknown field is an error, and so is a prompt without end."""
    from jinja2 import TemplateError

    try:
        parts, size = [], 0
        for part in _compiled(template).generate(values):
            parts.append(part)
            size += len(part)
            if size > LONGEST_PROMPT:
                raise UserError(
                    f"template {name!r}: makes a prompt of more than {LONGEST_PROMPT:,} characters with this text; "
                    "show the text once"
                )
        return "".join(parts)
    except (RecursionError, SyntaxError):  # Python's own limits: of depth, and of levels one inside the other
        raise UserError(f"template {name!r}: nests too deeply; write it plainer") from None
    except TemplateError as error:
        raise UserError(
            f"template {name!r} in assets/prompts/{domain}.yaml is broken ({type(error).__name__}): correct it"
        ) from None
