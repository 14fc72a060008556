"""One suite over every registered method, on the shipped models and a made-up corpus."""

import dataclasses
import json
from functools import cache
from typing import get_args

import pytest

from engine.corpus.samples import load_sample
from engine.dp.guarantee import Kind
from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms, PrivateData
from engine.errors import UserError
from engine.methods import REGISTRY, get_method, method_ids
from engine.methods.base import Context, Facts, parse_parameters
from engine.models.prompts.operators_instruct import InstructOperators
from tests.methods.instructed import Instructed

FACTS = Facts(records=400, units=100, unit="source", cap=5, labels=4, mean_characters=900.0)
# Settings that make a run short; everything else stays at its default.
QUICK = {
    "icl": {"max_new_tokens": 24, "minimum_tokens": 4},
    "control-icl": {"max_new_tokens": 24, "minimum_tokens": 4},
    "control-icl-blocked": {"max_new_tokens": 24, "minimum_tokens": 4},
    "control-prefix": {"max_new_tokens": 16, "minimum_tokens": 4, "epochs": 1, "virtual_tokens": 4}
    | {"paragraphs": 1, "parts": 1},
    "control-prefix-masked": {"max_new_tokens": 16, "minimum_tokens": 4, "epochs": 1, "virtual_tokens": 4}
    | {"paragraphs": 1, "parts": 1},
    "public": {"words": 12},
    "aug-pe": {"rounds": 2, "variations": 2, "words": 12},
    "dpga": {"rounds": 2, "population": 12, "longest": 60, "keyword_count": 4, "words": 12},
    "private-prediction": {"batch_size": 4, "texts_a_batch": 6, "tokens": 12, "record_tokens": 24},
    "finetune": {"epochs": 1, "tokens": 24, "rank": 2, "records_a_step": 4},
    "goldfish": {"epochs": 1, "tokens": 24, "rank": 2, "records_a_step": 4},
    "dp-finetune": {"steps": 2, "units_a_step": 4, "tokens": 24, "rank": 2, "words": 12, "lengths": "public"},
    "dp-topics": {"candidates": 2, "words": 12, "lengths": "public"},
    "dp-steer": {"public_texts": 8, "words": 12, "temperature": 1.0},
    "rpsg": {"oversampling": 2, "candidates": 2, "minimum_tokens": 4, "maximum_tokens": 24, "epochs": 1}
    | {"similarity_keep": 0.9, "nll_keep": 0.9},
    "dp-select": {"pool": "made", "promise": {"name": "made", "digest": "0", "texts": 12, "labels": ["billing"]}},
    "paid-choice": {"promise": {"runs": ["r-first", "r-second"], "outputs": 12}},
    "rpsg-public": {"candidates": 2, "words": 12, "epochs": 1, "nll_keep": 0.8},
}
# What a plan needs besides for ten texts out of a hundred units.
PLANNED = {"private-prediction": {"texts_a_batch": 10}}
NEEDS = {
    "generator",
    "operators",
    "embedder",
    "detector",
    "spans",
    "instruct",
    "train",
    "logits",
    "states",
    "block_tokens",
    "pool",
    "runs",
}
RUNS = ("Ticket", "Letter")
POOL = [("The parcel came late and nobody said why.", "billing"), ("Two invoices for one order.", "delivery")] * 6


@pytest.fixture(scope="module")
def corpus():
    """Twelve training records and their gold spans as accepted spans."""
    import pandas as pd

    sample = load_sample("support_tickets").head(12)
    rows = [
        {
            "record_id": r,
            "start": s["start"],
            "end": s["end"],
            "label": s["label"],
            "identifier_type": s["identifier_type"],
        }
        for r, spans in zip(sample["record_id"], sample["spans"], strict=True)
        for s in spans
    ]
    return sample[["record_id", "text", "source_id", "label"]].reset_index(drop=True), pd.DataFrame(rows)


@pytest.fixture(scope="module")
def models():
    """The real built-in models, loaded once."""
    from engine.models.builtin.embedder import load_embedder
    from engine.models.builtin.language_model import load_builtin_generator
    from engine.models.prompts.operators_builtin import BuiltinOperators
    from engine.pii.detect.detector import RecordDetector
    from engine.pii.detect.settings import DetectorSettings

    return {
        "generator": load_builtin_generator(),
        "embedder": load_embedder(),
        "operators": BuiltinOperators(),
        "detector": RecordDetector(DetectorSettings()),
    }


def context(method, corpus, models, **changes):
    """Return a small run's context; methods of kind dp get no record, and mechanisms bound to all of them."""
    records, spans = corpus
    given = {name: models[name] for name in method.spec.needs if name in models}
    if "instruct" in method.spec.needs:  # no such model ships with the program
        given |= {"generator": Instructed(), "operators": InstructOperators()}
    parameters = parse_parameters(method.spec, QUICK.get(method.spec.id))
    labels = tuple(sorted({x for x in records["label"] if isinstance(x, str)}))
    facts = Facts(len(records), records["source_id"].nunique(), "source", 5, len(labels), 400.0)
    dp = method.spec.kind == "dp"
    data = None
    if dp:
        data = PrivateData(records, unit="source", cap=5, embed=models["embedder"].embed, order_key=b"k" * 32)
    base = Context(
        records=records.iloc[:0] if dp else records,
        spans=spans.iloc[:0] if dp else spans,
        count=6,
        parameters=parameters,
        mechanisms=Mechanisms(data, MemoryOutputs(), unit="source", cap=5),
        facts=facts,
        labels=labels,
        guarantee=method.guarantee(parameters, facts),
        seed=3,
        unit="source",
        surrogate_key=b"k" * 32,
        batch_size=3,
        candidates=tuple((f"Ticket {i}: {text}", label) for i, (text, label) in enumerate(POOL)),
        runs=tuple(tuple((f"{word} {i}: {text}", label) for i, (text, label) in enumerate(POOL)) for word in RUNS),
        **given,
    )
    if method.spec.one_to_one:
        base = dataclasses.replace(base, count=len(records))
    return dataclasses.replace(base, **changes)


@pytest.fixture(scope="module")
def ran(corpus, models):
    """Return a function that runs a method once and gives its context and its steps, which nobody changes."""

    @cache
    def once(method_id):
        method = get_method(method_id)
        given = context(method, corpus, models)
        return given, tuple(method.run(given))

    return once


@pytest.mark.parametrize("method_id", method_ids())
def test_specification_is_complete(method_id):
    spec = get_method(method_id).spec
    assert spec.id == method_id
    assert all((spec.title, spec.summary, spec.citation, spec.good_for, spec.bad_for))
    assert spec.kind in get_args(Kind)
    assert set(spec.needs) <= NEEDS
    for name, field in spec.parameters.model_fields.items():
        assert field.description, f"{name} has no description"
    parse_parameters(spec, None)


@pytest.mark.parametrize("method_id", method_ids())
def test_guarantee_says_no_more_than_its_kind(method_id):
    method = get_method(method_id)
    guarantee = method.guarantee(parse_parameters(method.spec, None), FACTS)
    assert guarantee.kind == method.spec.kind
    assert guarantee.unit == FACTS.unit
    if guarantee.kind in {"none", "heuristic"}:
        assert guarantee.epsilon is None
        assert guarantee.delta is None
        assert not guarantee.events
        assert "no formal guarantee" in guarantee.sentence.lower()
    json.dumps(guarantee.as_dict())


@pytest.mark.parametrize("method_id", method_ids())
def test_plan_grows_with_the_count(method_id):
    method = get_method(method_id)
    parameters = parse_parameters(method.spec, PLANNED.get(method_id))
    small, large = (method.plan(parameters, FACTS, count) for count in (10, 1000))
    assert small.outputs == 10
    assert large.seconds > small.seconds > 0
    assert large.tokens >= small.tokens >= 0


@pytest.mark.parametrize("method_id", method_ids())
def test_unknown_parameter_is_named(method_id):
    with pytest.raises(UserError, match="no_such_thing"):
        parse_parameters(get_method(method_id).spec, {"no_such_thing": 1})


@pytest.mark.parametrize("method_id", method_ids())
def test_run_adds_up_and_resumes(method_id, corpus, ran):
    method = get_method(method_id)
    given, steps = ran(method_id)
    whole = [record for step in steps for record in step.records]
    wanted = given.count
    assert len(whole) == wanted
    assert all(record.text.strip() for record in whole)
    assert {record.lineage for record in whole} <= {None, *corpus[0]["record_id"]}
    for step in steps:
        funnel = dict(step.funnel)
        dropped = sum(count for stage, count in funnel.items() if stage.startswith("dropped"))
        assert funnel["made"] == funnel["kept"] + dropped
        assert funnel["kept"] == len(step.records)
        assert 0 <= step.done <= step.total
    first = steps[0]
    state = json.loads(json.dumps(first.state))
    rest = [r for step in method.run(dataclasses.replace(given, state=state)) for r in step.records]
    assert list(first.records) + rest == whole


@pytest.mark.parametrize("method_id", method_ids())
def test_cancel_stops_within_a_batch(method_id, corpus, models):
    method = get_method(method_id)
    asked = []

    def cancelled():
        asked.append(1)
        return len(asked) > 1

    steps = list(method.run(context(method, corpus, models, cancelled=cancelled)))
    assert len(steps) == 1


@pytest.mark.parametrize("method_id", method_ids())
def test_accepted_values_are_gone_from_the_source_they_stood_in(method_id, corpus, ran):
    records, spans = corpus
    texts = dict(zip(records["record_id"], records["text"], strict=True))
    direct = spans[spans["identifier_type"] == "direct"]
    values = {}
    for row in direct.itertuples():
        values.setdefault(row.record_id, set()).add(texts[row.record_id][row.start : row.end].casefold())
    for step in ran(method_id)[1]:
        for record in step.records:
            left = [v for v in values.get(record.lineage, ()) if len(v) > 4 and v in record.text.casefold()]
            assert not left


def test_registry_names_real_methods():
    assert [get_method(entry[0]).spec.id for entry in REGISTRY] == list(method_ids())
    with pytest.raises(UserError, match="surrogate"):
        get_method("nonsense")
