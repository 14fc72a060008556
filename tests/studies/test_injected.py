"""Planting fake identifiers and canaries: values stand where their spans say, old spans move along, and leaks count."""

import pytest

from engine.pii.spans import Span
from engine.pii.surrogates.codes import luhn_valid
from engine.studies.filter_presets.measures import Outputs, privacy, stage, written
from engine.studies.filter_presets.parameters import FilterPresetsParameters
from engine.studies.filter_presets.run import filter_parameters
from engine.studies.injected import CANARY, FIRST, canary_phrases, identifier, plant

TEXTS = ["Ann Hill had a fever. She saw Dr Orr on Monday.", "No reaction was seen.", "A rash. Then pain", ""]
SPANS = [[Span("r", 0, 8, "PERSON"), Span("r", 33, 36, "PERSON")], [], [], []]


def test_canaries_are_distinct_and_begin_with_the_papers():
    phrases = canary_phrases(40, 3)
    assert phrases[:2] == FIRST
    assert len(set(phrases)) == 40
    assert canary_phrases(40, 3) == phrases != canary_phrases(40, 4)


@pytest.mark.parametrize("seed", range(8))
def test_planted_values_stand_where_their_spans_say(seed):
    phrases = canary_phrases(2, seed)
    made = plant(TEXTS, SPANS, 2, phrases, seed)
    for clean, spans, record in zip(TEXTS, SPANS, made, strict=True):
        moved = [record.text[s.start : s.end] for s in record.spans]
        assert moved == [clean[s.start : s.end] for s in spans]
        assert len(record.identifiers) == 2
        values = [record.text[s.start : s.end] for s in record.identifiers]
        assert all(v[0].isalnum() or v[0] == "(" for v in values)
        assert all(v[-1].isalnum() for v in values)
        assert {s.label for s in record.canaries} <= {CANARY}
        left = record.text
        assert all(word in left for word in clean.split())
    found = [r.text[s.start : s.end] for r in made for s in r.canaries]
    assert sorted(found) == sorted(phrases)


def test_card_numbers_pass_the_check():
    from random import Random

    drawn = [identifier(Random(i)) for i in range(60)]
    cards = [value for label, value, _ in drawn if label == "CARD"]
    assert len(cards) >= 3
    assert all(luhn_valid(value.replace(" ", "")) for value in cards)
    assert {label for label, _, _ in drawn} >= {"CARD", "EMAIL", "PHONE", "PERSON", "NATIONAL_ID"}


def test_leaks_are_counted_against_the_own_record():
    made = plant(["It rained.", "It snowed."], [[], []], 1, canary_phrases(1, 0), 0)
    carrier = next(i for i, p in enumerate(made) if p.canaries)
    other = 1 - carrier
    value = made[0].text[made[0].identifiers[0].start : made[0].identifiers[0].end]
    phrase = canary_phrases(1, 0)[0]
    four = " ".join(phrase.split()[2:6])
    outputs = Outputs(
        (f"Seen: {value}!", "Nothing.", phrase.upper(), f"so {four}", phrase), (0, 1, carrier, carrier, other)
    )
    rows = {name: (share, n) for name, share, _, _, n in privacy(outputs, made)}
    assert rows["identifier_leakage"] == (pytest.approx(1 / 5), 5)
    assert rows["canary_leakage"] == (pytest.approx(1 / 5), 5)  # another record's canary is not this output's leak
    assert rows["canary_parts"] == (pytest.approx(2 / 5), 5)
    assert rows["own_identifier_leakage"][0] == 0
    # the carrier's outputs: one silent, the whole phrase, four of its words
    words = [w for w in phrase.casefold().split() if len(w) >= 4]
    part = len([w for w in four.split() if len(w) >= 4]) / len(words)
    assert rows["canary_words"] == (pytest.approx((0 + 1 + part) / 3), 3)


def test_presets_of_the_study_follow_the_paper_unless_asked():
    plain = FilterPresetsParameters()
    strict = filter_parameters(plain, "strict", ("a",), ("b",))
    assert (strict.block_identifiers, strict.pre, strict.sensitive, strict.threshold) == (
        False,
        "placeholders",
        ("a",),
        0.85,
    )
    further = FilterPresetsParameters(replacement="surrogates", canaries_known=True, block_identifiers=True)
    changed = filter_parameters(further, "all", ("a",), ("b",))
    assert (changed.block_identifiers, changed.pre, changed.sensitive) == (True, "surrogates", ("a", "b"))
    assert filter_parameters(further, "baseline", ("a",), ("b",)).pre == "none"


def test_the_similarity_stage_is_counted_by_threshold():
    made = Outputs(("a", "b", "c", "d"), (0, 1, 2, 3), similar=2, nearest=(1.0, 0.91, 0.86, -1.0))
    rows = {name: value for name, value, *_ in stage(made)}
    assert rows == {
        "replaced_as_similar": 0.5,
        "near_0.85": 0.75,
        "near_0.90": 0.5,
        "near_0.92": 0.25,
        "near_0.95": 0.25,
    }
    assert all(value != value for _, value, *_ in stage(Outputs(("a",), (0,))))


def test_marks_of_outputs_tell_same_from_other_and_need_the_key():
    one, two = written(Outputs(("a", "b"), (0, 1)), b"k" * 32), written(Outputs(("a", "c"), (0, 1)), b"k" * 32)
    assert (one["mark"] == two["mark"]).tolist() == [True, False]
    assert written(Outputs(("a",), (0,)), b"l" * 32)["mark"][0] != one["mark"][0]
