"""The filter around another method (`filter:METHOD`): the last stage passes over whatever that method makes.

Source: Mohammed 2025, sections 6 and 7.1 ("a lightweight final check to accompany stronger data filtering"; its
integration with differential privacy is named as future work).

Around a method of kind `dp` the filter holds no record, no accepted span and not the corpus' own detector, whose lists
a custodian fills from the records: it uses the shipped recognisers and the phrases named in its parameters. It is then
a function of the output and of public rules alone, and the guarantee stays (post-processing; Dwork and Roth 2014,
proposition 2.1). Rules that look at private records would turn it into "dp before selection"; they are not offered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import BaseModel, Field, create_model

from engine.dp.guarantee import Guarantee
from engine.errors import InternalError, UserError
from engine.json_types import JSON
from engine.methods.base import Context, Facts, Make, Method, MethodSpec, Plan, Spreading, Step
from engine.methods.filter.parameters import FilterParameters
from engine.methods.filter.parts import post_filter
from engine.methods.filter.stages import PostFilter, placeholders

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant
    from engine.models.contracts import Detector

PREFIX = "filter:"
_SECONDS_A_RECORD = 0.02
_ALREADY = ("filter",)  # has the stage itself
_FIELDS: dict[str, Any] = {
    "filter_post": (
        Literal["fixed", "adaptive", "none"],
        Field("fixed", description="Filter: one similarity threshold, one a content type, or no comparison."),
    ),
    "filter_threshold": (
        float,
        Field(0.92, gt=0, le=1, description="Filter: similarity from which words or a sentence count as known."),
    ),
    "filter_action": (
        Literal["redact", "drop"],
        Field("redact", description="Filter: redact what is too near a known item, or drop the output."),
    ),
    "filter_sensitive": (
        tuple[str, ...],
        Field((), description="Filter: phrases nothing may come near to. Around an ε–δ method they must be public."),
    ),
    "filter_minimum_score": (
        float,
        Field(0.5, ge=0, le=1, description="Filter: lowest detection score that is acted on."),
    ),
}
_PUBLIC = (
    "The filter's rules are public: the recognisers shipped with the program and the phrases named in its parameters, "
    "none of which was taken from the records."
)
_VOID = "A phrase or rule of the filter was chosen by looking at the records."


def wrap(method: Method) -> Method:
    """Return the method with the filter behind it.

    Raises:
        UserError: it is the filter itself.
    """
    if method.spec.id in _ALREADY or method.spec.id.startswith(PREFIX):
        raise UserError(f"method {method.spec.id!r} filters its output already; name another method behind {PREFIX!r}")
    return FilteredMethod(method)


class FilteredMethod:
    """Another method's run with the filter's last stage behind each step."""

    def __init__(self, inner: Method) -> None:
        self.inner, spec = inner, inner.spec
        self.spec = MethodSpec(
            id=PREFIX + spec.id,
            title=f"{spec.title}, filtered",
            summary=f"{spec.summary} Then a filter passes over what came out.",
            origin=f"{spec.origin} A filter then took out or changed records.",
            keeps_text=spec.keeps_text,
            citation=f"{spec.citation}; Mohammed 2025, Privacy-Aware Synthetic Data Generation",
            kind="heuristic" if spec.kind == "none" else spec.kind,
            needs=tuple(dict.fromkeys((*spec.needs, "embedder", "detector"))),
            parameters=_parameters(spec.parameters),
            good_for=spec.good_for,
            bad_for=spec.bad_for,
            one_to_one=spec.one_to_one,
        )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return the inner method's claim; the filter adds the assumption that its rules are public."""
        claim = self.inner.guarantee(self._inner(parameters), facts, accountant)
        if claim.kind == "dp":
            return replace(claim, assumptions=(*claim.assumptions, _PUBLIC), voided_by=(*claim.voided_by, _VOID))
        return claim

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return the inner method's cost and the filter's seconds."""
        plan = self.inner.plan(self._inner(parameters), facts, count)
        return replace(plan, seconds=round(plan.seconds + count * _SECONDS_A_RECORD, 1))

    def run(self, context: Context) -> Iterator[Step]:
        """Yield the inner method's steps with their records filtered; state and funnel are the inner method's."""
        if context.embedder is None or context.detector is None:
            raise InternalError("the filter was started without embedder or detector")
        post = _last_stage(context, self.spec.kind)
        inner = replace(context, parameters=self._inner(context.parameters))
        for step in self.inner.run(inner):
            yield _filtered(step, post)

    def maker(self, context: Context, known: JSON) -> Make:
        """Return what makes pieces of the inner method."""
        if not isinstance(self.inner, Spreading):
            raise InternalError(f"method {self.inner.spec.id!r} has no pieces")
        return self.inner.maker(replace(context, parameters=self._inner(context.parameters)), known)

    def _inner(self, parameters: BaseModel) -> BaseModel:
        names = self.inner.spec.parameters.model_fields
        return self.inner.spec.parameters.model_validate({name: getattr(parameters, name) for name in names})


def _parameters(inner: type[BaseModel]) -> type[BaseModel]:
    taken = set(inner.model_fields) & set(_FIELDS)
    if taken:
        raise InternalError(f"the wrapped method has parameters of the filter's names: {', '.join(sorted(taken))}")
    made: type[BaseModel] = create_model(f"Filtered{inner.__name__}", __base__=inner, **_FIELDS)
    return made


def _last_stage(context: Context, kind: str) -> PostFilter:
    p: Any = context.parameters
    if kind == "dp":
        context = replace(context, records=context.records.iloc[:0], spans=context.spans.iloc[:0])
        context = replace(context, detector=_public_detector())
    names = ("post", "threshold", "action", "sensitive", "minimum_score")
    values = {name: getattr(p, f"filter_{name}") for name in names}
    return post_filter(context, FilterParameters.model_validate(values), placeholders)


@cache
def _public_detector() -> Detector:
    """Return a detector that knows the shipped rules and no custodian's list."""
    from engine.pii.detect.detector import RecordDetector
    from engine.pii.detect.settings import DetectorSettings

    return RecordDetector(DetectorSettings())


def _filtered(step: Step, post: PostFilter) -> Step:
    """Return the step with its records filtered; dropped ones move from kept to a stage of their own."""
    if not step.records:
        return step
    none = np.zeros((0, 1), dtype=np.float32)
    entries = post.apply([record.text for record in step.records], [none] * len(step.records))
    post.similarities.clear()
    kept = tuple(
        replace(record, text=entry.text)
        for record, entry in zip(step.records, entries, strict=True)
        if entry is not None and entry.text.strip()
    )
    funnel, lost = dict(step.funnel), len(step.records) - len(kept)
    if lost:
        funnel["kept"] = funnel.get("kept", len(step.records)) - lost
        funnel["dropped: too near a known sensitive item"] = lost
    changed = sum(entry.replaced for entry in entries if entry is not None)
    return replace(
        step, records=kept, funnel=funnel, diagnostics={**step.diagnostics, "replaced_after_generation": changed}
    )
