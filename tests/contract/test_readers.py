"""One suite over every registered reader: the example reads back, and what is broken is refused plainly."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

from engine.corpus.columns.cells import cell_text
from engine.corpus.readers import FORMATS, Format, ReadOptions, example_file, read_preview, read_table
from engine.corpus.readers.example_rows import example_rows
from engine.errors import DataError
from tests.corpus.built import build_corpus

KEY = b"contract-test-key-of-32-bytes-00"


def example_source(item: Format, folder: Path) -> tuple[Path | bytes, str]:
    """Return the example as the reader takes it; the folder's is unpacked first."""
    name, data = example_file(item.id)
    if item.id != "folder":
        return data, name
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder / "notes")
    return folder / "notes", "notes"


@pytest.fixture(params=FORMATS, ids=lambda item: item.id)
def item(request: pytest.FixtureRequest) -> Format:
    """Return each registered format in turn."""
    return request.param


def test_example_reads_back(item: Format, tmp_path: Path) -> None:
    source, name = example_source(item, tmp_path)
    table = read_table(source, name)
    expected = example_rows()
    order = {row["text"]: position for position, row in enumerate(expected)}
    assert sorted(table["text"], key=order.__getitem__) == [row["text"] for row in expected]
    if "department" in table:
        assert list(table["department"]) == [row["department"] for row in expected]
        assert [json.loads(cell_text(cell) or "") for cell in table["spans"]] == [row["spans"] for row in expected]
    assert table.index.name == "row"
    assert table.attrs["warnings"] == []


def test_example_becomes_a_corpus_by_its_suggested_mapping(item: Format, tmp_path: Path) -> None:
    source, name = example_source(item, tmp_path)
    mapping = read_preview(source, name).suggested
    assert mapping.text == "text"
    assert mapping.record_id is not None
    assert mapping.source_id is not None
    built = build_corpus(
        read_table(source, name), mapping, unit="source", cap=2, holdout_rate=0.0, key=KEY, filename=name
    )
    assert built.statistics.units == 4
    assert len(built.spans) == (11 if mapping.spans else 0)


TABLES = tuple(item for item in FORMATS if item.id not in ("zip", "folder"))


def test_preview_shows_ten_rows_as_text(item: Format, tmp_path: Path) -> None:
    source, name = example_source(item, tmp_path)
    preview = read_preview(source, name, rows=3)
    assert preview.format == item.id
    assert preview.total_rows == 6
    assert len(preview.rows) == 3
    assert preview.columns == list(preview.rows.columns)
    assert all(isinstance(cell, str) for column in preview.rows for cell in preview.rows[column])


def test_bytes_and_path_give_the_same_table(item: Format, tmp_path: Path) -> None:
    source, name = example_source(item, tmp_path)
    if isinstance(source, Path):
        pytest.skip("a folder has no bytes")
    path = tmp_path / name
    path.write_bytes(source)
    assert read_table(path, name).map(cell_text).equals(read_table(source, name).map(cell_text))


def test_empty_file_is_refused(item: Format, tmp_path: Path) -> None:
    if item.id == "folder":
        source: Path | bytes = tmp_path
        expected = "at least one row"
    else:
        source, expected = b"", "not empty"
    with pytest.raises(DataError) as caught:
        read_table(source, f"some{(item.suffixes or ('',))[0]}")
    assert caught.value.rule == expected


def test_limit_in_bytes_is_kept(item: Format, tmp_path: Path) -> None:
    source, name = example_source(item, tmp_path)
    with pytest.raises(DataError, match="limit") as caught:
        read_table(source, name, ReadOptions(max_bytes=100))
    assert caught.value.file == name


def test_limit_in_rows_is_kept(item: Format, tmp_path: Path) -> None:
    source, name = example_source(item, tmp_path)
    with pytest.raises(DataError) as caught:
        read_table(source, name, ReadOptions(max_rows=5))
    assert caught.value.rule == "max_rows"


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_file_cut_short_never_gives_fewer_records_in_silence(item: Format, share: float) -> None:
    name, data = example_file(item.id)
    if item.id == "folder":
        pytest.skip("a folder is not cut short")
    cut = data[: int(len(data) * share)]
    if item.id in ("csv", "tsv", "jsonl"):  # a whole row is a whole record; a broken one is named
        with pytest.raises(DataError) as caught:
            read_table(cut.rpartition(b" ")[0], name)
        assert caught.value.row is not None
    else:
        with pytest.raises(DataError) as caught:
            read_table(cut, name)
        assert caught.value.file == name


def test_missing_path_is_named(item: Format, tmp_path: Path) -> None:
    name = f"absent{(item.suffixes or ('.csv',))[0]}"
    with pytest.raises(DataError, match="no such file"):
        read_table(tmp_path / name, name)


@pytest.mark.parametrize("junk", [b"\x00" * 64, b"\xff\xfe\x00\xd8" * 20, b"PK\x03\x04" + b"x" * 60, b"%PDF-1.7 x" * 9])
def test_junk_is_refused_as_a_data_error_without_content(item: Format, junk: bytes) -> None:
    if item.id == "folder":
        pytest.skip("a folder is no bytes")
    with pytest.raises(DataError) as caught:
        read_table(junk, f"junk{item.suffixes[0]}")
    assert caught.value.rule
    assert "xxx" not in str(caught.value)


@pytest.mark.parametrize("item", [item for item in TABLES if item.id != "parquet"], ids=lambda item: item.id)
def test_formula_looking_cells_stay_text_and_are_counted(item: Format) -> None:
    cells = ["=cmd|' /C calc'!A0", "@SUM(1+1)", "-5", "+44 20 7946 0000", "- a list item"]
    name = f"cells{item.suffixes[0]}"
    table = read_table(write_table(item, {"text": cells, "n": ["a", "b", "c", "d", "e"]}), name)
    assert list(table["text"]) == cells
    assert [warning for warning in table.attrs["warnings"] if warning.startswith("2 cells look like")]


@pytest.mark.parametrize("item", TABLES, ids=lambda item: item.id)
def test_repeated_column_names_are_refused(item: Format) -> None:
    if item.id == "parquet":
        table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["Zeta", "Zeta"])
        buffer = io.BytesIO()
        pq.write_table(table, buffer)
        data = buffer.getvalue()
    elif item.id in ("json", "jsonl"):
        data = b'{"Zeta": "a", "Zeta": "b"}' if item.id == "jsonl" else b'[{"Zeta": "a", "Zeta": "b"}]'
    elif item.id == "excel":
        data = workbook([["Zeta", "Zeta"], ["a", "b"]])
    else:
        data = b"Zeta,Zeta\na,b\n" if item.id == "csv" else b"Zeta\tZeta\na\tb\n"
    with pytest.raises(DataError) as caught:
        read_table(data, f"twice{item.suffixes[0]}")
    assert caught.value.rule == "unique column names"
    assert "Zeta" not in str(caught.value)


@pytest.mark.parametrize("item", TABLES, ids=lambda item: item.id)
def test_a_header_without_rows_is_refused(item: Format) -> None:
    if item.id in ("json", "jsonl"):
        data = b"[]" if item.id == "json" else b"\n\n"
    else:
        data = write_table(item, {"text": [], "id": []})
    with pytest.raises(DataError) as caught:
        read_table(data, f"header{item.suffixes[0]}")
    assert caught.value.rule in ("at least one row", "not empty")


@pytest.mark.parametrize("item", TABLES, ids=lambda item: item.id)
def test_awkward_texts_come_back_exactly(item: Format) -> None:
    texts = ["a,b;c\td|e", 'she said "no"', "two\nlines", "  blanks  ", "naïve Ω 漢字 👩🏽‍⚕️ עברית", "'=x", "{}", "[1]"]
    table = read_table(write_table(item, {"id": [str(i) for i in range(8)], "text": texts}), f"t{item.suffixes[0]}")
    assert list(table["text"]) == texts


def write_table(item: Format, columns: dict[str, list[str]]) -> bytes:
    """Write text columns in a format."""
    rows = [dict(zip(columns, values)) for values in zip(*columns.values())]
    if item.id == "json":
        return json.dumps(rows).encode()
    if item.id == "jsonl":
        return "\n".join(json.dumps(row) for row in rows).encode()
    if item.id == "parquet":
        buffer = io.BytesIO()
        schema = pa.schema([(name, pa.string()) for name in columns])
        pq.write_table(pa.Table.from_pydict(columns, schema=schema), buffer)
        return buffer.getvalue()
    if item.id == "excel":
        return workbook([list(columns), *[list(row.values()) for row in rows]])
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="," if item.id == "csv" else "\t")
    writer.writerow(columns)
    writer.writerows(row.values() for row in rows)
    return text.getvalue().encode()


def workbook(rows: list[list[str]]) -> bytes:
    """Write a sheet whose cells are all text, formula-looking ones too."""
    book = Workbook()
    sheet = book.active
    for y, row in enumerate(rows, 1):
        for x, value in enumerate(row, 1):
            sheet.cell(y, x).value = value
            sheet.cell(y, x).data_type = "s"
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()
