"""A run as a file that makes it again: what it took, and by which the same records are known.

What is repeated: a method without mechanism noise, written by a model of this machine, is decided by its inputs, its
settings and its seed. Noise is drawn from the operating system and has no seed, and what a server answers is its own,
so such runs are told apart here and are not made again: a second draw is a second spend, not a check.

What stands in the file: settings, versions, and keyed digests (HMAC under the workspace's key) of the training records,
of the accepted spans and of each record that came out. No text, no label, no name of the corpus. Without the key the
digests confirm no guess; so the file is of use in this workspace, or in one restored from its backup, alone. A seal
(HMAC under the same key) covers all of it: who cut the file, or put other digests into it, could have any run pass for
the one it was written for.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from engine.corpus.keyed import keyed_digest
from engine.errors import RefusedError, UserError
from engine.jobs.planning import find_method
from engine.jobs.running import Jobs, versions
from engine.json_types import JSON, as_object
from engine.release.strict_yaml import read_strict
from engine.store.runs.runs import run_row

if TYPE_CHECKING:
    from engine.dp.guarantee import Guarantee
    from engine.store.views import RunSummary

LARGEST = 8 * 1024 * 1024  # bytes
DIGITS = 24  # of a digest: 96 bits
NOISE = (
    "this run drew its noise from the operating system, which has no seed: made again it draws other noise, writes "
    "other records and spends the budget anew. What can be checked instead: the claim and its accounting (`curve`), "
    "the ledger's chain (`audit --verify`), and the release's own files (`verify`)"
)
CHANGED = "the file is not as `recipe` wrote it here: it was changed, or it is of another workspace with another key"
SERVER = "a server wrote these records, and what it answers twice is not in this program's hands"
Digest = Field(pattern=f"^[0-9a-f]{{{DIGITS}}}$")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Inputs(_Strict):
    """Digests of what a run reads: training records; accepted spans and the detector's settings where it needs them."""

    records: str = Digest
    spans: str | None = None
    detector: str | None = None


class Recipe(_Strict):
    """What a file says of a run."""

    understudy_run: Literal[1]
    corpus: str
    method: str
    model: str
    count: int = Field(ge=1)
    seed: int
    parameters: dict[str, JsonValue]
    repeatable: bool
    why_not: str
    inputs: Inputs
    wrote_with: dict[str, JsonValue]
    versions: dict[str, str]
    records: list[str]
    seal: str = Digest


@dataclass(frozen=True)
class Differences:
    """What is not as it was. in_the_way: nothing is made again while it is so; told: the run may still be the same."""

    in_the_way: tuple[str, ...]
    told: tuple[str, ...]


@dataclass(frozen=True)
class Repeated:
    """How a run compares with what a file says of another: equal records, place by place."""

    run: str
    same: int
    of: int
    made: int

    @property
    def whole(self) -> bool:
        """Whether the same records came out, all of them and no others."""
        return self.same == self.of == self.made


class Recipes:
    """Runs written down to be made again."""

    def __init__(self, jobs: Jobs) -> None:
        self.jobs, self.session, self.runs = jobs, jobs.session, jobs.runs
        self.corpora, self.review = jobs.corpora, jobs.review

    def write(self, run_id: str) -> str:
        """Return a finished run as YAML.

        Raises:
            UserError: it is not done, or its corpus or review changed since, so that its inputs are not there any more.
        """
        run = self.runs.get(run_id)
        if run.state != "done":
            raise UserError("only a run that is done can be written down to be made again")
        if run.stale:
            raise UserError("the reviewed spans changed since this run: what it read is not there any more")
        why_not = self._why_not(run)
        recipe = Recipe(
            understudy_run=1,
            corpus=run.corpus_id,
            method=run.method,
            model=run.model,
            count=run.count,
            seed=run.seed,
            parameters=plain(run.parameters),
            repeatable=not why_not,
            why_not=why_not,
            inputs=self._inputs(run.corpus_id, run.method),
            wrote_with=plain(self._wrote_with(run_id)),
            versions={str(name): str(value) for name, value in as_object(self._manifest(run_id)["versions"]).items()},
            records=self._written(run_id),
            seal="0" * DIGITS,
        )
        recipe = recipe.model_copy(update={"seal": self._seal(recipe)})
        return yaml.safe_dump(recipe.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=120)

    def read(self, text: str, name: str = "file") -> Recipe:
        """Return what a file says; see `engine.release.strict_yaml.read_strict` for refusals."""
        return read_strict(text, name, Recipe, largest=LARGEST, compare="what `recipe` writes")

    def differences(self, recipe: Recipe) -> Differences:
        """Return what is not as it was when a file was written.

        Raises:
            NotFoundError: the corpus is not in this workspace.
        """
        then, now = recipe.inputs, self._inputs(recipe.corpus, recipe.method)
        way = [] if hmac.compare_digest(recipe.seal, self._seal(recipe)) else [CHANGED]
        if then.records != now.records:
            way.append("the training records are not those of the run, or this is another workspace with another key")
        if then.spans != now.spans:
            way.append("the accepted spans are not those of the run: decisions changed since")
        if then.detector != now.detector:
            way.append("the detector's settings are not those of the run")
        current = versions()
        told = [
            f"{name} is {current.get(name, 'not there')}, was {version}"
            for name, version in recipe.versions.items()
            if current.get(name) != version
        ]
        known = find_method(recipe.method).spec
        if "generator" in known.needs:
            with_now = plain(
                {
                    "model": self.jobs.models.info(recipe.model).as_manifest(),
                    "prompts": as_object(self.jobs.prompts.manifest(self.jobs.plan.language(recipe.corpus))),
                }
            )
            said = {"model": "the model is not as it was", "prompts": "the prompts are not as they were"}
            told += [words for name, words in said.items() if recipe.wrote_with.get(name) != with_now[name]]
        return Differences(tuple(way), tuple(told))

    def start(self, recipe: Recipe) -> str:
        """Start the run of a file once more, with its own seed, and return the new run's id.

        Raises:
            RefusedError: it cannot be the same, with the reason.
            UserError: the run may not be made; see `Jobs.synthesize`.
        """
        promised = self.jobs.plan.guarantee(recipe.method, corpus_id=recipe.corpus, parameters=recipe.parameters)
        if draws_noise(recipe.method, promised):  # whatever the file says
            raise RefusedError(NOISE)
        if not recipe.repeatable:
            raise RefusedError(recipe.why_not or SERVER)
        found = self.differences(recipe)
        if found.in_the_way:
            raise RefusedError("; ".join(found.in_the_way))
        return self.jobs.synthesize(
            recipe.corpus,
            recipe.method,
            count=recipe.count,
            parameters=recipe.parameters,
            seed=recipe.seed,
            model=recipe.model,
        )

    def compare(self, recipe: Recipe, run_id: str) -> Repeated:
        """Return how many records of a run are those of a file, place by place.

        Raises:
            UserError: the run is not done.
        """
        if self.runs.get(run_id).state != "done":
            raise UserError("this run is not done; compare it when it is")
        made = self._written(run_id)
        same = sum(a == b for a, b in zip(made, recipe.records, strict=False))
        return Repeated(run_id, same, len(recipe.records), len(made))

    def _seal(self, recipe: Recipe) -> str:
        """Return the seal of what a file says, keyed with the workspace's key."""
        said = json.dumps(recipe.model_dump(mode="json", exclude={"seal"}), sort_keys=True)
        return keyed_digest(self.session.key, "recipe seal", said).hex()[:DIGITS]

    def _why_not(self, run: RunSummary) -> str:
        if draws_noise(run.method, run.guarantee):
            return NOISE
        model = as_object(self._manifest(run.id).get("model"))
        return SERVER if model.get("back_end") == "endpoint" else ""

    def _manifest(self, run_id: str) -> dict[str, JSON]:
        with self.session.db.read() as connection:
            return dict(run_row(connection, run_id).manifest)

    def _wrote_with(self, run_id: str) -> dict[str, JSON]:
        manifest = self._manifest(run_id)
        return {name: manifest[name] for name in ("model", "prompts") if name in manifest}

    def _inputs(self, corpus_id: str, method: str) -> Inputs:
        needs = find_method(method).spec.needs
        records = self.corpora.frame(corpus_id, "train")
        columns = [name for name in ("record_id", "text", "source_id", "label") if name in records]
        spans = self.review.accepted_spans(corpus_id, "train") if "spans" in needs else None
        settings = self.review.detector_settings(corpus_id).to_json() if "detector" in needs else None
        return Inputs(
            records=self._digest("records", records[columns].itertuples(index=False)),
            spans=None if spans is None else self._digest("spans", sorted(spans.itertuples(index=False), key=repr)),
            detector=None if settings is None else self._digest("detector", [settings]),
        )

    def _written(self, run_id: str) -> list[str]:
        """Return the digest of each record of a run, in the order in which they were written."""
        frame = self.runs.synthetic_frame(run_id)
        return [self._digest("output", [pair]) for pair in zip(frame["text"], frame["label"], strict=True)]

    def _digest(self, what: str, rows: Iterable[object]) -> str:
        text = "\x1e".join(repr(tuple(row) if isinstance(row, tuple) else row) for row in rows)
        return keyed_digest(self.session.key, f"recipe {what}", text).hex()[:DIGITS]


def draws_noise(method: str, claim: Guarantee) -> bool:
    """Say whether a run of a method draws mechanism noise; one whose choices alone are noisy claims none and does."""
    return find_method(method).spec.kind == "selection-only" or claim.pending or not claim.noiseless


def plain(values: Mapping[str, JSON]) -> dict[str, JsonValue]:
    """Return a mapping as lists, mappings and scalars, as a file gives it back."""
    found: dict[str, JsonValue] = json.loads(json.dumps(values))
    return found
