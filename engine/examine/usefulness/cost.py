"""Findings on what a run cost: seconds, tokens and money for a thousand records that were kept."""

from __future__ import annotations

import math

from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.prepare import Prepared
from engine.examine.stats.intervals import Interval
from engine.json_types import JSON

SECONDS, TOKENS, MONEY = "seconds_per_1000", "tokens_per_1000", "money_per_1000"
NOT_TOLD = "the examination was not told what the run took"
NO_SERVER = "tokens are counted where a server writes the text; here a model on this machine did, or none"
NO_PRICE = "no price a token is set for a server, so no money was counted"


def examine_cost(prepared: Prepared) -> Part:
    """Return what a thousand kept records took.

    Source: Ma and Rajtmajer (RPSG), section 5.5 and Figure 2 (hours for as many records).
    """
    effort = prepared.given.effort
    if effort is None or effort.kept < 1:
        return Part([missing(name, "none", NOT_TOLD) for name in (SECONDS, TOKENS, MONEY)])
    settings: dict[str, JSON] = {
        "kept": effort.kept, "seconds": effort.seconds, "tokens_in": effort.tokens_in, "tokens_out": effort.tokens_out,
        "requests": effort.requests,
    }  # fmt: skip
    served = effort.requests > 0
    tokens = effort.tokens_in + effort.tokens_out if served else math.nan
    money = effort.money if served and effort.money > 0 else math.nan
    part = Part()
    told = (
        (SECONDS, effort.seconds, NOT_TOLD),
        (TOKENS, tokens, NO_SERVER),
        (MONEY, money, NO_PRICE if served else NO_SERVER),
    )
    for name, value, why in told:
        if math.isnan(value):
            part.findings.append(missing(name, "none", why))
            continue
        interval = Interval(1_000.0 * value / effort.kept, None, None, effort.kept, "none (of this run)", "none")
        part.findings.append(finding(name, "none", interval, **settings))
    return part
