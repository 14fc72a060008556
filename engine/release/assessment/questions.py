"""What an assessment file asks, as data: the words are in `questions.yaml` beside this file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, model_validator
from pydantic import Field as Described

from engine.errors import UserError

FILE = Path(__file__).with_name("questions.yaml")
LONGEST_ANSWER = 2000
Fact = Literal[
    "guarantee", "examination", "budget", "unit", "mechanisms", "releases", "policy", "intruder", "named", "trust"
]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Choice(_Part):
    """What an attacker may have; `beyond` says that the attack that was run had less."""

    id: str
    says: str
    beyond: bool = False


class Field(_Part):
    """Words that a person types, or chooses where there are `choices`, which are about a `test`.

    outside: whether they stand in the external edition.
    """

    id: str
    group: str
    outside: bool
    title: str
    asks: str
    test: str = ""
    choices: tuple[Choice, ...] = ()

    def chosen(self, answer: str | None) -> Choice | None:
        """Return the choice that an answer names."""
        return next((one for one in self.choices if one.id == answer), None)

    def words(self, answer: str | None) -> str:
        """Return an answer as it is read: what a choice says, or what was typed; empty where there is none."""
        found = self.chosen(answer)
        return (answer or "") if found is None else found.says


class Question(_Part):
    """A question that a family of findings answers; `attacker` says what the attack assumes.

    measures, attacks: names of findings; an attack has two, its area and its true positives at 1 % false alarms.
    """

    id: str
    title: str
    asks: str
    attacker: str
    measures: tuple[str, ...] = ()
    attacks: tuple[str, ...] = ()

    def names(self) -> tuple[str, ...]:
        """Return the names of all its findings, in order."""
        return (*(name + end for name in self.attacks for end in ("", "_tpr01")), *self.measures)


class Asked(_Part):
    """A row of a framework: what it asks, and where the answer comes from."""

    asks: str
    fields: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    fact: Fact | None = None
    says: str = ""


class Framework(_Part):
    """A framework's questions, followed in their sense."""

    id: str
    title: str
    note: str
    rows: tuple[Asked, ...]


class Questions(_Part):
    """All an assessment file asks."""

    fields: tuple[Field, ...] = Described(min_length=1)
    tests: tuple[Question, ...] = Described(min_length=1)
    frameworks: tuple[Framework, ...]

    @model_validator(mode="after")
    def _known(self) -> Questions:
        fields, tests = {one.id for one in self.fields}, {one.id for one in self.tests}
        for row in (row for framework in self.frameworks for row in framework.rows):
            if not {*row.fields} <= fields or not {*row.tests} <= tests:
                raise ValueError(f"{row.asks!r} names a field or a test that is none")
            if not (row.fields or row.tests or row.fact or row.says):
                raise ValueError(f"{row.asks!r} has no answer")
        for one in self.fields:
            if bool(one.choices) != bool(one.test) or (one.test and one.test not in tests):
                raise ValueError(f"{one.id!r} has choices without a test, or a test without choices")
        return self

    def scenario(self, test: str) -> Field | None:
        """Return the field that asks who may try what a family of findings tests."""
        return next((one for one in self.fields if one.test == test), None)

    def groups(self) -> dict[str, list[Field]]:
        """Return the fields by group, both in their order."""
        found: dict[str, list[Field]] = {}
        for one in self.fields:
            found.setdefault(one.group, []).append(one)
        return found


@cache
def questions() -> Questions:
    """Return what is asked."""
    return Questions.model_validate(yaml.safe_load(FILE.read_text("utf-8")))


def checked(answers: Mapping[str, str]) -> dict[str, str]:
    """Return typed words without those that are empty.

    Raises:
        UserError: a field is unknown, no text, too long or none of its choices; says which.
    """
    known = {one.id: one for one in questions().fields}
    for name, said in answers.items():
        if name not in known:
            raise UserError(f"{name!r} is no field of an assessment; known are {', '.join(known)}")
        if not isinstance(said, str):
            raise UserError(f"{name}: give words")
        if len(said) > LONGEST_ANSWER:
            raise UserError(f"{name}: at most {LONGEST_ANSWER:,} characters, has {len(said):,}")
        if known[name].choices and said.strip() and known[name].chosen(said.strip()) is None:
            raise UserError(f"{name}: choose one of {', '.join(one.id for one in known[name].choices)}")
    return {name: answers[name].strip() for name in known if answers.get(name, "").strip()}
