"""Redact by saying less: the month for a day, ten years for an age, a round figure for an amount."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.pii.redact.base import Memory
from engine.pii.surrogates.dates import parse_month_year
from engine.pii.surrogates.numbers import OLDEST, first_number, round_quantity

_MONTHS = "January February March April May June July August September October November December".split()


@dataclass(frozen=True)
class Generalise:
    """Write a coarser value where there is one, else the type in brackets."""

    id: str = "generalise"
    title: str = "Coarser values"
    sentence: str = (
        "Dates become their month and year (or year), ages a band of ten years, amounts a round figure; "
        "everything else becomes its type in brackets."
    )

    def replacement(self, value: str, label: str, memory: Memory) -> str:
        """Return the coarser value, or the bracketed type."""
        coarser = {"DATE": _date, "AGE": _age, "QUANTITY": _quantity}.get(label)
        return (coarser(value) if coarser else None) or f"[{label}]"


def _date(value: str) -> str | None:
    parsed = parse_month_year(value)
    if parsed is None:
        return None
    month, year = parsed
    had_day = len(re.findall(r"\d+", value)) > 1
    return f"{_MONTHS[month - 1]} {year}" if month and had_day else str(year)


def _age(value: str) -> str | None:
    years = first_number(value)
    if years is None or re.search(r"month|week|day", value, re.IGNORECASE):
        return None
    return "90 or older" if years > OLDEST else f"{years // 10 * 10}-{years // 10 * 10 + 9}"


def _quantity(value: str) -> str | None:
    if not any(c.isdigit() for c in value):
        return None
    coarser = round_quantity(value)
    return coarser if coarser != value else f"about {coarser}"
