"""Several columns of text, or several rows of one person, as one text, before a corpus is built of the table.

Columns come under their names, in the order in which they were mapped. Rows of one person come in the order of a column
of days or numbers, each under its day where it has one, so that a method that goes record by record keeps their order,
and what it does to the dates of a person it does to all of them alike. Marks that came with the file move with their
text, and a day that is written above a text is marked too.

Privacy posture: messages name the part, the row and the rule, never the cell; columns are counted, not named, since
the first line of a file without a header is text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import pandas as pd

from engine.corpus.columns.cells import cell_text, is_nested
from engine.corpus.columns.columns import check_present, read_texts, row_numbers
from engine.corpus.columns.gold import parse_spans_cell, shifted
from engine.corpus.columns.mapping import ColumnMapping
from engine.errors import DataError

BETWEEN = "\n\n"  # texts
_DAYS: tuple[tuple[str, str], ...] = (  # shape, and how to read it; a column is of one shape throughout
    (r"\d{4}-\d{1,2}-\d{1,2}", "%Y-%m-%d"),
    (r"\d{4}/\d{1,2}/\d{1,2}", "%Y/%m/%d"),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", "%d.%m.%Y"),
    (r"\d{1,2}/\d{1,2}/\d{4}", "%d/%m/%Y"),
    (r"\d{1,2}/\d{1,2}/\d{4}", "%m/%d/%Y"),
    (r"\d{1,2}-\d{1,2}-\d{4}", "%d-%m-%Y"),
    (r"\d{1,2}-\d{1,2}-\d{4}", "%m-%d-%Y"),
)
_CLOCK = re.compile(r"[T ](\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))? ?(?:Z|([+-])(\d{2}):?(\d{2}))?$")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_CUT = re.compile(r"\s+")
WANTED = "days, written alike throughout (2021-03-04 is read without doubt), or numbers"

Place = tuple[float]


@dataclass
class _Piece:
    """A row's text, its marks within it, and what it is sorted by; `day` is written above it where it has one."""

    text: str
    spans: list[dict[str, object]]
    place: Place | None = None
    day: str = ""


def together(table: pd.DataFrame, mapping: ColumnMapping, filename: str) -> tuple[pd.DataFrame, ColumnMapping]:
    """Return a table with one column of text, and one row a person where their rows are to be put in order.

    Args:
        table: one row a record, as `read_table` gives it. mapping: as it was chosen. filename: shown in messages.

    Returns:
        The table, with sentences on what was done among `attrs["warnings"]`, and the mapping of it.

    Raises:
        DataError: a text column holds something else, or the order cannot be told.
    """
    if not mapping.more_texts and not mapping.order:
        return table, mapping
    check_present(table, mapping, filename)
    numbers = row_numbers(table)
    pieces, told = _pieces(table, mapping, filename, numbers), list(table.attrs.get("warnings", []))
    if mapping.more_texts:
        told.append(f"Each text is made of up to {1 + len(mapping.more_texts)} columns, each under its name.")
    kept = list(range(len(table)))
    if mapping.order and mapping.source_id:
        pieces, kept, said = _by_person(table, mapping, filename, numbers, pieces)
        told += said
    made = table.iloc[kept].copy()
    made[mapping.text] = pd.Series([piece.text for piece in pieces], index=made.index, dtype=object)
    if mapping.spans:
        made[mapping.spans] = pd.Series([piece.spans for piece in pieces], index=made.index, dtype=object)
    made.attrs["warnings"] = told
    return made, replace(mapping, more_texts=(), order=None)


def _pieces(table: pd.DataFrame, mapping: ColumnMapping, filename: str, numbers: Sequence[int]) -> list[_Piece]:
    """Return the text of each row, its columns under their names; marks count within the first column."""
    columns = [(name, read_texts(table, name, filename)) for name in (mapping.text, *mapping.more_texts)]
    cells = list(table[mapping.spans]) if mapping.spans else [None] * len(table)
    made = []
    for i, cell in enumerate(cells):
        text, at = "", 0
        for number, (name, texts) in enumerate(columns):
            if not texts[i].strip():
                continue
            head = f"{_CUT.sub(' ', name).strip()}:\n" if mapping.more_texts else ""
            text += (BETWEEN if text else "") + head
            at = len(text) if number == 0 else at
            text += texts[i]
        try:
            spans = shifted(parse_spans_cell(cell), at)
        except ValueError as error:
            rule = str(getattr(error, "rule", "spans are a list"))
            raise DataError(str(error), file=filename, row=numbers[i], rule=rule) from None
        made.append(_Piece(text, spans))
    return made


def _by_person(
    table: pd.DataFrame, mapping: ColumnMapping, filename: str, numbers: Sequence[int], pieces: list[_Piece]
) -> tuple[list[_Piece], list[int], list[str]]:
    """Return one text a person, which row each stands in for, and what there is to say about it."""
    assert mapping.source_id is not None
    assert mapping.order is not None
    sources = [(cell_text(cell) or "").strip() for cell in table[mapping.source_id]]
    labels = list(table[mapping.label]) if mapping.label else [None] * len(table)
    read = _order(list(table[mapping.order]), filename, numbers)
    for piece, (place, day) in zip(pieces, read):
        piece.place, piece.day = place, day
    people: dict[object, list[int]] = {}
    for i, source in enumerate(sources):
        if pieces[i].text.strip():
            people.setdefault(source or i, []).append(i)  # without a person each row is one of its own
    found, kept, mixed, unplaced = [], [], 0, 0
    for rows in people.values():
        ordered = sorted(rows, key=lambda i: (pieces[i].place is None, pieces[i].place or (0.0,), i))
        unplaced += sum(pieces[i].place is None for i in rows) if len(rows) > 1 else 0
        mixed += len({cell_text(labels[i]) for i in rows}) > 1
        found.append(_joined([pieces[i] for i in ordered]))
        kept.append(ordered[-1])
    said = [
        f"{sum(map(len, people.values())):,} rows were put together to {len(found):,} texts, one a person, each in "
        "the order that you chose. What else stands in a row is that of the person's last one."
    ]
    empty = sum(not piece.text.strip() for piece in pieces)
    if empty:
        said.append(f"{empty:,} rows without text were left out.")
    if mixed:
        said.append(f"{mixed:,} people have rows with different labels; their text has the label of the last one.")
    if unplaced:
        said.append(f"{unplaced:,} rows have no place in the order; they come last, as in the file.")
    if not found:
        return pieces, list(range(len(table))), []  # no text at all: the next check says so
    return found, kept, said


def _joined(pieces: Sequence[_Piece]) -> _Piece:
    """Return several texts as one, each under its day; a text that stands alone gets one as well."""
    made = _Piece("", [])
    for piece in pieces:
        made.text += BETWEEN if made.text else ""
        if piece.day:
            start = len(made.text)
            made.spans.append({"start": start, "end": start + len(piece.day), "label": "DATE",
                               "identifier_type": "quasi"})  # fmt: skip
            made.text += piece.day + "\n"
        made.spans += shifted(piece.spans, len(made.text))
        made.text += piece.text
    return made


def _order(cells: Sequence[object], filename: str, numbers: Sequence[int]) -> list[tuple[Place | None, str]]:
    """Return of each cell its place in the order, None where it is empty, and its day as it is written.

    Raises:
        DataError: they are not all days of one shape, or numbers, or days that may be read in two ways.
    """
    words = [("" if is_nested(cell) else cell_text(cell) or "").strip() for cell in cells]
    given = [(number, word) for number, word in zip(numbers, words) if word]
    if all(_NUMBER.fullmatch(word) for _, word in given):
        return [((float(word),) if word else None, "") for word in words]
    shapes = [_CLOCK.sub("", word) for _, word in given]
    fitting = []
    for shape, form in _DAYS:
        if all(re.fullmatch(shape, one) for one in shapes):
            places = [_place(word, form) for _, word in given]
            if None not in places:
                fitting.append((form, places))
    rule = "order is days or numbers"
    if not fitting:
        wrong = next((number for number, word in given if not _looks_like_a_day(word)), given[0][0])
        raise DataError(f"the column that gives the order has to hold {WANTED}", file=filename, row=wrong, rule=rule)
    if len(fitting) > 1 and fitting[0][1] != fitting[1][1]:
        message = "days and months cannot be told apart in the column that gives the order; write 2021-03-04"
        raise DataError(message, file=filename, rule=rule)
    form = fitting[0][0]
    return [(_place(word, form) if word else None, word) for word in words]


def _looks_like_a_day(word: str) -> bool:
    day: Callable[[str], bool] = lambda form: _place(word, form) is not None  # noqa: E731
    return any(re.fullmatch(shape, _CLOCK.sub("", word)) and day(form) for shape, form in _DAYS)


def _place(word: str, form: str) -> Place | None:
    """Return a day, and a time of day where there is one, as numbers to sort by; None where no calendar has it."""
    clock = _CLOCK.search(word)
    try:
        day = datetime.strptime(_CLOCK.sub("", word), form)
    except ValueError:
        return None
    if clock is None:
        return (day.toordinal() * 86_400.0,)
    hours, minutes, seconds = (float(part or 0) for part in clock.groups()[:3])
    ahead = (60 * float(clock[5]) + float(clock[6])) * (1 if clock[4] == "+" else -1) if clock[4] else 0.0
    return (day.toordinal() * 86_400.0 + hours * 3600 + (minutes - ahead) * 60 + seconds,)
