import datetime
import io
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

from engine.corpus.columns.cells import cell_text
from engine.corpus.columns.mapping import ColumnMapping
from engine.corpus.readers import ReadOptions, read_preview, read_table
from engine.errors import DataError, UserError
from tests.corpus.built import build_corpus

KEY = b"k" * 32


def saved(book: Workbook) -> bytes:
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def test_excel_cells_become_text_as_shown() -> None:
    book = Workbook()
    book.active.append(["text", "n", "day", "yes"])
    book.active.append(["a note", 98.0, datetime.datetime(2021, 3, 1), True])
    book.create_sheet("more").append(["text"])
    table = read_table(saved(book), "a.xlsx")
    assert [cell_text(cell) for cell in table.iloc[0]] == ["a note", "98", "2021-03-01", "true"]
    assert "1 more were left out" in table.attrs["warnings"][0]


def test_excel_formulas_give_their_stored_value() -> None:
    book = Workbook()
    book.active.append(["text", "sum"])
    book.active.append(["first note", "=1+2"])
    book.active.append(["second note", "=2+2"])
    data = saved(book)
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for info in old.infolist():
            content = old.read(info)
            if info.filename == "xl/worksheets/sheet1.xml":
                assert b"<f>1+2</f><v></v>" in content or b"<f>1+2</f><v />" in content
                for empty in (b"<f>1+2</f><v></v>", b"<f>1+2</f><v />"):
                    content = content.replace(empty, b"<f>1+2</f><v>3</v>")
            new.writestr(info, content)
    table = read_table(buffer.getvalue(), "a.xlsx")
    assert [cell_text(cell) for cell in table["sum"]] == ["3", None]
    assert [warning[:22] for warning in table.attrs["warnings"]] == ["2 cells hold formulas;", "1 formulas have no sto"]


def test_an_excel_sheet_that_claims_to_be_huge_is_read_quickly() -> None:
    book = Workbook()
    book.active.append(["text"])
    book.active.append(["a note"])
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved(book))) as old, zipfile.ZipFile(buffer, "w") as new:
        for info in old.infolist():
            new.writestr(info, old.read(info).replace(b'ref="A1:A2"', b'ref="A1:XFD1048576"'))
    assert len(read_table(buffer.getvalue(), "a.xlsx")) == 1


@pytest.mark.parametrize(
    ("data", "rule"),
    [(b"\xd0\xcf\x11\xe0" + b"\x00" * 600, "readable Excel file"), (b"not a workbook", "readable zip")],
)
def test_what_is_no_workbook_is_refused(data: bytes, rule: str) -> None:
    with pytest.raises(DataError, match=r"save it (again )?as \.xlsx") as caught:
        read_table(data, "a.xlsx")
    assert caught.value.rule == rule
    assert "zip" not in str(caught.value).replace(rule, ""), "nobody packed it"


def test_an_unknown_sheet_is_the_users_error() -> None:
    book = Workbook()
    book.active.append(["text"])
    with pytest.raises(UserError, match="no sheet called"):
        read_table(saved(book), "a.xlsx", ReadOptions(sheet="absent"))


def test_parquet_kinds() -> None:
    table = pa.table(
        {
            "text": ["a note", "another note"],
            "n": pa.array([1, None], pa.int64()),
            "x": [83.5, 98.0],
            "day": [datetime.date(2021, 3, 1), None],
            "kind": pa.array(["a", "b"]).dictionary_encode(),
            "picture": [b"\x00", b"\x01"],
            "spans": [[{"start": 0, "end": 1, "label": "misc"}], []],
        }
    )
    read = read_table(parquet(table), "a.parquet")
    assert list(read.columns) == ["text", "n", "x", "day", "kind", "spans"]
    assert [cell_text(cell) for cell in read["n"]] == ["1", None]
    assert [cell_text(cell) for cell in read["x"]] == ["83.5", "98"]
    assert [cell_text(cell) for cell in read["day"]] == ["2021-03-01", None]
    assert list(read["kind"]) == ["a", "b"]
    assert "binary data" in read.attrs["warnings"][0]
    built = build_corpus(
        read, ColumnMapping("text", spans="spans"), unit="record", cap=1, holdout_rate=0, key=KEY, filename="a"
    )
    assert built.spans["label"].tolist() == ["MISC"]
    with pytest.raises(DataError) as caught:
        build_corpus(read, ColumnMapping("spans"), unit="record", cap=1, holdout_rate=0, key=KEY, filename="a")
    assert caught.value.rule == "text is text"


def test_unreadable_parquet() -> None:
    with pytest.raises(DataError) as caught:
        read_table(b"PAR1 secret PAR1", "a.parquet")
    assert caught.value.rule == "readable Parquet"
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "name", "row", "rule"),
    [
        (b'{"text": "a"}\n{"text": "secret\n', "a.jsonl", 2, "valid JSON"),
        (b'{"text": "a"}\n\n["secret"]\n', "a.jsonl", 3, "one JSON object a line"),
        (b'{"text": "secret"}', "a.json", None, "a list of objects"),
        (b'[{"text": "a"}, "secret"]', "a.json", 2, "a list of objects"),
        (b'[{"text": "a"},\n {"text": secret}]', "a.json", 2, "valid JSON"),
        (b"[" * 100_000, "a.json", None, "valid JSON"),
        (b'[{"n": ' + b"9" * 5_000 + b"}]", "a.json", None, "valid JSON"),
        (b'[{"a": "x", " a": "y"}]', "a.json", None, "unique column names"),
    ],
)
def test_broken_json_names_the_row(data: bytes, name: str, row: int | None, rule: str) -> None:
    with pytest.raises(DataError) as caught:
        read_table(data, name)
    assert (caught.value.row, caught.value.rule) == (row, rule)
    assert "secret" not in str(caught.value)


def test_json_lines_that_lack_a_key_are_null_there_and_separators_inside_stay() -> None:
    table = read_table('{"text": "a\u2028b", "n": 1}\n{"text": "c"}\n'.encode(), "a.jsonl")
    assert list(table["text"]) == ["a\u2028b", "c"]
    assert [cell_text(cell) for cell in table["n"]] == ["1", None]
    assert list(read_preview(b'{"text": "c", "n": [1]}', "a.jsonl").rows["n"]) == ["[1]"]
