"""The control-code study: variants, repeats and the tables of Zhao and Field 2025 (Tables 1 to 6, 14 and 15).

Whether identifiers are known (accepted spans) or not (found by the detector) decides what the codes are made of;
leaks are counted on the accepted spans either way, as in its section 3.3.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

import pandas as pd

from engine.dp.upward import upward
from engine.json_types import JSON, JSONObject
from engine.methods.base import Context
from engine.methods.examples.common import token_counter
from engine.models.contracts import Detector, Embedder
from engine.pii.control_codes import Passage, Which
from engine.studies.base import TableRow
from engine.studies.bench.rerun import terms_of
from engine.studies.control_codes.measures import (
    Made,
    Variant,
    gold_passages,
    leaks,
    make,
    make_private,
    mauve,
    perplexity,
    summary,
    validity,
)
from engine.studies.control_codes.paper import CODES, first_table, paper_tables
from engine.studies.control_codes.parameters import PRIVATE, ControlCodesParameters

SHARED = ("icl", PRIVATE)  # read neither codes nor identifiers: the same texts in every setting
_ENOUGH = 0.5  # score from which a detected span counts where identifiers are not known
_EVERY_PART = 1000
REFERENCE = "real training text"
MASKED = "control-prefix-masked"
Known = Literal["known", "unknown"]
# The sweep over the objective: its direction, each weight at 0 and 4, and the weights of the published code.
WEIGHTS: Mapping[str, dict[str, JSON]] = {
    "paper": {"contrastive": "paper"},
    **{
        f"λ {name} {weight:g}": {f"lambda_{name}": weight} for name in ("lm", "contrast", "kl") for weight in (0.0, 4.0)
    },
    "λ 1, 4, 1.6": {"lambda_lm": 1.0, "lambda_contrast": 4.0, "lambda_kl": 1.6},
}


@dataclass(frozen=True)
class Inputs:
    """What the study reads: a context with records and accepted spans of the training part, and unseen records."""

    context: Context
    unseen: pd.DataFrame
    embedder: Embedder
    detector: Detector | None = None


@dataclass(frozen=True)
class Progress:
    """How far the study is; `tables` hold what is measured so far."""

    done: int
    total: int
    stage: str
    tables: dict[str, pd.DataFrame]


def settings_of(p: ControlCodesParameters) -> list[tuple[Which, Known]]:
    """Return what counts as private and whether it is known, one pair a table of the paper, the plainest first."""
    which: tuple[Which, ...] = ("direct", "quasi", "both") if p.identifiers == "each" else (p.identifiers,)
    known: tuple[Known, ...] = ("known", "unknown") if p.entities == "each" else (p.entities,)
    return [(identifiers, entities) for entities in known for identifiers in which]


def variants(p: ControlCodesParameters) -> list[Variant]:
    """Return the rows of the study: the methods in each setting, then the sweeps in the first one."""
    chosen = settings_of(p)
    rows = []
    for identifiers, entities in chosen:
        for method in p.methods:
            name = method if len(chosen) == 1 else f"{method} ({identifiers}, {entities})"
            rows.append(Variant(name, method, _set(p, method, identifiers), identifiers, entities, "", p.repeats))
    if p.sweep in ("examples", "each"):
        for method in [m for m in p.methods if "icl" in m]:
            for n, words in ((1, "1 example"), (2, "2 examples"), (5, "5 examples")):
                rows.append(_swept(p, f"{method}, {words}", method, "examples", {"examples": n}))
    if p.sweep in ("weights", "each"):
        rows += [_swept(p, f"{MASKED}, {name}", MASKED, "weights", weights) for name, weights in WEIGHTS.items()]
    return rows


def _set(p: ControlCodesParameters, method: str, identifiers: Which) -> dict[str, JSON]:
    if method == PRIVATE:
        return {"epsilon": p.epsilon, **({} if p.steps is None else {"steps": p.steps})}
    common: dict[str, JSON] = {} if p.minimum_tokens is None else {"minimum_tokens": p.minimum_tokens}
    if p.epochs is not None and "prefix" in method:
        common["epochs"] = p.epochs
    return common if method == "icl" else {**common, "identifiers": identifiers}


def _swept(p: ControlCodesParameters, name: str, method: str, sweep: str, values: JSONObject) -> Variant:
    identifiers, entities = settings_of(p)[0]
    settings = {**_set(p, method, identifiers), **values}
    return Variant(name, method, settings, identifiers, entities, sweep, p.sweep_repeats or p.repeats)


def study(
    p: ControlCodesParameters,
    inputs: Inputs,
    batch: Callable[[str, int, int], None] = lambda stage, done, total: None,
    before: Mapping[str, pd.DataFrame] | None = None,
) -> Iterator[Progress]:
    """Yield the tables after each run of a variant; repeats go round all variants, so that a stop leaves whole rounds.

    Args:
        p: what to run. inputs: what to read.
        batch: told stage, texts done and in all within a run.
        before: tables of an earlier, stopped study with the same parameters; its runs are not made again.
    """
    bench = Bench(p, inputs, batch)
    first = first_table(map(str, inputs.context.records["text"]), getattr(inputs.context.generator, "id", ""))
    rows, counts = (_rows(before, name) for name in ("runs", "counts"))
    chosen = variants(p)
    made_before = {(row["variant"], int(row["repeat"] or 0)) for row in rows}
    total = sum(v.repeats for v in chosen)
    if p.utility and (REFERENCE, 0) not in made_before:
        rows += bench.references()
    for repeat in range(max(v.repeats for v in chosen)):
        for variant in [v for v in chosen if repeat < v.repeats]:
            if (variant.name, repeat) in made_before:
                continue
            if inputs.context.cancelled():
                return
            stage = f"{variant.name}, run {repeat + 1}"
            found = bench.run(variant, repeat, stage)
            if found is None:
                return  # cancelled inside a run: a part of it is not measured
            row, counted = found
            rows.append(row)
            counts += counted
            done = len([r for r in rows if r["variant"] != REFERENCE])
            yield Progress(done, total, stage, tables(rows, counts, first))


class Bench:
    """Makes and measures runs; what several settings share is made once.

    The baseline and DP-SGD know neither codes nor identifiers: their texts are the same in every setting, only what
    counts as a leak differs.
    """

    def __init__(
        self, p: ControlCodesParameters, inputs: Inputs, batch: Callable[[str, int, int], None] = lambda s, d, t: None
    ) -> None:
        self.p, self.inputs, self.batch = p, inputs, batch
        context = inputs.context
        size = min(p.count, getattr(context.generator, "texts_a_call", context.batch_size))
        self.context = dataclasses.replace(context, count=p.count, batch_size=max(1, size))
        self.unseen = [x.text for x in gold_passages(inputs.unseen, context.spans, "direct", _EVERY_PART)]
        self._gold: dict[str, list[Passage]] = {}
        self._detected: pd.DataFrame | None = None
        self._shared: dict[tuple[str, int, int], tuple[Made, dict[str, float]]] = {}
        self._words: dict[str, dict[str, str]] = {}

    def gold(self, identifiers: Which) -> list[Passage]:
        """Return the training passages with the accepted spans that leaks are counted on."""
        if identifiers not in self._gold:
            self._gold[identifiers] = gold_passages(self.context.records, self.context.spans, identifiers)
        return self._gold[identifiers]

    def run(self, variant: Variant, repeat: int, stage: str) -> tuple[TableRow, list[TableRow]] | None:
        """Return the run's row and its counts, or None where it was cancelled."""
        method, examples = variant.method, int(str(variant.settings.get("examples", 0)))
        shared = (method, repeat, examples) if method in SHARED else None
        if shared is not None and shared in self._shared:
            made, useful = self._shared[shared]
        else:
            written = make_private if method == PRIVATE else make
            made = written(variant, self._seen(variant.entities), repeat, _told(self.batch, stage))
            if len(made.texts) < self.p.count:
                return None
            useful = self._useful(made.texts, repeat, stage)
            if shared is not None:
                self._shared[shared] = made, useful
        gold, generator = self.gold(variant.identifiers), self.context.generator
        assert generator is not None
        checked = validity(made, gold, token_counter(generator))
        said = self._said(variant)
        row: TableRow = {**variant.keys, **said, "repeat": repeat, **leaks(made, gold), **checked, **useful}
        again = [(f"tried again: {why}", n) for why, n in made.retries.items()]
        counted: list[TableRow] = [
            {"variant": variant.name, "repeat": repeat, "what": what, "count": count}
            for what, count in [*made.funnel.items(), *again, ("valid", checked["valid"])]
        ]
        return row, counted

    def _said(self, variant: Variant) -> dict[str, str]:
        """Return what is proven about a method here, and what control codes are to it."""
        if variant.method not in self._words:
            if variant.method == PRIVATE:
                proven = terms_of(self.context, PRIVATE, variant.settings, self.context.records).guarantee
                said = (
                    f"ε = {upward(proven.bound[0], 6)}, δ = {upward(proven.bound[1], 2)} a {proven.unit} "
                    f"({proven.adjacency}), for the "
                    "texts of a run alone; this study's numbers are not covered"
                )
            else:
                said = "none"
            self._words[variant.method] = {"guarantee": said, "codes": CODES[variant.method]}
        return self._words[variant.method]

    def _seen(self, entities: Known) -> Context:
        """Return the context with the spans that codes are made of."""
        if entities == "known":
            return self.context
        if self._detected is None:
            self._detected = detected(self.context.records, self.inputs.detector)
        return dataclasses.replace(self.context, spans=self._detected)

    def _useful(self, texts: Sequence[str], repeat: int, stage: str) -> dict[str, float]:
        if not self.p.utility:
            return {}
        return usefulness(self.inputs, texts, self.unseen, repeat, _told(self.batch, f"{stage}: measuring"))

    def references(self) -> list[TableRow]:
        """Return what as many real training passages give: the level that synthetic text is held against."""
        real = [x.text for x in self.gold("direct")]
        keys = {"variant": REFERENCE, "method": REFERENCE, "identifiers": "", "entities": "", "sweep": "",
                "guarantee": "none", "codes": "none"}  # fmt: skip
        rows: list[TableRow] = []
        for repeat in range(self.p.repeats):
            texts = Random(repeat).sample(real, min(self.p.count, len(real)))
            told = _told(self.batch, f"measuring real text, run {repeat + 1}")
            rows.append({**keys, "repeat": repeat, **usefulness(self.inputs, texts, self.unseen, repeat, told)})
        return rows


def _told(batch: Callable[[str, int, int], None], stage: str) -> Callable[[int, int], None]:
    return lambda done, total: batch(stage, done, total)


def _rows(before: Mapping[str, pd.DataFrame] | None, name: str) -> list[TableRow]:
    frame = (before or {}).get(name)
    return [] if frame is None else [{str(k): v for k, v in row.items()} for row in frame.to_dict(orient="records")]


def usefulness(
    inputs: Inputs,
    texts: Sequence[str],
    unseen: Sequence[str],
    repeat: int,
    on_batch: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, float]:
    """Return perplexity and MAUVE of texts against unseen ones; `on_batch` is told how far the tuning is."""
    assert inputs.context.generator is not None
    seed = inputs.context.seed + repeat
    return {
        "perplexity": perplexity(inputs.context.generator, texts, unseen, seed, on_batch=on_batch),
        "mauve": mauve(inputs.embedder, texts, unseen, seed),
    }


def detected(records: pd.DataFrame, detector: Detector | None) -> pd.DataFrame:
    """Return what the detector alone finds in the records, as spans."""
    assert detector is not None
    found = detector.detect([str(t) for t in records["text"]])
    rows = [
        (str(record), s["start"], s["end"], s["label"], s["identifier_type"])
        for record, spans in zip(records["record_id"], found, strict=True)
        for s in spans
        if s["score"] >= _ENOUGH
    ]
    return pd.DataFrame(rows, columns=["record_id", "start", "end", "label", "identifier_type"])


def tables(rows: Sequence[TableRow], counts: Sequence[TableRow], first: str = "table_1") -> dict[str, pd.DataFrame]:
    """Return the study's tables: the paper's by number, runs, summary with intervals, validity and counts."""
    runs = pd.DataFrame(list(rows))
    return {"summary": summary(runs), **paper_tables(runs, first), "runs": runs, "counts": pd.DataFrame(list(counts))}
