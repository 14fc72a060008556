"""Numbers of a bound in words: rounded to the side on which what is written holds too.

ε and δ of a claim, and what follows from them, hold for every larger number; written to the nearest digit, half of them
would stand below what the noise was made for. What a limit leaves holds for every smaller number: a run at a raised one
would be refused.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

_EXACT = 1e-12  # relative; sums of doubles as 0.1 + 0.2 are no more than 0.3


def upward(value: float, digits: int = 3) -> str:
    """Return a number of a bound with at most so many significant digits, never below it.

    Args:
        value: >= 0, or infinite. digits: >= 1. A value within 1e-12 of a number with these digits is written as that.
    """
    nearest = f"{value:.{digits}g}"
    if not math.isfinite(value) or float(nearest) >= value * (1.0 - _EXACT):
        return nearest
    raised = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(value))
    return f"{float(raised):.{digits}g}"


def downward(value: float, digits: int = 3) -> str:
    """Return what is left in words with at most so many significant digits, never above it.

    Args:
        value: >= 0. digits: >= 1. A value within 1e-12 of a number with these digits is written as that.
    """
    nearest = f"{value:.{digits}g}"
    if not math.isfinite(value) or float(nearest) <= value * (1.0 + _EXACT):
        return nearest
    lowered = Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(Decimal(value))
    return f"{float(lowered):.{digits}g}"
