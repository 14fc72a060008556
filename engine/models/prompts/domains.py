"""Read the prompt templates and public word lists of a domain, in English or in a language whose pack has them.

The lists (key words, personas, styles) are public inputs of methods that may not look at private text. English has a
file a domain in `assets/prompts`; another language has `prompts.yaml` in its pack: one template an operator, and what
each domain calls its documents, asks a judge and draws words from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from engine.assets import ASSETS
from engine.errors import UserError
from engine.models.builtin.format import DOMAINS, OPERATORS

FOLDER = ASSETS / "prompts"
PACKS = ASSETS / "languages"
PACK_FILE = "prompts.yaml"
ENGLISH = "en"


@dataclass(frozen=True)
class Prompts:
    """One domain in one language.

    Attributes:
        document: what its documents are called. system: how the model is set up. keywords, personas, styles: public
            words. operators: a template each. yes, no: what a judge is asked to answer. openings, closings: how chatter
            around a reply begins, besides English. style: a sentence around a style, with {} for it.
    """

    document: str
    system: str
    keywords: tuple[str, ...]
    personas: tuple[str, ...]
    styles: tuple[str, ...]
    operators: Mapping[str, str]
    yes: str = "yes"
    no: str = "no"
    openings: tuple[str, ...] = ()
    closings: tuple[str, ...] = ()
    style: str = "Write it {}."


@lru_cache(maxsize=1)
def prompt_languages() -> tuple[str, ...]:
    """Return the codes of the languages that prompts can be written in, English first."""
    return (ENGLISH, *sorted(path.parent.name for path in PACKS.glob(f"*/{PACK_FILE}")))


def prompt_language(code: str) -> str:
    """Return the language that prompts for text in a language are written in: its own, or English."""
    return code if code in prompt_languages() else ENGLISH


@lru_cache(maxsize=32)
def load_prompts(domain: str, language: str = ENGLISH) -> Prompts:
    """Return the prompts of a domain.

    Raises:
        UserError: there is no such domain or language, or its file lacks something.
    """
    if domain not in DOMAINS:
        raise UserError(f"domain {domain!r} does not exist; choose one of {', '.join(DOMAINS)}")
    if language not in prompt_languages():
        raise UserError(f"language {language!r} has no prompts; choose one of {', '.join(prompt_languages())}")
    import yaml

    file = FOLDER / f"{domain}.yaml" if language == ENGLISH else PACKS / language / PACK_FILE
    name = f"assets/prompts/{domain}.yaml" if language == ENGLISH else f"assets/languages/{language}/{PACK_FILE}"
    try:
        values: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
        own = values["domains"][domain] if language != ENGLISH else values
        prompts = Prompts(
            document=str(own["document"]),
            system=str(own["system"]),
            keywords=tuple(map(str, own["keywords"])),
            personas=tuple(map(str, own["personas"])),
            styles=tuple(map(str, own["styles"])),
            operators={str(name): str(body) for name, body in values["operators"].items()},
        )
        if language != ENGLISH:
            judge = prompts.operators["judge"].replace("{{ question }}", str(own["question"]))
            prompts = replace(
                prompts, operators={**prompts.operators, "judge": judge}, yes=str(values["yes"]), no=str(values["no"]),
                style=str(values["style"]), openings=tuple(map(str, values["openings"])),
                closings=tuple(map(str, values["closings"])),
            )  # fmt: skip
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"{name} cannot be used ({type(error).__name__}): restore it from the program's files"
        ) from None
    missing = [one for one in OPERATORS if one not in prompts.operators]
    if missing:
        raise UserError(f"{name} lacks the operators {', '.join(missing)}: add their templates")
    return prompts
