"""What the filter makes of a run's context: its known sensitive items, its last stage, its surrogates."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.methods.base import Context
from engine.methods.filter.parameters import ADAPTIVE, FilterParameters
from engine.methods.filter.stages import SIMILAR, PostFilter, Replace, SensitiveItems
from engine.methods.filter.values import KnownValues
from engine.models.builtin.everyday import everyday_words
from engine.pii.control_codes import exemption
from engine.pii.private_forms import private_forms
from engine.pii.spans import Span
from engine.pii.surrogates import SurrogateMaker

_SENTENCE_WORDS = 4
_NAMING = frozenset({"PERSON", "USERNAME", "EMAIL", "PHONE", "ADDRESS", "LOCATION", "ORGANISATION"})


def post_filter(context: Context, parameters: FilterParameters, replace: Replace) -> PostFilter:
    """Return the last stage: the direct identifiers of the records and the named phrases are the known items."""
    assert context.embedder is not None
    assert context.detector is not None
    surrogate = parameters.pre == "surrogates"
    return PostFilter(
        context.embedder,
        context.detector,
        SensitiveItems(known_sentences(context, parameters.sensitive)),
        None if parameters.post == "none" else parameters.threshold,
        parameters.action,
        parameters.minimum_score,
        adaptive=ADAPTIVE if parameters.post == "adaptive" else None,
        again=parameters.reapply,
        replace=replace,
        mark="" if surrogate else SIMILAR,
        values=known_values(context, parameters.sensitive),
    )


def known_values(context: Context, named: Sequence[str]) -> KnownValues:
    """Return the direct identifiers of the records, names with their distinctive parts, and the phrases named."""
    frame = context.spans[context.spans["identifier_type"] == "direct"]
    texts = dict(zip(context.records["record_id"], context.records["text"], strict=True))
    columns = (frame["record_id"], frame["start"], frame["end"], frame["label"])
    found = {(texts[r][s:e].strip(), str(label)) for r, s, e, label in zip(*columns, strict=True) if r in texts}
    forms = [form for value, label in sorted(found) for form in private_forms(value, label).values]
    kept = [form for form in forms if form and not exemption(form, "direct")]
    return KnownValues([*kept, *(phrase for phrase in named if phrase.strip())], everyday_words())


def known_sentences(context: Context, named: Sequence[str]) -> NDArray[np.float32]:
    """Embed the named phrases that are long enough to be compared with sentences."""
    phrases = sorted({phrase.strip() for phrase in named if len(phrase.split()) >= _SENTENCE_WORDS})
    assert context.embedder is not None
    return context.embedder.embed(phrases) if phrases else np.zeros((0, 1), dtype=np.float32)


def surrogates(context: Context) -> Replace:
    """Return a function that puts invented values of the same type in place of spans, the same for the same value."""
    texts = dict(zip(context.records["record_id"], context.records["text"], strict=True))
    columns = (context.spans[name] for name in ("record_id", "start", "end", "label"))
    true = {texts[r][s:e] for r, s, e, label in zip(*columns, strict=True) if r in texts and label in _NAMING}
    maker = SurrogateMaker(context.surrogate_key, "record", forbidden=true)

    def replace(text: str, spans: Sequence[Span]) -> str:
        # Keyed by the text itself: a record keeps its surrogates over repeated passes, two records share none.
        key = hashlib.blake2b(text.encode(), key=context.surrogate_key[:64], digest_size=12).hexdigest()
        return maker.replace(text, spans, key).text

    return replace
