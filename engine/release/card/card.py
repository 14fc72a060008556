"""Write the data card: what a reader outside may know about how the records came about.

Privacy posture: the card is built from the method, its settings, the guarantee and the policy
alone. No finding, corpus statistic or record reaches this module, free-text settings are left out,
and so is the seed, with which a reader could repeat a generation to confirm a guess.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypedDict

from engine.dp.guarantee import Guarantee
from engine.json_types import JSON, JSONObject, as_list, as_object
from engine.methods.base import MethodSpec
from engine.release.bundle.export import FORMULA_NOTE
from engine.release.policy.policy import NO_LEAK, IntruderRule, MissedRule, Policy
from engine.release.policy.second import SecondPerson
from engine.release.policy.verdicts import RuleVerdict

BUILT_IN = "the one built into Understudy, small and made for trying out"
NOT_SHOWN = "not shown"
KIND_WORDS = {
    "none": "No formal guarantee",
    "heuristic": "No formal guarantee (a heuristic)",
    "selection-only": "A formal guarantee for the selection step only",
    "dp": "Differential privacy",
}
LIMITS = (
    "The records are not observations. Do not report counts, rates or quotations from them as facts about people.",
    "A record may resemble a real one by chance, and may still hold something true about a real person.",
    "Records were approved one by one or in bulk by the custodian.",
    "Measurements of leakage and usefulness were made on private data. They stay with the custodian.",
)
NEW_TEXT = "Rare events, rare wordings and links between records are weaker here than in the original."
KEPT_TEXT = (
    "Events, wordings and what several records tell of one person are those of the original, so they can point to a "
    "real person."
)
UNREAD_TEXT = "No original was read for them: what they tell of is invented, and says nothing of what happened there."
REPLACED_TEXT = "the original text, identifying values that were found replaced by invented ones"
HELD_BACK = "How many records were held back is not stated."
NOT_SEARCHED = "Longer runs of words from the original were not searched for: the policy does not ask for it."
NONE_HELD_BACK = "No record of the run was held back."
NOT_ORIGINALS = "No record equals an original."
NOT_COMPARED = (
    "They were not compared with the originals, since leaving records out by such a comparison would end the proof."
)
MAYBE_COMPARED = (
    "Before the release they may have been compared with the originals, by measurements or in search of copies; the "
    "proof does not cover what was left out, or released, because of it."
)
BEFORE_SELECTION = (
    "The statement is differential privacy before selection: it covers the run's complete output. A policy or a person "
    "then chose among the records, or looked at measurements of private data before the release, and the statement "
    "does not cover that choice."
)
WHOLE = (
    "The statement covers these records as they are: the run's complete output was released, and nothing computed from "
    "private data outside the stated mechanisms chose among them, as far as the workspace that released them knows; it "
    "knows of no look at them elsewhere. It does not cover why this run was made and released rather than another one "
    "of the same people."
)
MEANT = "Meant for (how well it serves is not stated here):"
INTENDED = (
    "Building and testing software that handles text of this kind.",
    "Teaching, and trying out methods before they run on real records under the custodian's rules.",
)
NOT_INTENDED = (
    "For statements about people, about how common something is, or for decisions on anybody.",
    "To find out who or what stands behind a record, or to link records with other data.",
    "In place of the original where a result depends on single events, names, dates or numbers.",
)
NEIGHBOURS = {  # what a claim compares with: unit -> adjacency -> words
    "source": {"zero-out": "with the same data without them", "replace-one": "with another source's in their place"},
    "record": {"zero-out": "with the same data without it", "replace-one": "with another record in its place"},
}
UNITS = {"record": "one record", "source": "all records of one person or other source"}
MECHANISMS = {
    "gaussian": "Gaussian noise",
    "laplace": "Laplace noise",
    "pure": "a mechanism of pure ε",
    "zcdp": "a mechanism of zero-concentrated loss",
    "declared": "declared public, without noise",
    "selection": "a choice among given candidates",
    "parallel": "the same on people whom no other part reads",
}
LEFT_OUT = (
    "Results of measurements; counts and statistics of the original, apart from those that this card names as public "
    "or bought with noise; its name unless given above; source records; columns other than text and label; ids of the "
    "run; free-text settings; the seed."
)


@dataclass(frozen=True)
class CardFacts:
    """All a card may say. `source` to `recipient` are public words the custodian typed, or empty.

    review: day, as ISO 8601, by which the custodian looks again at whether the release can stand; or empty.

    selected: somebody, or a rule, may have chosen among the run's records after private data were looked at.
    waived: rules that are not met and that a person waived. second: who signed, where the policy asks for one.
    """

    method: MethodSpec
    guarantee: Guarantee
    policy: Policy
    parameters: JSONObject = field(default_factory=dict)
    model: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    source: str = ""
    contact: str = ""
    licence: str = ""
    purpose: str = ""
    recipient: str = ""
    review: str = ""
    created: str = ""
    selected: bool = True
    waived: tuple[RuleVerdict, ...] = ()
    second: SecondPerson | None = None


class CardMethod(TypedDict):
    """What the card says of the method."""

    id: str
    title: str
    summary: str
    origin: str
    citation: str


class CardPolicy(TypedDict):
    """What the card says of the policy, what was checked, and what was waived."""

    id: str
    title: str
    sentence: str
    checked: list[str]
    waived: list[str]


class CardSetting(TypedDict):
    """One setting: what it means in words, and its value."""

    setting: str
    value: JSON


class CardContent(TypedDict):
    """What the card says; settings by what they mean, never by their name inside the program."""

    title: str
    created: str
    source: str
    contact: str
    licence: str
    purpose: str
    recipient: str
    review: str
    second_person: dict[str, str]
    intended: list[str]
    not_intended: list[str]
    method: CardMethod
    model: str
    settings: list[CardSetting]
    settings_not_shown: list[str]
    guarantee: dict[str, JSON]
    policy: CardPolicy
    columns: dict[str, str]
    comparison: str
    limits: list[str]
    left_out: str
    formulas: str
    versions: dict[str, str]


@dataclass(frozen=True)
class DataCard:
    """The card as Markdown and as a JSON-ready mapping with the same content; `formal` is its claim in numbers.

    `keeps_text` says that the records are original text in which values were replaced.
    """

    markdown: str
    content: CardContent
    formal: str = ""
    keeps_text: bool = False

    def json(self) -> str:
        """Return the mapping as indented JSON."""
        return json.dumps(self.content, ensure_ascii=False, indent=2) + "\n"


def untitled(method: MethodSpec) -> str:
    """Return what records of a method are called where nobody gave them a title."""
    return "Text records with invented identifying values" if method.keeps_text else "Synthetic text records"


def build_card(facts: CardFacts) -> DataCard:
    """Return the card for one release."""
    shown, hidden = _settings(facts)
    content: CardContent = {
        "title": _one_line(facts.title) or untitled(facts.method),
        "created": facts.created or datetime.now(UTC).date().isoformat(),
        "source": _one_line(facts.source) or "not named",
        "contact": _one_line(facts.contact) or "not given",
        "licence": _one_line(facts.licence) or "not stated; ask before you pass these records on",
        "purpose": _one_line(facts.purpose) or "not stated",
        "recipient": _one_line(facts.recipient) or "not named",
        "review": _one_line(facts.review) or "no day was set",
        "second_person": {} if facts.second is None else facts.second.as_dict(),
        "intended": list(INTENDED),
        "not_intended": list(NOT_INTENDED),
        "method": {
            "id": facts.method.id,
            "title": facts.method.title,
            "summary": facts.method.summary,
            "origin": facts.method.origin,
            "citation": facts.method.citation,
        },
        "model": (facts.model or "not recorded") if "generator" in facts.method.needs else "none",
        "settings": shown,
        "settings_not_shown": hidden,
        "guarantee": _guarantee(facts.guarantee, facts.selected),
        "policy": _policy(facts),
        "columns": {
            "id": "fresh, random, without meaning",
            "text": REPLACED_TEXT if facts.method.keeps_text else "synthetic text",
            "label": "only if the run has one",
        },
        "comparison": _comparison(facts),
        "limits": _limits(facts),
        "left_out": LEFT_OUT,
        "formulas": FORMULA_NOTE,
        "versions": dict(facts.versions),
    }
    formal = _formal(facts.guarantee) if facts.guarantee.kind == "dp" else ""
    return DataCard(_markdown(content, facts.guarantee, formal), content, formal, facts.method.keeps_text)


def _comparison(facts: CardFacts) -> str:
    if facts.guarantee.kind != "dp":
        return NOT_ORIGINALS
    return MAYBE_COMPARED if facts.selected else NOT_COMPARED


def _limits(facts: CardFacts) -> list[str]:
    whole = facts.guarantee.kind == "dp" and not facts.selected
    measured = () if whole else LIMITS[-1:]
    unread = facts.guarantee.kind == "dp" and not facts.guarantee.epsilon  # nothing was drawn on anybody's records
    kept = KEPT_TEXT if facts.method.keeps_text else UNREAD_TEXT if unread else NEW_TEXT
    searched = () if facts.policy.requirements.longest_copied_words is not None else (NOT_SEARCHED,)
    return [*LIMITS[:-1], kept, *searched, NONE_HELD_BACK if whole else HELD_BACK, *measured]


def _settings(facts: CardFacts) -> tuple[list[CardSetting], list[str]]:
    """Return settings that cannot hold private words (numbers, switches and named choices), and what the others mean.

    The words are those of the method's form, never a setting's name inside the program.
    """
    schema = facts.method.parameters.model_json_schema()
    properties, definitions = schema.get("properties", {}), schema.get("$defs", {})
    shown: list[CardSetting] = []
    hidden: list[str] = []
    for name, value in sorted(facts.parameters.items()):
        if name == "seed":
            continue
        field_schema = properties.get(name, {})
        meaning = _one_line(str(field_schema.get("description") or name.replace("_", " "))).rstrip(".")
        if _is_public(value, field_schema, definitions):
            shown.append({"setting": meaning, "value": value})
        else:
            hidden.append(meaning)
    return shown, hidden


def _is_public(value: JSON, field_schema: JSONObject, definitions: JSONObject) -> bool:
    if value is None or isinstance(value, bool | int):
        return True
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str) and value in _choices(field_schema, definitions)


def _choices(schema: JSONObject, definitions: JSONObject) -> set[str]:
    """Return the strings a field's schema lists as choices."""
    found = {c for c in (*as_list(schema.get("enum")), schema.get("const")) if isinstance(c, str)}
    for part in (*as_list(schema.get("anyOf")), *as_list(schema.get("allOf"))):
        found |= _choices(as_object(part), definitions)
    if "$ref" in schema:
        found |= _choices(as_object(definitions.get(str(schema["$ref"]).rsplit("/", 1)[-1])), definitions)
    return found


def _guarantee(guarantee: Guarantee, selected: bool) -> dict[str, JSON]:
    result: dict[str, JSON] = {"in_words": KIND_WORDS[guarantee.kind], **guarantee.as_dict()}
    result.pop("pending", None)
    if guarantee.kind == "dp":
        result["before_selection"] = BEFORE_SELECTION if selected else WHOLE
        result["selected"] = selected
    else:
        result.pop("noise", None)
        result.pop("accounting", None)
        result.pop("epsilon")
        result.pop("delta")
        result.pop("adjacency")
        result.pop("events")
    return result


def _policy(facts: CardFacts) -> CardPolicy:
    policy, kind, waived = facts.policy, facts.guarantee.kind, facts.waived
    copied = policy.requirements.longest_copied_words
    need = policy.requirements
    let = {line.rule for line in waived}
    checks = [rule.sentence for rule in policy.rules if rule.id not in let]
    checks.append("Every record was approved by the custodian.")
    if need.minimum_reviewed_share >= 1:
        checks.append("The custodian decided on every record of the run.")
    if need.whole_output:
        checks.append(
            "Every record of the run is in this bundle, and nothing of the run was measured on the original before."
        )
    if need.highest_epsilon is not None:
        checks.append(f"The guarantee's ε is at most {need.highest_epsilon:g}.")
    if need.second_person:
        how = "" if facts.second is None else f" ({facts.second.how})"
        checks.append(f"A second person signed{how}.")
    if need.no_leak and NO_LEAK not in let:
        checks.append("No measure of identifiers, copied text or canaries lies above chance.")
    if kind != "dp" and need.missed is not None:
        checks += _missed(need.missed, let)
    if need.intruder is not None:
        checks += _intruder(need.intruder, let)
    if kind != "dp":
        checks.append("No record equals a record of the original, in whatever spelling.")
    if copied is not None:
        checks.append(
            f"No text in this bundle shares more than {copied} consecutive words with a record the method read."
        )
    return {
        "id": policy.id, "title": policy.title, "sentence": policy.sentence, "checked": checks,
        "waived": [_waived(policy, line) for line in waived],
    }  # fmt: skip


def _intruder(rule: IntruderRule, waived: Collection[str]) -> list[str]:
    """Return what was asked about a person who tries to identify somebody, in public numbers alone."""
    tried = (
        f"A person read a random sample of at least {rule.minimum_texts:,} of the records, or of all, and had at least "
        f"{rule.minimum_minutes:,} minutes to say whom they are of; a second person checked each claim."
    )
    if "intruder-share" in waived:
        return [tried]
    return [tried, f"By the upper end of the interval of that sample, at most {100 * rule.highest_share:g}% of the "
                   "records are identified in this way."]  # fmt: skip


def _missed(rule: MissedRule, waived: Collection[str]) -> list[str]:
    """Return what was asked about identifiers that nobody found, in public numbers alone."""
    sample = (
        f"A random sample of at least {rule.minimum_sample:,} records of the original (of all of them where there are "
        "fewer), drawn also from those that had been read before, was read for identifiers that had been missed"
    )
    checks = [f"{sample}{', a part of it by a second person' if rule.second_reader else ''}."]
    for kind, name, limit in (
        ("direct", "a direct", rule.direct_per_1000), ("quasi", "an indirect", rule.quasi_per_1000),
    ):  # fmt: skip
        if limit is not None and f"missed-{kind}" not in waived:
            checks.append(
                f"By the upper end of the interval of that sample, at most {limit:g} of 1,000 records of the original "
                f"still hold {name} identifier that nobody marked, if those who read the sample overlooked nothing in "
                "it."
            )
    return checks


def _waived(policy: Policy, line: RuleVerdict) -> str:
    """Return a rule that was waived, with who waived it, why and until when."""
    asked = next((rule.sentence for rule in policy.rules if rule.id == line.rule), "")
    waiver = line.waived
    assert waiver is not None
    return (
        f"{line.title}. {asked} This was not met. {waiver.person} waived it on {waiver.given}, until {waiver.expires}: "
        f"{waiver.reason}"
    ).replace(".  ", ". ")


def model_in_words(model: str) -> str:
    """Return which language model wrote, as a reader knows it: the built-in one has no name outside this program."""
    return {"none": "none was used", "builtin": BUILT_IN}.get(model, model)


def _markdown(content: CardContent, claim: Guarantee, formal: str) -> str:
    method, guarantee, policy = content["method"], content["guarantee"], content["policy"]
    lines = [
        f"# {_escape(content['title'])}",
        "",
        f"These records were made by a program. {method['origin']} {content['comparison']}",
        "",
    ]
    head = (
        ("Original", content["source"]),
        ("Released", content["created"]),
        ("Purpose", content["purpose"]),
        ("Recipient", content["recipient"]),
        ("Licence", content["licence"]),
        ("Contact", content["contact"]),
        ("To be reviewed", content["review"]),
        *second_line(content).items(),
    )
    lines += [f"- **{name}:** {_escape(said)}" for name, said in head]
    lines += ["", "## How they were made", "", f"**{method['title']}.** {method['summary']}"]
    if method["citation"]:
        lines += ["", f"Source of the method: {method['citation']}"]
    lines += ["", f"Language model: {_escape(model_in_words(str(content['model'])))}.", *_setting_table(content)]
    lines += ["", "## What is guaranteed", "", f"**{guarantee['in_words']}.** {claim.sentence}"]
    if claim.kind == "dp":
        lines += ["", formal, "", str(guarantee["before_selection"])]
    lines += ["", *_bullets("It assumes:", claim.assumptions)]
    lines += [*_bullets("It does not hold where one of these is true:", claim.voided_by)]
    lines += [
        "## What they are for",
        "",
        *_bullets(MEANT, content["intended"]),
    ]
    lines += _bullets("Not to be used:", content["not_intended"])
    lines += ["## What was checked before release", "", f"Policy **{policy['title']}**. {policy['sentence']}", ""]
    lines += ["The release was possible only because each of these was met. Measured values are not given.", ""]
    lines += [f"- {check}" for check in policy["checked"]]
    if policy["waived"]:
        lines += ["", "These rules of the policy were **not met** and were waived by a person:", ""]
        lines += [f"- {_escape(said)}" for said in policy["waived"]]
    lines += ["", "## Limits", "", *(f"- {limit}" for limit in content["limits"])]
    lines += ["", "## Files", "", content["formulas"], "", f"Not in this bundle: {content['left_out']}"]
    versions = ", ".join(f"{name} {version}" for name, version in content["versions"].items()) or "not recorded"
    return "\n".join([*lines, "", f"Made with: {versions}.", ""])


def second_line(content: CardContent) -> dict[str, str]:
    """Return the line of the card's head that names the second person, where there is one."""
    second = content["second_person"]
    return {"Second person": f"{second['name']} ({second['how']})"} if second else {}


def _setting_table(content: CardContent) -> list[str]:
    """Return the table of settings, each by what it means; settings that hold free words are only counted."""
    shown = content["settings"]
    lines = ["", "| Setting | Value |", "|---|---|"] if shown else []
    lines += [f"| {_escape(line['setting'])} | {_escape(setting_words(line['value']))} |" for line in shown]
    if content["settings_not_shown"]:
        lines += ["", "Settings that can hold free words are not shown."]
    return lines


def _formal(claim: Guarantee) -> str:
    """Return the claim in numbers, and the mechanisms that it adds up, or those of this run where it counts others."""
    said = (
        f"ε = {claim.epsilon}, δ = {claim.delta}, unit: {UNITS.get(claim.unit, claim.unit)}, "
        f"compared {NEIGHBOURS.get(claim.unit, {}).get(claim.adjacency, claim.adjacency)}, covers: {claim.scope}."
    )
    counts: dict[str, int] = {}
    for event in claim.mechanisms:
        scale = f", noise multiplier {event.noise_multiplier:g}" if event.noise_multiplier else ""
        scale += f", ε = {event.epsilon:g}" if event.epsilon else ""
        scale += f", each taking part with {event.sampling_probability:g}" if event.sampling_probability < 1 else ""
        line = f"{event.what.replace('_', ' ')} ({MECHANISMS.get(event.type, event.type)}{scale})"
        counts[line] = counts.get(line, 0) + event.count
    listed = "; ".join(f"{count} × {line}" for line, count in counts.items())
    whose = "Mechanisms of this run alone, the earlier runs left out" if claim.counts_earlier else "Mechanisms"
    return f"{said} {whose}: {listed}." if listed else said


def _bullets(title: str, items: Sequence[str]) -> list[str]:
    return [title, "", *(f"- {item}" for item in items), ""] if items else []


def setting_words(value: JSON) -> str:
    """Return a setting's value as a reader sees it."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return {"zero-out": "removed", "replace-one": "replaced by another's"}.get(str(value), str(value))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _escape(text: str) -> str:
    """Return words a person typed so that Markdown shows them and runs nothing."""
    return re.sub(r"([\\`*_{}\[\]<>#|!])", r"\\\1", text)
