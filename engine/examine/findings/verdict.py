"""Say in plain sentences what the findings mean for privacy: five of them; uses have a table in `uses`.

Thresholds are fixed here, before any run is looked at:
- privacy compares the training part with the holdout at equal size (`_excess`). An excess whose interval lies
  above 0 is `leak`; one whose upper end is at most `NEGLIGIBLE` is `chance`; anything else `unsure`. The sentence
  names the shares that were compared, not the one against the whole training part. Closeness on average, whose
  excess lies above 0 but nowhere above `NEGLIGIBLE`, is `slight`. Where a sentence chooses among
  several measures, it says `leak` of one whose interval stays above 0 when all of them are to hold together.
- of an `unsure` one nothing was seen (`Sentence.nothing`) where no measure of its kind exceeds the holdout by more than
  `NEGLIGIBLE`, nor could by more than `BARELY`, and where copies of the whole training part are as rare; the sentence
  then says what cannot be excluded.
- attacks are judged together (`engine.examine.stats.simultaneous`), a proof by its trade-off curve
  (`engine.figures.privacy.proof_attack`).

Light: the web process imports this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.dp.upward import upward
from engine.examine.findings.findings import Finding
from engine.examine.findings.leak_words import CANARIES, CLOSENESS, COPY_WORDS, DETAILS, IDENTIFIERS
from engine.examine.findings.leaked import leaked
from engine.examine.findings.losses import find
from engine.examine.findings.sentence import Sentence
from engine.examine.findings.uses import unreadable
from engine.examine.measures import show
from engine.examine.stats.simultaneous import membership, wider
from engine.json_types import JSONObject

if TYPE_CHECKING:
    import pandas as pd

ALONE = "strict_elp_direct"  # the settings of it and of its share of records count what one person alone has
_PRIVACY = (("Real identifiers", IDENTIFIERS), ("Copied text", COPY_WORDS), ("Closeness", CLOSENESS))


def privacy_verdict(
    findings: Sequence[Finding],
    attacks: pd.DataFrame | None = None,
    guarantee: JSONObject | None = None,
    violations: Sequence[str] = (),
) -> tuple[Sentence, ...]:
    """Return the sentences: identifiers, copies, membership, closeness, formal claim; each with its level.

    Where the corpus holds planted canaries they get a sentence too, and so do attacks that see the generator, direct
    identifiers that one person alone has, and details of people that are linked or guessed more often than chance.

    Args:
        findings: of one run. attacks: its table of attacks, None where the examination has none.
        guarantee: the run's claim (`Guarantee.as_dict()`).
        violations: titles of attacks whose simultaneous lower band lies above the claim's trade-off curve.
    """
    identifiers, copies, closeness = (leaked(findings, title, words) for title, words in _PRIVACY)
    canaries = [leaked(findings, "Planted canaries", CANARIES)] if find(findings, "canary_echo", "train") else []
    claim = formal(guarantee or {}, violations)
    nothing = _says_nothing(findings)
    if nothing:
        identifiers, copies, closeness = (_hollow(one) for one in (identifiers, copies, closeness))
    found = (
        *nothing, identifiers, *_of_one_person(findings), copies, *canaries, *_details(findings),
        *membership(attacks), closeness,
    )  # fmt: skip
    if claim.level == "proof" and (guarantee or {}).get("epsilon") == 0:
        found = tuple(_untouched(one) for one in found)
    return (*found, claim)


def given_away(findings: Sequence[Finding], guarantee: JSONObject | None = None) -> tuple[Sentence, ...]:
    """Return the sentences that say that identifiers, text or canaries are given away more than chance explains."""
    known = {name for words in (IDENTIFIERS, COPY_WORDS, CANARIES) for name, _ in words}
    found = privacy_verdict(findings, None, guarantee)
    return tuple(one for one in found if one.level == "leak" and one.finding in known)


def _of_one_person(findings: Sequence[Finding]) -> list[Sentence]:
    """Return the sentence about direct identifiers of one person alone, where the text holds any in full.

    No share can tell whether a single one is chance, and a single one may be the harm: a person has to look.
    """
    train, holdout = (find(findings, ALONE, reference) for reference in ("train", "holdout"))
    count = 0 if train is None else int(train.settings.get("alone") or 0)
    if train is None or not count:
        return []
    texts, among = int(train.settings.get("alone_texts") or 0), int(train.settings.get("alone_of") or 0)
    says, records = "stands" if count == 1 else "stand", "record" if texts == 1 else "records"
    beside = ""
    if holdout is not None and holdout.settings.get("alone_of"):
        of = int(holdout.settings["alone_of"])
        beside = f"; of {of:,} such identifiers of people that nobody used, {int(holdout.settings['alone']):,}"
    return [Sentence(
        f"Identifiers of one person alone: {count:,} of {among:,} full names, numbers and addresses {says} in the text "
        f"in full{beside}. Look at them under Leaks: no share tells whether a single one is chance.",
        "unsure", ALONE, f"{'It is' if count == 1 else 'They are'} in {texts:,} synthetic {records}.", look=True,
    )]  # fmt: skip


def leading(
    findings: Sequence[Finding], name: str, guarantee: JSONObject | None = None
) -> Sentence | None:  # fmt: skip
    """Return the sentence that leads on identifiers or copies where `name` counts one of them, else None.

    So whoever quotes another number of the same kind can say beside it what is judged.
    """
    family = next((words for words in (IDENTIFIERS, COPY_WORDS) if name in dict(words)), None)
    if family is None:
        return None
    known = {one for one, _ in family}
    return next((one for one in privacy_verdict(findings, None, guarantee) if one.finding in known), None)


_OCCURS = (
    ("the text gives away values of records used", "values of records used also occur in the text"),
    ("give away a private value of", "hold a value that also occurs in"),
    ("give away a direct identifier of", "hold a direct identifier that also occurs in"),
    ("repeat eight words in a row from", "hold eight words in a row that also occur in"),
    ("repeat eight words in a row of", "hold eight words in a row that also occur in"),
)  # of text that no private record went into


def _untouched(sentence: Sentence) -> Sentence:
    """Return a sentence about text that no private record went into, with what a leak there can only be.

    Such a text gives nothing away: a value that stands in both also occurs in it.
    """
    words = [sentence.text, sentence.more]
    for said, meant in _OCCURS:
        words = [text.replace(said, meant) for text in words]
    if sentence.level not in ("leak", "slight") and sentence.finding != ALONE:
        return replace(sentence, text=words[0], more=words[1])
    text = (
        f"{words[0]} No private record went into this text (ε = 0), so this is chance, or what the corpus shares "
        "with public text."
    )
    return Sentence(text, "unsure", sentence.finding, words[1])


def _says_nothing(findings: Sequence[Finding]) -> list[Sentence]:
    """Return the sentence about text that cannot be read, where clearly fewer records can be read than real ones."""
    ours, real = (find(findings, "readable", reference) for reference in ("none", "baseline"))
    if ours is None or not unreadable(findings):
        return []
    beside = "" if real is None else f", of real records that nobody used {show('readable', real.value)}"
    text = (
        f"Readability: only {show('readable', ours.value)} of the synthetic records can be read{beside}. "
        "This text repeats nothing because it says nothing."
    )
    return [Sentence(text, "unsure", "readable")]


def _hollow(sentence: Sentence) -> Sentence:
    """Return a sentence that finds no leak, with what it is worth for text that says nothing."""
    if sentence.level not in ("chance", "unsure"):
        return sentence
    text = f"{sentence.text} This text repeats nothing because it says nothing, so that proves little."
    return Sentence(text, "unsure", sentence.finding, sentence.more)


def _details(findings: Sequence[Finding]) -> list[Sentence]:
    """Return a sentence about details linked or guessed where one stands out, all of them looked at together."""
    clear, grown = [], wider(len(DETAILS))
    for name, words in DETAILS:
        found = find(findings, f"{name}_excess", "holdout")
        if found is not None and found.low is not None and found.value - grown * (found.value - found.low) > 0:
            clear.append((name, words))
    return [leaked(findings, "Details of people", clear)] if clear else []


def ranked(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return what is serious first: a broken claim, leaks, what a person has to look at, what cannot be told, the rest.

    The claim comes last.
    """

    def place(sentence: Sentence) -> int:
        if sentence.finding == "guarantee":
            return 0 if sentence.level == "leak" else 6
        if sentence.look:
            return 2
        return {"leak": 1, "slight": 3, "unsure": 3, "unknown": 4}.get(sentence.level, 5)

    return sorted(sentences, key=place)


def formal(guarantee: JSONObject, violations: Sequence[str] = ()) -> Sentence:
    """Return the sentence about what is proven, and whether an attack passes it."""
    epsilon, delta = guarantee.get("epsilon"), guarantee.get("delta")
    if guarantee.get("kind") != "dp" or not isinstance(epsilon, int | float):
        return Sentence(
            "Formal claim: nothing is proven about this method. A better attack could find more than these did.",
            "no proof", "guarantee",
        )  # fmt: skip
    if epsilon == 0 and not violations:
        return Sentence("Formal claim: ε = 0. No private record went into this text.", "proof", "guarantee")
    unit = "person whose records these are" if guarantee.get("unit") == "source" else "record"
    allowed = upward(delta if isinstance(delta, float) else 0.0, 2)
    claim = f"Formal claim: ε = {upward(epsilon)} at δ = {allowed} for each {unit}"
    if violations:
        return Sentence(
            f"{claim} cannot hold: “{violations[0]}” finds more than it allows. Do not release before this is "
            "explained.", "leak", "guarantee",
        )  # fmt: skip
    return Sentence(f"{claim}, whatever an attacker knows or tries; no attack passed it.", "proof", "guarantee")
