"""Spans and their types.

Privacy posture: a span holds positions and a type, never the text it covers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

IdentifierType = Literal["direct", "quasi", "none"]
NAME_LABELS = frozenset({"PERSON", "USERNAME", "ORGANISATION", "LOCATION", "ADDRESS"})
MODELS = frozenset({"tagger", "spacy"})  # recognisers that guess; the others follow a rule or a list
SUGGESTION = 0.45  # the score of what a person should look at but nothing replaces by itself

# label -> (plain name, identifier type unless the span says otherwise)
LABELS: dict[str, tuple[str, IdentifierType]] = {
    "PERSON": ("person name", "direct"),
    "USERNAME": ("user name", "direct"),
    "EMAIL": ("e-mail address", "direct"),
    "PHONE": ("phone number", "direct"),
    "CODE": ("identifying number or code", "direct"),
    "NATIONAL_ID": ("national identity number", "direct"),
    "MEDICAL_ID": ("medical record number", "direct"),
    "CARD": ("payment card number", "direct"),
    "IBAN": ("bank account number", "direct"),
    "IP": ("network address", "direct"),
    "URL": ("web address", "direct"),
    "ADDRESS": ("street address", "direct"),
    "LOCATION": ("place", "quasi"),
    "ORGANISATION": ("organisation", "quasi"),
    "DATE": ("date or time", "quasi"),
    "AGE": ("age", "quasi"),
    "DEMOGRAPHIC": ("description", "quasi"),
    "QUANTITY": ("quantity or amount", "quasi"),
    "MISC": ("other identifying detail", "quasi"),
}

# Labels other tools and gold files use for the same things.
ALIASES: dict[str, str] = {
    "PER": "PERSON", "NAME": "PERSON", "PATIENT": "PERSON", "DOCTOR": "PERSON", "FULL_NAME": "PERSON",
    "LOC": "LOCATION", "GPE": "LOCATION", "FAC": "LOCATION", "CITY": "LOCATION", "COUNTRY": "LOCATION",
    "STATE": "LOCATION", "ZIP_CODE": "LOCATION", "STREET_ADDRESS": "ADDRESS",
    "ORG": "ORGANISATION", "ORGANIZATION": "ORGANISATION",
    "NRP": "DEMOGRAPHIC", "NORP": "DEMOGRAPHIC", "DEM": "DEMOGRAPHIC", "TITLE": "DEMOGRAPHIC",
    "PROFESSION": "DEMOGRAPHIC", "DATETIME": "DATE", "DATE_TIME": "DATE", "TIME": "DATE",
    "EMAIL_ADDRESS": "EMAIL", "PHONE_NUMBER": "PHONE", "DOMAIN_NAME": "URL", "IP_ADDRESS": "IP",
    "CREDIT_CARD": "CARD", "IBAN_CODE": "IBAN", "US_SSN": "NATIONAL_ID", "SSN": "NATIONAL_ID",
    "UK_NHS": "MEDICAL_ID", "MEDICAL_LICENSE": "MEDICAL_ID", "ID": "CODE",
}  # fmt: skip


def folded(value: str) -> str:
    """Return a value case-folded with single spaces, as lists and "all like this" compare it."""
    return " ".join(value.casefold().split())


def canonical_label(label: str) -> str:
    """Return our label for `label`; an unknown one becomes `MISC`."""
    upper = label.strip().upper().replace(" ", "_").replace("-", "_")
    return upper if upper in LABELS else ALIASES.get(upper, "MISC")


def default_identifier_type(label: str) -> IdentifierType:
    """Return `direct` or `quasi` for one of our labels."""
    return LABELS[label][1]


@dataclass(frozen=True, order=True, slots=True)
class Span:
    """One detected or added piece of identifying text.

    Offsets are half-open and count Unicode code points of the record's text:
    `text[start:end]` is the surface form. `score` is the detector's confidence in [0, 1].
    """

    record_id: str
    start: int
    end: int
    label: str
    score: float = 1.0
    recogniser: str = "custodian"
    identifier_type: IdentifierType = "quasi"
