"""RPSG's stages, its resume from every step, and what it may claim."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from engine.corpus.samples import load_sample
from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms
from engine.errors import InternalError, UserError
from engine.methods.base import Context, Facts, parse_parameters
from engine.methods.rpsg.claim import best_wins, best_wins_exact
from engine.methods.rpsg.method import RpsgMethod
from engine.methods.rpsg.parameters import PRESETS, RpsgParameters, left, needed
from engine.methods.rpsg.stages import controlled

METHOD = RpsgMethod()
QUICK = RpsgParameters(
    oversampling=2, candidates=2, minimum_tokens=4, maximum_tokens=24, epochs=1, similarity_keep=0.8, nll_keep=0.75
)
REDDIT = Facts(records=8948, units=8948, mean_characters=600.0)


@pytest.fixture(scope="module")
def models():
    from engine.models.builtin.embedder import load_embedder
    from engine.models.builtin.language_model import load_builtin_generator
    from engine.models.prompts.operators_builtin import BuiltinOperators
    from engine.pii.detect.detector import RecordDetector
    from engine.pii.detect.settings import DetectorSettings

    return {
        "generator": load_builtin_generator(threads=1),
        "embedder": load_embedder(),
        "operators": BuiltinOperators(),
        "detector": RecordDetector(DetectorSettings()),
    }


def context(models, **changes):
    records = load_sample("support_tickets").head(10)[["record_id", "text", "source_id", "label"]]
    parameters = changes.pop("parameters", QUICK)
    base = Context(
        records=records.reset_index(drop=True),
        spans=pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"]),
        count=3,
        parameters=parameters,
        seed=7,
        batch_size=4,
        mechanisms=Mechanisms(None, changes.pop("outputs", None) or MemoryOutputs()),
        guarantee=METHOD.guarantee(parameters, Facts(10, 10)),
        **models,
    )
    return dataclasses.replace(base, **changes)


@pytest.fixture(scope="module")
def whole(models):
    """One run's context, its steps and its stored choices."""
    stored = MemoryOutputs()
    given = context(models, outputs=stored)
    return given, list(METHOD.run(given)), stored.stored


def outputs(steps):
    return [record for step in steps for record in step.records]


def test_every_text_is_in_the_funnel(whole):
    _, steps, _ = whole
    total = {}
    for step in steps:
        for name, n in step.funnel.items():
            total[name] = total.get(name, 0) + n
    # 5 texts: 4 stay after the cosine filter, 3 of those after the likelihood filter
    assert total == {"made": 5, "kept": 3, "dropped: too near a seed": 1, "dropped: looks memorised": 1}
    stages = [step.stage for step in steps]
    assert stages == ["abstracting", "writing", "abstracting", "writing", "comparing", "releasing"]
    assert steps[-1].state == {"stage": "done", "made": [], "released": 3}


def test_one_output_a_seed_with_its_label(whole):
    given, steps, _ = whole
    records = outputs(steps)
    assert len({record.lineage for record in records}) == len(records) == 3
    labels = dict(zip(given.records["record_id"], given.records["label"], strict=True))
    assert [record.label for record in records] == [labels[record.lineage] for record in records]


def test_seeds_are_drawn_and_another_run_seed_draws_others(models, whole):
    _, steps, _ = whole
    rows = [entry["row"] for step in steps if step.stage == "abstracting" for entry in step.state["pending"]]
    assert rows == [int(i) for i in np.random.default_rng(7).permutation(10)[:5]]
    assert rows != sorted(rows)


def test_resume_from_every_step_gives_the_same_records(models, whole):
    given, steps, stored = whole
    drawn = {key: entry.values.tolist() for key, entry in stored.items()}
    last = len(steps) - 1
    for at in (0, 1, 4, last):  # after each stage
        state = json.loads(json.dumps(steps[at].state))
        rest = list(METHOD.run(dataclasses.replace(given, state=state)))
        assert outputs(steps[: at + 1]) + outputs(rest) == outputs(steps)
    # a choice is never drawn again
    assert {key: entry.values.tolist() for key, entry in stored.items()} == drawn
    assert len(drawn) == 2


def test_the_choice_is_made_with_the_reserved_noise(models, whole):
    given, _, stored = whole
    sigma = given.guarantee.noise["selection"]["sigma"]
    assert {(s.event.type, s.event.noise_multiplier) for s in stored.values()} == {("selection", sigma)}
    kept = MemoryOutputs()
    exact = QUICK.model_copy(update={"noise": "exact", "epsilon": 2.0})
    # the first batch is chosen for in the second step
    list(zip(METHOD.run(context(models, parameters=exact, count=1, outputs=kept)), range(2)))
    assert [(s.event.noise_multiplier, s.event.epsilon) for s in kept.stored.values()] == [(None, 2.0)]


def test_utilities_are_bounded_and_candidates_pruned(whole):
    _, steps, _ = whole
    for step in steps:
        if step.stage == "abstracting":
            for entry in step.state["pending"]:
                assert len(entry["texts"]) == len(entry["utilities"]) <= QUICK.candidates
                assert all(0 <= u <= 1 for u in entry["utilities"])
            counts = step.diagnostics["abstraction"]
            assert counts["written"] >= counts["seeds"] * QUICK.oversampling


def test_scores_allow_moving_thresholds_afterwards(whole):
    from engine.methods.rpsg.filters import moved

    _, steps, _ = whole
    found = next(step.diagnostics for step in steps if step.stage == "comparing")
    assert {len(found["scores"][name]) for name in ("similarity", "nearest", "nll")} == {5}
    again = moved(found["scores"], QUICK.similarity_keep, QUICK.nll_keep)
    assert again["positions"] == found["scores"]["retained"]
    assert moved(found["scores"], 1.0, 1.0)["positions"] == [0, 1, 2, 3, 4]
    assert all(n >= o - 1e-6 for n, o in zip(found["scores"]["nearest"], found["scores"]["similarity"], strict=True))
    table = {(r["similarity_keep"], r["nll_keep"]): r for r in found["attack"]["nearest_output"]}
    assert table[1.0, 1.0]["retained"] == 5
    assert all(0 <= row["auc"] <= 1 for row in table.values())


def test_no_text_of_a_record_is_in_the_diagnostics(whole):
    given, steps, _ = whole
    written = json.dumps([step.diagnostics for step in steps])
    words = {word for text in given.records["text"] for word in text.split() if len(word) > 7}
    assert not [word for word in words if word in written]


def test_cancel_stops_before_the_next_stage_and_within_training(models, whole):
    given, steps, _ = whole
    asked = []
    assert len(list(METHOD.run(context(models, cancelled=lambda: asked.append(1) or len(asked) > 1)))) == 1
    answers = iter([False, True])  # before comparing, then before the first training batch
    state = json.loads(json.dumps(steps[3].state))
    assert list(METHOD.run(dataclasses.replace(given, state=state, cancelled=lambda: next(answers)))) == []


def test_fitting_a_model_says_how_far_it_is(whole):
    given, steps, _ = whole
    told = []
    state = json.loads(json.dumps(steps[3].state))
    given = dataclasses.replace(given, state=state, progress=lambda stage, done, total: told.append((done, total)))
    next(iter(METHOD.run(given)))
    assert told == [(i + 1, len(told)) for i in range(len(told))]
    assert len(told) >= QUICK.epochs


def test_a_missing_part_is_named(models):
    with pytest.raises(InternalError, match="mechanisms"):
        list(METHOD.run(dataclasses.replace(context(models), mechanisms=None)))
    with pytest.raises(UserError, match="at least one training record"):
        list(METHOD.run(context(models, records=pd.DataFrame(columns=["record_id", "text", "source_id", "label"]))))


@pytest.mark.parametrize(
    ("epsilon", "sigma", "single", "joint"),
    [  # Table 6; exact ε of its σ at sensitivity 1 and √5
        (4.0, 1.201, 3.51, 9.07),
        (2.0, 2.401, 1.61, 3.99),
        (1.0, 4.802, 0.75, 1.82),
    ],
)
def test_sigma_is_the_papers_and_its_exact_epsilon_is_shown(epsilon, sigma, single, joint):
    found = METHOD.guarantee(RpsgParameters(epsilon=epsilon), REDDIT)
    assert found.kind == "selection-only"
    assert found.epsilon is None
    assert found.noise["selection"]["sigma"] == pytest.approx(sigma, abs=1e-3)
    assert found.accounting["epsilon_sensitivity_1"] == pytest.approx(single, abs=0.005)
    assert found.accounting["epsilon_sensitivity_sqrt5"] == pytest.approx(joint, abs=0.005)
    assert "can still learn what a record tells" in found.sentence
    assert any("proven for ε up to 1" in a for a in found.assumptions) == (epsilon > 1)
    assert [event["type"] for event in found.events] == ["selection"]


def test_exact_noise_states_epsilon_for_given_candidates():
    found = METHOD.guarantee(RpsgParameters(noise="exact", epsilon=2.0), REDDIT)
    assert found.accounting == {"epsilon_given_candidates": 2.0}
    assert found.events[0]["epsilon"] == 2.0
    assert "No guarantee covers the output" in found.sentence


def test_how_often_the_best_wins():
    five = [0.7, 0.75, 0.8, 0.85, 0.9]
    rng = np.random.default_rng(0)
    for sigma in (0.1, 1.2, 4.8):
        drawn = (np.array(five) + rng.normal(scale=sigma, size=(200_000, 5))).argmax(axis=1)
        assert best_wins(five, sigma) == pytest.approx((drawn == 4).mean(), abs=0.005)
    assert best_wins(five, 1e6) == pytest.approx(0.2, abs=1e-4)
    assert best_wins_exact([0.0, 1.0], 2.0) == pytest.approx(np.e / (np.e + 1))


def test_plan_says_what_the_noise_leaves():
    plan = METHOD.plan(RpsgParameters(), REDDIT, 300)
    assert "wins 22% of the draws with noise of σ = 1.20 (chance 20%)" in plan.notes[0]
    assert plan.model_calls == needed(300, 0.65, 0.55) * 12
    assert not any("seed of several outputs" in note for note in plan.notes)
    assert any("seed of several outputs" in note for note in METHOD.plan(RpsgParameters(), Facts(20, 20), 300).notes)


@pytest.mark.parametrize(
    ("made", "similarity_keep", "nll_keep", "remaining"),
    [(2000, 0.65, 0.55, 715), (900, 0.8, 0.25, 180), (10, 1.0, 1.0, 10), (5, 0.8, 0.75, 3), (1, 0.4, 0.4, 1)],
)
def test_proportions_are_what_is_retained(made, similarity_keep, nll_keep, remaining):
    assert left(made, similarity_keep, nll_keep) == remaining
    least = needed(remaining, similarity_keep, nll_keep)
    assert least <= made
    assert left(least, similarity_keep, nll_keep) >= remaining
    assert least == 1 or left(least - 1, similarity_keep, nll_keep) < remaining


@pytest.mark.parametrize(
    ("tone", "expected"),
    [("positive", "Keep positive tone: a b"), ("negative", "Keep negative tone: a b"), ("neutral", "a b")],
)
def test_the_control_phrase_stands_before_the_seed(tone, expected):
    assert controlled("a b", tone) == expected


def test_presets_are_table_8_and_may_be_overruled():
    assert RpsgParameters().settings() == PRESETS["reddit-phi-4"]
    assert len(PRESETS) == 10
    mixed = RpsgParameters(preset="pubmed-deepseek-r1", nll_keep=1.0).settings()
    assert (mixed.epochs, mixed.rate, mixed.similarity_keep, mixed.nll_keep) == (3, 4e-4, 0.45, 1.0)


@pytest.mark.parametrize(
    "values", [{"candidates": 11}, {"minimum_tokens": 200}, {"preset": "none"}, {"noise": "none"}, {"nll_keep": 0}]
)
def test_rules_of_the_parameters(values):
    with pytest.raises(UserError):
        parse_parameters(METHOD.spec, values)


def test_the_sentiment_of_abstractions_choices_and_outputs_is_counted_beside_the_seeds(whole):
    from engine.examine.findings.run_notes import read
    from engine.jobs.tasks.synthesize import added

    _, steps, _ = whole
    noted: dict = {}
    for step in steps:
        noted = added(noted, step.diagnostics)
    found = {note.name: note for note in read(noted)}
    assert set(found) == {"tone_candidates", "tone_chosen", "tone_outputs", "best_chosen"}
    kept = sum(len(entry["texts"]) for step in steps if step.stage == "abstracting" for entry in step.state["pending"])
    assert found["tone_candidates"].values["n"] == kept
    assert (found["tone_chosen"].values["n"], found["tone_outputs"].values["n"]) == (5, 3)
    assert all(0.0 <= note.values["chance"] <= 1.0 for note in found.values())


class Spy:
    """A generator that notes how it is asked, and answers with the prompt's last words and the draw."""

    id = "spy"
    capabilities = frozenset()

    def __init__(self):
        self.asked = []

    def generate(self, prompts, sampling, constraints=None):
        from engine.models.contracts import Generation

        self.asked.append(sampling)
        return [Generation(f"{p[-40:]} drawn {sampling.seed} {i} at will", 9, "stop") for i, p in enumerate(prompts)]


def spied(models, seeds, position=0, **changes):
    from engine.methods.rpsg.stages import Models, Writer
    from engine.models.builtin.sentiment import load_sentiment

    spy = Spy()
    sentiment = load_sentiment("builtin", models["embedder"])
    parts = Models(spy, models["operators"], models["embedder"], sentiment)
    parameters = RpsgParameters(retry=False, **changes)
    pools = Writer(parts, parameters, "clinical", 7).pools(seeds, [None] * len(seeds), position)
    return spy, [pool.texts for pool in pools]


LONG = "the arm was red and swollen for several days after the second dose and then got better " * 4


def test_neighbours_in_a_batch_never_change_a_records_abstraction(models):
    alone_spy, (alone,) = spied(models, [LONG])
    spy, (beside, _) = spied(models, [LONG, "a short note"])
    assert alone == beside
    assert [s.min_new_tokens for s in alone_spy.asked] == [50]
    assert [s.min_new_tokens for s in spy.asked] == [50, 2], "one short record switches the floor off for itself alone"
    (second,) = spied(models, ["a short note"], position=1)[1]
    assert spied(models, [LONG, "a short note"])[1][1] == second


def test_texts_are_drawn_with_a_penalty_on_repetition(models):
    from engine.methods.rpsg.stages import REPETITION_PENALTY, TOP_P

    spy, _ = spied(models, [LONG])
    assert {(s.top_p, s.repetition_penalty) for s in spy.asked} == {(TOP_P, REPETITION_PENALTY)}
    assert REPETITION_PENALTY > 1.0


@pytest.mark.slow
def test_outputs_stutter_no_more_and_keep_what_their_seed_denies(models):
    """On made-up notes, from abstraction to output; before, one output in sixteen repeated itself thrice."""
    from engine.methods.rpsg.stages import Models, Writer, length_wanted
    from engine.models.builtin.sentiment import load_sentiment
    from tests.methods.planted_denials import NOTES, polarity_of, stutters

    parts = Models(
        models["generator"], models["operators"], models["embedder"], load_sentiment("builtin", models["embedder"])
    )
    writer = Writer(parts, RpsgParameters(), "clinical", 7)
    pools = writer.pools(NOTES, [None] * len(NOTES), 0)
    assert polarity_of(NOTES, [pool.texts[0] for pool in pools])["turned"] == 0
    words = [length_wanted(note) for note in NOTES]
    variants = writer.written("expand", [pool.texts[0] for pool in pools], [None] * len(NOTES), words, (0, 1))
    outputs = writer.written("rephrase", variants, [None] * len(NOTES), words, (0, 2))
    assert sum(map(stutters, outputs)) <= 1
    found = polarity_of(NOTES, variants)
    assert found["kept"] > found["turned"]
