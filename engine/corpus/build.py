"""Build a corpus from a table: check every rule, then fix ids, split and gold spans once and for all.

Nothing is written here; an error leaves no trace. Messages name file, row and rule, never content.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import pandas as pd

from engine.corpus.columns.columns import MAX_CHARACTERS, Columns, read_columns
from engine.corpus.columns.gold import GoldSpans, SpanRuleError, read_spans
from engine.corpus.columns.mapping import ColumnMapping
from engine.corpus.columns.together import together
from engine.corpus.label_rules import label_holders
from engine.corpus.people.marks import PeopleMarks, people_marks
from engine.corpus.people.population import former_short_hashes, unit_hashes
from engine.corpus.readers.encoding import CHECK_LETTERS
from engine.corpus.split import FEWEST_ASIDE, HOLDOUT, OVER_CAP, TRAIN, assign_split, unit_names
from engine.corpus.statistics import (
    CorpusStatistics,
    exact_duplicates,
    histogram,
    label_counts,
    quantiles,
    unit_histogram,
)
from engine.corpus.text.language import detect_languages, language_warning
from engine.errors import DataError, UserError
from engine.json_types import JSON

Unit = Literal["record", "source"]
RECORD_COLUMNS = ("record_id", "text", "source_id", "label", "split")
KEPT_PREFIX = "x_"
MANY_LABELS = 200

__all__ = ["KEPT_PREFIX", "MAX_CHARACTERS", "RECORD_COLUMNS", "BuiltCorpus", "build_corpus"]


@dataclass(frozen=True)
class BuiltCorpus:
    """An immutable corpus, ready to be stored.

    records: RECORD_COLUMNS (object; source_id and label may be None) and kept columns as `x_…`.
    gold: gold spans; `spans` is all of them as a table (see `GoldSpans.frame`). unit_hashes, former_hashes, people: for
    population matching.
    """

    records: pd.DataFrame = field(repr=False)
    gold: GoldSpans = field(repr=False)
    warnings: list[str]
    statistics: CorpusStatistics
    unit_hashes: list[str] = field(repr=False)
    former_hashes: list[str] = field(repr=False)
    people: PeopleMarks = field(repr=False)

    @property
    def spans(self) -> pd.DataFrame:
        """Return all gold spans as a table."""
        return self.gold.frame(list(self.records["record_id"]))


@dataclass(frozen=True)
class Taken:
    """The checked cells of a table, which may then be let go of: of a million records it is a gigabyte.

    warnings: what reading told. source_named: whether a column says whose each record is.
    """

    columns: Columns = field(repr=False)
    warnings: list[str]
    source_named: bool


def take(table: pd.DataFrame, mapping: ColumnMapping, filename: str) -> Taken:
    """Return the checked cells of a table as `read_table` gives it.

    Args:
        table: one row a record; an index named `row` is used in messages, else rows count from 1.
        mapping: which columns hold what. filename: the name shown in messages.

    Raises:
        DataError: the table breaks a rule.
    """
    table, mapping = together(table, mapping, filename)
    told = [warning for warning in table.attrs.get("warnings", []) if CHECK_LETTERS not in warning]
    return Taken(read_columns(table, mapping, filename), told, mapping.source_id is not None)


def build_corpus(taken: Taken, *, unit: str, cap: int, holdout_rate: float, key: bytes, filename: str) -> BuiltCorpus:
    """Return the corpus of the cells that were taken of a table; those of gold spans are let go of as they are read.

    Args:
        taken: see `take`. Settings are checked before, by `check_settings`.
        unit: whose privacy counts, `record` or `source` (needs `mapping.source_id`).
        cap: records of a unit that methods may use, at least 1; the others get split `over_cap`.
        holdout_rate: chance in [0, 0.9] that a unit is held out.
        key: secret of the workspace, at least 16 bytes; fixes every choice made here.
        filename: the name shown in messages.

    Raises:
        DataError: the table breaks a rule.
    """
    columns = taken.columns
    units = unit_names(columns.record_ids, columns.source_ids, unit)
    split = assign_split(units, columns.record_ids, holdout_rate=holdout_rate, cap=cap, key=key)
    if TRAIN not in split:
        message = "every unit fell into the holdout, so nothing is left to work with; lower the holdout share"
        raise DataError(message, file=filename, rule="training part is not empty")
    gold = _gold(columns, filename)
    statistics = _statistics(columns, units, split, gold, key)
    warnings = [*taken.warnings, *statistics.warnings]
    warnings += _split_warnings(statistics, columns, unit, cap, holdout_rate)
    named: dict[str, JSON] = {"warnings": warnings, "source_named": taken.source_named}
    statistics = CorpusStatistics.from_dict({**statistics.as_dict(), **named})
    return BuiltCorpus(
        records=_records(columns, split),
        gold=gold,
        warnings=warnings,
        statistics=statistics,
        unit_hashes=unit_hashes(columns.texts, key),
        former_hashes=former_short_hashes(units, columns.texts, key),
        people=people_marks(columns.texts, columns.source_ids, key),
    )


def check_settings(mapping: ColumnMapping, unit: str, cap: int, holdout_rate: float) -> None:
    """Raise `UserError` where a setting of an import breaks a rule; see `build_corpus`."""
    mapping.check()
    if unit not in ("record", "source"):
        raise UserError(f"unit: expected record or source, got {unit!r}; choose one of them")
    if unit == "source" and not mapping.source_id:
        raise UserError("unit: source needs a column that says whose record it is; map it as the source id")
    if isinstance(cap, bool) or int(cap) != cap or cap < 1:
        raise UserError(f"cap: expected a whole number of records a unit, at least 1, got {cap}; raise it")
    if not 0 <= holdout_rate <= 0.9:
        raise UserError(f"holdout: expected a share from 0 to 0.9, got {holdout_rate}; 0.2 is a good choice")


def _gold(columns: Columns, filename: str) -> GoldSpans:
    gold = GoldSpans()
    for record, (text, row) in enumerate(zip(columns.texts, columns.rows)):
        try:
            gold.add(record, read_spans(columns.span_cells[record], text))
        except SpanRuleError as error:
            raise DataError(str(error), file=filename, row=row, rule=error.rule) from None
        columns.span_cells[record] = None
    return gold


def _records(columns: Columns, split: Sequence[str]) -> pd.DataFrame:
    cells: dict[str, Sequence[str | None]] = {
        "record_id": columns.record_ids,
        "text": columns.texts,
        "source_id": columns.source_ids,
        "label": columns.labels,
        "split": split,
        **{KEPT_PREFIX + name: values for name, values in columns.kept.items()},
    }
    return pd.DataFrame({name: pd.Series(list(values), dtype=object) for name, values in cells.items()})


def _statistics(
    columns: Columns,
    units: Sequence[str],
    split: Sequence[str],
    gold: GoldSpans,
    key: bytes,
) -> CorpusStatistics:
    language = detect_languages(columns.record_ids, columns.texts, key)
    warning = language_warning(language)
    duplicates, across = exact_duplicates(columns.texts, split)
    words = [len(text.split()) for text in columns.texts]
    return CorpusStatistics(
        records=len(columns.texts),
        units=len(set(units)),
        holdout_units=len({unit for unit, side in zip(units, split) if side == HOLDOUT}),
        holdout_records=split.count(HOLDOUT),
        characters=quantiles([len(text) for text in columns.texts]),
        words=quantiles(words),
        labels=label_counts(columns.labels),
        records_per_unit=unit_histogram(units),
        duplicates=duplicates,
        near_duplicates_across_split=None,
        empties_dropped=columns.empties_dropped,
        language=language.shares,
        english_share=language.english,
        warnings=[*columns.warnings, *([warning] if warning else [])],
        train_units=len({unit for unit, side in zip(units, split) if side == TRAIN}),
        train_records=split.count(TRAIN),
        over_cap=split.count(OVER_CAP),
        sources=len({source for source in columns.source_ids if source is not None}),
        without_source=sum(source is None for source in columns.source_ids),
        duplicates_across_split=across,
        gold_spans=len(gold),
        records_with_gold=gold.records,
        train_labels=label_counts([label for label, side in zip(columns.labels, split) if side == TRAIN]),
        train_label_holders=label_holders(
            [label if side == TRAIN else None for label, side in zip(columns.labels, split)], columns.source_ids
        ),
        lengths=histogram(words),
    )


def _split_warnings(
    statistics: CorpusStatistics, columns: Columns, unit: str, cap: int, holdout_rate: float
) -> list[str]:
    found: list[str] = []
    if statistics.over_cap:
        noun = "person" if unit == "source" else "record"
        found.append(
            f"{statistics.over_cap:,} of {statistics.records:,} records lie beyond the cap of {cap} for each {noun}. "
            "They stay in the corpus, but no method uses them and no measure counts them; to use them, load the file "
            "again with a higher cap."
        )
    if unit == "source" and statistics.without_source:
        found.append(
            f"{statistics.without_source:,} records have no source; each counts as a person of its own. If one person "
            "may have several of them, fill in the source column."
        )
    if holdout_rate and not statistics.holdout_units:
        found.append(
            "No unit fell into the holdout, so leaks cannot be told from coincidence; raise the holdout share or "
            "import more records."
        )
    elif not holdout_rate:
        found.append("There is no holdout, so leaks cannot be told from coincidence; 0.2 is a good share.")
    elif statistics.holdout_units < FEWEST_ASIDE:
        found.append(
            f"Only {statistics.holdout_units} {'people or cases' if unit == 'source' else 'records'} are set aside, "
            "too few to show by measuring that text is safe for more readers. Load the file again and set more aside, "
            "or plan a method with a proof."
        )
    if statistics.duplicates:
        found.append(
            f"{statistics.duplicates:,} records repeat an earlier record's text exactly; "
            f"{statistics.duplicates_across_split:,} holdout records are also in the training part. Results are shown "
            "with and without them; remove copies from the file if they are not real records."
        )
    if len(statistics.labels) > MANY_LABELS:
        found.append(
            f"The label column has {len(statistics.labels):,} different values; map a column with few, or none."
        )
    return found
