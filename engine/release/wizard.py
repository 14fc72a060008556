"""Propose unit, cap, method and policy from six plain questions, and say why.

Pure: it reads answers and public quantities, never data. A proposal is a start; each part can be changed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from engine.dp.accounting.closed_form import default_delta, noise_multiplier, zcdp_rho
from engine.dp.guarantee import Guarantee
from engine.errors import UserError
from engine.methods.advice import sizes
from engine.release.policy.policy import Policy
from engine.release.policy.reach import Reach, reach
from engine.release.policy.remedies import Claim, proof_takes

Recipients = Literal["team", "organisation", "researchers", "public"]
About = Literal["unit", "cap", "method", "policy", "review", "label"]

POLICIES: dict[str, str] = {
    "team": "exploratory", "organisation": "internal", "researchers": "research", "public": "public",
}  # fmt: skip
OUTSIDE, PROOF = ("researchers", "public"), "proof"
ENOUGH_TEXTS = 50  # that private prediction should be able to write
PREDICTED_TOKENS = 100
ENOUGH_FOR_TUNING = 500  # outputs that a surrogate model is tuned on
ROUNDS = 10
EPSILON = 4.0  # where nobody says how much may be spent
CAP_WITHOUT_CLAIM = 20
DENSE = "Ask for dense votes in one round (votes: dense, rounds: 1)."


@dataclass(frozen=True)
class Answers:
    """What the custodian answered.

    Args:
        repeats: whether one person appears in more than one record.
        recipients: who will receive the text.
        label: whether records carry a label that outputs should carry too.
        private_beside: whether reviewers see private text beside the output before they approve it.
        units: persons (or records, where each stands alone) that a method may learn from, >= 0.
        epsilon: ε that a run may spend, > 0; noise, and so the least size of a corpus, depends on it.
        known_kind: whether the corpus is declared to hold a kind of text that the model can write. Votes choose among
            what it writes; where that is about something else they have nothing to choose.
        pool: whether a pool of text made elsewhere is here, to choose from.
    """

    repeats: bool
    recipients: Recipients
    label: bool
    private_beside: bool
    units: int
    epsilon: float = EPSILON
    known_kind: bool = False
    pool: bool = False


@dataclass(frozen=True)
class Reason:
    """One sentence and what it speaks for."""

    about: About
    sentence: str


@dataclass(frozen=True)
class Proposal:
    """A unit of protection, a cap of records a unit, a method and a policy, with reasons.

    others: methods with a guarantee that suit the answers too, each with its reason.
    """

    unit: Literal["record", "source"]
    cap: int
    method: str
    policy: str
    reasons: tuple[Reason, ...]
    others: tuple[tuple[str, str], ...] = ()


def policy_for(recipients: str, *, proven: bool) -> str:
    """Return the id of the policy that a run is held against before a person chooses one.

    That of its readers; “Proof alone” where they are outside and the run has a proof that this policy takes: an
    examination closes it for good, and a policy with measurements stays open.

    Args:
        recipients: who will receive the text, one of `Recipients`.
        proven: whether the run has a proof that “Proof alone” takes, and nobody examined it, wholly or in part.
    """
    return PROOF if proven and recipients in OUTSIDE else POLICIES[recipients]


def proof_taken(claim: Guarantee) -> bool:
    """Return whether “Proof alone” takes a guarantee, as far as that goes: a proof, of an ε that is small enough."""
    return proof_takes(Claim(claim.kind, claim.epsilon, claim.delta))


def enough_for(recipients: str, *, beside: bool = False) -> tuple[str, ...]:
    """Return the ids of the policies under which text may go to these readers, widest first.

    Args:
        recipients: who will receive the text, one of `Recipients`. beside: whether reviewers hold it beside private
            text before they approve it, after which no proof stands for what leaves.
    """
    order = [PROOF, *(POLICIES[name] for name in ("public", "researchers", "organisation", "team"))]
    return tuple(order[1 if beside else 0 : order.index(POLICIES[recipients]) + 1])


def reach_of(policies: Sequence[Policy], claim: Guarantee, *, aside: int) -> Reach:
    """Return what a planned run of this guarantee could be released under.

    Args:
        policies: all there are. claim: what the run would promise. aside: people (or records) set aside, >= 0.
    """
    return reach(policies, Claim(claim.kind, claim.epsilon, claim.delta), aside=aside)


def propose(answers: Answers, available: Collection[str] | None = None) -> Proposal:
    """Return what suits the answers.

    Args:
        answers: the six answers.
        available: ids of the methods on offer; None means all. The first suitable one is taken.

    Raises:
        UserError: an answer is out of range, or no suitable method is on offer.
    """
    if answers.recipients not in get_args(Recipients):
        raise UserError(f"recipients: must be one of {', '.join(get_args(Recipients))}, got {answers.recipients!r}")
    if answers.units < 0:
        raise UserError(f"units: must be at least 0, got {answers.units}")
    if not 0.01 <= answers.epsilon <= 100.0:
        raise UserError(f"epsilon: must be from 0.01 to 100, got {answers.epsilon:g}")
    method, why = next(
        ((name, why) for name, why in _suited(answers) if available is None or name in available), (None, "")
    )
    if method is None:
        raise UserError("method: none of the methods on offer suits these answers; choose one by its card")
    cap = _cap(answers, formal=method in FORMAL)
    reasons = [_unit_reason(answers), *_cap_reason(answers, cap, method), Reason("method", why)]
    reasons += _label_reason(answers, method)
    reasons += [Reason("policy", POLICY_REASONS[answers.recipients]), *_review_reason(answers, method)]
    others = tuple(
        (name, why)
        for name, why in (_suited(answers) if method in FORMAL else ())
        if name in NOISY and name != method and (available is None or name in available)
    )
    return Proposal(
        "source" if answers.repeats else "record", cap, method, POLICIES[answers.recipients], tuple(reasons), others
    )


LEAST_SHOWN, MOST_SHOWN = 3, 5
NOTHING_SPENT = "Reads no private text at all, so nothing is spent: what a budget buys is seen beside it."


@dataclass(frozen=True)
class Recommended:
    """A method for the answers, and why; `fits` is False where it would suit a larger corpus or a larger budget."""

    method: str
    why: str
    fits: bool = True


def recommended(answers: Answers, available: Collection[str]) -> tuple[Recommended, ...]:
    """Return up to five methods for the answers, best first; the first one is what `propose` proposes.

    Where fewer than three suit, methods with a bound follow that take more people than there are.
    """
    propose(answers, available)  # which says what is wrong with an answer
    suited = [Recommended(name, why) for name, why in _suited(answers) if name in available]
    known = {one.method for one in suited}
    rest = [Recommended(name, why) for name, why in _besides(answers) if name in available and name not in known]
    found = (suited[: MOST_SHOWN - 1] + rest if rest else suited)[:MOST_SHOWN]
    if len(found) < LEAST_SHOWN and answers.recipients == "public":
        least, known = sizes.least_units(answers.epsilon), {one.method for one in found}
        why = f"Takes about {least:,} people at this strength; {answers.units:,} may be learned from."
        found += [
            Recommended(name, why, fits=False)
            for name in ("dp-topics", "aug-pe")
            if name in available and name not in known
        ]
    return tuple(found[:MOST_SHOWN])


def _besides(answers: Answers) -> list[tuple[str, str]]:
    """Return what else the policy of the recipients accepts, with reasons; none of it is better than what suits."""
    if answers.recipients == "public":
        return [("public", NOTHING_SPENT)]
    blocked = ("control-icl-blocked", "It writes new text in the manner of the records and refuses each identifier "
               "that was found; nothing is proven.")  # fmt: skip
    public = ("public", "Reads no private text at all: the yardstick for what the others take from the records.")
    if answers.recipients in ("team", "organisation"):
        return [blocked]
    return [blocked, public]


FORMAL = ("dp-topics", "aug-pe", "dp-select", "dpga", "rpsg-public", "dp-finetune", "private-prediction", "public")
NOISY = ("dp-topics", "aug-pe", "dp-select", "dpga", "rpsg-public", "dp-finetune", "private-prediction")
POLICY_REASONS: dict[str, str] = {
    "team": "Whoever receives the text may read the original anyway, so leaks must be known but need no limit.",
    "organisation": "Colleagues under the same duties may see whole sentences, but no identifiers of people.",
    "researchers": "Readers outside your duties need strict limits on identifiers and copies, and every record read.",
    "public": "What is public cannot be taken back, so measurements are not enough: the policy asks for a formal "
    "guarantee and a second person's signature.",
}


def _suited(answers: Answers) -> list[tuple[str, str]]:
    """Return suitable methods with their reasons, best first."""
    n = f"{answers.units:,}"
    surrogate = ("surrogate", "It keeps the wording and changes only what identifies people: the truest text for "
                 "readers who may see the original.")  # fmt: skip
    rewrite = ("filter", "It writes new text and takes identifiers out before, while and after writing; nothing is "
               "proven, so what it leaks is measured.")  # fmt: skip
    if answers.recipients == "team":
        return [surrogate, rewrite]
    if answers.recipients == "organisation":
        return [rewrite, surrogate]
    if answers.recipients == "researchers" and answers.private_beside:
        beside = ("rpsg", "Reviewers will hold each output against private text, which no formal guarantee survives. "
                  "This method makes one output from one record, so the two can be held side by side.")  # fmt: skip
        return [beside, rewrite] if answers.units >= ENOUGH_FOR_TUNING else [rewrite]
    last = rewrite
    if answers.recipients == "public":
        least = sizes.least_units(answers.epsilon)
        last = ("public", NOTHING_SPENT) if answers.units >= least else (
            "public", f"At this strength a method with a guarantee takes about {least:,} people, and {n} may be "
            "learned from: nobody has measured one with so few, so a budget could be spent for nothing. This method "
            "reads no private text at all."
        )  # fmt: skip
    return [*_formal(answers), last]


def _formal(answers: Answers) -> list[tuple[str, str]]:
    """Return methods with a guarantee whose statistics stand out from their noise at this size, best first.

    Where a pool is here, choosing from it stands second: whether it holds the same kind of text, only a person knows.
    """
    found = _by_size(answers)
    return [*found[:1], _from_a_pool(answers), *found[1:]] if found and answers.pool else found


def _from_a_pool(answers: Answers) -> tuple[str, str]:
    """Return the choice among texts made elsewhere, and what the study `dp-methods` measured of it."""
    return (
        "dp-select",
        f"A pool of text made elsewhere is here. Private text votes among its texts once, and {answers.units:,} are "
        f"enough for that at ε = {answers.epsilon:g}; what is chosen stays as it was written. Where the pool held the "
        "same kind of text, nothing measured on 3,000 and more was nearer. Choose it by what is publicly known of the "
        "pool.",
    )


def _by_size(answers: Answers) -> list[tuple[str, str]]:
    """Return methods that write by themselves, best first.

    The order is that of the study `dp-methods` with the built-in model on adverse-event reports, n = 1,000, ε = 1 and
    4, three runs each, kernel distance to real text. Where nothing is declared: public text 2.24, one round of dense
    votes 1.78, topics .33 and .26, and of one run each `dpga` 1.6 and 1.5, `rpsg-public` 2.2. Where the kind is
    declared and known: public text .39, votes .09, topics .14 and .12, which can be told apart at ε = 4 alone. One vote
    over public candidates (`rpsg-public`) is not recommended. On 300 abstracts of bioRxiv, unlike what the model knows:
    public text .77, votes .61 and .55, topics .55 and .51, which cannot be told apart. On 3,000, 10,000 and 16,400 of
    the reports, kind declared: public text .36, votes .06 to .07, topics .12 to .14, at ε = 1 as at 4.
    """
    if answers.units < sizes.least_units(answers.epsilon):
        return []
    n, delta = f"{answers.units:,}", default_delta(answers.units)
    one, many = (noise_multiplier(answers.epsilon, delta, count) for count in (1, ROUNDS))
    known = answers.known_kind
    what = (
        "The model knows this kind of text, and then nothing measured came clearly nearer."
        if known
        else "Where the model does not know the kind of text, there is little for votes to choose from: say on Plan "
        "what the corpus holds, if it is a kind that the model knows."
    )
    dense = (
        "aug-pe",
        f"Private text scores public candidates once, with noise of σ = {one:.1f} on each sum at ε = "
        f"{answers.epsilon:g}, and those are kept that together would score alike; {n} are enough for that. {DENSE} "
        f"{what}",
    )
    topics = (
        "dp-topics",
        f"Private text is counted once, by public topics, which asks for the fewest people: of {n}, at "
        f"ε = {answers.epsilon:g}, topics are seen that many of them share. A model then writes from the key words of "
        "the topics that were found, so it is told what to write about"
        f"{'' if known else ', which matters most where it does not know the kind of text'}.",
    )
    few = [dense, topics] if known else [topics, dense]
    if answers.units < sizes.single_vote_units(answers.epsilon):
        return few
    votes = (
        "aug-pe",
        f"Private text votes for public candidates, with noise, in {ROUNDS} rounds. {n} are enough to vote: at "
        f"ε = {answers.epsilon:g} a count has noise of σ = {many:.1f} for each record a unit may add. {DENSE} {what}",
    )
    metadata = (
        "dpga",
        f"{n} are enough to buy words and lengths besides the rounds of votes, and labels to group them by are there.",
    )
    training, prediction = _training(answers), _prediction(answers, delta)
    if answers.units < sizes.voting_units(answers.epsilon):
        return [*few, *prediction]
    if not known:  # told what to write about, or taught it, a model need not know it before
        learned = [*training, topics] if answers.repeats else [topics, *training]
        grouped = [metadata] if answers.label and answers.units >= sizes.metadata_units(answers.epsilon) else []
        return [*learned, *grouped, votes, *prediction]
    if answers.units < sizes.metadata_units(answers.epsilon):
        return [votes, topics, *training, *prediction]
    if answers.label:
        return [metadata, *training, votes, *prediction]
    # Votes cost noise for every record of a person; a person's gradient is cut once.
    return [*training, votes, *prediction] if answers.repeats else [votes, *training, *prediction]


def _training(answers: Answers) -> list[tuple[str, str]]:
    """Return training with noise where enough take part in it."""
    if answers.units < sizes.training_units(answers.epsilon):
        return []
    why = (
        f"The noise of training is the same for few and for many, and {answers.units:,} are enough at ε = "
        f"{answers.epsilon:g} to learn from under it how these texts are written. The model then writes any number of "
        "them. It takes hours."
    )
    if answers.repeats:
        why += " Records of one person are averaged before they count, so several cost no more noise than one."
    return [("dp-finetune", why)]


def _prediction(answers: Answers, delta: float) -> list[tuple[str, str]]:
    """Return private prediction where its batches are large enough to be heard and still many.

    A clip as long as the temperature, C = τ, takes s = √(T / 2ρ) records a batch (InvisibleInk, theorem 2).
    """
    batch = math.ceil(math.sqrt(PREDICTED_TOKENS / (2.0 * zcdp_rho(answers.epsilon, delta))))
    texts = answers.units // batch
    if texts < ENOUGH_TEXTS:
        return []
    return [(
        "private-prediction",
        f"Batches of {batch} records draw every word together: at ε = {answers.epsilon:g} that is enough for their "
        f"common manner to come through, and {answers.units:,} make {texts:,} batches, each with one text of "
        f"{PREDICTED_TOKENS} tokens. Few texts, but near to the records.",
    )]  # fmt: skip


def _cap(answers: Answers, *, formal: bool) -> int:
    """Return how many records a unit may contribute."""
    if not answers.repeats:
        return 1
    if not formal:
        return CAP_WITHOUT_CLAIM
    return 3 if answers.units < 10_000 else 5


def _unit_reason(answers: Answers) -> Reason:
    if answers.repeats:
        return Reason("unit", "One person has several records, so all records of a person are protected together; "
                      "a promise about single records would fall short of the person.")  # fmt: skip
    return Reason("unit", "Nobody appears twice, so protecting a record protects the person.")


def _cap_reason(answers: Answers, cap: int, method: str) -> list[Reason]:
    if not answers.repeats:
        return []
    if method == "dp-finetune":
        return [Reason("cap", f"{cap} records of one person are averaged into one gradient, so the noise of training "
                       "does not grow with the cap; that of bought shares does.")]  # fmt: skip
    if method == "private-prediction":
        return [Reason("cap", f"One of at most {cap} records of a person takes part unless you ask for more; r of them "
                       "cost r² as much.")]  # fmt: skip
    if method in NOISY:
        return [Reason("cap", f"Noise grows in proportion to the cap, so it is low: {cap} records of one person are "
                       "used, chosen in an order that says nothing about them.")]  # fmt: skip
    return [Reason("cap", f"No noise depends on it here; {cap} records keep one person from standing for many.")]


def _label_reason(answers: Answers, method: str) -> list[Reason]:
    if method not in NOISY:
        return []
    if answers.label:
        return [Reason("label", "How common each label is counts as private: it is bought with a small share of the "
                       "budget, unless you declare the shares public.")]  # fmt: skip
    return [Reason("label", "Without labels no part of the budget goes into their shares.")]


def _review_reason(answers: Answers, method: str) -> list[Reason]:
    if method not in FORMAL:
        return []
    if answers.private_beside:
        return [Reason("review", "Let reviewers see the synthetic text alone. Leaving records out after a look at "
                       "private text would turn the guarantee into one before selection only.")]  # fmt: skip
    return [Reason("review", "Reviewers see the synthetic text alone. Under the policy “Proof alone”, "
                   "before any examination, the guarantee stays whole; every other policy looks at private data "
                   "first.")]  # fmt: skip
