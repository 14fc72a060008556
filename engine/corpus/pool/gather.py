"""Read a file into candidates: a service's batch output, plain text, or a column of any table that corpora come in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from engine.corpus.columns.cells import cell_text
from engine.corpus.pool.answers import Answer, answer_of
from engine.corpus.pool.blocks import blocks
from engine.corpus.readers import SUFFIXES as TABLES
from engine.corpus.readers import ReadOptions, read_table
from engine.corpus.readers.base import Source
from engine.corpus.readers.characters import ADVICE, is_half
from engine.corpus.readers.encoding import decode
from engine.errors import DataError, UserError

TEXT_FILES = (".txt", ".md", ".text")
SUFFIXES = (*(suffix.lstrip(".") for suffix in TABLES), *(suffix.lstrip(".") for suffix in TEXT_FILES), "gz")
PROMPT_COLUMNS = ("prompt_id", "custom_id", "key", "recordId", "id")
TEXT_COLUMNS = ("text", "answer", "output", "completion", "response", "content", "body", "abstract")
LABEL_COLUMNS = ("label", "class", "category")
PROMPT = re.compile(r"(k-[a-hjkmnp-z2-9]{10})-\d{5}", re.IGNORECASE)
"""What a pack calls its prompts: its own name, and a number."""
BATCH, TEXT, TABLE = "batch output", "plain text", "table"


@dataclass(frozen=True)
class Candidate:
    """One text as it came: its label, and the name of the prompt that it answers, empty where none is known."""

    text: str = field(repr=False)
    label: str | None = None
    prompt: str = ""


@dataclass(frozen=True)
class Gathered:
    """What a file holds: its form, candidates in the file's order, lines that report a failure; columns of a table."""

    form: str
    candidates: tuple[Candidate, ...] = field(repr=False)
    failed: int = 0
    columns: tuple[str, ...] = ()
    text: str = ""
    label: str | None = None
    warnings: tuple[str, ...] = ()


def gather(
    source: Path | bytes,
    filename: str,
    *,
    text: str | None = None,
    label: str | None = None,
    options: ReadOptions | None = None,
) -> Gathered:
    """Return the candidates of a file.

    Args:
        source: a path, or the bytes of an upload. filename: its name; the ending says what it is.
        text, label: columns of a table; None takes the usual names. A label of "" takes none.
        options: of the readers.

    Raises:
        DataError: the file breaks a rule. UserError: a column does not exist.
    """
    options = options or ReadOptions()
    name = filename or (source.name if isinstance(source, Path) else "file")
    if name.lower().endswith(TEXT_FILES):
        return _text(source, name, options)
    table = read_table(source, name, options)
    found = _answers(table)
    warnings = tuple(str(line) for line in table.attrs.get("warnings", ()))
    if found is not None:
        candidates = tuple(Candidate(text, None, answer.prompt) for answer in found for text in answer.texts)
        return Gathered(BATCH, candidates, sum(not answer.texts for answer in found), warnings=warnings)
    return _table(table, text, label, warnings)


def _text(source: Path | bytes, name: str, options: ReadOptions) -> Gathered:
    origin = Source(name, data=source) if isinstance(source, bytes) else Source(name, path=Path(source))
    decoded = decode(origin, origin.read(options), options.encoding)
    if is_half(decoded.text):
        raise DataError(f"the text {ADVICE}", file=name, rule="whole characters")
    found = tuple(Candidate(body, None, prompt) for prompt, body in blocks(decoded.text))
    if not found:
        raise DataError("the file holds nothing but blanks; export it again", file=name, rule="not empty")
    return Gathered(TEXT, found, warnings=decoded.warnings)


def _answers(table: pd.DataFrame) -> list[Answer] | None:
    """Return the rows as a service's answers, None where the first row with any reply is none."""
    columns = [str(name) for name in table.columns]
    if not {"response", "result", "modelOutput"} & set(columns):
        return None
    found = [answer_of(dict(zip(columns, row, strict=True))) for row in table.itertuples(index=False, name=None)]
    if not any(one is not None for one in found):
        return None
    return [one if one is not None else Answer("", ()) for one in found]


def _table(table: pd.DataFrame, text: str | None, label: str | None, warnings: tuple[str, ...]) -> Gathered:
    columns = tuple(str(name) for name in table.columns)
    chosen = _column(columns, text, TEXT_COLUMNS) or columns[0]
    labelled = _column(columns, label, LABEL_COLUMNS) if label != "" else None
    labelled = None if labelled == chosen else labelled
    usual = (name for name in PROMPT_COLUMNS if name in columns and name != chosen)
    prompts = _names_prompts(table, chosen) or next(usual, None)
    rows = zip(
        table[chosen],
        table[labelled] if labelled else [None] * len(table),
        table[prompts] if prompts else [None] * len(table),
        strict=True,
    )
    candidates = tuple(
        Candidate(cell_text(body) or "", (cell_text(own) or "").strip() or None, (cell_text(prompt) or "").strip())
        for body, own, prompt in rows
    )
    return Gathered(TABLE, candidates, 0, columns, chosen, labelled, warnings)


def _names_prompts(table: pd.DataFrame, texts: str) -> str | None:
    """Return the column, whatever it is called, whose cells are names that a prompt pack gave its prompts."""
    for name in table.columns:
        cells = (cell_text(cell) or "" for cell in table[name])
        if str(name) != texts and any(PROMPT.fullmatch(cell.strip()) for cell in cells):
            return str(name)
    return None


def _column(columns: tuple[str, ...], asked: str | None, usual: tuple[str, ...]) -> str | None:
    if asked:
        if asked not in columns:
            raise UserError("column: the file has no column of that name; choose one that it has")
        return asked
    lower = {name.lower(): name for name in columns}
    return next((lower[name] for name in usual if name in lower), None)
