"""The lines of a policy that rest on facts of the run: its state, its proof, its records, and who signs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.corpus.text.folding import folded
from engine.dp.guarantee import Kind
from engine.dp.upward import upward
from engine.release.policy.facts import AGAIN, EXAMINE, GateFacts, finite
from engine.release.policy.intruder import intruder_lines
from engine.release.policy.missed import missed_lines
from engine.release.policy.policy import Policy
from engine.release.policy.remedies import NOTHING_LEFT, cost, spent, unexamined
from engine.release.policy.second import tidy
from engine.release.policy.verdicts import RuleVerdict, fact_line

KIND_SAYS: dict[Kind, str] = {
    "none": "This run proves nothing.", "heuristic": "This run proves nothing.",
    "selection-only": "This run has a proof for its choice among texts alone.", "dp": "This run has a proven bound.",
}  # fmt: skip
SAYS_WHAT = "The Ledger page says under Audit log what was changed, as “audit --verify” does."


def required(policy: Policy, facts: GateFacts) -> list[RuleVerdict]:
    """Return the lines that a policy asks of a run itself, whatever was measured, in the order they are read."""
    need = policy.requirements
    total = facts.approved + facts.rejected + facts.pending
    reviewed = (facts.approved + facts.rejected) / total if total else 0.0
    enough = bool(total) and reviewed >= need.minimum_reviewed_share
    all_of_them = _approve_all(facts) if need.whole_output else ""
    lines = [
        fact_line("run-complete", "The run is complete", facts.run_state == "done",
              f"The run's state is “{facts.run_state}”.", "Wait for the run to end, or resume it on the Run page."),
        _held(facts),
        _run_held(facts),
        *([_unmeasured(facts, policy.title), _whole(facts)] if need.whole_output else [_current(facts)]),
        fact_line("approved", "Only approved records leave", facts.approved >= need.minimum_approved,
              f"{facts.approved:,} approved, {facts.rejected:,} rejected, {facts.pending:,} undecided.",
              all_of_them or "Approve at least one record.", float(need.minimum_approved), float(facts.approved)),
    ]  # fmt: skip
    if need.minimum_reviewed_share > 0:
        lines.append(
            fact_line("reviewed", "A person decided on the records", enough,
                  f"Decided on {facts.approved + facts.rejected:,} of {total:,}; "
                  f"{need.minimum_reviewed_share:.0%} is needed.",
                  all_of_them or "Approve or reject the records that are still undecided.",
                  need.minimum_reviewed_share, reviewed)
        )  # fmt: skip
    if set(need.guarantee_kinds) != {"none", "heuristic", "selection-only", "dp"}:
        lines.append(
            fact_line("guarantee", "The method carries a formal guarantee",
                      facts.guarantee_kind in need.guarantee_kinds,
                  f"{KIND_SAYS[facts.guarantee_kind]} {_needed(need.guarantee_kinds)}",
                  "Choose a method with a formal guarantee, or a policy for a smaller circle of readers.")
        )  # fmt: skip
    if need.highest_epsilon is not None:
        lines.append(_small_enough(facts, need.highest_epsilon))
    if facts.guarantee_kind != "dp":  # elsewhere the comparison itself would choose by private data
        lines.append(_no_original(facts))
        if need.missed is not None:
            lines += missed_lines(need.missed, facts.missed)
    if need.intruder is not None:
        lines += intruder_lines(need.intruder, facts.intruder)
    if need.second_person:
        lines.append(_second_person(facts))
    return lines


def _needed(kinds: Sequence[str]) -> str:
    """Return what a policy asks of a run's proof."""
    if set(kinds) == {"dp"}:
        return "A proven bound (ε) is needed."
    if set(kinds) == {"dp", "selection-only"}:
        return "A proof is needed, if only of the choice."
    return f"Needed is one of: {', '.join(kinds)}."


def _no_original(facts: GateFacts) -> RuleVerdict:
    """Return the line that no policy leaves out and nobody can waive."""
    title = "No record is an original"
    remedy = "Reject the records that equal an original; the list of records names them first."
    if facts.originals is None:
        line = fact_line("originals", title, False, "The records were not compared with the originals yet.", EXAMINE)
        return replace(line, passed=None)
    said = (
        "None of the approved records equals a record of the corpus, in whatever spelling." if not facts.originals
        else f"{facts.originals:,} of the approved records equal a record of the corpus, or differ in spelling alone."
    )  # fmt: skip
    return fact_line("originals", title, not facts.originals, said, remedy, 0.0, float(facts.originals))


def _held(facts: GateFacts) -> RuleVerdict:
    """Return the line about the review as it stands in the database, which nobody can waive."""
    said = {
        None: "Decisions and marks were not held against the audit log.",
        True: "Decisions and marks are those that the audit log tells of.",
        False: "Decisions, marks, records or the audit log itself were changed outside of the program.",
    }[facts.held]
    return fact_line(
        "decisions-held", "The review is as people left it", facts.held, said,
        f"{SAYS_WHAT} Restore the latest backup, or import the file anew and review it again.",
    )  # fmt: skip


def _run_held(facts: GateFacts) -> RuleVerdict:
    """Return the line about the run as it stands in the database, which nobody can waive."""
    said = {
        None: "The run was not held against the audit log.",
        True: "Settings, guarantee, texts, findings and approvals are those that the audit log tells of.",
        False: "The run's settings, guarantee, texts, findings or approvals were changed outside of the program.",
    }[facts.run_held]
    if facts.run_held and facts.run_earlier:
        said = "An earlier edition made this run: its settings, guarantee and texts are not under the audit log."
    return fact_line(
        "run-held", "The run is as it was made", facts.run_held, said,
        f"{SAYS_WHAT} Restore the latest backup, or run the method again.",
    )  # fmt: skip


def _unmeasured(facts: GateFacts, policy: str) -> RuleVerdict:
    said = "Nothing of this run was measured on private data, so nothing private chose among its records."
    looked = facts.examined or facts.in_part is not None or facts.text_examined
    if facts.examined or facts.in_part is not None:
        said = f"This run was examined{_in_part(facts)}; “{policy}” takes one that nobody looked at."
    elif looked:
        said = (
            "A run with the same text or, without noise, the same seed (it may be deleted by now) was examined, or, "
            "for one that was chosen among runs, one of these or one that was left out of them, or, for one made from "
            f"an earlier run's winners or with its model, that run; “{policy}” takes one that nobody looked at."
        )
    elif facts.lost:
        said = (
            "The run is older than a restore, an accepted rollback or a copy of the workspace, which lost what "
            "happened for a time: nobody can tell whether the run was examined then."
        )
    elif facts.pool_compared:
        said = (
            "A pool was compared with the original records before the run was asked for, and the pool of this run was "
            "not here, as it is, before that: what the comparison showed may have decided which texts are in it, which "
            "the run's statement does not cover."
        )
    elif facts.watched:
        said = "The loss of training on private records was watched, which the run's statement does not cover."
    elif facts.stale:
        said = "Spans or settings changed after the run was made."
    measured = "choose a policy with measurements, whose card says that the statement holds before selection."
    if spent(facts.claim, facts.making):
        remedy = f"{NOTHING_LEFT} So {measured}"
    else:
        door = unexamined(facts.claim, facts.making) or "make the run again, and let that output leave unexamined"
        remedy = f"{door[:1].upper()}{door[1:]}{cost(facts.claim, facts.making)}; or {measured}"
    return fact_line(
        "unmeasured",
        "Nothing private had a say",
        not (looked or facts.lost or facts.pool_compared or facts.watched or facts.stale),
        said,
        remedy,
    )


def _in_part(facts: GateFacts) -> str:
    """Return how far an examination came that never ended; empty for one that did."""
    if facts.examined or facts.in_part is None:
        return ""
    kept, parts = facts.in_part
    return f" in part ({kept} of {parts})" if kept and parts else " in part"


def _whole(facts: GateFacts) -> RuleVerdict:
    held = facts.rejected + facts.pending
    said = "Every record of the run leaves." if not held else f"{held:,} records of the run are held back."
    return fact_line("whole", "The whole output leaves", bool(facts.approved) and not held, said,
                 _approve_all(facts), 0.0, float(held))  # fmt: skip


def _approve_all(facts: GateFacts) -> str:
    """Return what each rule about approvals asks for where the whole output is to leave."""
    total = facts.approved + facts.rejected + facts.pending
    return f"Approve every record ({facts.approved:,} of {total:,} so far), or choose another policy."


def _small_enough(facts: GateFacts, limit: float) -> RuleVerdict:
    known = facts.guarantee_kind == "dp" and finite(facts.epsilon)
    passed = known and facts.epsilon is not None and facts.epsilon <= limit
    said = (
        f"ε = {upward(facts.epsilon or 0.0, 6)}; at most {limit:g} is allowed."
        if known
        else "There is no ε to look at."
    )
    if known and facts.delta is not None and facts.units and facts.delta * facts.units >= 1.0:
        passed = False
        said += f" δ = {facts.delta:g} is 1/N or more for N = {facts.units:,}: it would allow one unit to be published."
    return fact_line("epsilon", "The guarantee is strong enough", passed, said,
                 "Run a method with a formal guarantee and a smaller ε.", limit, facts.epsilon)  # fmt: skip


def _current(facts: GateFacts) -> RuleVerdict:
    """Return the line about changes since the examination; without an examination nothing can be said."""
    title = "Nothing changed since the examination"
    if not facts.examined:
        line = fact_line(
            "current",
            title,
            False,
            "The run was not examined, so there is nothing to compare with.",
            AGAIN if facts.run_stale else EXAMINE,
        )
        return replace(line, passed=None)
    said = "Records, marks or settings changed after the examination." if facts.stale else (
        "The findings describe the records as they are now.")  # fmt: skip
    again = AGAIN if facts.run_stale else "Examine the run again."
    return fact_line("current", title, not facts.stale, said, again)


def _second_person(facts: GateFacts) -> RuleVerdict:
    first, second = (" ".join(folded(tidy(name)).split()) for name in (facts.actor, facts.signed_off_by))
    if not second:
        text = "Nobody has signed."
    elif second == first:
        text = "The person who releases cannot also be the second person."
    else:
        text = "Signed by a second person."
    return fact_line("second-person", "A second person signs", bool(second) and second != first, text,
                 "Ask a colleague to sign under “Second person”.")  # fmt: skip
