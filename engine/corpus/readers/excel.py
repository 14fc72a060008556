"""Excel workbooks: one sheet, a header row, then one record a row; formulas give their stored value."""

from __future__ import annotations

import io
import json
import warnings as python_warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from engine.corpus.columns.cells import cell_text
from engine.corpus.readers.archive import CHUNK_BYTES, open_archive
from engine.corpus.readers.base import (
    MAX_COLUMNS,
    Format,
    RawTable,
    ReadOptions,
    Source,
    check_columns,
    check_rows,
    header_names,
    make_frame,
)
from engine.corpus.readers.example_rows import example_rows
from engine.corpus.readers.sheet_size import LAST_ROW, SheetSize
from engine.errors import UnderstudyError, UserError

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet


_OLD_OR_PROTECTED = b"\xd0\xcf\x11\xe0"
_CELL_LIMIT = 32_767
_BROKEN = "this cannot be read as an Excel workbook; it may be cut short or damaged, save it again as .xlsx"
_NO_SHEETS = ("xl/sharedstrings.xml", "xl/styles.xml")  # large, and named so by every spreadsheet


def read_excel(source: Source, options: ReadOptions, limit: int | None) -> RawTable:
    """Return the rows of one sheet (the first unless named); row numbers are the sheet's own."""
    if source.head(4) == _OLD_OR_PROTECTED:
        message = "this is an old .xls file or one with a password; save it as .xlsx without a password"
        raise source.error(message, "readable Excel file")
    has_formulas, widths = _check_archive(source, options)
    names, numbers, rows, warnings, total = _sheet_rows(source, options, limit, widths, values=True)
    check_rows(source, total, options)
    if has_formulas:
        warnings += _formula_warnings(source, options, limit, widths, numbers, rows)
    cut = sum(isinstance(cell, str) and len(cell) == _CELL_LIMIT for row in rows for cell in row)
    if cut:
        warnings.append(
            f"{cut} cells hold exactly {_CELL_LIMIT:,} characters, the most Excel can; longer texts were cut before "
            "they came here. Export them as CSV or JSON Lines instead."
        )
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return RawTable(make_frame(columns, numbers), total, None, None, tuple(warnings))


def _check_archive(source: Source, options: ReadOptions) -> tuple[bool, dict[str, int]]:
    """Unpack the workbook once under the limits; return whether it holds formulas, and each part's last column."""
    formulas, widths = False, {}
    with open_archive(source, options, _BROKEN) as (archive, meter):
        names = archive.namelist()
        if "xl/workbook.xml" not in names:
            raise source.error("this is no Excel workbook; save it as .xlsx", "readable Excel file")
        for info in archive.infolist():
            # A workbook may keep its sheets elsewhere, so every part that could be one is looked at.
            size = SheetSize(source) if info.filename.lower() not in _NO_SHEETS else None
            with archive.open(info) as stream:
                while chunk := stream.read(CHUNK_BYTES):
                    meter.add(len(chunk))
                    if size is not None:
                        size.add(chunk)
            if size is not None:
                size.end()
                formulas, widths[info.filename] = formulas or size.formulas, size.widest
    return formulas, widths


def _sheet_rows(
    source: Source, options: ReadOptions, limit: int | None, widths: Mapping[str, int], values: bool
) -> tuple[list[str], list[int], list[list[object]], list[str], int]:
    """Return names, row numbers, rows, warnings and the number of non-empty rows."""
    book = _open(source, options, values)
    try:
        sheet, warnings = _choose_sheet(source, book, options)
        sheet.reset_dimensions()  # a sheet may claim a million empty rows of 16,384 columns
        width = widths.get(str(getattr(sheet, "_worksheet_path", "")), MAX_COLUMNS + 1)
        if width > MAX_COLUMNS + 1:  # one more may be a cell without a place, which is looked at below
            check_columns(source, width)
        iterator = _non_empty(source, sheet.iter_rows(values_only=True, max_col=width))
        header = next(iterator, None)
        if header is None:
            raise source.error("the sheet is empty; choose another sheet or export it again", "not empty")
        cells = _trimmed(header[1])
        names, more = header_names(source, [cell_text(cell) for cell in cells], header[0])
        numbers: list[int] = []
        rows: list[list[object]] = []
        total = 0
        for number, row in iterator:
            cells = _trimmed(row)
            if len(cells) > len(names):
                message = "this row is longer than the header row; name every column that holds values"
                raise source.error(message, "as many values as columns", row=number)
            total += 1
            if limit is None or len(rows) < limit:
                numbers.append(number)
                rows.append([*cells, *[None] * (len(names) - len(cells))])
            if len(rows) > options.max_rows:
                break
        return names, numbers, rows, [*warnings, *more], total
    except UnderstudyError:
        raise
    except Exception:  # noqa: BLE001 - openpyxl raises many kinds on a damaged sheet, with content in them
        raise _damaged(source) from None
    finally:
        book.close()


def _open(source: Source, options: ReadOptions, values: bool) -> Workbook:
    from openpyxl import load_workbook

    try:
        with python_warnings.catch_warnings():
            python_warnings.simplefilter("ignore")
            return load_workbook(source.handle(options), read_only=True, data_only=values, keep_links=False)
    except UnderstudyError:
        raise
    except Exception:  # noqa: BLE001 - openpyxl raises many kinds on a damaged workbook
        raise _damaged(source) from None


def _damaged(source: Source) -> UserError:
    message = "this cannot be read as an Excel workbook; open it, save it as .xlsx and try again"
    return source.error(message, "readable Excel file")


def _choose_sheet(source: Source, book: Workbook, options: ReadOptions) -> tuple[ReadOnlyWorksheet, list[str]]:
    sheets = book.worksheets
    if options.sheet is not None:
        chosen = [sheet for sheet in sheets if sheet.title == options.sheet]
        if not chosen:
            raise UserError(f"sheet: the workbook has no sheet called {options.sheet!r}; choose one of its sheets")
        return chosen[0], []
    if not sheets:
        raise source.error("the workbook has no sheet of cells; save the table as one", "at least one sheet")
    more = len(sheets) - 1
    return sheets[0], [f"The first sheet was read; {more} more were left out."] if more else []


def _non_empty(source: Source, rows: Iterable[tuple[object, ...]]) -> Iterator[tuple[int, Sequence[object]]]:
    for number, row in enumerate(rows, 1):
        if number > LAST_ROW:
            raise source.error(f"there are more than {LAST_ROW:,} rows; save it again", "row numbers")
        if row.count(None) < len(row) and any(cell is not None and cell != "" for cell in row):
            yield number, row


def _trimmed(row: Sequence[object]) -> list[object]:
    cells = list(row)
    while cells and cells[-1] in (None, ""):
        cells.pop()
    return cells


def _formula_warnings(
    source: Source,
    options: ReadOptions,
    limit: int | None,
    widths: Mapping[str, int],
    numbers: list[int],
    rows: list[list[object]],
) -> list[str]:
    _, formula_numbers, formulas, _, _ = _sheet_rows(source, options, limit, widths, values=False)
    written = dict(zip(formula_numbers, formulas))
    cells = [
        value
        for number, row in zip(numbers, rows)
        for value, formula in zip(row, written.get(number, []))
        if formula is not None and formula != value and (not isinstance(formula, str) or formula.startswith("="))
    ]
    empty = sum(value is None for value in cells)
    warnings = [f"{len(cells)} cells hold formulas; their stored values are used."] if cells else []
    if empty:
        warnings.append(
            f"{empty} formulas have no stored value and are empty here; open the file in a spreadsheet and save it."
        )
    return warnings


def _example() -> tuple[str, bytes]:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    rows = example_rows()
    sheet.append(list(rows[0]))
    for row in rows:
        sheet.append([*list(row.values())[:-1], json.dumps(row["spans"])])
    buffer = io.BytesIO()
    book.save(buffer)
    return "understudy-example.xlsx", buffer.getvalue()


EXCEL = Format("excel", "Excel workbook", (".xlsx", ".xlsm"), read_excel, _example)
