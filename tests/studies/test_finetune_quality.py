"""The study of what noise in training costs: its measures on numbers made by hand, its audit, and a small real run."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pandas as pd
import pytest

from engine.corpus.samples import load_sample
from engine.dp.noise.train import Document, Training
from engine.methods.base import Context, Facts
from engine.models.prompts.operators_builtin import BuiltinOperators
from engine.studies import StudyContext, get_study
from engine.studies.base import TABLE_NAME, parse
from engine.studies.finetune_perplexity import gradient_audit as audit
from engine.studies.finetune_perplexity import measures
from engine.studies.finetune_perplexity.measures import Canaries, Known
from engine.studies.finetune_perplexity.run import _drawn
from tests.models.small_lm import small_generator

SETTINGS = {
    "epsilons": (2.0,), "steps": 6, "units_a_step": 40, "rate": 0.02, "full_rate": 0.01, "rank": 2, "tokens": 16,
    "holdout": 20, "train": 20, "canaries": 8, "audit_runs": 4,
}  # fmt: skip


def known(*pairs):
    return Known(np.array([nats for nats, _ in pairs], float), np.array([tokens for _, tokens in pairs], float))


# --- measures ---


def test_perplexity_weighs_texts_by_their_tokens():
    found = known((math.log(4), 1), (0.0, 3))
    name, value, low, high, n = measures.perplexity("p", found, 0)
    assert (name, n) == ("p", 2)
    assert value == pytest.approx(4 ** (1 / 4))
    assert (low, high) == (pytest.approx(1.0), pytest.approx(4.0))
    assert math.isnan(measures.perplexity("p", known(), 0)[1])


def test_a_ratio_of_the_same_texts_is_narrower_than_one_of_others():
    rng = np.random.default_rng(0)
    tokens = np.full(200, 10.0)
    hard = rng.normal(30, 10, 200)
    first, second = Known(hard + rng.normal(-1, 0.1, 200), tokens), Known(hard, tokens)
    _, value, low, high, _ = measures.ratio("r", first, second, 0)
    assert value == pytest.approx(math.exp(-0.1), rel=0.01)
    assert high - low < 0.01 < low < value < high < 1.0
    _, _, wide_low, wide_high, _ = measures.ratio("r", first, second, 0, paired=False)
    assert wide_high - wide_low > 10 * (high - low)


def test_canaries_differ_and_their_coins_are_fair_and_fixed():
    made = measures.canaries(400, 3)
    assert len(set(made.texts)) == 400
    assert 160 < made.inside.sum() < 240
    again = measures.canaries(400, 3)
    assert made.texts == again.texts
    assert (made.inside == again.inside).all()
    assert measures.canaries(400, 4).texts != made.texts


def test_canaries_that_give_themselves_away_prove_a_bound_and_others_none():
    inside = np.arange(400) % 2 == 0
    planted = Canaries(tuple(str(i) for i in range(400)), inside)
    told = measures.audited(planted, inside + np.linspace(0, 0.1, 400), 1e-6)[1]
    # 200 of 200 guesses right at 95%: (e^ε / (1 + e^ε))^200 = 0.05
    p = 0.05 ** (1 / 200)
    assert told == pytest.approx(math.log(p / (1 - p)), rel=0.02)
    noise = np.random.default_rng(1).normal(size=400)
    assert measures.audited(planted, noise, 1e-6)[1] < 0.5
    assert measures.exposure(planted, inside.astype(float))[1] == 1.0
    name, area, low, high, n = measures.exposure(planted, noise)
    assert (name, n) == ("canary_auc", 400)
    assert low < 0.5 < high
    assert 0.4 < area < 0.6


# --- the audit of the noise ---


def asked(noise):
    return Training(steps=6, clip=0.5, noise_multiplier=noise, sampling_probability=0.5, expected=2.0)


def test_the_noise_keeps_its_claim_and_a_tenth_of_it_does_not():
    from engine.dp.accounting.accountant import ExactAccountant
    from engine.dp.noise.train import event_of

    delta = 1e-3
    claim = ExactAccountant().account([event_of(asked(3.0), "record", "zero-out")], delta).epsilon
    assert audit.bound(audit.worlds(asked(3.0), "zero-out", 150), delta) <= claim
    weak = audit.bound(audit.worlds(asked(0.3), "zero-out", 150), delta)
    assert weak > claim
    told = []
    audit.worlds(asked(0.3), "replace-one", 21, lambda done, total: told.append((done, total)))
    assert told == [(0, 21), (20, 21)]


# --- the study ---


@pytest.fixture(scope="module")
def context():
    table = load_sample("support_tickets")[["record_id", "text", "source_id", "label"]]
    records, holdout = table.iloc[:60].reset_index(drop=True), table.iloc[60:90].reset_index(drop=True)
    study = get_study("finetune-perplexity")
    run = Context(
        records=records, spans=pd.DataFrame(), count=0, parameters=None, seed=1, unit="record",
        generator=small_generator(), operators=BuiltinOperators(), facts=Facts(60, 60, labels=0),
    )  # fmt: skip
    return StudyContext(run, holdout, pd.DataFrame(), parse(study.spec, SETTINGS))


def values(tables, measure):
    summary = tables["summary"]
    return summary[summary["measure"] == measure].set_index("variant")["value"]


def test_every_variant_is_trained_scored_and_audited_and_a_stopped_study_goes_on(context):
    study, told = get_study("finetune-perplexity"), []
    watched = dataclasses.replace(context, progress=lambda stage, done, total: told.append(stage))
    steps = list(study.run(watched))
    names = ["untuned", "finetune (adapters)", "finetune (every weight)", "dp-finetune (ε = 2)"]
    assert [step.stage for step in steps] == names
    tables = steps[-1].tables
    assert all(TABLE_NAME.fullmatch(name) for name in tables)
    json.dumps(steps[-1].state)
    perplexity = values(tables, "perplexity_holdout")
    assert perplexity[names[1]] < perplexity[names[0]]
    assert perplexity[names[2]] < perplexity[names[0]]
    assert values(tables, "holdout_over_untuned")[names[1]] == pytest.approx(
        perplexity[names[1]] / perplexity["untuned"]
    )
    assert values(tables, "claimed_epsilon").to_dict() == {names[3]: 2.0}
    assert values(tables, "audited_epsilon_gradients")[names[3]] <= 2.0
    assert set(values(tables, "audited_epsilon_canaries").index) == set(names[1:])
    settings = tables["settings"].set_index("variant")
    assert settings.loc[names[3], "sampling_probability"] == pytest.approx(40 / 68)
    assert settings.loc[names[3], "units"] == 68
    assert settings.loc[names[2], "trained_weights"] > settings.loc[names[1], "trained_weights"]
    losses = tables["losses"].groupby("variant")["loss"].count()
    assert losses.to_dict() == dict.fromkeys(names[1:], 6)
    assert any("scoring holdout" in stage for stage in told)
    stopped = dataclasses.replace(context, state=json.loads(json.dumps(steps[1].state)), tables=steps[1].tables)
    rest = list(study.run(stopped))
    assert [step.stage for step in rest] == names[2:]
    again = rest[-1].tables["summary"]
    plain = tables["summary"]["variant"] != names[3]  # noise is drawn anew
    pd.testing.assert_frame_equal(again[plain.to_numpy()], tables["summary"][plain])


def test_scored_records_are_drawn_from_all_of_them():
    records = pd.DataFrame({"text": [str(i) for i in range(500)]})
    drawn = [int(text) for text in _drawn(records, 50, 1)["text"]]
    assert len(set(drawn)) == 50
    assert max(drawn) > 400
    assert drawn == [int(text) for text in _drawn(records, 50, 1)["text"]]
    assert len(_drawn(records, 500, 1)) == 500


def test_without_canaries_and_audits_only_perplexity_is_left(context):
    p = context.parameters.model_copy(update={"canaries": 0, "audit_runs": 0, "plain": (), "steps": 1})
    *_, last = get_study("finetune-perplexity").run(dataclasses.replace(context, parameters=p))
    assert set(last.tables["summary"]["measure"]) == {
        "perplexity_holdout", "perplexity_train", "holdout_over_train", "holdout_over_untuned", "claimed_epsilon",
    }  # fmt: skip
    assert last.tables["settings"]["records"].tolist() == [60, 60]


def test_documents_score_alike_alone_and_together():
    from engine.models.tune.learner import LearnerSettings, NetLearner
    from engine.models.tune.tunable import Adapter, BuiltinTunable

    learner = NetLearner(
        BuiltinTunable(small_generator(), Adapter(2)), lambda label, words: "", LearnerSettings(1e-3, 1, half=False),
        apart=False,
    )  # fmt: skip
    documents = [Document("The bill came twice."), Document("Thanks, it works now after the restart."), Document("No")]
    together = measures.known(learner, documents, lambda label, words: "", lambda done, total: None)
    for i, one in enumerate(documents):
        alone = measures.known(learner, [one], lambda label, words: "", lambda done, total: None)
        assert alone.nats[0] == pytest.approx(together.nats[i], rel=1e-4)
        assert alone.tokens[0] == together.tokens[i]
