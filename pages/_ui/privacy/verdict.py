"""The privacy verdict in sentences: what the text gives away, and what is proven."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st

import engine
from engine import Sentence, privacy_verdict, ranked_sentences, show_measure
from pages._ui.corpus import called
from pages._ui.current import choose_run
from pages._ui.navigation import go, page_only
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
    "chance": (":material/check_circle:", "not above chance", "green"),
    "unknown": (":material/pending:", "not known", "gray"),
    "proof": (":material/verified_user:", "proof", "blue"),
    "no proof": (":material/remove_moderator:", "nothing proven", "gray"),
}
COUNTED = ("leak", "slight leak", "proof")  # words that take an "s"
EXCESS = "_excess"
ABOVE = "train above holdout"  # what a rule on a difference is held against
BROKEN = (":material/gpp_bad:", "proof contradicted", "red")
LOOK = (":material/visibility:", "look", "orange")  # no number tells: a person has to
NONE_SEEN = (
    ":material/search_off:",
    "not above chance in so few",
    "gray",
)  # unsure, but nothing beyond chance was seen

LEAKS_STAY = (
    "That ends none of the leaks below: it takes another method that writes new text, best one with a proof (ε)."
)
BOUND = "proven bound"  # in what would help where that is another method, which ends the leaks too


class Reason(NamedTuple):
    """What keeps a text from more readers in one sentence, what would help, the numbers, and what that does not end."""

    said: str
    help: str = ""
    numbers: str = ""
    stays: str = ""


def sentences(side: Examined) -> tuple[Sentence, ...]:
    """Return the engine's sentences about one run."""
    from engine.figures.privacy.proof_attack import violations

    passed = violations(side.roc, side.attacks, side.claim)
    if side.audit is not None and side.audit.violated:
        passed.append("the canary audit of this method")
    return privacy_verdict(side.findings, side.attacks, side.run.guarantee.as_dict(), passed)


def draw(workspace: engine.Workspace, sides: Sequence[Examined], *, folded: bool = False) -> None:
    """Draw the sentences in one box, most serious first; two runs in two columns; offer to examine an old run again.

    `folded`: only the answer is open, and how many sentences of which kind stand behind it.
    """
    with loading.waiting(loading.BOX):  # curves are held against claims, rules of every policy against findings
        said_of = [sentences(side) for side in sides]
        readers = [workspace.releases.audience(side.run.id) for side in sides]
    _answers(sides, readers, said_of)
    if not folded:
        _findings(workspace, sides, readers, said_of)
        return
    with st.expander(behind(said_of), key="privacy.folded"):
        _findings(workspace, sides, readers, said_of)


def behind(said_of: Sequence[Sequence[Sentence]]) -> str:
    """Return what a folded box holds: how many sentences of each kind, most serious first."""
    said = [badge(one) for sentences_of in said_of for one in ranked_sentences(sentences_of)]
    counts = {(word, colour): sum(one[1] == word for one in said) for _, word, colour in said}
    told = [f":{colour}[{n} {word}{'s' if n > 1 and word in COUNTED else ''}]" for (word, colour), n in counts.items()]
    return f"What was found: {', '.join(told)}"


def _findings(
    workspace: engine.Workspace,
    sides: Sequence[Examined],
    readers: Sequence[engine.Audience],
    said_of: Sequence[Sequence[Sentence]],
) -> None:
    """Draw what keeps each run's text from more readers, and every sentence."""
    _head(workspace, sides, readers, said_of)
    names = [called.noun(workspace, side.run.corpus_id) for side in sides]
    with st.container(border=True, key="privacy.verdict", gap="small"):
        columns = st.columns(len(sides), gap="medium")
        for column, side, said, name in zip(columns, sides, said_of, names, strict=True):
            with column:
                if len(sides) > 1:
                    st.markdown(f"**{plain(side.name)}**")
                for sentence in ranked_sentences(said) if len(sides) == 1 else said:  # two runs: line by line
                    _line(sentence, name, f"privacy.said.{side.run.id}.{said.index(sentence)}")
                if side.attacks is None:
                    _again(workspace, side)
        if why := as_many(sides[0].findings):
            st.caption(why)


def as_many(findings: Sequence[engine.Finding]) -> str:
    """Return why fewer records than were used are compared; empty where all of them are, or it is not known."""
    sizes = {f.reference: f.settings.get("reference_records") for f in findings if f.name == "verbatim_8gram"}
    used, aside = sizes.get("train"), sizes.get("holdout")
    if not used or not aside or int(used) <= int(aside):
        return ""
    return (
        f"Of {int(used):,} records used, {int(aside):,} are compared where a line says so: as many as were set aside, "
        "so that chance has the same number on both sides."
    )


def badge(sentence: Sentence) -> tuple[str, str, str]:
    """Return the icon, word and colour of a sentence."""
    if sentence.finding == "guarantee" and sentence.level == "leak":
        return BROKEN
    if sentence.look:
        return LOOK
    return NONE_SEEN if sentence.nothing else LEVELS[sentence.level]


def _line(sentence: Sentence, noun: tuple[str, str], key: str) -> None:
    """Draw one sentence in a line; where there is more to it, opened it says the whole."""
    icon, word, colour = badge(sentence)
    brief, text = (plain(called.said(noun, part)) for part in (sentence.brief, sentence.text))
    under = [plain(line) for line in called.said(noun, sentence.more).split("\n") if line]
    lead = f":{colour}[{icon} **{word}**] · {brief or text}"
    if not brief and not under:
        st.markdown(lead)
        return
    with st.expander(lead, key=key, type="compact"):
        if brief:
            st.markdown(text)
        for line in under:
            st.caption(line)


def _answers(
    sides: Sequence[Examined], readers: Sequence[engine.Audience], said_of: Sequence[Sequence[Sentence]]
) -> None:
    """Draw the answer first: to whom each run's text may go as measured, and how many leaks were found."""
    with st.container(key="privacy.head", gap="small"):
        for side, found, sentences_of in zip(sides, readers, said_of, strict=True):
            name = f"{plain(side.name)}: " if len(sides) > 1 else ""
            icon, reply = answer(found, side, leaks=any(one.level == "leak" for one in sentences_of))
            st.markdown(f"#### {icon} {name}{reply}{leaking(sentences_of)}")


def _head(
    workspace: engine.Workspace,
    sides: Sequence[Examined],
    readers: Sequence[engine.Audience],
    said_of: Sequence[Sequence[Sentence]],
) -> None:
    """Draw what keeps each run's text from going further, and what these answers assume."""
    with st.container(key="privacy.reasons", gap="small"):
        for side, found, sentences_of in zip(sides, readers, said_of, strict=True):
            if found.wider is not None:
                corpus = workspace.corpora.get(side.run.corpus_id)
                noun = called.noun(workspace, corpus.id)
                reason = why_not(found, side, corpus, sentences_of)
                _reason(Reason(*(plain(called.said(noun, part)) for part in reason)), side.run.id)
        with st.container(horizontal=True, vertical_alignment="center", key="privacy.head.next"):
            st.caption(
                "By the policies of the Release page. These answers assume that a person approves each record, signs, "
                "and rejects originals and long copies.",
                width="stretch",
            )
            _next(sides, readers)


def _reason(reason: Reason, run_id: str) -> None:
    """Draw what keeps a text from more readers in one line, which opens to its numbers, and what would help."""
    if reason.numbers:
        with st.expander(reason.said, key=f"privacy.head.numbers.{run_id}", type="compact"):
            st.caption(reason.numbers)
    else:
        st.markdown(reason.said)
    if reason.help:
        st.markdown(listed(reason.help))
    if reason.stays:
        st.markdown(reason.stays)


def listed(ways: str) -> str:
    """Return ways that a sentence numbers, (1) and (2), as a list below what stands before them."""
    head, *every = re.split(r" \(\d\) ", ways)
    if not every:
        return ways
    return "\n".join([head, "", *(f"{i}. {way[:1].upper()}{way[1:].rstrip(';.')}." for i, way in enumerate(every, 1))])


def _next(sides: Sequence[Examined], readers: Sequence[engine.Audience]) -> None:
    """Draw the way on from one run: where its records are decided on; none where its text may go nowhere."""
    if len(sides) != 1 or readers[0].policy is None or sides[0].run.stale:
        return
    if st.button(
        "Decide on the records", key=f"privacy.release.{sides[0].run.id}", icon=":material/fact_check:",
        **page_only("release"),
    ):  # fmt: skip
        choose_run(sides[0].run.id)
        go("release")


def why_not(found: engine.Audience, side: Examined, corpus: engine.CorpusSummary, said: Sequence[Sentence]) -> Reason:
    """Return what keeps a run's text from more readers: the rule that does, what would help, and its numbers.

    Where the findings are out of date no rule counts as met, and the worst of them is the reason. Else a rule that a
    measured number breaks comes before one that was not judged.
    """
    wider = found.wider
    if wider is None or not found.missing:
        return Reason("")
    if side.run.stale or side.run.examination_stale:
        worst = next((one for one in ranked_sentences(said) if one.level == "leak"), None)
        if worst is None:
            way = "it is made again and examined" if side.run.stale else "it is examined again"
            return Reason(f"Not for any readers until {way}: the findings below are out of date.")
        return Reason(
            f"The worst finding: {worst.brief or worst.text} Out of date as they are, the findings meet no rule."
        )
    broken = [rule for rule in found.missing if rule.passed is False and rule.value is not None]
    first = next(iter(broken), found.missing[0])
    others = len(found.missing) - 1
    more = f" {count_of(others, 'more rule')} {'stands' if others == 1 else 'stand'} in the way." if others else ""
    reason, numbers = not_shown(first, side, corpus, wider)
    leaks = any(one.level == "leak" for one in said) and side.run.guarantee.kind != "dp"
    stays = LEAKS_STAY if leaks and first.remedy and BOUND not in first.remedy else ""
    if reason:
        return Reason(f"{reason}{more}", helps(first), numbers, stays)
    not_met = f"Not for more readers ({wider.title}): the rule “{first.title}” is not met."
    return Reason(f"{not_met}{more}", helps(first), first.sentence, stays)


def helps(rule: engine.RuleVerdict) -> str:
    """Return what would turn a rule, as Release says it too."""
    return f"What would help: {rule.remedy}" if rule.remedy else ""


def not_shown(
    rule: engine.RuleVerdict, side: Examined, corpus: engine.CorpusSummary, wider: engine.Policy
) -> tuple[str, str]:
    """Return what is said where a rule on a difference fails by its interval or by unequal parts alone, else nothing.

    The difference itself is within the limit as the rule takes it, or clearly at equal sizes where the rule takes a
    larger part against a smaller one. Where neither is, the rule is not met by what was measured.

    Returns:
        The reason in words, and its numbers in sentences.
    """
    found = {
        f.reference: f.value for f in side.findings if f.name == rule.finding and f.reference in ("train", "holdout")
    }
    limit, worst = rule.threshold, rule.value
    if rule.passed is not False or limit is None or worst is None or worst <= limit or len(found) < 2:
        return "", ""
    if rule.reference != ABOVE:
        return "", ""
    value, share = found["train"] - found["holdout"], partial(show_measure, f"{rule.finding}{EXCESS}")
    equal = next((f for f in side.findings if f.name == f"{rule.finding}{EXCESS}" and f.reference == "holdout"), None)
    people = corpus.unit != "record"
    aside = count_of(corpus.holdout_units, "person", "people") if people else count_of(corpus.holdout_units, "record")
    units = "people" if people else "records"
    used = corpus.units - corpus.holdout_units
    numbers = (
        f"Rule “{rule.title}”: {used:,} {units} used, beside {aside} set aside: the difference is {share(value)}, by "
        f"its 95% interval up to {share(worst)}; the limit is {share(limit)}."
    )
    if value > limit:
        if equal is None or equal.low is None or equal.high is None or equal.high > limit:
            return "", ""
        numbers += (
            f" Of equally many on both sides it is {share(equal.value)} ({share(equal.low)} to {share(equal.high)})."
        )
    return f"For more readers ({wider.title}) this cannot be shown either way.", numbers


def answer(found: engine.Audience, side: Examined, *, leaks: bool) -> tuple[str, str]:
    """Return an icon and one sentence on who may read the text; what is out of date and shows no leak says nothing."""
    if not leaks and side.run.stale:
        return ":gray[:material/history:]", "Not known: the run has to be made again."
    if not leaks and side.run.examination_stale:
        return ":gray[:material/history:]", "Not known: examine it again."
    if found.policy is None:
        return ":red[:material/block:]", "It may not leave."
    readers = plain(found.policy.sentence.split(". ")[0].removeprefix("For ").rstrip("."))
    if found.policy.id == "exploratory":
        return ":orange[:material/visibility:]", f"It stays inside: for {readers}."
    return ":blue[:material/group:]", f"As measured, it may go to: {readers}."


def leaking(said: Sequence[Sentence]) -> str:
    """Return how many leaks were found and what they are called, as a sentence to follow; nothing without any."""
    found = [one.text.partition(":")[0] for one in said if one.level == "leak" and one.finding != "guarantee"]
    if not found:
        return ""
    return f" {count_of(len(found), 'leak')}: {', '.join(plain(one[:1].lower() + one[1:]) for one in found)}."


def _again(workspace: engine.Workspace, side: Examined) -> None:
    if side.run.stale:  # the page says above that the run has to be made again
        return
    st.button(
        "Examine again", key=f"privacy.examine_new.{side.run.id}", icon=":material/query_stats:",
        on_click=act, args=(workspace.jobs.examine, side.run.id), disabled=lacks(engine.Right.MANAGE),
        help="This run was examined before membership attacks were carried out. Examining takes some minutes.",
    )  # fmt: skip
