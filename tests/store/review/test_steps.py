"""Acts of a browser: each once, in order, refused ones with a reason; undo of one act among others."""

from __future__ import annotations

import json
import random

import pytest

from engine.errors import NotFoundError, UserError
from engine.store.review.desk.refusals import SENTENCES
from engine.store.review.desk.steps import Step, read_steps
from engine.store.store import Store
from tests.store.span_tables import span_table

ONE, TWO = "a" * 16, "b" * 16


def ids(store, corpus, record="id3"):
    return list(span_table(store, corpus.id, record)["span_id"])


def states(store, corpus, record="id3"):
    found = span_table(store, corpus.id, record)
    return list(zip(found["state"], found["decided"]))


def test_an_act_that_is_sent_again_is_done_once(store, corpus):
    steps = [Step(ONE, 1, "reject", span=ids(store, corpus)[0]), Step(ONE, 2, "finish", record="id3")]
    first = store.review.take(corpus.id, steps)
    again = store.review.take(corpus.id, [*steps, Step(ONE, 3, "undo")])
    assert again[:2] == first
    assert states(store, corpus) == [("rejected", True), ("accepted", False)]  # the finish alone was taken back
    assert not store.review.rows(corpus.id, ["id3"])["reviewed"].any()


def test_another_process_knows_what_was_stored(store, corpus):
    steps = [Step(ONE, 1, "reject", span=ids(store, corpus)[0])]
    store.review.take(corpus.id, steps)
    other = Store(store.path)
    other.review.decide(corpus.id, [ids(store, corpus)[0]], "accept")
    other.review.take(corpus.id, steps)  # late, from a page that was reloaded
    assert states(store, corpus)[0] == ("accepted", True)


def test_a_refused_act_changes_nothing_and_the_others_count(store, corpus):
    first, second = ids(store, corpus)
    taken = store.review.take(
        corpus.id,
        [
            Step(ONE, 1, "accept", span="p-99999"),
            Step(ONE, 2, "reject", span=first),
            Step(ONE, 3, "relabel", span=second, label="NOBODY"),
            Step(ONE, 4, "undo", of=(ONE, 3)),
            Step(ONE, 5, "add", record="id3", places=((0, 6), (3, 10_000)), label="CODE"),
            Step(ONE, 6, "fly", span=second),
        ],
    )
    assert [bool(one.refused) for one in taken] == [True, False, True, True, True, True]
    assert taken[4].refused == "the words to mark do not lie inside the text"
    assert states(store, corpus) == [("rejected", True), ("accepted", False)]
    assert len(ids(store, corpus)) == 2


def test_an_error_of_the_whole_message_stores_none_of_it(store, corpus, monkeypatch):
    from engine.store.review import acts

    real = acts.decide
    calls = []

    def fail(*args, **named):
        calls.append(args)
        if len(calls) == 2:
            raise MemoryError
        return real(*args, **named)

    monkeypatch.setattr(acts, "decide", fail)
    steps = [Step(ONE, n, "reject", span=span) for n, span in enumerate(ids(store, corpus))]
    with pytest.raises(MemoryError):
        store.review.take(corpus.id, steps)
    assert states(store, corpus) == [("accepted", False)] * 2
    monkeypatch.undo()
    store.review.take(corpus.id, steps)
    assert states(store, corpus) == [("rejected", True)] * 2


def test_an_added_finding_can_be_named_by_the_act_that_added_it(store, corpus):
    taken = store.review.take(
        corpus.id,
        [
            Step(ONE, 1, "add", record="id3", places=((0, 6),), label="CODE"),
            Step(ONE, 2, "reject", span=f"new-{ONE}-1"),
        ],
    )
    found = span_table(store, corpus.id, "id3").set_index("span_id")
    assert found.loc[taken[0].span, "state"] == "rejected"
    store.review.take(corpus.id, [Step(ONE, 3, "undo", of=(ONE, 1))])  # decided again since: it stays
    assert taken[0].span in ids(store, corpus)
    store.review.take(corpus.id, [Step(ONE, 4, "undo", of=(ONE, 2))])
    assert taken[0].span not in ids(store, corpus)


def test_an_undo_leaves_alone_what_another_tab_decided_since(store, corpus):
    span = ids(store, corpus)[0]
    store.review.take(corpus.id, [Step(ONE, 1, "reject", span=span)])
    store.review.take(corpus.id, [Step(TWO, 1, "accept", span=span)])
    store.review.take(corpus.id, [Step(ONE, 2, "undo", of=(ONE, 1))])
    assert states(store, corpus)[0] == ("accepted", True)
    store.review.take(corpus.id, [Step(TWO, 2, "undo", of=(TWO, 1))])
    assert states(store, corpus)[0] == ("accepted", False), "as it was before either of them"


def test_undoing_all_acts_in_any_order_gives_back_what_was_there(store, corpus):
    """Bulk acts, single ones, additions and finished texts of two tabs, taken back in a random order."""
    rng = random.Random(3)
    records = ["id3", "id8", "id13"]  # the same person
    for round_ in range(8):
        before = [states(store, corpus, r) for r in records]
        done = []
        for seq in range(1, 7):
            record = rng.choice(records)
            action = rng.choice(["accept", "reject", "relabel", "reject alike", "accept text", "finish", "add"])
            client = rng.choice([ONE, TWO])[:-1] + str(round_)
            step = Step(
                client, seq, action, record=record, span=rng.choice(ids(store, corpus, record)), label="MISC",
                again=True, places=((seq, seq + 3),),
            )  # fmt: skip
            if not store.review.take(corpus.id, [step])[0].refused:
                done.append(step)
        assert [states(store, corpus, r) for r in records] != before
        rng.shuffle(done)
        for step in done:
            store.review.take(corpus.id, [Step(step.client, 100 + step.seq, "undo", of=(step.client, step.seq))])
        assert [states(store, corpus, r) for r in records] == before
        assert set(store.review.rows(corpus.id, records)["reviewed"]) == {False}
        assert set(span_table(store, corpus.id, "id3")["label"]) == {"PERSON", "DATE"}


def test_a_bulk_act_leaves_what_a_person_decided_unless_asked(store, corpus):
    spans = [ids(store, corpus, r)[0] for r in ("id3", "id8", "id13")]
    store.review.decide(corpus.id, [spans[1]], "accept")
    assert store.review.decide_alike(corpus.id, spans[0], "reject") == 7
    assert states(store, corpus, "id8")[0] == ("accepted", True)
    store.review.undo(corpus.id)
    assert store.review.decide_alike(corpus.id, spans[0], "reject", again=True) == 8
    assert states(store, corpus, "id8")[0] == ("rejected", True)
    store.review.undo(corpus.id)
    assert states(store, corpus, "id8")[0] == ("accepted", True)
    assert states(store, corpus, "id13")[0] == ("accepted", False)


def test_messages_are_bounded_and_checked():
    good = {"client": ONE, "seq": 1, "action": "add", "record": "id3", "places": [[0, 6]], "label": "CODE"}
    assert read_steps([good]) == [Step(ONE, 1, "add", record="id3", places=((0, 6),), label="CODE", upon=0)]
    (known,) = read_steps([{**good, "upon": 4, "beside": [TWO]}])
    assert (known.upon, known.clients) == (4, (ONE, TWO))
    for bad in (
        {"upon": -1},
        {"upon": "4"},
        {"beside": ["../x"]},
        {"seq": True},
        {"client": "../x"},
        {"places": [[0, "6"]]},
        {"action": 3},
        {"of": ["x", -2]},
    ):
        with pytest.raises(UserError):
            read_steps([{**good, **bad}])
    with pytest.raises(UserError, match="at most"):
        read_steps([good] * 2001)


def test_notes_are_kept_changed_removed_and_go_with_the_corpus(store, corpus):
    store.review.set_note(corpus.id, "id3", "  Zanzibarnacle's note ")
    assert store.review.sheets(corpus.id, ["id3"])[0].note == "Zanzibarnacle's note"
    store.review.set_note(corpus.id, "id3", "Zanzibarnacle's note")  # nothing new: no line in the log
    store.review.set_note(corpus.id, "id3", "other")
    store.review.set_note(corpus.id, "id3", "")
    log = store.audit.lines()
    assert sorted(a for a in log["action"] if "note" in a) == [
        "review note changed", "review note removed", "review note written",
    ]  # fmt: skip
    assert "Zanzibarnacle's" not in log.to_csv()
    with pytest.raises(UserError, match="at most"):
        store.review.set_note(corpus.id, "id3", "x" * 4001)
    with pytest.raises(NotFoundError):
        store.review.set_note(corpus.id, "nobody", "x")
    store.review.set_note(corpus.id, "id3", "Quokkanote")
    store.corpora.delete(corpus.id)
    assert b"Quokkanote" not in store.folder.database.read_bytes()


def test_every_decision_stands_in_the_audit_log_once_and_without_words(store, corpus):
    span = ids(store, corpus)[0]
    same = [Step(ONE, 1, "accept", span=span), Step(ONE, 2, "finish", record="id3")]
    store.review.take(corpus.id, same)
    store.review.take(corpus.id, same)  # it comes again and is known
    store.review.take(corpus.id, [Step(ONE, 3, "accept", span="sp-0")])  # refused: nothing was decided
    store.review.decide(corpus.id, [span], "reject")
    store.review.undo(corpus.id)
    log = store.audit.lines(corpus_id=corpus.id)
    made = [json.loads(d) for d in log.loc[log["action"] == "review decisions", "detail"]]
    held = [[said.pop(name) for name in ("decisions", "head", "marks")] for said in made]
    assert [said.pop("revision") for said in made] == [2, 1, 0]
    assert made == [{"taken_back": 1}, {"rejected": 1}, {"accepted": 1, "texts_read": 1}]
    assert [count for count, _, _ in held] == [5, 4, 3]
    assert all(len(head) == 64 and len(marks) == 96 for _, head, marks in held)


def seen(store, corpus, record="id3"):
    """Return the number of the latest decisions that a browser was shown."""
    return store.review.sheets(corpus.id, [record])[0].upon


def test_an_old_act_does_not_overwrite_what_was_decided_since(store, corpus):
    span, other = ids(store, corpus)
    upon = seen(store, corpus)
    late = [
        Step(ONE, 1, "reject", span=span, upon=upon),
        Step(ONE, 2, "relabel", span=span, label="MISC", upon=upon),
        Step(ONE, 3, "reject alike", span=span, upon=upon),
        Step(ONE, 4, "reject", span=other, upon=upon),
    ]
    store.review.take(corpus.id, [Step(TWO, 1, "accept", span=span, upon=upon)])
    taken = store.review.take(corpus.id, late)
    assert ["since" in one.refused for one in taken] == [True, True, True, False]
    assert states(store, corpus) == [("accepted", True), ("rejected", True)]
    assert store.review.take(corpus.id, late) == taken, "told again in the same words"
    again = Step(ONE, 5, "reject", span=span, upon=seen(store, corpus))
    assert not store.review.take(corpus.id, [again])[0].refused, "once it was seen, it may be decided otherwise"


def test_acts_of_the_same_page_and_of_those_it_took_over_are_no_surprise(store, corpus):
    span, upon = ids(store, corpus)[0], seen(store, corpus)
    store.review.take(corpus.id, [Step(ONE, 1, "accept", span=span, upon=upon)])
    assert not store.review.take(corpus.id, [Step(ONE, 2, "reject", span=span, upon=upon)])[0].refused
    assert not store.review.take(corpus.id, [Step(TWO, 1, "accept", span=span, upon=upon, beside=(ONE,))])[0].refused
    assert store.review.take(corpus.id, [Step(ONE, 3, "reject", span=span, upon=upon)])[0].refused


def test_a_decision_that_was_taken_back_since_counts_as_one(store, corpus):
    span = ids(store, corpus)[0]
    store.review.take(corpus.id, [Step(TWO, 1, "reject", span=span)])
    upon = seen(store, corpus)
    store.review.take(corpus.id, [Step(TWO, 2, "undo", of=(TWO, 1))])
    late = [
        Step(ONE, 1, "relabel", span=span, label="MISC", upon=upon),
        Step(ONE, 2, "finish", record="id3", upon=upon),
    ]
    assert all("since" in one.refused for one in store.review.take(corpus.id, late))
    assert not store.review.rows(corpus.id, ["id3"])["reviewed"].any()
    upon = seen(store, corpus)
    store.review.take(corpus.id, [Step(TWO, 3, "reject", span=span), Step(TWO, 4, "undo", of=(TWO, 3))])
    assert not store.review.take(corpus.id, [Step(ONE, 3, "accept", span=span, upon=upon)])[0].refused


def test_a_bulk_act_that_decides_anew_looks_at_every_place(store, corpus):
    spans = [ids(store, corpus, r)[0] for r in ("id3", "id8")]
    upon = seen(store, corpus)
    store.review.decide(corpus.id, [spans[1]], "accept")
    again = Step(ONE, 1, "reject alike", span=spans[0], again=True, upon=upon)
    assert store.review.take(corpus.id, [again])[0].refused
    assert not store.review.take(corpus.id, [Step(ONE, 2, "reject alike", span=spans[0], upon=upon)])[0].refused
    assert states(store, corpus, "id8")[0] == ("accepted", True)


def test_an_undo_takes_back_its_own_page_alone(store, corpus):
    first, second = ids(store, corpus)
    store.review.take(corpus.id, [Step(ONE, 1, "reject", span=first), Step(TWO, 1, "reject", span=second)])
    nobody = store.review.take(corpus.id, [Step("c" * 16, 1, "undo")])
    assert "decided nothing" in nobody[0].refused
    assert states(store, corpus) == [("rejected", True)] * 2
    taken = store.review.take(corpus.id, [Step(ONE, 2, "undo"), Step(ONE, 3, "undo")])
    assert [bool(one.refused) for one in taken] == [False, True]
    assert states(store, corpus) == [("accepted", False), ("rejected", True)]


def test_nothing_that_a_browser_sent_is_kept_of_what_was_refused(store, corpus):
    private = "Zanzibarnacle"
    span = ids(store, corpus)[0]
    steps = [
        Step(ONE, 1, private),
        Step(ONE, 2, "accept", span=private),
        Step(ONE, 3, "relabel", span=span, label=private),
        Step(ONE, 4, "finish", record=private),
        Step(ONE, 5, f"{private} alike", span=span),
        Step(ONE, 6, "add", record="id3", places=((0, 5),), label=private),
    ]
    taken = store.review.take(corpus.id, steps)
    assert all(one.refused and private not in one.refused for one in taken)
    with store.session.db.read() as connection:
        kept = set(connection.exec_driver_sql("SELECT refused FROM review_acts").scalars())
    assert kept <= set(SENTENCES)
    assert private.encode() not in store.folder.database.read_bytes()
