"""Several columns of text as one, and the rows of one person as one text in their order."""

from __future__ import annotations

from typing import Any

import pytest

from engine.corpus.columns.mapping import ColumnMapping, default_cap
from engine.corpus.columns.proposals import largest_cap
from engine.corpus.readers.base import make_frame
from engine.errors import DataError, UserError
from tests.corpus.built import build_corpus

KEY = b"k" * 32


def build(columns: dict[str, list[Any]], mapping: ColumnMapping, **settings: Any) -> Any:
    rows = len(next(iter(columns.values())))
    options: dict[str, Any] = {"unit": "record", "cap": 1, "holdout_rate": 0.0, "key": KEY, "filename": "f.csv"}
    return build_corpus(make_frame(columns, range(2, rows + 2)), mapping, **{**options, **settings})


def marked(built: Any) -> list[str]:
    """Return what the marks of a corpus cover."""
    texts = dict(zip(built.records["record_id"], built.records["text"]))
    return [texts[r][a:b] for r, a, b in built.spans[["record_id", "start", "end"]].itertuples(index=False)]


COLUMNS: dict[str, list[Any]] = {
    "complaint": ["A sore knee since May.", "", None],
    "plan": ["Rest and ice for a week.", "Come back in a month.", "  "],
    "who": ["p1", "p2", "p1"],
}


def test_columns_come_under_their_names_and_empty_ones_are_left_out():
    built = build(COLUMNS, ColumnMapping("complaint", source_id="who", more_texts=("plan",)))
    assert list(built.records["text"]) == [
        "complaint:\nA sore knee since May.\n\nplan:\nRest and ice for a week.",
        "plan:\nCome back in a month.",
    ]
    assert "Each text is made of up to 2 columns, each under its name." in built.warnings
    assert "1 rows without text were left out." in built.warnings


def test_a_name_with_a_line_break_stays_in_its_line():
    built = build({"a": ["one text"], "b \n c": ["another"]}, ColumnMapping("a", more_texts=("b \n c",)))
    assert list(built.records["text"]) == ["a:\none text\n\nb c:\nanother"]


def test_marks_move_with_the_first_column():
    cells = [[{"start": 2, "end": 6, "label": "x"}], [], None]
    mapping = ColumnMapping("complaint", spans="marks", more_texts=("plan",))
    built = build({**COLUMNS, "marks": cells}, mapping)
    assert marked(built) == ["sore"]
    with pytest.raises(DataError, match=r"f\.csv.*row 2.*not valid JSON"):
        build({**COLUMNS, "marks": ["{", None, None]}, mapping)
    with pytest.raises(DataError, match="whole number"):
        build({**COLUMNS, "marks": [[{"start": "x", "end": 6, "label": "x"}], None, None]}, mapping)


NOTES: dict[str, list[Any]] = {
    "note": ["Second: much better.", "First: a sore knee.", "Of somebody else.", "Third: well again.", "Nobody's."],
    "who": ["p1", "p1", "p2", "p1", None],
    "day": ["2021-03-10", "2021-02-01", "2021-03-01", "2021-03-10 09:30", "2020-01-01"],
    "kind": ["later", "first", "only", "last", "none"],
    "id": list("abcde"),
    "marks": [[], [{"start": 9, "end": 13, "label": "x"}], [], [], []],
}
IN_ORDER = ColumnMapping("note", record_id="id", source_id="who", label="kind", spans="marks", order="day")


def test_rows_of_a_person_are_one_text_in_their_order():
    built = build(NOTES, IN_ORDER, unit="source")
    assert list(built.records["text"]) == [
        "2021-02-01\nFirst: a sore knee.\n\n2021-03-10\nSecond: much better.\n\n2021-03-10 09:30\nThird: well again.",
        "2021-03-01\nOf somebody else.",
        "2020-01-01\nNobody's.",
    ]
    assert list(built.records["source_id"]) == ["p1", "p2", None]
    assert list(built.records["label"]) == ["last", "only", "none"]
    assert list(built.records["record_id"]) == ["d", "c", "e"]
    days = ["2021-02-01", "sore", "2021-03-10", "2021-03-10 09:30", "2021-03-01", "2020-01-01"]
    assert marked(built) == days, "a day that is written above a text is marked, as nobody else would"
    said = " ".join(built.warnings)
    assert "5 rows were put together to 3 texts" in said
    assert "1 people have rows with different labels" in said
    assert built.statistics.over_cap == 0


def test_without_marks_none_are_made():
    built = build(NOTES, ColumnMapping("note", source_id="who", order="day"), unit="source")
    assert len(built.spans) == 0


@pytest.mark.parametrize(
    ("cells", "order"),
    [
        (["3", "1", "2"], "bca"),
        (["10", "9", "9.5"], "bca"),
        (["2021-3-9", "2021-03-10", "2020-12-31"], "cab"),
        (["9.3.2021", "10.3.2021", "31.12.2020"], "cab"),
        (["3/30/1999", "12/30/1998", "4/1/1999"], "bac"),
        (["30/3/1999", "30/12/1998", "1/4/1999"], "bac"),
        (["1999-03-01T10:00+02:00", "1999-03-01T09:00Z", "1999-03-01 07:59"], "cab"),
        ([None, "2", "1"], "cba"),
        (["", "", ""], "abc"),
    ],
)
def test_days_and_numbers_are_read(cells, order):
    columns = {"text": [f"note {x} of a visit" for x in "abc"], "who": ["p"] * 3, "n": cells}
    built = build(columns, ColumnMapping("text", source_id="who", order="n"))
    (text,) = built.records["text"]
    assert [x for x in "abc" if f"note {x}" in text] == list("abc")
    assert sorted("abc", key=lambda x: text.index(f"note {x}")) == list(order)


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (["1921-03-04", "soon", "1921-03-05"], r"row 3.*days.*or numbers"),
        (["1921-03-04", "04.03.1921", "1921-03-05"], r"days, written alike"),
        (["2021-02-30", "2021-02-01", "2021-03-05"], r"row 2"),
        (["1/2/2021", "3/4/2021", "5/6/2021"], "cannot be told apart"),
        (["1", "x", "2"], "row 2|row 3"),
    ],
)
def test_an_order_that_cannot_be_told_is_refused_without_a_cell(cells, says):
    columns = {"text": ["a note of a visit"] * 3, "who": ["p"] * 3, "n": cells}
    with pytest.raises(DataError, match=says) as caught:
        build(columns, ColumnMapping("text", source_id="who", order="n"))
    assert not any(str(cell) in str(caught.value) for cell in cells if len(str(cell)) > 1)


def test_what_cannot_be_put_together_is_refused():
    with pytest.raises(UserError, match="whose row"):
        ColumnMapping("note", order="day").check()
    with pytest.raises(UserError, match="already mapped"):
        ColumnMapping("note", more_texts=("note",)).check()
    with pytest.raises(DataError, match="something that is not text"):
        build({"a": ["one"], "b": [["x"]]}, ColumnMapping("a", more_texts=("b",)))
    with pytest.raises(DataError, match="none of its"):
        build({"a": ["one"]}, ColumnMapping("a", more_texts=("b",)))
    with pytest.raises(DataError, match="every text is empty"):
        build({"a": [None, ""], "b": ["1", "2"], "w": ["p", "p"]}, ColumnMapping("a", source_id="w", order="b"))
    with pytest.raises(DataError, match="longer than"):
        build(
            {"a": ["word " * 150_000] * 2, "b": ["1", "2"], "w": ["p", "p"]},
            ColumnMapping("a", source_id="w", order="b"),
        )


def test_nobody_has_more_than_one_record_then():
    table = make_frame(NOTES, range(2, 7))
    assert (default_cap("source"), default_cap("source", IN_ORDER)) == (5, 1)
    assert largest_cap(table, IN_ORDER, "source") == 1
