"""RPSG with public candidates: its bound, its noise, and that records are reached through mechanisms only."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from engine.corpus.samples import load_sample
from engine.dp.accounting.closed_form import default_delta, epsilon, gaussian_mu
from engine.dp.events import Event
from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms, PrivateData
from engine.errors import InternalError
from engine.methods.base import Context, Facts
from engine.methods.rpsg.parameters import RpsgPublicParameters
from engine.methods.rpsg.public import RpsgPublicMethod
from engine.methods.rpsg.public_run import quotas

METHOD = RpsgPublicMethod()
QUICK = RpsgPublicParameters(candidates=2, words=12, epochs=1, nll_keep=0.75)
LABELS = ("billing", "delivery")


@pytest.fixture(scope="module")
def models():
    from engine.models.builtin.embedder import load_embedder
    from engine.models.builtin.language_model import load_builtin_generator
    from engine.models.prompts.operators_builtin import BuiltinOperators

    return {
        "generator": load_builtin_generator(threads=1),
        "embedder": load_embedder(),
        "operators": BuiltinOperators(),
    }


def mechanisms(models, outputs):
    """Real mechanisms over twelve records of two labels."""
    records = load_sample("support_tickets").head(12)[["record_id", "text", "source_id"]].reset_index(drop=True)
    records["label"] = [LABELS[i % 2] for i in range(len(records))]
    data = PrivateData(records, unit="record", cap=1, embed=models["embedder"].embed, order_key=b"k" * 32)
    return Mechanisms(data, outputs, unit="record", cap=1)


def context(models, **changes):
    parameters = changes.pop("parameters", QUICK)
    facts = Facts(records=12, units=12, labels=2)
    base = Context(
        records=pd.DataFrame(columns=["record_id", "text", "source_id", "label"]),
        spans=pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"]),
        count=3,
        parameters=parameters,
        seed=5,
        batch_size=6,
        mechanisms=mechanisms(models, changes.pop("outputs", None) or MemoryOutputs()),
        facts=facts,
        labels=LABELS,
        guarantee=METHOD.guarantee(parameters, facts),
        **models,
    )
    return dataclasses.replace(base, **changes)


@pytest.fixture(scope="module")
def whole(models):
    stored = MemoryOutputs()
    given = context(models, outputs=stored)
    return given, list(METHOD.run(given)), stored.stored


def outputs(steps):
    return [record for step in steps for record in step.records]


def test_outputs_come_without_any_record(whole):
    _, steps, _ = whole
    assert len(outputs(steps)) == 3
    assert {record.lineage for record in outputs(steps)} == {None}
    assert {record.label for record in outputs(steps)} <= set(LABELS)
    for step in steps:
        drops = sum(n for name, n in step.funnel.items() if name.startswith("dropped"))
        assert step.funnel["made"] == step.funnel["kept"] + drops
    assert {step.stage for step in steps} == {
        "sharing", "inventing", "voting", "writing", "comparing", "releasing",
    }  # fmt: skip


def test_what_was_drawn_is_what_the_guarantee_names(whole):
    given, _, stored = whole
    assert set(stored) == {"labels", "votes"}
    drawn = [stored[key].event for key in ("labels", "votes")]
    promised = [Event.from_dict(event) for event in given.guarantee.events]
    assert [e.noise_multiplier for e in drawn] == pytest.approx([e.noise_multiplier for e in promised])
    assert epsilon(gaussian_mu(drawn), given.guarantee.delta) <= given.guarantee.epsilon + 1e-6


def test_resume_from_every_step_gives_the_same_and_draws_nothing(whole):
    given, steps, stored = whole
    before = {key: value.values.tolist() for key, value in stored.items()}
    stages = [step.stage for step in steps]
    for at in (0, stages.index("voting"), stages.index("comparing")):
        state = json.loads(json.dumps(steps[at].state))
        rest = list(METHOD.run(dataclasses.replace(given, state=state)))
        assert outputs(steps[: at + 1]) + outputs(rest) == outputs(steps)
    assert {key: value.values.tolist() for key, value in stored.items()} == before


def test_declared_shares_are_opened_without_noise(models):
    kept = MemoryOutputs()
    given = context(models, parameters=QUICK.model_copy(update={"labels": "public"}), outputs=kept)
    first = next(METHOD.run(given))
    assert first.state["quotas"] == quotas([6, 6], QUICK.wanted(3))
    assert kept.stored["labels"].event.type == "declared"


def test_without_the_guarantee_nothing_runs(models):
    with pytest.raises(InternalError, match="guarantee"):
        list(METHOD.run(context(models, guarantee=None)))


@pytest.mark.parametrize(
    ("changes", "facts", "sigmas"),
    [
        # one release at ε = 4, 2, 1 with N = 8,948: 1.071, 1.972, 3.684 (analytic Gaussian)
        ({"epsilon": 4.0}, Facts(8948, 8948), {"votes": 1.071}),
        ({"epsilon": 1.0}, Facts(8948, 8948), {"votes": 3.684}),
        ({"epsilon": 1.0}, Facts(8948, 8948, unit="source", cap=5), {"votes": 18.42}),
        ({"epsilon": 1.0, "adjacency": "replace-one"}, Facts(8948, 8948), {"votes": 5.210}),
        # labels bought with 5% of μ²: votes get √(1/0.95) of the noise, the histogram √(1/0.05)
        ({"epsilon": 1.0}, Facts(8948, 8948, labels=12), {"labels": 16.47, "votes": 3.780}),
        ({"epsilon": 1.0, "labels": "public"}, Facts(8948, 8948, labels=12), {"votes": 3.684}),
    ],
)
def test_noise_follows_the_closed_form(changes, facts, sigmas):
    found = METHOD.guarantee(RpsgPublicParameters(**changes), facts)
    assert found.kind == "dp"
    assert {name: entry["sigma"] for name, entry in found.noise.items()} == pytest.approx(sigmas, rel=1e-3)
    assert found.delta == default_delta(8948)
    spent = gaussian_mu([Event.from_dict(event) for event in found.events])
    # Under replace-one the multiplier refers to the doubled distance, so the composition reads the same.
    assert epsilon(spent, found.delta) == pytest.approx(found.epsilon, rel=1e-6)
    assert found.accounting["epsilon_pld"] == pytest.approx(found.epsilon, rel=1e-6)


@pytest.mark.parametrize(
    ("changes", "labels", "read"),
    [
        ({}, 0, "one count of votes for each candidate"),
        ({}, 12, "a histogram of labels and one count of votes for each candidate"),
        ({"labels": "public"}, 12, "one count of votes for each candidate"),
        (
            {"label_list": "bought"},
            0,
            "a list of labels and one count of votes for each candidate",
        ),
    ],
)
def test_all_that_private_text_is_read_for_is_named(changes, labels, read):
    found = METHOD.guarantee(RpsgPublicParameters(**changes), Facts(8948, 8948, labels=labels))
    assert f"Private text is read for {read} only" in found.sentence
    drawn = [event for event in found.events if event["type"] != "declared"]
    assert len(drawn) == 1 + read.count(" labels ")


def test_every_public_input_is_named():
    facts = Facts(400, 100, unit="source", cap=3, labels=4)
    text = " ".join(METHOD.guarantee(RpsgPublicParameters(labels="public"), facts).assumptions)
    for part in ("100", "generic", "70", "list of 4 labels", "declared public", "at most 3 records"):
        assert part in text


def test_the_plan_warns_where_votes_drown():
    noisy = METHOD.plan(RpsgPublicParameters(epsilon=0.5), Facts(400, 400), 300).notes
    clear = METHOD.plan(RpsgPublicParameters(epsilon=8.0), Facts(50_000, 50_000), 50).notes
    assert any("drown" in note for note in noisy)
    assert not any("drown" in note for note in clear)


@pytest.mark.parametrize(
    ("shares", "total", "expected"),
    [
        ([1.0, 1.0], 3, [2, 1]),
        ([-5.0, 10.0], 4, [0, 4]),
        ([0.0, -1.0], 2, [1, 1]),
        ([6.0, 3.0, 1.0], 10, [6, 3, 1]),
        ([1.0], 5, [5]),
    ],
)
def test_quotas_sum_to_the_total(shares, total, expected):
    assert quotas(np.array(shares), total) == expected


def test_tones_are_asked_for_in_turn_only_where_a_model_follows_instructions(models, whole):
    from engine.examine.findings.run_notes import read
    from engine.models.contracts import Generation
    from engine.models.prompts.operators_instruct import InstructOperators

    class Obedient:
        id, capabilities = "obedient", frozenset({"instruct"})

        def __init__(self):
            self.asked = []

        def generate(self, prompts, sampling, constraints=None):
            self.asked += prompts
            return [
                Generation(
                    "This was awful and rude." if "tone is negative" in p else "It was great, thank you.", 6, "stop"
                )
                for p in prompts
            ]

    given = context(models)
    obedient = Obedient()
    follows = dataclasses.replace(given, generator=obedient, operators=InstructOperators(), count=4)
    steps = METHOD.run(follows)
    next(steps)
    step = next(steps)
    tones = ["negative", "neutral", "positive"]
    assert all(f"Its tone is {tones[i % 3]}." in prompt for i, prompt in enumerate(obedient.asked))
    (note,) = read(step.diagnostics)
    assert note.name == "tone_invented"
    assert note.values["chance"] == pytest.approx(1 / 3)
    assert note.values["value"] > 0.5
    _, built_in, _ = whole
    assert not any("tone" in step.diagnostics for step in built_in), "the built-in model has no word for a tone"
