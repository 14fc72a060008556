"""What a study is: one job that runs several variants on one corpus and measures them, for internal tables.

How to add one: a class with `spec` and `run`, named in `STUDIES` of `engine.studies`; its figures go into
`engine.studies.figures`. `run` yields after each variant; what it yields is kept before the next one begins, and a
stopped study gets the last state and tables back.

Privacy posture: tables hold numbers and names of variants. They are computed from private text, stay in the
workspace and never enter a release; a study that keeps text keeps it in `state`, which stays there too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, get_origin

from pydantic import BaseModel, ValidationError

from engine.errors import UserError
from engine.json_types import JSON, JSONObject
from engine.methods.base import Context, Facts

if TYPE_CHECKING:
    import pandas as pd

INTERNAL = "Internal: measured on private records. These numbers are not part of any release."
Cell = str | int | float | bool | None
TableRow = dict[str, Cell]
TABLE_NAME = re.compile(r"[a-z0-9_]{1,60}")


@dataclass(frozen=True)
class StudySpec:
    """What the page and the command line show. `needs`: generator, embedder, detector, spans, train (`MethodSpec`)."""

    id: str
    title: str
    summary: str
    citation: str
    parameters: type[BaseModel]
    needs: tuple[str, ...]


def _nothing() -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(columns=["record_id", "text", "source_id", "label"])


@dataclass(frozen=True)
class StudyContext:
    """Everything a study may touch.

    run: what a method's run gets (training records in keyed order, accepted spans, models, facts), with `count` 0
        and the study's own parameters; a study makes its variants' contexts from it with `dataclasses.replace`.
    holdout: records of the holdout, for references only; no method may see them.
    holdout_spans: accepted spans of those. over_cap: records beyond their unit's cap, which no method may see.
    parameters: of the study.
    state: what the last finished variant left, None at the start. tables: the tables as they were then.
    progress: told stage, done and in all within a variant, at least once a batch; raises where the study was cancelled.
    scratch: a folder the study may make and keep things in between variants, gone when it is done, or None.
    """

    run: Context
    holdout: pd.DataFrame
    holdout_spans: pd.DataFrame
    parameters: BaseModel
    state: Mapping[str, Any] | None = None
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None
    scratch: Path | None = None
    over_cap: pd.DataFrame = field(default_factory=_nothing)


@dataclass(frozen=True)
class StudyStep:
    """What is known after one variant.

    done, total: variants. stage: the variant that has ended, in words. state: JSON to go on from. tables: all tables as
    far as they are, tidy frames with names of lower-case letters, digits and underscores.
    """

    done: int
    total: int
    stage: str
    state: Mapping[str, object]
    tables: Mapping[str, pd.DataFrame]


class Study(Protocol):
    """One study; one file each."""

    spec: StudySpec

    def run(self, context: StudyContext) -> Iterator[StudyStep]:
        """Yield a step after each variant."""
        ...


def needs_of(study: Study, parameters: BaseModel) -> tuple[str, ...]:
    """Return what a study needs with these parameters; one that runs methods of the reader's choice says so itself."""
    more = getattr(study, "needs", None)
    return tuple(dict.fromkeys((*study.spec.needs, *(more(parameters) if more is not None else ()))))


def refused(study: Study, parameters: BaseModel, facts: Facts, holdout: int) -> list[str]:
    """Return why a corpus of this size cannot give what is asked, a sentence each; a study that can tell says so.

    Raises:
        UserError: the parameters do not go together.
    """
    asked = getattr(study, "refusals", None)
    return [] if asked is None else list(asked(parameters, facts, holdout))


def find(studies: Sequence[Study], study_id: str) -> Study:
    """Return the study with this id.

    Raises:
        UserError: there is none.
    """
    for study in studies:
        if study.spec.id == study_id:
            return study
    known = ", ".join(study.spec.id for study in studies)
    raise UserError(f"study {study_id!r} is unknown; known are: {known or 'none'}")


def _listed(spec: StudySpec, values: JSONObject) -> dict[str, JSON]:
    """Return the values with those of several-valued parameters as lists: `1,3` and `1` may be written for them."""
    found = dict(values)
    for name, value in values.items():
        field_ = spec.parameters.model_fields.get(name)
        if field_ is None or get_origin(field_.annotation) is not tuple or isinstance(value, (list, tuple)):
            continue
        found[name] = [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else [value]
    return found


def parse(spec: StudySpec, values: JSONObject | None) -> BaseModel:
    """Return the study's parameters with these values.

    Raises:
        UserError: a name is unknown or a value breaks a rule; the message names both.
    """
    try:
        return spec.parameters.model_validate(_listed(spec, values or {}))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or "parameters"
        known = ", ".join(spec.parameters.model_fields)
        hint = f"; {spec.id} takes: {known}" if first["type"] == "extra_forbidden" else ""
        raise UserError(f"{name} of study {spec.id!r}: {first['msg']}{hint}") from None
