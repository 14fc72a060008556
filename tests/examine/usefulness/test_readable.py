"""Low leaks of text that says nothing are not called safe; real text beside it says what to expect."""

from __future__ import annotations

import pandas as pd

from engine.examine.findings.findings import Finding
from engine.examine.findings.verdict import privacy_verdict
from engine.examine.prepare import ExamineInput, prepare
from engine.examine.usefulness.wording.readable import examine_readable

PHRASE = "repeats nothing because it says nothing"


def part(texts: list[str], holdout: int = 60) -> dict:
    def frame(rows: list[str], first: str) -> pd.DataFrame:
        ids = [f"{first}{i}" for i in range(len(rows))]
        return pd.DataFrame({"record_id": ids, "text": rows, "source_id": None, "label": None, "lineage": None})

    real = [f"Letter {i}: she came in May because of a sore knee, and went home on day {i * 7}." for i in range(80)]
    spans = pd.DataFrame({"record_id": [], "start": [], "end": [], "label": [], "identifier_type": []})
    given = ExamineInput(frame(texts, "s"), frame(real[:20], "t"), frame(real[20 : 20 + holdout], "h"), spans, spans)
    return {f.reference: f for f in examine_readable(prepare(given)).findings}


def leaks(level: float) -> list[Finding]:
    words = ("m", "lower is safer", "privacy")
    return [
        Finding("verbatim_8gram", level, level, level, 100, "train", *words, {"equal_size_value": level}),  # type: ignore[arg-type]
        Finding("verbatim_8gram", 0.0, 0.0, 0.0, 100, "holdout", *words, {}),  # type: ignore[arg-type]
        Finding("verbatim_8gram_excess", level, level - 0.01, level + 0.01, 100, "holdout", *words, {}),  # type: ignore[arg-type]
    ]


def test_word_loops_are_counted_beside_real_text() -> None:
    found = part(["the applicant of the applicant of the applicant"] * 40 + ["She came in because of a cough."] * 20)
    assert round(found["none"].value, 3) == round(20 / 60, 3)
    assert found["none"].settings["reasons"] == {"repeats phrases": 40}
    assert found["baseline"].value == 1.0
    assert part(["She came in."], holdout=0)["baseline"].settings["why"]


def test_the_verdict_does_not_call_empty_text_safe() -> None:
    loops = part(["the applicant of the applicant of the applicant"] * 60)
    sentences = privacy_verdict([*loops.values(), *leaks(0.0)])
    assert sentences[0].finding == "readable"
    assert PHRASE in sentences[0].text
    copies = next(s for s in sentences if s.text.startswith("Copied text"))
    assert copies.level == "unsure"
    assert PHRASE in copies.text
    assert next(s for s in privacy_verdict(leaks(0.0)) if s.text.startswith("Copied text")).level == "chance"
    leaking = next(s for s in privacy_verdict([*loops.values(), *leaks(0.5)]) if s.text.startswith("Copied text"))
    assert (leaking.level, PHRASE in leaking.text) == ("leak", False)


def test_readable_text_gets_no_such_sentence() -> None:
    fine = part([f"He came in week {i} because of a cough and went home." for i in range(60)])
    assert not any(PHRASE in sentence.text for sentence in privacy_verdict([*fine.values(), *leaks(0.0)]))
