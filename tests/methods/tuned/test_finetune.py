"""The methods that fit a model: claims, plans, what the budget buys, prompts, shares, folders, goldfish, kills."""

import dataclasses
import math
from functools import cache

import pandas as pd
import pytest
import torch

from engine.corpus.samples import load_sample
from engine.dp.accounting.accountant import CachedAccountant, ExactAccountant
from engine.dp.accounting.accounts import AccountingPending
from engine.dp.events import Event
from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms, PrivateData
from engine.errors import InternalError, UserError
from engine.methods import get_method
from engine.methods.advice.signal import vote_signal
from engine.methods.base import Context, Facts, parse_parameters
from engine.methods.tuned import common as ft
from engine.methods.tuned.claim import figures, values_trained
from engine.methods.tuned.dp_finetune import _Run
from engine.models.builtin.format import LENGTH_EDGES, length_token
from engine.models.catalogue import Catalogue, lacks
from engine.models.folder.imports import import_folder
from engine.models.folder.inspection import inspect_folder
from engine.models.prompts.operators_builtin import BuiltinOperators
from engine.models.prompts.operators_instruct import InstructOperators
from engine.models.tune.tunable import Adapter, BuiltinTunable
from tests.models.small_lm import small_generator
from tests.models.tiny_models import make_chat, make_llama

FACTS = Facts(16_500, 16_500, labels=5, mean_characters=160.0)
FEW = Facts(12, 12, labels=4, mean_characters=400.0)
QUICK = {"rank": 2, "tokens": 16, "temperature": 1.0, "words": 12}
PRIVATE = QUICK | {"steps": 3, "units_a_step": 12, "epsilon": 2.0}
PLAIN = QUICK | {"epochs": 2, "records_a_step": 4}


def parsed(method, **parameters):
    return parse_parameters(get_method(method).spec, parameters)


def claim(facts=FACTS, **parameters):
    return claim_of("dp-finetune", parameters, facts)


def claim_of(method, parameters, facts):
    return _claim(method, facts, tuple(sorted(parameters.items())))


@cache  # exact accounting takes seconds
def _claim(method, facts, parameters):
    return get_method(method).guarantee(parsed(method, **dict(parameters)), facts)


def table(count=12):
    return (
        load_sample("support_tickets").head(count)[["record_id", "text", "source_id", "label"]].reset_index(drop=True)
    )


def context(method, parameters, records=None, outputs=None, unit="record", **changes):
    records = table() if records is None else records
    known, values = get_method(method), parsed(method, **parameters)
    labels = tuple(sorted({x for x in records["label"] if isinstance(x, str)}))
    facts = Facts(len(records), len(records), unit, 1, len(labels), 400.0)
    formal = known.spec.kind == "dp"
    data = PrivateData(records, unit=unit, order_key=b"k" * 32) if formal else None
    outputs = MemoryOutputs() if outputs is None else outputs
    base = Context(
        records=records.iloc[:0] if formal else records, spans=pd.DataFrame(), count=6, parameters=values, seed=3,
        unit=unit, generator=small_generator(), operators=BuiltinOperators(), labels=labels, facts=facts,
        mechanisms=Mechanisms(data, outputs, unit=unit), guarantee=claim_of(method, parameters, facts),
        batch_size=2,
    )  # fmt: skip
    return dataclasses.replace(base, **changes)


def made(method, given):
    return [record for step in get_method(method).run(given) for record in step.records]


# --- the claim ---


def test_the_claim_has_one_event_for_all_steps_and_adds_up():
    found = claim(epsilon=8.0, steps=20)
    events = {event["what"]: Event.from_dict(event) for event in found.events}
    assert list(events) == ["label histogram", "length histogram", "gradients of training"]
    training = events["gradients of training"]
    assert (training.count, training.geometry, training.sensitivity) == (20, "vectors", 0.5)
    assert training.sampling_probability == pytest.approx(128 / 16_500)
    delta = 1 / (16_500 * math.log(16_500))
    assert found.delta == pytest.approx(delta)
    total = ExactAccountant().account(list(events.values()), delta).epsilon
    assert total == pytest.approx(found.accounting["epsilon_pld"], rel=1e-9)
    assert 7.9 < total <= 8.0
    # three in a hundred of μ² each
    assert events["label histogram"].noise_multiplier == events["length histogram"].noise_multiplier
    for part in ("20 training steps", "0.78% of the records", "histogram of labels", "histogram of lengths"):
        assert part in found.sentence
    assert any("floating-point" in one for one in found.assumptions)
    assert any("last step" in one for one in found.assumptions)
    assert any("computed beside it, but for the rounding of float32" in one for one in found.assumptions)
    assert any("loss curve" in one for one in found.voided_by)


def test_without_shares_to_buy_the_known_noise_comes_out():
    found = claim(
        Facts(100_000, 100_000),
        epsilon=1.828,
        delta=1e-5,
        steps=1000,
        units_a_step=1000,
        lengths="public",
        large_delta=True,
    )
    assert len(found.events) == 1
    assert found.noise["training"]["noise_multiplier"] == pytest.approx(1.0, abs=2e-3)
    assert found.noise["training"]["sigma"] == pytest.approx(0.5, abs=1e-3)


def test_a_public_share_is_an_event_without_cost_and_an_assumption():
    found = claim(Facts(100, 100, labels=3), labels="public", lengths="public", units_a_step=100)
    assert [event["type"] for event in found.events] == ["declared", "gaussian"]
    assert "The label shares were declared public." in found.assumptions
    assert any("60 words, is public" in one for one in found.assumptions)


@pytest.mark.parametrize(("unit", "cap", "votes", "gradient"), [("record", 1, 1.0, 0.5), ("source", 5, 5.0, 0.5)])
def test_a_source_counts_once_in_training_and_with_all_its_records_in_histograms(unit, cap, votes, gradient):
    found = claim(Facts(400, 100, unit, cap, 4), units_a_step=100)
    sensitivity = {event["what"]: event["sensitivity"] for event in found.events}
    assert sensitivity == {"label histogram": votes, "length histogram": votes, "gradients of training": gradient}


def test_replace_one_takes_gradients_as_opposed():
    whole = {"units_a_step": 100, "lengths": "public", "labels": "public"}
    one, two = (
        claim(Facts(100, 100), adjacency=name, **whole).noise["training"] for name in ("zero-out", "replace-one")
    )
    assert two["sensitivity"] == 2 * one["sensitivity"]
    assert two["sigma"] == pytest.approx(2 * one["sigma"], rel=1e-6)


def test_a_sampled_schedule_is_left_to_the_worker():
    method = get_method("dp-finetune")
    with pytest.raises(AccountingPending):
        method.guarantee(parsed("dp-finetune"), FACTS, CachedAccountant(lambda _: None))
    assert method.guarantee(parsed("dp-finetune"), Facts(100, 100), CachedAccountant(lambda _: None)).kind == "dp"


def test_the_references_promise_nothing():
    for name, kind in (("finetune", "none"), ("goldfish", "heuristic")):
        found = get_method(name).guarantee(parsed(name), FACTS)
        assert (found.kind, found.epsilon, found.events) == (kind, None, ())


# --- the plan and what the budget buys ---


def test_the_plan_says_steps_tokens_and_seconds_without_accounting():
    plan = get_method("dp-finetune").plan(parsed("dp-finetune"), FACTS, 300)
    tokens = 128 * 200 * 160 / 3.3
    assert f"200 training steps of 128 records on average, about {tokens:,.0f} tokens" in plan.notes[0]
    assert plan.seconds > tokens * ft.SECONDS_A_TRAINED_TOKEN
    assert [line["what"] for line in plan.ledger] == ["label histogram", "length histogram", "gradients of training"]
    assert "noise_multiplier" not in plan.ledger[-1]
    plain = get_method("finetune").plan(parsed("finetune"), FACTS, 300)
    assert f"{3 * math.ceil(16_500 / 16):,} training steps" in plain.notes[0]
    whole = get_method("finetune").plan(parsed("finetune", rank=0), FACTS, 300)
    assert whole.seconds > plain.seconds


def asked(facts=FACTS, **parameters):
    values = parsed("dp-finetune", **parameters)
    sigma = 2.0 * values.clip
    noise = {"training": {"sigma": sigma, "noise_multiplier": 2.0}}
    return {"method": "dp-finetune", "parameters": values.model_dump(), "facts": vars(facts), "noise": noise}


def test_what_the_budget_buys_is_the_clipped_sum_against_the_noise():
    found = figures(asked(units_a_step=1000, steps=400))
    values = {row["figure"]: row["value"] for row in found["rows"]}
    signal = 1000 / (2.0 * math.sqrt(values_trained(parsed("dp-finetune"))))
    assert values["Signal of a step at best: C·B / (σ·√d)"] == f"{signal:.2g}"
    assert values["The same over all steps, times √T"] == f"{signal * 20:.2g}"
    assert values["Passes over the corpus, q·T"] == f"{1000 / 16_500 * 400:.2g}"
    assert found["advice"] == []
    assert vote_signal(asked(units_a_step=1000, steps=400), None) == found
    poor = figures(asked(Facts(20, 20), units_a_step=64, steps=1))
    assert any("drowns" in one for one in poor["advice"])
    assert any("20 records" in one for one in poor["advice"])


@pytest.mark.parametrize("changes", [{}, {"rank": 4}, {"layers": "attention"}, {"rank": 0}])
def test_the_number_of_trained_weights_is_the_networks(changes):
    from engine.models.builtin.decoder.lora import LAYERS
    from engine.models.builtin.language_model import load_builtin_generator

    p = parsed("dp-finetune", **changes)
    layers = LAYERS if p.layers == "all" else LAYERS[:4]
    net = BuiltinTunable(load_builtin_generator(), Adapter(p.rank, p.alpha, layers))
    assert values_trained(p) == sum(weight.numel() for _, weight in net.trained())


# --- prompts, lengths, labels ---


def test_training_and_writing_ask_alike():
    prompts = ft.TunedPrompts(BuiltinOperators(), False, "clinical", "note")
    assert prompts.head("yes", 57) == prompts.prompt("invent", label="yes", words=60)
    assert "yes" in prompts.head("yes", 57)
    bare = ft.TunedPrompts(InstructOperators(), True, "clinical", "")
    assert bare.head("yes", 57) == bare.prompt("invent", label="yes", words=60) == "Clinical, yes, up to 60 words.\n\n"


def test_each_length_stands_for_its_class():
    for words in range(1, 700):
        assert length_token(ft.length_of(words)) == length_token(words)
    assert len(ft.LENGTHS) == len(LENGTH_EDGES) + 1


def test_lengths_and_labels_come_in_the_bought_shares():
    records = pd.DataFrame(
        [(f"r{i}", "word " * (7 if i % 4 else 45), None, "ab"[i % 4 == 0]) for i in range(400)],
        columns=["record_id", "text", "source_id", "label"],
    )
    given = context("dp-finetune", PRIVATE | {"epsilon": 90.0, "units_a_step": 400}, records, count=200)
    run = _Run(given)
    wanted = run.wanted()
    lengths, labels = ([one[i] for one in wanted] for i in (1, 0))
    assert lengths.count(8) == pytest.approx(150, abs=8)
    assert lengths.count(50) == pytest.approx(50, abs=8)
    assert labels.count("a") == pytest.approx(150, abs=8)
    assert len(wanted) == 200
    again = _Run(dataclasses.replace(given, mechanisms=given.mechanisms)).wanted()
    assert again == wanted  # the stored counts, in the order of the seed


def test_declared_shares_are_opened_as_declared():
    given = context("dp-finetune", PRIVATE | {"labels": "public", "lengths": "public"})
    run = _Run(given)
    assert {words for _, words in run.wanted()} == {12}
    assert [event.type for event in given.mechanisms.events] == ["declared"]


# --- runs ---


def test_a_private_run_sees_no_record_and_goes_on_from_every_step(tmp_path):
    outputs = MemoryOutputs()
    watched = PRIVATE | {"watch_loss": True}
    given = context("dp-finetune", watched, outputs=outputs, scratch=tmp_path)
    assert given.records.empty
    steps = list(get_method("dp-finetune").run(given))
    whole = [record for step in steps for record in step.records]
    assert len(whole) == 6
    assert [step.stage for step in steps[:3]] == ["training"] * 3
    assert len(steps[2].diagnostics["training_losses"]) == 3
    assert (tmp_path / ft.TUNED / "model.safetensors").is_file()
    for at, step in enumerate(steps):
        before = [record for one in steps[: at + 1] for record in one.records]
        rest = made("dp-finetune", context("dp-finetune", watched, outputs=outputs, scratch=tmp_path, state=step.state))
        assert before + rest == whole


def test_a_run_whose_weights_are_lost_is_refused(tmp_path):
    outputs = MemoryOutputs()
    given = context("dp-finetune", PRIVATE, outputs=outputs, scratch=tmp_path)
    next(get_method("dp-finetune").run(given))
    (tmp_path / "training" / "training.safetensors").unlink()
    with pytest.raises(UserError, match="cannot begin again"):
        made("dp-finetune", context("dp-finetune", PRIVATE, outputs=outputs, scratch=tmp_path))


def test_noise_is_what_was_reserved_and_not_calibrated_anew():
    given = context("dp-finetune", PRIVATE)
    noise = {name: dict(level) for name, level in given.guarantee.noise.items()}
    noise["training"]["noise_multiplier"] = 123.0
    run = _Run(dataclasses.replace(given, guarantee=dataclasses.replace(given.guarantee, noise=noise)))
    assert run.asked.noise_multiplier == 123.0


@pytest.mark.parametrize("method", ["finetune", "goldfish"])
def test_a_plain_run_learns_and_goes_on_from_every_step(method, tmp_path):
    given = context(method, PLAIN | {"rate": 0.02, "epochs": 4}, scratch=tmp_path)
    steps = list(get_method(method).run(given))
    whole = [record for step in steps for record in step.records]
    losses = [step for step in steps if step.stage == "training"][-1].diagnostics["training_losses"]
    assert len(losses) == 12
    assert sum(losses[-3:]) < sum(losses[:3])
    labels = set(given.records["label"])
    assert {record.label for record in whole} <= labels
    for at in (0, 5, 11, len(steps) - 2):
        state, before = steps[at].state, [record for one in steps[: at + 1] for record in one.records]
        for scratch in (tmp_path, None) if at == 5 else (tmp_path,):
            rest = made(method, context(method, PLAIN | {"rate": 0.02, "epochs": 4}, scratch=scratch, state=state))
            assert before + rest == whole


def test_goldfish_leaves_tokens_out_and_plain_training_does_not():
    losses = {}
    for method in ("finetune", "goldfish"):
        steps = list(get_method(method).run(context(method, PLAIN)))
        losses[method] = [s for s in steps if s.stage == "training"][-1].diagnostics["training_losses"]
    assert losses["finetune"][0] != losses["goldfish"][0]


def test_a_folder_is_tuned_through_peft(tmp_path):
    folder = make_chat(tmp_path / "tiny")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    parameters = PRIVATE | {"tuned_model": str(folder), "rate": 0.01}
    found = made("dp-finetune", context("dp-finetune", parameters, scratch=tmp_path / "scratch", count=3))
    assert len(found) == 3
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    kept = tmp_path / "scratch" / ft.TUNED
    assert (kept / "model.safetensors").is_file()
    assert (kept / "model.safetensors").read_bytes() != before["model.safetensors"]


@pytest.mark.parametrize(("method", "make", "rank"), [("dp-finetune", make_chat, 0), ("finetune", make_llama, 2)])
def test_a_model_added_to_the_workspace_is_tuned(method, make, rank, tmp_path):
    import_folder(make(tmp_path / "source"), tmp_path / "models", "tiny")
    known = Catalogue(tmp_path / "models", {})
    assert lacks(known.info("folder:tiny"), method, get_method(method).spec.needs) == []
    chosen, operators = known.load("folder:tiny"), known.operators("folder:tiny")
    before = {name: value.clone() for name, value in chosen.model.state_dict().items()}
    parameters = (PRIVATE if method == "dp-finetune" else PLAIN) | {"rank": rank, "rate": 0.01}
    scratch = tmp_path / "scratch"
    found = made(method, context(method, parameters, generator=chosen, operators=operators, scratch=scratch, count=3))
    assert len(found) == 3
    assert all(torch.equal(value, before[name]) for name, value in chosen.model.state_dict().items())
    tuned = inspect_folder(scratch / ft.TUNED)
    assert tuned.architecture == known.info("folder:tiny").architecture
    assert tuned.kind == "causal"


def test_every_weight_can_be_trained():
    found = made("dp-finetune", context("dp-finetune", PRIVATE | {"rank": 0, "rate": 1e-3}))
    assert len(found) == 6


def test_no_label_needs_none():
    records = table().assign(label=None)
    given = context("dp-finetune", PRIVATE, records)
    assert {record.label for record in made("dp-finetune", given)} == {None}
    assert {event.what for event in given.mechanisms.events} == {"gradients of training", "length histogram"}


def test_what_cannot_run_says_why():
    with pytest.raises(UserError, match="at least 1, is 0"):
        made("finetune", context("finetune", PLAIN, table().iloc[:0]))
    with pytest.raises(UserError, match="at least one record"):
        made("finetune", context("finetune", PLAIN, table(2).assign(text=" ")))
    with pytest.raises(InternalError, match="guarantee"):
        made("dp-finetune", context("dp-finetune", PRIVATE, guarantee=None))
    with pytest.raises(InternalError, match="generator"):
        made("finetune", context("finetune", PLAIN, generator=None))
