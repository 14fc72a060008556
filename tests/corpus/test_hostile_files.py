"""Files made to exhaust or to trip a reader: each is refused in a sentence, at once, with little memory."""

from __future__ import annotations

import io
import os
import time
import tracemalloc
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

import engine
from engine.corpus.columns.mapping import ColumnMapping
from engine.corpus.readers import ReadOptions, base, read_preview, read_table
from engine.corpus.readers.sheet_size import SheetSize
from engine.errors import DataError

SECONDS = 20  # what took hours; the machine may be busy


def workbook(sheet: bytes) -> bytes:
    """Return a workbook whose only sheet is this XML."""
    book, made, out = Workbook(), io.BytesIO(), io.BytesIO()
    book.active.append(["text"])
    book.save(made)
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            new.writestr(info.filename, sheet if info.filename == "xl/worksheets/sheet1.xml" else old.read(info))
    return out.getvalue()


def sheet(rows: str) -> bytes:
    head = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    return f'{head}<row r="1">{cell("A1", "text")}</row>{rows}</sheetData></worksheet>'.encode()


def cell(place: str, text: str) -> str:
    where = f' r="{place}"' if place else ""
    return f'<c{where} t="inlineStr"><is><t>{text}</t></is></c>'


def parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def read_both(data: bytes, filename: str) -> list[str]:
    """Return the refusals of the preview and of the import."""
    said = []
    for read in (read_preview, read_table):
        with pytest.raises(DataError) as caught:
            read(data, filename)
        said.append(str(caught.value))
    return said


@pytest.mark.parametrize(
    "number", ["2000000000", "1048577", "2e9", "&#50;000000000", "-1", "", " 5", "99999999999999999999"]
)
def test_a_row_number_no_spreadsheet_has_is_refused_at_once(number):
    data = workbook(sheet(f'<row r="{number}">{cell("A2", "x")}</row>'))
    started = time.monotonic()
    for said in read_both(data, "a.xlsx"):
        assert "row" in said
    assert time.monotonic() - started < SECONDS


def test_rows_styled_to_the_last_column_are_read_as_wide_as_their_values():
    rows = "".join(f'<row r="{n}">{cell(f"A{n}", "word")}<c r="XFD{n}" s="0"/></row>' for n in range(2, 5002))
    started = time.monotonic()
    table = read_table(workbook(sheet(rows)), "a.xlsx")
    assert (len(table), list(table.columns)) == (5000, ["text"])
    assert time.monotonic() - started < SECONDS


@pytest.mark.parametrize("place", ["XFD2", "ALM2"])
def test_a_value_beyond_the_last_named_column_is_not_lost(place):
    for said in read_both(workbook(sheet(f'<row r="2">{cell("A2", "a")}{cell(place, "b")}</row>')), "a.xlsx"):
        assert "column" in said


def test_cells_without_a_place_count_as_they_come():
    rows = f"<row>{cell('', 'one')}</row><row>{cell('', 'two')}</row>"
    assert list(read_table(workbook(sheet(rows)), "a.xlsx")["text"]) == ["one", "two"]


@pytest.mark.parametrize("step", [1, 7, 64, 10_000])
def test_the_size_of_a_sheet_does_not_depend_on_how_it_is_cut(step):
    xml = sheet(f'<row r="2">{cell("C2", "a")}<c r="XFD2" s="1"/><c r="Z2"><f>A1</f><v>1</v></c></row>')
    size = SheetSize(base.Source("a.xlsx", data=b"x"))
    for start in range(0, len(xml), step):
        size.add(xml[start : start + step])
    size.end()
    assert (size.widest, size.cells, size.formulas) == (26, 4, True)


def test_more_cells_than_memory_holds_are_refused(monkeypatch):
    monkeypatch.setattr(base, "MAX_CELLS", 1000)
    many = ",".join(["1"] * 1200)
    for name, data in (
        ("a.json", f'[{{"text": "a", "n": [{many}]}}]'.encode()),
        ("a.jsonl", f'{{"text": "a", "n": [{many}]}}'.encode()),
        ("a.csv", ("text,b,c\n" + "a,b,c\n" * 600).encode()),
        ("a.xlsx", workbook(sheet(f'<row r="2">{"<c/>" * 1200}</row>'))),
    ):
        for said in read_both(data, name):
            assert "1,000 values" in said, name
    wide = parquet(pa.table({f"c{i}": ["a"] * 300 for i in range(5)}))
    with pytest.raises(DataError, match="1,000 values"):
        read_table(wide, "a.parquet")
    assert len(read_table(wide, "a.parquet", ReadOptions(columns=("c1", "c3")))) == 300


def test_a_list_of_empty_objects_is_refused_before_it_is_parsed():
    data = b"[" + b"{}," * 11_000_000 + b"{}]"  # 33 MB would be 0.8 GB of objects
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="values"):
            read_table(data, "a.json")
        assert tracemalloc.get_traced_memory()[1] < 8 * len(data)
    finally:
        tracemalloc.stop()


def test_columns_that_are_not_needed_cost_nothing(tmp_path, monkeypatch):
    rows = 500
    wide = pa.table({"text": ["a word or two"] * rows} | {f"n{i}": pa.nulls(rows) for i in range(400)})
    path = tmp_path / "a.parquet"
    path.write_bytes(parquet(wide))
    peaks = []
    for columns in (None, ("text",)):
        tracemalloc.start()
        try:
            read_table(path, path.name, ReadOptions(columns=columns))
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < peaks[0] / 2
    monkeypatch.setattr(base, "MAX_CELLS", 1000)
    workspace = engine.open_workspace(tmp_path / "workspace")
    assert workspace.corpora.import_file(path, path.name, ColumnMapping(text="text"), name="a").records == rows
    workspace.close()


@pytest.mark.parametrize("place", ["value", "key", "list", "nested"])
@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_half_a_character_is_refused_with_its_row(suffix, place):
    half = "\\ud800"
    bad = {
        "value": f'{{"text": "Hello {half} there", "id": "2"}}',
        "key": f'{{"text": "Hello", "i{half}": "2"}}',
        "list": f'{{"text": "Hello", "id": ["{half}"]}}',
        "nested": f'{{"text": "Hello", "id": {{"a": [{{"{half}": 1}}]}}}}',
    }[place]
    lines = ['{"text": "Hello \\ud83d\\ude00 there", "id": "1"}', bad]
    data = ("\n".join(lines) if suffix == "jsonl" else f"[{','.join(lines)}]").encode()
    for said in read_both(data, f"a.{suffix}"):
        assert "half of a character" in said
        assert ("row 2" in said) is (place != "key")


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0, 2**62], pa.duration("s")),
        pa.array([0, 2**60], pa.timestamp("ms")),
        pa.array([0, 2**31 - 1], pa.date32()),
        pa.array([0, 2**60], pa.timestamp("us", "UTC")),
        pa.array([0, 1], pa.timestamp("us", "+99:00")),
        pa.array([0, 10**11 * 86_400_000], pa.int64()).view(pa.date64()),
    ],
    ids=lambda column: str(column.type),
)
def test_dates_that_no_calendar_has_are_refused_or_read(column):
    data, said = parquet(pa.table({"text": ["a", "b"], "when": column})), []
    for read in (read_preview, read_table):
        try:
            read(data, "a.parquet")
        except DataError as error:
            said.append(str(error))
    assert all("column 2" in sentence for sentence in said)


def test_bytes_that_are_no_text_in_a_text_column_are_refused_with_their_row():
    broken = pa.array([b"fine", b"\xff\xfe"], pa.binary()).view(pa.string())
    for said in read_both(parquet(pa.table({"text": broken})), "a.parquet"):
        assert "row 2" in said
        assert "column 1" in said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders here")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_text("a text")
    os.mkfifo(folder / "b.txt")
    with pytest.raises(DataError, match="pipe or a device"):
        read_table(folder, "folder")
    for name in ("a.csv", "a.json.gz", "a.parquet", "a"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(DataError, match="pipe or a device"):
            read_preview(tmp_path / name, name)
    with pytest.raises(DataError, match="pipe or a device"):
        read_table(Path("/dev/zero"), "zero.csv")


def test_a_preview_shows_what_is_there():
    """The preview's own rows keep their numbers and their kinds."""
    shown = read_preview(b'[{"text": "a"}, {"text": null}, {"text": 3.0}]', "a.json").rows
    assert list(shown["text"]) == ["a", None, "3"]
    assert list(shown.index) == [1, 2, 3]
    when = parquet(pa.table({"text": ["a"], "when": [datetime(2020, 1, 1, 3, tzinfo=UTC)]}))
    assert read_preview(when, "a.parquet").rows["when"][1].startswith("2020-01-01 03:00")
