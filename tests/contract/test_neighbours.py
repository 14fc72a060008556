"""Every method with a formal guarantee, now and later: what it depends on beside its mechanisms is public.

Corpora with equal N that differ in everything else (records, labels, lengths, ids, languages, columns, one unit's own
label, one unit at the cap) give equal plans, claims, requests and refusals, and with the mechanisms' outputs fixed
equal prompts and records. Another method is covered as soon as it is registered.
"""

import json
import shutil
from dataclasses import asdict, replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import select

from engine.corpus.columns.mapping import ColumnMapping
from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms
from engine.errors import InternalError, UnderstudyError
from engine.jobs.tasks import synthesize
from engine.jobs.worker import launch
from engine.methods import get_method, methods
from engine.methods.base import alone, parse_parameters
from engine.models.builtin.language_model import BuiltinGenerator
from engine.models.prompts.operators_builtin import BuiltinOperators
from engine.store import queue
from engine.store.database.schema import pools, runs, synthetic
from engine.workspace import open_workspace
from tests.audit.toy import Models
from tests.contract.test_methods import QUICK
from tests.models.families import make_family
from tests.models.small_lm import small_generator
from tests.store.making import made_with

PEOPLE, CAP = 8, 3
LISTED = ["praise", "complaint"]
SENTENCE = "Rosalind Achterberg, HIV positive since 2011, told nobody at work"
FORMAL = [method.spec.id for method in methods() if method.spec.kind == "dp"]
WRAPPED = [f"filter:{name}" for name in FORMAL]
SETTINGS = {
    **QUICK,
    "public": {"words": 12, "temperature": 1.0},
    "aug-pe": QUICK["aug-pe"] | {"temperature": 1.0},
    "dpga": QUICK["dpga"] | {"temperature": 1.0},
    "dp-select": {"pool": "made-elsewhere"},
    "paid-choice": {},
    "dp-finetune": {"steps": 2, "units_a_step": 3, "rank": 2, "tokens": 12, "words": 12, "temperature": 1.0},
}
SETTINGS["private-prediction"] = QUICK["private-prediction"] | {"clusters": "coarse"}
SETTINGS["dp-topics"] = {"candidates": 2, "words": 12, "temperature": 1.0}
NAMED = {name: {"pool": "made-elsewhere"} for name in ("dp-select", "filter:dp-select")}  # what has no default
MAPPING = ColumnMapping(text="text", record_id="id", source_id="who", label="kind", keep=())


def _rows(numbers, text="Note {i} of {who} about soup that came late and cold.", who="p{p}", record="r{i}", kinds=None):
    """Return one record a number in `numbers`, which is the person it belongs to."""
    kinds = kinds or (lambda person, i: LISTED[i % 2])
    return [
        {
            "id": record.format(i=i), "who": who.format(p=p), "kind": kinds(p, i),
            "text": text.format(i=i, who=who.format(p=p)),
        }
        for i, p in enumerate(numbers)
    ]  # fmt: skip


TWICE = [p for p in range(PEOPLE) for _ in range(2)]
ONCE = list(range(PEOPLE))
CORPORA = {
    "base": _rows(TWICE),
    "fewer records": _rows(ONCE),
    "one unit beyond the cap": _rows([*ONCE, *[0] * 9]),
    "one unit's own label": _rows(TWICE, kinds=lambda p, i: SENTENCE if p == 3 else LISTED[i % 2]),
    "many labels": _rows(TWICE, kinds=lambda p, i: f"kind {i}"),
    "no labels": _rows(TWICE, kinds=lambda p, i: None),
    "other ids": _rows(TWICE, who="case-{p}", record="x-{i}-y"),
    "other language": _rows(TWICE, text="Lettre {i} de {who} sur la soupe qui est arrivée froide et en retard."),
    "long texts": _rows(TWICE, text="Note {i} of {who}. " + "The soup came late and cold again. " * 60),
    "one long text": [*_rows(TWICE)[:-1], {**_rows(TWICE)[-1], "text": "word " * 900}],
    "another column": [{**row, "ward": "north"} for row in _rows(TWICE)],
}
POOL = [
    ("The soup was hot and we thanked the cook.", "praise"),
    ("A waiter spilled wine on the table twice.", "complaint"),
    ("Nobody answered the phone all morning.", "complaint"),
    ("The garden is lovely in the evening.", "praise"),
    ("We asked where the museum is.", "question"),
] * 3


class Task:
    """What a job hands to the worker's own code; nothing is reported."""

    def __init__(self, store, corpus_id, run_id):
        self.store, self.corpus_id, self.run_id, self.models = store, corpus_id, run_id, Worker()

    def cancelled(self):
        return False

    def check(self):
        pass

    def report(self, stage, done, total):
        pass


class Embedder(Models):
    """Embeddings that follow from words; none for no texts, as real ones."""

    def embed(self, texts):
        return super().embed(texts) if len(texts) else np.zeros((0, 384), np.float32)


class Worker:
    """Models of a worker: a network of a few thousand weights, and embeddings that follow from words."""

    def generator(self, model, store, corpus_id, needs=()):
        return small_generator()

    def operators(self, model, store):
        return BuiltinOperators()

    def embedder(self):
        return Embedder()

    def detector(self, settings):
        from engine.pii.detect.detector import RecordDetector

        return RecordDetector(settings)


def finished(workspace, corpus, patch):
    """Leave two finished runs with a proof, of the same names in every world, to choose among."""
    for number, name in enumerate(("r-first", "r-second")):
        with patch.context() as once:
            once.setattr("engine.jobs.running.new_id", lambda kind, name=name: name)
            workspace.jobs.synthesize(corpus, "public", count=PEOPLE)
        rows = [
            {"run_id": name, "position": i, "record_id": f"s-{i + 1:06d}", "text": f"{text} Again.", "label": kind}
            for i, (text, kind) in enumerate(POOL[number * 5 : number * 5 + PEOPLE])
        ]
        with workspace.session.db.write() as connection:
            for job_id in queue.active_jobs(connection, run_id=name):
                queue.finish(connection, job_id, "done")
            connection.execute(synthetic.insert(), rows)
        made_with(workspace.session, name, state="done", kept=len(rows))


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """Return a workspace and its only corpus a variant, without a worker."""
    patch, opened = pytest.MonkeyPatch(), {}
    tiny = make_family("gpt2", tmp_path_factory.mktemp("models") / "tiny")
    patch.setattr(launch, "ensure_worker", lambda folder: False)
    for name, rows in CORPORA.items():
        workspace = open_workspace(tmp_path_factory.mktemp("world") / "w", "tester")
        keep = ("ward",) if "ward" in rows[0] else ()
        mapping = ColumnMapping(**{**asdict(MAPPING), "keep": keep})
        made = workspace.corpora.import_table(
            pd.DataFrame(rows), mapping, name=f"Notes, {name}", unit="source", cap=CAP, holdout=0.0
        )
        opened[name] = (workspace, made.id)
        lines = [
            f'{{"text": "{text} It was day {i} of the fair.", "label": "{kind}"}}'
            for i, (text, kind) in enumerate(POOL)
        ]
        workspace.pools.import_file(
            "\n".join(lines).encode(),
            "pool.jsonl",
            name="made-elsewhere",
            origin="made up",
            licence="CC0",
            declared=True,
        )
        workspace.models.import_folder(tiny, "tiny")
        finished(workspace, made.id, patch)
        with workspace.session.db.write() as connection:  # not the day on which this test runs
            connection.execute(pools.update().values(created="2026-01-01T00:00:00+00:00"))
    yield opened
    for workspace, _ in opened.values():
        workspace.close()
    patch.undo()


@pytest.fixture(params=["declared", "undeclared"])
def declared(request, worlds):
    """Return whether a list of labels is declared public: the same one for every corpus, whatever it holds."""
    for workspace, corpus in worlds.values():
        if request.param == "declared":
            workspace.labels.declare(corpus, LISTED)
        else:
            workspace.labels.withdraw(corpus)
    return request.param == "declared"


def differing(found):
    """Return the variants whose answer is not that of the first corpus."""
    return [name for name, answer in found.items() if answer != found["base"]]


def row_of(workspace, run_id):
    with workspace.session.db.read() as connection:
        return connection.execute(select(runs).where(runs.c.id == run_id)).one()


def as_text(value):
    return json.dumps(
        value, sort_keys=True, default=lambda x: asdict(x) if hasattr(x, "__dataclass_fields__") else str(x)
    )


def asked(workspace, corpus, name, **options):
    """Return what a run asks for, or the sentence that refuses it."""
    options["parameters"] = NAMED.get(name, {}) | options.get("parameters", {})
    if "states" in get_method(name).spec.needs:  # the built-in model's cannot be moved
        options.setdefault("model", "folder:tiny")
    try:
        run_id = workspace.jobs.synthesize(corpus, name, **options)
    except UnderstudyError as error:
        return type(error).__name__, str(error).replace(corpus, "CORPUS")
    row = row_of(workspace, run_id)
    workspace.runs.delete(run_id)  # which gives its reservation back
    return as_text(
        {part: getattr(row, part) for part in ("count", "parameters", "guarantee", "manifest", "seed", "needs_spans")}
    )


@pytest.mark.parametrize("name", [*FORMAL, *WRAPPED])
def test_plans_claims_and_requests_are_those_of_any_corpus_with_this_n(name, worlds, declared):
    plans, claims, requests, signals = {}, {}, {}, {}
    for variant, (workspace, corpus) in worlds.items():
        named = NAMED.get(name)
        answer = workspace.plan.draft(corpus, name, parameters=named)
        plans[variant] = as_text(answer)
        claims[variant] = as_text(workspace.plan.guarantee(name, corpus_id=corpus, parameters=named))
        signals[variant] = as_text(workspace.plan.buys(corpus, name, named))
        requests[variant] = asked(workspace, corpus, name)
        assert asked(workspace, corpus, name, count=7) != requests[variant]
    assert {"plans": differing(plans), "claims": differing(claims), "requests": differing(requests)} == {
        "plans": [], "claims": [], "requests": []
    }  # fmt: skip
    assert differing(signals) == []
    sentence = json.loads(claims["base"])["sentence"]
    if not json.loads(claims["base"])["pending"]:
        assert "taken as public" in sentence
        assert ("declared public" in sentence) == declared
        assert ("2 labels" in sentence) == declared


@pytest.mark.parametrize("name", FORMAL)
def test_refusals_are_those_of_any_corpus_with_this_n(name, worlds):
    spec = get_method(name).spec
    wrong = [{"count": 0}, {"count": 2_000_000}, {"parameters": {"words": -1}}, {"model": "folder:none"}]
    if "delta" in spec.parameters.model_fields:
        wrong.append({"parameters": {"delta": 0.5}})
    for options in wrong:
        found = {variant: asked(*world, name, **options) for variant, world in worlds.items()}
        assert found["base"][0] in ("UserError", "NotFoundError"), found["base"]
        assert differing(found) == []


class Frozen:
    """Outputs of an earlier run, and nothing else."""

    @staticmethod
    def output(self, key, request, event, draw):
        if self._outputs.load(key) is None:
            raise InternalError(f"{key!r} was not asked for on the first corpus")
        return REAL(self, key, request, event, draw)


REAL = Mechanisms._once


def settings_of(workspace, corpus, name, **more):
    """Return a method's quick settings, with what the program fills in."""
    spec = get_method(name).spec
    return parse_parameters(
        spec, workspace.plan.completed(spec, SETTINGS.get(name.removeprefix("filter:"), {}) | more, corpus)
    )


def ran(world, name, claim, outputs, monkeypatch, first=None, **settings):
    """Run a method in the worker's own context; return prompts, records and the folder of its training."""
    workspace, corpus = world
    prompts = []
    real = BuiltinGenerator.generate

    def generate(self, given, *arguments, **options):
        prompts.extend(given)
        return real(self, given, *arguments, **options)

    values = settings_of(workspace, corpus, name, **settings)
    row = SimpleNamespace(
        method=name, parameters=values.model_dump(mode="json"), seed=3, count=4, model="builtin", state_json=None,
        corpus_id=corpus, manifest={"labels": list(workspace.labels.public(corpus))},
    )  # fmt: skip
    task = Task(workspace, corpus, "r-00000000" + ("0" if first is None else "1"))
    with monkeypatch.context() as patch:
        patch.setattr(BuiltinGenerator, "generate", generate)
        patch.setattr(workspace.ledger, "outputs", lambda run_id: outputs)
        if first is not None:
            patch.setattr(Mechanisms, "_once", Frozen.output)
        # The run is not in the database, so its weights are in no register either; tests/jobs/test_marks has that.
        context = replace(synthesize._context(task, row, get_method(name), claim, alone), saved=lambda folder: None)
        assert len(context.records) == len(context.spans) == 0
        assert context.facts == workspace.ledger.public_facts(corpus)
        if first is not None and (first / "training").exists():
            shutil.copytree(first / "training", context.scratch / "training", dirs_exist_ok=True)
        made = [record for step in get_method(name).run(context) for record in step.records]
    return prompts, [(record.text, record.label) for record in made], context.scratch


@pytest.mark.parametrize("name", [*FORMAL, "filter:public", "filter:aug-pe"])
def test_with_the_mechanisms_frozen_prompts_and_records_are_equal(name, worlds, declared, monkeypatch):
    workspace, corpus = worlds["base"]
    method = get_method(name)
    values = settings_of(workspace, corpus, name)
    claim = method.guarantee(values, workspace.ledger.public_facts(corpus))
    outputs = MemoryOutputs()
    prompts, made, scratch = ran(worlds["base"], name, claim, outputs, monkeypatch)
    assert len(made) == 4
    assert {label for _, label in made} <= (set(LISTED) if declared else {None})
    others = [variant for variant in CORPORA if variant != "base"]
    # A method that draws nothing but its prompts is quick enough for every corpus, others for the telling ones.
    for variant in (
        others if name in ("public", "aug-pe", "dp-select") else ["one unit's own label", "one unit beyond the cap"]
    ):
        again, same, _ = ran(worlds[variant], name, claim, outputs, monkeypatch, first=scratch)
        assert again == prompts
        assert same == made
        shutil.rmtree(worlds[variant][0].folder.scratch("r-000000001"), ignore_errors=True)
    shutil.rmtree(scratch, ignore_errors=True)


@pytest.mark.parametrize("name", FORMAL)
def test_a_sentence_read_as_a_label_never_reaches_an_output_unconfirmed(name, worlds, monkeypatch):
    world = worlds["one unit's own label"]
    workspace, corpus = world
    workspace.labels.withdraw(corpus)
    assert SENTENCE in workspace.labels.counts(corpus)
    method = get_method(name)
    values = settings_of(workspace, corpus, name)
    claim = method.guarantee(values, workspace.ledger.public_facts(corpus))
    prompts, made, scratch = ran(world, name, claim, MemoryOutputs(), monkeypatch)
    shutil.rmtree(scratch, ignore_errors=True)
    assert len(made) == 4
    assert {label for _, label in made} == {None}
    seen = "\n".join([*prompts, *(text for text, _ in made), as_text(claim)])
    assert "Achterberg" not in seen
    assert "carry no labels" in claim.sentence


BUYING = [name for name in FORMAL if "label_list" in get_method(name).spec.parameters.model_fields]


@pytest.mark.parametrize("name", BUYING)
def test_a_bought_list_is_all_that_a_run_knows_of_labels(name, worlds, monkeypatch):
    method, own = get_method(name), {"label_list": "bought", "epsilon": 100.0}
    workspace, corpus = worlds["base"]
    workspace.labels.withdraw(corpus)
    values = settings_of(workspace, corpus, name, **own)
    claim = method.guarantee(values, workspace.ledger.public_facts(corpus))
    outputs = MemoryOutputs()
    prompts, made, scratch = ran(worlds["base"], name, claim, outputs, monkeypatch, **own)
    assert {label for _, label in made} <= {None, *LISTED}
    variant = "one unit's own label"
    worlds[variant][0].labels.withdraw(worlds[variant][1])
    again, same, _ = ran(worlds[variant], name, claim, outputs, monkeypatch, first=scratch, **own)
    assert (again, same) == (prompts, made)
    shutil.rmtree(worlds[variant][0].folder.scratch("r-000000001"), ignore_errors=True)
    fresh, seen, other = ran(worlds[variant], name, claim, MemoryOutputs(), monkeypatch, **own)
    assert "Achterberg" not in "\n".join([*fresh, *(f"{text} {label}" for text, label in seen)])
    for folder in (scratch, other):
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("listing", ["bought", "declared"])
@pytest.mark.parametrize("name", [name for name in BUYING if "labels" in get_method(name).spec.parameters.model_fields])
def test_what_is_opened_without_noise_is_what_the_claim_names(name, listing, worlds, monkeypatch):
    workspace, corpus = worlds["base"]
    workspace.labels.declare(corpus, LISTED)
    own = {"label_list": listing, "labels": "public", "epsilon": 100.0}
    values, method = settings_of(workspace, corpus, name, **own), get_method(name)
    claim = method.guarantee(values, workspace.ledger.public_facts(corpus))
    outputs = MemoryOutputs()
    _, _, scratch = ran(worlds["base"], name, claim, outputs, monkeypatch, **own)
    workspace.labels.withdraw(corpus)
    shutil.rmtree(scratch, ignore_errors=True)
    opened = [one.event for one in outputs.stored.values() if one.event.type == "declared"]
    named = [event for event in claim.events if event["type"] == "declared"]
    assert bool(opened) == bool(named) == (listing == "declared")
