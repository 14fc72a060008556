"""The release policies side by side, so that a custodian can choose before any number is known."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

import engine
from engine import MEASURES, REFERENCES, show_measure
from pages._ui.parts import wrapped
from pages._ui.sign_in.closed import barred
from pages._ui.states import act
from pages._ui.texts import GUARANTEES, plain

ANY_GUARANTEE, NOT_ASKED = 4, "not asked"
MISSED = {  # as the gate calls them
    "missed-direct": "Few records hold a direct identifier that nobody found",
    "missed-quasi": "Few records hold an indirect identifier that nobody found",
}


def draw(workspace: engine.Workspace) -> None:
    """Draw one table: a row a condition, a column a policy."""
    policies = workspace.releases.policies()
    st.caption("Thresholds are fixed before anything is measured. A missing number never passes.")
    rows: dict[str, dict[str, str]] = {}
    for policy in policies:
        for name, value in _requirements(policy).items():
            rows.setdefault(name, {})[policy.title] = value
    for policy in policies:
        for rule in policy.rules:
            rows.setdefault(_name(rule), {})[policy.title] = _limit(rule)
    rows = {name: row for name, row in rows.items() if set(row.values()) != {NOT_ASKED}}
    table = pd.DataFrame.from_dict(rows, orient="index").reindex(columns=[p.title for p in policies])
    table = table.fillna(NOT_ASKED)
    table.index.name = "Condition"
    wrapped.table(table.reset_index())
    _own(workspace)


def _own(workspace: engine.Workspace) -> None:
    """Draw the workspace's own policies and a place to add one."""
    known = workspace.releases.own_policies()
    accepted = {policy.id: policy for policy in workspace.releases.policies()}
    with st.expander("Own policies", icon=":material/policy:", key="settings.policies.own"):
        st.caption(
            "A policy of your own is a YAML file like those of the program. It can be stricter or looser in its rules; "
            "it cannot let an original, an undecided record or an outdated examination pass. Its rules go into every "
            "bundle that it lets leave. A release asked for under an earlier version is refused."
        )
        changes = not barred("Changing policies", engine.Right.MANAGE)
        given = st.file_uploader(
            "Policy file", type=["yaml", "yml"], key="settings.policies.file", max_upload_size=1, disabled=not changes
        )
        with st.container(horizontal=True):
            st.button(
                "Put it in force",
                key="settings.policies.add",
                type="primary",
                disabled=not changes or given is None,
                on_click=_add,
                args=(workspace, given.getvalue() if given is not None else b""),
            )
            presets = {policy.title: policy.id for policy in accepted.values() if policy.id not in known}
            example = next(iter(presets.values()))
            st.download_button(
                "Download a preset to start from",
                data=(engine.POLICY_FILES / f"{example}.yaml").read_bytes(),
                file_name=f"{example}.yaml",
                mime="application/yaml",
                key="settings.policies.example",
                icon=":material/download:",
                on_click="ignore",
            )
        for policy_id, text in known.items():
            policy = accepted.get(policy_id)
            title = (
                policy.title if policy is not None else f"{policy_id}: not accepted by this program; lets nothing pass"
            )
            with st.container(border=True, key=f"settings.policies.{policy_id}"):
                st.markdown(f"**{plain(title)}**" + (f" · SHA-256 {policy.digest[:12]}" if policy is not None else ""))
                st.code(text, language=None, height=200, wrap_lines=True)
                st.button(
                    "Remove",
                    key=f"settings.policies.remove.{policy_id}",
                    icon=":material/delete:",
                    disabled=not changes,
                    on_click=act,
                    args=(workspace.releases.remove_policy, policy_id),
                    kwargs={"done": "The policy is no longer in force. Its versions are kept."},
                )


def _add(workspace: engine.Workspace, data: bytes) -> None:
    """Put an uploaded policy in force; a callback."""
    text = data.decode("utf-8", "replace")
    act(workspace.releases.add_policy, text, "the file", done="The policy is in force. It stands in the table above.")


def _name(rule: engine.Rule) -> str:
    title = MEASURES[rule.finding].title if rule.finding in MEASURES else rule.finding
    if rule.finding.endswith("_excess"):
        return title
    return f"{title}: {REFERENCES[rule.reference]}" + (f" above {rule.above}" if rule.above else "")


def _limit(rule: engine.Rule) -> str:
    if rule.threshold is None:
        return "measured"
    if rule.comparator == "at most" and rule.threshold == 0:
        return "none"
    return f"{rule.comparator} {show_measure(rule.finding, rule.threshold)}"


def _requirements(policy: engine.Policy) -> dict[str, str]:
    need = policy.requirements
    return {
        "Records a person decided on": _share_of_all(need.minimum_reviewed_share, need.minimum_approved),
        "Formal guarantee": _kinds(need.guarantee_kinds),
        "Largest ε": NOT_ASKED if need.highest_epsilon is None else f"{need.highest_epsilon:g}",
        "The whole output leaves, unexamined": "yes" if need.whole_output else "no",
        "The review is as people left it": "yes",
        "No record is an original (methods without a proof)": "yes",
        "Second person signs": "yes" if need.second_person else "no",
        **_missed(need.missed),
        "An intruder identifies": _intruder(need.intruder),
        "May be waived by a person, for a reason and a time": "nothing"
        if need.waivers is None
        else f"{'; '.join(_rules(policy, need.waivers.rules))}. At most {need.waivers.longest_days} days.",
        "Longest copied run of words": "no limit"
        if need.longest_copied_words is None
        else str(need.longest_copied_words),
    }


def _rules(policy: engine.Policy, ids: Sequence[str]) -> list[str]:
    """Return what rules of a policy are called, the first with a capital."""
    titles = {**MISSED, **{rule.id: rule.title for rule in policy.rules}}
    said = [titles.get(name, name) for name in ids]
    return [title if place == 0 else f"{title[:1].lower()}{title[1:]}" for place, title in enumerate(said)]


def _missed(rule: engine.MissedRule | None) -> dict[str, str]:
    """Return what is asked about identifiers that detection missed, of runs without a proof."""
    bounds = {} if rule is None else {"a direct": rule.direct_per_1000, "an indirect": rule.quasi_per_1000}
    found = {
        f"Records that still hold {kind} identifier, of 1,000 (methods without a proof)": NOT_ASKED
        if bounds.get(kind) is None
        else f"at most {bounds[kind]:g}"
        for kind in ("a direct", "an indirect")
    }
    sample = NOT_ASKED if rule is None else f"{rule.minimum_sample:,}"
    if rule is not None and rule.second_reader:
        sample += f", {rule.minimum_twice:,} by a second person"
    return {**found, "Records of the spot check that shows it": sample}


def _intruder(rule: engine.IntruderRule | None) -> str:
    """Return what is asked about a person who tries to say whom the texts are of."""
    if rule is None:
        return NOT_ASKED
    return (
        f"at most {100 * rule.highest_share:g}% of the texts; {rule.minimum_texts:,} texts, "
        f"{rule.minimum_minutes:,} minutes"
    )


def _share_of_all(share: float, approved: int) -> str:
    return "all" if share >= 1 else f"at least {approved:,} approved" if share == 0 else f"{share:.0%}"


def _kinds(kinds: Sequence[str]) -> str:
    if len(kinds) == ANY_GUARANTEE:
        return "not needed"
    return " or ".join(dict.fromkeys(GUARANTEES[kind][0].lower() for kind in kinds))
