"""One suite over every registered reader: the example reads back, and what is broken is refused plainly."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from engine.corpus.build import build_corpus
from engine.corpus.cells import cell_text
from engine.corpus.readers import FORMATS, Format, example_file, read_preview, read_table
from engine.corpus.readers.example_rows import example_rows

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
