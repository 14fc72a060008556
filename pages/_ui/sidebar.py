"""The sidebar that every page has: corpus, unit, budget, missed identifiers, gate, job, leave.

How to use: nothing to do in a page; `main.py` draws it. The chosen corpus is
`pages._ui.current.current_corpus(workspace)`.
"""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui import reload
from pages._ui.current import CORPUS, corpus_names, current_corpus, open_run, run_label
from pages._ui.language import choice, mark, tr, trn
from pages._ui.ledger.left import little
from pages._ui.navigation import go, page_only
from pages._ui.parts.progress import bar, running_job, still_running
from pages._ui.privacy.count import leaks
from pages._ui.release import policy as release_policy
from pages._ui.release import second
from pages._ui.review.spot import of_a_thousand
from pages._ui.sign_in import visitor
from pages._ui.sign_in.closed import only
from pages._ui.states import act
from pages._ui.texts import JOBS, UNITS, count_of, glossary, meaning, number, plain, share, significant, when

LEFT = "_ui.left"
NO_BREAK = "\u00a0"  # a time stays on one line
LEAST = 0.005  # share of the limit in use below which its bar would be an empty line; the words say 0%
FEW = 20  # reviewed texts below which what they say says nothing


def draw(workspace: engine.Workspace, translated: bool = True) -> None:
    """Draw the whole sidebar; say there too what of the page beside it is in English."""
    with st.sidebar:
        _who(workspace)
        _pick(workspace)
        corpus = current_corpus(workspace)
        if corpus is None:
            st.caption(tr("No corpus yet. Load a file, or try one of the samples on the first page."))
        else:
            _facts(workspace, corpus)
        choice.note(translated)
        choice.offer(workspace)
        with st.container(key="sidebar.foot", gap="small"):  # stays in sight however much stands above
            _job(workspace)
            with st.container(horizontal=True):
                if st.button(tr("Quit …"), key="sidebar.leave", icon=":material/power_settings_new:"):
                    _leave(workspace)
                if st.button(tr("Glossary"), icon=":material/menu_book:", key="sidebar.glossary"):
                    st.dialog(tr("Glossary"), width="large")(_glossary)()


def _who(workspace: engine.Workspace) -> None:
    """Draw who signed in, where people do, and the way out."""
    person = visitor.person()
    if person is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="sidebar.who"):
        st.markdown(f":material/person: **{plain(person.name)}**  \n{', '.join(person.roles)}")
        st.button(tr("Sign out"), key="sidebar.sign_out", type="tertiary", on_click=visitor.leave, args=(workspace,))


def _pick(workspace: engine.Workspace) -> None:
    """Draw the corpus picker; a corpus chosen by a page takes precedence once."""
    names = corpus_names(workspace)
    reload.restore()
    wanted = st.session_state.pop("_ui.next_corpus", None)
    if wanted in names:
        st.session_state[CORPUS] = wanted
    elif st.session_state.get(CORPUS) not in names:
        st.session_state[CORPUS] = next(iter(names), None)
    if names:
        st.selectbox(
            tr("Corpus"),
            list(names),
            format_func=lambda corpus_id: names.get(corpus_id, corpus_id),
            key=CORPUS,
            persist_state="session",
        )
    reload.keep()


TERMS: dict[str, tuple[str, ...]] = {
    mark("Protected"): ("unit of protection",),
    mark("Privacy budget"): ("budget (ε)", "ε (epsilon)", "ledger"),
    mark("Missed identifiers"): ("identifier", "direct identifier", "indirect identifier (quasi-identifier)"),
    mark("Release gate"): ("gate",),
}


def _line(title: str, value: str, *, icon: str, page: str) -> None:
    """Draw a line; its head leads to the page where it is decided, for whom that page opens."""
    if page_only(page):
        st.markdown(f":material/{icon}: **{tr(title)}**  \n{value}", help=meaning(*TERMS[title]))
        return
    with st.container(key=f"sidebar.line.{page}", gap=None):
        if st.button(
            f"**{tr(title)}**", type="tertiary", icon=f":material/{icon}:", key=f"sidebar.to.{page}",
            help=meaning(*TERMS[title]),
        ):  # fmt: skip
            go(page)
        st.markdown(value)


def _facts(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> None:
    """Draw the permanent risk lines of a corpus."""
    unit = tr(UNITS[corpus.unit][0])
    extra = "" if corpus.unit == "record" else tr(" (at most {cap} of each are used)", cap=number(corpus.cap))
    _line("Protected", f"{plain(unit)}{extra}", icon="person_shield", page="load")
    run = open_run(workspace, corpus)
    _budget(workspace, corpus, run)
    _line("Release gate", gate_state(workspace, corpus, run), icon="gavel", page="release")
    _line("Missed identifiers", missed(workspace, corpus), icon="visibility_off", page="review")


def _budget(workspace: engine.Workspace, corpus: engine.CorpusSummary, run: engine.RunSummary | None) -> None:
    """Draw what is left of the limit of the people behind a corpus, and how much of it is in use as a bar."""
    view = workspace.ledger.of(corpus.id)
    limit = "ε = " + significant(view.limit_epsilon, "g")
    if view.unbounded:
        _line(
            "Privacy budget",
            tr("Unbounded: text without a proof was released."),
            icon="account_balance_wallet",
            page="ledger",
        )
        return
    if view.unknown_since is not None:
        _line(
            "Privacy budget", tr("Not known: the ledger asks what was spent elsewhere."),
            icon="account_balance_wallet", page="ledger",
        )  # fmt: skip
        return
    used = share(view.share, 0)
    if view.remaining_epsilon <= 0:
        said = tr("Nothing left of {limit}", limit=limit)
    elif little(view):
        said = tr("{share} of {limit} in use: almost nothing is left", share=used, limit=limit)
    else:
        said = tr("{share} of {limit} in use", share=used, limit=limit)
    _line("Privacy budget", f":orange[{said}]" if little(view) else said, icon="account_balance_wallet", page="ledger")
    if view.share >= LEAST:
        st.progress(min(1.0, view.share))
    if run is not None and run.guarantee.kind != "dp":
        st.markdown(f":small[{tr('A release of the run open now would end it: nothing is proven of that run.')}]")


def missed(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> str:
    """Return the estimate of identifiers nobody caught, with its upper bound."""
    if corpus.detected_at is None and not corpus.has_gold:
        return tr("Not known: no detection yet.")
    found = workspace.spot_checks.estimate(corpus.id)
    if found is not None and found.direct is not None and not found.check.stale:
        return tr(
            "Probably at most {high} of 1,000 records hold a direct one, by {drawn} drawn at random, if their readers "
            "overlooked none.",
            high=of_a_thousand(found.direct.high),
            drawn=number(found.check.drawn),
        )
    if found is not None and found.check.stale:
        return tr("Not known any more: the spot check is out of date. Draw a new one on Review.")
    if found is not None and found.check.read < found.check.drawn:
        return tr(
            "Not known yet: {read} of {drawn} texts of the spot check are read.",
            read=number(found.check.read),
            drawn=number(found.check.drawn),
        )
    risk = workspace.values.residual_risk(corpus.id)
    if risk is None:
        return tr("Not known: no text is read to its end yet.")
    texts = count_of(int(risk["records"]), "reviewed text")
    if not says(int(risk["records"]), corpus):
        return tr("Not known: {texts}, none drawn at random.", texts=texts)
    most = tr("most {high}", high=share(risk["high"]))
    return tr(
        "About {value} of them, at {most}, by {texts}, if these were not picked by risk.",
        value=share(risk["value"]),
        most=most,
        texts=texts,
    )


def says(read: int, corpus: engine.CorpusSummary) -> bool:
    """Return whether enough texts were read to the end for what was missed in them to be told."""
    return read >= min(FEW, corpus.records)


def gate_state(workspace: engine.Workspace, corpus: engine.CorpusSummary, run: engine.RunSummary | None) -> str:
    """Return what the policy says about the run that the pages show, and which run that is."""
    if run is None:
        return tr("No finished run yet.")
    policy = release_policy.standing(workspace, corpus.id, run)
    signed = second.signed(workspace, run, policy)
    verdict = workspace.releases.gate(run.id, policy.id, signed_off_by=signed)
    name, *rest = plain(run_label(workspace, run)).split(" · ")
    beside = " · ".join(rest).replace(" ", NO_BREAK)  # a line of its own, so that none begins with a dot
    which = tr(":small[Run open now: {run}]", run=name) + (f"  \n:small[{beside}]" if rest else "")
    title = plain(policy.title)
    if policy.id == release_policy.INSIDE:
        title = tr("{policy}, inside only", policy=title)
    if policy.id == release_policy.named(workspace, corpus.id):
        under = tr(":small[Policy of the readers on Plan: {policy}]", policy=title)
    elif policy.id == release_policy.preselected(workspace, corpus.id, run):
        under = tr(":small[Policy for a proof that nobody examined: {policy}]", policy=title)
    elif release_policy.was_chosen(workspace, corpus.id, run):
        under = tr(":small[Policy chosen on Release: {policy}]", policy=title)
    else:
        under = tr(":small[Policy: {policy} (no readers named yet)]", policy=title)
    gate = f"{_gate_word(workspace, run, verdict, policy)}.  \n{which}  \n{under}"
    last = last_release(workspace, run)
    if last is None:
        return gate
    said = _released(workspace, run, last)
    return f"{said}  \n{which}" if last.policy == policy.id else f"{gate}  \n:small[{said}]"


def last_release(workspace: engine.Workspace, run: engine.RunSummary) -> engine.ReleaseSummary | None:
    """Return the latest release of a run that was not withdrawn."""
    mine = [one for one in workspace.releases.all(run.corpus_id) if one.run_id == run.id and not one.revoked]
    return max(mine, key=lambda one: one.created, default=None)


def _released(workspace: engine.Workspace, run: engine.RunSummary, last: engine.ReleaseSummary) -> str:
    """Return when a run was released, under which policy, and whether the review went on since."""
    title = next((plain(one.title) for one in workspace.releases.policies() if one.id == last.policy), last.policy)
    if last.policy == release_policy.INSIDE:
        title = tr("{policy}, inside only", policy=title)
    said = trn(
        "Released {when} under “{policy}”: {n} record.", "Released {when} under “{policy}”: {n} records.",
        last.records, when=when(last.created).replace(" ", NO_BREAK), policy=title,
    )  # fmt: skip
    return f"{said} {tr('The review changed since.')}" if run.stale or run.examination_stale else said


def _gate_word(
    workspace: engine.Workspace, run: engine.RunSummary, verdict: engine.Verdict, policy: engine.Policy
) -> str:
    """Return the gate's state in a few words; of an open one, with the leaks that Privacy shows."""
    if not verdict.passed:
        return tr("Closed. {why}", why=release_policy.closed_by(workspace, run, verdict, policy)[0])
    found = leaks(workspace, run)
    said = f". {trn('Privacy shows {n} leak', 'Privacy shows {n} leaks', found)}" if found else ""
    return f"{_open(verdict, policy)}{said}"


def _open(verdict: engine.Verdict, policy: engine.Policy) -> str:
    """Return how open a gate is that a run passes."""
    waived, high = verdict.waived_rules(), verdict.high_rules()
    if waived:
        return trn("Open, with {n} rule waived", "Open, with {n} rules waived", len(waived))
    if not high:
        return tr("Open for inside only") if policy.id == release_policy.INSIDE else tr("Open")
    return trn("Open, but {n} measured value high", "Open, but {n} measured values high", len(high))


def _job(workspace: engine.Workspace) -> None:
    job = running_job(workspace)
    if job is None:
        st.caption(tr("No job is running."))
    else:
        _job_line(workspace, job.id)


@st.fragment(run_every="2s")
def _job_line(workspace: engine.Workspace, job_id: str) -> None:
    """Draw the running job's stage and time left, and the way to stop it; run the page once when it ends."""
    job = still_running(workspace, job_id)
    bar(workspace, job, key="sidebar.job", title=f"**{tr(JOBS.get(job.kind, job.kind))}**")


def _glossary() -> None:
    """Draw the words of this program by the alphabet, down one column and then the other."""
    terms = glossary()
    st.caption(tr("{n} words; the list goes on below the edge.", n=number(len(terms))))
    half = -(-len(terms) // 2)
    for column, part in zip(st.columns(2, gap="large"), (terms[:half], terms[half:]), strict=True):
        with column:
            for term, said in part:
                st.markdown(f"**{term}**  \n{said}")


def _leave(workspace: engine.Workspace) -> None:
    """Open the question what happens to the worker."""
    st.dialog(tr("Leave Understudy"))(_ask_worker)(workspace)


def _ask_worker(workspace: engine.Workspace) -> None:
    """Ask what happens to the worker; everything on disk stays either way."""
    active = len(workspace.jobs.all(active_only=True))
    if active:
        st.markdown(
            trn(
                "{n} job not finished. Work goes on without this window if you let it.",
                "{n} jobs not finished. Work goes on without this window if you let it.",
                active,
            )
        )
    else:
        st.markdown(tr("Nothing is running. Everything you decided is saved."))
    keep = st.button(tr("Keep the worker running"), type="primary", key="sidebar.leave.keep", width="stretch")
    stop = st.button(tr("Stop the worker"), key="sidebar.leave.stop", width="stretch", **only(engine.Right.MANAGE))
    if stop:
        act(workspace.jobs.stop_worker)
    if keep or stop:
        st.session_state[LEFT] = "stopped" if stop else "running"
        st.rerun()


def left() -> bool:
    """Draw the farewell page of a session that has left; return whether it has.

    No page is drawn then, because looking at a job starts the worker again.
    """
    way = st.session_state.get(LEFT)
    if way is None:
        return False
    st.title(tr("You have left"), anchor=False)
    if way == "stopped":
        st.markdown(
            tr("The worker has stopped. Unfinished jobs go on from their last finished batch when you come back.")
        )
    else:
        st.markdown(tr("The worker goes on with what is queued, and ends by itself when nothing is left to do."))
    st.markdown(tr("Everything is saved. You can close this window, or stop the program in its terminal with Ctrl+C."))
    st.button(tr("Come back"), key="sidebar.leave.return", on_click=st.session_state.pop, args=(LEFT,))
    return True
