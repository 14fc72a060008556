"""The questions of the load page: columns, unit of protection, holdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

import engine
from pages._ui.charts import bars
from pages._ui.sliders import slider
from pages._ui.texts import UNITS, count_of, number, plain

if TYPE_CHECKING:
    from engine import ColumnMapping
    from pages._ui.load.file import Chosen

NONE = "(none)"
TEXT_WIDTH = 430  # pixels of the text column in the preview
COUNTED = "_ui.load.counted"
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


def show_rows(preview: engine.FilePreview, chosen: Chosen) -> None:
    """Show the first ten rows as plain text and what was found out about the file."""
    facts = [preview.format.upper()]
    if preview.encoding:
        facts.append(f"encoding {preview.encoding}")
    if preview.delimiter:
        facts.append(f"separated by {DELIMITERS.get(preview.delimiter, preview.delimiter)}")
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
        alt="The first ten rows of the file, the text first",
    )
    for warning in preview.warnings:
        st.warning(plain(warning), icon=":material/warning:")


def _column(
    label: str, columns: list[str], suggested: str | None, *, key: str, note: str, optional: bool
) -> str | None:
    options = [NONE, *columns] if optional else columns
    index = options.index(suggested) if suggested in options else 0
    choice = st.selectbox(label, options, index=index, key=key, help=note)
    return None if choice == NONE else choice


def ask(preview: engine.FilePreview, chosen: Chosen) -> ColumnMapping | None:
    """Ask which column is what; the engine's suggestion is filled in."""
    from engine import ColumnMapping

    columns, guess, mark = list(preview.columns), preview.suggested, chosen.digest
    with st.grid(3, min_column_width=220):
        text = _column(
            "Text",
            columns,
            guess.text,
            key=f"load.map.text.{mark}",
            optional=False,
            note="The private text. Everything else is optional.",
        )
        source = _column(
            "Person, case or author",
            columns,
            guess.source_id,
            key=f"load.map.source.{mark}",
            optional=True,
            note="Says which rows belong to the same person.",
        )
        label = _column(
            "Label",
            columns,
            guess.label,
            key=f"load.map.label.{mark}",
            optional=True,
            note="A class such as an outcome, kept with synthetic records.",
        )
        record = _column(
            "Record number",
            columns,
            guess.record_id,
            key=f"load.map.record.{mark}",
            optional=True,
            note="Your own row number; numbers are made where there is none.",
        )
        spans = _column(
            "Known identifiers in the text",
            columns,
            guess.spans,
            key=f"load.map.spans.{mark}",
            optional=True,
            note="A list of start, end and type that someone has already marked by hand.",
        )
        used = {text, source, label, record, spans}
        others = [column for column in columns if column not in used]
        keep: list[str] = []
        if others:
            keep = st.multiselect(
                "Keep for internal use",
                others,
                key=f"load.map.keep.{mark}",
                help="Other columns are dropped. Kept ones never leave with synthetic text.",
            )
    if text is None:
        return None
    _person(preview, chosen, source, used - {source})
    return ColumnMapping(text=text, record_id=record, source_id=source, label=label, keep=tuple(keep), spans=spans)


def _person(preview: engine.FilePreview, chosen: Chosen, source: str | None, used: set[str | None]) -> None:
    """Say why a column is proposed as the person's; one that only its values speak for counts after a press alone."""
    found = preview.person
    if found is None or found.column in used:
        return
    key = f"load.map.source.{chosen.digest}"
    with st.container(horizontal=True, vertical_alignment="center"):
        if source == found.column:
            st.caption(f":material/person: **{plain(found.column)}**: {plain(found.reason)} Check that it is so.")
        elif source is None:
            st.markdown(
                f":material/person: Does **{plain(found.column)}** say whose row each is? {plain(found.reason)}",
                width="content",
            )
            st.button(
                "Yes, it names the person",
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
        "Who must be protected?",
        units,
        index=1 if mapping.source_id else 0,
        format_func=lambda key: UNITS[key][0].capitalize(),
        captions=[UNITS[key][1] for key in units],
        key=f"load.unit.{chosen.digest}.{mapping.source_id is not None}",
        label_visibility="collapsed",
    )
    if unit == "record":
        st.markdown(
            "A proven guarantee would then mean: nobody can tell from a release whether any *one row* was in the file. "
            "Someone with many rows is protected less."
        )
        return unit, 1, False
    if mapping.source_id is None:
        st.warning("Choose the column that names the person, case or author first.", icon=":material/warning:")
        return unit, 1, False
    st.markdown(
        "A proven guarantee would then mean: nobody can tell from a release whether any *one person* "
        "with all their rows was in the file."
    )
    histogram = _rows_a_person(mapping.source_id, chosen)
    key = f"load.cap.{chosen.digest}"
    st.session_state.setdefault(key, default_cap(unit))
    largest = _propose_cap(histogram, key, default_cap(unit))
    cap = st.number_input(
        "At most this many records of one person are used",
        min_value=1,
        max_value=10_000,
        key=key,
        help="Limits how much one person can shape the result, and noise grows with it. Further records are not used. "
        "The number counts as public: unless you say so above, the program does not take it from the file.",
    )
    left_out = sum((size - cap) * count for size, count in histogram.items() if size > cap)
    if left_out:
        st.caption(f"{count_of(int(left_out), 'row')} beyond it will not be used.")
    return unit, int(cap), bool(st.session_state.get(f"{key}.public")) and cap == largest


def _propose_cap(histogram: dict[int, int], key: str, fixed: int) -> int:
    """Propose the smallest cap that keeps everybody's rows, and return it; it counts once a person lets it be public.

    It is read from private rows and stands in every claim, so that it must not be the default: `engine.default_cap` is
    a constant, and `engine.corpus.proposals` says why.
    """
    largest = max(histogram, default=fixed)
    if largest == fixed:
        return largest
    noise = "less noise" if largest < fixed else "nobody's rows are left out"

    def take() -> None:
        st.session_state[key] = largest if st.session_state[f"{key}.public"] else fixed

    st.checkbox(
        f"Use {number(largest)}, the most rows of one person here: {noise}. I say that this number may be public.",
        key=f"{key}.public",
        on_change=take,
        wrap=True,
        help=f"The cap stands in what is promised to readers, so whoever reads it learns that somebody in the file has "
        f"{number(largest)} rows. Leave it unticked and the usual {number(fixed)} stays, or type any number of your "
        "own that does not depend on the file.",
    )
    return largest


def _rows_a_person(column: str, chosen: Chosen) -> dict[int, int]:
    """Show how many rows each person has, counted once a file and column."""
    counted = st.session_state.get(COUNTED)
    if counted is None or counted[0] != (chosen.digest, column):
        from engine import read_table

        with st.spinner("Counting rows a person …"):
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
    shown = dict(list(histogram.items())[:20])
    bars(
        list(shown),
        list(shown.values()),
        key=f"load.people.{chosen.digest}",
        takeaway=f"{number(people)} people with {number(rows)} rows, at most {max(histogram, default=0)} rows for one.",
        x="Rows of one person",
        y="People",
        limits="" if len(shown) == len(histogram) else "Only the twenty smallest sizes are drawn.",
        height=200,
    )
    return histogram


def ask_holdout(preview: engine.FilePreview, unit: str) -> float:
    """Ask how much is set aside, and say why."""
    st.markdown(
        "Some people or records are drawn by lot and never shown to any method (the holdout). If synthetic text "
        "resembles the rest more than it resembles them, it remembers what it should not."
    )
    percent = slider("Set aside", 5, 50, 20, 1, key="load.holdout", unit="%", persist=True)
    if preview.total_rows:
        rows = f"About {number(round(preview.total_rows * percent / 100))} of {number(preview.total_rows)} rows"
        whole = "; people are drawn with all their rows, so it may be some more or fewer." if unit == "source" else "."
        st.caption(rows + whole)
    return percent / 100
