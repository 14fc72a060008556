"""Read the prompt templates and public word lists of a domain.

The lists (key words, personas, styles) are public inputs of methods that may not look at private text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from engine.assets import ASSETS
from engine.errors import UserError
from engine.models.builtin.format import DOMAINS, OPERATORS

FOLDER = ASSETS / "prompts"


@dataclass(frozen=True)
class Prompts:
    """One domain: what its documents are called, how the model is set up, word lists, a template an operator."""

    document: str
    system: str
    keywords: tuple[str, ...]
    personas: tuple[str, ...]
    styles: tuple[str, ...]
    operators: Mapping[str, str]


@lru_cache(maxsize=8)
def load_prompts(domain: str) -> Prompts:
    """Return the prompts of a domain.

    Raises:
        UserError: there is no such domain, or its file lacks something.
    """
    if domain not in DOMAINS:
        raise UserError(f"domain {domain!r} does not exist; choose one of {', '.join(DOMAINS)}")
    import yaml

    try:
        values: dict[str, Any] = yaml.safe_load((FOLDER / f"{domain}.yaml").read_text(encoding="utf-8"))
        prompts = Prompts(
            document=str(values["document"]),
            system=str(values["system"]),
            keywords=tuple(map(str, values["keywords"])),
            personas=tuple(map(str, values["personas"])),
            styles=tuple(map(str, values["styles"])),
            operators={str(name): str(body) for name, body in values["operators"].items()},
        )
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"assets/prompts/{domain}.yaml cannot be used ({type(error).__name__}): restore it from the program's files"
        ) from None
    missing = [name for name in OPERATORS if name not in prompts.operators]
    if missing:
        raise UserError(f"assets/prompts/{domain}.yaml lacks the operators {', '.join(missing)}: add their templates")
    return prompts
