"""Study `filter-presets`: the seven configurations of the three-stage filter on records with planted values.

Source: Mohammed 2025, "Privacy-Aware Synthetic Data Generation", section 4.2, Table 1, Figures 1 to 5. As there the
canaries are on no list, and the similarity stage knows the planted identifiers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from engine.errors import InternalError
from engine.methods.filter.method import FilterMethod
from engine.methods.filter.parameters import PRESET_TITLES, PRESETS, FilterParameters
from engine.pii.spans import Span
from engine.studies.base import StudyContext, StudySpec, StudyStep
from engine.studies.filter_presets import apart, measures
from engine.studies.filter_presets.measures import Outputs
from engine.studies.filter_presets.parameters import EVERY, FilterPresetsParameters
from engine.studies.injected import Planted, canary_phrases, plant

REAL = "reference"  # clean records themselves; divergences: as many holdout records
_SPANS = ["record_id", "start", "end", "label", "identifier_type"]


@dataclass(frozen=True)
class _Material:
    """Records as the study uses them: clean, and with values planted."""

    rows: pd.DataFrame
    clean: list[str]
    planted: list[Planted]
    canaries: tuple[str, ...]

    @property
    def contaminated(self) -> pd.DataFrame:
        """Return the records with planted values, as a run gets them."""
        return self.rows.assign(text=[p.text for p in self.planted])

    @property
    def spans(self) -> pd.DataFrame:
        """Return the accepted spans, moved along; planted values are for the filter to find."""
        ids = self.rows["record_id"]
        found = [
            (r, s.start, s.end, s.label, s.identifier_type)
            for r, p in zip(ids, self.planted, strict=True)
            for s in p.spans
        ]
        return pd.DataFrame(found, columns=_SPANS)

    @property
    def values(self) -> tuple[str, ...]:
        """Return the planted identifiers."""
        return tuple(p.text[s.start : s.end] for p in self.planted for s in p.identifiers)


class FilterPresetsStudy:
    """Plant, generate with each configuration, measure, compare."""

    spec = StudySpec(
        id="filter-presets",
        title="The three-stage filter, stage by stage",
        summary="Fake identifiers and canary phrases are planted in copies of records; each of the filter's seven "
        "configurations writes from them; what leaks and what the outputs are worth is measured.",
        citation="Mohammed 2025, Privacy-Aware Synthetic Data Generation, Table 1, Figures 1 to 5",
        parameters=FilterPresetsParameters,
        needs=("generator", "operators", "embedder", "detector", "spans"),
    )

    def run(self, context: StudyContext) -> Iterator[StudyStep]:
        """Yield the tables after the references and after each configuration."""
        p = context.parameters
        if not isinstance(p, FilterPresetsParameters):
            raise InternalError("filter-presets was started with another study's parameters")
        material = _material(context, p)
        finished = list((context.state or {}).get("finished", []))
        tables = dict(context.tables)
        total = len(p.presets) + 1
        if REAL not in finished:
            context.progress("reference", 0, 1)
            tables = _joined(tables, _reference(context, material))
            finished.append(REAL)
            yield StudyStep(len(finished), total, "reference", {"finished": list(finished)}, tables)
        for preset in p.presets:
            if preset in finished:
                continue
            made = _generate(context, p, material, preset)
            if made is None:
                return  # cancelled inside a configuration: a part of it is not measured
            tables = _joined(tables, _measured(context, material, preset, made))
            tables |= _compared(tables, [name for name in EVERY if name in (*finished, preset)])
            finished.append(preset)
            yield StudyStep(len(finished), total, PRESET_TITLES[preset], {"finished": list(finished)}, tables)


def _material(context: StudyContext, p: FilterPresetsParameters) -> _Material:
    rows = context.run.records.head(p.records).reset_index(drop=True)
    texts = [str(t) for t in rows["text"]]
    by_record = {str(key): part for key, part in context.run.spans.groupby("record_id")}
    spans = []
    for record_id in rows["record_id"]:
        part = by_record.get(str(record_id))
        columns = () if part is None else zip(*(part[name] for name in _SPANS), strict=True)
        spans.append([Span(str(r), int(s), int(e), str(x), identifier_type=k) for r, s, e, x, k in columns])
    canaries = canary_phrases(min(p.canaries, len(rows)), context.run.seed)
    return _Material(rows, texts, plant(texts, spans, p.identifiers, canaries, context.run.seed), canaries)


def _generate(context: StudyContext, p: FilterPresetsParameters, material: _Material, preset: str) -> Outputs | None:
    """Return what one configuration writes from the contaminated records; None where it was stopped."""
    title = PRESET_TITLES[preset]
    run = dataclasses.replace(
        context.run,
        records=material.contaminated,
        spans=material.spans,
        count=len(material.rows),
        parameters=filter_parameters(p, preset, material.values, material.canaries),
        state=None,
    )
    number = {str(record_id): i for i, record_id in enumerate(material.rows["record_id"])}
    texts: list[str] = []
    sources: list[int] = []
    similar, nearest = 0, []
    context.progress(title, 0, run.count)
    for step in FilterMethod().run(run):
        texts += [record.text for record in step.records]
        sources += [number[str(record.lineage)] for record in step.records]
        similar += int(step.diagnostics["replaced_as_similar"])
        nearest += [float(value) for value in step.diagnostics["nearest_sensitive_item"]]
        context.progress(title, step.done, step.total)
    return (
        None
        if run.cancelled()
        else Outputs(tuple(texts), tuple(sources), similar, () if PRESETS[preset]["post"] == "none" else tuple(nearest))
    )


def filter_parameters(
    p: FilterPresetsParameters, preset: str, values: tuple[str, ...], canaries: tuple[str, ...]
) -> FilterParameters:
    """Return the filter's settings for one configuration of the study."""
    settings: dict[str, Any] = {
        "preset": preset,
        "operator": p.operator,
        "sensitive": (*values, *canaries) if p.canaries_known else values,
    }
    if PRESETS[preset]["pre"] != "none":
        settings |= {"pre": p.replacement, "flag_unknown": p.flag_unknown}
    if PRESETS[preset]["blocked"]:
        settings["block_identifiers"] = p.block_identifiers
    return FilterParameters.model_validate(settings)


def _measured(context: StudyContext, material: _Material, preset: str, made: Outputs) -> dict[str, pd.DataFrame]:
    run, seed = context.run, context.run.seed
    assert run.embedder is not None
    assert run.generator is not None
    context.progress(f"{PRESET_TITLES[preset]}: measuring", 0, 1)
    to_source = measures.similarities(made, [p.text for p in material.planted], run.embedder)
    to_clean = measures.similarities(made, material.clean, run.embedder)
    rows = [
        *measures.privacy(made, material.planted),
        *measures.stage(made),
        measures.average("source_similarity", to_source, seed),
        measures.average("semantic_similarity", to_clean, seed),
        measures.perplexity(made.texts, run.generator, seed),
        *measures.divergences(made.texts, material.clean),
        *measures.statistics(made.texts, seed),
        ("outputs", float(len(made.texts)), float("nan"), float("nan"), len(made.texts)),
    ]
    return {
        "summary": measures.frame(preset, rows),
        "similarity": pd.DataFrame({"variant": preset, "value": to_source}),
        "written": measures.written(made, run.surrogate_key).assign(variant=preset),
    }


def _reference(context: StudyContext, material: _Material) -> dict[str, pd.DataFrame]:
    """Return what the clean records themselves give; divergences are those of as many holdout records."""
    run, seed = context.run, context.run.seed
    assert run.generator is not None
    unseen = [str(t) for t in context.holdout["text"].head(len(material.clean))]
    rows = [
        measures.perplexity(material.clean, run.generator, seed),
        *measures.divergences(unseen, material.clean),
        *measures.statistics(material.clean, seed),
    ]
    settings = pd.DataFrame(
        [{"variant": name, **{k: len(v) if k == "blocked" else v for k, v in PRESETS[name].items()}} for name in EVERY]
    )
    return {"summary": measures.frame(REAL, rows), "settings": settings}


def _compared(tables: dict[str, pd.DataFrame], names: list[str]) -> dict[str, pd.DataFrame]:
    """Return which configurations can be told apart, pair by pair and in words; nothing while there is but one."""
    if len(names) < 2:
        return {}
    comparison = apart.compare(tables, names)
    said = apart.sentences(comparison, PRESET_TITLES)
    return {"comparison": comparison, "in_words": pd.DataFrame({"sentence": said})}


def _joined(old: dict[str, pd.DataFrame], new: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the old tables with the new rows below."""
    joined = dict(old)
    for name, table in new.items():
        joined[name] = pd.concat([old[name], table], ignore_index=True) if name in old else table
    return joined
