"""Methods run again inside a study: each kind, on the records given, with the same noise on both sides of a pair."""

import dataclasses
from contextlib import suppress

import numpy as np
import pytest

from engine.at_rest import keys
from engine.at_rest.keys import DataKey
from engine.at_rest.sealed import is_sealed
from engine.errors import UserError
from engine.models.cancel import Cancelled
from engine.studies.bench import rerun as module
from engine.studies.bench.rerun import COLUMNS, facts_of, remembered, rerun, terms_of, tuned_generator
from tests.models.tiny_models import make_llama
from tests.studies.rerun_world import QUICK, Embedder, context, sample

PLAIN = QUICK | {"epochs": 1, "records_a_step": 8}
PRIVATE = QUICK | {"steps": 2, "units_a_step": 6, "epsilon": 4.0}
PE = {"rounds": 1, "variations": 2, "words": 8, "domain": "reviews", "epsilon": 4.0}


def test_a_method_without_a_model_copies_the_records_given_and_no_others():
    given = context()
    some = given.records.iloc[:10]
    made = rerun(given, "surrogate", {}, some, given.spans, 10, 1)
    assert list(made.columns) == COLUMNS
    assert set(made["lineage"]) == set(some["record_id"])
    assert made["record_id"].is_unique
    changed = made.set_index("lineage")["text"]
    assert any(changed[r] != t for r, t in zip(some["record_id"], some["text"], strict=True))


def test_seeds_make_other_surrogates_and_a_seed_the_same():
    given = context()
    one, again, other = (rerun(given, "surrogate", {}, given.records, given.spans, 40, s) for s in (1, 1, 2))
    assert one.equals(again)
    assert not one["text"].equals(other["text"])


@pytest.mark.parametrize(("method", "values"), [("public", {"words": 8}), ("aug-pe", PE), ("dp-finetune", PRIVATE)])
def test_a_private_method_sees_no_record_and_spends_nothing(method, values, monkeypatch):
    given, seen = context(unit="source"), []
    monkeypatch.setattr(module, "PrivateData", _counted(module.PrivateData, seen))
    some = given.records.iloc[:30]
    made = rerun(given, method, values, some, given.spans, 3, 1)
    assert len(made) == 3
    assert made["lineage"].isna().all()
    assert [len(data._texts) for data in seen] == [_units(some)]  # cap 1 a source
    assert (seen[0].openings > 0) == (method != "public")


def _units(records):
    return records["source_id"].nunique()


def _counted(kind, seen):
    def make(*args, **kwargs):
        seen.append(kind(*args, **kwargs))
        return seen[-1]

    return make


def test_both_sides_of_a_pair_share_size_and_noise(monkeypatch):
    given, seen = context(unit="record"), []
    monkeypatch.setattr(module, "PrivateData", _counted(module.PrivateData, seen))
    terms = terms_of(given, "dp-finetune", PRIVATE, given.records)
    for records in (given.records, given.records.iloc[5:]):
        rerun(given, "dp-finetune", PRIVATE, records, given.spans, 1, 1, terms=terms)
    assert [data.units for data in seen] == [40, 40]
    assert [len(data._texts) for data in seen] == [40, 35]


def test_a_tuned_model_is_left_and_scores(tmp_path):
    given = context()
    rerun(given, "finetune", PLAIN, given.records, given.spans, 2, 1, scratch=tmp_path)
    tuned = tuned_generator(given, tmp_path)
    texts = given.records["text"].tolist()[:3]
    assert [len(row) for row in tuned.score(texts)] == [len(row) for row in given.generator.score(texts)]
    assert any((a != b).any() for a, b in zip(tuned.score(texts), given.generator.score(texts), strict=True))
    with pytest.raises(UserError, match="no tuned model"):
        tuned_generator(given, tmp_path / "elsewhere")


@pytest.mark.parametrize("named", [False, True], ids=["the model chosen", "a folder that is named"])
def test_a_tuned_folder_model_of_an_encrypted_workspace_scores_as_a_plain_one(tmp_path, named):
    from engine.models.folder.transformers_local import TransformersGenerator

    start = make_llama(tmp_path / "start")
    given = context() if named else context(generator=TransformersGenerator(start, "tiny", prompts="plain"))
    values = PLAIN | ({"tuned_model": str(start)} if named else {})
    inside = tmp_path / "w" / "corpora" / "c-1" / "studies"
    keys.hold(tmp_path / "w", DataKey.new())
    try:
        found = []
        for scratch in (tmp_path / "plain", inside):
            scratch.mkdir(parents=True)
            with suppress(UserError):  # so small a model writes nothing usable, and can be asked nonetheless
                rerun(given, "finetune", values, given.records, given.spans, 1, 1, scratch=scratch)
            found.append(tuned_generator(given, scratch, str(start) if named else ""))
        assert all(is_sealed(file.read_bytes()) for file in (inside / "tuned").iterdir())
        assert not list((tmp_path / "w").rglob("*.tmp"))
    finally:
        keys.drop(tmp_path / "w")
    texts = given.records["text"].tolist()[:3]
    begun = TransformersGenerator(start, "tiny", prompts="plain")
    plain, sealed, first = (one.score(texts) for one in (*found, begun))
    assert all(np.allclose(a, b, atol=1e-5) for a, b in zip(plain, sealed, strict=True))
    assert not all(np.allclose(a, b, atol=1e-5) for a, b in zip(first, sealed, strict=True)), "it was tuned"
    assert (found[1].prompts, found[1].id) == (found[0].prompts, found[0].id)


def test_a_cancelled_run_gives_nothing():
    asked = []

    def cancelled():
        asked.append(1)
        return len(asked) > 3

    given = context(cancelled=cancelled)
    with pytest.raises(Cancelled):
        rerun(given, "finetune", PLAIN, given.records, given.spans, 5, 1)


def test_what_is_missing_is_named():
    given = context()
    with pytest.raises(UserError, match="accepted spans"):
        rerun(dataclasses.replace(given, spans=given.spans.iloc[:0]), "surrogate", {}, given.records, given.spans, 1, 1)
    with pytest.raises(UserError, match="without: embedder"):
        rerun(dataclasses.replace(given, embedder=None), "aug-pe", PE, given.records, given.spans, 1, 1)
    with pytest.raises(UserError, match="does not exist"):
        rerun(given, "nothing", {}, given.records, given.spans, 1, 1)


def test_facts_count_units_and_labels():
    records, _ = sample()
    by_record, by_source = facts_of(records, "record"), facts_of(records, "source", 4)
    assert (by_record.records, by_record.units, by_record.cap) == (40, 40, 1)
    assert (by_source.units, by_source.cap) == (records["source_id"].nunique(), 4)
    assert by_source.labels == records["label"].nunique()


def test_no_text_is_embedded_twice():
    class Counting(Embedder):
        calls = 0

        def embed(self, texts):
            self.calls += len(texts)
            return super().embed(texts)

    embedder = Counting()
    embed = remembered(embedder)
    first = embed(["one two", "three"])
    assert (embed(["three", "one two"])[::-1] == first).all()
    assert embedder.calls == 2
