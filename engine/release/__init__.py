"""Policy, gate, approval, bundle and data card.

    policy/       what must be true before records may leave, and whether it is
    card/         what is said of the records to those who get them
    bundle/       files, their checks and signatures
    assessment/   the assessment file of a run
    wizard        unit, cap, method and policy proposed from six plain questions
    copies        released texts that share too long a run of words with a private source
    sbom          what the program is made of; strict_yaml: files that people write, read strictly

May import `engine.figures` and below. One more policy: a file in `assets/policies`; one more rule: see `policy`.
"""

from engine.release.bundle.bundle import Bundle, verify, work_folder, write_bundle
from engine.release.card.card import CardFacts, DataCard, build_card
from engine.release.policy.audience import Audience, audience
from engine.release.policy.facts import Chosen, GateFacts
from engine.release.policy.gate import basis, evaluate, in_order, out_of_reach, waivable
from engine.release.policy.intruder import INTRUDER_RULES, Intruder
from engine.release.policy.missed import SPOT_RULES, Missed
from engine.release.policy.policy import Policy, get_policy, load_policy, policies
from engine.release.policy.remedies import Making
from engine.release.policy.second import SecondPerson
from engine.release.policy.verdicts import RuleVerdict, Verdict
from engine.release.policy.waivers import Waiver, expiry_of, reason_of

__all__ = [
    "INTRUDER_RULES",
    "SPOT_RULES",
    "Audience",
    "Bundle",
    "CardFacts",
    "Chosen",
    "DataCard",
    "GateFacts",
    "Intruder",
    "Making",
    "Missed",
    "Policy",
    "RuleVerdict",
    "SecondPerson",
    "Verdict",
    "Waiver",
    "audience",
    "basis",
    "build_card",
    "evaluate",
    "expiry_of",
    "get_policy",
    "in_order",
    "load_policy",
    "out_of_reach",
    "policies",
    "reason_of",
    "verify",
    "waivable",
    "work_folder",
    "write_bundle",
]
