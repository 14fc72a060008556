"""Policy, gate, approval, bundle and data card."""

from engine.release.audience import Audience, audience
from engine.release.bundle import Bundle, verify, work_folder, write_bundle
from engine.release.card import CardFacts, DataCard, build_card
from engine.release.gate import GateFacts, basis, evaluate, waivable
from engine.release.intruder import INTRUDER_RULES, Intruder
from engine.release.missed import SPOT_RULES, Missed
from engine.release.policy import Policy, get_policy, load_policy, policies
from engine.release.verdicts import RuleVerdict, Verdict
from engine.release.waivers import Waiver, expiry_of, reason_of

__all__ = [
    "INTRUDER_RULES",
    "SPOT_RULES",
    "Audience",
    "Bundle",
    "CardFacts",
    "DataCard",
    "GateFacts",
    "Intruder",
    "Missed",
    "Policy",
    "RuleVerdict",
    "Verdict",
    "Waiver",
    "audience",
    "basis",
    "build_card",
    "evaluate",
    "expiry_of",
    "get_policy",
    "load_policy",
    "policies",
    "reason_of",
    "verify",
    "waivable",
    "work_folder",
    "write_bundle",
]
