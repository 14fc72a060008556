"""What a text denies stays denied on its way through outline and abstract."""

from random import Random

import pytest

from engine.models.builtin.format import noisy, outline
from engine.models.prompts.negation import denied, faithful_outline, noisy_keeping, polarity, restored


def phrases(text):
    words = text.split()
    return [(words[d.cue], [words[i].strip(".,;") for i in d.words]) for d in denied(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Patient denies fever; there was no rash.", [("denies", ["fever"]), ("no", ["rash"])]),
        ("She is not pregnant and has a cough.", [("not", ["pregnant"])]),
        ("She never had asthma.", [("never", ["asthma"])]),
        ("no fever, chills or rash, has a cough", [("no", ["fever", "chills", "rash"])]),
        ("no fever, has a cough", [("no", ["fever"])]),
        ("healed w/o scarring", [("w/o", ["scarring"])]),
        ("It didn't hurt but it bled.", [("didn't", ["hurt"])]),
        ("no fever & no rash", [("no", ["fever"]), ("no", ["rash"])]),
        ("Is it red? No.", []),
        ("a fever and a rash", []),
    ],
)
def test_what_is_denied_is_found_with_its_cue(text, expected):
    assert phrases(text) == expected


def test_the_outline_keeps_negations_and_their_objects():
    text = "Patient denies fever; there was no rash and she is not pregnant. She never had asthma."
    for seed in range(20):
        found = faithful_outline(text, Random(seed), 0.78)
        assert [p for p in found if p in ("denies fever", "no rash", "not pregnant", "never asthma")] == [
            "denies fever", "no rash", "not pregnant", "never asthma",
        ]  # fmt: skip
    assert polarity(text, "; ".join(outline(text, Random(1), 0.78)))[1] > 0, "the plain outline turns meaning round"


def test_without_negations_the_outline_is_the_plain_one():
    text = "Fever and a red arm on the second day, seen by [PERSON]."
    assert faithful_outline(text, Random(3), 0.78) == outline(text, Random(3), 0.78)


def test_an_abstract_gets_back_the_denials_it_lost_and_nothing_else():
    source = "No rash or swelling; fever to 102. She denies chest pain."
    assert restored("rash; swelling; fever; chest pain", source) == "No rash; No swelling; fever; denies chest pain"
    assert restored("no rash; fever", source) == "no rash; fever"
    assert restored("rash; fever", "A rash. No rash on the leg. Fever.") == "rash; fever"
    assert restored("rash", "A rash.") == "rash"


@pytest.mark.parametrize(
    ("output", "counts"),
    [("no rash today", (1, 0, 0)), ("a rash today", (0, 1, 0)), ("well today", (0, 0, 1))],
)
def test_polarity_is_kept_turned_or_lost(output, counts):
    assert polarity("There was no rash.", output) == counts


def test_noise_drops_or_moves_a_denial_as_a_whole():
    text = "Patient denies fever; there was no rash and she is not pregnant. She never had asthma."
    assert sum(polarity(text, noisy_keeping(text, Random(i), 0.3, 3.0))[1] for i in range(200)) == 0
    assert sum(polarity(text, noisy(text, Random(i), 0.3, 3.0))[1] for i in range(200)) > 50
    plain = "Fever and a red arm on the second day, seen by [PERSON]."
    assert noisy_keeping(plain, Random(3), 0.3, 3.0) == noisy(plain, Random(3), 0.3, 3.0)
