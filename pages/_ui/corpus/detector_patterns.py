"""Custom patterns: a table of regular expressions and a box to try one on."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from engine import LABELS, CustomPattern, DetectorSettings
from pages._ui.language import tr, trn
from pages._ui.parts.highlight import LABEL_HUES, Mark, highlight, segments
from pages._ui.texts import label_name, plain

COLUMNS = ["name", "pattern", "label", "score", "ignore_case"]
SECONDS = 0.25


def editor(saved: DetectorSettings, mark: str) -> list[dict[str, object]]:
    """Draw the table of patterns and the test box; return the patterns as typed."""
    st.markdown(tr("**Custom patterns**"))
    st.caption(tr("Regular expressions for numbers only you know, such as case numbers: `[A-Z]{2}-\\d{4}`."))
    frame = pd.DataFrame([pattern.model_dump() for pattern in saved.patterns], columns=COLUMNS)
    frame = frame.astype({"score": "float64", "ignore_case": "bool"})
    edited = st.data_editor(
        frame,
        key=f"review.set.patterns.{mark}",
        num_rows="dynamic",
        hide_index=True,
        column_config={
            "name": st.column_config.TextColumn(tr("Name"), required=True, max_chars=80),
            "pattern": st.column_config.TextColumn(tr("Expression"), required=True, width="large"),
            "label": st.column_config.SelectboxColumn(tr("Type"), options=list(LABELS), required=True, default="CODE"),
            "score": st.column_config.NumberColumn(tr("Confidence"), min_value=0.0, max_value=1.0, default=0.9),
            "ignore_case": st.column_config.CheckboxColumn(tr("Any case"), default=True),
        },
        alt=tr("Custom patterns"),
    )
    rows: list[dict[str, object]] = [
        dict(zip(COLUMNS, row, strict=True)) for row in edited[COLUMNS].to_numpy().tolist()
    ]
    patterns = [row for row in rows if str(row["pattern"] or "").strip()]
    _try(patterns, mark)
    return patterns


def _try(patterns: list[dict[str, object]], mark: str) -> None:
    """Show what the patterns find in a sentence."""
    with st.expander(tr("Try the patterns on a sentence"), key=f"review.set.try.{mark}"):
        text = st.text_area(tr("Sentence"), key="review.set.try.text", height=70)
        if not text or not patterns:
            st.caption(tr("Type a sentence, and at least one pattern above."))
            return
        marks: list[Mark] = []
        for row in patterns:
            try:
                pattern = CustomPattern.model_validate(row)
                found = [match.span() for match in pattern.compiled().finditer(text, timeout=SECONDS)]
            except (ValueError, TimeoutError) as error:
                st.warning(plain(f"{row.get('name') or tr('pattern')}: {reason(error)}"), icon=":material/warning:")
                continue
            hue = LABEL_HUES.get(pattern.label, 6)
            marks += [Mark(start, end, label_name(pattern.label), hue=hue) for start, end in found]
        highlight(segments(text, marks), key="review.set.try.shown", label=tr("What the patterns find"))
        st.caption(trn("{n} match.", "{n} matches.", len(marks)))


def reason(error: Exception) -> str:
    """Return what is wrong with a pattern, without the pattern itself."""
    details = getattr(error, "errors", None)
    if callable(details):
        return "; ".join(str(item["msg"]) for item in details(include_input=False))
    return (
        tr("it takes too long on this sentence") if isinstance(error, TimeoutError) else tr("it is not a valid pattern")
    )
