"""An intruder trial: a person says, within a time box, whom a random sample of approved texts is of; another checks.

Privacy posture: texts and claims are drawn as plain text and kept with the run. The private record behind a claim is
shown to whoever checks it, after that was written to the audit log, and hides itself.
"""

from __future__ import annotations

import time

import streamlit as st

import engine
from pages._ui import once
from pages._ui.pager import offset_of, pager
from pages._ui.privacy.leaks import SECONDS, count_down
from pages._ui.sign_in.closed import closed
from pages._ui.states import act, flash, notice
from pages._ui.texts import count_of, number, plain, when

KEY = "release.intruder"
SHOWN = f"{KEY}.private"
SIZE = 10
TARGETS = (0.2, 0.1, 0.05, 0.02, 0.01)
OUTCOMES = {"right": "Right", "wrong": "Wrong", "unclear": "Cannot be told"}
WHY = "Check of what an intruder claimed about this text"


@st.fragment
def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the latest trial in whatever state it is, and the form for a new one, folded."""
    flash()
    with st.expander("Intruder trial", icon=":material/person_search:", key=KEY):
        found = workspace.intruder.estimate(run.id)
        if found is None:
            st.markdown(
                "Somebody reads approved texts, drawn at random, and says within a time box whom they are of, with "
                "whatever means you allow. A second person checks each claim. From that follows, with its interval, "
                "for how many of the texts such a person names somebody rightly."
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
        with st.popover("Draw a new trial", icon=":material/casino:", key=f"{KEY}.again"):
            _new(workspace, run)


def _state(found: engine.IntruderResult) -> None:
    trial, share = found.trial, found.share
    st.markdown(
        f"**Trial {trial.look}**: {number(trial.texts)} of {count_of(trial.drawn_from, 'approved text')}, drawn at "
        f"random by {plain(trial.drawn_by)}, {when(trial.at)}; {count_of(trial.minutes, 'minute')}."
    )
    st.caption(f"Means: {plain(trial.means)}")
    for line in engine.earlier_trials(found):
        st.caption(plain(line))
    if share is None:
        if trial.stale:
            st.warning(f"**Out of date.** {plain(trial.stale)}", icon=":material/history:")
        else:
            st.markdown(plain(found.why))
        return
    unclear = f", {number(trial.unclear)} could not be told and count as right" if trial.unclear else ""
    st.markdown(
        f"{plain(trial.intruder)} took {number(trial.spent)} of the minutes and named somebody for "
        f"{count_of(trial.claims, 'text')}: {number(trial.right)} right"
        f"{unclear}. By the upper end of the {100 * share.level:.4g}% interval, at most **{_percent(share.high)}** of "
        f"the {count_of(trial.approved, 'approved text')} are identified in this way; of further texts made in the "
        f"same way, {_percent(share.further)}."
    )
    st.caption(engine.INTRUDER_LIMIT)


def _take_on(workspace: engine.Workspace, run: engine.RunSummary, trial: engine.IntruderTrial) -> None:
    """Offer to begin to whoever did not draw the trial; the time runs from then on."""
    if workspace.actor == trial.drawn_by:
        st.caption("You drew it; somebody else takes it on, under their own name (Settings).")
        return
    st.button(
        f"Begin as {plain(workspace.actor)}", type="primary", icon=":material/timer:", key=f"{KEY}.begin",
        on_click=act, args=(workspace.intruder.begin, run.id),
    )  # fmt: skip
    st.caption("Whoever begins is the intruder: the time runs from then on, and somebody else checks the claims.")


def _work(workspace: engine.Workspace, run: engine.RunSummary, trial: engine.IntruderTrial) -> None:
    """Show the texts to whoever took the trial on, and take their claims."""
    left = engine.minutes_left(trial)
    st.markdown(f"**{plain(trial.intruder)}** is at work; {count_of(max(1, round(left)), 'minute')} left.")
    if workspace.actor != trial.intruder or closed("The texts of the trial"):
        return
    st.caption("Name whom you take a text to be of, or leave it empty. What you typed is kept when you leave a field.")
    texts = workspace.intruder.texts(run.id)
    key = f"{KEY}.page.{trial.id}"
    start = offset_of(key, SIZE)
    for one in texts[start : start + SIZE]:
        with st.container(border=True, gap="small", key=f"{KEY}.text.{trial.id}.{one.place}"):
            st.text(f"{one.place:,} of {trial.texts:,}")
            st.text(one.text)
            field = f"{KEY}.claim.{trial.id}.{one.place}"
            st.session_state.setdefault(field, one.claim)
            st.text_input(
                "This text is of", key=field, max_chars=300, placeholder="nobody I can name",
                on_change=_claim, args=(workspace, run.id, one.place, field, trial.id),
            )  # fmt: skip
    pager(len(texts), key=key, size=SIZE, noun="texts")
    with st.popover("I am done", icon=":material/flag:", key=f"{KEY}.end"):
        st.markdown("Nothing more is taken after that, and the minutes taken until then are those that count.")
        st.button("End the trial", type="primary", key=f"{KEY}.end.sure", on_click=act,
                  args=(workspace.intruder.end, run.id))  # fmt: skip


def _claim(workspace: engine.Workspace, run_id: str, place: int, field: str, trial: str) -> None:
    act(workspace.intruder.claim, run_id, place, str(st.session_state.get(field) or ""), trial=trial)


def _check(workspace: engine.Workspace, run: engine.RunSummary, trial: engine.IntruderTrial) -> None:
    """Show claims to whoever checks them, one after the other."""
    if closed("The claims"):
        return
    mine = workspace.actor == trial.intruder
    if mine:
        st.caption("Somebody else checks them, under their own name (Settings).")
    claimed = [one for one in workspace.intruder.texts(run.id) if one.claim]
    key = f"{KEY}.checked.{trial.id}"
    start = offset_of(key, SIZE)
    for one in claimed[start : start + SIZE]:
        with st.container(border=True, gap="small", key=f"{KEY}.judge.{trial.id}.{one.place}"):
            st.text(one.text)
            st.text(f"Said to be of: {one.claim}")
            if one.outcome:
                st.caption(f"{OUTCOMES[one.outcome]}, by {plain(one.judged_by)}.")
            if mine:
                continue
            with st.container(horizontal=True):
                for outcome, words in OUTCOMES.items():
                    st.button(
                        words, key=f"{KEY}.{outcome}.{trial.id}.{one.place}", disabled=one.outcome == outcome,
                        on_click=act, args=(workspace.intruder.judge, run.id, one.place, outcome),
                        kwargs={"trial": trial.id},
                    )  # fmt: skip
                source = _offer_private(workspace, run, one)
            if source is not None:
                _private(workspace, run, one, source)
    pager(len(claimed), key=key, size=SIZE, noun="claims")
    if not mine:
        st.caption("A claim that cannot be told counts as right. Your check looks at the original: the run counts as "
                   "examined from then on.")  # fmt: skip


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
        st.button("Show the record behind it", icon=":material/visibility:", key=f"{KEY}.show.{one.record_id}",
                  on_click=_show, args=(workspace, run.id, one.record_id, source))  # fmt: skip
    return None


def _private(workspace: engine.Workspace, run: engine.RunSummary, one: engine.IntruderText, source: str) -> None:
    """Show the record that a text was made from until it hides itself."""
    st.markdown("**Private text**, the record behind it")
    with st.container(border=True, height=260, key=f"{KEY}.private.{one.record_id}"):
        st.text(workspace.review.record_text(run.corpus_id, source))
    count_down(float(st.session_state[SHOWN][2]))


def _show(workspace: engine.Workspace, run_id: str, record_id: str, source: str) -> None:
    if act(workspace.examinations.note_reveal, run_id, record_id, source, WHY) is not None:
        st.session_state[SHOWN] = (run_id, record_id, time.time() + SECONDS)


def _new(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Ask how many texts, how long and with which means; say what that can show."""
    approved = workspace.runs.approval_counts(run.id)["approved"]
    if not approved:
        st.markdown("Approve records first: the sample is drawn from those that would leave.")
        return
    latest = workspace.intruder.latest(run.id)
    look = 1 if latest is None else latest.look + 1
    target = st.selectbox(
        "Wanted: at most", TARGETS, index=1, key=f"{KEY}.target", width=320,
        format_func=lambda bound: f"{100 * bound:g}% of the texts identified",
    )  # fmt: skip
    needed = workspace.intruder.needed(run.id, float(target))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        texts = st.number_input("Texts to draw", 1, approved, needed, key=f"{KEY}.texts.{look}.{needed}", width=160)
        minutes = st.number_input("Minutes", 1, 7 * 24 * 60, 120, key=f"{KEY}.minutes", width=140)
    st.caption(
        f"If nobody is named rightly, that takes {count_of(needed, 'text')} of {number(approved)} approved. Of fewer "
        "than 30 texts nothing is told, unless they are all."
    )
    means = f"{KEY}.means"
    st.text_input(
        "What the person may use", key=means, max_chars=600, placeholder="for example: public search, no colleagues",
        help="And what they know already. It stands in the assessment file's internal edition.",
    )  # fmt: skip
    st.button(
        "Draw at random", type="primary", icon=":material/casino:", key=f"{KEY}.draw",
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
        notice(f"{count_of(made.texts, 'text')} drawn. Whoever takes the trial on presses Begin.")


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
