"""The data card in forms that other programs read: Croissant (JSON-LD), and a data set card with a YAML head.

Privacy posture: made of the card's content and the released files' names, sizes and checksums; nothing else.

References: Croissant format 1.0, MLCommons; data set cards of the Hugging Face hub.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

import yaml

from engine.assets import ASSETS
from engine.errors import InternalError
from engine.release.card.card import CardContent, DataCard

FORMATS = {  # in the order in which a program should prefer them
    "records.jsonl": "application/jsonlines",
    "records.parquet": "application/x-parquet",
    "records.csv": "text/csv",
}
REQUIRED = ("@context", "@type", "conformsTo", "name", "description", "license", "url", "creator", "datePublished")
LICENCES = frozenset(
    ("apache-2.0", "cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0", "cc-by-nd-4.0", "mit")
)
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def croissant(card: DataCard, release_id: str, files: Mapping[str, bytes], columns: list[str]) -> str:
    """Return the release as a Croissant description.

    Args:
        files: released files by name.
        columns: of the records.

    Raises:
        InternalError: a field that the format requires would be empty.
    """
    content = card.content
    records = [name for name in FORMATS if name in files]
    described = json.loads((ASSETS / "croissant.json").read_text("utf-8")) | {
        "name": content["title"],
        "description": _description(content),
        "license": content["licence"],
        "url": f"urn:understudy:release:{release_id}",
        "creator": {"@type": "sc:Organization", "name": f"The custodian; contact: {content['contact']}"},
        "datePublished": content["created"],
        "version": "1.0.0",
        "citeAs": f"{content['title']}. Synthetic records, released {content['created']}.",
        "isLiveDataset": False,
        "distribution": [_file(name, files[name]) for name in records],
        "recordSet": [_records(records[0], columns)],
    }
    _check(described)
    return json.dumps(described, ensure_ascii=False, indent=1) + "\n"


def _check(described: Mapping[str, object]) -> None:
    """Refuse a description without what Croissant requires."""
    empty = [name for name in REQUIRED if not described.get(name)]
    if empty:
        raise InternalError(f"croissant: {', '.join(empty)} would be empty")


def _description(content: CardContent) -> str:
    method, guarantee = content["method"], content["guarantee"]
    return (
        f"These records were made by a program and are not observations. {method['origin']} "
        f"{guarantee['in_words']}. {guarantee['sentence']} Read the data card before you use them."
    )


def _file(name: str, data: bytes) -> dict[str, str]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{len(data)} B",
        "encodingFormat": FORMATS[name],
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def _records(name: str, columns: list[str]) -> dict[str, object]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"records/{column}",
            "name": column,
            "dataType": "sc:Text",
            "source": {"fileObject": {"@id": name}, "extract": {"column": column}},
        }
        for column in columns
    ]
    key = {"@id": "records/id"}
    return {"@type": "cr:RecordSet", "@id": "records", "name": "records", "key": key, "field": fields}


def readme(card: DataCard, names: list[str], records: int) -> str:
    """Return the card as a README with the head that data set hubs read."""
    content = card.content
    licence = "-".join(content["licence"].lower().split())
    known = licence in LICENCES
    head: dict[str, object] = {
        "pretty_name": content["title"],
        "license": licence if known else "other",
        **({} if known else {"license_name": "see-the-data-card"}),
        "annotations_creators": ["machine-generated"],
        "language_creators": ["machine-generated"],
        "size_categories": [next((word for most, word in SIZES if records < most), "n>1M")],
        "tags": ["synthetic", "not-observations"],
        "configs": [{"config_name": "default", "data_files": next(name for name in FORMATS if name in names)}],
    }
    return f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True)}---\n\n{card.markdown}"
