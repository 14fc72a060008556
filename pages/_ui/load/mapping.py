"""The questions of the load page: columns, unit of protection, holdout."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

import engine
from pages._ui.language import mark, sentence, tr
from pages._ui.parts.charts import bars
from pages._ui.texts import UNITS, count_of, number, plain, share

if TYPE_CHECKING:
    from engine import ColumnMapping
    from pages._ui.load.file import Chosen

NONE = mark("(none)")
TEXT_WIDTH = 430  # pixels of the text column in the preview
ROW_WIDTH, CUT_WIDTH = 60, 600  # of a row's number, and of its text where that is cut around a letter
COUNTED = "_ui.load.counted"
DRAWN = 19  # sizes that are drawn each by itself; larger ones are one bar
MANY = 0.1  # part of the rows left out from which it is a warning
DELIMITERS = {",": mark("commas"), ";": mark("semicolons"), "\t": mark("tabs"), "|": mark("vertical bars")}


def show_rows(preview: engine.FilePreview, chosen: Chosen) -> None:
    """Show the first ten rows as plain text and what was found out about the file."""
    facts = [preview.format.upper()]
    if preview.encoding:
        facts.append(tr("encoding {encoding}", encoding=preview.encoding))
    if preview.delimiter:
        facts.append(tr("separated by {delimiter}", delimiter=tr(DELIMITERS.get(preview.delimiter, preview.delimiter))))
    if preview.total_rows is not None:
        facts.append(count_of(preview.total_rows, "row"))
    st.caption(plain(" · ".join(facts)))
    rows = preview.rows.astype("string")
    text = st.session_state.get(f"load.map.text.{chosen.digest}", preview.suggested.text)
    if text in rows.columns:  # what has to be looked at first, with room for it
        rows = rows[[text, *(column for column in rows.columns if column != text)]]
    st.dataframe(
        rows,
        hide_index=True,
        height="auto",
        key=f"load.rows.{chosen.digest}.{text}",
        column_config={
            column: st.column_config.TextColumn(width=TEXT_WIDTH if column == text else None) for column in rows.columns
        },
        alt=tr("The first ten rows of the file, the text first"),
    )
    for warning in preview.warnings:
        st.warning(plain(warning), icon=":material/warning:")
    if preview.lettered is not None:
        _lettered(preview, text, key=f"load.lettered.{chosen.digest}.{text}")


def _lettered(preview: engine.FilePreview, text: str | None, *, key: str) -> None:
    """Show the first row whose text has a letter that the encoding decides on, cut around it."""
    found = None if text is None else (preview.lettered or {}).get(text)
    if found is None:
        st.caption(
            tr("None of the {rows} rows looked at has an accented letter in its text.", rows=number(preview.looked_at))
        )
        return
    said = tr("The first row with an accented letter in its text, cut around that letter")
    st.caption(f"{said}:")
    st.dataframe(
        pd.DataFrame({tr("Row"): [found.row], tr("Text"): [found.text]}),
        hide_index=True,
        key=key,
        column_config={
            tr("Row"): st.column_config.NumberColumn(width=ROW_WIDTH, format="localized"),
            tr("Text"): st.column_config.TextColumn(width=CUT_WIDTH),
        },
        alt=said,
    )


def _column_names() -> Callable[[str], str]:
    none = tr(NONE)
    return lambda name: none if name == NONE else name


def _column(
    label: str, columns: list[str], suggested: str | None, *, key: str, note: str, optional: bool
) -> str | None:
    options = [NONE, *columns] if optional else columns
    index = options.index(suggested) if suggested in options else 0
    if key in st.session_state and st.session_state[key] not in options:
        del st.session_state[key]  # the column plays another part since
    choice = st.selectbox(label, options, index=index, key=key, help=note, format_func=_column_names())
    return None if choice == NONE else choice


def ask(preview: engine.FilePreview, chosen: Chosen) -> ColumnMapping | None:
    """Ask which column is what; the engine's suggestion is filled in."""
    from engine import ColumnMapping

    columns, guess, mark = list(preview.columns), preview.suggested, chosen.digest
    with st.grid(3, min_column_width=220):
        text = _column(
            tr("Text"),
            columns,
            guess.text,
            key=f"load.map.text.{mark}",
            optional=False,
            note=tr("The private text. Everything else is optional."),
        )
        source = _column(
            tr("Person, case or author"),
            columns,
            guess.source_id,
            key=f"load.map.source.{mark}",
            optional=True,
            note=tr("Says which rows belong to the same person."),
        )
        label = _column(
            tr("Label"),
            columns,
            guess.label,
            key=f"load.map.label.{mark}",
            optional=True,
            note=tr("A class such as an outcome, kept with synthetic records."),
        )
    told = st.container()
    st.caption(tr("These may stay as they are:"))
    with st.grid(3, min_column_width=220):
        record = _column(
            tr("Record number"),
            columns,
            guess.record_id,
            key=f"load.map.record.{mark}",
            optional=True,
            note=tr("Your own row number; numbers are made where there is none."),
        )
        spans = _column(
            tr("Known identifiers in the text"),
            columns,
            guess.spans,
            key=f"load.map.spans.{mark}",
            optional=True,
            note=tr("A list of start, end and type that someone has already marked by hand."),
        )
        order = None
        if source is not None:
            order = _column(
                tr("One text a person, in the order of"),
                [column for column in columns if column not in (text, source, label, record, spans)],
                None,
                key=f"load.map.order.{mark}",
                optional=True,
                note=tr(
                    "Puts all rows of a person together as one text, each under its day: for notes over time. "
                    "The column holds days or numbers."
                ),
            )
        used = {text, source, label, record, spans, order}
        others = [column for column in columns if column not in used]
        more: list[str] = []
        keep: list[str] = []
        if others:
            more = st.multiselect(
                tr("Further text of the same row"),
                others,
                key=f"load.map.more.{mark}",
                placeholder=tr(NONE),
                help=tr("Put behind the text, each column under its name. For notes that fill several fields."),
            )
            others = [column for column in others if column not in more]
        if others:
            keep = st.multiselect(
                tr("Keep for internal use"),
                others,
                key=f"load.map.keep.{mark}",
                placeholder=tr(NONE),
                help=tr("Other columns are dropped. Kept ones never leave with synthetic text."),
            )
    if text is None:
        return None
    with told:
        _person(preview, chosen, source, used - {source})
    return ColumnMapping(
        text=text, record_id=record, source_id=source, label=label, keep=tuple(keep), spans=spans,
        more_texts=tuple(more), order=order,
    )  # fmt: skip


def _person(preview: engine.FilePreview, chosen: Chosen, source: str | None, used: set[str | None]) -> None:
    """Say why a column is proposed as the person's; one that only its values speak for counts after a press alone."""
    found = preview.person
    if found is None or found.column in used:
        return
    key = f"load.map.source.{chosen.digest}"
    with st.container(horizontal=True, vertical_alignment="center"):
        if source == found.column:
            st.caption(
                tr(
                    ":material/person: **{column}**: {reason} Check that it is so.",
                    column=plain(found.column),
                    reason=plain(found.reason),
                )
            )
        elif source is None:
            st.markdown(
                tr(
                    ":material/person: Does **{column}** say whose row each is? {reason}",
                    column=plain(found.column),
                    reason=plain(found.reason),
                ),
                width="content",
            )
            st.button(
                tr("Yes, it names the person"),
                key=f"load.person.{chosen.digest}",
                on_click=st.session_state.__setitem__,
                args=(key, found.column),
            )


def ask_unit(mapping: ColumnMapping, chosen: Chosen) -> tuple[str, int, bool]:
    """Ask for the unit of protection and the cap, and show what each answer would mean.

    Returns:
        The unit, the cap, and whether the cap was read from the file and may be public, as a person said.
    """
    from engine import default_cap

    units = list(UNITS)
    unit = st.radio(
        tr("Who must be protected?"),
        units,
        index=1 if mapping.source_id else 0,
        format_func={key: sentence(tr(UNITS[key][0])) for key in units}.__getitem__,
        captions=[tr(UNITS[key][1]) for key in units],
        key=f"load.unit.{chosen.digest}.{mapping.source_id is not None}",
        label_visibility="collapsed",
    )
    if unit == "record":
        st.markdown(
            tr(
                "A proven guarantee would then mean: nobody can tell from a release whether any *one row* was in "
                "the file. Someone with many rows is protected less."
            )
        )
        return unit, 1, False
    if mapping.source_id is None:
        st.warning(tr("Choose the column that names the person, case or author first."), icon=":material/warning:")
        return unit, 1, False
    st.markdown(
        tr(
            "A proven guarantee would then mean: nobody can tell from a release whether any *one person* "
            "with all their rows was in the file."
        )
    )
    histogram = _rows_a_person(mapping.source_id, chosen)
    if mapping.order is not None:
        st.markdown(tr("The rows of a person become one text, so each person counts with one record."))
        return unit, default_cap(unit, mapping), False
    # a number that was taken from one column's counts must not stand for another's as if nobody had taken it
    key = f"load.cap.{chosen.digest}.{mapping.source_id}"
    st.session_state.setdefault(key, default_cap(unit))
    cap = st.number_input(
        tr("At most this many records of one person are used"),
        min_value=1,
        max_value=10_000,
        key=key,
        on_change=st.session_state.__setitem__,
        args=(f"{key}.public", False),  # a number that is typed was not taken from the file
        help=tr(
            "Limits how much one person can shape the result, and noise grows with it. Further records are not used. "
            "The number counts as public: unless you say so below, the program does not take it from the file."
        ),
    )
    left_out = sum((size - cap) * count for size, count in histogram.items() if size > cap)
    if left_out:
        every = sum(size * count for size, count in histogram.items())
        said = tr("{rows} beyond it will not be used.", rows=count_of(int(left_out), "row"))
        if left_out > MANY * every:
            st.warning(f"{said} {tr('That is {part} of the file.', part=share(left_out / every, 0))}",
                       icon=":material/warning:")  # fmt: skip
        else:
            st.caption(said)
    largest = _propose_cap(histogram, key, default_cap(unit))
    return unit, int(cap), bool(st.session_state.get(f"{key}.public")) and cap == largest


def _propose_cap(histogram: dict[int, int], key: str, fixed: int) -> int:
    """Propose the smallest cap that keeps everybody's rows, and return it; it counts once a person lets it be public.

    It is read from private rows and stands in every claim, so that it must not be the default: `engine.default_cap` is
    a constant, and `engine.corpus.columns.proposals` says why.
    """
    largest = max(histogram, default=fixed)
    if largest == fixed:
        return largest
    of_file = (
        tr("{largest}, the largest count: keeps all rows, and the number becomes public", largest=number(largest))
        if largest > fixed
        else tr("{largest}, the largest count: less noise, and the number becomes public", largest=number(largest))
    )
    usual = tr("{fixed}, or a number of your own: tells nothing about the file", fixed=number(fixed))

    def take() -> None:
        st.session_state[key] = largest if st.session_state[f"{key}.public"] else fixed

    st.radio(
        tr("Where this number comes from"),
        [False, True],
        format_func={False: usual, True: of_file}.__getitem__,
        key=f"{key}.public",
        on_change=take,
        help=tr(
            "The cap stands in what is promised to readers, so whoever reads one that was taken from the file learns "
            "that somebody in it has {largest} rows. The usual {fixed}, or any number of your own that does not depend "
            "on the file, tells them nothing.",
            largest=number(largest),
            fixed=number(fixed),
        ),
    )
    return largest


def people(mapping: ColumnMapping, unit: str, chosen: Chosen) -> int | None:
    """Return how many people stand in the file, once their rows were counted; None where each row stands alone."""
    counted = st.session_state.get(COUNTED)
    if unit != "source" or counted is None or counted[0] != (chosen.digest, mapping.source_id):
        return None
    return sum(counted[1].values())


def _rows_a_person(column: str, chosen: Chosen) -> dict[int, int]:
    """Show how many rows each person has, counted once a file and column."""
    counted = st.session_state.get(COUNTED)
    if counted is None or counted[0] != (chosen.digest, column):
        from engine import read_table

        with st.spinner(tr("Counting rows a person …")):
            table = read_table(chosen.source, chosen.filename, chosen.options())
            sizes = table[column].value_counts().value_counts().sort_index()
        counted = (
            (chosen.digest, column),
            dict(zip(sizes.index.astype(int).tolist(), sizes.astype(int).tolist(), strict=True)),
        )
        st.session_state[COUNTED] = counted
    histogram: dict[int, int] = counted[1]
    people = sum(histogram.values())
    rows = sum(size * count for size, count in histogram.items())
    if len(histogram) == 1:
        each = count_of(max(histogram), "row")
        st.markdown(tr("Each of the {people} people has {rows}.", people=number(people), rows=each))
        return histogram
    shown: dict[str, int] = {str(size): count for size, count in list(histogram.items())[:DRAWN]}
    rest = dict(list(histogram.items())[DRAWN:])
    if rest:
        ends = (min(rest), max(rest))
        shown[str(ends[0]) if len(rest) == 1 else tr("{first} to {last}", first=ends[0], last=ends[1])] = sum(
            rest.values()
        )
    bars(
        list(shown),
        list(shown.values()),
        key=f"load.people.{chosen.digest}",
        takeaway=tr(
            "{people} people with {rows} rows, at most {largest} rows for one.",
            people=number(people),
            rows=number(rows),
            largest=max(histogram, default=0),
        ),
        x=tr("Rows of one person"),
        y=tr("People"),
        height=200,
    )
    return histogram
