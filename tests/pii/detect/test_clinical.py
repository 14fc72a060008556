"""Clinical narrative names body parts and complaints, not people: the built-in tagger leaves it alone."""

from __future__ import annotations

import pytest

from engine.pii.detect.detector import RecordDetector

NOTES = (
    "Patient noted swelling of the left collarbone and neck two hours after the shot.",
    "Pt has pain in neck, collarbone and right shoulder, unable to raise arm above the head.",
    "Developed a lump above the collarbone the size of a walnut; neck stiff, jaw sore.",
    "redness and itching from elbow to wrist, hot to touch; given Benadryl and ice packs",
    "Swollen glands in the neck and armpit, sore throat, fever and chills overnight.",
    "fractured collarbone after fainting; x-ray of chest, neck and spine was negative",
    "Numbness of lips, tongue and fingers; facial droop on the right side; seen by neurologist.",
    "The infant cried, arched the back and neck, and would not move the injected leg.",
    "C/O ache across the neck and upper back, tingling in both hands, blurred vision.",
    "Tender lymph node near the left clavicle; neck, axilla and groin otherwise normal.",
    "rash on trunk, neck and face, hives on thighs; tx w/ prednisone, resolved w/out sequelae",
    "Mother reports a knot on the thigh, redness on the neck, poor feeding and a high pitched cry.",
    "Stiff neck, headache and photophobia; lumbar puncture clear; diagnosed with viral meningitis.",
    "Hx of asthma, eczema and migraine; arm so sore that the patient could not lie on the shoulder.",
)


@pytest.fixture(scope="module")
def detector() -> RecordDetector:
    return RecordDetector()


@pytest.mark.parametrize("note", NOTES)
def test_body_parts_and_complaints_describe_nobody(detector: RecordDetector, note: str) -> None:
    found = {
        (note[s.start : s.end], s.label)
        for s in detector.find([note])[0]
        if s.score >= 0.5 and s.label in {"DEMOGRAPHIC", "PERSON", "ORGANISATION", "LOCATION", "CODE"}
    }
    assert found == set()


@pytest.mark.parametrize(
    ("note", "wanted"),
    [
        (
            "Pt is a 54-year-old retired teacher with a sore neck, seen by Dr. Lindgren.",
            {"Dr. Lindgren", "54-year-old"},
        ),
        ("Pain in the collarbone since 3 March 1998; treated at Riverside General Hospital.", {"3 March 1998"}),
    ],
)
def test_people_and_dates_in_the_same_narrative_are_found(
    detector: RecordDetector, note: str, wanted: set[str]
) -> None:
    assert wanted <= {note[s.start : s.end] for s in detector.find([note])[0] if s.score >= 0.5}
