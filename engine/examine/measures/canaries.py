"""What findings about planted canaries measure, in words.

Light: the web process imports this.
"""

from __future__ import annotations

from engine.examine.measures.wording import LOWER, Measure

_SOURCE = "Carlini et al. 2019 (The secret sharer); Meeus et al. 2025 (The canary's echo, arXiv 2502.14921)"
_CAVEAT = "Few canaries leave wide intervals, and how they look decides whether they come back at all."

CANARIES = (
    Measure(
        "canary_echo", "Canaries that come back whole",
        "share of planted canaries that stand word for word in a synthetic record",
        LOWER, "privacy", "share",
        "Whether the method repeats made-up values that only one record holds.",
        _CAVEAT, _SOURCE,
    ),
    Measure(
        "canary_partial", "Canaries that come back by half",
        "share of planted canaries of which at least half of the words stand in a row in a synthetic record",
        LOWER, "privacy", "share",
        "As above, for parts.",
        _CAVEAT, _SOURCE,
    ),
    Measure(
        "canary_echo_excess", "Canaries that come back: more than chance",
        "share of planted canaries that come back whole, training part minus holdout",
        LOWER, "privacy", "share",
        "The holdout's canaries were planted by the same hand and never used: what they give is chance.",
        _CAVEAT, _SOURCE,
    ),
)  # fmt: skip
