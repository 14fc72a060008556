"""Prefix methods: training is resumed from what was kept, and what was learned is written."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

from engine.corpus.samples import load_sample
from engine.errors import UserError
from engine.methods import get_method
from engine.methods.base import Context, parse_parameters
from engine.methods.prefix.tuning import objective
from engine.models.builtin.language_model import load_builtin_generator
from engine.models.prompts.operators_builtin import BuiltinOperators
from engine.models.tune.prefix_tuning import Objective, PrefixLearner

SHORT = {"max_new_tokens": 16, "minimum_tokens": 4, "epochs": 2, "virtual_tokens": 4, "paragraphs": 1, "parts": 1}


@pytest.fixture(scope="module")
def corpus():
    """Eight records with their gold spans."""
    sample = load_sample("support_tickets").head(8)
    rows = [
        {"record_id": r, **{k: s[k] for k in ("start", "end", "label", "identifier_type")}}
        for r, spans in zip(sample["record_id"], sample["spans"], strict=True)
        for s in spans
    ]
    return sample[["record_id", "text", "source_id", "label"]].reset_index(drop=True), pd.DataFrame(rows)


def context(corpus, method_id, **values):
    method = get_method(method_id)
    given = Context(
        records=corpus[0],
        spans=corpus[1],
        count=2,
        parameters=parse_parameters(method.spec, {**SHORT, **values}),
        seed=5,
        surrogate_key=b"k" * 32,
        generator=load_builtin_generator(),
        operators=BuiltinOperators(),
        batch_size=2,
    )
    return method, given


def test_training_comes_first_and_is_taken_up_where_it_stopped(corpus):
    method, given = context(corpus, "control-prefix-masked")
    steps = list(method.run(given))
    assert [s.stage for s in steps] == ["training", "training", "generating"]
    assert [s.done for s in steps[:2]] == [2, 4]
    assert len(steps[1].diagnostics["training_losses"]) == 4
    assert all("training_losses" not in s.state and not s.records for s in steps[:2])
    again = list(method.run(dataclasses.replace(given, state=steps[0].state)))
    assert [s.records for s in again] == [s.records for s in steps[1:]]


def test_a_kept_prefix_is_not_trained_again(corpus, tmp_path, monkeypatch):
    method, given = context(corpus, "control-prefix")
    given = dataclasses.replace(given, scratch=tmp_path)
    steps = list(method.run(given))
    assert [p.name for p in (tmp_path / "prefix").iterdir()] == ["prefix.safetensors"]

    def refuse(self, step):
        raise AssertionError("trained again")

    monkeypatch.setattr(PrefixLearner, "take", refuse)
    rest = list(method.run(dataclasses.replace(given, state=steps[-2].state)))
    assert [s.records for s in rest] == [steps[-1].records]


def test_the_masked_method_asks_for_the_masked_objective():
    plain = parse_parameters(get_method("control-prefix").spec, None)
    masked = parse_parameters(get_method("control-prefix-masked").spec, None)
    paper = parse_parameters(get_method("control-prefix-masked").spec, {"contrastive": "paper", "lambda_kl": 0.5})
    assert objective(plain) == Objective(masked=False)
    assert objective(masked) == Objective(True, "suppress", 1.0, 1.0, 1.0)
    assert objective(paper) == Objective(True, "paper", 1.0, 1.0, 0.5)
    assert plain.rate == masked.rate == 5e-5
    assert plain.virtual_tokens == 20
    assert plain.epochs == 3


def test_a_corpus_without_spans_is_refused(corpus):
    for method_id in ("control-prefix", "control-prefix-masked"):
        method, given = context(corpus, method_id)
        with pytest.raises(UserError, match="run detect"):
            list(method.run(dataclasses.replace(given, spans=corpus[1].iloc[:0])))


def test_a_model_of_a_folder_is_tuned_on_bare_codes(corpus, tmp_path):
    from tests.models.tune.test_prefix_tuning import tiny_folder

    folder = tiny_folder(tmp_path)
    method, given = context(corpus, "control-prefix", tuned_model=str(folder), max_new_tokens=8, minimum_tokens=2)
    parameters = given.parameters.model_copy(update={"retries": 20})
    records = [r for s in method.run(dataclasses.replace(given, parameters=parameters, count=1)) for r in s.records]
    assert len(records) == 1
    assert records[0].text
