"""Queue, spans, decisions, undo, values."""

import random

import pandas as pd
import pytest
from sqlalchemy import select, update

from engine.errors import NotFoundError, UserError
from engine.pii.decide.rules import Standing, after
from engine.store.database import schema
from tests.store.conftest import CANARY, MAPPING, made_up
from tests.store.span_tables import add_span, span_table


def revision(store, corpus_id):
    with store.session.db.read() as connection:
        return connection.execute(
            select(schema.corpora.c.revision).where(schema.corpora.c.id == corpus_id)
        ).scalar_one()


def person(store, corpus, record="id3"):
    found = span_table(store, corpus.id, record)
    return found[found["label"] == "PERSON"]["span_id"].iloc[0]


def state(store, corpus, record="id3"):
    found = span_table(store, corpus.id, record)
    return list(zip(found["label"], found["state"], found["decided"]))


def test_gold_spans_count_as_accepted_before_any_detection(store, corpus):
    assert state(store, corpus) == [("PERSON", "accepted", False), ("DATE", "accepted", False)]
    accepted = store.review.accepted_spans(corpus.id)
    assert len(accepted) == 80
    assert list(accepted.columns) == ["record_id", "start", "end", "label", "identifier_type"]
    counts = store.review.span_counts(corpus.id)
    assert counts["by_label"] == {"DATE": 40, "PERSON": 40}
    assert (counts["accepted"], counts["undecided"], counts["records_with_spans"]) == (80, 80, 40)


def test_accepted_spans_bear_our_labels_whatever_the_file_called_them(store, corpus):
    with store.session.db.write() as connection:
        connection.execute(update(schema.spans).where(schema.spans.c.label == "DATE").values(label="DATETIME"))
    assert set(store.review.accepted_spans(corpus.id)["label"]) == {"DATE", "PERSON"}


def test_accepted_spans_of_one_part_stay_in_it(store, corpus):
    train = store.review.accepted_spans(corpus.id, "train")
    holdout = store.review.accepted_spans(corpus.id, "holdout")
    assert len(train) + len(holdout) == 80
    split = store.corpora.records(corpus.id, limit=100).set_index("record_id")["split"]
    assert set(split[train["record_id"]]) == {"train"}


@pytest.mark.parametrize(
    ("action", "label", "expected"),
    [
        ("accept", None, ("PERSON", "accepted", True)),
        ("reject", None, ("PERSON", "rejected", True)),
        ("relabel", "ORGANISATION", ("ORGANISATION", "accepted", True)),
    ],
)
def test_a_decision_changes_one_span_and_undo_takes_it_back(store, corpus, action, label, expected):
    before = state(store, corpus)
    assert store.review.decide(corpus.id, [person(store, corpus)], action, label) == 1
    assert state(store, corpus)[0] == expected
    assert store.corpora.get(corpus.id).reviewed == 1
    assert store.review.undo(corpus.id).startswith("Took back: 1 span")
    assert state(store, corpus) == before
    assert store.corpora.get(corpus.id).reviewed == 0
    assert store.review.undo(corpus.id) is None


def test_undo_goes_back_step_by_step(store, corpus):
    span = person(store, corpus)
    store.review.decide(corpus.id, [span], "reject")
    store.review.decide(corpus.id, [span], "relabel", "CODE")
    assert "changed to CODE" in store.review.undo(corpus.id)
    assert state(store, corpus)[0] == ("PERSON", "rejected", True)
    store.review.decide(corpus.id, [span], "accept")
    assert "accepted" in store.review.undo(corpus.id)
    assert "rejected" in store.review.undo(corpus.id)
    assert state(store, corpus)[0] == ("PERSON", "accepted", False)
    with store.session.db.read() as connection:  # nothing was erased: three decisions, three undos
        events = list(connection.execute(select(schema.decisions.c.action)).scalars())
    assert sorted(events) == ["accept", "reject", "relabel", "undo", "undo", "undo"]


def test_all_alike_decides_the_same_value_whatever_the_case(store):
    table = made_up(10)
    table["text"] = [t.upper() if i % 2 else t for i, t in enumerate(table["text"])]
    corpus = store.corpora.import_table(table, MAPPING, name="Cases")
    span = person(store, corpus, "id0")
    assert store.review.alike(corpus.id, span)["total"] - 1 == 1  # id0 and id5 name the same person
    assert store.review.decide_alike(corpus.id, span, "reject") == 2
    assert state(store, corpus, "id5")[0] == ("PERSON", "rejected", True)
    assert "2 spans" in store.review.undo(corpus.id)


def test_an_added_span_is_accepted_and_undo_removes_it(store, corpus):
    span = add_span(store, corpus.id, "id3", 0, 6, "CODE")
    found = span_table(store, corpus.id, "id3").set_index("span_id").loc[span]
    assert (found["start"], found["end"], found["state"], found["decided"]) == (0, 6, "accepted", True)
    assert found["recogniser"] == "custodian"
    with pytest.raises(UserError, match="already there"):
        add_span(store, corpus.id, "id3", 0, 6, "CODE")
    assert "added" in store.review.undo(corpus.id)
    assert span not in set(span_table(store, corpus.id, "id3")["span_id"])
    assert len(store.review.accepted_spans(corpus.id)) == 80


@pytest.mark.parametrize(("start", "end"), [(-1, 3), (3, 3), (5, 2), (0, 10_000)])
def test_an_added_span_must_lie_in_the_text(store, corpus, start, end):
    with pytest.raises(UserError, match="inside the text") as caught:
        add_span(store, corpus.id, "id3", start, end, "CODE")
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda s, c: s.review.decide(c, ["p-1"], "delete"), UserError),
        (lambda s, c: s.review.decide(c, ["p-1"], "relabel", "NOBODY"), UserError),
        (lambda s, c: s.review.decide(c, ["p-1"], "relabel"), UserError),
        (lambda s, c: s.review.decide(c, ["p-99999"], "accept"), NotFoundError),
        (lambda s, c: s.review.decide(c, ["'; DROP TABLE spans"], "accept"), NotFoundError),
        (lambda s, c: add_span(s, c, "id3", 0, 3, "NOBODY"), UserError),
        (lambda s, c: s.review.record_text(c, "nobody"), NotFoundError),
        (lambda s, c: s.review.queue(c, order="name"), UserError),
        (lambda s, c: s.values.table(c, state="lost"), UserError),
        (lambda s, c: s.values.decide(c, ["0" * 32 + ".PERSON"], "accept"), NotFoundError),
    ],
)
def test_wrong_requests_are_refused_and_change_nothing(store, corpus, call, error):
    before = revision(store, corpus.id)
    with pytest.raises(error):
        call(store, corpus.id)
    assert revision(store, corpus.id) == before
    assert store.review.undo(corpus.id) is None


def test_a_refused_decision_on_several_spans_changes_none(store, corpus):
    with pytest.raises(NotFoundError):
        store.review.decide(corpus.id, [person(store, corpus), "p-99999"], "reject")
    assert state(store, corpus)[0] == ("PERSON", "accepted", False)


def test_the_revision_rises_only_when_accepted_spans_change(store, corpus):
    start = revision(store, corpus.id)
    store.review.decide(corpus.id, [person(store, corpus)], "accept")  # confirms what already counted
    store.review.mark_reviewed(corpus.id, ["id7"])
    assert revision(store, corpus.id) == start
    store.review.decide(corpus.id, [person(store, corpus)], "reject")
    assert revision(store, corpus.id) == start + 1


def test_marking_as_reviewed_decides_spans_as_they_stand(store, corpus):
    assert store.review.mark_reviewed(corpus.id, ["id3", "id4"]) == 2
    assert state(store, corpus) == [("PERSON", "accepted", True), ("DATE", "accepted", True)]
    queue, _ = store.review.queue(corpus.id, order="position", limit=100)
    assert list(queue[queue["reviewed"]]["record_id"]) == ["id3", "id4"]
    assert "2 records" in store.review.undo(corpus.id)
    queue, _ = store.review.queue(corpus.id, limit=100)
    assert not queue["reviewed"].any()
    assert store.review.span_counts(corpus.id)["decided"] == 0


def test_a_record_without_spans_can_be_marked_and_unmarked(store):
    table = made_up(5)
    table.at[2, "spans"] = []
    corpus = store.corpora.import_table(table, MAPPING, name="Bare", holdout=0)
    store.review.mark_reviewed(corpus.id, ["id2"])
    assert store.review.queue(corpus.id, order="position")[0]["reviewed"].sum() == 1
    assert "1 record " in store.review.undo(corpus.id)
    assert store.review.queue(corpus.id)[0]["reviewed"].sum() == 0


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 40),
        ({"labels": ["PERSON"]}, 40),
        ({"labels": ["EMAIL"]}, 0),
        ({"state": "rejected"}, 1),
        ({"state": "decided", "labels": ["PERSON"]}, 1),
        ({"state": "decided", "labels": ["DATE"]}, 0),
        ({"state": "undecided"}, 40),
        ({"below_score": 0.5}, 0),
        ({"search": "LETTER 3:"}, 1),
        ({"search": "nobody wrote this"}, 0),
        ({"search": "%"}, 0),
    ],
)
def test_the_queue_filters(store, corpus, options, expected):
    store.review.decide(corpus.id, [person(store, corpus)], "reject")
    page, total = store.review.queue(corpus.id, limit=7, **options)
    assert total == expected
    assert len(page) == min(7, expected)


def test_a_value_that_stands_in_many_records_is_less_pressing_than_one_seen_once(store):
    often = made_up(12)
    names = ["Ada Quill" if i < 9 else f"Person {'abc'[i - 9]}" for i in range(12)]
    often["text"] = [f"{name} came in May." for name in names]
    often["spans"] = [[{"start": 0, "end": len(name), "label": "PERSON"}] for name in names]
    corpus = store.corpora.import_table(often, MAPPING, name="often")
    queue, _ = store.review.queue(corpus.id)
    rare = queue[~queue["record_id"].isin(often["id"][:9])]
    assert list(queue["record_id"][:3]) == list(rare["record_id"])
    assert set(rare["risk"].round(6)) == {0.1}  # a sure name: type weight 1 times doubt 0.1
    assert queue["risk"][3:].tolist() == pytest.approx([1 - 0.9 ** (1 / 3)] * 9)


def test_the_rows_are_what_the_rules_make_of_the_decisions_in_their_order(store, corpus):
    """Random decisions, in bulk too, and undos: the state in the database is the log folded by the rules."""
    rng = random.Random(5)
    records = [f"id{i}" for i in range(6)]

    def rows():
        found = pd.concat([span_table(store, corpus.id, r) for r in records])
        return {r.span_id: Standing(r.state, r.label, r.identifier_type) for r in found.itertuples()}, set(
            found["span_id"][found["decided"]]
        )

    begin, _ = rows()
    log = []
    for _ in range(60):
        if rng.random() < 0.3:
            assert (store.review.undo(corpus.id) is None) == (not log)
            if log:
                log.pop()
        else:
            action = rng.choice(["accept", "reject", "relabel"])
            label = rng.choice(["LOCATION", "MISC", "PERSON"]) if action == "relabel" else None
            chosen = rng.sample(sorted(begin), rng.randint(1, 4))
            assert store.review.decide(corpus.id, chosen, action, label) == len(chosen)
            log.append((chosen, action, label))
        expected = dict(begin)
        for chosen, action, label in log:
            expected |= {i: after(action, expected[i], label) for i in chosen}
        assert rows() == (expected, {i for chosen, _, _ in log for i in chosen})


def test_the_queue_puts_the_riskiest_first_and_pages(store, corpus):
    store.review.mark_reviewed(corpus.id, [f"id{i}" for i in range(0, 40, 2)])
    every, _ = store.review.queue(corpus.id, limit=100)
    assert every["risk"].is_monotonic_decreasing
    assert every["risk"].between(0, 1).all()
    paged = [store.review.queue(corpus.id, offset=i, limit=9)[0]["record_id"] for i in range(0, 40, 9)]
    assert [r for part in paged for r in part] == list(every["record_id"])


def test_values_group_spans_and_are_decided_together(store, corpus):
    table, total = store.values.table(corpus.id, labels=["PERSON"])
    assert total == 5
    assert list(table["count"]) == [8] * 5
    assert set(table["value"]) == {f"{CANARY} {c}" for c in "ABCDE"}
    found, total = store.values.table(corpus.id, search="barnacle c")
    assert total == 1
    key = found["value_key"].iloc[0]
    assert CANARY.casefold() not in key.casefold()
    assert store.values.decide(corpus.id, [key], "reject") == 8
    assert store.values.table(corpus.id, state="rejected")[1] == 1
    first = span_table(store, corpus.id, "id2")["span_id"].iloc[0]
    store.review.decide(corpus.id, [first], "accept")
    mixed, total = store.values.table(corpus.id, state="mixed")
    assert (total, mixed["decided"].iloc[0]) == (1, 8)


def test_a_decision_on_several_values_is_taken_back_as_one(store, corpus):
    before, _ = store.values.table(corpus.id, labels=["PERSON"])
    assert store.values.decide(corpus.id, list(before["value_key"][:3]), "reject") == 24
    assert store.values.table(corpus.id, state="rejected")[1] == 3
    assert store.review.undo(corpus.id) == "Took back: 24 spans rejected."
    after, _ = store.values.table(corpus.id, labels=["PERSON"])
    assert list(after["state"]) == list(before["state"])
    assert store.review.undo(corpus.id) is None


def test_gold_is_evaluated_against_itself(store, corpus):
    result = store.values.gold_evaluation(corpus.id)
    assert result["direct_recall"]["value"] == 1.0
    store.values.decide(corpus.id, [store.values.table(corpus.id, labels=["PERSON"])[0]["value_key"].iloc[0]], "reject")
    assert store.values.gold_evaluation(corpus.id)["direct_recall"]["value"] < 1.0


def test_choosing_gold_moves_the_corpus_on_and_needs_gold(store, corpus):
    store.review.use_gold(corpus.id)
    assert store.corpora.get(corpus.id).next_step == "review"
    plain = store.corpora.import_table(made_up(5, 500).drop(columns="spans"), _without_spans(), name="Plain", holdout=0)
    assert plain.span_source is None
    with pytest.raises(UserError, match="no gold spans"):
        store.review.use_gold(plain.id)


def _without_spans():
    from dataclasses import replace

    return replace(MAPPING, spans=None)


def test_detector_settings_are_kept(store, corpus):
    from engine.pii.detect.settings import DetectorSettings

    assert store.review.detector_settings(corpus.id) == DetectorSettings()
    changed = DetectorSettings(thresholds={"PERSON": 0.9}, deny=("Zanzibarnacle",))
    store.review.set_detector_settings(corpus.id, changed)
    assert store.review.detector_settings(corpus.id) == changed
    assert "Zanzibarnacle" not in store.audit.lines().to_csv()


def test_the_redacted_text_has_no_accepted_value(store, corpus):
    text = store.review.redacted(corpus.id, "id3")
    assert CANARY not in text
    assert "came on" in text
    store.review.decide(corpus.id, [person(store, corpus)], "reject")
    assert CANARY in store.review.redacted(corpus.id, "id3")
    with pytest.raises(UserError, match="style"):
        store.review.redacted(corpus.id, "id3", "invisible")


def test_residual_risk_rests_on_reviewed_records(store, corpus):
    assert store.values.residual_risk(corpus.id) is None
    store.review.mark_reviewed(corpus.id, [f"id{i}" for i in range(20)])
    none_missed = store.values.residual_risk(corpus.id)
    assert (none_missed["value"], none_missed["n"], none_missed["records"]) == (0.0, 40, 20)
    add_span(store, corpus.id, "id1", 0, 6, "CODE")
    add_span(store, corpus.id, "id30", 0, 6, "CODE")  # not reviewed: does not count
    risk = store.values.residual_risk(corpus.id)
    assert (risk["missed"], risk["n"]) == (1, 41)
    assert risk["low"] < risk["value"] < risk["high"]
    assert "1 of 41" in risk["sentence"]


def test_what_is_remembered_follows_every_change(store, corpus):
    """Counts, values and the estimate are kept in memory; a change by another process must show at once."""
    from engine.store.store import Store

    other = Store(store.path)

    def seen():
        table, total = store.values.table(corpus.id, limit=100)
        return (
            store.review.span_counts(corpus.id),
            total,
            list(table["decided"]),
            store.values.gold_evaluation(corpus.id),
        )

    looks = [seen()]
    span = person(store, corpus)
    changes = (
        lambda: other.review.decide(corpus.id, [span], "accept"),
        lambda: other.review.decide(corpus.id, [span], "reject"),
        lambda: other.review.undo(corpus.id),
        lambda: other.review.mark_reviewed(corpus.id, ["id9"]),
        lambda: add_span(other, corpus.id, "id9", 0, 6, "CODE"),
        lambda: other.review.undo(corpus.id),
    )
    for change in changes:
        change()
        looks.append(seen())
        assert looks[-1] != looks[-2]
    assert looks[-1] == looks[-3]
    assert store.review.span_counts(corpus.id) == seen()[0]
    store.corpora.delete(corpus.id)
    with pytest.raises(NotFoundError):
        store.review.span_counts(corpus.id)


def test_gold_counts_an_entity_as_its_file_says(store):
    """Two mentions in other words are one entity: with one of them left in, it is not protected."""
    mentions = [{"start": 0, "end": 8}, {"start": 15, "end": 20}]
    spans = [{**m, "label": "PERSON", "identifier_type": "DIRECT", "entity_id": "e1"} for m in mentions]
    table = made_up(12)
    table["text"] = [f"Anna Kos came. Annie left on day {i}." for i in range(12)]
    table["spans"] = [spans] * 12
    corpus = store.corpora.import_table(table, MAPPING, name="Names", unit="record", holdout=0.25)
    before = store.values.gold_evaluation(corpus.id)["direct_recall"]
    assert (before["value"], before["n"]) == (1.0, 12)
    found = span_table(store, corpus.id, "id3")
    store.review.decide(corpus.id, [found["span_id"].iloc[1]], "reject")
    after = store.values.gold_evaluation(corpus.id)["direct_recall"]
    assert (after["value"], after["n"]) == (11 / 12, 12)
    with store.session.db.read() as connection:
        query = select(schema.spans.c.entity_key).where(schema.spans.c.corpus_id == corpus.id)
        kept = set(connection.execute(query).scalars())
    assert {len(key) for key in kept} == {32}
    assert not any(key == "e1" for key in kept)


@pytest.fixture
def named(store):
    """Return a corpus whose texts name Anna Kos in three ways, marked once, and in parts of other words."""
    table = made_up(8)
    table["text"] = [f"Anna Kos came. ANNA KOS left, Anna\nKos slept; Savanna Kosher stayed {i}." for i in range(8)]
    table["spans"] = [[{"start": 0, "end": 8, "label": "PERSON"}]] * 8
    return store.corpora.import_table(table, MAPPING, name="Names", unit="record", holdout=0.25)


def covered(store, corpus, record="id3"):
    text = store.review.record_text(corpus.id, record)
    found = span_table(store, corpus.id, record)
    return [text[a:b] for a, b, s in zip(found["start"], found["end"], found["state"]) if s == "accepted"]


def test_the_same_words_without_a_mark_are_counted_and_marked(store, named):
    span = person(store, named)
    assert store.review.unmarked_places(named.id, span) == {"record": 2, "corpus": 16, "others": 7}
    assert store.review.accept_same(named.id, span) == 3
    assert covered(store, named) == ["Anna Kos", "ANNA KOS", "Anna\nKos"]
    assert "Savanna Kosher" in store.review.redacted(named.id, "id3")
    assert "kos " not in store.review.redacted(named.id, "id3").casefold()
    assert store.review.unmarked_places(named.id, span) == {"record": 0, "corpus": 14, "others": 7}
    assert store.review.undo(named.id) == "Took back: 3 spans accepted."
    assert covered(store, named) == ["Anna Kos"]
    assert store.review.unmarked_places(named.id, span) == {"record": 2, "corpus": 16, "others": 7}


def test_all_like_this_marks_unmarked_names_unless_told_not_to(store, named):
    span = person(store, named)
    assert store.review.decide_alike(named.id, span, "accept", mark=False) == 8
    store.review.undo(named.id)
    assert store.review.decide_alike(named.id, span, "accept") == 24
    assert covered(store, named, "id7") == ["Anna Kos", "ANNA KOS", "Anna\nKos"]
    store.review.undo(named.id)
    assert store.review.decide_alike(named.id, span, "reject") == 8
    assert covered(store, named, "id7") == []


def test_dates_are_marked_elsewhere_only_on_request(store, corpus):
    found = span_table(store, corpus.id, "id3")
    date = found[found["label"] == "DATE"]["span_id"].iloc[0]
    alike = store.review.alike(corpus.id, date)["total"] - 1 + 1
    assert store.review.decide_alike(corpus.id, date, "accept") == alike


def test_what_a_person_rejected_is_not_marked_again(store, named):
    text = store.review.record_text(named.id, "id3")
    start = text.index("ANNA KOS")
    second = add_span(store, named.id, "id3", start, start + 8, "ORGANISATION")
    store.review.decide(named.id, [second], "reject")
    assert store.review.unmarked_places(named.id, person(store, named))["record"] == 1
