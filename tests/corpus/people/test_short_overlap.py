"""What equal short records tell: chance is told from common people at every size, and what cannot be told is said."""

from __future__ import annotations

import random
from collections import Counter

import pandas as pd
import pytest

from engine.corpus.people.short_marks import COMMON as MOST
from engine.corpus.people.short_marks import ShortMarks, short_marks
from engine.corpus.people.short_overlap import ShortOverlap, compared, pairs
from tests.corpus.answering import common_answers, free_answers, one_word_changed

KEY = b"k" * 32
SIZES = ((50, 50), (400, 400), (40, 800), (800, 40))


def marks_of(texts: list[str], sources: list[str] | None = None) -> ShortMarks:
    return short_marks(texts, sources if sources is not None else [None] * len(texts), KEY)


def held(marks: ShortMarks) -> tuple[dict[int, list[int]], dict[int, int]]:
    found: dict[int, list[int]] = {}
    for value, record in zip(marks.hashes.tolist(), marks.record.tolist(), strict=True):
        found.setdefault(value, []).append(record)
    return found, dict(Counter(marks.hashes[marks.whole].tolist()))


def shared(first: list[str], second: list[str]) -> ShortOverlap:
    """Return what a second file shares with a first one."""
    a, b = marks_of(first), marks_of(second)
    (there, there_whole), (own, own_whole) = held(a), held(b)
    return compared(
        pairs(own, there), own_whole, there_whole, sizes=(b.records, a.records),
        other_once=sum(count == 1 for count in there_whole.values()), records=min(a.total, b.total),
    )  # fmt: skip


def test_case_punctuation_and_accents_leave_the_same_marks() -> None:
    one, two = marks_of(["The food was cold."]), marks_of(["  the FOOD, wás cold"])
    assert one.hashes.tolist() == two.hashes.tolist()
    assert len(one.hashes) == 5  # the whole, and without each of its words
    assert not set(one.hashes.tolist()) & set(short_marks(["The food was cold."], [None], b"o" * 32).hashes.tolist())


@pytest.mark.parametrize("words", range(4, 16))
def test_a_changed_added_or_dropped_word_leaves_a_mark(words: int) -> None:
    text = [f"word{'abcdefghijklmno'[i]}" for i in range(words)]
    own = set(marks_of([" ".join(text)]).hashes.tolist())
    for at in range(words):
        changed = [*text[:at], "other", *text[at + 1 :]]
        dropped = [*text[:at], *text[at + 1 :]]
        assert own & set(marks_of([" ".join(changed)]).hashes.tolist()), (words, at)
        if words > 4:
            assert own & set(marks_of([" ".join(dropped)]).hashes.tolist()), (words, at)


def test_long_and_empty_records_have_no_short_marks_and_a_source_that_repeats_itself_counts_once() -> None:
    assert marks_of(["", "   ", " ".join(["word"] * 16)]).records == 0
    assert marks_of(["", "   ", " ".join(["word"] * 16)]).total == 1
    assert marks_of(["fine thanks"] * 5, ["a", "a", "a", "b", ""]).records == 3
    assert Counter(marks_of(["the food was cold"] * 9).hashes.tolist()).most_common(2)[0][1] == 9  # whole texts: all
    assert sorted(Counter(marks_of(["the food was cold"] * 9).hashes.tolist()).values()) == [MOST] * 4 + [9]


@pytest.mark.parametrize("sizes", SIZES)
def test_strangers_with_answers_of_one_stock_are_seldom_asked_about_and_never_merged(sizes: tuple[int, int]) -> None:
    rng = random.Random(7)
    found = [shared(free_answers(rng, sizes[0]), free_answers(rng, sizes[1])) for _ in range(12)]
    assert not any(one.clear for one in found)
    assert sum(one.beyond_chance for one in found) <= 3  # the level is 1 in 20
    # A third of the answers are everybody's; forty records are too few to say that no more is behind it.
    assert sum(one.untold for one in found) <= (2 if sizes[0] == sizes[1] else 8)


@pytest.mark.parametrize("sizes", SIZES)
def test_answers_that_everybody_gives_cannot_be_told(sizes: tuple[int, int]) -> None:
    rng = random.Random(8)
    found = [shared(common_answers(rng, sizes[0]), common_answers(rng, sizes[1])) for _ in range(6)]
    assert not any(one.clear for one in found)
    assert all(one.any for one in found)
    assert "too common" in found[0].sentence()


def test_answers_to_other_questions_share_nothing() -> None:
    rng = random.Random(9)
    found = shared(common_answers(rng, 200), rng.choices(["left", "right", "both knees"], k=200))
    assert (found.common, found.between) == (0, 0)
    assert not found.any


CHANGES = {"the same": str, "full stop dropped": lambda text: text.rstrip("."), "capitals": str.upper}


@pytest.mark.parametrize("change", [*CHANGES, "a word changed"])
@pytest.mark.parametrize(("count", "part"), [(50, 0.2), (400, 0.05), (400, 0.2)])
def test_a_part_of_the_same_people_is_found(change: str, count: int, part: float) -> None:
    rng = random.Random(10)
    edit = CHANGES.get(change) or one_word_changed(rng)
    found = []
    for _ in range(6):
        first = free_answers(rng, count)
        common = [edit(text) for text in rng.sample(first, round(part * count))]
        found.append(shared(first, common + free_answers(rng, count - len(common))))
    changed = change == "a word changed"
    few = changed and count == 50  # ten records, of which some had fewer than four words
    assert sum(one.any for one in found) >= (2 if few else 4 if changed else 5)
    assert few or min(one.p_value for one in found) < 0.01


@pytest.mark.parametrize("change", [*CHANGES, "a word changed"])
@pytest.mark.parametrize("count", [30, 300])
def test_the_same_file_in_another_spelling_is_clear(change: str, count: int) -> None:
    rng = random.Random(11)
    edit = CHANGES.get(change) or one_word_changed(rng)
    first = free_answers(rng, count)
    found = shared(first, [edit(text) for text in first])
    assert found.any
    assert found.clear or (change == "a word changed" and count == 30)


def test_pairs_inside_one_file_count_against_it() -> None:
    """As many pairs inside the files as between them is what strangers of one stock have."""
    rng = random.Random(12)
    stock = [f"{text} {i}" for i, text in enumerate(free_answers(rng, 60))]
    one, two = ([*stock[:20], *stock[20:40], *stock[20:40]], [*stock[:20], *stock[40:], *stock[40:]])
    found = shared(one, two)
    assert (found.between, found.inside) == (20, 40)
    assert not found.beyond_chance
    assert shared(stock[:20], stock[:20]).clear


@pytest.mark.slow
def test_chat_messages_and_work_accidents_of_strangers(test_data) -> None:
    rng = random.Random(13)
    chat = pd.read_parquet(test_data / "ubuntu_irc.parquet").groupby("user")["text"].apply(list).to_dict()
    accidents = list(pd.read_parquet(test_data / "lm" / "osha_nhtsa_short.parquet")["text"])
    asked = merged = tried = 0
    for count in (50, 500, 2000):
        for _ in range(10):
            users = rng.sample(sorted(chat), len(chat))
            said = [[text for user in users[side::2] for text in chat[user][:5]][:count] for side in (0, 1)]
            both = rng.sample(accidents, 2 * count)
            for first, second in (said, (both[:count], both[count:])):
                found = shared(first, second)
                asked, merged, tried = asked + found.any, merged + found.clear, tried + 1
    assert merged == 0
    assert asked <= 0.15 * tried
