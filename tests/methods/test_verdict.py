"""The one line on signal and noise: against closed forms worked out here, and from public quantities alone."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

import engine
from engine.corpus.columns.mapping import ColumnMapping
from engine.dp.accounting.closed_form import noise_multiplier
from engine.methods import get_method, method_ids
from engine.methods.advice import sizes
from engine.methods.advice.verdict import signal_verdict
from engine.methods.base import Facts, parse_parameters

FACTS = Facts(records=900, units=672, unit="source", cap=20, mean_characters=200.0, sources_named=True)


def verdict(method: str, facts: Facts = FACTS, count: int = 500, **settings):
    known = get_method(method)
    values = parse_parameters(known.spec, settings)
    return signal_verdict(method, values, facts, known.guarantee(values, facts), count)


def numbers(sentence: str) -> list[float]:
    return [float(found.replace(",", "")) for found in re.findall(r"\d[\d,]*\.?\d*", sentence)]


def test_ten_rounds_for_many_outputs_are_mostly_noise_by_so_many_times():
    # the run a custodian was offered without a word: 672 people, cap 20, 500 outputs from 3,500 candidates
    found = verdict("aug-pe")
    delta = min(1e-3, 1.0 / (672 * math.log(672)))
    sigma = 20 * noise_multiplier(4.0, delta, 10)
    each = 672 / 3_500
    assert found.level == "noise"
    assert numbers(found.sentence)[0] == pytest.approx(sigma / each, abs=0.6)
    assert numbers(found.sentence)[1] == pytest.approx(0.5 * sigma * 3_500, rel=0.1), "people at half a vote per noise"
    assert numbers(found.sentence)[-1] == 672


def test_the_budget_that_is_named_is_enough_and_a_little_less_is_not():
    facts = replace(FACTS, cap=1, units=900)
    found = verdict("rpsg-public", facts, 300)
    assert found.level == "weak"
    (named,) = re.findall(r"ε = ([\d.]+)", found.sentence)
    assert verdict("rpsg-public", facts, 300, epsilon=float(named)).level == "enough"
    assert verdict("rpsg-public", facts, 300, epsilon=0.9 * float(named)).level == "weak"


def test_people_that_are_named_are_enough_at_the_same_noise():
    facts = replace(FACTS, cap=1, units=1_000)
    found = verdict("aug-pe", facts, 300)
    (named,) = re.findall(r"about ([\d,]+) people", found.sentence)
    more = replace(facts, units=int(named.replace(",", "")))
    delta = 1.0 / (1_000 * math.log(1_000))  # δ as before: a larger corpus would ask for a smaller one
    assert verdict("aug-pe", more, 300, delta=delta).level == "enough"
    assert verdict("aug-pe", replace(more, units=int(0.9 * more.units)), 300, delta=delta).level == "weak"


def test_fewer_people_than_were_ever_measured_are_never_called_enough():
    least = sizes.least_units(4.0)
    settings = {"votes": "dense", "rounds": 1}
    few = verdict("aug-pe", replace(FACTS, units=least - 1), 50, **settings)
    assert few.level == "weak"
    assert "nobody has measured" in few.sentence
    assert verdict("aug-pe", replace(FACTS, units=least), 50, **settings).level == "enough"


def test_training_is_judged_by_the_ratio_of_published_training():
    small = verdict("dp-finetune", replace(FACTS, units=300))
    assert small.level == "noise"
    large = verdict("dp-finetune", replace(FACTS, units=60_000, cap=1), steps=300, units_a_step=1_024)
    assert large.level == "enough"
    middle = replace(FACTS, units=60_000, cap=1)
    assert verdict("dp-finetune", middle, steps=20, units_a_step=16).sentence.endswith("choose Thorough.")


def test_what_reads_nothing_and_what_proves_nothing_say_so():
    assert verdict("public").level == "nothing private"
    for method in method_ids():
        if get_method(method).spec.kind != "dp":
            assert verdict(method).level == "unproven"


def test_a_filter_behind_a_method_changes_nothing():
    assert verdict("filter:rpsg-public") == verdict("rpsg-public")


def lines(texts: list[str]) -> bytes:
    return "\n".join(["text,person", *(f"{text},p{i}" for i, text in enumerate(texts))]).encode()


def test_neighbouring_corpora_get_the_same_line(tmp_path):
    """Other words in a record, as long; who is set aside follows the names, which stay."""
    texts = [f"Visitor {i:03d} asked about the opening hours" for i in range(60)]
    other = ["Patient 000 suffers from a rare long disease", *texts[1:]]
    other[0] = other[0][: len(texts[0])].ljust(len(texts[0]), "x")
    found = []
    workspace = engine.open_workspace(tmp_path / "workspace")
    for name, rows in (("one", texts), ("two", other)):
        corpus = workspace.corpora.import_file(
            lines(rows), f"{name}.csv", ColumnMapping(text="text", source_id="person"), name=name, unit="source", cap=1
        )
        drafts = [
            workspace.plan.draft(corpus.id, method, count=20).verdict
            for method in ("aug-pe", "dp-topics", "rpsg-public", "dp-finetune", "private-prediction", "public")
        ]
        found.append((workspace.ledger.facts(corpus.id).units, drafts))
    workspace.close()
    assert found[0] == found[1]
    assert {draft.level for draft in found[0][1]} >= {"noise", "nothing private"}
