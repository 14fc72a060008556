"""An intruder trial: a person says, within a time box, whom a random sample of approved texts is of; another checks.

Privacy posture: texts and claims are drawn as plain text and kept with the run. The private record behind a claim is
shown to whoever checks it, after that was written to the audit log, and hides itself.
"""

from __future__ import annotations

import time

import streamlit as st

import engine
from pages._ui.language import localised, mark, tr, trn
from pages._ui.parts import once
from pages._ui.parts.pager import offset_of, pager
from pages._ui.privacy.leaks import SECONDS, count_down
from pages._ui.sign_in.closed import barred, closed, only
from pages._ui.states import act, flash, notice
from pages._ui.texts import count_of, number, plain, when

KEY = "release.intruder"
SHOWN = f"{KEY}.private"
SIZE = 10
TARGETS = (0.2, 0.1, 0.05, 0.02, 0.01)
OUTCOMES = {"right": mark("Right"), "wrong": mark("Wrong"), "unclear": mark("Cannot be told")}
WHY = "Check of what an intruder claimed about this text"  # stands in the audit log


@st.fragment
def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the latest trial in whatever state it is, and the form for a new one, folded."""
    flash()
    with st.expander(tr("Intruder trial"), icon=":material/person_search:", key=KEY):
        found = workspace.intruder.estimate(run.id)
        if found is None:
            st.markdown(
                tr(
                    "Somebody reads approved texts, drawn at random, and says within a time box whom they are of, "
                    "with whatever means you allow. A second person checks each claim. From that follows, with its "
                    "interval, for how many of the texts such a person names somebody rightly."
                )
            )
            _new(workspace, run)
            return
        _state(found)
        trial = found.trial
        if not trial.begun:
            _take_on(workspace, run, trial)
        elif not trial.ended:
            _work(workspace, run, trial)
        elif trial.claims:
            _check(workspace, run, trial)
        with st.popover(tr("Draw a new trial"), icon=":material/casino:", key=f"{KEY}.again"):
            _new(workspace, run)


def _state(found: engine.IntruderResult) -> None:
    trial, share = found.trial, found.share
    st.markdown(
        tr(
            "**Trial {look}**: {texts} of {approved_texts}, drawn at random by {drawn_by}, {at}; {minutes}.",
            look=trial.look,
            texts=number(trial.texts),
            approved_texts=count_of(trial.drawn_from, "approved text"),
            drawn_by=plain(trial.drawn_by),
            at=when(trial.at),
            minutes=count_of(trial.minutes, "minute"),
        )
    )
    st.caption(tr("Means: {means}", means=plain(trial.means)))
    for line in engine.earlier_trials(found):
        st.caption(plain(line))
    if share is None:
        if trial.stale:
            st.warning(tr("**Out of date.** {sentence}", sentence=plain(trial.stale)), icon=":material/history:")
        else:
            st.markdown(plain(found.why))
        return
    taken = {
        "intruder": plain(trial.intruder),
        "spent": number(trial.spent),
        "texts": count_of(trial.claims, "text"),
        "right": number(trial.right),
    }
    st.markdown(
        " ".join(
            (
                tr(
                    "{intruder} took {spent} of the minutes and named somebody for {texts}: {right} right, "
                    "{unclear} could not be told and count as right.",
                    **taken,
                    unclear=number(trial.unclear),
                )
                if trial.unclear
                else tr(
                    "{intruder} took {spent} of the minutes and named somebody for {texts}: {right} right.", **taken
                ),
                tr(
                    "By the upper end of the {level} interval, at most **{high}** of the {approved} are identified in "
                    "this way; of further texts made in the same way, {further}.",
                    level=localised(f"{100 * share.level:.4g}%"),
                    high=_percent(share.high),
                    approved=count_of(trial.approved, "approved text"),
                    further=_percent(share.further),
                ),
            )
        )
        + engine.changed_verdicts(trial)
    )
    st.caption(engine.INTRUDER_LIMIT)


def _take_on(workspace: engine.Workspace, run: engine.RunSummary, trial: engine.IntruderTrial) -> None:
    """Offer to begin to whoever did not draw the trial; the time runs from then on."""
    if workspace.actor == trial.drawn_by:
        st.caption(tr("You drew it; somebody else takes it on, under their own name (Settings)."))
        return
    st.button(
        tr("Begin as {actor}", actor=plain(workspace.actor)),
        type="primary",
        icon=":material/timer:",
        key=f"{KEY}.begin",
        on_click=act,
        args=(workspace.intruder.begin, run.id),
        **only(engine.Right.REVIEW),
    )
    st.caption(tr("Whoever begins is the intruder: the time runs from then on, and somebody else checks the claims."))


def _work(workspace: engine.Workspace, run: engine.RunSummary, trial: engine.IntruderTrial) -> None:
    """Show the texts to whoever took the trial on, and take their claims."""
    left = engine.minutes_left(trial)
    st.markdown(
        trn(
            "**{intruder}** is at work; {n} minute left.",
            "**{intruder}** is at work; {n} minutes left.",
            max(1, round(left)),
            intruder=plain(trial.intruder),
        )
    )
    if workspace.actor != trial.intruder or closed(tr("The texts of the trial")):
        return
    st.caption(
        tr("Name whom you take a text to be of, or leave it empty. What you typed is kept when you leave a field.")
    )
    texts = workspace.intruder.texts(run.id)
    key = f"{KEY}.page.{trial.id}"
    start = offset_of(key, SIZE)
    for one in texts[start : start + SIZE]:
        with st.container(border=True, gap="small", key=f"{KEY}.text.{trial.id}.{one.place}"):
            st.text(tr("{place} of {texts}", place=number(one.place), texts=number(trial.texts)))
            st.text(one.text)
            field = f"{KEY}.claim.{trial.id}.{one.place}"
            st.session_state.setdefault(field, one.claim)
            st.text_input(
                tr("This text is of"), key=field, max_chars=300, placeholder=tr("nobody I can name"),
                on_change=_claim, args=(workspace, run.id, one.place, field, trial.id),
            )  # fmt: skip
    pager(len(texts), key=key, size=SIZE, counted=count_of(len(texts), "text"))
    with st.popover(tr("I am done"), icon=":material/flag:", key=f"{KEY}.end"):
        st.markdown(tr("Nothing more is taken after that, and the minutes taken until then are those that count."))
        st.button(tr("End the trial"), type="primary", key=f"{KEY}.end.sure", on_click=act,
                  args=(workspace.intruder.end, run.id))  # fmt: skip


def _claim(workspace: engine.Workspace, run_id: str, place: int, field: str, trial: str) -> None:
    act(workspace.intruder.claim, run_id, place, str(st.session_state.get(field) or ""), trial=trial)


def _check(workspace: engine.Workspace, run: engine.RunSummary, trial: engine.IntruderTrial) -> None:
    """Show claims to whoever checks them, one after the other."""
    if closed(tr("The claims")):
        return
    if barred(tr("Checking claims"), engine.Right.REVIEW):
        return
    mine = workspace.actor == trial.intruder
    if mine:
        st.caption(tr("Somebody else checks them, under their own name (Settings)."))
    claimed = [one for one in workspace.intruder.texts(run.id) if one.claim]
    key = f"{KEY}.checked.{trial.id}"
    start = offset_of(key, SIZE)
    for one in claimed[start : start + SIZE]:
        with st.container(border=True, gap="small", key=f"{KEY}.judge.{trial.id}.{one.place}"):
            st.text(one.text)
            st.text(tr("Said to be of: {claim}", claim=one.claim))
            if one.outcome:
                st.caption(
                    tr("{verdict}, by {person}.", verdict=tr(OUTCOMES[one.outcome]), person=plain(one.judged_by))
                )
            if one.reason:
                st.text(tr("Changed after the bound was seen: {reason}", reason=one.reason))
            if mine:
                continue
            if trial.complete:
                _change(workspace, run, trial, one)
            with st.container(horizontal=True):
                for outcome, words in () if trial.complete else OUTCOMES.items():
                    st.button(
                        tr(words), key=f"{KEY}.{outcome}.{trial.id}.{one.place}", disabled=one.outcome == outcome,
                        on_click=act, args=(workspace.intruder.judge, run.id, one.place, outcome),
                        kwargs={"trial": trial.id},
                    )  # fmt: skip
                source = _offer_private(workspace, run, one)
            if source is not None:
                _private(workspace, run, one, source)
    pager(len(claimed), key=key, size=SIZE, counted=count_of(len(claimed), "claim"))
    if not mine:
        st.caption(
            tr(
                "A claim that cannot be told counts as right. Your check looks at the original: the run counts as "
                "examined from then on."
            )
        )


def _change(workspace: engine.Workspace, run: engine.RunSummary, trial: engine.IntruderTrial,
            one: engine.IntruderText) -> None:  # fmt: skip
    """Let a verdict be changed after the bound could be seen, with its reason."""
    key = f"{KEY}.change.{trial.id}.{one.place}"
    with st.popover(tr("Change this verdict"), icon=":material/edit:", key=key):
        st.markdown(
            tr(
                "The bound has been seen. The change and your reason stand in the audit log, and the bound says how "
                "many verdicts were changed. That a claim counts no more is for somebody else to say than whoever "
                "judged it."
            )
        )
        st.text_input(tr("Why"), key=f"{key}.why", max_chars=200, placeholder=tr("without names and words of the text"))
        with st.container(horizontal=True):
            for outcome, words in OUTCOMES.items():
                st.button(
                    tr(words), key=f"{key}.{outcome}", disabled=one.outcome == outcome, on_click=_changed,
                    args=(workspace, run.id, one.place, outcome, trial.id, f"{key}.why"),
                )  # fmt: skip


def _changed(workspace: engine.Workspace, run_id: str, place: int, outcome: str, trial: str, why: str) -> None:
    act(workspace.intruder.judge, run_id, place, outcome, trial=trial, reason=str(st.session_state.get(why) or ""))


def _offer_private(workspace: engine.Workspace, run: engine.RunSummary, one: engine.IntruderText) -> str | None:
    """Offer the record that a text was made from, where the method keeps that; return its id where it is shown."""
    source = workspace.runs.lineage(run.id, one.record_id)
    shown = st.session_state.get(SHOWN)
    if shown and time.time() >= shown[2]:
        st.session_state.pop(SHOWN, None)
        shown = None
    if source is not None and shown and shown[:2] == (run.id, one.record_id):
        return source
    if source is not None:
        st.button(tr("Show the record behind it"), icon=":material/visibility:", key=f"{KEY}.show.{one.record_id}",
                  on_click=_show, args=(workspace, run.id, one.record_id, source))  # fmt: skip
    return None


def _private(workspace: engine.Workspace, run: engine.RunSummary, one: engine.IntruderText, source: str) -> None:
    """Show the record that a text was made from until it hides itself."""
    st.markdown(tr("**Private text**, the record behind it"))
    with st.container(border=True, height=260, key=f"{KEY}.private.{one.record_id}"):
        st.text(workspace.review.record_text(run.corpus_id, source))
    count_down(float(st.session_state[SHOWN][2]))


def _show(workspace: engine.Workspace, run_id: str, record_id: str, source: str) -> None:
    if act(workspace.examinations.note_reveal, run_id, record_id, source, WHY) is not None:
        st.session_state[SHOWN] = (run_id, record_id, time.time() + SECONDS)


def _new(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Ask how many texts, how long and with which means; say what that can show."""
    if barred(tr("Drawing a trial"), engine.Right.MANAGE):
        return
    approved = workspace.runs.approval_counts(run.id)["approved"]
    if not approved:
        st.markdown(tr("Approve records first: the sample is drawn from those that would leave."))
        return
    latest = workspace.intruder.latest(run.id)
    look = 0 if latest is None else latest.look
    target = st.selectbox(
        tr("Wanted: at most"), TARGETS, index=1, key=f"{KEY}.target", width=320,
        format_func={
            bound: tr("{share} of the texts identified", share=localised(f"{100 * bound:g}%")) for bound in TARGETS
        }.__getitem__,
    )  # fmt: skip
    needed = workspace.intruder.needed(run.id, float(target))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        texts = st.number_input(tr("Texts to draw"), 1, approved, needed, key=f"{KEY}.texts.{look}.{needed}", width=160)
        minutes = st.number_input(tr("Minutes"), 1, 7 * 24 * 60, 120, key=f"{KEY}.minutes", width=140)
    st.caption(
        tr(
            "If nobody is named rightly, that takes {texts} of {approved} approved. Of fewer than 30 "
            "texts nothing is told, unless they are all.",
            texts=count_of(needed, "text"),
            approved=number(approved),
        )
    )
    means = f"{KEY}.means"
    st.text_input(
        tr("What the person may use"),
        key=means,
        max_chars=600,
        placeholder=tr("for example: public search, no colleagues"),
        help=tr("And what they know already. It stands in the assessment file's internal edition."),
    )
    st.button(
        tr("Draw at random"), type="primary", icon=":material/casino:", key=f"{KEY}.draw",
        on_click=_draw, args=(workspace, run.id, int(texts), int(minutes), means, look),
    )  # fmt: skip
    once.rearm(f"{KEY}.draw")


def _draw(workspace: engine.Workspace, run_id: str, texts: int, minutes: int, means: str, look: int) -> None:
    """Draw a trial; a callback."""
    said = str(st.session_state.get(means) or "")
    made = once.act(
        f"{KEY}.draw",
        lambda: act(workspace.intruder.draw, run_id, texts, minutes=minutes, means=said, look=look),
    )
    if made is not None:
        notice(
            trn(
                "{n} text drawn. Whoever takes the trial on presses Begin.",
                "{n} texts drawn. Whoever takes the trial on presses Begin.",
                made.texts,
            )
        )


def _percent(share: float) -> str:
    return localised(f"{100 * share:.1f}%")
