"""The same people in another file are recognised, merged or asked about; strangers with one form are not."""

import random
import re

import pandas as pd
import pytest
from sqlalchemy import update

from engine.corpus.columns.mapping import ColumnMapping
from engine.corpus.people.marks import chance_of, people_marks
from engine.errors import NotFoundError, RefusedError, UserError
from engine.store.budget import recognition
from engine.store.database.schema import people_questions
from engine.store.store import Store
from tests.store.ledger_making import gaussian, limited, reserved_run

KEY = b"k" * 32
RECORD = ColumnMapping(text="text")
SOURCE = ColumnMapping(text="text", source_id="who")
FOOTER = "No further details were provided at the time of this report."


@pytest.fixture(scope="module")
def narratives(test_data):
    """Return 3,000 different narratives of the file, in random order."""
    texts = list(dict.fromkeys(pd.read_parquet(test_data / "vaers_1998_1999.parquet")["text"]))
    random.Random(4).shuffle(texts)
    return texts[:3000]


def table(texts, who=None):
    return pd.DataFrame({"text": texts, "who": who if who is not None else [f"a{i}" for i in range(len(texts))]})


def imported(store, texts, **settings):
    return store.corpora.import_table(table(texts), RECORD, name="x", **settings)


def half(text):
    words = text.split()
    return " ".join(words[: max(1, len(words) // 2)])


CHANGES = {
    "the same": lambda t: t,
    "full stop dropped": lambda t: t.rstrip(". "),
    "footer": lambda t: f"{t} {FOOTER}",
    "header": lambda t: f"Case report, received by post and typed in by the office: {t}",
    "first half": half,
    "numbers masked": lambda t: re.sub(r"\d+", "[NUMBER]", t),
    "case and blanks": lambda t: t.upper().replace(" ", "  "),
    "another typing": lambda t: t.replace("'", "’").replace("-", "–").replace(",", " ,"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_copy_of_a_file_is_the_same_people(store, narratives, change):
    first = imported(store, narratives[:300])
    again = imported(store, [CHANGES[change](text) for text in narratives[:300]])
    assert again.population == first.population


def test_strangers_of_one_register_are_asked_about_and_not_merged(store, narratives):
    first, second = imported(store, narratives[:1500]), imported(store, narratives[1500:])
    assert first.population != second.population
    view = store.ledger.of(second.id)
    assert [asked.population for asked in view.questions] == [first.population]
    assert any("ledger page" in warning for warning in second.warnings)
    with pytest.raises(RefusedError, match="other-people-than"):
        reserved_run(store, second, gaussian(0.5))
    assert "until a person says" in view.sentence
    after = store.ledger.keep_apart(second.id, first.id)
    assert after.questions == ()
    assert after.lines.iloc[-1]["kind"] == "apart"
    assert store.ledger.of(first.id).lines.iloc[-1]["kind"] == "apart"
    reserved_run(store, second, gaussian(0.5))
    with pytest.raises(UserError, match="Nobody asked"):
        store.ledger.keep_apart(second.id, first.id)
    third = imported(store, narratives[1500:2500])  # the answer stays
    assert third.population == second.population
    assert store.ledger.of(third.id).questions == ()


def test_more_overlap_after_an_answer_asks_again(store, narratives):
    """Each file of the second office brings a few people of the first one along."""
    first = imported(store, narratives[:200])
    own = narratives[1000:1600]
    second = imported(store, [*own[:198], *narratives[:2]])
    store.ledger.keep_apart(second.id, first.id)
    reserved_run(store, second, gaussian(0.1))
    same = imported(store, [*own[:198], *narratives[:2]])  # nothing new: the answer holds
    assert same.population == second.population
    assert store.ledger.of(second.id).questions == ()
    fewer = imported(store, [*own[:398], *narratives[1:3]])  # one person more is not materially more
    assert store.ledger.of(fewer.id).questions == ()
    more = imported(store, [*own[:592], *narratives[:8]])
    assert more.population == second.population
    (asked,) = store.ledger.of(second.id).questions
    assert asked.population == first.population
    assert re.search(r"\d records that share long runs of words; more than the \d records", asked.sentence)
    assert any("ledger page" in warning for warning in more.warnings)
    with pytest.raises(RefusedError, match="other-people-than"):
        reserved_run(store, second, gaussian(0.1))
    store.ledger.keep_apart(second.id, first.id)
    assert list(store.ledger.of(first.id).lines["kind"]).count("apart") == 2
    assert imported(store, [*own[:592], *narratives[:8]]).population == second.population
    assert store.ledger.of(second.id).questions == ()


def test_an_open_question_outlives_a_merger_with_people_it_was_answered_for(store, narratives):
    first, second, third = (imported(store, narratives[i : i + 50]) for i in (0, 500, 1000))
    with store.session.db.write() as connection:
        recognition.ask(connection, first.population, third.population, {"sentence": "a page"})
        recognition.ask(connection, second.population, third.population, {"sentence": "a form"})
    store.ledger.keep_apart(first.id, third.id)
    joined = store.ledger.join_people(first.id, second.id)
    assert [asked.sentence for asked in joined.questions] == ["a form"]


def test_an_answer_of_an_earlier_version_asks_again_where_there_is_more(store, narratives):
    """It kept the evidence of one file, without short records."""
    imported(store, narratives[:200])
    second = imported(store, [*narratives[1000:1198], *narratives[:2]])
    with store.session.db.write() as connection:
        detail = {"strong": 2, "weak": 0, "sources": 0, "records": 92, "ids": 1, "chance": 0.0, "sentence": "2 records"}
        connection.execute(update(people_questions).values(state="other", detail=detail))
    assert store.ledger.of(second.id).questions == ()
    imported(store, [*narratives[1000:1192], *narratives[:8]])
    assert "more than the 2 records" in store.ledger.of(second.id).questions[0].sentence


@pytest.mark.parametrize("units", [("record", "record"), ("source", "record"), ("record", "source")])
def test_source_ids_are_compared_under_every_unit(store, narratives, units):
    rng = random.Random(1)
    ids = [f"MRN{rng.randrange(10**7, 10**8)}" for _ in range(120)]
    before, after = ({"name": "x", "unit": unit, "cap": 5 if unit == "source" else 1, "holdout": 0} for unit in units)
    first = store.corpora.import_table(table(narratives[:120], ids), SOURCE, **before)
    second = store.corpora.import_table(table(narratives[600:720], ids), SOURCE, **after)
    assert second.population == first.population
    few = store.corpora.import_table(table(narratives[900:904], [ids[3], "x1", "x2", "x3"]), SOURCE, **after)
    assert few.population != first.population
    assert "1 equal source ids" in store.ledger.of(few.id).questions[0].sentence


def test_a_few_people_in_several_files_get_no_fresh_budget(store, narratives):
    """Nine of a hundred persons stand in five files, each with a footer of its own."""
    first = imported(store, narratives[:100])
    limited(store, first, 10.0)
    reserved_run(store, first, gaussian(9.0))
    for i in range(1, 5):
        others = narratives[100 * i + 100 : 100 * i + 191]
        corpus = imported(store, [f"{text} Page {i} of the file." for text in (*narratives[:9], *others)])
        if corpus.population != first.population:
            assert store.ledger.of(corpus.id).questions
        with pytest.raises(RefusedError):
            reserved_run(store, corpus, gaussian(9.0))


def test_other_notes_of_the_same_source_ids_are_recognised(store, narratives):
    rng = random.Random(1)
    ids = [f"MRN{rng.randrange(10**7, 10**8)}" for _ in range(200)]
    settings = {"name": "x", "unit": "source", "cap": 5}
    first = store.corpora.import_table(table(narratives[:200], ids), SOURCE, **settings)
    second = store.corpora.import_table(table(narratives[600:800], [i.lower() + " " for i in ids]), SOURCE, **settings)
    assert second.population == first.population
    one = store.corpora.import_table(
        table(narratives[900:950], [ids[7], *(f"MRN{i}9" for i in range(49))]), SOURCE, **settings
    )
    assert one.population != first.population
    assert "1 equal source ids" in store.ledger.of(one.id).questions[0].sentence


def test_files_numbered_alike_are_asked_about(store, narratives):
    settings = {"name": "x", "unit": "source", "cap": 5}
    first = store.corpora.import_table(table(narratives[:200], [f"p{i}" for i in range(200)]), SOURCE, **settings)
    second = store.corpora.import_table(table(narratives[600:800], [f"p{i}" for i in range(200)]), SOURCE, **settings)
    assert second.population != first.population
    assert store.ledger.of(second.id).questions
    joined = store.ledger.join_people(second.id, first.id)
    assert joined.questions == ()
    assert store.corpora.get(first.id).population == store.corpora.get(second.id).population == joined.population
    assert joined.lines.iloc[-1]["kind"] == "merge"
    assert "by the person" in joined.lines.iloc[-1]["sentence"]
    with pytest.raises(UserError, match="already"):
        store.ledger.join_people(second.id, first.id)
    assert store.audit.lines(limit=1).iloc[0]["action"] == "people joined"
    assert store.ledger.verify()["ok"]


def test_people_can_be_joined_at_the_import(store, narratives):
    first = imported(store, narratives[:50])
    limited(store, first, 3.0)
    second = imported(store, narratives[1000:1050], same_people_as=[first.id])
    assert second.population == first.population
    assert store.ledger.of(second.id).limit_epsilon == 3.0
    with pytest.raises(NotFoundError):
        imported(store, narratives[1100:1150], same_people_as=["c-none"])


def test_marks_outlive_their_corpus(store, narratives):
    first = imported(store, narratives[:200])
    store.corpora.delete(first.id)
    assert imported(store, [f"{t} {FOOTER}" for t in narratives[:200]]).population == first.population


def test_a_common_form_makes_nobody_the_same(store):
    """Two offices use one form of forty words; what people wrote into it differs."""
    form = (
        "This letter confirms that the person named above was seen in our office on the date given and that no "
        "further treatment was thought necessary at that time. Signed for the office by the clerk on duty. "
    )
    rng = random.Random(2)
    words = [f"{a}{b}{c}" for a in "bcdfgh" for b in ("ane", "ole", "iru", "ame") for c in "lmnprst"]

    def letters(count):
        return [form + " ".join(rng.sample(words, 25)) for _ in range(count)]

    first, second = imported(store, letters(60)), imported(store, letters(60))
    assert first.population != second.population
    assert store.ledger.of(second.id).questions == ()


def test_importing_a_file_again_adds_no_marks(store, narratives):
    def rows():
        with store.session.db.read() as connection:
            return connection.exec_driver_sql("SELECT count(*) FROM people_marks").scalar()

    imported(store, narratives[:300])
    before = rows()
    imported(store, narratives[:300])
    assert rows() == before > 900


def test_a_third_file_merges_two_and_takes_their_questions_along(store, narratives):
    first, second = imported(store, narratives[:100]), imported(store, narratives[500:600])
    third = imported(store, [*narratives[:40], *narratives[500:540]])
    assert store.corpora.get(first.id).population == store.corpora.get(second.id).population == third.population
    assert store.ledger.of(third.id).questions == ()


@pytest.mark.parametrize(
    ("ids", "low", "high"),
    [
        ([str(i) for i in range(1, 101)], 1.0, 1.0),
        ([f"p{i:04d}" for i in range(1, 101)], 1.0, 1.0),
        ([str(i * 100_003) for i in range(1, 101)], 0.0, 1e-4),
        (["AB", "CD", "EF"], 1.0, 1.0),
        (["9f3ac1e2", "b07d33aa", "c4c4e1f0"], 0.0, 0.0),
        ([], 1.0, 1.0),
    ],
)
def test_what_equal_ids_tell_follows_from_how_they_are_numbered(ids, low, high):
    assert low <= chance_of(ids) <= high


def test_marks_depend_on_the_key_and_short_texts_have_none():
    text = "the nurse wrote that the pain began two days after the second visit"
    one, two = people_marks([text], [None], KEY), people_marks([text], [None], b"o" * 32)
    assert len(one.runs) == 6
    assert not set(one.runs.tolist()) & set(two.runs.tolist())
    assert people_marks(["sore arm", ""], ["a", None], KEY).records == 0
    assert len(people_marks(["x"] * 3, ["A ", "a", " "], KEY).sources) == 1


@pytest.mark.slow
def test_a_large_file_is_recognised_in_sane_time_and_space(tmp_path, test_data):
    texts = list(pd.read_parquet(test_data / "vaers_1998_1999.parquet")["text"])
    store = Store(tmp_path / "w")
    first = imported(store, texts)
    again = imported(store, [f"{text} {FOOTER}" for text in texts])
    assert again.population == first.population
    with store.session.db.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM people_marks").scalar() < 12 * len(texts)
    store.close()
