"""National numbers of people in the European Union and Brazil, found by shape and checked by python-stdnum.

One table, `assets/languages/national_ids.yaml`. A number counts where it is valid and either carries enough check in
itself for a text of its country, or stands near one of its words.

Privacy posture: works on one text in memory; nothing of it is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Protocol, cast

import regex
import yaml
from pydantic import BaseModel, ConfigDict

from engine.assets import ASSETS
from engine.pii.spans import Span, default_identifier_type

NEAR = 60  # characters before a number in which its word counts
SURE, NEAR_WORD = 0.9, 0.95


class _Checker(Protocol):
    def is_valid(self, number: str) -> bool: ...


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    title: str
    shape: str
    words: tuple[str, ...]
    sure: bool


@dataclass(frozen=True)
class NationalId:
    """One kind of number: its country, what it looks like, words that name it, and its check."""

    id: str
    title: str
    country: str
    shape: regex.Pattern[str]
    words: regex.Pattern[str]
    sure: bool
    checker: _Checker

    def valid(self, number: str) -> bool:
        """Return whether the number has its kind's shape and satisfies its country's rules, check digits included."""
        return self.shape.fullmatch(number.strip()) is not None and self.checker.is_valid(number)


@lru_cache(maxsize=1)
def national_ids() -> tuple[NationalId, ...]:
    """Return every kind of number, by the order of the table."""
    rows = yaml.safe_load((ASSETS / "languages" / "national_ids.yaml").read_text(encoding="utf-8"))
    return tuple(_made(_Row.model_validate(row)) for row in rows)


def _made(row: _Row) -> NationalId:
    country, module = row.id.split(".")
    return NationalId(
        row.id,
        row.title,
        country.upper(),
        regex.compile(rf"(?<![\w.,/+-])(?:{row.shape})(?![\w/+]|[-.,]\d)", regex.IGNORECASE),
        regex.compile(r"(?<!\w)(?:" + "|".join(row.words) + r")(?!\p{L}{3})", regex.IGNORECASE),
        row.sure,
        cast("_Checker", import_module(f"stdnum.{country}.{module}")),
    )


def find_national_ids(text: str, home: tuple[str, ...]) -> list[Span]:
    """Return the valid numbers of a text, with an empty record id.

    Args:
        text: a record.
        home: the countries of its language; a number of another country needs one of its words near it.
    """
    if not any(c.isdigit() for c in text):
        return []
    out = []
    for kind in national_ids():
        for match in kind.shape.finditer(text):
            named = kind.words.search(text, max(0, match.start() - NEAR), match.start()) is not None
            if (named or (kind.sure and kind.country in home)) and kind.valid(match.group()):
                score = NEAR_WORD if named else SURE
                label = "NATIONAL_ID"
                out.append(Span("", match.start(), match.end(), label, score, kind.id, default_identifier_type(label)))
    return out
