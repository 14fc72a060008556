"""The privacy verdict in sentences: what the text gives away, and what is proven."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

import engine
from engine import Sentence, privacy_verdict, ranked_sentences, show_measure
from pages._ui.corpus import called
from pages._ui.parts import loading
from pages._ui.privacy.data import Examined
from pages._ui.sign_in.closed import lacks
from pages._ui.states import act
from pages._ui.texts import count_of, plain

# level -> icon, word, colour; the word carries the meaning, and does not repeat the end of the sentence
LEVELS: dict[str, tuple[str, str, str]] = {
    "leak": (":material/report:", "leak", "red"),
    "slight": (":material/warning:", "slight leak", "orange"),
    "unsure": (":material/help:", "cannot tell", "orange"),
    "chance": (":material/check_circle:", "no leak seen", "green"),
    "unknown": (":material/pending:", "not known", "gray"),
    "proof": (":material/verified_user:", "proof", "blue"),
    "no proof": (":material/remove_moderator:", "no proof", "gray"),
}
EXCESS = "_excess"
ABOVE = "train above holdout"  # what a rule on a difference is held against
BROKEN = (":material/gpp_bad:", "proof contradicted", "red")


def sentences(side: Examined) -> tuple[Sentence, ...]:
    """Return the engine's sentences about one run."""
    from engine.figures.privacy.proof_attack import violations

    passed = violations(side.roc, side.attacks, side.claim)
    if side.audit is not None and side.audit.violated:
        passed.append("the canary audit of this method")
    return privacy_verdict(side.findings, side.attacks, side.run.guarantee.as_dict(), passed)


def draw(workspace: engine.Workspace, sides: Sequence[Examined]) -> None:
    """Draw the sentences in one box, most serious first; two runs in two columns; offer to examine an old run again."""
    with loading.waiting(loading.BOX):  # curves are held against claims, rules of every policy against findings
        said_of = [sentences(side) for side in sides]
        readers = [workspace.releases.audience(side.run.id) for side in sides]
    _head(workspace, sides, readers)
    names = [called.noun(workspace, side.run.corpus_id) for side in sides]
    with st.container(border=True, key="privacy.verdict", gap="small"):
        columns = st.columns(len(sides), gap="medium")
        for column, side, said, name in zip(columns, sides, said_of, names, strict=True):
            with column:
                if len(sides) > 1:
                    st.markdown(f"**{plain(side.name)}**")
                for sentence in ranked_sentences(said) if len(sides) == 1 else said:  # two runs: line by line
                    icon, word, colour = LEVELS[sentence.level]
                    if sentence.finding == "guarantee" and sentence.level == "leak":
                        icon, word, colour = BROKEN
                    text, under = (called.said(name, part) for part in (sentence.text, sentence.more))
                    lines = [line for line in under.split("\n") if line]
                    more = "".join(f"  \n:small[:gray[{plain(line)}]]" for line in lines)
                    st.markdown(f":{colour}[{icon} **{word}**] · {plain(text)}{more}")
                if side.attacks is None:
                    _again(workspace, side)


def _head(workspace: engine.Workspace, sides: Sequence[Examined], readers: Sequence[engine.Audience]) -> None:
    """Draw the answer first: to whom each run's text may go as measured, and what keeps it from going further."""
    with st.container(key="privacy.head", gap="small"):
        for side, found in zip(sides, readers, strict=True):
            name = f"{plain(side.name)}: " if len(sides) > 1 else ""
            icon, answer = _answer(found)
            st.markdown(f"#### {icon} {name}{answer}")
            if found.wider is not None:
                first, *others = found.missing
                corpus = workspace.corpora.get(side.run.corpus_id)
                noun = called.noun(workspace, corpus.id)
                if said := not_shown(first, side, corpus, found.wider, len(others)):
                    st.caption(plain(called.said(noun, said)))
                    continue
                more = f" {count_of(len(others), 'more rule')} stand in the way." if others else ""
                more = more.replace("1 more rule stand", "1 more rule stands")
                st.caption(
                    f"Not for more readers ({plain(found.wider.title)}): the rule “{plain(first.title)}” is not met. "
                    f"{plain(called.said(noun, first.sentence))}{more}"
                )
        st.caption(
            "By the policies of the Release page. These answers assume that a person approves each record, signs, and "
            "rejects originals and long copies."
        )


def not_shown(
    rule: engine.RuleVerdict, side: Examined, corpus: engine.CorpusSummary, wider: engine.Policy, others: int
) -> str:
    """Return what is said where a rule on a difference fails by its interval or by unequal parts alone, else nothing.

    The difference itself is within the limit as the rule takes it, or clearly at equal sizes where the rule takes a
    larger part against a smaller one. Where neither is, the rule is not met by what was measured.
    """
    found = {
        f.reference: f.value for f in side.findings if f.name == rule.finding and f.reference in ("train", "holdout")
    }
    limit, worst = rule.threshold, rule.value
    if rule.passed is not False or limit is None or worst is None or worst <= limit or len(found) < 2:
        return ""
    if rule.reference != ABOVE:
        return ""
    value, share = found["train"] - found["holdout"], partial(show_measure, f"{rule.finding}{EXCESS}")
    equal = next((f for f in side.findings if f.name == f"{rule.finding}{EXCESS}" and f.reference == "holdout"), None)
    people = corpus.unit != "record"
    aside = count_of(corpus.holdout_units, "person", "people") if people else count_of(corpus.holdout_units, "record")
    units = "people" if people else "records"
    if value <= limit:
        why = f"with {aside} set aside the measure is too coarse (up to {share(worst)}; the limit is {share(limit)})."
    elif equal is not None and equal.low is not None and equal.high is not None and equal.high <= limit:
        used = corpus.units - corpus.holdout_units
        why = (
            f"the rule holds {used:,} {units} used against {corpus.holdout_units:,} set aside, and what more {units} "
            f"have stands in a text by chance more often (difference {share(value)}, up to {share(worst)}; the limit "
            f"is {share(limit)}). Of equally many it is {share(equal.value)} ({share(equal.low)} to "
            f"{share(equal.high)})."
        )
    else:
        return ""
    proof = ", or the policy “Proof alone”, which rests on the proof" if side.run.guarantee.kind == "dp" else ""
    more = f" {count_of(others, 'more rule')} {'stands' if others == 1 else 'stand'} in the way." if others else ""
    return (
        f"Not shown to be safe for more readers ({wider.title}, rule “{rule.title}”): {why} What would help: more "
        f"{units} set aside{proof}.{more}"
    )


def _answer(found: engine.Audience) -> tuple[str, str]:
    """Return an icon and one sentence on who may read the text."""
    if found.policy is None:
        return ":red[:material/block:]", "It may not leave, for anybody."
    readers = plain(found.policy.sentence.split(". ")[0].removeprefix("For ").rstrip("."))
    if found.policy.id == "exploratory":
        return ":orange[:material/visibility:]", f"It stays inside: for {readers}."
    return ":blue[:material/group:]", f"As measured, it may go to: {readers}."


def _again(workspace: engine.Workspace, side: Examined) -> None:
    st.button(
        "Examine again", key=f"privacy.examine_new.{side.run.id}", icon=":material/query_stats:",
        on_click=act, args=(workspace.jobs.examine, side.run.id), disabled=lacks(engine.Right.MANAGE),
        help="This run was examined before membership attacks were carried out. Examining takes some minutes.",
    )  # fmt: skip
