"""Files whose records were framed, joined or split by line are the same people; letters of one form are not."""

from __future__ import annotations

import random

import pandas as pd
import pytest

from engine.corpus.columns.mapping import ColumnMapping
from engine.corpus.people.equal_marks import COMMON, LINES, RESTS, equal_marks
from engine.corpus.people.equal_overlap import EqualOverlap, equal_pairs
from tests.corpus.answering import WORDS
from tests.store.ledger_making import gaussian, reserved_run

KEY = b"k" * 32
MAPPING = ColumnMapping(text="text")
STAFF = ("nurse", "doctor", "porter", "clerk", "surgeon", "cleaner", "cook", "guard", "matron", "student")
MANNERS = ("kind", "rude", "late", "gentle", "careful", "loud", "tired", "calm", "busy", "sharp")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def answers(rng: random.Random, count: int) -> list[str]:
    """Return answers of one form, 7,000 different ones."""
    return [
        f"The {rng.choice(STAFF)} was {rng.choice(MANNERS)} and {rng.choice(MANNERS)} on {rng.choice(DAYS)}"
        for _ in range(count)
    ]


def letters(rng: random.Random, count: int) -> list[str]:
    """Return letters of one form with two words and two numbers of their own."""
    return [
        f"Dear colleague, thank you for sending this patient with pain in the {rng.choice(WORDS)} for "
        f"{rng.randrange(1, 60)} days. On examination the {rng.choice(WORDS)} was tender. We will see the patient "
        f"again in {rng.randrange(1, 20)} weeks. Kind regards, the clinic."
        for _ in range(count)
    ]


def readings(rng: random.Random, count: int) -> list[str]:
    """Return measurements: hardly a word that is not in each of them."""
    return [
        f"BP {rng.randrange(90, 180)}/{rng.randrange(50, 100)} pulse {rng.randrange(50, 130)} sat "
        f"{rng.randrange(88, 101)}"
        for _ in range(count)
    ]


def imported(store, texts):
    return store.corpora.import_table(pd.DataFrame({"text": texts}), MAPPING, name="Answers", holdout=0)


def asked_about(store, corpus, other) -> bool:
    return any(one.population == other.population for one in store.ledger.of(corpus.id).questions)


FRAMES = {
    "note": "Note: {}",
    "words before": "Answer given by the patient: {}",
    "words behind": "{} (end of record)",
    "both": "Note: {} - checked",
    "tags": "<p>{}</p>",
    "a cell": '{{"text": "{}"}}',
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("kind", [answers, readings])
def test_the_same_words_around_each_record_bring_no_budget_back(store, kind, frame):
    texts = kind(random.Random(1), 120)
    first, again = imported(store, texts), imported(store, [FRAMES[frame].format(text) for text in texts])
    assert again.population == first.population


def test_a_small_file_in_a_frame_asks(store):
    texts = readings(random.Random(2), 5)
    first, again = imported(store, texts), imported(store, [f"Note: {text}" for text in texts])
    assert again.population == first.population or asked_about(store, again, first)


@pytest.mark.parametrize("size", [2, 5, 20])
def test_records_joined_by_line_and_split_again_stay_with_their_people(store, size):
    texts = answers(random.Random(3), 300)
    joined = ["\n".join(texts[i : i + size]) for i in range(0, len(texts), size)]
    first, again = imported(store, texts), imported(store, joined)
    assert again.population == first.population
    other = answers(random.Random(4), 300)
    whole = imported(store, ["\n".join(other[i : i + size]) for i in range(0, len(other), size)])
    if whole.population != first.population:  # 7,000 answers: some are equal by chance
        assert imported(store, other).population == whole.population


def test_a_form_with_its_numbers_masked_is_the_same_people(store):
    texts = letters(random.Random(5), 200)
    masked = [" ".join("[NUMBER]" if word.rstrip(".").isdigit() else word for word in text.split()) for text in texts]
    assert imported(store, masked).population == imported(store, texts).population


def test_a_frame_after_a_frame_stays_with_its_people_and_its_marks_stay_few(store):
    texts = answers(random.Random(6), 150)
    first = imported(store, texts)
    for turn, frame in enumerate(FRAMES.values()):
        again = imported(store, [frame.format(text) for text in texts])
        assert again.population == first.population, turn
    with store.session.db.read() as connection:
        rests = connection.exec_driver_sql("SELECT count(*) FROM equal_marks WHERE kind = 'rests'").scalar()
    assert rests <= 1.1 * len(texts)
    store.corpora.delete(first.id)
    assert imported(store, [f"Reply: {text}" for text in texts]).population == first.population


@pytest.mark.parametrize(("kind", "sizes"), [(letters, (50, 50)), (letters, (15, 15)), (answers, (1000, 50))])
def test_strangers_of_one_form_are_not_merged(store, kind, sizes):
    rng = random.Random(7)
    for _ in range(3):
        first, second = (imported(store, kind(rng, size)) for size in sizes)
        assert first.population != second.population
        store.corpora.delete(first.id)
        with store.session.db.write() as connection:
            for table in ("equal_marks", "short_marks", "people_marks", "unit_hashes"):
                connection.exec_driver_sql(f"DELETE FROM {table}")


def test_strangers_with_answers_of_one_form_are_seldom_asked_about(store):
    rng = random.Random(8)
    first = imported(store, readings(rng, 200))
    for _ in range(4):
        other = imported(store, readings(rng, 60))
        assert other.population != first.population
        reserved_run(store, other, gaussian(0.1))


def test_marks_are_keyed_and_what_all_hold_is_kept_three_times() -> None:
    texts = [f"Kind regards from us.\nMy {a} was {b} today." for a in ("hip", "knee", "toe") for b in ("sore", "red")]
    found = equal_marks(texts, [None] * 6, KEY)
    assert sorted(dict(zip(*_counts(found[LINES].hashes))).values()) == [1] * 6 + [COMMON]
    assert found[RESTS].items == 6
    other = equal_marks(texts, [None] * 6, b"o" * 32)
    assert not set(found[RESTS].hashes.tolist()) & set(other[RESTS].hashes.tolist())
    said_again = equal_marks([texts[0], texts[0], texts[1]], ["a", "a", "b"], KEY)
    assert said_again[LINES].items == 4  # one person who repeats it has said it once


def _counts(hashes):
    values = hashes.tolist()
    return list(set(values)), [values.count(value) for value in set(values)]


def test_records_that_share_several_lines_are_one_pair() -> None:
    found = equal_pairs({1: [8], 2: [9], 3: [16], 4: [24, 25], 5: [32, 41]}, {1: [80], 2: [81], 3: [88]})
    assert (found.between, found.inside, found.again) == (2, 1, {8: 80, 9: 81, 16: 88})


@pytest.mark.parametrize("sizes", [(50, 50), (300, 300), (40, 800), (800, 40)])
def test_one_stock_of_rests_is_seldom_told_apart(sizes) -> None:
    """The test holds its level for strangers of one form at every size."""
    rng = random.Random(9)
    found = []
    for _ in range(60):
        marks = [equal_marks(answers(rng, size), [None] * size, KEY)[RESTS] for size in sizes]
        held = []
        for one in marks:
            held.append({})
            for value, item in zip(one.hashes.tolist(), one.item.tolist(), strict=True):
                held[-1].setdefault(value, []).append(item)
        pairs = equal_pairs(*held)
        found.append(EqualOverlap(RESTS, marks[0].items, marks[1].items, min(sizes), pairs.between, pairs.inside))
    assert not any(one.clear for one in found)
    assert sum(one.any for one in found) <= 4  # the level is 1 in 100, and few pairs at small sizes


def test_notes_and_their_later_versions_without_ids_ask(store, test_data):
    """Each line stands several times, so none is rare; who wrote which is not said the second time."""
    narratives = pd.read_parquet(test_data / "vaers_1998_1999.parquet")["text"].drop_duplicates()
    rng = random.Random(10)
    rows = []
    for i, text in enumerate(rng.sample([text for text in narratives if len(text.split()) > 25], 40)):
        for day in range(2, 6):
            text += f" Day {day}: patient stable, plan unchanged, review in {rng.randrange(2, 9)} hours."
            rows.append({"text": text, "who": f"p{i}"})
    notes = pd.DataFrame(rows)
    named = ColumnMapping(text="text", source_id="who")
    first = store.corpora.import_table(notes, named, name="Notes", unit="source", cap=5)
    again = imported(store, [f"Note: {text}" for text in notes["text"]])
    assert again.population == first.population or asked_about(store, again, first)


@pytest.mark.parametrize("spelling", ["{}", "mrn {}", "MRN-{}", "00{}", "{}.0"])
def test_an_id_in_another_spelling_is_the_same_person(store, spelling):
    rng = random.Random(11)
    numbers = [rng.randrange(10**7, 10**8) for _ in range(60)]
    named = ColumnMapping(text="text", source_id="who")
    corpora = []
    for form in ("MRN{}", spelling):
        table = pd.DataFrame({"text": readings(rng, 60), "who": [form.format(number) for number in numbers]})
        corpora.append(store.corpora.import_table(table, named, name="Notes", unit="source"))
    assert corpora[0].population == corpora[1].population


def test_running_numbers_in_two_forms_are_not_the_same_people(store):
    first = imported(store, [f"short note number {i} about soup" for i in range(30)])
    other = imported(store, [f"a quite different line, {i}, about ships" for i in range(30)])
    assert first.population != other.population
