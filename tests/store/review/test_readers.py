"""Several reviewers at one corpus: each text lies ready for one of them, and no decision is lost."""

from __future__ import annotations

import random
import threading
import time

import pytest
from sqlalchemy import select, update

from engine.store.database.schema import decisions, readers, record_index
from engine.store.people.guarded import Visit
from engine.store.people.roles import Person, Role
from engine.store.review.desk import readers as hands
from engine.store.review.desk.steps import Step
from engine.store.review.review import Review
from tests.store.conftest import MAPPING, made_up

ANNA, BEN, CLEO = (Person(f"{name.lower()}@example.org", name, (Role.REVIEWER,)) for name in ("Anna", "Ben", "Cleo"))
LOOKS = Person("dora@example.org", "Dora", (Role.APPROVER,))


def desk(store, person):
    return Review(store.session.acting_as(person))


@pytest.fixture
def letters(store, corpus):
    store.review.use_gold(corpus.id)
    return store.review.order(corpus.id, order="position")


def test_what_one_has_in_hand_is_not_next_for_another(store, corpus, letters):
    anna, ben = desk(store, ANNA), desk(store, BEN)
    first = anna.ahead(corpus.id, letters[0], letters[1:], 5)
    assert first == hands.Ahead(letters[1:6], {})
    assert ben.ahead(corpus.id, None, letters, 1).records == [letters[6]]
    second = ben.ahead(corpus.id, letters[6], letters[1:], 5)
    assert second.records == letters[7:12]
    assert second.others == dict.fromkeys(letters[:6], "Anna")
    again = anna.ahead(corpus.id, letters[0], letters[1:], 8)
    assert again.records == [*letters[1:6], *letters[12:15]]
    assert set(again.others) == set(letters[6:12])


def test_whoever_opens_anothers_text_is_told_and_takes_nothing(store, corpus, letters):
    anna, ben = desk(store, ANNA), desk(store, BEN)
    anna.ahead(corpus.id, letters[0], letters[1:], 2)
    assert ben.ahead(corpus.id, letters[0], letters[1:], 2).others[letters[0]] == "Anna"
    assert letters[0] not in anna.ahead(corpus.id, letters[0], letters[1:], 2).others


def test_going_on_gives_the_rest_back_and_read_texts_are_in_no_hand(store, corpus, letters):
    anna, ben = desk(store, ANNA), desk(store, BEN)
    anna.ahead(corpus.id, letters[0], letters[1:], 3)
    anna.mark_reviewed(corpus.id, letters[:2])
    assert anna.ahead(corpus.id, letters[10], letters[11:], 3).records == letters[11:14]
    found = ben.ahead(corpus.id, letters[2], letters, 4)
    assert found.records == letters[3:7], "two are read, one is open, and Anna went on to others"
    assert set(found.others) == set(letters[10:14])


def test_a_hand_is_empty_after_a_while_and_after_signing_out(store, corpus, letters, monkeypatch):
    anna, ben = desk(store, ANNA), desk(store, BEN)
    anna.ahead(corpus.id, letters[0], letters[1:], 3)
    with store.session.db.write() as connection:
        connection.execute(update(readers).values(until=readers.c.until - hands.IN_HAND_SECONDS - 1.0))
    found = ben.ahead(corpus.id, letters[0], letters[1:], 3)
    assert found == hands.Ahead(letters[1:4], {})
    visit = Visit(store.session.acting_as(BEN), BEN)
    visit.note("in")
    assert anna.ahead(corpus.id, None, letters, 3).others
    visit.note("out")
    assert anna.ahead(corpus.id, None, letters, 3) == hands.Ahead(letters[:3], {})


def test_whoever_only_looks_has_nothing_in_hand(store, corpus, letters):
    looks = desk(store, LOOKS)
    assert looks.ahead(corpus.id, letters[0], letters[1:], 3) == hands.Ahead(letters[1:4], {})
    desk(store, ANNA).ahead(corpus.id, letters[0], letters[1:], 1)
    assert looks.ahead(corpus.id, letters[0], letters[1:], 3) == hands.Ahead(
        letters[1:4], {letters[0]: "Anna", letters[1]: "Anna"}
    )
    assert store.review.ahead(corpus.id, letters[0], letters[1:], 3) == hands.Ahead(letters[1:4]), "nobody signs in"
    with store.session.db.read() as connection:
        assert set(connection.execute(select(readers.c.name)).scalars()) == {"Anna"}


def test_two_corpora_and_a_deleted_one(store, corpus, letters):
    other = store.corpora.import_table(made_up(20, 100), MAPPING, name="Others", unit="record", holdout=0.25)
    theirs = store.review.order(other.id, order="position")
    anna, ben = desk(store, ANNA), desk(store, BEN)
    anna.ahead(corpus.id, letters[0], letters[1:], 3)
    anna.ahead(other.id, theirs[0], theirs[1:], 3)
    assert set(ben.ahead(corpus.id, None, letters, 1).others) == set(letters[:4])
    assert set(ben.ahead(other.id, None, theirs, 1).others) == set(theirs[:4])
    store.corpora.delete(other.id)
    with store.session.db.read() as connection:
        assert set(connection.execute(select(readers.c.corpus_id)).scalars()) == {corpus.id}


def _read_on(store, corpus_id, person, order, seen, troubles, seed):
    """Read and finish what lies ready until nothing does, three texts a message, at a pace of one's own."""
    review, seq, rng = desk(store, person), 0, random.Random(seed)
    try:
        current = next(iter(review.ahead(corpus_id, None, order, 1).records), None)
        patience = 0
        while patience < 40:
            ready = review.ahead(corpus_id, current, order, 3)
            mine = [record for record in (current, *ready.records) if record and record not in ready.others]
            sheets = {sheet.record_id: sheet for sheet in review.sheets(corpus_id, mine)}
            mine = [record for record in mine if not sheets[record].reviewed]
            if not mine:
                current, patience = None, patience + 1
                time.sleep(0.05)
                continue
            steps = []
            for record in mine:
                seq += 1
                steps.append(Step(person.name, seq, "finish", record=record, upon=sheets[record].upon))
            time.sleep(rng.uniform(0, 0.01))
            taken = review.take(corpus_id, steps)
            seen.extend((record, person.name, one.refused) for record, one in zip(mine, taken, strict=True))
            current, patience = None, 0
    except Exception as error:  # noqa: BLE001  # of a thread: told by the test
        troubles.append(error)


@pytest.mark.timeout(300)
def test_twenty_reviewers_read_each_text_once(store):
    many = store.corpora.import_table(made_up(360), MAPPING, name="Many", unit="record", holdout=0.25)
    store.review.use_gold(many.id)
    order = store.review.order(many.id, order="position")
    people = [Person(f"p{i}@example.org", f"Reader {chr(65 + i)}", (Role.REVIEWER,)) for i in range(20)]
    seen, troubles = [], []
    threads = [
        threading.Thread(target=_read_on, args=(store, many.id, person, order, seen, troubles, i))
        for i, person in enumerate(people)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not troubles
    assert sorted(record for record, _, _ in seen) == sorted(order), "each text was read, and by one person"
    assert not [one for one in seen if one[2]]
    assert len({name for _, name, _ in seen}) >= 10
    with store.session.db.read() as connection:
        done = connection.execute(
            select(decisions.c.position, decisions.c.actor).where(
                decisions.c.corpus_id == many.id, decisions.c.action == "review", decisions.c.span_id.is_(None)
            )
        ).all()
        read = (
            connection.execute(
                select(record_index.c.position).where(
                    record_index.c.corpus_id == many.id, record_index.c.reviewed.is_(True)
                )
            )
            .scalars()
            .all()
        )
        at = dict(
            connection.execute(
                select(record_index.c.record_id, record_index.c.position).where(record_index.c.corpus_id == many.id)
            ).all()
        )
    assert sorted(read) == sorted(position for position, _ in done) == list(range(360))
    assert {(at[record], name) for record, name, _ in seen} == {(position, actor) for position, actor in done}
    assert store.audit.verify()["ok"]
