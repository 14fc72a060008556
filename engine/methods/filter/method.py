"""The three-stage filter: placeholders in, constrained generation, similarity and detection out.

Source: Mohammed 2025, "Privacy-Aware Synthetic Data Generation", section 4.1; the default
parameters are the configuration "All Filters" of its Table 1, but what decoding blocks: not its list of six words but
the identifiers of the record in hand. `filter_presets` has all seven configurations as the paper has them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from engine.dp.guarantee import Guarantee
from engine.errors import InternalError, UserError
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step, SyntheticRecord
from engine.methods.domains import DOMAINS, guess_domain
from engine.methods.filter.parameters import FilterParameters
from engine.methods.filter.parts import post_filter, surrogates
from engine.methods.filter.stages import detected, placeholders, prefilter
from engine.models.builtin.shipped import SECONDS_A_TOKEN
from engine.models.contracts import Constraints, Sampling
from engine.pii.detect.unknown import rare_sequences
from engine.pii.private_forms import private_forms
from engine.pii.sentences import sentence_bounds
from engine.pii.spans import Span

if TYPE_CHECKING:
    import pandas as pd

    from engine.dp.accounting.accountant import Accountant
    from engine.models.contracts import OperatorInputs

_TOKENS_A_WORD = 1.6
_SEGMENT = 110  # words a model call; longer records are generated piece by piece, cut at sentence ends
_SECONDS_A_RECORD = 0.02  # detection and embedding of one output
_SHORTER = 2  # an abstract has about half the words of its text
_TINY = 3  # words; shorter outputs are unusable


@dataclass(frozen=True)
class _Batch:
    """One slice of the schedule: source rows, their accepted spans, and the redacted texts."""

    rows: pd.DataFrame
    spans: list[list[Span]]
    redacted: list[str]
    flagged: int = 0


class FilterMethod:
    """Redact each record, generate from what is left, filter what came out."""

    spec = MethodSpec(
        id="filter",
        title="Three-stage filter",
        summary="Replaces what identifies people with typed placeholders, has a language model write a new text from "
        "the rest, and filters the result for anything that slipped through.",
        origin="A language model wrote each record from one original text whose marked identifiers had been taken "
        "out. It can repeat wordings of that text.",
        citation="Mohammed 2025, Privacy-Aware Synthetic Data Generation",
        kind="heuristic",
        needs=("generator", "operators", "embedder", "detector", "spans"),
        parameters=FilterParameters,
        good_for="Quick, readable stand-ins where known identifiers are the main concern.",
        bad_for="Any setting that needs a provable bound, or where the story itself identifies a person.",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return the statement that there is no formal guarantee."""
        assert isinstance(parameters, FilterParameters)
        if parameters.pre == "none" and parameters.post == "none" and not parameters.reapply:
            return Guarantee(
                kind="none",
                sentence="No guarantee at all: nothing is filtered, and the model sees the records as they are.",
                unit=facts.unit,
            )
        where = "after" if parameters.pre == "none" else "before"
        where = "before and after" if parameters.pre != "none" and parameters.reapply else where
        return Guarantee(
            kind="heuristic",
            sentence=f"No formal guarantee: identifiers that were found are removed {where} generation, but "
            "what was not found, and the story a text tells, can still point to a person.",
            unit=facts.unit,
            assumptions=("Every identifying mention was found by the detector or by the reviewer.",),
            voided_by=(
                "An identifier was missed.",
                "A rare event or a combination of details in the text points to a person.",
            ),
        )

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return calls, tokens and seconds for `count` outputs."""
        words = max(facts.mean_characters / 6, 20)
        tokens = int(count * words * _TOKENS_A_WORD)
        return Plan(
            model_calls=int(count * max(1, -(-words // _SEGMENT))),
            tokens=tokens,
            seconds=round(tokens * SECONDS_A_TOKEN + count * _SECONDS_A_RECORD, 1),
            outputs=count,
            notes=("Seconds are for the built-in model on two CPU cores.",),
        )

    def run(self, context: Context) -> Iterator[Step]:
        """Yield one step a batch until `count` outputs are kept or each record was tried twice."""
        run = _FilterRun(context)
        state = dict(context.state or {"position": 0, "kept": 0})
        while state["kept"] < context.count and state["position"] < run.limit and not context.cancelled():
            wanted = min(context.batch_size, context.count - state["kept"], run.limit - state["position"])
            records, funnel, diagnostics = run.batch(state["position"], wanted)
            state = {"position": state["position"] + wanted, "kept": state["kept"] + len(records)}
            yield Step(
                state=state,
                records=tuple(records),
                funnel=funnel,
                stage="generating",
                done=state["kept"],
                total=context.count,
                diagnostics=diagnostics,
            )


class _FilterRun:
    """What one run holds in memory."""

    def __init__(self, context: Context) -> None:
        missing = [name for name in ("generator", "operators", "embedder", "detector") if not getattr(context, name)]
        if missing:
            raise InternalError(f"filter was started without {', '.join(missing)}")
        if context.records.empty:
            raise UserError("filter needs at least one training record, and this corpus has none; lower the holdout")
        assert isinstance(context.parameters, FilterParameters)
        self.context, self.parameters = context, context.parameters
        self.limit = max(2 * len(context.records), 2 * context.count)
        self.spans = {str(key): frame for key, frame in context.spans.groupby("record_id")}
        self.domain = self.parameters.domain
        if self.domain == "auto":
            self.domain = guess_domain(context.records["text"])
        assert self.domain in DOMAINS
        self.replace = surrogates(context) if self.parameters.pre == "surrogates" else placeholders
        self.unknown = self._unknown() if self.parameters.flag_unknown != "off" else {}
        self.post = post_filter(context, self.parameters, self.replace)

    def _unknown(self) -> dict[str, list[Span]]:
        """Return what looks like an identifier in one unit alone and was not accepted, by record."""
        records = self.context.records
        ids = [str(record_id) for record_id in records["record_id"]]
        units = [u if isinstance(u, str) else r for u, r in zip(records["source_id"], ids, strict=True)]
        known = [self._record_spans(record_id) for record_id in ids]
        return dict(zip(ids, rare_sequences(list(records["text"]), units, known), strict=True))

    def _record_spans(self, record_id: str) -> list[Span]:
        frame = self.spans.get(record_id)
        if frame is None:
            return []
        columns = (frame["start"], frame["end"], frame["label"], frame["identifier_type"])
        return [
            Span(record_id, int(s), int(e), str(label), identifier_type=kind) for s, e, label, kind in zip(*columns)
        ]

    def _slice(self, position: int, wanted: int) -> _Batch:
        """Return the records at schedule positions position..position+wanted, wrapping around."""
        size = len(self.context.records)
        rows = self.context.records.iloc[[(position + i) % size for i in range(wanted)]]
        spans = [self._record_spans(str(record_id)) for record_id in rows["record_id"]]
        texts, flagged = list(rows["text"]), 0
        if self.parameters.flag_unknown != "off":
            unknown = [self.unknown[str(record_id)] for record_id in rows["record_id"]]
            flagged = sum(map(len, unknown))
            if self.parameters.flag_unknown == "redact":
                spans = [[*known, *more] for known, more in zip(spans, unknown, strict=True)]
        if self.parameters.pre == "none":
            return _Batch(rows, spans, texts, flagged)
        assert self.context.detector is not None
        score = self.parameters.minimum_score
        if self.parameters.pre == "placeholders":
            redacted = [entry.text for entry in prefilter(texts, spans, self.context.detector, score)]
        else:  # both passes before replacing: a surrogate would be found, and replaced, a second time
            second = detected(texts, self.context.detector, score)
            redacted = [self.replace(t, [*a, *b]) for t, a, b in zip(texts, spans, second, strict=True)]
        return _Batch(rows, spans, redacted, flagged)

    def batch(self, position: int, wanted: int) -> tuple[list[SyntheticRecord], dict[str, int], dict[str, object]]:
        """Return the kept records, funnel counts and diagnostics of one batch."""
        batch = self._slice(position, wanted)
        outputs = self._generate(batch, position)
        usable = [i for i, text in enumerate(outputs) if len(text.split()) >= _TINY]
        filtered = self.post.apply([outputs[i] for i in usable], [self._sensitive_sentences(batch, i) for i in usable])
        records: list[SyntheticRecord] = []
        replaced = similar = 0
        for index, entry in zip(usable, filtered, strict=True):
            if entry is None:
                continue
            row = batch.rows.iloc[index]
            label = row["label"] if isinstance(row["label"], str) else None
            replaced += entry.replaced
            similar += entry.similar
            records.append(SyntheticRecord(entry.text, label, str(row["record_id"])))
        funnel = {
            "made": wanted,
            "dropped: empty or too short": wanted - len(usable),
            "dropped: too near a known sensitive item": len(usable) - len(records),
            "kept": len(records),
        }
        similarities, self.post.similarities[:] = list(self.post.similarities), []
        diagnostics: dict[str, object] = {
            "replaced_after_generation": replaced,
            "replaced_as_similar": similar,
            "nearest_sensitive_item": similarities,
        }
        if self.parameters.flag_unknown != "off":
            diagnostics["unknown_sequences_flagged"] = batch.flagged
        return records, funnel, diagnostics

    def _generate(self, batch: _Batch, position: int) -> list[str]:
        """Return one generated text a record, its segments joined by line breaks."""
        assert self.context.generator is not None
        assert self.context.operators is not None
        operators, p = self.context.operators, self.parameters
        segments = [segment(text) for text in batch.redacted]
        inputs: list[OperatorInputs] = [
            {
                "text": piece,
                "label": label if isinstance(label, str) else None,
                "domain": self.domain,
                "outlined": True,  # a whole record, not an abstract of one: the model sees its key phrases alone
                "words": _length(piece) if p.operator != "abstract" else max(8, _length(piece) // _SHORTER),
            }
            for pieces, label in zip(segments, batch.rows["label"], strict=True)
            for piece in pieces
        ]
        sampling = Sampling(
            max_new_tokens=int(max(entry["words"] for entry in inputs) * _TOKENS_A_WORD * 1.5) + 20,
            temperature=p.temperature,
            top_k=p.top_k,
            top_p=p.top_p,
            repetition_penalty=p.repetition_penalty,
            seed=batch_seed(self.context.seed, position),
        )
        prompts = [operators.prompt(p.operator, **entry) for entry in inputs]
        made = self.context.generator.generate(prompts, sampling, self._blocked(batch))
        texts = iter([operators.parse(p.operator, g.text, **e).strip() for g, e in zip(made, inputs, strict=True)])
        return ["\n".join(filter(None, [next(texts) for _ in pieces])) for pieces in segments]

    def _blocked(self, batch: _Batch) -> Constraints:
        """Return the custodian's list and, where wanted, every direct identifier of the batch's records."""
        values, names = dict.fromkeys(self.parameters.blocked), dict[str, None]()
        if self.parameters.block_identifiers:
            for text, spans in zip(batch.rows["text"], batch.spans, strict=True):
                for span in spans:
                    if span.identifier_type == "direct":
                        forms = private_forms(text[span.start : span.end], span.label)
                        values |= dict.fromkeys(forms.values)
                        names |= dict.fromkeys(forms.names)
        return Constraints(tuple(values), tuple(names))

    def _sensitive_sentences(self, batch: _Batch, index: int) -> NDArray[np.float32]:
        """Embed the source record's sentences that hold a direct identifier."""
        text, spans = batch.rows["text"].iloc[index], batch.spans[index]
        direct = [(s.start, s.end) for s in spans if s.identifier_type == "direct"]
        hit = [text[a:b] for a, b in sentence_bounds([text])[0] if any(s < b and e > a for s, e in direct)]
        assert self.context.embedder is not None
        return self.context.embedder.embed(hit) if hit else np.zeros((0, 1), dtype=np.float32)


def segment(text: str, words: int = _SEGMENT) -> list[str]:
    """Return `text` in pieces of at most about `words` words, cut at sentence ends; at least one piece."""
    pieces: list[str] = []
    start = end = size = 0
    for left, right in sentence_bounds([text])[0]:
        length = len(text[left:right].split())
        if size and size + length > words:
            pieces.append(text[start:end])
            start, size = left, 0
        end, size = right, size + length
    pieces.append(text[start:end] or text)
    return pieces


def _length(text: str) -> int:
    """Return the number of words asked for: the piece's own, at most what one call can write."""
    return min(max(len(text.split()), 8), 2 * _SEGMENT)


def batch_seed(seed: int, position: int) -> int:
    """Return a 63-bit seed for one batch, so that a resumed run draws what an uninterrupted one would."""
    digest = hashlib.blake2b(f"{seed}:{position}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
