"""The rewriting loop: when it stops, what each side is told, what counts as traced, and where its traces lie."""

import dataclasses
import json
import re
import stat

import pandas as pd
import pytest

from engine.errors import UserError
from engine.methods import get_method
from engine.methods.base import Context, parse_parameters
from engine.models.prompts.operators_instruct import InstructOperators
from engine.models.prompts.operators_rewrite import parse_privacy, parse_utility, privacy_choices, utility_choices
from engine.models.prompts.operators_rewrite import shipped as shipped_prompts
from tests.methods.instructed import Instructed

SHIPPED = shipped_prompts()

TEXTS = [f"Letter {i} of Anna Berg{i} about the tram, on {i} May." for i in range(1, 8)]


def context(model, tmp_path=None, labels=("tram",), count=None, **parameters):
    method = get_method("rewrite")
    rows = {"record_id": [f"r{i}" for i in range(7)], "text": TEXTS, "source_id": None}
    records = pd.DataFrame({**rows, "label": labels[0] if labels else None})
    return Context(
        records=records, spans=pd.DataFrame(), count=count or len(records), batch_size=3, seed=1, generator=model,
        parameters=parse_parameters(method.spec, {"domain": "generic", **parameters}), labels=labels,
        surrogate_key=b"k" * 32, scratch=None if tmp_path is None else tmp_path / "run",
    )  # fmt: skip


def ran(model, *arguments, **options):
    steps = list(get_method("rewrite").run(context(model, *arguments, **options)))
    return steps, [record for step in steps for record in step.records]


def names_the_source(prompt, version):
    """Reply as a judge that finds the record the letter's number points to."""
    letter = re.search(r"letter (\d+)", prompt).group(1)
    number = re.search(rf"\[(\d+)\] Letter {letter} ", prompt).group(1)
    return f"Record: {number}\nWords: letter; version"


def test_a_text_that_passes_both_judges_takes_one_round():
    model = Instructed()
    steps, records = ran(model)
    assert [record.lineage for record in records] == [f"r{i}" for i in range(7)]
    assert {record.text for record in records} == {"Somebody wrote about a matter, version 1."}
    assert len(model.asked) == 3 * 7
    assert [step.done for step in steps] == [3, 6, 7]
    assert sum(step.diagnostics["ended"]["private and useful"] for step in steps) == 7


def test_the_judge_chooses_among_records_with_the_true_one_and_its_find_is_told_to_the_rewriter():
    model = Instructed(
        privacy=lambda prompt, version: names_the_source(prompt, version) if version < 3 else "Record: none"
    )
    original = model._answer

    def answer(prompt):
        letter = re.search(r"[Ll]etter (\d+)", prompt).group(1)
        reply = original(prompt)
        return reply.replace("a matter", f"letter {letter}") if prompt.startswith("Rewrite") else reply

    model._answer = answer
    _, records = ran(model, candidates=4, count=2)
    assert [record.text[-10:] for record in records] == ["version 3."] * 2
    judged = [prompt for prompt in model.asked if prompt.startswith("You test")]
    assert len(judged) == 6
    assert all(len(re.findall(r"^\[\d\] Letter", prompt, re.MULTILINE)) == 4 for prompt in judged)
    last = [prompt for prompt in model.asked if prompt.startswith("Rewrite")][-1]
    assert "Earlier attempt 2 (traceable by: letter; version, still useful)" in " ".join(last.split())


def test_the_rewriter_sees_three_attempts_and_stops_after_five_rounds():
    model = Instructed(utility=lambda prompt, version: "Label: other\nConfidence: 90")
    _, records = ran(model, count=1)
    rewriters = [prompt for prompt in model.asked if prompt.startswith("Rewrite")]
    assert [prompt.count("Earlier attempt") for prompt in rewriters] == [0, 1, 2, 3, 3]
    assert "version 1." not in rewriters[-1]
    assert "no longer useful" in rewriters[-1]
    assert records[0].text.endswith("version 5.")  # private, if not useful


@pytest.mark.parametrize("reply", ["I would rather not say.", "Record: 99\nWords: x", ""])
def test_a_verdict_that_cannot_be_read_is_no_acquittal(reply):
    steps, records = ran(Instructed(privacy=lambda prompt, version: reply), count=3)
    assert records == []
    assert steps[0].funnel == {"made": 3, "dropped: still traced to its record": 3, "kept": 0}
    _, kept = ran(Instructed(privacy=lambda prompt, version: reply), count=3, unfinished="keep")
    assert [record.text[-10:] for record in kept] == ["version 5."] * 3


class Holding(Instructed):
    """A model that can be held to replies; it gives the wanted one, or none."""

    def __init__(self, wanted, able=True, **judges):
        super().__init__(**judges)
        self.wanted, self.held = wanted, []
        self.capabilities = frozenset({"instruct", "choices"} if able else {"instruct"})

    def choose(self, prompts, choices, sampling):
        self.held += [(prompt, tuple(among)) for prompt, among in zip(prompts, choices, strict=True)]
        return [next((one for one in among if one.startswith(self.wanted)), None) for among in choices]


def test_a_judge_that_cannot_be_read_is_held_to_its_replies():
    """Only those replies are asked for again, and the run says how many were had in which way."""
    model = Holding("Record: none", privacy=lambda prompt, version: "Somebody from the office, I think.")
    steps, records = ran(model, count=3)
    assert len(records) == 3
    assert len(model.held) == 3
    prompt, among = model.held[0]
    assert prompt.startswith("You test")
    assert among == (*(f"Record: {n}" for n in range(1, 6)), "Record: none")
    assert steps[0].diagnostics["judged"] == {"as asked": 3, "held to its choices": 3, "unreadable": 0}
    model = Holding("Label: tram\nConfidence: 70", utility=lambda prompt, version: "Tram, surely.")
    steps, records = ran(model, count=1, labels=("tram", "bus"))
    assert len(records) == 1
    assert steps[0].diagnostics["rounds"] == {"1": 1}
    assert {one.split("\n")[0] for one in model.held[0][1]} == {"Label: tram", "Label: bus"}


def test_a_model_that_cannot_be_held_to_replies_is_read_as_before():
    for model in (
        Holding("Record: none", able=False, privacy=lambda prompt, version: "No idea."),
        Holding("Something else", privacy=lambda prompt, version: "No idea."),
    ):
        steps, records = ran(model, count=2, rounds=1)
        assert records == []
        assert steps[0].diagnostics["judged"]["unreadable"] == 2
        assert bool(model.held) == ("choices" in model.capabilities)


def test_every_reply_that_a_judge_may_be_held_to_is_read():
    assert [parse_privacy(reply, 3) for reply in privacy_choices(3)] == [(0, ()), (1, ()), (2, ()), (None, ())]
    found = [parse_utility(reply) for reply in utility_choices(("tram", "the bus"))]
    assert [label for label, _ in found] == ["tram"] * 6 + ["the bus"] * 6
    assert [sure for _, sure in found] == [10, 30, 50, 70, 90, 100] * 2
    assert {parse_utility(reply)[0] for reply in utility_choices(())} == {"yes", "no"}


@pytest.mark.parametrize(("confidence", "rounds"), [(59, 5), (60, 1)])
def test_a_label_must_be_found_with_confidence(confidence, rounds):
    model = Instructed(utility=lambda prompt, version: f"Label: Tram.\nConfidence: {confidence}")
    steps, _ = ran(model, count=1)
    assert steps[0].diagnostics["rounds"] == {str(rounds): 1}


def test_without_labels_the_judge_compares_with_the_original():
    model = Instructed()
    ran(model, count=1, labels=())
    asked = next(prompt for prompt in model.asked if prompt.startswith("Here are two versions"))
    assert TEXTS[0] in asked


def test_changed_prompts_of_the_runs_domain_are_asked_and_read_as_before():
    own = {"rewriter": "Rewrite, please: {{ original }}", "privacy_judge": SHIPPED["privacy_judge"] + " Think."}
    model = Instructed()
    changed = InstructOperators({"generic": own, "legal": {"rewriter": "Rewrite as law: {{ original }}"}})
    steps = list(get_method("rewrite").run(dataclasses.replace(context(model, count=2), operators=changed)))
    rewriters = [prompt for prompt in model.asked if prompt.startswith("Rewrite")]
    assert rewriters == [f"Rewrite, please: {text}" for text in TEXTS[:2]]
    judges = [prompt for prompt in model.asked if prompt.startswith("You test")]
    assert len(judges) == 2
    assert all(prompt.endswith(" Think.") for prompt in judges)
    assert len(steps[-1].records) == 2


def test_an_empty_reply_is_counted():
    steps, records = ran(Instructed(rewritten=""), count=2)
    assert records == []
    assert steps[0].funnel["dropped: empty reply"] == 2


def test_traces_lie_in_the_runs_own_folder_for_its_owner_alone(tmp_path):
    ran(Instructed(), tmp_path)
    files = sorted((tmp_path / "run" / "traces").iterdir())
    assert [file.name for file in files] == [f"attempts_{i:07d}.jsonl" for i in (0, 3, 6)]
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in files)
    lines = [json.loads(line) for line in files[0].read_text().splitlines()]
    assert [line["record_id"] for line in lines] == ["r0", "r1", "r2"]
    assert lines[0]["attempts"][0]["private"] is True


def test_a_model_that_follows_no_instructions_is_refused():
    class Plain(Instructed):
        capabilities = frozenset({"logprobs"})

    with pytest.raises(UserError, match="follows instructions"):
        ran(Plain())


def test_replies_are_read_as_models_write_them():
    assert parse_privacy('**Record:** 2\n**Words:** "the tram"; Monday.', 5) == (1, ("the tram", "Monday"))
    assert parse_privacy("<think>Record: 1</think>Record: none", 5) == (None, ())
    assert parse_utility("Label: complaint.\nConfidence: 85%") == ("complaint", 85)
    assert parse_utility("complaint") is None
