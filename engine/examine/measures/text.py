"""What findings from near copies, n-grams and neighbours measure, in words.

Light: the web process imports this.
"""

from __future__ import annotations

from engine.examine.measures.membership import pair
from engine.examine.measures.wording import LOWER, Measure, Scale

_MINHASH = "Broder 1997 (On the resemblance and containment of documents), section 2"


def _with_excess(
    name: str, title: str, measure: str, scale: Scale, means: str, caveat: str, source: str
) -> tuple[Measure, Measure]:
    """Return a measure and its difference between training part and holdout."""
    return (
        Measure(name, title, measure, LOWER, "privacy", scale, means, caveat, source),
        Measure(
            f"{name}_excess", f"{title}: more than chance",
            f"{measure}; training part minus holdout, at equal numbers of reference records",
            LOWER, "privacy", scale,
            "Zero means: the text is no closer to the records used than to records nobody used.",
            "The training part is cut to the holdout's size, so a copy of a record outside the cut is not seen here.",
            source,
        ),
    )  # fmt: skip


NEAR: tuple[Measure, ...] = (
    *_with_excess(
        "near_copies_05", "Records close to a copy",
        "share of synthetic records with a Jaccard similarity of word 5-shingles of 0.5 or more to a reference record",
        "share",
        "How many records are another record with some words changed.",
        "Stock texts are close to each other everywhere: compare with the holdout and with real records (baseline).",
        _MINHASH,
    ),
    *_with_excess(
        "near_copies_08", "Records that are nearly a copy",
        "share of synthetic records with a Jaccard similarity of word 5-shingles of 0.8 or more to a reference record",
        "share",
        "How many records are another record with hardly a word changed.",
        "Very short texts are equal by chance: compare with the holdout and with real records (baseline).",
        _MINHASH,
    ),
    *_with_excess(
        "longest_run", "Longest run of shared words",
        "mean over synthetic records of the longest run of words that stands in one reference record, in words",
        "number",
        "How long a stretch one finds in the private text when one looks for the longest.",
        "The mean hides a single long copy: the longest of all is among the settings.",
        "longest common substring in words; cf. Carlini et al. 2023 (Quantifying memorization), section 3",
    ),
)  # fmt: skip

_MEEUS = "Meeus et al. 2025 (The Canary's Echo, arXiv 2502.14921), section 3 (n-gram model)"
_SIMILAR = "Meeus et al. 2025 (The Canary's Echo, arXiv 2502.14921), section 3 (similarity)"
NEIGHBOURS = (1, 5, 10, 25)
_KINDS = (("jaccard", "shared words"), ("cosine", "meaning"))

NGRAM: tuple[Measure, ...] = (
    *pair(
        "ngram", "Phrases of the synthetic text (n-grams)",
        "Whether used records look likelier than unused ones to a table of the synthetic text's word triples, "
        "beyond what public text and single words make likely.",
        _MEEUS,
    ),
    *pair(
        "ngram_window", "Likeliest ten words (n-grams)",
        "As above, by the ten words in a row that stand out most: one copied phrase is enough.",
        f"{_MEEUS}; the maximum over ten-word windows is ours",
    ),
)  # fmt: skip

NEAREST: tuple[Measure, ...] = tuple(
    measure
    for kind, by in _KINDS
    for k in NEIGHBOURS
    for measure in pair(
        f"neighbours_{kind}_{k}",
        f"Nearest synthetic record by {by}" if k == 1 else f"{k} nearest synthetic records by {by}",
        f"Whether used records have closer synthetic neighbours than unused ones, by {by}.",
        _SIMILAR,
    )
)

TEXT: tuple[Measure, ...] = (*NEAR, *NGRAM, *NEAREST)
