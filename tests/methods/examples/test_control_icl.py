"""Generation from examples: what is drawn, what is blocked, what is tried again."""

from __future__ import annotations

import dataclasses
import re

import pandas as pd
import pytest

from engine.corpus.samples import load_sample
from engine.errors import UserError
from engine.methods import get_method, readable
from engine.methods.base import Context, parse_parameters
from engine.methods.examples import common as cc
from engine.models.constraints import Blocklist
from engine.models.contracts import Generation
from engine.models.prompts.operators_builtin import BuiltinOperators
from engine.models.prompts.operators_instruct import InstructOperators
from engine.pii.control_codes import Passage
from engine.pii.spans import Span

_EXAMPLE = re.compile(r"<\|example\|>(.*?)(?=<\|example\|>|<\|out\|>)", re.DOTALL)
_CODE = re.compile(r"<\|code\|>(.*?)(?=<\|)", re.DOTALL)


class Copyist:
    """A model that repeats an example of its prompt: the first `honest` calls as it stands, then without its names."""

    id = "copyist"
    capabilities = frozenset({"block_tokens"})  # says so and does not: the check on finished texts must catch it

    def __init__(self, stubborn=10**6, secrets=()):
        self.stubborn, self.secrets, self.calls, self.prompts = stubborn, secrets, 0, []

    def generate(self, prompts, sampling, constraints=None):
        self.calls += 1
        self.prompts += list(prompts)
        made = []
        for prompt in prompts:
            text = _EXAMPLE.findall(prompt)[0].split("\n\n", 1)[-1]
            if self.calls > self.stubborn:
                for secret in self.secrets:
                    text = re.sub(re.escape(secret), "somebody", text, flags=re.IGNORECASE)
            made.append(Generation(text, len(text.split()), "stop"))
        return made

    def score(self, texts):
        raise AssertionError("not asked for")


@pytest.fixture(scope="module")
def corpus():
    """Twenty records with their gold spans."""
    sample = load_sample("support_tickets").head(20)
    rows = [
        {"record_id": r, **{k: s[k] for k in ("start", "end", "label", "identifier_type")}}
        for r, spans in zip(sample["record_id"], sample["spans"], strict=True)
        for s in spans
    ]
    return sample[["record_id", "text", "source_id", "label"]].reset_index(drop=True), pd.DataFrame(rows)


def context(corpus, method_id, generator, count=4, operators=None, **values):
    method = get_method(method_id)
    return method, Context(
        records=corpus[0],
        spans=corpus[1],
        count=count,
        parameters=parse_parameters(method.spec, {"minimum_tokens": 3, "retries": 2, **values}),
        seed=5,
        surrogate_key=b"k" * 32,
        generator=generator,
        operators=operators or BuiltinOperators(),
        batch_size=4,
    )


def secrets_of(corpus):
    texts = dict(zip(corpus[0]["record_id"], corpus[0]["text"], strict=True))
    direct = corpus[1][corpus[1]["identifier_type"] == "direct"]
    return {texts[r.record_id][r.start : r.end] for r in direct.itertuples()}


def test_a_copied_name_stays_where_nothing_is_blocked(corpus):
    leaks = Blocklist(sorted(secrets_of(corpus)))
    for method_id in ("icl", "control-icl"):
        method, given = context(corpus, method_id, Copyist(), count=8)
        texts = [r.text for step in method.run(given) for r in step.records]
        assert any(leaks.contains(text) for text in texts), method_id


def test_blocked_text_is_written_again_until_no_value_is_left_and_retries_are_counted(corpus):
    secrets = secrets_of(corpus)
    near = {"Dorini Motors"}  # an employer one letter away from a customer called Jorini
    model = Copyist(stubborn=1, secrets=sorted(secrets | near, key=len, reverse=True))
    method, given = context(corpus, "control-icl-blocked", model, unreadable="flag")  # "somebody … somebody"
    (step,) = method.run(given)
    leaks = Blocklist(sorted(secrets))
    assert len(step.records) == 4
    assert not any(leaks.contains(r.text) for r in step.records)
    again = step.diagnostics["retries"]["a private value in it"]
    assert again >= 1
    assert step.funnel["dropped: a private value in it"] == again
    assert step.funnel["made"] == 4 + again
    assert step.diagnostics["blocked_values"] > 4


def test_text_that_says_nothing_is_dropped_or_kept_and_counted(corpus):
    class Looping(Copyist):
        def generate(self, prompts, sampling, constraints=None):
            self.calls += 1
            loop = "the applicant of the applicant of the applicant"
            fine = "The parcel came late and the box was torn, so please send another one."
            return [Generation(loop if self.calls == 1 else fine, 12, "stop") for _ in prompts]

    for choice, key, looped in (("drop", "dropped: repeats phrases", 0), ("flag", "flagged: repeats phrases", 4)):
        method, given = context(corpus, "icl", Looping(), unreadable=choice)
        steps = list(readable.run(method, given))
        assert sum(step.funnel.get(key, 0) for step in steps) == 4
        texts = [record.text for step in steps for record in step.records]
        assert len(texts) == 4
        assert sum("applicant" in text for text in texts) == looped


def test_values_let_through_are_named_with_their_reason(corpus):
    method, given = context(corpus, "control-icl-blocked", Copyist(stubborn=0), identifiers="both", retries=5)
    rows = []
    for row in given.records.itertuples():
        rows.append((row.record_id, 0, 1, "MISC", "quasi"))
        at = str(row.text).find(" the ")
        if at >= 0:
            rows.append((row.record_id, at + 1, at + 4, "MISC", "quasi"))
    given = dataclasses.replace(given, spans=pd.DataFrame(rows, columns=list(given.spans.columns)))
    (step, *_) = method.run(given)
    named = step.diagnostics["exempt_words"]
    assert named["function words alone"]["the"] == 1
    assert {why: len(words) for why, words in named.items()} == step.diagnostics["exempt_values"]


def test_a_model_that_cannot_block_is_refused_with_the_reason(corpus):
    class Free(Copyist):
        capabilities = frozenset()

    method, given = context(corpus, "control-icl-blocked", Free())
    assert "block_tokens" in method.spec.needs
    with pytest.raises(UserError, match="block_tokens"):
        list(method.run(given))
    _, allowed = context(corpus, "control-icl", Free())
    assert list(get_method("control-icl").run(allowed))


def test_a_model_that_only_copies_is_refused_rather_than_let_through(corpus):
    method, given = context(corpus, "control-icl-blocked", Copyist(), count=2, examples=1)
    records = corpus[1]["record_id"].unique()  # every record shown holds an identifier
    given = dataclasses.replace(given, records=corpus[0][corpus[0]["record_id"].isin(records)])
    direct = given.spans[given.spans["identifier_type"] == "direct"]["record_id"].unique()
    given = dataclasses.replace(given, records=given.records[given.records["record_id"].isin(direct)])
    with pytest.raises(UserError, match="usable texts"):
        list(method.run(given))


def test_prompt_shows_codes_of_other_records_of_one_label_and_an_invented_code_of_the_same_types(corpus):
    model = Copyist()
    method, given = context(corpus, "control-icl", model, identifiers="both")
    material = cc.Material(given, given.parameters, "both")
    list(method.run(given))
    for number, prompt in enumerate(model.prompts[:4]):
        slot = material.slot(number, 3)
        assert len({p.record_id for p in slot.shown}) == len(slot.shown)
        assert {p.label for p in slot.shown} == {slot.label}
        assert len(_EXAMPLE.findall(prompt)) == len(slot.shown)
        (code,) = _CODE.findall(prompt)
        assert code == slot.code
        anchor = slot.shown[-1].code
        wanted = {label for label, _ in anchor.values if label != "MISC"}
        assert {line.split(":")[0] for line in code.split("\n")} == wanted
        real = {value for passage in slot.shown for value in passage.code.surfaces()}
        assert not real & {v for line in code.split("\n") for v in line.split(": ", 1)[1].split(", ")}
        for passage, shown in zip(slot.shown, _EXAMPLE.findall(prompt), strict=True):
            first = passage.code.lines().split(",")[0].split("\n")[0]
            assert shown.startswith(first)


def test_labels_of_other_tools_are_read_as_ours(corpus):
    method, given = context(corpus, "control-icl", Copyist(), identifiers="both", count=2)
    theirs = {"ORGANISATION": "ORG", "DATE": "DATETIME", "LOCATION": "LOC"}
    given = dataclasses.replace(given, spans=given.spans.replace({"label": theirs}))
    assert set(theirs.values()) & set(given.spans["label"])
    assert sum(len(step.records) for step in method.run(given)) == 2
    code = cc.Material(given, given.parameters, "both").slot(0, 3).code
    assert not re.search("ORG:|DATETIME:|LOC:", code)


def test_instruct_template_shows_examples_and_the_code(corpus):
    prompt = InstructOperators().prompt("from_control_code", code="PERSON: Ms X", examples=["CODE: 1\n\nabc"], words=9)
    assert prompt.index("CODE: 1") < prompt.index("PERSON: Ms X")
    assert "examples of" not in InstructOperators().prompt("from_control_code", code="PERSON: Ms X")


def test_examples_fit_the_context_of_a_small_model(corpus):
    from engine.models.builtin.language_model import load_builtin_generator

    generator = load_builtin_generator()
    count = cc.token_counter(generator)
    long = Passage("r", 0, "a long paragraph of Ann Lee's case. " * 400, (Span("r", 20, 27, "PERSON"),))
    cut = cc.fitted(long, 90, count, True)
    assert 60 < count(cc.shown_text(cut, True)) <= 90
    assert cut.code.lines() == "PERSON: Ann Lee"
    assert cc.prompt_room(generator, 400) <= cc.context_tokens(generator) - cc.context_tokens(generator) // 3


@pytest.mark.parametrize(
    ("text", "tokens", "why"),
    [
        ("", 0, "too short"),
        ("a few words", 3, "too short"),
        ("The applicant was born in 1987. The applicant was born in 1987.", 20, "repeats phrases"),
        (" ".join(f"w{i}" for i in range(60)) + " It was late when she came home again. " * 4, 92, "repeats phrases"),
        (" ".join(f"w{i}" for i in range(60)) + " It was late when she came home again. " * 2, 90, ""),
        ("the court said so and the court said so " * 20, 200, "repeats phrases"),
        (
            "FIRTHZQX vqwlpt grnfle skrzbt of the xqvbnm and wkjhgf to plmzxq rtyghv bnvcxz",
            40,
            "holds many words that are none",
        ),
        (" ".join(f"word{i} and" for i in range(60)), 120, ""),
    ],
)
def test_short_and_repeating_outputs_are_no_texts(text, tokens, why):
    assert cc.fault(text, tokens, 5) == why


def test_code_lines_at_the_head_of_an_output_are_taken_off():
    assert cc.tidy("CODE: 1/2\nPERSON: Ms X\n\nThe text: it goes on.") == "The text: it goes on."
    assert cc.tidy("NOTE: kept as it is") == "NOTE: kept as it is"


def test_control_codes_refuse_a_corpus_without_spans(corpus):
    for method_id in ("control-icl", "control-icl-blocked"):
        method, given = context(corpus, method_id, Copyist())
        with pytest.raises(UserError, match="run detect"):
            list(method.run(dataclasses.replace(given, spans=corpus[1].iloc[:0])))
