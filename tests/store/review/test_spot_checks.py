"""Spot checks: what is drawn, what counts as missed, two readers, what makes the numbers out of date."""

from __future__ import annotations

import pandas as pd
import pytest

from engine.corpus.columns.mapping import ColumnMapping
from engine.errors import NotFoundError, RefusedError, UserError
from engine.store.review.spot import chained
from engine.store.review.spot.words import sentences
from engine.store.store import Store
from tests.store.conftest import CANARY
from tests.store.making import edited
from tests.store.span_tables import add_span

WHY = "the name of a made-up street"


def letters(count: int, missed: int = 0) -> pd.DataFrame:
    """Return letters with a marked name each; the first `missed` hold a second one that nothing marks."""
    rows = []
    for i in range(count):
        text = f"Letter {i} of {CANARY} A." + (f" Signed Oddname {i}." if i < missed else "")
        at = text.index(CANARY)
        span = {"start": at, "end": at + len(CANARY) + 2, "label": "PERSON"}
        rows.append({"id": f"id{i}", "text": text, "spans": [span]})
    return pd.DataFrame(rows)


def imported(store: Store, count: int = 60, missed: int = 0):
    mapping = ColumnMapping(text="text", record_id="id", spans="spans")
    return store.corpora.import_table(letters(count, missed), mapping, name=f"L{count}.{missed}", unit="record")


def read(store: Store, corpus_id: str, records=None) -> None:
    """Read records to the end as the first reader, marking each odd name."""
    for record in store.spot_checks.order(corpus_id) if records is None else records:
        text = store.review.record_text(corpus_id, record)
        at = text.find("Oddname")
        if at >= 0:
            add_span(store, corpus_id, record, at, len(text) - 1, "PERSON")
        store.review.mark_reviewed(corpus_id, [record])


def act_as(store: Store, name: str) -> None:
    store.session.actor = name


def lines(store: Store, action: str) -> int:
    return int((store.audit.lines(limit=10_000)["action"] == action).sum())


def test_nothing_is_known_before_a_sample_was_drawn_and_read(store, corpus):
    assert store.spot_checks.latest(corpus.id) is None
    assert store.spot_checks.estimate(corpus.id) is None
    assert store.spot_checks.order(corpus.id) == []
    with pytest.raises(NotFoundError, match="no spot check"):
        store.spot_checks.differences(corpus.id)


def test_a_sample_is_told_of_only_once_it_was_read_whole(store):
    corpus = imported(store, 60, missed=12)
    check = store.spot_checks.draw(corpus.id, 40)
    assert (check.look, check.records, check.drawn_from, check.drawn, check.read) == (1, 60, 60, 40, 0)
    order = store.spot_checks.order(corpus.id)
    assert len(set(order)) == 40
    read(store, corpus.id, order[:-1])
    found = store.spot_checks.estimate(corpus.id)
    assert (found.why, found.direct, found.types) == ("1 of its 40 records are still to be read.", None, {})
    read(store, corpus.id, order[-1:])
    found = store.spot_checks.estimate(corpus.id)
    hit = sum(int(record[2:]) < 12 for record in order)
    assert not found.why
    assert (found.direct.hit, found.direct.read, found.places) == (hit, 40, (hit, 0))
    assert found.direct.low <= (12 - hit) * 1000 / 60 <= found.direct.high
    assert found.quasi.hit == 0
    assert set(found.types) == ({"PERSON"} if hit else set())


def test_fewer_than_thirty_records_tell_nothing_unless_none_is_left(store):
    few = imported(store, 60)
    store.spot_checks.draw(few.id, 29)
    read(store, few.id)
    assert "fewer than 30" in store.spot_checks.estimate(few.id).why
    whole = imported(store, 8, missed=2)
    check = store.spot_checks.draw(whole.id, 500)  # more than there are
    assert (check.drawn, check.drawn_from) == (8, 8)
    read(store, whole.id)
    found = store.spot_checks.estimate(whole.id)
    assert (found.direct.low, found.direct.high, found.direct.hit) == (0.0, 0.0, 2)


def test_the_records_are_drawn_at_random_and_their_order_too(store):
    corpus = imported(store, 60)
    orders = set()
    for _ in range(5):
        store.spot_checks.draw(corpus.id, 30)
        orders.add(tuple(store.spot_checks.order(corpus.id)))
    assert len(orders) == 5
    assert len({frozenset(order) for order in orders}) == 5
    assert store.spot_checks.latest(corpus.id).look == 5


@pytest.mark.parametrize("ticked", [1, 35, 180, 239, 240])
def test_what_was_read_before_is_drawn_in_proportion_and_read_again(store, ticked):
    """Reading is the press of a key, so a second look alone tells what it overlooked."""
    corpus = imported(store, 240)
    before = {f"id{i}" for i in range(ticked)}
    store.review.mark_reviewed(corpus.id, sorted(before))
    given = store.spot_checks.drawable(corpus.id)
    assert (given.records, given.read_before) == (240, ticked)
    check = store.spot_checks.draw(corpus.id, 60)
    inside = before & set(store.spot_checks.order(corpus.id))
    assert abs(len(inside) - 60 * ticked / 240) < 1
    assert inside
    assert (check.drawn, check.drawn_from, check.read) == (60, 240, 0)
    assert (check.read_before, check.again) == (ticked, len(inside))
    assert store.review.progress(corpus.id)["reviewed"] == ticked - len(inside)
    read(store, corpus.id)
    assert store.spot_checks.latest(corpus.id).complete
    assert f"{len(inside)} of them, from the {ticked} that had been read" in sentences(_told(store, corpus))[0]


def _told(store, corpus):
    found = store.spot_checks.estimate(corpus.id)
    assert found is not None
    return found


def test_ticking_records_off_does_not_empty_the_bound(store):
    """Of 1,000 records 790 were ticked off unread, all that hold something among them."""
    corpus = imported(store, 1000, missed=500)
    store.review.mark_reviewed(corpus.id, [f"id{i}" for i in range(790)])
    store.spot_checks.draw(corpus.id, 60)
    read(store, corpus.id)
    assert _told(store, corpus).direct.high > 300


def test_a_small_corpus_that_was_read_whole_passes_after_a_second_look(store):
    corpus = imported(store, 40)
    store.review.mark_reviewed(corpus.id, [f"id{i}" for i in range(40)])
    check = store.spot_checks.draw(corpus.id, 75)
    assert (check.drawn, check.again, check.read) == (40, 40, 0)
    read(store, corpus.id)
    assert _told(store, corpus).direct.high == 0.0


def test_a_sample_that_an_earlier_edition_drew_from_unread_records_alone_is_outdated(store, monkeypatch):
    monkeypatch.setattr(chained, "of_check", lambda *given: "")  # the log of such a sample tells of no row
    corpus = imported(store, 240)
    store.spot_checks.draw(corpus.id, 60)
    monkeypatch.undo()
    read(store, corpus.id)
    edited(store, "UPDATE spot_checks SET read_before = NULL")
    found = _told(store, corpus)  # drawn from all, since nobody had read any
    assert (found.check.stale, found.why) == ("", "")
    assert found.direct is not None
    edited(store, "UPDATE spot_checks SET records = 300")
    found = _told(store, corpus)
    assert "earlier reading of the others" in found.check.stale
    assert found.direct is None
    assert "out of date" in sentences(found)[1]


@pytest.mark.parametrize(("count", "twice"), [(0, 0), (-3, 0), (5, 6), (5, -1)])
def test_wrong_sizes_are_refused(store, corpus, count, twice):
    with pytest.raises(UserError):
        store.spot_checks.draw(corpus.id, count, twice=twice)
    assert store.spot_checks.latest(corpus.id) is None


def test_a_corpus_that_nothing_was_looked_for_in_has_nothing_to_be_missed(store):
    bare = store.corpora.import_table(letters(20)[["id", "text"]], ColumnMapping(text="text", record_id="id"), name="B")
    with pytest.raises(UserError, match="Look for identifiers first"):
        store.spot_checks.draw(bare.id, 10)


def test_of_two_tabs_that_draw_one_is_told(store, corpus):
    look = store.spot_checks.drawable(corpus.id).look
    store.spot_checks.draw(corpus.id, 10, look=look)
    with pytest.raises(RefusedError, match="meanwhile"):
        store.spot_checks.draw(corpus.id, 10, look=look)
    assert store.spot_checks.latest(corpus.id).look == 1


def test_the_level_rises_with_each_look(store):
    corpus = imported(store, 60)
    for level in (0.95, 0.975):
        store.spot_checks.draw(corpus.id, 30)
        read(store, corpus.id)
        assert store.spot_checks.estimate(corpus.id).direct.level == pytest.approx(level)


def test_the_same_texts_imported_anew_do_not_start_at_the_first_look(store):
    """Five imports and a draw each would miss in 12 of 100, where 5 are said."""
    first = imported(store, 60)
    assert store.spot_checks.draw(first.id, 30).look == 1
    mapping = ColumnMapping(text="text", record_id="id", spans="spans")
    shouted = letters(60)[::-1].assign(text=lambda table: table["text"].str.replace("Letter", "LETTER"))
    again = store.corpora.import_table(shouted, mapping, name="Again", unit="record")
    given = store.spot_checks.drawable(again.id)
    assert (given.look, given.elsewhere) == (2, True)
    assert store.spot_checks.draw(again.id, 30, look=given.look).look == 2
    read(store, again.id)
    assert store.spot_checks.estimate(again.id).direct.level == pytest.approx(0.975)
    store.corpora.delete(first.id)
    store.corpora.delete(again.id)
    part = store.corpora.import_table(letters(300).iloc[50:], mapping, name="Part", unit="record")
    assert store.spot_checks.draw(part.id, 30).look == 3, "a sixth of those that were drawn from"
    other = store.corpora.import_table(letters(600).iloc[400:], mapping, name="Other", unit="record")
    assert store.spot_checks.draw(other.id, 30).look == 1
    with store.session.db.read() as connection:
        kept = connection.exec_driver_sql("SELECT marks FROM spot_looks").scalars().all()
    assert len(kept) == 4
    assert not any(b"etter" in bytes(one) for one in kept)


def test_a_corpus_whose_texts_cannot_be_read_counts_as_the_same_records_and_stops_nobody(store):
    first = imported(store, 60)
    store.spot_checks.draw(first.id, 30)
    edited(store, "DELETE FROM spot_looks")
    mapping = ColumnMapping(text="text", record_id="id", spans="spans")
    other = store.corpora.import_table(letters(600).iloc[400:], mapping, name="Other", unit="record")
    assert store.spot_checks.drawable(other.id).look == 1
    for table in (store.path / "corpora" / first.id).glob("*.parquet"):
        table.unlink()
    again = Store(store.path, actor="Ada")
    assert again.spot_checks.drawable(other.id).look == 2
    assert again.spot_checks.at_a_glance(other.id, 20.0)[1] == 200
    again.close()


def test_a_check_of_an_earlier_edition_counts_as_long_as_its_corpus_is_here(store):
    first = imported(store, 60)
    store.spot_checks.draw(first.id, 30)
    edited(store, "DELETE FROM spot_looks")
    again = imported(store, 59)
    assert store.spot_checks.drawable(again.id).look == 2


def outside(store, corpus_id) -> str:
    inside = set(store.spot_checks.order(corpus_id))
    return next(f"id{i}" for i in range(60) if f"id{i}" not in inside)


def span_in(store, corpus_id, record) -> str:
    return store.review.spans(corpus_id, record)[0].span_id


class TestStale:
    def test_a_decision_that_lets_more_stay_elsewhere_ages_it_and_its_undo_does_not(self, store):
        corpus = imported(store)
        store.spot_checks.draw(corpus.id, 30)
        record = outside(store, corpus.id)
        store.review.decide(corpus.id, [span_in(store, corpus.id, record)], "reject")
        assert "stays which went before" in store.spot_checks.latest(corpus.id).stale
        store.review.undo(corpus.id)
        assert store.spot_checks.latest(corpus.id).stale == ""

    def test_marking_more_elsewhere_or_deciding_inside_does_not(self, store):
        corpus = imported(store)
        store.spot_checks.draw(corpus.id, 30)
        add_span(store, corpus.id, outside(store, corpus.id), 0, 6, "CODE")
        inside = store.spot_checks.order(corpus.id)[0]
        store.review.decide(corpus.id, [span_in(store, corpus.id, inside)], "reject")
        assert store.spot_checks.latest(corpus.id).stale == ""

    def test_taking_back_what_had_been_marked_before_ages_it(self, store):
        corpus = imported(store)
        for i in range(60):
            add_span(store, corpus.id, f"id{i}", 0, 6, "CODE")
        store.spot_checks.draw(corpus.id, 30)
        while "id" in outside(store, corpus.id) and not store.spot_checks.latest(corpus.id).stale:
            assert store.review.undo(corpus.id) is not None
        assert store.spot_checks.latest(corpus.id).stale

    def test_other_marks_age_it(self, store):
        corpus = imported(store)
        store.spot_checks.draw(corpus.id, 30)
        store.review.use_gold(corpus.id)
        assert "looked for again" in store.spot_checks.latest(corpus.id).stale

    def test_an_undone_reading_is_no_reading(self, store):
        corpus = imported(store)
        store.spot_checks.draw(corpus.id, 30)
        read(store, corpus.id)
        assert store.spot_checks.latest(corpus.id).complete
        store.review.undo(corpus.id)
        assert store.spot_checks.latest(corpus.id).read == 29


class TestSecondReader:
    def drawn(self, store, twice: int = 60):
        corpus = imported(store, 60, missed=20)
        act_as(store, "Ada")
        store.spot_checks.draw(corpus.id, 60, twice=twice)
        return corpus.id

    def read_second(self, store, corpus_id, skip=()) -> None:
        while (sheet := store.spot_checks.next_for_second(corpus_id)) is not None:
            at = sheet.text.find("Oddname")
            if at >= 0 and sheet.record_id not in skip:
                store.spot_checks.mark(corpus_id, sheet.record_id, sheet.text[at:-1], "PERSON")
            store.spot_checks.finish(corpus_id, sheet.record_id)

    def test_two_who_find_the_same_agree(self, store):
        corpus_id = self.drawn(store)
        read(store, corpus_id)
        act_as(store, "Grace")
        self.read_second(store, corpus_id)
        found = store.spot_checks.estimate(corpus_id)
        assert (found.agreement.texts, found.agreement.alike, found.agreement.both) == (60, 60, 20)
        assert (found.unseen.value, found.unseen.low) == (0.0, 0)
        assert store.spot_checks.differences(corpus_id) == []
        assert lines(store, "spot check text read by a second person") == 60

    def test_the_second_sees_the_marks_of_the_draw_and_none_of_the_first(self, store):
        corpus_id = self.drawn(store)
        read(store, corpus_id)
        act_as(store, "Grace")
        for _ in range(60):
            sheet = store.spot_checks.next_for_second(corpus_id)
            assert [label for _, _, label in sheet.marked] == ["PERSON"]
            assert all("Oddname" not in sheet.text[a:b] for a, b, _ in sheet.marked)
            store.spot_checks.finish(corpus_id, sheet.record_id)

    def test_nobody_is_their_own_second_reader(self, store):
        corpus_id = self.drawn(store)
        record = store.spot_checks.order(corpus_id)[0]
        read(store, corpus_id, [record])
        act_as(store, "  ADA ")
        with pytest.raises(UserError, match="somebody else has to read it"):
            store.spot_checks.finish(corpus_id, record)
        # the other way round: who read it as the second one cannot be its first reader as well
        act_as(store, "Grace")
        other = store.spot_checks.next_for_second(corpus_id).record_id
        store.spot_checks.finish(corpus_id, other)
        store.review.mark_reviewed(corpus_id, [other])
        assert store.spot_checks.latest(corpus_id).read_twice == 0

    @pytest.mark.parametrize("name", ["custodian", "Custodian ", "command line"])
    def test_a_second_reader_has_a_name(self, store, name):
        corpus_id = self.drawn(store)
        act_as(store, name)
        with pytest.raises(UserError, match="who you are"):
            store.spot_checks.finish(corpus_id, store.spot_checks.order(corpus_id)[0])

    def test_one_text_has_one_second_reader(self, store):
        corpus_id = self.drawn(store)
        act_as(store, "Grace")
        sheet = store.spot_checks.next_for_second(corpus_id)
        store.spot_checks.mark(corpus_id, sheet.record_id, "Letter", "CODE")
        act_as(store, "Joan")
        assert store.spot_checks.next_for_second(corpus_id).record_id != sheet.record_id
        with pytest.raises(UserError, match="Somebody else"):
            store.spot_checks.mark(corpus_id, sheet.record_id, "Letter", "CODE")
        act_as(store, "Grace")
        store.spot_checks.unmark(corpus_id, sheet.record_id, 0, 6)
        with pytest.raises(NotFoundError):
            store.spot_checks.unmark(corpus_id, sheet.record_id, 0, 6)
        store.spot_checks.finish(corpus_id, sheet.record_id)
        with pytest.raises(UserError, match="read this text to the end"):
            store.spot_checks.finish(corpus_id, sheet.record_id)

    @pytest.mark.parametrize("words", ["", "   ", "nowhere to be found", "etter", CANARY, "..."])
    def test_words_must_stand_unmarked_in_the_text(self, store, words):
        corpus_id = self.drawn(store)
        act_as(store, "Grace")
        sheet = store.spot_checks.next_for_second(corpus_id)
        with pytest.raises(UserError, match="words") as caught:
            store.spot_checks.mark(corpus_id, sheet.record_id, words, "PERSON")
        assert CANARY not in str(caught.value)

    def test_names_that_are_numbers_are_found_as_words(self, store):
        corpus_id = self.drawn(store)
        act_as(store, "Grace")
        sheet = store.spot_checks.next_for_second(corpus_id)
        number = sheet.record_id[2:]
        assert store.spot_checks.mark(corpus_id, sheet.record_id, number, "PERSON") in (1, 2)

    def test_a_difference_counts_until_it_is_settled_and_what_was_missed_is_marked_then(self, store):
        corpus_id = self.drawn(store)
        order = store.spot_checks.order(corpus_id)
        odd = [record for record in order if int(record[2:]) < 20]
        alone, other = odd[0], odd[1]  # the first reader overlooks one, the second another
        read(store, corpus_id, [record for record in order if record != alone])
        store.review.mark_reviewed(corpus_id, [alone])
        act_as(store, "Grace")
        self.read_second(store, corpus_id, skip={other})
        check = store.spot_checks.latest(corpus_id)
        assert (check.read_twice, check.disagreements) == (60, 2)
        found = store.spot_checks.estimate(corpus_id)
        assert (found.direct.hit, found.direct.value) == (20, pytest.approx(1000 / 60))  # `alone` is marked by nobody
        assert (found.agreement.alike, found.agreement.first, found.agreement.second) == (58, 1, 1)
        act_as(store, "Joan")
        by = {one.by: one for one in store.spot_checks.differences(corpus_id)}
        store.spot_checks.settle(corpus_id, alone, by["second"].start, by["second"].end, "missed")
        store.spot_checks.settle(corpus_id, other, by["first"].start, by["first"].end, "none", WHY)
        found = store.spot_checks.estimate(corpus_id)
        assert (found.direct.hit, found.direct.value, found.check.disagreements) == (19, 0.0, 0)
        assert (found.agreement.alike, found.agreement.second) == (58, 1)  # settling is no agreement
        assert any(one.start == by["second"].start for one in store.review.spans(corpus_id, alone))
        with pytest.raises(UserError, match="settled before, by Joan"):
            store.spot_checks.settle(corpus_id, alone, by["second"].start, by["second"].end, "none")
        assert lines(store, "spot check difference settled") == 2
        store.review.undo(corpus_id)  # takes the mark back, so that it stays again
        assert store.spot_checks.estimate(corpus_id).direct.value > 0

    def found_by_second(self, store):
        """Return a corpus in which the second reader alone found one identifier, and its place."""
        corpus_id = self.drawn(store)
        alone = "id0"
        read(store, corpus_id, [one for one in store.spot_checks.order(corpus_id) if one != alone])
        store.review.mark_reviewed(corpus_id, [alone])
        act_as(store, "Grace")
        self.read_second(store, corpus_id)
        (one,) = store.spot_checks.differences(corpus_id)
        assert (one.by, one.record_id) == ("second", alone)
        return corpus_id, (alone, one.start, one.end)

    @pytest.mark.parametrize("who", ["Ada", " ADA ", "Grace"])
    def test_neither_reader_says_that_the_second_ones_find_is_none(self, store, who):
        corpus_id, place = self.found_by_second(store)
        before = store.spot_checks.estimate(corpus_id).direct
        act_as(store, who)
        with pytest.raises(UserError, match="somebody else"):
            store.spot_checks.settle(corpus_id, *place, "none", WHY)
        assert store.spot_checks.estimate(corpus_id).direct == before
        store.spot_checks.settle(corpus_id, *place, "missed")  # that it was one, anybody may say
        assert store.spot_checks.estimate(corpus_id).direct.hit == before.hit

    @pytest.mark.parametrize("reason", ["", "too short", "because Oddname 0 is a street", "x" * 201])
    def test_that_it_is_none_needs_a_reason_without_the_words(self, store, reason):
        corpus_id, place = self.found_by_second(store)
        act_as(store, "Joan")
        with pytest.raises(UserError, match="reason"):
            store.spot_checks.settle(corpus_id, *place, "none", reason)
        store.spot_checks.settle(corpus_id, *place, "none", WHY)
        assert WHY in store.audit.lines(limit=1)["detail"][0]

    def test_a_second_reader_who_marks_the_text_as_read_besides_unmakes_no_find(self, store):
        corpus_id, (record, *_) = self.found_by_second(store)
        before = store.spot_checks.estimate(corpus_id).direct
        store.review.mark_reviewed(corpus_id, [record])
        assert store.spot_checks.latest(corpus_id).disagreements == 1
        assert store.spot_checks.estimate(corpus_id).direct == before

    def test_a_difference_that_is_none_cannot_be_settled(self, store):
        corpus_id = self.drawn(store)
        record = store.spot_checks.order(corpus_id)[0]
        with pytest.raises(NotFoundError):
            store.spot_checks.settle(corpus_id, record, 0, 6, "missed")
        with pytest.raises(UserError, match="outcome"):
            store.spot_checks.settle(corpus_id, record, 0, 6, "maybe")


class TestTakenBack:
    """What was found in a sample stays counted, however it is taken back, until somebody else says it is none."""

    def told(self, store):
        corpus = imported(store, 60, missed=20)
        act_as(store, "Ada")
        store.spot_checks.draw(corpus.id, 40)
        read(store, corpus.id)
        record = next(one for one in store.spot_checks.order(corpus.id) if int(one[2:]) < 20)
        (span,) = [one for one in store.review.spans(corpus.id, record) if one.recogniser != "gold"]
        return corpus.id, record, span

    def test_a_find_that_is_rejected_afterwards_stays_counted_and_is_to_be_settled(self, store):
        corpus_id, record, span = self.told(store)
        before = store.spot_checks.estimate(corpus_id).direct
        store.review.decide(corpus_id, [span.span_id], "reject")
        found = store.spot_checks.estimate(corpus_id)
        assert found.direct.hit == before.hit
        assert found.direct.high > before.high, "it stays unmarked now"
        (one,) = store.spot_checks.differences(corpus_id)
        assert (one.by, one.record_id, found.check.disagreements) == ("withdrawn", record, 1)
        with pytest.raises(UserError, match="somebody else"):
            store.spot_checks.settle(corpus_id, record, one.start, one.end, "none", WHY)
        act_as(store, "Joan")
        store.spot_checks.settle(corpus_id, record, one.start, one.end, "none", WHY)
        found = store.spot_checks.estimate(corpus_id)
        assert (found.direct.hit, found.check.disagreements) == (before.hit - 1, 0)

    def test_a_find_that_is_undone_or_made_less_of_stays_counted(self, store):
        corpus_id, _, span = self.told(store)
        before = store.spot_checks.estimate(corpus_id)
        store.review.decide(corpus_id, [span.span_id], "relabel", label="DATE")
        assert store.spot_checks.estimate(corpus_id).direct.hit == before.direct.hit
        while store.review.undo(corpus_id):
            pass
        store.review.mark_reviewed(corpus_id, store.spot_checks.order(corpus_id))  # read anew, nothing found
        after = store.spot_checks.estimate(corpus_id)
        assert after.direct.hit == before.direct.hit
        assert after.direct.high > before.direct.high

    def test_it_can_be_marked_again_by_whoever_took_it_back(self, store):
        corpus_id, record, span = self.told(store)
        before = store.spot_checks.estimate(corpus_id).direct
        store.review.decide(corpus_id, [span.span_id], "reject")
        (one,) = store.spot_checks.differences(corpus_id)
        store.spot_checks.settle(corpus_id, record, one.start, one.end, "missed")
        assert store.spot_checks.estimate(corpus_id).direct == before
        assert store.spot_checks.differences(corpus_id) == []

    def test_a_slip_is_put_right_before_the_text_was_read_to_the_end(self, store):
        corpus = imported(store, 40)
        act_as(store, "Ada")
        store.spot_checks.draw(corpus.id, 40)
        add_span(store, corpus.id, "id1", 0, 6, "PERSON")
        made = next(one for one in store.review.spans(corpus.id, "id1") if one.start == 0)
        store.review.decide(corpus.id, [made.span_id], "reject")
        read(store, corpus.id)
        found = store.spot_checks.estimate(corpus.id)
        assert (found.direct.hit, found.check.disagreements) == (0, 0)

    def test_what_went_before_and_is_rejected_was_never_missed(self, store):
        corpus = imported(store, 40)
        store.spot_checks.draw(corpus.id, 40)
        read(store, corpus.id)
        store.review.decide(corpus.id, [span_in(store, corpus.id, "id3")], "reject")
        found = store.spot_checks.estimate(corpus.id)
        assert (found.direct.hit, found.check.disagreements) == (0, 0)


def test_no_word_of_a_text_reaches_the_rows_or_the_log(store):
    corpus = imported(store, 60, missed=20)
    act_as(store, "Ada")
    store.spot_checks.draw(corpus.id, 60, twice=5)
    act_as(store, "Grace")
    sheet = store.spot_checks.next_for_second(corpus.id)
    store.spot_checks.mark(corpus.id, sheet.record_id, "Letter", "CODE")
    store.spot_checks.finish(corpus.id, sheet.record_id)
    with store.session.db.read() as connection:
        rows = [
            str(row)
            for table in ("spot_checks", "spot_records", "spot_events", "audit")
            for row in connection.exec_driver_sql(f"SELECT * FROM {table}")
        ]
    assert rows
    assert not any("Quillfeather" in row or "Letter" in row for row in rows if "Letters" not in row)


def test_a_deleted_corpus_takes_its_spot_checks_along(store):
    corpus = imported(store, 40)
    store.spot_checks.draw(corpus.id, 30)
    store.corpora.delete(corpus.id)
    with store.session.db.read() as connection:
        for table in ("spot_checks", "spot_records", "spot_events"):
            assert connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar() == 0
