"""Release policies: what must be true before approved records may leave.

A policy is a YAML file of rules over findings and requirements over facts. Thresholds are fixed
beforehand and public; the measured values are internal and never leave with a release.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from engine.assets import ASSETS
from engine.dp.guarantee import Kind
from engine.errors import NotFoundError, UserError
from engine.examine.findings.findings import Reference
from engine.pii.decide.missed import FEWEST
from engine.release.policy.waivers import NEVER

PRESETS = ASSETS / "policies"
PRESET_ORDER = ("exploratory", "internal", "research", "public", "proof")

CHOSEN = "chosen"  # the line about which records were approved, where findings have limits
NO_LEAK = "no-leak"  # the line about sentences at level leak
FEWEST_TWICE = 20  # records a second person reads, unless a policy says otherwise

Comparator = Literal["measured", "at most", "at least"]
Uses = Literal["interval end", "value"]


class Rule(BaseModel):
    """One condition on one finding.

    Args:
        finding, reference: which finding is judged.
        above: a second reference; then the difference `reference` minus `above` is judged, so that
            what chance explains (boilerplate, common names) is not held against the text.
        comparator: `measured` asks only that a finite number exists.
        threshold: in the finding's own unit.
        high_from: with `measured` only: from this value on the line is met but marked as high.
        uses: `interval end` judges the end of the 95% interval on the unsafe side.
        nothing_to_leak: the reasons, word for word, that the examination gives when it looked and there is
            nothing of this kind. Then the rule is met; any other missing number is not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    title: str
    finding: str
    reference: Reference
    above: Reference | None = None
    comparator: Comparator
    threshold: float | None = Field(default=None, allow_inf_nan=False)
    high_from: float | None = Field(default=None, allow_inf_nan=False)
    uses: Uses = "interval end"
    nothing_to_leak: tuple[str, ...] = ()
    sentence: str
    remedy: str

    @model_validator(mode="after")
    def _threshold_where_needed(self) -> Rule:
        if (self.comparator == "measured") != (self.threshold is None):
            raise ValueError("threshold: needed with 'at most' and 'at least', and only there")
        if self.high_from is not None and self.comparator != "measured":
            raise ValueError("high_from: belongs to 'measured' only; a rule with a threshold is met or not")
        return self


class MissedRule(BaseModel):
    """How much detection may have missed, by the upper end of the interval of a spot check.

    Asked of runs without a formal guarantee, whose text can carry what stays in the original.

    Args:
        direct_per_1000, quasi_per_1000: records in 1,000 that may still hold a direct, or an indirect, identifier that
            nobody marked; None: no limit.
        minimum_sample: fewest records of the sample, or all of a corpus that has fewer.
        second_reader: whether a second person must have read a part of it, at least `minimum_twice` records.
        sentence: why.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    direct_per_1000: float = Field(ge=0.0, le=1000.0, allow_inf_nan=False)
    quasi_per_1000: float | None = Field(default=None, ge=0.0, le=1000.0, allow_inf_nan=False)
    minimum_sample: int = Field(ge=FEWEST)
    second_reader: bool = False
    minimum_twice: int = Field(default=FEWEST_TWICE, ge=1)
    sentence: str


class IntruderRule(BaseModel):
    """How many of the texts a person may identify who tries to, by the upper end of the interval of a trial.

    Args:
        highest_share: share of the approved texts whose person is named rightly, in [0, 1].
        minimum_texts: fewest texts of the sample, or all of a run that has fewer approved.
        minimum_minutes: shortest time box.
        sentence: why.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    highest_share: float = Field(ge=0.0, le=1.0, allow_inf_nan=False)
    minimum_texts: int = Field(ge=FEWEST)
    minimum_minutes: int = Field(default=1, ge=1)
    sentence: str


class WaiverRule(BaseModel):
    """Which rules of a policy may be waived for a run by a person, for a reason, and for how many days at most."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rules: tuple[str, ...] = Field(min_length=1)
    longest_days: int = Field(ge=1, le=366)

    @field_validator("rules")
    @classmethod
    def _never(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        never = sorted({*rules} & {*NEVER})
        if never:
            raise ValueError(f"{', '.join(never)}: this can never be waived")
        return rules


class Requirements(BaseModel):
    """Conditions on facts about the run rather than on its findings.

    Args:
        minimum_reviewed_share: share of the run's records, in [0, 1], that a person approved or rejected.
        minimum_approved: fewest approved records, at least 1.
        guarantee_kinds: kinds of guarantee that are enough.
        second_person: whether someone other than the person releasing must sign.
        longest_copied_words: longest run of consecutive source words that may stand in the bundle,
            or None where copies are allowed and said to be.
        highest_epsilon: largest ε of a formal guarantee that is enough, or None for any.
        whole_output: every record of the run leaves, and nothing was measured on private data before: then the
            run's formal statement covers what leaves. Such a policy has no rules over findings.
        missed: how much detection may have missed, or None where that is not asked.
        intruder: how many texts a person may identify who tries to, or None where that is not asked.
        no_leak: whether no sentence about identifiers, copies or canaries may say that more is given away than chance
            explains.
        waivers: which rules may be waived, or None where none may.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    minimum_reviewed_share: float = Field(ge=0.0, le=1.0)
    minimum_approved: int = Field(ge=1)
    guarantee_kinds: tuple[Kind, ...] = Field(min_length=1)
    second_person: bool = False
    longest_copied_words: int | None = Field(default=None, ge=3)
    highest_epsilon: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    whole_output: bool = False
    missed: MissedRule | None = None
    intruder: IntruderRule | None = None
    no_leak: bool = False
    waivers: WaiverRule | None = None


class Policy(BaseModel):
    """A named set of rules and requirements."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    title: str
    sentence: str
    rules: tuple[Rule, ...]
    requirements: Requirements

    @property
    def digest(self) -> str:
        """SHA-256 of the policy's content, whatever its file looks like."""
        body = self.model_dump(mode="json")
        if self.requirements.intruder is None:  # as it was before a policy could ask this
            del body["requirements"]["intruder"]
        if not self.requirements.no_leak:
            del body["requirements"]["no_leak"]
        content = json.dumps(body, ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    @model_validator(mode="after")
    def _unique_rules(self) -> Policy:
        ids = [rule.id for rule in self.rules]
        if len(ids) != len(set(ids)):
            raise ValueError("rules: each rule needs an id of its own")
        return self

    @model_validator(mode="after")
    def _waives_what_it_has(self) -> Policy:
        need = self.requirements
        bounds = (
            "missed-direct",
            *(["missed-quasi"] if need.missed and need.missed.quasi_per_1000 is not None else []),
        )
        tried = [*(["intruder-share"] if need.intruder else []), *([NO_LEAK] if need.no_leak else [])]
        chosen = [CHOSEN] if any(rule.threshold is not None for rule in self.rules) else []
        known = {*(rule.id for rule in self.rules), *chosen, *(bounds if need.missed else ()), *tried}
        unknown = sorted({*(need.waivers.rules if need.waivers else ())} - known)
        if unknown:
            raise ValueError(f"waivers: {', '.join(unknown)}: the policy has no such rule to waive")
        return self

    @model_validator(mode="after")
    def _measured_or_whole(self) -> Policy:
        need = self.requirements
        private = bool(self.rules) or need.longest_copied_words is not None
        private = private or bool(need.missed or need.intruder or need.no_leak or need.waivers)
        if need.whole_output and (private or need.guarantee_kinds != ("dp",)):
            raise ValueError(
                "whole_output: needs guarantee_kinds [dp], no rules, longest_copied_words, missed, intruder, no_leak "
                "or waivers"
            )
        if not need.whole_output and not self.rules:
            raise ValueError("rules: at least one is needed, unless the whole output of a run with a proof leaves")
        return self


def load_policy(path: Path) -> Policy:
    """Read one policy file.

    Raises:
        UserError: the file is missing, is not YAML, or breaks the schema (names the field).
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        return Policy.model_validate(content)
    except OSError as error:
        raise UserError(f"policy file {path.name} cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise UserError(f"policy file {path.name} is not valid YAML; compare it with a preset") from error
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "policy"
        raise UserError(f"policy file {path.name}: {where}: {first['msg']}") from error


@lru_cache(maxsize=1)
def policies() -> tuple[Policy, ...]:
    """Return the presets, least strict first."""
    return tuple(load_policy(PRESETS / f"{name}.yaml") for name in PRESET_ORDER)


def get_policy(policy_id: str) -> Policy:
    """Return one preset by id.

    Raises:
        NotFoundError: there is none with this id.
    """
    for policy in policies():
        if policy.id == policy_id:
            return policy
    known = ", ".join(policy.id for policy in policies())
    raise NotFoundError(f"policy: no policy is called {policy_id!r}; known are {known}")


def __getattr__(name: str) -> tuple[Policy, ...]:
    """Load `POLICIES` on first use, so that importing this module reads no file."""
    if name == "POLICIES":
        return policies()
    raise AttributeError(name)
