"""What may be proposed from a file before it is imported: the column that names the person, and a cap.

A proposal is read from private rows and so is never a default. Whose records belong together decides whom a guarantee
protects, and the cap decides how much noise is drawn: both stand in the claim as public. The largest number of records
of one person is an exact statistic of private data and depends on a single person. A cap that followed it unasked would
tell of that person whatever noise is drawn later: a neighbouring file, that person left out, would get another cap,
other noise and another claim. So `default_cap` is a constant, and the number that keeps everybody's records counts only
once a person says that it may be public.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from engine.corpus.columns.cells import cell_text, is_missing, is_nested
from engine.corpus.columns.mapping import ColumnMapping, normal_name

PERSON_WORDS = frozenset(
    "patient person client customer user author subject participant case speaker sender applicant employee student "
    "member citizen respondent resident mrn nhs ssn pseudonym patsient isik isikukood patientin klient kunde kund "
    "paciente patiente".split()
)
NUMBER_WORDS = frozenset("id ids nr no num number code key hash ref uid uuid name nro pid kood nummer".split())
FEWEST_VALUES = 10
FEWEST_A_VALUE, MOST_A_VALUE = 1.2, 50.0  # records a value on average
LARGEST_SHARE = 0.2  # of the rows that one value may have
LONGEST_VALUE = 64
_DAY = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([T ].*)?|\d{1,2}:\d{2}(:\d{2})?")
_CODE = re.compile(r"(?=.*\d)[\w./:#@+-]{3,64}")
_MEASURE = re.compile(r"[+-]?\d{1,4}|[+-]?\d*[.,]\d+")  # an age, a year, a weight


@dataclass(frozen=True)
class PersonColumn:
    """A column that may say whose record each row is, what speaks for it, and that in one sentence."""

    column: str
    by: Literal["name", "values"]
    reason: str


def person_column(frame: pd.DataFrame, taken: Collection[str] = (), named: str | None = None) -> PersonColumn | None:
    """Return the column that most likely names the person, or None.

    Args:
        frame: the first rows of a file. taken: columns that play another part. named: the one that has a usual name.
    """
    free = [str(name) for name in frame.columns if str(name) not in taken]
    named = named or next((name for name in free if _is_person(name) and _values(frame, name)), None)
    if named is not None:
        return PersonColumn(named, "name", f"Proposed by its name. {_told(_values(frame, named))}")
    fitting = [(_fit(values), name, values) for name in free if (values := _values(frame, name)) and _fit(values)]
    if not fitting:
        return None
    _, column, values = max(fitting, key=lambda item: item[0])
    return PersonColumn(column, "values", f"Proposed by its values, which look like numbers of people. {_told(values)}")


def largest_cap(table: pd.DataFrame, mapping: ColumnMapping, unit: str) -> int:
    """Return the largest number of records of one unit in a table: the smallest cap that keeps everybody's records.

    Private, until a person declares that it may be public.
    """
    if unit != "source" or mapping.order or not mapping.source_id or mapping.source_id not in table.columns:
        return 1
    texts = (cell_text(cell) for cell in table[mapping.source_id])
    return max(Counter(text.strip() for text in texts if text and text.strip()).values(), default=1)


def _is_person(name: str) -> bool:
    words = set(normal_name(name).split("_"))
    return bool(words & PERSON_WORDS) and words <= PERSON_WORDS | NUMBER_WORDS


def _values(frame: pd.DataFrame, name: str) -> list[str]:
    """Return a column's values as text; none where it holds lists, long text or too many empty cells."""
    cells = [cell for cell in frame[name] if not is_missing(cell) and cell != ""]
    if len(cells) < 0.9 * len(frame) or any(is_nested(cell) for cell in cells):
        return []
    texts = [cell_text(cell) or "" for cell in cells]
    return texts if texts and max(map(len, texts)) <= LONGEST_VALUE else []


def _fit(values: list[str]) -> float:
    """Return how much values look like numbers of people with several rows each, 0 where they do not."""
    sizes = Counter(values)
    each = len(values) / len(sizes)
    if len(sizes) < FEWEST_VALUES or not FEWEST_A_VALUE <= each <= MOST_A_VALUE:
        return 0.0
    if max(sizes.values()) > max(LARGEST_SHARE * len(values), 2):
        return 0.0
    codes = sum(bool(_CODE.fullmatch(v)) and not _DAY.fullmatch(v) and not _MEASURE.fullmatch(v) for v in sizes)
    return len(sizes) if codes >= 0.95 * len(sizes) else 0.0


def _told(values: list[str]) -> str:
    if not values:
        return "Many of its rows are empty; each of them counts as a person of its own."
    sizes = Counter(values)
    least, most = min(sizes.values()), max(sizes.values())
    rows = f"{least} to {most} rows each" if most > least else f"{most} row{'s' if most > 1 else ''} each"
    return f"The rows looked at hold {len(sizes):,} different ones, {rows}."
