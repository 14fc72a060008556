"""What the strict meter measures, in words.

Light: the web process imports this.
"""

from __future__ import annotations

from engine.examine.measures.wording import LOWER, Measure

_FORMS = (
    "in any way of writing: other letters and marks, re-formatted numbers and dates, parts of a name, words joined or "
    "cut short, one or two letters or digits away"
)
_SOURCE = "our own; the share is that of Zhao and Field 2025, section 3.4, found more strictly"

STRICT = (
    Measure(
        "strict_pipp", "Records that give a private value away",
        f"share of synthetic records in which a private value of the reference is recognised, {_FORMS}",
        LOWER, "privacy", "share",
        "How often a reader meets what may be a private value, also misspelt or in part.",
        "Most of it is chance, since names and places recur: read the excess over the holdout, not this share alone.",
        _SOURCE,
    ),
    Measure(
        "strict_pipp_direct", "Records that give a direct identifier away",
        f"share of synthetic records in which a direct identifier of the reference is recognised, {_FORMS}",
        LOWER, "privacy", "share",
        "As above, for identifiers that point to one person by themselves.",
        "First names and surnames of many people recur by chance; identifiers that nobody marked are not looked for.",
        _SOURCE,
    ),
    Measure(
        "strict_elp", "Private values given away",
        f"share of the reference's distinct private values that are recognised in any synthetic record, {_FORMS}",
        LOWER, "privacy", "share",
        "How much of the private detail can be recognised anywhere in the synthetic text.",
        "Grows with the amount of synthetic text; values that recur elsewhere are met by chance.",
        _SOURCE,
    ),
    Measure(
        "strict_elp_direct", "Direct identifiers given away",
        f"share of the reference's distinct direct identifiers that are recognised in any synthetic record, {_FORMS}",
        LOWER, "privacy", "share",
        "As above, for identifiers that point to one person by themselves.",
        "Identifiers that nobody marked are not looked for.",
        _SOURCE,
    ),
)  # fmt: skip
