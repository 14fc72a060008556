"""Replace every accepted span by a consistent, type-true surrogate; one record in, one record out.

Reference: Stubbs, Uzuner et al. 2015, "Challenges in synthesizing surrogate PHI in narrative EMRs"
(co-referent surrogates, one date shift a person). The shift and every choice are keyed, not drawn
afresh, so a run that is taken up again gives the same texts.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from engine.dp.guarantee import Guarantee
from engine.errors import InternalError, UserError
from engine.json_types import JSON, JSONObject, as_list, as_number, as_object
from engine.methods.base import Context, Facts, Make, MethodSpec, Piece, Plan, Step, SyntheticRecord
from engine.methods.parameters import FlaggingParameters
from engine.pii.languages.telling import languages_of
from engine.pii.redact import redact
from engine.pii.spans import LABELS, IdentifierType, Span, canonical_label
from engine.pii.surrogates import SurrogateMaker
from engine.pii.surrogates.dates import month_first

if TYPE_CHECKING:
    import pandas as pd

    from engine.dp.accounting.accountant import Accountant

_SECONDS_A_CHARACTER = 1.2e-6  # measured on one CPU core, spans at the density of clinic letters
_SECONDS_A_RECORD = 0.0004
_BATCHES_A_STEP = 4  # records are cheap here: fewer, larger commits
_STEPS, _LARGEST_STEP = 64, 1_000  # of a large corpus, which several workers may share
_NAMING = frozenset(LABELS) - {"DATE", "AGE", "QUANTITY", "DEMOGRAPHIC", "MISC"}


class SurrogateParameters(FlaggingParameters):
    """Settings of the replacement."""

    model_config = ConfigDict(extra="forbid")

    date_shift_days_max: int = Field(
        365, ge=1, le=3650, description="Largest shift of a unit's dates, in days; never zero (Stubbs et al. 2015)."
    )
    keep_labels: tuple[str, ...] = Field(
        (), description="Types whose true values stay in the text, for instance QUANTITY. Keep none for a release."
    )
    without_spans: Literal["drop", "copy"] = Field(
        "drop",
        description="A record in which nothing was found: leave it out, or copy it as it is, which needs a consent.",
    )
    copies_accepted: int = Field(
        0,
        ge=0,
        description="Consent to copies: up to how many records in which nothing was found may be copied as they are.",
    )
    unreplaceable: Literal["redact", "keep"] = Field(
        "redact",
        description="A value with no surrogate (a relative day, an unknown occupation): its type in brackets, or kept.",
    )

    @field_validator("keep_labels")
    @classmethod
    def _known(cls, labels: tuple[str, ...]) -> tuple[str, ...]:
        unknown = [label for label in labels if label not in LABELS]
        if unknown:
            raise ValueError(f"keep_labels must be among {', '.join(LABELS)}; got {', '.join(unknown)}")
        return labels


class SurrogateMethod:
    """Replace accepted spans by surrogates."""

    spec = MethodSpec(
        id="surrogate",
        title="Surrogates",
        summary="Keeps each text and replaces every accepted span with an invented value of the same type: the same "
        "person stays one person, and all dates of a unit move by the same number of days.",
        origin="Each record is an original text in which values that were marked as identifying are replaced by "
        "invented ones. The rest is the original, word for word.",
        keeps_text=True,
        citation="Stubbs, Uzuner et al. 2015, Challenges in synthesizing surrogate PHI in narrative EMRs",
        kind="heuristic",
        needs=("spans",),
        parameters=SurrogateParameters,
        good_for="Readable texts that keep their structure, for people who may see the rest of the text.",
        bad_for="Text whose story identifies a person, and any setting that needs a provable bound.",
        one_to_one=True,
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return the statement that there is no formal guarantee."""
        assert isinstance(parameters, SurrogateParameters)
        kept = bool(parameters.keep_labels) or parameters.unreplaceable == "keep"
        copied = parameters.without_spans == "copy"
        return Guarantee(
            kind="heuristic",
            sentence="No formal guarantee: every accepted span is replaced, but the rest of each text is the "
            "original, word for word, and what it tells can still point to a person.",
            unit=facts.unit,
            assumptions=(
                "Every identifying mention was found by the detector or by the reviewer.",
                "The workspace's surrogate key stays secret.",
            ),
            voided_by=(
                "An identifier was missed: it stands in the text as it was.",
                "A rare event or a combination of details in the text points to a person.",
                *(("Some types of values were kept on purpose: they are the true ones.",) if kept else ()),
                *(("Records in which nothing was found were copied: they are originals.",) if copied else ()),
            ),
        )

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return the seconds that `count` outputs take; no model is called."""
        each = _SECONDS_A_RECORD + facts.mean_characters * _SECONDS_A_CHARACTER
        return Plan(
            model_calls=0,
            tokens=0,
            seconds=round(count * each + 0.5, 1),
            outputs=count,
            notes=("One output for each training record; no model is used.",),
        )

    def run(self, context: Context) -> Iterator[Step]:
        """Yield one step for each few batches, by position in the records' order."""
        parameters = context.parameters
        if not isinstance(parameters, SurrogateParameters):
            raise InternalError("surrogate was started with another method's parameters")
        if len(context.spans) == 0:
            raise UserError("surrogate needs accepted spans; this corpus has none: run detect, or import gold spans")
        total = min(context.count, len(context.records))
        position = int((context.state or {}).get("position", 0))
        if position >= total or context.cancelled():
            return
        work = _Work(context, parameters)
        refusal = copies_refused(parameters, sum(1 for record in work.rows[:total] if not work.spans.get(record[0])))
        if refusal:
            raise UserError(refusal)
        size = min(_LARGEST_STEP, max(_BATCHES_A_STEP * max(1, context.batch_size), -(-total // _STEPS)))
        pieces = [Piece(start, min(start + size, total)) for start in range(position, total, size)]
        for piece, found in zip(pieces, context.spread(pieces, None, work.make), strict=False):
            funnel = as_object(found["funnel"])
            yield Step(
                state={"position": piece.end},
                records=tuple(map(_record, as_list(found["texts"]), as_list(found["of"]))),
                funnel={stage: int(as_number(count) or 0) for stage, count in funnel.items()},
                stage="replacing",
                done=piece.end,
                total=total,
                diagnostics=as_object(found["diagnostics"]),
            )
            if context.cancelled():
                return

    def maker(self, context: Context, known: JSON) -> Make:
        """Return what replaces spans in a piece's records."""
        assert isinstance(context.parameters, SurrogateParameters)
        return _Work(context, context.parameters).make


def _record(text: JSON, of: JSON) -> SyntheticRecord:
    label, lineage = as_list(of)
    return SyntheticRecord(str(text), None if label is None else str(label), str(lineage))


class _Batch:
    """What one batch made."""

    def __init__(self) -> None:
        self.records: list[SyntheticRecord] = []
        self.funnel: Counter[str] = Counter()
        self.replaced: Counter[str] = Counter()
        self.kept: Counter[str] = Counter()
        self.seconds = 0.0

    @property
    def diagnostics(self) -> JSONObject:
        """Return counts a label and the batch's seconds; nothing of the text."""
        return {"replaced": dict(self.replaced), "unreplaceable": dict(self.kept), "seconds": round(self.seconds, 4)}


class _Work:
    """What one run holds in memory: the records, their spans, and a maker that has seen all of them."""

    def __init__(self, context: Context, parameters: SurrogateParameters) -> None:
        self.parameters = parameters
        columns = (context.records[c] for c in ("record_id", "text", "source_id", "label"))
        self.rows: list[tuple[str, str, str | None, str | None]] = [
            (str(r), str(t), text_or_none(s), text_or_none(label)) for r, t, s, label in zip(*columns, strict=True)
        ]
        self.spans = spans_by_record(context.spans)
        texts = {r: t for r, t, _, _ in self.rows}
        forbidden = {
            texts[record_id][span.start : span.end]
            for record_id, spans in self.spans.items()
            if record_id in texts
            for span in spans
            if span.label in _NAMING
        }
        self.maker = SurrogateMaker(
            context.surrogate_key,
            context.unit,
            forbidden=forbidden,
            keep_labels=parameters.keep_labels,
            date_shift_days_max=parameters.date_shift_days_max,
            month_first=month_first(
                texts[r][s.start : s.end]
                for r, spans in self.spans.items()
                if r in texts
                for s in spans
                if s.label == "DATE"
            ),
            languages=dict(zip(texts, languages_of(list(texts.values())))),
        )
        if context.unit == "source":
            for record_id, text, source_id, _ in self.rows:
                self.maker.observe(text, self.spans.get(record_id, ()), record_id, source_id)

    def make(self, piece: Piece) -> JSONObject:
        """Return the surrogate records of a piece, and its counts."""
        made = self.batch(piece.start, piece.end)
        texts: JSON = [record.text for record in made.records]
        of: JSON = [[record.label, record.lineage] for record in made.records]
        return {"texts": texts, "of": of, "funnel": dict(made.funnel), "diagnostics": made.diagnostics}

    def batch(self, start: int, end: int) -> _Batch:
        """Return the surrogate records of positions start..end."""
        made, began = _Batch(), time.perf_counter()
        for record_id, text, source_id, label in self.rows[start:end]:
            made.funnel["made"] += 1
            spans = self.spans.get(record_id, ())
            if not spans and self.parameters.without_spans == "drop":
                made.funnel["dropped: no accepted span"] += 1
                continue
            new = self._replaced(text, spans, record_id, source_id, made)
            made.funnel["kept"] += 1
            made.records.append(SyntheticRecord(text=new, label=label, lineage=record_id))
        made.seconds = time.perf_counter() - began
        return made

    def _replaced(self, text: str, spans: tuple[Span, ...], record_id: str, source_id: str | None, made: _Batch) -> str:
        replaced = self.maker.replace(text, spans, record_id, source_id)
        made.replaced.update(span.label for span in replaced.spans)
        made.replaced.subtract(replaced.kept)
        made.kept.update(replaced.kept)
        if self.parameters.unreplaceable == "keep" or not replaced.kept:
            return replaced.text
        return redact(replaced.text, [span for span in replaced.spans if span.recogniser == "kept"], "placeholder").text


def copies_refused(parameters: BaseModel, without: int) -> str | None:
    """Return why a run may not copy its records without findings, or None where it copies none or has consent.

    Args:
        without: training records in which nothing was found.
    """
    if not isinstance(parameters, SurrogateParameters) or parameters.without_spans != "copy":
        return None
    if without <= parameters.copies_accepted:
        return None
    return (
        f"In {without:,} records nothing was found, and they would be copied as they are; copies accepted so far: "
        f"{parameters.copies_accepted:,}. Leave such records out, or consent to {without:,} copies "
        f"(--set copies_accepted={without}); no policy lets an original leave."
    )


def text_or_none(value: object) -> str | None:
    """Return the value as text, None for a missing one."""
    import pandas as pd

    return None if pd.isna(value) else str(value)  # type: ignore[call-overload]


def spans_by_record(frame: pd.DataFrame) -> dict[str, tuple[Span, ...]]:
    """Return the spans of each record, with our labels where a file brought others (`ORG`, `DATETIME`)."""
    columns = (frame[c] for c in ("record_id", "start", "end", "label", "identifier_type"))
    spans: dict[str, list[Span]] = {}
    same: dict[str, str] = {}  # each name once
    kinds: dict[IdentifierType, IdentifierType] = {}
    for record_id, start, end, label, kind in zip(*columns, strict=True):
        name, label = (same.setdefault(text, text) for text in (str(record_id), canonical_label(str(label))))
        span = Span(name, int(start), int(end), label, identifier_type=kinds.setdefault(kind, kind))
        spans.setdefault(name, []).append(span)
    return {record_id: tuple(found) for record_id, found in spans.items()}
