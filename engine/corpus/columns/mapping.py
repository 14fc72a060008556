"""Which column plays which part, and a first guess at it from names and contents."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

import pandas as pd

from engine.corpus.columns.cells import cell_text, is_missing, is_nested
from engine.corpus.columns.gold import parse_spans_cell
from engine.errors import UserError

TEXT_NAMES = (
    "text", "full_text", "note", "notes", "note_text", "narrative", "body", "content", "message", "letter", "report",
    "document", "comment", "comments", "description", "dialogue", "transcript", "review", "abstract", "summary",
    "section_text", "free_text", "sentence", "post", "answer", "symptom_text", "decision", "judgment",
)  # fmt: skip
ID_NAMES = (
    "record_id", "id", "doc_id", "document_id", "note_id", "report_id", "message_id", "text_id", "row_id", "uid",
    "encounter_id", "letter_id", "ticket_id", "key", "number", "file", "doi",
)  # fmt: skip
SOURCE_NAMES = (
    "source_id", "patient_id", "patient", "person_id", "person", "author", "author_id", "user", "user_id", "username",
    "customer", "customer_id", "client", "client_id", "subject_id", "participant", "participant_id", "case_id", "case",
    "speaker", "sender", "mrn", "applicant", "folder",
)  # fmt: skip
LABEL_NAMES = (
    "label", "labels", "category", "class", "outcome", "section_header", "department", "topic", "type", "tag",
    "sentiment", "rating", "specialty", "queue", "priority", "diagnosis_group", "kind", "article",
)  # fmt: skip
SPANS_NAMES = ("spans", "gold_spans", "entities", "annotations", "mentions", "pii", "ents")
LABEL_ENDS = ("label", "category", "class")  # a name that ends so says it plainly
MAX_SUGGESTED_LABELS = 50
DEFAULT_CAP = 5  # records of one source


@dataclass(frozen=True)
class ColumnMapping:
    """Column names by part; None means absent. Columns neither mapped nor in `keep` are dropped.

    more_texts: further columns of text of the same record, put behind the first. order: days or numbers by which the
    rows of one person are put together as one text (`engine.corpus.columns.together`).
    """

    text: str
    record_id: str | None = None
    source_id: str | None = None
    label: str | None = None
    keep: tuple[str, ...] = ()
    spans: str | None = None
    more_texts: tuple[str, ...] = ()
    order: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", tuple(self.keep))
        object.__setattr__(self, "more_texts", tuple(self.more_texts))

    def roles(self) -> dict[str, str]:
        """Return part -> column for every mapped part."""
        pairs = (
            ("text", self.text),
            ("record_id", self.record_id),
            ("source_id", self.source_id),
            ("label", self.label),
            ("spans", self.spans),
            ("order", self.order),
            *((f"text {number}", name) for number, name in enumerate(self.more_texts, 2)),
        )
        return {role: column for role, column in pairs if column}

    def check(self) -> None:
        """Refuse a mapping without text, or with a column that plays two parts."""
        if not self.text:
            raise UserError("text: no column is chosen; choose the column that holds the private text")
        taken: dict[str, str] = {}
        for role, column in [*self.roles().items(), *(("keep", name) for name in self.keep)]:
            if column in taken:
                raise UserError(f"{role}: its column is already mapped as {taken[column]}; choose another column")
            taken[column] = role
        if self.order and not self.source_id:
            raise UserError(
                "order: rows are put together person by person, so map the column that says whose row each is"
            )


def suggest_mapping(frame: pd.DataFrame) -> ColumnMapping:
    """Return the likely mapping of a table, judged by names and by the rows at hand.

    `text` is empty when no column looks like running text.
    """
    names = [str(name) for name in frame.columns]
    cells = {name: [value for value in frame[name] if not is_missing(value) and value != ""] for name in names}
    rows = len(frame)
    spans = _first(names, SPANS_NAMES, lambda name: _is_spans(cells[name]))
    free = [name for name in names if name != spans and not any(is_nested(value) for value in cells[name][:20])]
    text = _first(free, TEXT_NAMES, lambda name: _is_text(cells[name])) or _longest_text(free, cells)
    free = [name for name in free if name != text]
    record_id = _first(free, ID_NAMES, lambda name: _is_unique(cells[name], rows))
    free = [name for name in free if name != record_id]
    source_id = _first(free, SOURCE_NAMES, lambda name: len(set(map(cell_text, cells[name]))) > 0 and bool(rows))
    free = [name for name in free if name != source_id]
    label = _first(free, _label_names(free), lambda name: _is_label(cells[name]))
    return ColumnMapping(text=text or "", record_id=record_id, source_id=source_id, label=label, spans=spans)


def normal_name(name: str) -> str:
    """Return a column's name in lower case with `_` between its words, `patientNr` as `patient_nr`."""
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", split.lower()).strip("_")


def _first(names: Sequence[str], wanted: Sequence[str], fits: Callable[[str], bool]) -> str | None:
    """Return the first of `names`, in the order of `wanted`, whose content fits."""
    by_normal = {normal_name(name): name for name in reversed(names)}
    for want in wanted:
        name = by_normal.get(want)
        if name is not None and fits(name):
            return name
    return None


def _label_names(names: Sequence[str]) -> list[str]:
    """Return what a label is called, surest first: `label` itself, `diagnosis_label` and the like, then the rest."""
    plain = [normal_name(name) for name in names]
    sure = [name for end in LABEL_ENDS for name in (end, *(name for name in plain if name.endswith(f"_{end}")))]
    return [*sure, *LABEL_NAMES]


def _is_text(values: list[object]) -> bool:
    texts = [value for value in values if isinstance(value, str)]
    return len(texts) == len(values) > 0 and fmean(" " in text.strip() for text in texts) > 0.5


def _longest_text(names: Sequence[str], cells: dict[str, list[object]]) -> str | None:
    candidates = [(fmean(len(str(value)) for value in cells[name]), name) for name in names if _is_text(cells[name])]
    length, name = max(candidates, default=(0.0, ""))
    return name if length >= 20 else None


def _is_unique(values: list[object], rows: int) -> bool:
    return len(values) == rows > 0 and len({cell_text(value) for value in values}) == rows


def _is_label(values: list[object]) -> bool:
    texts = {cell_text(value) or "" for value in values}
    return 0 < len(texts) <= MAX_SUGGESTED_LABELS and max(map(len, texts)) <= 80


def _is_spans(values: list[object]) -> bool:
    try:
        return bool(values) and any(parse_spans_cell(value) for value in values)
    except ValueError:
        return False


def default_cap(unit: str, mapping: ColumnMapping | None = None) -> int:
    """Return how many records a unit contributes where nobody says otherwise: a constant, never read from a file.

    Noise grows with the cap, and records beyond it are left aside; 5 keeps both small for notes of patients or cases.
    Where a person's rows are put together, nobody has more than one record, whatever the file holds.
    """
    return 1 if unit != "source" or (mapping is not None and mapping.order) else DEFAULT_CAP
