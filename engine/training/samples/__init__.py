"""Made-up sample corpora: clinic letters, support tickets, court decisions, with gold spans.

Every person, place and organisation in them is invented. A corpus is a pure function of its id, the
count and the seed, so the shipped files can be made again.
"""

from __future__ import annotations

import gzip
import importlib
import json
from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING

from engine.corpus.samples import ALL_SAMPLES
from engine.errors import UserError
from engine.training.samples.common import Draft, finish
from engine.training.samples.grammar import Segment, render
from engine.training.samples.novelty import Novelty

if TYPE_CHECKING:
    import pandas as pd

SHIPPED_SEED = 1


_MODULES = {
    "clinic_letters": "clinic", "support_tickets": "support", "court_decisions": "courts",
    "clinic_letters_et": "clinic_et", "clinic_letters_de": "clinic_de",
}  # fmt: skip


def generate(sample_id: str, count: int, seed: int) -> pd.DataFrame:
    """Return `count` invented records with columns record_id, text, source_id, label, spans.

    Args:
        sample_id: id of one of `ALL_SAMPLES`.
        count: records wanted, at least 1.
        seed: same seed, same corpus; other seeds give other people and other texts.
    """
    import pandas as pd

    return pd.DataFrame(
        list(_records(sample_id, count, seed)), columns=["record_id", "text", "source_id", "label", "spans"]
    )


def _records(sample_id: str, count: int, seed: int) -> Iterator[dict[str, object]]:
    if sample_id not in _MODULES:
        raise UserError(f"sample_id must be one of {', '.join(sorted(_MODULES))}; got {sample_id!r}")
    domain = importlib.import_module(f"engine.training.samples.{_MODULES[sample_id]}")
    rng = Random(f"{sample_id}/{seed}")
    made, source, novelty = 0, 0, Novelty()
    while made < count:
        source += 1
        novelty.source = source
        for segments, label in domain.source(Random(rng.random()), rng.choice(_SIZES), novelty):
            if made == count:
                return
            made += 1
            text, spans = render(segments)
            yield {
                "record_id": f"{sample_id.split('_')[0][0].upper()}{made:05d}",
                "text": text,
                "source_id": f"{domain.SOURCE_PREFIX}{source:04d}",
                "label": label,
                "spans": spans,
            }


_SIZES = (1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9)


def file_bytes(sample_id: str, count: int = 0, seed: int = SHIPPED_SEED) -> bytes:
    """Return the shipped file's content, of the records that its description says, the same on every machine."""
    count = count or next(info.records for info in ALL_SAMPLES if info.id == sample_id)
    lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in _records(sample_id, count, seed)]
    return gzip.compress(("\n".join(lines) + "\n").encode("utf-8"), 9, mtime=0)


__all__ = [
    "SHIPPED_SEED",
    "Draft",
    "Segment",
    "file_bytes",
    "finish",
    "generate",
]
