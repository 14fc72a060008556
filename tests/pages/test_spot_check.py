"""The spot check on the review page: drawn, read in its order, read again by a second person, settled."""

from __future__ import annotations

import math
from typing import Any

from tests.pages.small import HOSTILE, NEEDLE, labels, words
from tests.pages.test_review_page import desk
from tests.store.span_tables import add_span

VIEW = {"review.view": "Spot check"}


def read(small: Any, count: int = 81) -> None:
    """Read the first texts of the spot check to the end, as the first reader."""
    workspace = small.open()
    workspace.review.mark_reviewed(small.corpus, workspace.spot_checks.order(small.corpus)[:count])


class TestSpotCheck:
    def test_nothing_drawn_yet_says_what_it_is_for_and_draws(self, small, open_page):
        app = open_page("review", **VIEW)
        assert "Texts are drawn at random" in words(app)
        app.button(key="review.spot.draw").click().run()
        assert not app.exception
        check = small.open().spot_checks.latest(small.corpus)
        assert (check.look, check.read) == (1, 0)
        assert check.twice == 20
        assert "0 read" in words(app)
        assert f"{check.drawn} texts drawn" in words(app)

    def test_a_small_sample_warns_and_a_larger_wish_asks_for_more(self, small, open_page):
        app = open_page("review", **VIEW)
        asked = [one for one in app.number_input if (one.key or "").startswith("review.spot.count")]
        asked[0].set_value(10).run()
        assert not app.exception
        assert "fewer than 30" in words(app)
        before = next(one for one in app.number_input if (one.key or "").startswith("review.spot.count")).value
        next(one for one in app.selectbox if (one.key or "").startswith("review.spot.target")).select(5.0).run()
        after = next(one for one in app.number_input if (one.key or "").startswith("review.spot.count"))
        assert after.value > before

    def test_no_fewer_are_proposed_than_the_policy_of_the_readers_takes(self, small, open_page):
        workspace = small.open()
        for readers, bound, least, twice in (("organisation", 50.0, 75, 20), ("researchers", 20.0, 81, 20)):
            workspace.plan.remember(small.corpus, {"recipients": readers})
            app = open_page("review", **VIEW)
            target = next(one for one in app.selectbox if (one.key or "").startswith("review.spot.target"))
            fields = {str(one.key).rsplit(".", 1)[0]: one.value for one in app.number_input}
            count = next(value for name, value in fields.items() if name.startswith("review.spot.count"))
            assert target.value == bound, readers
            assert least <= count <= 81, readers  # all of them where the corpus has fewer than it takes
            assert next(value for name, value in fields.items() if name.startswith("review.spot.twice")) == twice
            assert "takes no fewer than" in words(app)
        told = desk(open_page("review"))["spot"][0]
        assert told.split()[0] in ("81", "Spot"), "beside the counts, too"

    def test_a_corpus_without_marks_is_looked_through_first(self, small, open_page):
        assert "review.spot.draw" not in {button.key for button in open_page("review", bare=True, **VIEW).button}

    def test_reading_opens_the_texts_in_its_order(self, small, open_page):
        workspace = small.open()
        workspace.spot_checks.draw(small.corpus, 40)
        app = open_page("review", **VIEW)
        app.button(key="review.spot.read").click().run()
        assert not app.exception
        assert app.session_state["review.view"] == "Text by text"
        order = app.session_state[f"_ui.review.desk.{small.corpus}"].order
        assert order == workspace.spot_checks.order(small.corpus)
        assert "40 of its 40 records are still to be read" in desk(app)["spot"][1], "beside the counts"

    def test_a_complete_one_shows_the_interval_and_the_sidebar_too(self, small, open_page):
        small.open().spot_checks.draw(small.corpus, 40)
        read(small)
        app = open_page("review", **VIEW)
        high = math.ceil(10 * small.open().spot_checks.estimate(small.corpus).direct.high) / 10
        assert f"At most **{high:.1f}** of 1,000 texts" in words(app)
        assert f"Probably at most {high:.1f} of 1,000 records" in "\n".join(str(m.value) for m in app.sidebar.markdown)
        assert app.dataframe[0].value.iloc[0, -1].endswith(f" to {high:.1f}"), "as the sentence above it"
        assert list(app.dataframe[0].value["Missed"])[:2] == ["Direct identifiers", "Indirect identifiers"]

    def test_a_stale_one_says_why(self, small, open_page):
        workspace = small.open()
        workspace.spot_checks.draw(small.corpus, 40)
        workspace.review.use_gold(small.corpus)
        assert "Out of date" in words(open_page("review", **VIEW))

    def test_a_second_person_adds_takes_back_and_finishes(self, small, open_page):
        workspace = small.open()
        workspace.spot_checks.draw(small.corpus, 81, twice=81)
        read(small)
        workspace.settings.set_actor("Grace")
        app = open_page("review", **VIEW)
        assert "0 of 81 texts" in words(app)
        app.toggle(key="review.second.on").set_value(True).run()
        sheet = small.open().spot_checks.next_for_second(small.corpus)
        word = next(w for w in sheet.text.split() if w.isalpha() and not any(
            start <= sheet.text.index(w) < end for start, end, _ in sheet.marked))  # fmt: skip
        app.text_input(key="review.second.words").set_value(word)
        app.button(key="review.second.add").click().run()
        assert not app.exception
        (place, *_) = small.open().spot_checks.next_for_second(small.corpus).mine
        app.text_input(key="review.second.words").set_value("typed only")
        app.button(key="review.second.finish").click().run()
        assert "typed and not added" in words(app)
        app.text_input(key="review.second.words").set_value("")
        app.button(key=f"review.second.back.{sheet.record_id}.{place[0]}.{place[1]}").click().run()
        assert place not in small.open().spot_checks.next_for_second(small.corpus).mine
        app.button(key="review.second.finish").click().run()
        assert not app.exception
        assert small.open().spot_checks.latest(small.corpus).read_twice == 1

    def test_the_first_reader_has_no_text_to_read_again(self, small, open_page):
        small.open().spot_checks.draw(small.corpus, 81, twice=81)
        read(small)
        app = open_page("review", **VIEW)
        assert "no text for you to read" in words(app)
        assert "review.second.finish" not in {button.key for button in app.button}

    def test_a_difference_is_settled_and_no_text_reaches_markdown(self, small, open_page):
        workspace = small.open()
        workspace.spot_checks.draw(small.corpus, 81, twice=81)
        at = HOSTILE.index(NEEDLE)
        add_span(workspace, small.corpus, "A0", at, at + len(NEEDLE), "MISC")
        read(small)
        workspace.settings.set_actor("Grace")
        while (sheet := small.open().spot_checks.next_for_second(small.corpus)) is not None:
            small.open().spot_checks.finish(small.corpus, sheet.record_id)
        app = open_page("review", **VIEW)
        assert "found by one reader alone" in words(app)
        assert NEEDLE not in words(app)
        assert all(NEEDLE not in label for label in labels(app))
        place = f"review.settle.A0.{at}.{at + len(NEEDLE)}"
        app.button(key=f"{place}.none").click().run()
        assert small.open().spot_checks.latest(small.corpus).disagreements == 1, "a reason is asked for"
        app.text_input(key=f"{place}.reason").set_value("a test string of the program").run()
        app.button(key=f"{place}.none").click().run()
        assert not app.exception
        assert small.open().spot_checks.latest(small.corpus).disagreements == 0
        assert "found by one reader alone" not in words(app)
