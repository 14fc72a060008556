"""Run several settings several times and measure every run alike: what studies over settings share.

Repeats go round all settings, so a stopped study leaves whole rounds; each finished run is kept, and a resumed study
goes on with the next one. What does not fit is refused before the first run; after it the time left is told.

Privacy posture: tables hold numbers. Methods with a formal guarantee draw their noise anew in each run, from the
operating system's entropy; no output is kept, nothing is spent, and nothing may leave (see
`engine.studies.bench.rerun`).
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from engine.errors import UserError
from engine.json_types import JSONObject
from engine.methods import get_method
from engine.methods.base import Facts, parse_parameters
from engine.methods.base import Step as MethodStep
from engine.store.disk.folder import remove_tree
from engine.studies.base import Cell, StudyContext, StudyStep
from engine.studies.bench import compared, measured
from engine.studies.bench.parameters import BenchParameters
from engine.studies.bench.rerun import Terms, empty_folder, remembered, rerun, terms_of
from engine.studies.units import some_units

PROTECTION = (
    "Its tables and figures are internal: they are measured on private records, no guarantee covers them whatever ε "
    "the runs had, and no text of a run is kept."
)
RUNS = ["variant", "repeat", "kind", "texts", "seconds", "measure", "title", "direction", "value", "real", "why",
        "of_texts", compared.FEWER]  # fmt: skip
ENDLESS, NOTHING = "∞", "0"  # how ε is written where there is no noise, and where no private text is read

Tables = dict[str, pd.DataFrame]


@dataclass(frozen=True)
class Variant:
    """One setting: a method with its values.

    Args:
        name: in tables, unique. method, values: what is run. outputs: texts a run.
        noiseless: whether its votes and counts come without noise (ε = ∞). keys: further columns of its rows.
        records: training records it works on, whole units; 0: those of the study.
    """

    name: str
    method: str
    values: JSONObject
    outputs: int
    noiseless: bool = False
    keys: Mapping[str, Cell] = field(default_factory=dict)
    records: int = 0


@dataclass(frozen=True)
class Ran:
    """One finished run: what it made, and the populations of its rounds where its method has rounds."""

    made: pd.DataFrame
    rounds: tuple[tuple[int, pd.DataFrame], ...]


def refusals(variants: Sequence[Variant], p: BenchParameters, facts: Facts, holdout: int) -> list[str]:
    """Return why a study cannot be done as asked, a sentence each: measures too few texts can carry, or too long.

    Args:
        variants: its settings. p: its parameters. facts: of the training part. holdout: records of the holdout.
    """
    whole, facts = facts, _cut(facts, p.records)
    outputs = min(variant.outputs for variant in variants)
    found = measured.lacks(p.measures, outputs, facts.records, holdout)
    seconds = 0.0
    most = max(variant.records for variant in variants)
    if most > whole.records:
        return [f"{most:,} records are asked for; the training part has {whole.records:,}"]
    for variant in variants:
        try:
            seconds += p.repeats * planned(variant, _cut(whole, variant.records) if variant.records else facts)
        except UserError as error:
            return [*found, f"{variant.name}: {error}"]
    hours = seconds / 3600.0
    if hours > p.hours:
        found.append(
            f"hours: by the methods' own plans {len(variants) * p.repeats} runs take about {hours:.1f} hours, and "
            f"{p.hours:g} are allowed: take fewer settings, repeats or outputs, or allow more."
        )
    return found


def _cut(facts: Facts, records: int) -> Facts:
    if not records or records >= facts.records:
        return facts
    units = max(1, round(facts.units * records / max(1, facts.records)))
    return dataclasses.replace(facts, records=records, units=units)


def planned(variant: Variant, facts: Facts) -> float:
    """Return the seconds that a method's own plan gives one run of a setting."""
    method = get_method(variant.method)
    return float(method.plan(parse_parameters(method.spec, variant.values), facts, variant.outputs).seconds)


class Bench:
    """Runs and measures the settings of one study."""

    def __init__(self, context: StudyContext, p: BenchParameters, variants: Sequence[Variant]) -> None:
        if context.run.records.empty:
            raise UserError("records: this corpus has no training part")
        self.context, self.p, self.variants = context, p, list(variants)
        self.records = some_units(context.run.records, context.run.unit, p.records, context.run.seed)
        self._sets: dict[int, pd.DataFrame] = {}
        self.bank = measured.Bank()
        self.terms: dict[str, Terms] = {}
        embedder = context.run.embedder
        self._embed = None if embedder is None else remembered(embedder, context.run.cancelled)

    def records_of(self, variant: Variant) -> pd.DataFrame:
        """Return the training records that a setting works on; a smaller set lies within a larger one."""
        if not variant.records:
            return self.records
        if variant.records not in self._sets:
            run = self.context.run
            self._sets[variant.records] = some_units(run.records, run.unit, variant.records, run.seed)
        return self._sets[variant.records]

    def prepare(self) -> None:
        """Work out every setting's terms, so that what cannot be claimed is refused before the first run.

        Raises:
            UserError: a measure, a method or the time does not fit; the message names it.
        """
        facts = self.context.run.facts
        if facts is not None:
            short = refusals(self.variants, self.p, facts, len(self.context.holdout))
        else:
            short = measured.lacks(
                self.p.measures, min(v.outputs for v in self.variants), len(self.records), len(self.context.holdout)
            )
        if short:
            raise UserError(" ".join(short))
        known: dict[str, Terms] = {}
        for number, variant in enumerate(self.variants):
            self.context.progress("working out guarantees", number, len(self.variants))
            key = f"{variant.method}:{variant.records}:{sorted(variant.values.items())!r}"
            if key not in known:
                try:
                    known[key] = terms_of(self.context.run, variant.method, variant.values, self.records_of(variant))
                except UserError as error:
                    raise UserError(f"{variant.name}: {error}") from None
            self.terms[variant.name] = known[key]

    def steps(
        self,
        tables_of: Callable[[pd.DataFrame], Tables],
        also: Callable[[Variant, int, Ran], None] = lambda variant, repeat, ran: None,
    ) -> Iterator[StudyStep]:
        """Yield a step after each run that is not in the tables yet.

        Args:
            tables_of: the study's tables of all rows measured so far; `runs` and `time` are added.
            also: shown each finished run before that, for what else is measured of it.
        """
        self.prepare()
        runs = self.context.tables.get("runs", pd.DataFrame(columns=RUNS))
        done = set(zip(runs["variant"].astype(str), runs["repeat"].astype(int), strict=True))
        order = [(v, repeat) for repeat in range(self.p.repeats) for v in self.variants]
        for variant, repeat in order:
            if (variant.name, repeat) in done:
                continue
            stage = f"{variant.name}, repeat {repeat + 1} of {self.p.repeats}"
            began = time.monotonic()
            ran = self._run(variant, repeat, stage)
            rows = self.measured(variant, repeat, ran.made, f"{stage}: measuring")
            also(variant, repeat, ran)
            rows["seconds"] = round(time.monotonic() - began, 2)
            runs = rows if runs.empty else pd.concat([runs, rows], ignore_index=True)
            done.add((variant.name, repeat))
            clock = self._clock(runs, [pair for pair in order if (pair[0].name, pair[1]) not in done])
            tables = {**tables_of(runs), "runs": runs, "time": clock}
            left = str(clock["left"].iloc[0])
            yield StudyStep(len(done), len(order), f"{stage}; {left}", {"done": len(done)}, tables)

    def measured(
        self, variant: Variant, repeat: int, made: pd.DataFrame, stage: str, names: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Return a row a measure of one output of a setting; the names are those of the parameters unless given."""
        found = measured.measure(self.context, self.records, made, names or self.p.measures, self.bank, stage)
        kind = "none" if variant.noiseless else self.terms[variant.name].guarantee.kind
        rows = [
            {"variant": variant.name, **variant.keys, "repeat": repeat, "kind": kind, "texts": len(made),
             "seconds": 0.0, "measure": one.measure, "title": measured.title(one.measure),
             "direction": measured.direction(one.measure), "value": one.value, "real": one.real, "why": one.why,
             "of_texts": one.texts, compared.FEWER: json.dumps(one.fewer)}
            for one in found
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=[RUNS[0], *variant.keys, *RUNS[1:]])

    def _run(self, variant: Variant, repeat: int, stage: str) -> Ran:
        rounds: list[tuple[int, pd.DataFrame]] = []

        def watch(step: MethodStep) -> None:
            if step.snapshot is not None:
                rounds.append((int(step.snapshot["iteration"]), _frame(step.snapshot)))

        context = self.context
        scratch = empty_folder(context.scratch, "run")
        try:
            made = rerun(
                context.run, variant.method, variant.values, self.records_of(variant), context.run.spans,
                variant.outputs, context.run.seed + 1000 * repeat, terms=self.terms[variant.name], embed=self._embed,
                scratch=scratch,
                progress=lambda what, done, total: context.progress(f"{stage}: {what}", done, total),
                noiseless=variant.noiseless, watch=watch,
            )  # fmt: skip
        finally:
            if scratch is not None:
                remove_tree(scratch)
        return Ran(made, tuple(rounds))

    def _clock(self, runs: pd.DataFrame, waiting: Sequence[tuple[Variant, int]]) -> pd.DataFrame:
        """Return a row with runs done, seconds taken and about how many are left.

        A setting that has run takes as long again; others as long as their plan says, scaled by how the plans of
        those that ran compare with the clock.
        """
        each = runs.drop_duplicates(["variant", "repeat"])
        took = each.groupby("variant")["seconds"].mean()
        plans = {v.name: max(1e-3, planned(v, self.terms[v.name].facts)) for v in self.variants}
        ratio = float(sum(took) / sum(plans[str(name)] for name in took.index))
        left = sum(float(took.get(v.name, ratio * plans[v.name])) for v, _ in waiting)
        words = "done" if not waiting else f"about {_minutes(left)} left"
        return pd.DataFrame(
            [{"runs": len(each), "of": len(each) + len(waiting), "seconds": float(each["seconds"].sum()),
              "seconds_left": round(left, 1), "left": words}]
        )  # fmt: skip


def standard(runs: pd.DataFrame, pairs: Sequence[tuple[str, str]], repeats: int, keys: Sequence[str] = ()) -> Tables:
    """Return the tables that every such study has: summary, comparison of the pairs, and both in words.

    Args:
        repeats: of each setting that were asked for; of a study under way fewer are there.
    """
    comparison = compared.compare(runs, pairs)
    there = runs.groupby("variant")["repeat"].nunique()
    return {
        "summary": compared.summary(runs, keys),
        "comparison": comparison,
        "in_words": compared.in_words(comparison, int(there.min()), repeats),
    }


def settings_for(method: str, values: JSONObject) -> JSONObject:
    """Return those of the values that a method has parameters for."""
    return {name: value for name, value in values.items() if name in get_method(method).spec.parameters.model_fields}


def check_settings(values: JSONObject, methods: Sequence[str], kept: Sequence[str] = ()) -> None:
    """Check settings that several methods share.

    Raises:
        UserError: no method has such a parameter, or the study sets it itself.
    """
    for name in values:
        if name in kept:
            raise UserError(f"settings: {name} is what this study varies; leave it out")
        if not any(name in get_method(method).spec.parameters.model_fields for method in methods):
            raise UserError(f"settings: none of {', '.join(methods)} has a parameter {name!r}")


def _frame(snapshot: Mapping[str, object]) -> pd.DataFrame:
    texts, labels = snapshot["texts"], snapshot["labels"]
    assert isinstance(texts, list | tuple)
    assert isinstance(labels, list | tuple)
    ids = [f"s-{i + 1:06d}" for i in range(len(texts))]
    return pd.DataFrame({"record_id": ids, "text": list(texts), "label": list(labels), "lineage": None})


def _minutes(seconds: float) -> str:
    if seconds < 90:
        return "a second" if seconds < 1.5 else f"{round(seconds)} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
