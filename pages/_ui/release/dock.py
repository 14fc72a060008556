"""The bar at the lower edge: which run the gate speaks of, how far the approval is, the preview, and Build.

Nothing is released by one press: a dialog says first what leaves and what that does to the budget.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

import engine
from pages._ui.current import run_label
from pages._ui.language import localised, mark, tr, trn
from pages._ui.parts import once
from pages._ui.plan.leaving import INSIDE
from pages._ui.privacy.count import in_spite, leaks
from pages._ui.release import preview
from pages._ui.release.bundle import approved, chosen_formats, missing_words, release
from pages._ui.release.made import download, latest
from pages._ui.release.policy import closed_by
from pages._ui.sign_in.closed import lacks
from pages._ui.states import act
from pages._ui.texts import decimal, number, plain, when

_FOLDER = Path(__file__).resolve().parent
_STYLE = st.components.v2.component(
    "understudy_release_dock",
    css=(_FOLDER / "dock.css").read_text(encoding="utf-8"),
    js=(_FOLDER / "dock.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)
STAYS = mark(
    "What has left cannot be called back. A release can be withdrawn later: that tells everybody who checks it, and "
    "deletes nothing."
)
UNBOUNDED = mark(
    "This run carries no formal guarantee. Once it is released, no finite ε can be claimed any more for the people "
    "behind this corpus, in this and in every later release. **That cannot be undone.**"
)
UNBOUNDED_BEFORE = mark(
    "This run carries no formal guarantee, and neither did a release before it: no finite ε can be claimed for the "
    "people behind this corpus already, and this release changes nothing in that."
)


def draw(
    workspace: engine.Workspace,
    run: engine.RunSummary,
    policy: engine.Policy,
    verdict: engine.Verdict,
    counts: dict[str, int],
    signed: str,
) -> None:
    """Draw the bar."""
    total, decided = sum(counts.values()), counts["approved"] + counts["rejected"]
    inside = policy.id == INSIDE  # for looking at the text, which needs no release
    with st.container(key="release-dock", gap="small"):
        _STYLE(key="release-dock-style")
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            with st.container(gap=None):
                line, help_ = _line(workspace, run, verdict, policy)
                st.markdown(line, help=help_)
                said = [plain(policy.title), plain(run_label(workspace, run))]
                said.append(
                    trn(
                        "{decided} of {n} record decided, {approved} approved",
                        "{decided} of {n} records decided, {approved} approved",
                        total,
                        decided=number(decided),
                        approved=number(counts["approved"]),
                    )
                )
                if run.released_at:
                    said.append(tr("released {when}: see Releases of this run", when=when(run.released_at)))
                if decided:
                    st.progress(decided / total, text=" · ".join(said))
                else:
                    st.markdown(f":small[{' · '.join(said)}]")
            made = latest(workspace, run)
            if made is not None:
                download(workspace, made, f"release.zip.dock.{made.id}")
            if st.button(
                tr("Internal preview"),
                icon=":material/visibility:",
                key="release.preview",
                type="primary" if inside and made is None else "secondary",
                disabled=not total or lacks(engine.Right.REVEAL),
                on_click=act,
                args=(workspace.releases.note_preview, run.id),
                help=tr("Read the records here. Nothing leaves, and the budget stays as it is."),
            ):
                preview.show(workspace, run.id, total)
            pressed = st.button(
                tr("Build release"),
                type="secondary" if inside or made is not None else "primary",
                icon=":material/inventory_2:",
                key="release.build",
                disabled=not verdict.passed or not chosen_formats() or lacks(engine.Right.RELEASE),
            )
    if pressed:
        # a second press beside the question takes it away no more than a press outside it does
        ask = st.dialog(tr("Release these records?"), dismissible=False)(_confirm)
        ask(workspace, run, policy, signed, counts, verdict)
    else:
        once.rearm("release.build")


def _line(
    workspace: engine.Workspace, run: engine.RunSummary, verdict: engine.Verdict, policy: engine.Policy
) -> tuple[str, str | None]:
    """Return the gate's state with the first thing that stands in its way, and what would help."""
    if not verdict.passed:
        why, first = closed_by(workspace, run, verdict, policy)
        return tr(":orange[:material/lock: **Closed**]. {why}", why=why), plain(first.remedy)
    if not chosen_formats():
        return tr(":orange[:material/lock: **Choose at least one file format**]"), None
    waived = verdict.waived_rules()
    if waived:
        return trn(
            ":orange[:material/lock_open: **Open, with {n} rule waived**]",
            ":orange[:material/lock_open: **Open, with {n} rules waived**]",
            len(waived),
        ), None
    found = leaks(workspace, run)
    if found:
        return trn(
            ":orange[:material/warning: **Open, but Privacy shows {n} leak**]",
            ":orange[:material/warning: **Open, but Privacy shows {n} leaks**]",
            found,
        ), None
    high = verdict.high_rules()
    if high:
        return trn(
            ":orange[:material/warning: **Open, but {n} measured value high**]",
            ":orange[:material/warning: **Open, but {n} measured values high**]",
            len(high),
        ), None
    if policy.id == INSIDE:
        return tr(":orange[:material/lock_open: **Open for inside only**]"), None
    return tr(":green[:material/lock_open: **Open**]"), None


def effect(workspace: engine.Workspace, run: engine.RunSummary) -> str:
    """Return what releasing a run does to the budget of the people behind it."""
    claim = run.guarantee
    if claim.kind != "dp":
        return tr(UNBOUNDED if workspace.releases.makes_unbounded(run.id) else UNBOUNDED_BEFORE)
    if not claim.epsilon:
        return tr("This run read no private text, so its release takes nothing from the budget.")
    epsilon, delta = claim.drawn
    said = tr(
        "The run drew ε = {epsilon} at δ = {delta} from the budget when it was made. Releasing it takes none.",
        epsilon=localised(engine.upward(epsilon, 6)),
        delta=localised(engine.upward(delta, 6)),
    )
    if claim.bound == claim.drawn:
        return said
    more = tr(
        "Its statement, ε = {epsilon} at δ = {delta}, counts the earlier runs that it "
        "rests on too; they had drawn their share before.",
        epsilon=localised(engine.upward(claim.epsilon or 0.0, 6)),
        delta=localised(engine.upward(claim.delta or 0.0, 6)),
    )
    return f"{said} {more}"


def _confirm(
    workspace: engine.Workspace, run: engine.RunSummary, policy: engine.Policy, signed: str, counts: dict[str, int],
    verdict: engine.Verdict,
) -> None:  # fmt: skip
    """Say what leaves, to whom it may go, what was measured of it and what cannot be undone, and ask once."""
    which, shown = plain(run_label(workspace, run)), approved(workspace, run.id)
    st.markdown(
        trn(
            "**{n} record** of the run {which}, under “{policy}”.",
            "**{n} records** of the run {which}, under “{policy}”.",
            counts["approved"],
            which=which,
            policy=plain(policy.title),
        )
    )
    risk, stay = workspace.runs.highest_approved_risk(run.id), counts["rejected"] + counts["pending"]
    among = [
        tr("The highest risk among them is {risk}.", risk=decimal(risk, 2)) if risk is not None
        else tr("No risk of them is known.") if run.examined_at
        else tr("No risk is known: nobody examined this run."),
        trn("{n} record stays here.", "{n} records stay here.", stay) if stay else tr("None stays here."),
    ]  # fmt: skip
    st.markdown(" ".join(among))
    st.caption(plain(policy.sentence))
    warned = [*filter(None, [in_spite(workspace, run)]), *(plain(rule.sentence) for rule in verdict.high_rules())]
    if warned:
        st.warning("\n\n".join(warned), icon=":material/warning:")
    st.markdown(f":material/account_balance: {effect(workspace, run)}")
    st.markdown(f":material/outbox: {tr(STAYS)}")
    if run.guarantee.kind != "dp":
        st.markdown(tr(":material/visibility: Only looking? The internal preview shows the records without a release."))
    missing = missing_words()
    if missing:
        st.warning(tr("The card will not say: {missing}.", missing=", ".join(missing)), icon=":material/edit_note:")
    ends = workspace.releases.makes_unbounded(run.id)
    if st.button(
        tr("Release it, and claim no ε any more") if ends else tr("Release it"),
        type="secondary" if ends else "primary",  # what cannot be undone is not what the hand falls on
        key="release.build.sure",
        on_click=release,
        args=(workspace, run.id, policy, signed, shown),
        kwargs={"accepted": ends},
    ):
        st.rerun()
    if st.button(tr("Do not release"), type="primary" if ends else "secondary", key="release.build.keep"):
        st.rerun()
