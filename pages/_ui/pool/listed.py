"""The pools that are here: what each holds, who declared what, its texts, and its comparison with private records."""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui import states
from pages._ui.current import corpus_names
from pages._ui.parts.progress import job_progress, running_job
from pages._ui.pool import view
from pages._ui.texts import count_of, number, plain, when

PAGE = 20


def draw(workspace: engine.Workspace, corpus: engine.CorpusSummary | None) -> None:
    """Draw a box a pool, latest first."""
    if (job := running_job(workspace, kind="pool check")) is not None:
        job_progress(workspace, job.id, key="pool.checking")
    pools = workspace.pools.all()
    if not pools:
        view.nothing(
            "No pool yet",
            "Write prompts and have them answered by any model anywhere, or bring in a public corpus of the same kind "
            "of text.",
            [
                ("Write prompts", view.PROMPTS, ":material/outbox:", "pool.none.prompts"),
                ("Bring in a public corpus", view.POOLS, ":material/download:", "pool.none.bring"),
            ],
            key="pool.none",
        )
        return
    for pool in pools:
        with st.container(border=True, key=f"pool.card.{pool.name}"):
            _pool(workspace, corpus, pool)


def _pool(workspace: engine.Workspace, corpus: engine.CorpusSummary | None, pool: engine.PoolSummary) -> None:
    st.markdown(f"**{plain(pool.name)}** · {count_of(pool.texts, 'text')}" + _labels(pool))
    st.caption(f"From: {plain(pool.origin)}. Licence: {plain(pool.licence)}.")
    st.caption(f"Declared by {plain(pool.actor)} on {when(pool.created)}: “{plain(pool.statement)}”")
    if pool.pack_id:
        st.caption(f"Answers prompt pack {plain(pool.pack_id)}." + _rounds(pool))
    parts = [f"{number(n)} {why}" for why, n in pool.dropped.items()]
    kept = [f"{number(n)} {why}, kept" for why, n in pool.flagged.items()]
    found = "; ".join([*parts, *kept]) or "none left out"
    st.caption(f"Of {count_of(pool.read, 'text')} read: {plain(found)}.")
    with st.expander("Read its texts", key=f"pool.read.{pool.name}"):
        pages = -(-pool.texts // PAGE)
        page = 1 if pages == 1 else int(st.number_input("Page", 1, pages, 1, key=f"pool.page.{pool.name}"))
        st.dataframe(
            workspace.pools.texts(pool.name, offset=(page - 1) * PAGE, limit=PAGE), hide_index=True,
            key=f"pool.rows.{pool.name}.{page}", alt="Texts of the pool",
            column_config={"position": None, "text": st.column_config.TextColumn("Text", width="large"),
                           "label": st.column_config.TextColumn("Label")},
        )  # fmt: skip
    _check(workspace, corpus, pool)
    st.button(
        "Delete this pool", icon=":material/delete:", key=f"pool.delete.{pool.name}", on_click=states.act,
        args=(workspace.pools.delete, pool.name), kwargs={"done": f"The pool {pool.name} was deleted."},
    )  # fmt: skip


def _labels(pool: engine.PoolSummary) -> str:
    if not pool.labels:
        return " · no labels"
    return f" · {count_of(len(pool.labels), 'label')}: " + plain(
        ", ".join(f"{name} {n:,}" for name, n in pool.labels.items())
    )


def _rounds(pool: engine.PoolSummary) -> str:
    if not pool.rounds:
        return ""
    return f" It was written from what {plain(', '.join(pool.rounds))} chose; a claim made with it counts that too."


def _check(workspace: engine.Workspace, corpus: engine.CorpusSummary | None, pool: engine.PoolSummary) -> None:
    """Draw the comparison with private records: what it is for, what it tells, and to whom."""
    with st.expander("Compare with private records", icon=":material/visibility:", key=f"pool.check.{pool.name}"):
        st.markdown(
            "A pool that holds private text makes every claim with it untrue, and nothing in a claim would show it. "
            "The comparison counts texts that repeat records. **It reads private text outside any bound**: the ledger "
            "notes it, its result stays here, and no run depends on it. If texts are copies, the declaration is "
            "wrong: delete the pool. Cutting only the copies out, or choosing between pools by these numbers, is a "
            "selection by private text, and a claim made afterwards no longer covers it."
        )
        for found in workspace.pools.checks(pool.name):
            st.markdown(
                f"{when(found.at)}, {plain(found.actor)}, beside {count_of(found.compared, 'record')} of "
                f"{plain(_name(workspace, found.corpus_id))}: **{number(found.equal)}** equal a record, "
                f"**{number(found.long)}** repeat more than 25 consecutive words of one, {number(found.shared)} more "
                "than 8 (stock phrases are among them)."
            )
        if corpus is None:
            st.caption("Load a corpus first.")
            return
        st.button(
            f"Compare with {plain(corpus.name)}", icon=":material/compare_arrows:", key=f"pool.check.do.{pool.name}",
            on_click=states.act, args=(workspace.pools.check, pool.name, corpus.id),
            kwargs={"done": "The comparison is under way; the ledger has its line."},
        )  # fmt: skip


def _name(workspace: engine.Workspace, corpus_id: str) -> str:
    return corpus_names(workspace).get(corpus_id, corpus_id)
