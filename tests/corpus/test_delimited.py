import csv
import io
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.corpus.readers import ReadOptions, read_preview, read_table
from engine.errors import DataError, UserError

CELLS = st.text(st.characters(exclude_characters="\x00", exclude_categories=("Cs",)), max_size=30)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8), st.sampled_from([",", ";", "\t", "|"]))
def test_whatever_is_written_as_csv_comes_back(rows: list[tuple[str, str]], delimiter: str) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(["id", "text"])
    writer.writerows(rows)
    table = read_table(text.getvalue().encode(), "a.csv", ReadOptions(encoding="utf-8", delimiter=delimiter))
    assert list(zip(table["id"], table["text"])) == rows


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(string.ascii_letters + ' ,;|"\n', min_size=1, max_size=60), min_size=1, max_size=20),
    st.sampled_from([",", ";", "\t", "|"]),
)
def test_the_delimiter_of_three_quoted_columns_is_found(texts: list[str], delimiter: str) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(["id", "text", "label"])
    writer.writerows([str(i), item, "x"] for i, item in enumerate(texts))
    assert read_preview(text.getvalue().encode(), "a.csv").delimiter == delimiter


@pytest.mark.parametrize(
    ("data", "columns", "rows"),
    [
        (b"id;text\n1;hello, world\n2;a, b, c\n", ["id", "text"], 2),  # commas inside a semicolon file
        (b"sep=|\nid|text\n1|a\n", ["id", "text"], 1),  # Excel's own first line
        (b"text\nhello, you\nplain\n", ["text"], 2),  # one column, no delimiter at all
        (b"id,text\r1,old Mac\r2,lines\r", ["id", "text"], 2),
        (b"id,text\n\n1,a\n\n\n2,b\n", ["id", "text"], 2),  # empty lines
        (b",text\n0,a\n", ["column 1", "text"], 1),  # a pandas index without a name
    ],
)
def test_shapes_of_real_files(data: bytes, columns: list[str], rows: int) -> None:
    table = read_table(data, "a.csv")
    assert list(table.columns) == columns
    assert len(table) == rows


@pytest.mark.parametrize(
    ("data", "row", "rule"),
    [
        (b"id,text\n1,a\n2,b,secret\n", 3, "as many values as columns"),
        (b"id,text\n1,a\n2\n", 3, "as many values as columns"),
        (b'id,text\n1,a\n2,"secret\n3,c\n', 3, "paired quotes"),  # the quote never closes
        (b'id,text\n1,"secret"x\n', 2, "paired quotes"),
        (b"id,id\n1,2\n", 1, "unique column names"),
        (b"   \n \n", None, "not empty"),
    ],
)
def test_broken_rows_are_named_and_never_quoted(data: bytes, row: int | None, rule: str) -> None:
    with pytest.raises(DataError) as caught:
        read_table(data, "a.csv")
    assert (caught.value.row, caught.value.rule) == (row, rule)
    assert "secret" not in str(caught.value)


def test_row_numbers_are_those_of_a_spreadsheet() -> None:
    assert list(read_table(b'id,text\n1,"two\nlines"\n\n2,b\n', "a.csv").index) == [2, 4]


def test_a_field_longer_than_pythons_own_limit_is_read() -> None:
    assert len(read_table(b"id,text\n1," + b"a" * 200_000 + b"\n", "a.csv")["text"].iloc[0]) == 200_000


def test_a_header_that_looks_like_data_is_pointed_out() -> None:
    assert "looks like data" in read_preview(b"1,a note\n2,another note\n", "a.csv").warnings[0]


def test_a_long_delimiter_is_the_users_error() -> None:
    with pytest.raises(UserError, match="one character"):
        read_table(b"id,text\n1,a\n", "a.csv", ReadOptions(delimiter="::"))


def test_a_cell_that_an_import_would_refuse_is_told_in_the_preview() -> None:
    data = ("id,text,note\n1,short,a\n2," + "long " * 300_000 + ",b\n3," + "x" * 1_000_001 + ",c\n").encode()
    said = [warning for warning in read_preview(data, "a.csv").warnings if "longer than 1,000,000" in warning]
    assert len(said) == 1
    assert "and 1 more" in said[0]
    assert "'text'" in said[0]
    assert not [w for w in read_preview(b"id,text\n1,short\n", "a.csv").warnings if "longer" in w]
