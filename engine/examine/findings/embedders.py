"""Which embedder a finding rests on: it stands in its settings, and runs of different ones are not held together.

Light: the web process imports this.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.examine.findings.findings import Finding
from engine.examine.members.neighbours_scores import NEAREST
from engine.examine.usefulness.metrics import METRICS

ENGLISH = "all-MiniLM-L6-v2"  # the built-in one; also of findings that were stored before they named theirs
NGRAMS = "character n-grams"
SETTING, WHY = "embedder", "embedder_since"
_COSINE = tuple(f"neighbours_cosine_{nearest}" for nearest in NEAREST)
NAMES = frozenset(
    (
        "nearest_similarity", "nearest_similarity_excess", "tone_shift", "tone_kept", "encoder_f1", "encoder_gap",
        *_COSINE, *(f"{name}_tpr01" for name in _COSINE),
        *(metric.name for metric in METRICS if metric.needs == "embeddings"),
    )
)  # fmt: skip
"""Findings that rest on embeddings."""


def marked(findings: Sequence[Finding], embedder: str, why: str = "") -> list[Finding]:
    """Return findings, those with a value that rests on embeddings with the embedder's id, and why it was taken."""
    more = {SETTING: embedder, **({WHY: why} if why else {})}
    return [
        replace(one, settings={**one.settings, **more}) if one.name in NAMES and not math.isnan(one.value) else one
        for one in findings
    ]


def embedder_of(finding: Finding) -> str:
    """Return which embedder a finding rests on; empty where it rests on none or has no value."""
    if finding.name not in NAMES or math.isnan(finding.value):
        return ""
    return str(finding.settings.get(SETTING) or ENGLISH)


def embedders_apart(findings: Iterable[Finding]) -> bool:
    """Return whether findings rest on different embedders."""
    return len({embedder_of(one) for one in findings} - {""}) > 1


def embedder_sentence(findings: Sequence[Finding]) -> str:
    """Return by what meaning was measured, in words; empty where it was the built-in English embedder, or nothing."""
    found = next((one for one in findings if embedder_of(one) not in ("", ENGLISH)), None)
    if found is None:
        return ""
    name, why = embedder_of(found), found.settings.get(WHY)
    if name != NGRAMS:
        return f"Meaning was measured by the sentence model {name}."
    since, model = (f", since {why}", "A multilingual sentence model") if why else ("", "A sentence model")
    return (
        f"Meaning was measured by {name}{since}: they follow words more than meaning. {model} (Models page) follows "
        "meaning."
    )
