"""The surrogate method on a generated sample corpus with gold spans."""

from __future__ import annotations

import dataclasses
import json
import re

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from engine.errors import InternalError, UserError
from engine.methods.base import Context, Facts
from engine.methods.filter.method import FilterParameters
from engine.methods.surrogate import SurrogateMethod, SurrogateParameters, spans_by_record
from engine.training.samples import generate

METHOD = SurrogateMethod()


def frames(count=60, seed=2):
    sample = generate("clinic_letters", count, seed)
    spans = [{"record_id": r, **span} for r, found in zip(sample.record_id, sample.spans) for span in found]
    return sample[["record_id", "text", "source_id", "label"]], pd.DataFrame(spans)


RECORDS, SPANS = frames()


def context(records=RECORDS, spans=SPANS, **changes):
    given_parameters = changes.pop("parameters", SurrogateParameters())
    base = Context(
        records=records,
        spans=spans,
        count=len(records),
        parameters=given_parameters,
        seed=1,
        unit="source",
        surrogate_key=b"k" * 32,
        batch_size=2,
    )
    return dataclasses.replace(base, **changes)


def run(ctx):
    return [record for step in METHOD.run(ctx) for record in step.records]


def tiny(text, spans):
    """Return frames of one record from (value, label) pairs found in order."""
    rows, at = [], 0
    for value, label in spans:
        at = text.index(value, at)
        rows.append(
            {"record_id": "r", "start": at, "end": at + len(value), "label": label, "identifier_type": "direct"}
        )
    records = pd.DataFrame([{"record_id": "r", "text": text, "source_id": None, "label": None}])
    return records, pd.DataFrame(rows, columns=["record_id", "start", "end", "label", "identifier_type"])


def test_one_output_for_each_record_with_its_label():
    out = run(context())
    assert [r.lineage for r in out] == list(RECORDS.record_id)
    assert [r.label for r in out] == list(RECORDS.label)
    assert not set(RECORDS.text) & {r.text for r in out}


@settings(max_examples=12, deadline=None)
@given(stop=st.integers(0, 7), size=st.integers(1, 5))
def test_resuming_from_any_state_equals_the_uninterrupted_run(stop, size):
    whole = [r.text for r in run(context())]
    steps = list(METHOD.run(context(batch_size=size)))
    step = steps[min(stop, len(steps) - 1)]
    before = [r.text for s in steps[: steps.index(step) + 1] for r in s.records]
    state = json.loads(json.dumps(step.state))
    assert before + [r.text for r in run(context(state=state))] == whole


def test_funnel_and_diagnostics_add_up():
    steps = list(METHOD.run(context()))
    assert sum(s.funnel["made"] for s in steps) == sum(s.funnel["kept"] for s in steps) == len(RECORDS)
    replaced = pd.DataFrame([s.diagnostics["replaced"] for s in steps]).sum()
    left = pd.DataFrame([s.diagnostics["unreplaceable"] for s in steps]).sum()
    assert replaced.add(left, fill_value=0).to_dict() == SPANS.label.value_counts().to_dict()
    assert (steps[-1].done, steps[-1].total) == (len(RECORDS), len(RECORDS))


def test_a_patient_stays_one_person_over_all_visits():
    out = {r.lineage: r.text for r in run(context())}
    numbers = {}
    for row in SPANS[SPANS.label == "MEDICAL_ID"].itertuples():
        old = RECORDS.set_index("record_id").loc[row.record_id]
        value = old.text[row.start : row.end]
        numbers.setdefault((old.source_id, value), []).append(row.record_id)
    shared = [ids for ids in numbers.values() if len(set(ids)) > 1]
    assert shared
    for (_, value), ids in numbers.items():
        shape = "".join(r"\d" if c.isdigit() else "[A-Z]" if c.isupper() else re.escape(c) for c in value)
        found = [set(re.findall(rf"(?<!\w){shape}(?!\w)", out[i])) for i in ids]
        assert set.intersection(*found)
        assert all(value not in out[i] for i in ids)


@pytest.mark.parametrize(
    ("settings", "kept", "dropped"),
    [({}, 0, 1), ({"without_spans": "drop", "copies_accepted": 5}, 0, 1),
     ({"without_spans": "copy", "copies_accepted": 1}, 1, 0)],
)  # fmt: skip
def test_a_record_without_spans(settings, kept, dropped):
    records = pd.concat([RECORDS.head(3), pd.DataFrame([{"record_id": "bare", "text": "No one.", "source_id": None}])])
    steps = list(METHOD.run(context(records, parameters=SurrogateParameters(**settings))))
    funnel = pd.DataFrame([s.funnel for s in steps]).sum()
    assert funnel["kept"] == 3 + kept
    assert funnel.get("dropped: no accepted span", 0) == dropped


@pytest.mark.parametrize(("bare", "accepted", "runs"), [(2, 0, False), (2, 1, False), (2, 2, True), (0, 0, True)])
def test_copies_need_consent_to_their_number(bare, accepted, runs):
    rows = [{"record_id": f"bare{i}", "text": f"No one, {i}.", "source_id": None} for i in range(bare)]
    records = pd.concat([RECORDS.head(3), pd.DataFrame(rows)])
    parameters = SurrogateParameters(without_spans="copy", copies_accepted=accepted)
    work = METHOD.run(context(records, parameters=parameters))
    if runs:
        assert sum(step.funnel["kept"] for step in work) == 3 + bare
        return
    with pytest.raises(UserError, match=rf"In {bare} records nothing was found.*copies_accepted={bare}"):
        list(work)


@pytest.mark.parametrize(("policy", "expected"), [("redact", "seen [DATE] by"), ("keep", "seen last Tuesday by")])
def test_a_value_without_a_surrogate(policy, expected):
    records, spans = tiny(
        "Ann was seen last Tuesday by Bob.", [("Ann", "PERSON"), ("last Tuesday", "DATE"), ("Bob", "PERSON")]
    )
    out = run(context(records, spans, parameters=SurrogateParameters(unreplaceable=policy)))
    assert expected in out[0].text
    assert "Ann" not in out[0].text


def test_kept_labels_stay():
    records, spans = tiny("Ann lives in Leeds.", [("Ann", "PERSON"), ("Leeds", "LOCATION")])
    out = run(context(records, spans, parameters=SurrogateParameters(keep_labels=("LOCATION",))))
    assert out[0].text.endswith(" lives in Leeds.")
    assert not out[0].text.startswith("Ann")


def test_shift_limit_is_kept():
    records, spans = tiny("Seen 12 March 2014.", [("12 March 2014", "DATE")])
    days = {
        run(context(records, spans, parameters=SurrogateParameters(date_shift_days_max=1)))[0].text for _ in range(3)
    }
    assert days < {"Seen 11 March 2014.", "Seen 13 March 2014."}


def test_cancel_stops_between_batches():
    asked = iter([False, True])
    steps = list(METHOD.run(context(cancelled=lambda: next(asked))))
    assert [s.done for s in steps] == [8]  # four batches of two in a step


def test_rules_of_the_parameters():
    with pytest.raises(ValidationError, match="keep_labels must be among"):
        SurrogateParameters(keep_labels=("SHOE_SIZE",))
    with pytest.raises(UserError, match="run detect, or import gold spans"):
        list(METHOD.run(context(spans=SPANS.head(0))))
    with pytest.raises(InternalError):
        list(METHOD.run(context(parameters=FilterParameters())))


def test_guarantee_and_plan():
    facts = Facts(records=100, units=40, unit="source", mean_characters=800)
    guarantee = METHOD.guarantee(SurrogateParameters(), facts)
    assert guarantee.kind == "heuristic"
    assert guarantee.sentence.startswith("No formal guarantee")
    plan = METHOD.plan(SurrogateParameters(), facts, 20_000)
    assert (plan.model_calls, plan.tokens, plan.outputs) == (0, 0, 20_000)
    assert 5 < plan.seconds < 120


def test_each_name_of_a_span_is_kept_once():
    """Of a million records there are millions of spans: a name a span would be gigabytes."""
    rows = [("".join(("r", "1")), at, at + 2, "".join(("PER", "SON")), "".join(("dir", "ect"))) for at in (0, 5, 9)]
    frame = pd.DataFrame(rows, columns=["record_id", "start", "end", "label", "identifier_type"])
    (spans,) = spans_by_record(frame).values()
    assert [(span.start, span.end) for span in spans] == [(0, 2), (5, 7), (9, 11)]
    for name in ("record_id", "label", "identifier_type"):
        assert len({id(getattr(span, name)) for span in spans}) == 1
    assert not hasattr(spans[0], "__dict__")
