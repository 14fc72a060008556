"""Which of the open models suit a machine and a language, in which precision, and how long they would write.

Times are rough: 16 texts side by side, limited by multiplications and by reading the weights once a token. A model's
self-test measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engine.models.offered.machine import Machine
from engine.models.offered.offers import Offer, Precision

TEXTS, TOKENS = 500, 200  # what a time is told for
SOON_HOURS, NIGHT_HOURS = 1.0, 10.0
_SIDE_BY_SIDE = 16
# Multiplications and additions a second and core in 32 bit, measured with the built-in model; twice that in 16 bit.
_FLOPS_A_CORE = 20e9
_BYTES_A_SECOND = {"cpu": 20e9, "mps": 100e9, "cuda": 500e9}
_FLOPS = {"mps": 3e12, "cuda": 30e12}
_STEP_SECONDS = {"cpu": 0.005, "mps": 0.02, "cuda": 0.03}  # what a token costs however small the model

Verdict = Literal["fits", "slow", "too large", "other language"]


@dataclass(frozen=True)
class Suggestion:
    """What is thought of one model here.

    precision: the most exact one that fits, None where none does. hours: for 500 texts of 200 tokens. trains: whether
    its weights fit twice in 32 bit, as tuning needs. role: `first` to try (quick), `best` (the
    largest that suits, since larger ones of these write better as a rule), or empty.
    """

    offer: Offer
    verdict: Verdict
    precision: Precision | None
    memory_bytes: int
    hours: float
    trains: bool
    role: Literal["", "first", "best"] = ""


def suggest(models: Sequence[Offer], machine: Machine, language: str = "en") -> list[Suggestion]:
    """Return what is thought of each model, in their order; at most one is `first` and one is `best`."""
    found = [_judged(one, machine, language) for one in models]
    able = [i for i, s in enumerate(found) if s.verdict == "fits" and s.offer.prompts == "instruct"]
    first = [i for i in able if found[i].hours <= SOON_HOURS] or able[:1]
    roles: dict[int, Literal["first", "best"]] = {}
    if first:
        roles[first[-1]] = "first"
    if able:
        roles[able[-1]] = "best"  # the largest; where it is quick too, there is one proposal
    return [
        Suggestion(s.offer, s.verdict, s.precision, s.memory_bytes, s.hours, s.trains, roles.get(i, ""))
        for i, s in enumerate(found)
    ]


def _judged(one: Offer, machine: Machine, language: str) -> Suggestion:
    precisions: list[Precision] = ["16 bit" if machine.half else "32 bit"]
    precisions += ["8 bit"] if machine.eight_bit else []
    precisions += ["4 bit"] if machine.four_bit else []
    precision = next((p for p in precisions if one.memory_bytes(p) <= machine.usable_bytes), None)
    memory = one.memory_bytes(precision or precisions[-1])
    hours = TEXTS * TOKENS / _tokens_a_second(one, machine, memory) / 3600
    verdict: Verdict = "fits" if hours <= NIGHT_HOURS else "slow"
    if precision is None:
        verdict = "too large"
    elif language not in one.languages:
        verdict = "other language"
    trains = "train" in one.capabilities and 2 * one.memory_bytes("32 bit") <= machine.usable_bytes
    return Suggestion(one, verdict, precision, memory, hours, trains)


def _tokens_a_second(one: Offer, machine: Machine, memory: int) -> float:
    flops = _FLOPS.get(machine.device, machine.cores * _FLOPS_A_CORE * (2 if machine.half else 1))
    step = max(
        _SIDE_BY_SIDE * 2 * one.parameters / flops, memory / _BYTES_A_SECOND[machine.device],
        _STEP_SECONDS[machine.device],
    )  # fmt: skip
    return _SIDE_BY_SIDE / step
