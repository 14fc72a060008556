"""The policy as a check-list: rule, what was found, whether it is met, what would turn it green.

Privacy posture: shows measured values to the custodian; none of it goes into a bundle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

import engine
from engine import GATE_AGAIN, GATE_EXAMINE, GATE_OLDER, GATE_UNMEASURED, MEASURES, out_of_reach, show_measure
from pages._ui.current import choose_run, run_label
from pages._ui.examined import run as examined_run
from pages._ui.language import mark, tr, trn
from pages._ui.navigation import go
from pages._ui.parts.progress import running_job
from pages._ui.plan.leaving import INSIDE
from pages._ui.privacy.count import in_spite
from pages._ui.release import waivers as release_waivers
from pages._ui.release.policy import WAIT, hold_against, reach
from pages._ui.texts import decimal, plain

# passed -> icon, word; the word carries the meaning, the colour only repeats it
STATES = {
    True: (":material/check_circle:", mark("met"), "green"),
    False: (":material/cancel:", mark("not met"), "red"),
    None: (":material/help:", mark("not known, counts as not met"), "orange"),
}
WAIVED = (":material/approval_delegation:", mark("not met, waived"), "orange")
FEW = "too few."  # ends the remedy's sentence that too little was set aside to compare with
EXACT = 1e-6  # tenths of a point that an end may lie above one
MANY_TEXTS, MORE_TEXTS = "1,000 texts or more", "more texts"  # two rules' ways that the larger of both serves
END = "upper end of its 95% interval"  # in the sentence of a limit that goes by it
HIGH = (":material/warning:", mark("measured, high"), "orange")


def check_list(
    workspace: engine.Workspace, verdict: engine.Verdict, policy: engine.Policy, run: engine.RunSummary
) -> None:
    """Draw the verdict in one line, then each rule."""
    open_rules, which = verdict.open_rules(), plain(run_label(workspace, run))
    if verdict.passed:
        waived, high = len(verdict.waived_rules()), verdict.high_rules()
        stands = {"which": which, "rules": len(verdict.rules), "policy": plain(policy.title)}
        said = (
            trn(
                "**The gate is open** for the run {which}. {n} of the {rules} rules of “{policy}” was waived, the "
                "others are met.",
                "**The gate is open** for the run {which}. {n} of the {rules} rules of “{policy}” were waived, the "
                "others are met.",
                waived,
                **stands,
            )
            if waived
            else tr(
                "**The gate is open** for the run {which}. Each of the {rules} rules of “{policy}” is met.", **stands
            )
        )
        said = f"{said} {plain(reach(policy))}"
        leaking = in_spite(workspace, run)
        if high or leaking or policy.id == INSIDE:
            more = trn(
                "**{n} measured value is high.** This policy only asks that it is known, so it does not close the "
                "gate. Read it before you build.",
                "**{n} measured values are high.** This policy only asks that they are known, so they "
                "do not close the gate. Read them before you build.",
                len(high),
            )
            st.warning("\n\n".join(filter(None, (said, leaking, more if high else ""))), icon=":material/warning:")
        else:
            st.success(said, icon=":material/lock_open:")
    else:
        st.error(
            trn(
                "**The gate is closed** for the run {which}. {n} rule of {rules} is not met.",
                "**The gate is closed** for the run {which}. {n} rules of {rules} are not met.",
                len(open_rules),
                which=which,
                rules=len(verdict.rules),
            ),
            icon=":material/lock:",
        )
    release_waivers.void(workspace, verdict, policy, run.id)
    busy = running_job(workspace, kind="examine", run_id=run.id) is not None
    lines = [_meanwhile(line) if busy else line for line in verdict.rules]
    settled = [line for line in lines if line.passed is True and not line.high and not line.waived]
    to_read = [line for line in lines if line not in settled]
    never = [line for line in to_read if out_of_reach(policy, line)]
    shut = next((line for line in never if line.rule == "guarantee"), None)
    if shut and policy.requirements.whole_output:  # nothing else helps a run that has no proof
        never = [shut]
    behind = [line for line in to_read if line not in never and not line.met] if never else []
    to_read = [line for line in to_read if line not in never and line not in behind]
    if run.stale and not policy.requirements.whole_output:  # nothing that is done with this run opens its gate
        to_read = [line if line.passed is True else replace(line, remedy=GATE_AGAIN) for line in to_read]
    if never:
        _never(workspace, never, policy, run)
    waiting = [line for line in to_read if line.passed is None and line.remedy in (GATE_EXAMINE, tr(WAIT))]
    if len(waiting) > 1:
        _waiting(workspace, waiting, policy, run, busy=busy)
        to_read = [line for line in to_read if line not in waiting]
    if to_read:
        with st.container(border=True, key="release.checklist", gap="small"):
            place = {name: number for number, name in enumerate(line.remedy for line in to_read)}
            to_read.sort(key=lambda line: (line.met, line.passed is True, not line.high, place[line.remedy]))
            _lines(workspace, to_read, policy, run)
    if behind:
        more = trn(
            "{n} more rule is not met, and does not matter before",
            "{n} more rules are not met, and do not matter before",
            len(behind),
        )
        with st.expander(more, icon=":material/rule:", key=f"release.behind.{run.id}"):
            _lines(workspace, behind, policy, run)
    if settled:
        met = trn("{n} rule is met", "{n} rules are met", len(settled))
        with st.expander(met, icon=":material/check_circle:", key=f"release.met.{run.id}"):
            for line in settled:
                _line(workspace, line, policy, run)


def _meanwhile(line: engine.RuleVerdict) -> engine.RuleVerdict:
    """Return a rule as it stands while the run's examination is at work: what that measures is waited for."""
    if line.passed is not None or line.remedy != GATE_EXAMINE:
        return line
    said = tr("The run is being examined.") if line.rule == "current" else line.sentence
    return replace(line, sentence=said, remedy=tr(WAIT))


def _never(
    workspace: engine.Workspace, lines: list[engine.RuleVerdict], policy: engine.Policy, run: engine.RunSummary
) -> None:
    """Say that no decision here opens the gate, with what leads on; then draw the rules that the run itself breaks."""
    with st.container(border=True, key="release.never", gap="small"):
        st.markdown(tr(":red[:material/block:] **This policy cannot be met by this run, whatever you approve.**"))
        widest = workspace.releases.audience(run.id).policy
        if widest is not None and not policy.requirements.whole_output:
            said = tr("The widest policy that its measurements meet is “{policy}”.", policy=plain(widest.title))
            st.caption(said)
        with st.container(horizontal=True, gap="small"):
            inside = next((one for one in workspace.releases.policies() if one.id == INSIDE), None)
            other = inside if widest is None or policy.requirements.whole_output else widest
            if other is not None and policy.id not in (INSIDE, other.id):
                st.button(
                    tr("Look at it under “{policy}”", policy=plain(other.title)), icon=":material/visibility:",
                    key=f"release.inside.{run.id}", on_click=hold_against,
                    args=(workspace, run.corpus_id, run.id, other.id),
                )  # fmt: skip
            unproven = policy.requirements.whole_output or any(line.rule == "guarantee" for line in lines)
            if unproven and st.button(
                tr("Plan a run with a proof"), icon=":material/arrow_forward:", icon_position="right",
                key=f"release.prove.{run.id}",
            ):  # fmt: skip
                go("plan")
        _lines(workspace, lines, policy, run)


def _lines(
    workspace: engine.Workspace, lines: Sequence[engine.RuleVerdict], policy: engine.Policy, run: engine.RunSummary
) -> None:
    """Draw rules; what would help several of them alike stands once, below the last of these.

    Those of which only older findings are there stand together below the others.
    """
    older = [line for line in lines if line.passed is None and line.sentence.endswith(GATE_OLDER)]
    older = older if len(older) > 1 else []
    lines = [*(line for line in lines if line not in older), *older]
    ways = said_once([_way(line, _short(line)) if line.passed is not True else "" for line in lines])
    for line, way in zip(lines, ways, strict=True):
        if older and line is older[0]:
            icon, word, colour = STATES[None]
            said = trn("{n} rule", "{n} rules", len(older))
            st.markdown(f":{colour}[{icon}] **{said}** · :{colour}[{tr(word)}]")
            st.caption(GATE_OLDER)
        _line(workspace, line, policy, run, way=way, told=line in older, common=GATE_OLDER if line in older else "")


def said_once(ways: Sequence[str]) -> list[str]:
    """Return what would help each of several rules, where it is said: at the last of those it helps alike.

    Ways that differ only in how many texts they take are one, that of the most; at the other rules stands nothing.
    """
    alike = [way.replace(MANY_TEXTS, MORE_TEXTS) for way in ways]
    last = {way: place for place, way in enumerate(alike)}
    most = {way: max((own for own, one in zip(ways, alike, strict=True) if one == way), key=len) for way in last}
    return [most[way] if last[way] == place else "" for place, way in enumerate(alike)]


def _waiting(
    workspace: engine.Workspace,
    lines: list[engine.RuleVerdict],
    policy: engine.Policy,
    run: engine.RunSummary,
    *,
    busy: bool,
) -> None:
    """Draw the rules that nothing but an examination can answer, and the way to it, or to see it, once for all."""
    with st.container(border=True, key="release.waiting", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            icon, word, colour = STATES[None]
            said = trn("{n} rule waits for the examination", "{n} rules wait for the examination", len(lines))
            st.markdown(f":{colour}[{icon}] **{said}** · :{colour}[{tr(word)}]", width="content")
            label = tr("Watch the examination") if busy else tr("Examine the run")
            if st.button(
                label, icon=":material/arrow_forward:", icon_position="right", key=f"release.examine.{run.id}"
            ):
                choose_run(run.id)
                go("privacy")
        if not busy and examined_run.closes(workspace, run):
            st.caption(examined_run.closes(workspace, run))
        ends = {one: sum(line.sentence.endswith(one) for line in lines) for one in (GATE_OLDER, GATE_UNMEASURED)}
        common = next((one for one, times in ends.items() if times > 1), "")
        if common:
            st.caption(plain(common))
        for line in lines:
            _line(workspace, line, policy, run, told=line.passed is None, common=common)


def _short(line: engine.RuleVerdict) -> str:
    """Return in one line what a limit was held against; the rule's own words where it is none of a measured number."""
    measure = MEASURES.get(line.finding)
    if line.passed is not False or measure is None or None in (line.value, line.threshold) or END not in line.sentence:
        return ""
    limit = _amount(line.finding, float(line.threshold or 0.0))
    worst = float(line.value or 0.0)
    value, nearest = _amount(line.finding, worst, upper=True), _amount(line.finding, worst)
    said = {
        "value": tr("just over {limit}", limit=limit) if nearest == limit else value,
        "limit": limit,
        "measure": f"“{plain(measure.title.removesuffix(': more than chance'))}”",
    }
    few = FEW in line.remedy
    if line.finding.endswith("_excess"):
        short = tr("{measure} could be up to {value} above chance; {limit} allowed.", **said)
    elif " above " in line.reference:
        short = tr("{measure} could be up to {value} above that of what was set aside; {limit} allowed.", **said)
    else:
        return tr("{measure} could be up to {value}; {limit} allowed.", **said)
    return tr("Too few were set aside to tell: {sentence}", sentence=short) if few else short


def _amount(finding: str, value: float, *, upper: bool = False) -> str:
    """Return a number of a rule; a share, or a difference of two, in points of a hundred, as `upper` never below it."""
    measure = MEASURES.get(finding)
    if measure is None or measure.scale != "share":
        return show_measure(finding, value)
    up = upper and math.isfinite(value)
    return tr("{n} points", n=decimal(math.ceil(1000 * value - EXACT) / 10 if up else 100 * value, 1))


def _way(line: engine.RuleVerdict, short: str) -> str:
    """Return what would help, without the sentence that the line above has said already."""
    before, few, after = line.remedy.partition(FEW)
    return after.strip() if short and few and after.strip() and "compares with" in before else line.remedy


def _line(
    workspace: engine.Workspace,
    line: engine.RuleVerdict,
    policy: engine.Policy,
    run: engine.RunSummary,
    *,
    way: str = "",
    told: bool = False,
    common: str = "",
) -> None:
    """Draw a rule and its state, but where that is `told` above, and what would help, where it is said here.

    common: the sentence that stands above for several rules, at whose end it is not said again.

    A limit of a measured number stands in one line, and in full behind its help sign.
    """
    icon, word, colour = WAIVED if line.waived else HIGH if line.high else STATES[line.passed]
    with st.container(key=f"release.rule.{line.rule}", gap=None):
        if told:
            st.markdown(f"**{plain(line.title)}**")
        else:
            st.markdown(f":{colour}[{icon}] **{plain(line.title)}** · :{colour}[{tr(word)}]")
        short = _short(line)
        said = plain(line.sentence.removesuffix(common).strip())
        if said:
            st.caption(short or said, help=said if short else None)
        if line.passed is True:
            return
        if way:
            st.markdown(tr(":small[:material/arrow_forward: What would help: {remedy}]", remedy=plain(way)))
        release_waivers.draw(workspace, line, policy, run)
