"""Text that owes nothing to the training part: how often the verdict's sentence about identifiers says leak."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.examine.examination import ExamineInput
from engine.examine.findings.findings import Finding
from engine.examine.findings.verdict import privacy_verdict
from engine.examine.prepare import prepare
from engine.examine.stats.simultaneous import wider
from engine.examine.values.leaks import examine_leaks
from engine.examine.values.strict import examine_strict

VOCABULARY = [f"{first}{second}" for first in "ana ber cle dor emi fri ger hil ina jor".split()
              for second in "lund berg holm gren dal vik mark ros ström moa".split()]  # fmt: skip
COMMON = 1.0 / np.arange(2, len(VOCABULARY) + 2)
COMMON /= COMMON.sum()


def records(rng: np.random.Generator, count: int, mark: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return records, and of one in thirty a word that is marked as a name there, and stands unmarked in others.

    So detection works on real notes: which part holds the mark on a common word is chance, and many texts hold the
    word.
    """
    rows, spans = [], []
    for i in range(count):
        words = list(rng.choice(VOCABULARY, 8, p=COMMON))
        rows.append({"record_id": f"{mark}{i}", "text": " ".join(words), "source_id": None, "label": None})
        if rng.random() < 1 / 30:
            at = int(rng.integers(8))
            start = sum(len(word) + 1 for word in words[:at])
            spans.append((f"{mark}{i}", start, start + len(words[at]), "PERSON", "direct"))
    columns = ["record_id", "start", "end", "label", "identifier_type"]
    return pd.DataFrame(rows), pd.DataFrame(spans, columns=columns)


def examined(seed: int, size: int, texts: int) -> list[Finding]:
    rng = np.random.default_rng(seed)
    (train, marked), (holdout, held), (made, _) = (
        records(rng, n, mark) for n, mark in ((2 * size, "t"), (size, "h"), (texts, "s"))
    )
    prepared = prepare(ExamineInput(made.assign(lineage=None), train, holdout, marked, held, seed=seed))
    return [*examine_strict(prepared).findings, *examine_leaks(prepared).findings]


def says_leak(findings: list[Finding]) -> bool:
    return next(one.level for one in privacy_verdict(findings) if one.text.startswith("Real identifiers")) == "leak"


@pytest.mark.parametrize(
    ("size", "texts"),
    [
        pytest.param(60, 60, marks=pytest.mark.slow),
        pytest.param(200, 200, marks=pytest.mark.long),
        pytest.param(600, 400, marks=pytest.mark.long),
    ],
)
def test_identifiers_are_called_a_leak_by_chance_as_seldom_as_the_intervals_say(size, texts):
    """Two hundred draws; by two shares held against each other, one draw in ten and more was called a leak."""
    found = [examined(seed, size, texts) for seed in range(200)]
    assert sum(map(says_leak, found)) <= 0.05 * 200
    apart = [[f for f in one if not f.name.startswith("pipp_direct_excess")] for one in found]
    assert sum(map(says_leak, apart)) > sum(map(says_leak, found)), "else this says nothing"


def test_one_measure_of_six_that_stands_out_alone_is_no_leak_yet():
    findings = examined(1, 60, 60)
    names = {"strict_pipp", "strict_pipp_direct", "strict_elp", "pipp", "pipp_direct"}
    assert names <= {f.name for f in findings if f.reference == "train" and f.value == f.value}

    def with_excess(low: float) -> str:
        changed = [
            replace(f, value=0.10, low=low, high=0.2) if f.name == "strict_pipp_excess"
            else replace(f, value=0.0, low=-0.1, high=0.1) if f.name.endswith("_excess") else f
            for f in findings
        ]  # fmt: skip
        (said,) = (one for one in privacy_verdict(changed) if one.text.startswith("Real identifiers"))
        assert said.finding == "strict_pipp"
        assert ("looked at together" in said.text) == (low > 0 and said.level == "unsure")
        return said.level

    edge = 0.10 * (1 - 1 / wider(5))
    assert with_excess(edge + 0.005) == "leak"
    assert with_excess(edge - 0.005) == "unsure"
    assert with_excess(-0.01) == "unsure"
