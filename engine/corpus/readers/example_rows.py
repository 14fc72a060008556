"""The made-up records of the downloadable examples; every person and place in them is invented."""

from __future__ import annotations

from typing import TypedDict

_ROWS: tuple[tuple[str, str, str, str, tuple[tuple[str, str, str], ...]], ...] = (
    (
        "N-001", "P-01", "cardiology",
        "Mrs Odile Farnum, 71, was seen in Castlebrae on 3 March 2021 for palpitations.\nShe takes bisoprolol 2.5 mg.",
        (("Odile Farnum", "PERSON", "direct"), ("71", "AGE", "quasi"), ("Castlebrae", "LOCATION", "quasi"),
         ("3 March 2021", "DATE", "quasi")),
    ),
    (
        "N-002", "P-01", "cardiology",
        "Review of Odile Farnum: rhythm steady since April, no dizziness, \"much better\" in her own words.",
        (("Odile Farnum", "PERSON", "direct"), ("April", "DATE", "quasi")),
    ),
    (
        "N-003", "P-02", "orthopaedics",
        "Tomás Greaves fell from a ladder at Wexley Timber; the wrist is in plaster, please ring 0117 496 0142.",
        (("Tomás Greaves", "PERSON", "direct"), ("Wexley Timber", "ORGANISATION", "quasi"),
         ("0117 496 0142", "PHONE", "direct")),
    ),
    (
        "N-004", "P-03", "general",
        "Patient declines the flu vaccination this year; blood pressure 128/82, weight stable.",
        (),
    ),
    (
        "N-005", "P-04", "general",
        "Letter sent to j.ansah@example.org about the missed appointment, second reminder within six weeks.",
        (("j.ansah@example.org", "EMAIL", "direct"),),
    ),
    (
        "N-006", "P-02", "orthopaedics",
        "Plaster removed after five weeks, full grip strength; Dr Imre Solway will see him once more in the autumn.",
        (("Imre Solway", "PERSON", "direct"),),
    ),
)  # fmt: skip


class ExampleSpan(TypedDict):
    """What is marked in an example's text, as a gold span."""

    start: int
    end: int
    label: str
    identifier_type: str


class ExampleRow(TypedDict):
    """One record of the made-up example."""

    note_id: str
    patient: str
    department: str
    text: str
    spans: list[ExampleSpan]


def example_rows() -> list[ExampleRow]:
    """Return six records with the columns note_id, patient, department, text and spans (a list)."""
    return [
        {
            "note_id": note_id,
            "patient": patient,
            "department": department,
            "text": text,
            "spans": [
                {
                    "start": text.index(surface),
                    "end": text.index(surface) + len(surface),
                    "label": label,
                    "identifier_type": kind,
                }
                for surface, label, kind in marks
            ],
        }
        for note_id, patient, department, text, marks in _ROWS
    ]
