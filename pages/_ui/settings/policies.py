"""The release policies side by side, so that a custodian can choose before any number is known."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

import engine
from engine import MEASURES, REFERENCES, show_measure
from pages._ui.sign_in.closed import barred
from pages._ui.states import act
from pages._ui.texts import GUARANTEES, count_of, first_sentence, plain

ANY_GUARANTEE, NOT_ASKED = 4, "–"
COVERED = "limited below"  # where a policy sets a limit on what another one only measures
LIMITED = "internal"  # the first policy with limits: what its rules are called heads the rows
SAMPLE = "How much was missed is known from a random sample"
TITLES = {  # of lines about facts, as the gate calls them
    "missed-direct": "Few records hold a direct identifier that nobody found",
    "missed-quasi": "Few records hold an indirect identifier that nobody found",
    "chosen": "What leaves is no riskier than what was measured",
    "no-leak": "Nothing more is given away than chance explains",
}

COUNTED = {  # finding of a rule -> what it counts, in plain words
    "pipp": "Records with an identifier",
    "pipp_direct": "Records with a name or number of a person",
    "strict_alone": "Records with what one person alone has",
    "label_direct": "Labels with a name or number of a person",
    "verbatim_8gram": "Records that repeat eight words in a row",
    "nearest_similarity": "Likeness to the nearest record",
}


def draw(workspace: engine.Workspace) -> None:
    """Draw one table: a row a condition, a column a policy."""
    policies = workspace.releases.policies()
    st.caption(
        "Each row is a rule as the gate calls it, with what it looks at; – is not asked. "
        "Thresholds are fixed before anything is measured, and a missing number never passes."
    )
    rows: dict[str, dict[str, str]] = {}
    for policy in policies:
        for (title, measure), value in requirements(policy).items():
            rows.setdefault(_head(title, measure), {})[policy.title] = plain(value)
    heads = _heads(policies)
    for policy in policies:
        for rule in policy.rules:
            title = heads[_measure(rule)]
            own = "" if rule.title == title else f" :small[:gray[“{plain(rule.title)}”]]"
            rows.setdefault(_head(title, looks_at(rule)), {})[policy.title] = f"{plain(_limit(rule))}{own}"
    for policy in policies:
        for title, measure in covered(policy, policies):
            rows[_head(heads[title], measure)].setdefault(policy.title, COVERED)
    rows = {name: row for name, row in rows.items() if set(row.values()) != {NOT_ASKED}}
    titles = [policy.title for policy in policies]
    lines = [["Rule", *(plain(title) for title in titles)], [":--"] * (1 + len(titles))]
    lines += [["**For**", *(plain(for_whom(policy)) for policy in policies)]]
    lines += [[name, *(row.get(title, NOT_ASKED) for title in titles)] for name, row in rows.items()]
    with st.container(key="settings.policies.table"):
        st.markdown("\n".join(f"| {' | '.join(line)} |" for line in lines))
    for policy in policies:
        waivers = policy.requirements.waivers
        if waivers is not None:
            st.caption(
                f"Under **{plain(policy.title)}** a person may waive, for a reason and for at most "
                f"{waivers.longest_days} days: {plain('; '.join(_rules(policy, waivers.rules)))}."
            )
    _own(workspace)


def for_whom(policy: engine.Policy) -> str:
    """Return for whom a policy is, in the first sentence of its own."""
    said = first_sentence(policy.sentence).removeprefix("For ")
    return said[:1].upper() + said[1:]


def covered(policy: engine.Policy, policies: Sequence[engine.Policy]) -> list[tuple[str, str]]:
    """Return the measure and what it looks at of each rule of others that only measures what this policy limits."""
    own = {_measure(rule) for rule in policy.rules}
    limited = {rule.finding.removesuffix("_excess") for rule in policy.rules if rule.threshold is not None}
    return [
        (_measure(rule), looks_at(rule))
        for other in policies
        for rule in other.rules
        if rule.threshold is None and _measure(rule) not in own and rule.finding in limited
    ]


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


def _head(title: str, measure: str) -> str:
    """Return the head of a row: what the gate calls the rule, and small what it measures."""
    return f"**{plain(title)}**" + (f" :small[:gray[{plain(measure)}]]" if measure else "")


def _heads(policies: Sequence[engine.Policy]) -> dict[str, str]:
    """Return what the rule on each measure is called: as in the first policy with limits, else as it is met first."""
    found: dict[str, str] = {}
    for policy in sorted(policies, key=lambda one: one.id != LIMITED):
        for rule in policy.rules:
            found.setdefault(_measure(rule), rule.title)
    return found


def _measure(rule: engine.Rule) -> str:
    title = MEASURES[rule.finding].title if rule.finding in MEASURES else rule.finding
    if rule.finding.endswith("_excess"):
        return title
    return f"{title}: {REFERENCES[rule.reference]}" + (f" above {rule.above}" if rule.above else "")


def looks_at(rule: engine.Rule) -> str:
    """Return what a rule looks at in plain words: what is counted, and what it is held against."""
    counted = COUNTED.get(rule.finding.removesuffix("_excess"))
    if counted is None:
        return _measure(rule)
    if rule.finding.endswith("_excess"):
        return f"{counted} from the text used, beyond what chance gives"
    known = {"train": "from the text used", "holdout": "from text that nobody used"}
    if rule.reference not in known or (rule.above and rule.above not in known):
        return _measure(rule)
    return f"{counted} {known[rule.reference]}" + (f", beyond those {known[rule.above]}" if rule.above else "")


def _limit(rule: engine.Rule) -> str:
    if rule.threshold is None:
        return "measured"
    if rule.comparator == "at most" and rule.threshold == 0:
        return "none"
    measure = MEASURES.get(rule.finding)
    if measure is None or measure.scale != "share":
        return f"{rule.comparator} {show_measure(rule.finding, rule.threshold)}"
    apart = bool(rule.above) or rule.finding.endswith("_excess")  # a difference of two shares
    amount = f"{100 * rule.threshold:.3g}".replace("-", "−")
    points = "percentage point" if amount == "1" else "percentage points"
    return f"{rule.comparator} {amount} {points}" if apart else f"{rule.comparator} {amount}%"


def requirements(policy: engine.Policy) -> dict[tuple[str, str], str]:
    """Return what a policy asks besides measures: the rule as the gate calls it and what it looks at -> the answer."""
    need = policy.requirements
    copied = "no limit" if need.longest_copied_words is None else f"{need.longest_copied_words} words"
    return {
        ("A person decided on the records", ""): _share_of_all(need.minimum_reviewed_share, need.minimum_approved),
        ("The method carries a formal guarantee", ""): _kinds(need.guarantee_kinds),
        ("The guarantee is strong enough", ""): NOT_ASKED
        if need.highest_epsilon is None
        else f"ε at most {need.highest_epsilon:g}",
        ("The whole output leaves", "unexamined: nothing private had a say"): "yes" if need.whole_output else NOT_ASKED,
        ("The review is as people left it", ""): "yes",
        ("No record is an original", "methods without a proof"): "yes",
        (TITLES["chosen"], ""): "yes" if any(rule.threshold is not None for rule in policy.rules) else NOT_ASKED,
        (TITLES["no-leak"], ""): "yes" if need.no_leak else NOT_ASKED,
        ("A second person signs", ""): "yes" if need.second_person else NOT_ASKED,
        **_missed(need.missed),
        ("Somebody tried to say whom the texts are of", "an intruder identifies"): _intruder(need.intruder),
        ("Longest copied run of words", "in all that leaves"): copied,
    }


def _rules(policy: engine.Policy, ids: Sequence[str]) -> list[str]:
    """Return what rules of a policy are called, the first with a capital."""
    titles = {**TITLES, **{rule.id: rule.title for rule in policy.rules}}
    said = [titles.get(name, name) for name in ids]
    return [title if place == 0 else f"{title[:1].lower()}{title[1:]}" for place, title in enumerate(said)]


def _missed(rule: engine.MissedRule | None) -> dict[tuple[str, str], str]:
    """Return what is asked about identifiers that detection missed, of runs without a proof."""
    bounds = {} if rule is None else {"direct": rule.direct_per_1000, "quasi": rule.quasi_per_1000}
    found = {
        (TITLES[f"missed-{kind}"], "methods without a proof"): NOT_ASKED
        if bounds.get(kind) is None
        else f"at most {bounds[kind]:g} of 1,000"
        for kind in ("direct", "quasi")
    }
    sample = NOT_ASKED if rule is None else f"{count_of(rule.minimum_sample, 'text')} read"
    if rule is not None and rule.second_reader:
        sample += f", {rule.minimum_twice:,} by a second person"
    return {**found, (SAMPLE, "the spot check on Review"): sample}


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
        return NOT_ASKED
    return " or ".join(dict.fromkeys(GUARANTEES[kind][0].lower() for kind in kinds))
