import pytest

from engine.corpus.keyed import keyed_digest, keyed_order, keyed_uniform
from engine.corpus.people.population import former_short_hashes, overlap, unit_hashes
from engine.corpus.text.language import SAMPLE_RECORDS, detect_languages, language_warning
from engine.errors import InternalError

KEY, OTHER = b"k" * 32, b"j" * 32
ENGLISH = "The patient was seen in the clinic today because of pain in the left shoulder, number {}."
GERMAN = "Der Patient stellte sich heute wegen Schmerzen in der linken Schulter in der Praxis vor, Nummer {}."


def shares(english: int, german: int) -> object:
    """Return the language shares of so many records of each."""
    texts = [ENGLISH.format(i) for i in range(english)] + [GERMAN.format(i) for i in range(german)]
    return detect_languages([str(i) for i in range(len(texts))], texts, KEY)


@pytest.mark.parametrize(
    ("english", "german", "warns"), [(50, 0, False), (96, 4, False), (60, 40, True), (0, 50, True)]
)
def test_other_languages_are_warned_about(english: int, german: int, warns: bool) -> None:
    found = shares(english, german)
    assert abs(found.english - english / (english + german)) < 0.1
    warning = language_warning(found)
    assert (warning is not None) == warns
    if warning:
        assert "de" in found.shares
        assert "What works" in warning
        assert "What does not" in warning


def test_only_a_sample_is_looked_at() -> None:
    assert shares(SAMPLE_RECORDS + 300, 0).sampled == SAMPLE_RECORDS


def test_texts_without_letters_say_so() -> None:
    assert "too few letters" in (language_warning(detect_languages(["1"], ["12 34"], KEY)) or "")


def test_short_notes_do_not_outvote_longer_ones() -> None:
    texts = [ENGLISH.format(i) for i in range(10)] + ["ok", "nada", "bien"] * 30
    assert detect_languages([str(i) for i in range(100)], texts, KEY).english == 1.0


LONG = "a note of more than eight words about one visit in {}"


def test_the_same_people_are_recognised_whatever_the_case_and_blanks() -> None:
    a = unit_hashes([LONG.format("May"), LONG.format("June")], KEY)
    b = unit_hashes([LONG.format("MAY").upper().replace(" ", "\n ")], KEY)
    assert overlap(a, b).shared == 1
    assert overlap(a, b).share == 1.0
    assert overlap(a, unit_hashes([LONG.format("July")], KEY)).shared == 0
    assert overlap([], a).share == 0.0


def test_an_added_record_does_not_hide_a_unit() -> None:
    before = unit_hashes([LONG.format("May"), LONG.format("June")], KEY)
    after = unit_hashes([LONG.format("May"), LONG.format("June"), LONG.format("July")], KEY)
    assert overlap(before, after).share == 1.0


def test_common_short_phrases_do_not_make_strangers_alike() -> None:
    a = unit_hashes(["No complaints.", LONG.format("May")], KEY)
    b = unit_hashes(["No complaints.", LONG.format("June")], KEY)
    assert overlap(a, b).shared == 0
    assert unit_hashes(["hello there", "yes"], KEY) == []


def test_the_first_editions_hashes_of_short_records_are_still_made() -> None:
    texts = ["hello there", "yes", LONG.format("May"), "no"]
    assert len(former_short_hashes(["p", "p", "q", "q"], texts, KEY)) == 1
    assert former_short_hashes(["p", "p"], texts[:2], KEY) == former_short_hashes(
        ["x", "x"], ["YES", "hello  there"], KEY
    )


def test_hashes_need_the_key() -> None:
    assert not set(unit_hashes([LONG], KEY)) & set(unit_hashes([LONG], OTHER))
    with pytest.raises(InternalError):
        keyed_digest(b"short", "x", "y")


def test_purposes_and_keys_are_independent() -> None:
    values = [str(i) for i in range(2000)]
    draws = [keyed_uniform(KEY, "a", value) for value in values]
    assert abs(sum(draws) / 2000 - 0.5) < 5 * (1 / 12 / 2000) ** 0.5
    assert keyed_order(KEY, "a", values) != keyed_order(KEY, "b", values)
    assert sorted(keyed_order(KEY, "a", values)) == list(range(2000))
