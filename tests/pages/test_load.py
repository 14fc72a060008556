"""Load: uploads, paths, mapping, refusals."""

from __future__ import annotations

import os

from streamlit.testing.v1 import AppTest

import engine
from tests.pages.small import NEEDLE, as_csv, as_jsonl, rows, words


class TestLoad:
    def upload(self, app: AppTest, name: str, content: bytes) -> AppTest:
        app.file_uploader(key="load.file.0").upload(name, content).run()
        assert not app.exception
        return app

    def test_empty_asks_for_a_file_and_offers_examples(self, empty, visit):
        app = visit("load")
        assert len(app.file_uploader) == 1
        assert not app.dataframe
        assert "Nothing is stored before you import" in words(app)

    def test_upload_map_and_import(self, empty, visit):
        app = visit("load")
        self.upload(app, "tickets.csv", as_csv(rows()))
        assert len(app.dataframe[0].value) == 10
        boxes = {box.label: box.value for box in app.selectbox if (box.key or "").startswith("load.map")}
        assert boxes["Text"] == "text"
        assert boxes["Person, case or author"] == "source_id"
        assert "people with" in words(app), "records a person are shown before the import"
        assert NEEDLE not in words(app)
        app.slider(key="load.holdout").set_value(30).run()
        app.button(key="load.import").click().run()
        assert not app.exception
        (corpus,) = engine.open_workspace(empty).corpora.all()
        assert (corpus.unit, corpus.holdout_rate, corpus.name) == ("source", 0.3, "tickets")
        assert app.radio(key="load.view").value == "What was loaded"
        assert "81 records" in words(app)

    def test_after_the_import_the_uploader_is_empty(self, empty, visit):
        app = visit("load")
        self.upload(app, "tickets.csv", as_csv(rows()))
        app.button(key="load.import").click().run()
        app.radio(key="load.view").set_value("Load a file").run()
        assert app.file_uploader(key="load.file.1").value is None
        assert "_ui.load.preview" not in app.session_state

    def test_a_broken_line_is_named_and_changes_nothing(self, empty, visit):
        app = visit("load")
        self.upload(app, "tickets.jsonl", b'{"text": "fine"}\n{"text": qqqq\n')
        text = words(app)
        assert "This file cannot be read" in text
        assert "tickets.jsonl" in text
        assert "2" in text
        assert "qqqq" not in text
        assert engine.open_workspace(empty).corpora.all() == []

    def test_a_refused_import_is_explained_beneath_the_button(self, empty, visit):
        app = visit("load")
        self.upload(app, "notes.csv", b"text,id\n" + b"\n".join(b"note %d about a visit,7" % i for i in range(12)))
        box = next(box for box in app.selectbox if (box.key or "").startswith("load.map.record"))
        box.set_value("id").run()
        app.button(key="load.import").click().run()
        assert not app.exception
        (error,) = app.error
        assert error.value.startswith("**Nothing was imported.**")
        assert "notes.csv" in error.value
        drawn = [type(element).__name__ for element in app.main]
        assert drawn.index("Error") > drawn.index("Button"), "beneath the button that was pressed"
        assert engine.open_workspace(empty).corpora.all() == []

    def test_path_on_this_machine(self, empty, visit, tmp_path):
        file = tmp_path / "tickets.jsonl"
        file.write_bytes(as_jsonl(rows()))
        app = visit("load")
        app.radio(key="load.way").set_value("Path on this machine").run()
        app.text_input(key="load.path").set_value(str(file)).run()
        assert not app.exception
        assert len(app.dataframe[0].value) == 10
        app.text_input(key="load.path").set_value(str(tmp_path / "missing.csv")).run()
        assert "missing.csv" in words(app)
        assert "check the path" in words(app)

    def test_person_needs_a_column(self, empty, visit):
        app = visit("load")
        self.upload(app, "notes.csv", b"text\n" + b"\n".join(b"note %d about a visit" % i for i in range(12)))
        unit = next(radio for radio in app.radio if (radio.key or "").startswith("load.unit"))
        unit.set_value("source").run()
        assert app.button(key="load.import").disabled
        assert "Choose the column that names the person" in words(app)

    def test_what_was_loaded_shows_figures_and_warnings(self, small, open_page):
        app = open_page("load")
        app.radio(key="load.view").set_value("What was loaded").run()
        assert not app.exception
        assert app.metric[0].value == "81"
        assert len(app.get("plotly_chart")) >= 3
        assert app.warning, "a small holdout is pointed out"

    def test_search_for_near_duplicates_is_shown_while_it_runs(self, small, open_page):
        from engine.store import queue

        with small.open().session.db.write() as connection:
            queue.enqueue(connection, "profile", corpus_id=small.bare)
        app = open_page("load", bare=True)
        app.radio(key="load.view").set_value("What was loaded").run()
        assert "Looking for near-duplicates" in words(app)


def visits(column: str = "patient_nr") -> bytes:
    """Return a table of thirty people with one to seven rows each, the text last."""
    lines = [
        f"P{person:03d},{20 + person},Visit {i} because of a sore knee that would not heal"
        for person in range(30)
        for i in range(1 + person % 7)
    ]
    return "\n".join([f"{column},age,note", *lines]).encode()


class TestProposals:
    def loaded(self, visit, column="patient_nr") -> AppTest:
        app = visit("load")
        app.file_uploader(key="load.file.0").upload("visits.csv", visits(column)).run()
        assert not app.exception
        return app

    def box(self, app):
        return next(box for box in app.selectbox if (box.key or "").startswith("load.map.source"))

    def tick(self, app):
        return next(box for box in app.radio if (box.key or "").endswith(".public"))

    def cap(self, app):
        return next(box for box in app.number_input if (box.key or "").startswith("load.cap"))

    def test_a_column_with_a_usual_name_is_filled_in_with_its_reason(self, empty, visit):
        app = self.loaded(visit)
        assert self.box(app).value == "patient_nr"
        assert "Proposed by its name. The rows looked at hold 30 different ones, 1 to 7 rows each." in words(app)

    def test_the_reason_stands_below_the_three_that_matter_and_above_the_others(self, empty, visit):
        app = self.loaded(visit)
        shown = [str(getattr(one, "label", None) or getattr(one, "value", "")) for one in app.main]
        places = [
            next(at for at, text in enumerate(shown) if said in text)
            for said in ("Label", "Proposed by its name", "These may stay as they are:", "Record number")
        ]
        assert places == sorted(places)
        assert [box.placeholder for box in app.multiselect] == ["(none)"] * 2, "as the others say it"

    def test_a_column_that_its_values_speak_for_counts_after_a_press_alone(self, empty, visit):
        app = self.loaded(visit, "xk")
        assert self.box(app).value == "(none)"
        assert next(r for r in app.radio if (r.key or "").startswith("load.unit")).value == "record"
        next(b for b in app.button if b.label == "Yes, it names the person").click().run()
        assert not app.exception
        assert self.box(app).value == "xk"
        assert next(r for r in app.radio if (r.key or "").startswith("load.unit")).value == "source"
        app.button(key="load.import").click().run()
        (corpus,) = engine.open_workspace(empty).corpora.all()
        assert (corpus.unit, corpus.units) == ("source", 30)

    def test_the_largest_number_is_the_cap_only_once_it_may_be_public(self, empty, visit):
        app = self.loaded(visit)
        assert self.cap(app).value == 5
        assert "12 rows beyond it will not be used" in words(app)
        assert self.tick(app).options == [
            "5, or a number of your own: tells nothing about the file",
            "7, the largest count: keeps all rows, and the number becomes public",
        ]
        self.tick(app).set_value(True).run()
        assert self.cap(app).value == 7
        assert "beyond it" not in words(app)
        self.tick(app).set_value(False).run()
        assert self.cap(app).value == 5, "the fixed number is back"
        self.tick(app).set_value(True).run()
        app.button(key="load.import").click().run()
        workspace = engine.open_workspace(empty)
        (corpus,) = workspace.corpora.all()
        assert corpus.cap == 7
        assert "cap declared public" in set(workspace.audit.lines(corpus_id=corpus.id)["action"])

    def test_a_number_of_ones_own_declares_nothing_about_the_file(self, empty, visit):
        app = self.loaded(visit)
        self.tick(app).set_value(True).run()
        self.cap(app).set_value(6).run()
        assert self.tick(app).value is False
        app.button(key="load.import").click().run()
        workspace = engine.open_workspace(empty)
        (corpus,) = workspace.corpora.all()
        assert corpus.cap == 6
        assert "cap declared public" not in set(workspace.audit.lines()["action"])

    def test_a_cap_that_was_taken_from_one_column_does_not_stand_for_another(self, empty, visit):
        app = self.loaded(visit)
        self.tick(app).set_value(True).run()
        assert self.cap(app).value == 7
        self.box(app).set_value("age").run()
        assert not app.exception
        assert self.cap(app).value == 5, "the fixed number: nobody said that this column's may be public"
        assert self.tick(app).value is False

    def test_the_text_stands_first_in_the_preview(self, empty, visit):
        app = self.loaded(visit)
        assert list(app.dataframe[0].value.columns) == ["note", "patient_nr", "age"]


class TestTogether:
    def test_columns_and_rows_are_put_together(self, empty, visit):
        app = visit("load")
        lines = [f"p{i % 6},{1 + i // 6},note {i} about a visit,plan {i} for the knee" for i in range(24)]
        data = "\n".join(["patient,number,note,plan", *lines]).encode()
        app.file_uploader(key="load.file.0").upload("notes.csv", data).run()

        def box(start: str):
            return next(one for one in (*app.selectbox, *app.multiselect) if (one.key or "").startswith(start))

        box("load.map.order").set_value("number").run()
        assert not app.exception
        assert "each person counts with one record" in words(app)
        assert not [one for one in app.number_input if (one.key or "").startswith("load.cap")]
        box("load.map.more").set_value(["plan"]).run()
        app.slider(key="load.holdout").set_value(5).run()
        app.button(key="load.import").click().run()
        assert not app.exception
        (corpus,) = engine.open_workspace(empty).corpora.all()
        assert (corpus.records, corpus.units, corpus.cap, corpus.unit) == (6, 6, 1, "source")
        assert "24 rows were put together to 6 texts" in words(app)

    def test_a_person_taken_back_takes_the_order_back(self, empty, visit):
        app = visit("load")
        app.file_uploader(key="load.file.0").upload("visits.csv", visits()).run()
        boxes = {(one.key or "").rsplit(".", 1)[0]: one for one in app.selectbox}
        boxes["load.map.order"].set_value("age").run()
        assert "each person counts with one record" in words(app)
        next(one for one in app.selectbox if (one.key or "").startswith("load.map.source")).set_value("(none)").run()
        assert not app.exception
        assert not [one for one in app.selectbox if (one.key or "").startswith("load.map.order")]
        assert not app.button(key="load.import").disabled or "Choose the column" in words(app)


def test_at_the_slider_it_says_how_many_people_are_set_aside_and_what_so_few_can_show(empty, visit):
    app = visit("load")
    app.file_uploader(key="load.file.0").upload("visits.csv", visits("patient_nr")).run()
    assert not app.exception
    few = words(app)
    assert "About **6** of 30 people." in few
    assert "up to 39% of others like them" in few, "3.84 of 9.84 by Wilson's interval"
    assert "it takes about 35, so a file of 70 people at least" in few

    rows = "\n".join(["text", *(f"note {i} about something" for i in range(200))]).encode()
    app = visit("load")
    app.file_uploader(key="load.file.0").upload("rows.csv", rows).run()
    assert "About **40** of 200 records. By number enough for “Internal sharing”." in words(app)
    app.slider(key="load.holdout").set_value(10).run()
    assert "18% would do: by a rule of thumb it takes 35." in words(app)


def test_what_the_warning_asks_for_is_set_by_one_press_as_far_as_the_slider_goes(empty, visit):
    def loaded(count: int) -> AppTest:
        rows = "\n".join(["text", *(f"note {i} about something" for i in range(count))]).encode()
        app = visit("load")
        app.file_uploader(key="load.file.0").upload("rows.csv", rows).run()
        assert app.slider(key="load.holdout").value == 20, "where it stands at first follows from no file"
        return app

    app = loaded(160)
    assert "22% would do" in words(app)
    button = app.button(key="load.holdout.needed")
    assert button.label == "Set aside 22%"
    button.click().run()
    assert not app.exception
    assert app.slider(key="load.holdout").value == 22
    assert app.slider(key="load.holdout").label == "Set aside: 22%"
    assert "About **35** of 160 records. By number enough" in words(app)
    assert "load.holdout.needed" not in {one.key for one in app.button}
    app.button(key="load.import").click().run()
    assert engine.open_workspace(empty).corpora.all()[0].holdout_rate == 0.22
    app = loaded(110)
    assert app.button(key="load.holdout.needed").label == "Set aside 32%"
    app = loaded(60)
    assert "so a file of 70 records at least" in words(app)
    assert "load.holdout.needed" not in {one.key for one in app.button}, "the slider ends at half of the file"


def test_a_share_that_was_chosen_for_one_file_does_not_stand_for_another(empty, visit, tmp_path):
    rows = "\n".join(["text", *(f"note {i} about something" for i in range(80))])
    for name in ("first.csv", "second.csv"):
        (tmp_path / name).write_text(rows)
    app = visit("load")
    app.radio(key="load.way").set_value("Path on this machine").run()
    app.text_input(key="load.path").set_value(str(tmp_path / "first.csv")).run()
    app.slider(key="load.holdout").set_value(44).run()
    app.run()
    assert app.slider(key="load.holdout").value == 44, "it stays with its file"
    app.text_input(key="load.path").set_value(str(tmp_path / "second.csv")).run()
    assert app.slider(key="load.holdout").value == 20, "the first file's need, which is private, would be the start"
    app.slider(key="load.holdout").set_value(44).run()
    app.text_input(key="load.sheet").set_value("Second").run()
    assert app.slider(key="load.holdout").value == 20, "another sheet is another table"
    app.slider(key="load.holdout").set_value(44).run()
    app.selectbox(key="load.delimiter").set_value("Comma").run()
    assert app.slider(key="load.holdout").value == 44, "read another way it is the same one"
    os.utime(tmp_path / "second.csv", ns=(1, 1))
    app.run()
    assert app.slider(key="load.holdout").value == 20, "a file that was replaced is another"
    assert not app.exception


def test_nor_for_another_one_of_the_same_name(empty, visit):
    rows = "\n".join(["text", *(f"note {i} about something" for i in range(80))])
    app = visit("load")
    app.file_uploader(key="load.file.0").upload("rows.csv", rows.encode()).run()
    app.slider(key="load.holdout").set_value(44).run()
    app.file_uploader(key="load.file.0").upload("rows.csv", f"{rows}\nanother".encode()).run()
    assert app.slider(key="load.holdout").value == 20
    assert not app.exception


def test_where_accented_letters_are_to_be_checked_one_is_shown(empty, visit):
    def shown(app: AppTest):
        return [one for one in app.dataframe if list(one.value.columns) == ["Row", "Text"]]

    long = "The tenant wrote that nothing had been mended since the winter, and wrote again. " * 5
    rows = [f"{long};plain {n}" for n in range(30)]
    rows[14] = f"{long}In the caf\u00e9 they said so too. {long};plain"
    data = "\n".join(["text;other", *rows])
    app = visit("load")
    app.file_uploader(key="load.file.0").upload("notes.csv", data.encode("cp1252")).run()
    assert "Check accented letters" in words(app)
    (frame,) = shown(app)
    assert list(frame.value["Row"]) == [16]
    assert "In the caf\u00e9 they said" in frame.value["Text"].iloc[0]
    assert "caf\u00e9" not in words(app), "in a table alone"
    next(one for one in app.selectbox if (one.key or "").startswith("load.map.text")).set_value("other").run()
    assert not shown(app)
    assert "None of the 30 rows looked at has an accented letter in its text." in words(app)
    app = visit("load")
    app.file_uploader(key="load.file.0").upload("notes.csv", data.encode("utf-8")).run()
    assert not shown(app)
    assert "accented letter" not in words(app)


def test_few_set_aside_are_told_after_the_import_with_the_ways_out(empty, visit):
    app = visit("load")
    app.file_uploader(key="load.file.0").upload("visits.csv", visits("patient_nr")).run()
    app.button(key="load.import").click().run()
    assert not app.exception
    assert "too few to show by measuring that text is safe for more readers" in words(app)
    assert "Set aside" in [one.label for one in app.metric]
    assert app.button(key="load.aside.plan")
    app.button(key="load.aside.again").click().run()
    assert not app.exception
    assert app.radio(key="load.view").value == "Load a file"
