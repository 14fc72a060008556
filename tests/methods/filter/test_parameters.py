"""The seven presets against Table 1 of Mohammed 2025, content types, unknown sequences, and the wrapper's guarantee."""

import pandas as pd
import pytest

from engine.errors import UserError
from engine.methods import get_method
from engine.methods.base import Context, Facts, Step, SyntheticRecord, parse_parameters
from engine.methods.filter.around import FilteredMethod
from engine.methods.filter.parameters import ADAPTIVE, PRESETS, FilterParameters
from engine.methods.filter.stages import SIMILAR
from engine.pii.content_type import content_type
from engine.pii.detect.unknown import rare_sequences
from engine.pii.spans import Span

FACTS = Facts(records=400, units=400, unit="record", cap=1, labels=2, mean_characters=400.0)


@pytest.mark.parametrize(
    ("preset", "pre", "temperature", "k", "p", "penalty", "blocked", "post", "threshold", "reapply"),
    [  # one row a row of Table 1
        ("baseline", "none", 0.8, 50, 0.95, 1.0, 0, "none", None, False),
        ("pre-only", "placeholders", 0.8, 50, 0.95, 1.0, 0, "none", None, False),
        ("post-only", "none", 0.8, 50, 0.95, 1.0, 0, "fixed", 0.92, True),
        ("pre-post", "placeholders", 0.8, 50, 0.95, 1.0, 0, "fixed", 0.92, True),
        ("all", "placeholders", 0.8, 50, 0.95, 1.2, 6, "fixed", 0.92, True),
        ("strict", "placeholders", 0.7, 40, 0.90, 1.3, 6, "fixed", 0.85, True),
        ("adaptive", "placeholders", 0.8, 50, 0.95, 1.2, 6, "adaptive", 0.92, True),
    ],
)
def test_presets_are_table_1(preset, pre, temperature, k, p, penalty, blocked, post, threshold, reapply):
    made = FilterParameters(preset=preset)
    assert (made.pre, made.temperature, made.top_k, made.top_p) == (pre, temperature, k, p)
    assert (made.repetition_penalty, len(made.blocked), made.post, made.reapply) == (penalty, blocked, post, reapply)
    if threshold is not None:
        assert made.threshold == threshold
    assert FilterParameters.model_validate(made.model_dump(mode="json")) == made
    assert set(PRESETS) >= {preset}


def test_a_value_set_by_hand_beats_the_preset():
    assert FilterParameters(preset="strict", threshold=0.8).threshold == 0.8
    assert FilterParameters(preset="strict", threshold=0.8).top_k == 40


def test_thresholds_of_the_adaptive_mode():
    assert ADAPTIVE == {"technical": 0.95, "general": 0.90, "personal": 0.85}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("My mother was born in May and her husband called Dr Hill.", "personal"),
        ("[PERSON] rang [PHONE] about the appointment on Monday.", "personal"),
        ("Run apt install and restart the server; the log in /var/log says error 3.1.2.", "technical"),
        ("The river bends twice before it meets the sea, and the road follows it for a while.", "general"),
        ("", "general"),
    ],
)
def test_content_types(text, kind):
    assert content_type(text) == kind


def test_unknown_sequences_are_rare_and_shaped():
    texts = [
        "Took 20mg at 14:30; badge ZX-88213 shown to Quorbex staff.",
        "Took 20mg at 14:30 again; model RTX-4090 fitted.",
        "The model RTX-4090 again. Took 20mg.",
    ]
    found = rare_sequences(texts, ["a", "b", "c"], [[], [], []])
    assert [texts[0][s.start : s.end] for s in found[0]] == ["ZX-88213", "Quorbex"]
    assert [texts[1][s.start : s.end] for s in found[1]] == []  # in two units
    badge = Span("", texts[0].index("ZX"), texts[0].index(" shown"), "CODE")
    again = rare_sequences(texts, ["a", "b", "c"], [[badge], [], []])
    assert [texts[0][s.start : s.end] for s in again[0]] == ["Quorbex"]


def test_the_filter_around_a_dp_method_keeps_its_claim_and_says_what_is_public():
    inner, around = get_method("aug-pe"), get_method("filter:aug-pe")
    plain = inner.guarantee(parse_parameters(inner.spec, {"epsilon": 2.0}), FACTS)
    claim = around.guarantee(parse_parameters(around.spec, {"epsilon": 2.0}), FACTS)
    assert around.spec.kind == claim.kind == "dp"
    assert (claim.epsilon, claim.delta, claim.events) == (plain.epsilon, plain.delta, plain.events)
    assert [a for a in claim.assumptions if "public: the recognisers shipped" in a]
    assert "spans" not in around.spec.needs


def test_the_filter_does_not_go_around_itself():
    with pytest.raises(UserError, match="filters its output already"):
        get_method("filter:filter")
    with pytest.raises(UserError, match="filters its output already"):
        get_method("filter:filter:surrogate")


class Leaky:
    """A method of some kind that writes one text over and over."""

    def __init__(self, base, text):
        self.spec, self.text = base.spec, text

    def run(self, context):
        yield Step({"made": 2}, (SyntheticRecord(self.text), SyntheticRecord("A calm day.")), {"kept": 2}, "s", 2, 2)


class Raising:
    """A detector that must not be asked."""

    def detect(self, texts):
        raise AssertionError("the corpus' own detector was used around a dp method")


@pytest.fixture(scope="module")
def embedder():
    from engine.models.builtin.embedder import load_embedder

    return load_embedder()


def around(method_id, text, embedder, detector, **settings):
    method = FilteredMethod(Leaky(get_method(method_id), text))
    empty = pd.DataFrame(columns=["record_id", "text", "source_id", "label"])
    spans = pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"])
    context = Context(
        records=empty, spans=spans, count=2, parameters=parse_parameters(method.spec, settings), seed=0,
        embedder=embedder, detector=detector,
    )  # fmt: skip
    return next(iter(method.run(context)))


def test_around_a_dp_method_only_shipped_rules_and_named_phrases_are_used(embedder):
    secret = "Emerald dragons soar through clouds of rainbow silk."
    text = f"Write to ann@example.org. {secret}"
    step = around("public", text, embedder, Raising(), filter_sensitive=[secret])
    assert step.records[0].text == f"Write to [EMAIL]. {SIMILAR}"
    assert step.records[1].text == "A calm day."
    assert step.state == {"made": 2}


def test_dropped_outputs_are_counted(embedder):
    secret = "Emerald dragons soar through clouds of rainbow silk."
    step = around("public", secret, embedder, Raising(), filter_sensitive=[secret], filter_action="drop")
    assert [r.text for r in step.records] == ["A calm day."]
    assert step.funnel == {"kept": 1, "dropped: too near a known sensitive item": 1}
