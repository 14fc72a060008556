"""The made-up sample corpora that ship with the program, read from their files.

Every person, place and organisation in them is invented; `engine.training.samples` writes the files.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.assets import ASSETS
from engine.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

FOLDER = ASSETS / "samples"
SHIPPED_RECORDS = 520


@dataclass(frozen=True)
class SampleInfo:
    """What the load page says about a sample corpus."""

    id: str
    title: str
    description: str
    records: int
    sources: int
    label_meaning: str
    cap: int = 9  # records a source at most, as the generator was told (`_SIZES`)


SAMPLES: tuple[SampleInfo, ...] = (
    SampleInfo(
        "clinic_letters",
        "Clinic letters",
        "Letters and notes of invented patients from many specialties, several visits a patient.",
        SHIPPED_RECORDS,
        123,
        "how the visit ended: improved, unchanged, worsened, referred, discharged",
    ),
    SampleInfo(
        "support_tickets",
        "Support tickets",
        "Messages, chats and agent notes of invented customers of invented companies, several a customer.",
        SHIPPED_RECORDS,
        108,
        "what the ticket is about: billing, delivery, defect, account, cancellation, information",
    ),
    SampleInfo(
        "court_decisions",
        "Court decisions",
        "Orders, rulings and judgments of invented courts on tenancy, work, licences, family, planning and data.",
        SHIPPED_RECORDS,
        102,
        "how the court decided: allowed, dismissed, partly allowed, remitted, adjourned, withdrawn",
    ),
)
"""The English ones; they also stand for other people's text where a measure needs some."""
OTHER_RECORDS = 300
OTHER_SAMPLES: tuple[SampleInfo, ...] = (
    SampleInfo(
        "clinic_letters_et",
        "Letters in Estonian",
        "Clinic letters, nurses' notes and calls of invented patients, in Estonian, several visits a patient.",
        OTHER_RECORDS,
        62,
        "how the visit ended: improved, unchanged, worsened, referred, discharged",
    ),
    SampleInfo(
        "clinic_letters_de",
        "Letters in German",
        "Clinic letters, nurses' notes and calls of invented patients, in German, several visits a patient.",
        OTHER_RECORDS,
        69,
        "how the visit ended: improved, unchanged, worsened, referred, discharged",
    ),
)
ALL_SAMPLES = SAMPLES + OTHER_SAMPLES


def load_sample(sample_id: str) -> pd.DataFrame:
    """Return the shipped corpus `sample_id` with columns record_id, text, source_id, label, spans."""
    import pandas as pd

    path = FOLDER / f"{sample_id}.jsonl.gz"
    if sample_id not in [info.id for info in ALL_SAMPLES] or not path.is_file():
        raise UserError(
            f"sample_id must be one of {', '.join(sorted(info.id for info in ALL_SAMPLES))}; got {sample_id!r}"
        )
    with gzip.open(path, "rt", encoding="utf-8") as handle:
        rows = [json.loads(line) for line in handle]
    return pd.DataFrame(rows, columns=["record_id", "text", "source_id", "label", "spans"])
