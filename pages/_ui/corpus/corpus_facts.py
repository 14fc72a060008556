"""What a corpus consists of, in figures and computed warnings."""

from __future__ import annotations

import streamlit as st

import engine
from engine import FEWEST_ASIDE, language_name
from pages._ui.language import mark, sentence, tr
from pages._ui.navigation import go
from pages._ui.parts.charts import bars
from pages._ui.parts.charts import lengths as lengths_chart
from pages._ui.parts.progress import at_work_on, job_progress, running_job, watch
from pages._ui.texts import STEPS, UNIT_PLURALS, number, plain, share

LOAD_VIEW = mark("Load a file")  # of the page; the other one shows these figures
CLEAR = 0.03  # share of the text below which a guessed language is taken for a guess gone wrong
MOST_LANGUAGES = 7


def draw(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> None:
    """Draw everything known about a corpus right after import."""
    facts = workspace.corpora.statistics(corpus.id)
    _on(workspace, corpus)
    with st.grid(4, min_column_width=140):
        st.metric(tr("Records"), number(facts.records), border=True)
        if corpus.unit != "record":  # else it is the same number again
            st.metric(
                sentence(tr(UNIT_PLURALS[corpus.unit])),
                number(facts.units),
                border=True,
                help=tr("Whom a guarantee protects, each as a whole."),
            )
        st.metric(tr("Set aside"), number(facts.holdout_units), border=True, help=tr("The holdout; no method sees it."))
        st.metric(
            tr("Median words"),
            number(facts.words.get("p50")),
            border=True,
            help=tr("Half of the records have at most so many words."),
        )
    for warning in facts.warnings:
        st.warning(plain(warning), icon=":material/warning:")
    if facts.holdout_units < FEWEST_ASIDE:
        _way_out()
    job = running_job(workspace, kind="profile", corpus_id=corpus.id)
    if job is not None:
        job_progress(workspace, job.id, key="load.profile")
    _quality(facts)
    with st.grid(3, min_column_width=300):
        for drawn in (_lengths, _labels, _sizes, _languages):
            with st.container():
                drawn(corpus, facts)


def _way_out() -> None:
    """Draw what can still be done where few are set aside."""
    with st.container(horizontal=True):
        st.button(
            tr("Load it again, with more set aside"), key="load.aside.again", icon=":material/upload_file:",
            on_click=st.session_state.__setitem__, args=("load.view", LOAD_VIEW),
        )  # fmt: skip
        if st.button(tr("Choose a method with a proof"), key="load.aside.plan", icon=":material/verified_user:"):
            go("plan")


def _on(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> None:
    """Draw what the corpus is called and the way on, before all figures."""
    label, page = STEPS[corpus.next_step]
    job = at_work_on(workspace, corpus)
    page = STEPS["detect"][1] if job is not None and job.kind == "detect" else page
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.subheader(plain(corpus.name), anchor=False, width="content")
        if st.button(
            tr(label) if job is None else watch(job),
            type="primary" if job is None else "secondary",
            key="load.next",
            icon=":material/arrow_forward:",
            icon_position="right",
        ):
            go(page)


def _quality(facts: engine.CorpusStatistics) -> None:
    found = facts.near_duplicates_across_split
    said = tr(
        "Exact duplicates: **{duplicates}**. Empty rows left out: **{empties_dropped}**.",
        duplicates=number(facts.duplicates),
        empties_dropped=number(facts.empties_dropped),
    )
    if not found:
        near = tr("still being looked for") if found is None else number(found)
        said += " " + tr("Records set aside that nearly repeat one that is not: **{near}**.", near=near)
    st.markdown(f"{said} {tr('English')}: **{share(facts.english_share, 0)}**.")
    if found:
        st.warning(
            tr(
                "{near} of the {aside} records set aside nearly repeat one that is not ({share}). They are a poor "
                "yardstick: what a text remembers of the one looks like chance by the other.",
                near=number(found),
                aside=number(facts.holdout_records),
                share=share(found / max(1, facts.holdout_records), 0),
            ),
            icon=":material/warning:",
        )


def _lengths(corpus: engine.CorpusSummary, facts: engine.CorpusStatistics) -> None:
    half = tr("Half of the records have at most {words} words", words=number(facts.words.get("p50"), 0))
    rows = facts.lengths
    if not rows:  # imported by an earlier edition
        st.markdown(tr("{half}, the longest {longest}.", half=half, longest=number(facts.words.get("max"), 0)))
        return
    open_ended = rows[-1][1] - rows[-1][0] >= 2 * (rows[0][1] - rows[0][0])
    last = tr("The last bar holds all longer records.") + " " if open_ended else ""
    lengths_chart(
        rows,
        key=f"load.lengths.{corpus.id}",
        takeaway=tr("{half}, the longest {longest}.", half=half, longest=number(facts.words.get("max"), 0)),
        limits=last + tr("Shows lengths, not how much of a record is about a person."),
    )


def _labels(corpus: engine.CorpusSummary, facts: engine.CorpusStatistics) -> None:
    if not any(facts.labels):
        st.caption(tr("No label column was chosen."))
        return
    largest = sorted(facts.labels.items(), key=lambda item: -item[1])[:12]
    total = sum(facts.labels.values())
    bars(
        [name for name, _ in largest],
        [count for _, count in largest],
        key=f"load.labels.{corpus.id}",
        takeaway=tr(
            "{labels} labels; the largest covers {largest}.",
            labels=len(facts.labels),
            largest=share(largest[0][1] / total, 0),
        ),
        x=tr("Records"),
        y=tr("Label"),
        limits="" if len(largest) == len(facts.labels) else tr("Only the twelve largest are drawn."),
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
        takeaway=tr("At most {largest} records belong to one person.", largest=max(sizes)),
        x=tr("Records of one person"),
        y=tr("People"),
        limits=tr("Counted before the cap.")
        if len(shown) == len(sizes)
        else tr("Only the 25 smallest sizes are drawn."),
    )


def _languages(corpus: engine.CorpusSummary, facts: engine.CorpusStatistics) -> None:
    clear = sorted(((code, part) for code, part in facts.language.items() if part >= CLEAR), key=lambda one: -one[1])
    clear = clear[:MOST_LANGUAGES]
    if len(facts.language) < 2 or not clear:
        return
    rest = 1 - sum(part for _, part in clear)
    if len(clear) == 1:  # one language, and letters that were taken for others
        st.caption(
            tr(
                "{share} of the text is {language}; the rest is too short or too mixed to tell.",
                share=share(clear[0][1], 0),
                language=language_name(clear[0][0]),
            )
        )
        return
    names = [language_name(code) for code, _ in clear] + ([tr("others, or too short to tell")] if rest > 0 else [])
    bars(
        names,
        [round(100 * part, 1) for _, part in clear] + ([round(100 * rest, 1)] if rest > 0 else []),
        key=f"load.languages.{corpus.id}",
        takeaway=tr("{share} of the text is English.", share=share(facts.english_share, 0)),
        x=tr("Records, %"),
        y=tr("Language"),
        limits=tr("Guessed from the letters; short records are often guessed wrongly."),
        horizontal=True,
        height=200,
    )
