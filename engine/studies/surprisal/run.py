"""Study `surprisal`: models tuned with and without some people are asked how surprising those people's records are.

Source: Stomakhin 2025, Framework for Privacy-Preserving Synthesis of Textual Data, section 6; Zhang et al. 2023,
Counterfactual Memorization in Neural Language Models; Carlini et al. 2021, Extracting Training Data from Large Language
Models.

Privacy posture: tuned models are private text; each lies in the study's own folder while it is scored, and is deleted
before the next is trained. Tables hold numbers and record ids, never text.
"""

from __future__ import annotations

import dataclasses
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engine.errors import InternalError, UserError
from engine.examine.curves.ngram_sampling import draw_sources
from engine.json_types import JSONObject
from engine.methods import get_method
from engine.methods.base import parse_parameters
from engine.models.contracts import Generator
from engine.store.disk.folder import remove_tree
from engine.studies import lemmas
from engine.studies.base import StudyContext, StudySpec, StudyStep
from engine.studies.bench.rerun import Terms, rerun, terms_of, tuned_generator
from engine.studies.bench.settings import parsed_settings
from engine.studies.surprisal import counterfactual
from engine.studies.surprisal import shown as analysis
from engine.studies.surprisal.parameters import SurprisalParameters
from engine.studies.surprisal.tables import extraction_rates, fragments_of
from engine.studies.units import some_units, unit_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.dp.noise.train import Document
    from engine.examine.members.trained.surprisal import Surprisal
    from engine.methods.tuned.common import TunedPrompts
    from engine.methods.tuned.parameters import TuningParameters
    from engine.models.tune.tunable import Tunable
    from engine.pii.languages.lemmas import Lemmatiser

TUNING = ("finetune", "goldfish", "dp-finetune")
_KEPT = ("scores", "extracted", "public")
_COLUMNS = ["model", "record_id", "unit", "side", "half", "surprisal", "tokens", "reference", "right"]

Told = Callable[[str, int, int], None]  # what is under way, done, in all


@dataclass(frozen=True)
class _World:
    """X, its units, the sets left out, the records asked about, and how the method prompts."""

    x: pd.DataFrame
    units: NDArray[np.int64]
    sets: list[NDArray[np.int64]]
    asked: NDArray[np.int64]
    values: JSONObject
    terms: Terms
    p: TuningParameters
    domain: str
    lemmatiser: Lemmatiser | None = None  # what has put the words of x into their first form


class SurprisalStudy:
    """Train with and without, ask, compare."""

    spec = StudySpec(
        id="surprisal",
        title="How surprised a tuned model is by those it has seen",
        summary="Tunes models without some people each, and asks how surprising the records of those left out and of "
        "those kept in are; with the same comparison between people who were all in, prefix extraction, and what each "
        "record left behind.",
        citation="Stomakhin 2025, Framework for Privacy-Preserving Synthesis of Textual Data, section 6; Zhang et al. "
        "2023, Counterfactual Memorization in Neural Language Models",
        parameters=SurprisalParameters,
        needs=("generator", "operators", "train"),
    )

    def run(self, context: StudyContext) -> Iterator[StudyStep]:
        """Yield the tables after each model."""
        p = context.parameters
        if not isinstance(p, SurprisalParameters):
            raise InternalError("surprisal was started with another study's parameters")
        asked = lemmas.counted([str(text) for text in context.run.records["text"]], p.words, p.language)
        worlds = _worlds(context, _world(context, p), asked)
        tables = {name: with_words(renamed(context.tables[name])) for name in _KEPT if name in context.tables}
        done = int((context.state or {}).get("done", 0))
        steps = [(kind, model) for kind in asked.kinds for model in range(p.models)]
        steps += [(asked.kinds[0], p.models)] if p.fragments else []
        for number, (kind, model) in enumerate(steps[done:], start=done + 1):
            excluded = worlds[kind].sets[model] if model < p.models else None
            new = _asked(context, p, worlds[kind], model, excluded)
            tables |= {
                name: pd.concat([frame for frame in (tables.get(name), with_words(part, kind)) if frame is not None],
                                ignore_index=True)
                for name, part in new.items()
            }  # fmt: skip
            context.progress("comparing", number - 1, len(steps))
            title = "the public model" if excluded is None else f"model {model + 1}, {p.excluded} units left out"
            title += " (lemmas)" if kind == lemmas.LEMMAS else ""
            results = _by_kind(tables, asked.kinds, context.run.seed, number == len(steps))
            yield StudyStep(
                number, len(steps), title, {"done": number}, tables | results | {"words": asked.table()}
            )  # fmt: skip


def _worlds(context: StudyContext, world: _World, asked: lemmas.Counted) -> dict[str, _World]:
    """Return X as it is written, and with every word in its first form; the same people are left out of both."""
    found = {lemmas.FORMS: world}
    if asked.lemmatiser is not None:
        texts = []
        for at, text in enumerate(world.x["text"]):
            context.progress("lemmas", at, len(world.x))
            texts.append(asked.lemmatiser.text(str(text)))
        found[lemmas.LEMMAS] = dataclasses.replace(world, x=world.x.assign(text=texts), lemmatiser=asked.lemmatiser)
    return found


def with_words(table: pd.DataFrame, kind: str = lemmas.FORMS) -> pd.DataFrame:
    """Return a table that says what was counted; one of an earlier edition is of forms."""
    return table if "words" in table else table.assign(words=kind)


def renamed(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of an earlier edition, in which `words` were those that agreed, under today's names."""
    earlier = "longest" in table and "agreed" not in table
    return table.rename(columns={"words": "agreed"}) if earlier else table


def _by_kind(
    tables: Mapping[str, pd.DataFrame], kinds: Sequence[str], seed: int, last: bool
) -> dict[str, pd.DataFrame]:
    """Return the results of each kind that has scores, one below the other, `words` their last column."""
    found: dict[str, list[pd.DataFrame]] = {}
    for kind in kinds:
        own = {name: part for name, table in tables.items() if len(part := lemmas.of_kind(table, kind))}
        made = _results(own, seed, last) if "scores" in own else {}
        for name, table in made.items():
            found.setdefault(name, []).append(with_words(table, kind))
    return {name: pd.concat(parts, ignore_index=True) for name, parts in found.items()}


def _results(tables: Mapping[str, pd.DataFrame], seed: int, last: bool) -> dict[str, pd.DataFrame]:
    scores = tables["scores"]
    found = analysis.tables_of(scores, seed, curves=last) | counterfactual.tables_of(scores, seed)
    if "extracted" in tables:
        found["extraction"] = extraction_rates(tables["extracted"])
    if "public" in tables:
        found["fragments"] = fragments_of(scores, tables["public"], seed)
    return found


def _world(context: StudyContext, p: SurprisalParameters) -> _World:
    from engine.methods.domains import guess_domain
    from engine.methods.evolution.common import resolved
    from engine.methods.tuned.parameters import TuningParameters

    if p.method not in TUNING:
        raise UserError(f"method: this study asks tuned models; choose one of {', '.join(TUNING)}")
    run, method = context.run, get_method(p.method)
    values = parsed_settings(p.settings)
    parameters = parse_parameters(method.spec, values)
    assert isinstance(parameters, TuningParameters)
    x = some_units(run.records, run.unit, p.records, run.seed)
    units = unit_numbers(x, run.unit)
    sets = draw_sources(int(units.max()) + 1, p.excluded, p.models, run.seed)
    texts = [str(text) for text in x["text"]]
    guess = method.spec.kind != "dp" and parameters.domain == "auto"
    context.progress("accounting", 0, 1)
    return _World(
        x, units, sets, _to_ask(units, sets, p.scored, run.seed), values, terms_of(run, p.method, values, x),
        parameters, guess_domain(texts) if guess else resolved(parameters.domain),
    )  # fmt: skip


def _to_ask(units: NDArray[np.int64], sets: Sequence[NDArray[np.int64]], scored: int, seed: int) -> NDArray[np.int64]:
    """Return the rows that every model is asked about: at most `scored` of each set and of those in every model."""
    rng = np.random.default_rng([seed, 2])
    groups = [np.flatnonzero(np.isin(units, chosen)) for chosen in sets]
    groups.append(np.flatnonzero(~np.isin(units, np.concatenate(sets))))
    return np.unique(np.concatenate([rng.permutation(group)[:scored] for group in groups]))


def _asked(
    context: StudyContext, p: SurprisalParameters, world: _World, model: int, excluded: NDArray[np.int64] | None
) -> dict[str, pd.DataFrame]:
    """Train one model, ask it, and delete it."""
    title = "public model" if excluded is None else f"model {model + 1}"

    def told(stage: str, done: int, total: int) -> None:
        context.progress(f"{title}: {stage}", done, total)

    inside = world.x if excluded is None else world.x[~np.isin(world.units, excluded)]
    with _Folder(context, model) as folder:
        seed = context.run.seed * 1_000_003 + 7919 * (model + 1)
        try:
            rerun(
                context.run, p.method, world.values, inside, context.run.spans, 1, seed, terms=world.terms,
                scratch=folder.path, progress=told,
            )  # fmt: skip
        except UserError:
            if not (folder.path / "tuned" / "model.safetensors").is_file():
                raise  # a model that writes nothing usable can still be asked
        generator = tuned_generator(context.run, folder.path, world.p.tuned_model)
        if excluded is None:
            return {"public": _public(context, p, world, generator)}
        new = {"scores": _scored(context, world, generator, model, excluded, told)}
        if p.prefixes:
            new["extracted"] = _extracted(context, p, world, generator, model, excluded, told)
        return new


@dataclass
class _Folder:
    """A folder of one training that is gone afterwards, also when training fails."""

    context: StudyContext
    model: int

    def __enter__(self) -> _Folder:
        kept = self.context.scratch
        self.path = Path(tempfile.mkdtemp()) if kept is None else kept / f"model-{self.model}"
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self

    def __exit__(self, *error: object) -> None:
        remove_tree(self.path)


def _prompts(context: StudyContext, world: _World, net: Tunable) -> TunedPrompts:
    from engine.methods.tuned.common import TunedPrompts

    return TunedPrompts(context.run.operators, net.bare, world.domain, world.p.kind)


def _documents(rows: pd.DataFrame) -> list[Document]:
    from engine.dp.noise.train import Document

    labels = [str(label) if isinstance(label, str) else None for label in rows["label"]]
    return [Document(str(text), label) for text, label in zip(rows["text"], labels, strict=True)]


def _scored(
    context: StudyContext,
    world: _World,
    generator: Generator,
    model: int,
    excluded: NDArray[np.int64],
    told: Told,
) -> pd.DataFrame:
    from engine.examine.members.trained.surprisal import network_of, surprisal

    rows, units = world.x.iloc[world.asked], world.units[world.asked]
    documents = _documents(rows)

    def ask(of: Generator, stage: str) -> Surprisal:
        net = network_of(of)
        head = _prompts(context, world, net).head
        return surprisal(net, documents, head, world.p.tokens, lambda done, total: told(stage, done, total))

    base = None if world.p.tuned_model else context.run.generator  # another folder was tuned: not its start
    mine = ask(generator, "asking")
    reference = np.full(len(rows), math.nan) if base is None else ask(base, "asking the untuned model").nats
    gone = np.isin(units, excluded)
    halves = analysis.control_halves(units[~gone].tolist(), context.run.seed + model + 1)  # the public model is −1
    columns = [
        model, rows["record_id"].astype(str).to_numpy(), units, np.where(gone, "excluded", "included"),
        [halves.get(unit, "") for unit in units.tolist()], mine.nats, mine.tokens, reference, mine.right,
    ]  # fmt: skip
    return pd.DataFrame(dict(zip(_COLUMNS, columns, strict=True)))


def _extracted(
    context: StudyContext, p: SurprisalParameters, world: _World, generator: Generator, model: int,
    excluded: NDArray[np.int64], told: Told,
) -> pd.DataFrame:  # fmt: skip
    """Return, for each record and strategy, how many words of its continuation the model gave."""
    from engine.examine.members.trained.surprisal import network_of
    from engine.studies.surprisal.extraction import STRATEGIES, extract, split_prefix

    prompts = _prompts(context, world, network_of(generator))
    rows, units = world.x.iloc[world.asked], world.units[world.asked]
    gone = np.isin(units, excluded)
    rng = np.random.default_rng([context.run.seed, 3, model])
    found: list[pd.DataFrame] = []
    for side, part in (("included", np.flatnonzero(~gone)), ("excluded", np.flatnonzero(gone))):
        chosen: list[int] = []
        asked: list[str] = []
        rest: list[str] = []
        for at in rng.permutation(part):
            text, label = str(rows["text"].iloc[at]), rows["label"].iloc[at]
            cut = split_prefix(text, p.prefix_words)
            if cut is not None and len(chosen) < p.prefixes:
                chosen.append(int(at))
                asked.append(prompts.head(label if isinstance(label, str) else None, len(text.split())) + cut[0])
                rest.append(cut[1])
        for strategy in STRATEGIES:
            made = extract(
                generator, asked, rest, strategy, p.prefix_words, context.run.seed + model,
                lambda done, total: told("extracting", done, total),
            )  # fmt: skip
            found.append(
                pd.DataFrame(
                    {"model": model, "record_id": rows["record_id"].iloc[chosen].astype(str).to_numpy(),
                     "unit": units[chosen], "side": side, "strategy": strategy, "asked": p.prefix_words,
                     "agreed": made.words, "longest": made.longest}
                )
            )  # fmt: skip
    return pd.concat(found, ignore_index=True)


def _public(context: StudyContext, p: SurprisalParameters, world: _World, generator: Generator) -> pd.DataFrame:
    """Return the public model's surprisal of each fragment, a model of all of X."""
    every = pd.concat([context.run.records, context.holdout], ignore_index=True)
    rows = every[every["record_id"].astype(str).isin(p.fragments)]
    if world.lemmatiser is not None:
        rows = rows.assign(text=[world.lemmatiser.text(str(text)) for text in rows["text"]])
    missing = len(set(p.fragments)) - rows["record_id"].nunique()
    if missing:
        raise UserError(f"fragments: {missing} of the ids belong to no record of this corpus; correct them")
    shown = dataclasses.replace(
        world, x=rows.reset_index(drop=True), units=np.arange(len(rows)), asked=np.arange(len(rows))
    )
    scored = _scored(context, shown, generator, -1, np.array([], np.int64), context.progress)
    return scored.drop(columns=["side", "half", "unit"])
