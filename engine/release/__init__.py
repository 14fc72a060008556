"""Policy, gate, approval, bundle and data card."""

from engine.release.audience import Audience, audience
from engine.release.bundle import Bundle, verify, work_folder, write_bundle
from engine.release.card import CardFacts, DataCard, build_card
from engine.release.gate import GateFacts, RuleVerdict, Verdict, evaluate
from engine.release.policy import Policy, get_policy, load_policy, policies

__all__ = [
    "Audience",
    "Bundle",
    "CardFacts",
    "DataCard",
    "GateFacts",
    "Policy",
    "RuleVerdict",
    "Verdict",
    "audience",
    "build_card",
    "evaluate",
    "get_policy",
    "load_policy",
    "policies",
    "verify",
    "work_folder",
    "write_bundle",
]
