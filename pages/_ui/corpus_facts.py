"""What a corpus consists of, in figures and computed warnings."""

from __future__ import annotations

import streamlit as st

import engine
from engine import language_name
from pages._ui.charts import bars
from pages._ui.charts import lengths as lengths_chart
from pages._ui.navigation import go
from pages._ui.progress import job_progress, running_job
from pages._ui.texts import STEPS, UNIT_PLURALS, number, plain, share


def draw(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> None:
    """Draw everything known about a corpus right after import."""
    facts = workspace.corpora.statistics(corpus.id)
    with st.grid(5, min_column_width=150):
        st.metric("Records", number(facts.records), border=True)
        st.metric(
            UNIT_PLURALS[corpus.unit].capitalize(),
            number(facts.units),
            border=True,
            help="Whom a guarantee protects, each as a whole.",
        )
        st.metric("Set aside", number(facts.holdout_units), border=True, help="The holdout; no method sees it.")
        st.metric(
            "Median words",
            number(facts.words.get("p50")),
            border=True,
            help="Half of the records have at most so many words.",
        )
        st.metric("English", share(facts.english_share, 0), border=True)
    for warning in facts.warnings:
        st.warning(plain(warning), icon=":material/warning:")
    job = running_job(workspace, kind="profile", corpus_id=corpus.id)
    if job is not None:
        job_progress(workspace, job.id, key="load.profile")
    _quality(facts)
    left, right = st.columns(2)
    with left:
        _lengths(corpus, facts)
        _languages(corpus, facts)
    with right:
        _labels(corpus, facts)
        _sizes(corpus, facts)
    label, page = STEPS[corpus.next_step]
    if st.button(label, type="primary", key="load.next", icon=":material/arrow_forward:", icon_position="right"):
        go(page)


def _quality(facts: engine.CorpusStatistics) -> None:
    found = facts.near_duplicates_across_split
    near = "still being looked for" if found is None else number(found)
    st.markdown(
        f"Exact duplicates: **{number(facts.duplicates)}**. Empty rows left out: **{number(facts.empties_dropped)}**. "
        f"Records set aside that nearly repeat one that is not: **{near}**."
    )


def _lengths(corpus: engine.CorpusSummary, facts: engine.CorpusStatistics) -> None:
    half = f"Half of the records have at most {number(facts.words.get('p50'), 0)} words"
    rows = facts.lengths
    if not rows:  # imported by an earlier edition
        st.markdown(f"{half}, the longest {number(facts.words.get('max'), 0)}.")
        return
    open_ended = rows[-1][1] - rows[-1][0] > rows[0][1] - rows[0][0]
    last = "The last bar holds all longer records. " if open_ended else ""
    lengths_chart(
        rows,
        key=f"load.lengths.{corpus.id}",
        takeaway=f"{half}, the longest {number(facts.words.get('max'), 0)}.",
        limits=f"{last}Shows lengths, not how much of a record is about a person.",
    )


def _labels(corpus: engine.CorpusSummary, facts: engine.CorpusStatistics) -> None:
    if not any(facts.labels):
        st.caption("No label column was chosen.")
        return
    largest = sorted(facts.labels.items(), key=lambda item: -item[1])[:12]
    total = sum(facts.labels.values())
    bars(
        [name for name, _ in largest],
        [count for _, count in largest],
        key=f"load.labels.{corpus.id}",
        takeaway=f"{len(facts.labels)} labels; the largest covers {share(largest[0][1] / total, 0)}.",
        x="Records",
        y="Label",
        limits="" if len(largest) == len(facts.labels) else "Only the twelve largest are drawn.",
        horizontal=True,
    )


def _sizes(corpus: engine.CorpusSummary, facts: engine.CorpusStatistics) -> None:
    if corpus.unit != "source" or not facts.records_per_unit:
        return
    sizes = dict(sorted((int(size), count) for size, count in facts.records_per_unit.items()))
    shown = dict(list(sizes.items())[:25])
    bars(
        list(shown),
        list(shown.values()),
        key=f"load.sizes.{corpus.id}",
        takeaway=f"At most {max(sizes)} records belong to one person.",
        x="Records of one person",
        y="People",
        limits="Counted before the cap." if len(shown) == len(sizes) else "Only the 25 smallest sizes are drawn.",
    )


def _languages(corpus: engine.CorpusSummary, facts: engine.CorpusStatistics) -> None:
    if len(facts.language) < 2:
        return
    largest = sorted(facts.language.items(), key=lambda item: -item[1])[:8]
    bars(
        [language_name(code) for code, _ in largest],
        [100 * part for _, part in largest],
        key=f"load.languages.{corpus.id}",
        takeaway=f"{share(facts.english_share, 0)} of the text is English.",
        x="Records, %",
        y="Language",
        limits="Guessed from the letters; short records are often guessed wrongly.",
        horizontal=True,
        height=200,
    )
