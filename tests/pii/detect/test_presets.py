"""Presets: what counts by itself in general, clinical and legal text; vitals; scholarly prose; foreign letters."""

from __future__ import annotations

import pytest

from engine.errors import UserError
from engine.pii.detect.detector import RecordDetector
from engine.pii.detect.plain.plain_words import held_back
from engine.pii.detect.plain.register import scholarly
from engine.pii.detect.plain.vitals import is_reading
from engine.pii.detect.presets import DEFAULT_PRESET, PRESETS, presets, proposed
from engine.pii.detect.rules import Rules
from engine.pii.detect.settings import CustomPattern, DetectorSettings
from engine.pii.spans import LABELS, Span

ABSTRACT = (
    "We propose a novel method for estimating the parameters of nonlinear models. The approach is based on the "
    "Minkowski functional and a theorem of Lech; simulations show that its performance on 1,000 samples is 12 % better "
    "than that of MCMC. We then apply Phoenix, an algorithm for sequencing data, to zebrafish and to human cells, and "
    "find that the results agree with the theory within two weeks of observation."
)


def made(text: str, surface: str, label: str, recogniser: str = "tagger", score: float = 0.9) -> Span:
    start = text.index(surface)
    return Span("", start, start + len(surface), label, score, recogniser, "quasi")


@pytest.mark.parametrize(
    ("surface", "label", "recogniser", "counts_in"),
    [
        ("54 kg", "QUANTITY", "tagger", {"legal"}),
        ("EUR 6,800", "QUANTITY", "money", {"legal"}),
        ("lorry driver", "DEMOGRAPHIC", "tagger", {"legal", "clinical"}),
        ("two weeks", "DATE", "duration", {"legal"}),
        ("some weeks", "DATE", "tagger", {"legal"}),
        ("10:30", "DATE", "time", {"legal"}),
        ("4 May 2010", "DATE", "date_worded", set(PRESETS)),
        ("25AUG98", "DATE", "date_numeric", set(PRESETS)),
        ("C15", "CODE", "tagger", {"legal"}),
        ("00473-881", "CODE", "bank_account", set(PRESETS)),
        ("Ana Ruiz", "PERSON", "tagger", set(PRESETS)),
        ("Ana Ruiz", "PERSON", "titled_name", set(PRESETS)),
    ],
)
def test_what_counts_by_itself(surface: str, label: str, recogniser: str, counts_in: set[str]) -> None:
    text = f"seen: {surface} today"
    counted = {
        name for name, p in presets().items() if p.held(text, [made(text, surface, label, recogniser)])[0].score >= 0.5
    }
    assert counted == counts_in


def test_presets_are_complete_and_name_what_exists() -> None:
    from engine.pii.detect.recognisers import catalogue
    from engine.pii.languages.pack import codes, pack

    ids = {e.id for e in catalogue()} | {s.id for code in codes() for s in pack(code).recognisers}
    assert list(presets()) == list(PRESETS)
    for preset in presets().values():
        assert preset.title
        assert preset.note
        assert preset.suggest_labels | set(preset.least_scores) <= set(LABELS)
        assert preset.suggest_recognisers <= ids


def test_own_patterns_count_under_every_preset() -> None:
    pattern = CustomPattern(name="dose", pattern=r"\d+ kg", label="QUANTITY")
    detector = RecordDetector(DetectorSettings(tagger=False, patterns=(pattern,)))
    assert [(s.label, s.score) for s in detector.find(["weighs 54 kg"])[0]] == [("QUANTITY", 0.9)]


def test_settings_keep_the_preset_and_refuse_an_unknown_one() -> None:
    settings = DetectorSettings(preset="legal")
    assert DetectorSettings.from_json(settings.to_json()) == settings
    assert DetectorSettings.from_json("{}").preset == DEFAULT_PRESET
    with pytest.raises(UserError, match="preset"):
        DetectorSettings.from_dict({"preset": "military"})


def test_a_scholarly_abstract_is_left_alone_and_a_letter_is_not() -> None:
    detector = RecordDetector(DetectorSettings(preset="general"))
    letter = "Dear Ms Diallo, I met Meyer in Leeds; he works at Riverside General Hospital with Amina Diallo."
    abstract, other = detector.find([ABSTRACT, letter])
    assert [ABSTRACT[s.start : s.end] for s in abstract if s.score >= 0.5] == []
    assert {"Meyer", "Leeds", "Amina Diallo"} <= {letter[s.start : s.end] for s in other if s.score >= 0.5}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ABSTRACT, True),
        (ABSTRACT + " He lives in Leeds.", False),
        ("We propose a model.", False),  # too short to tell
        ("We went to the house by the river and had a good time there with all of them. " * 4, False),
    ],
)
def test_scholarly(text: str, expected: bool) -> None:
    assert scholarly(text) is expected


@pytest.mark.parametrize(
    "text",
    [
        "[T97, P88, R22]",
        "[T97]", "[P88]", "[R22]", "[Ht 44]", "[1110AM]", "[t102]", "[P146]", "[T101.4-]", "[BP120/80]", "@ [0930]",
        "fever ([99-104])", "wound [20x28cm]", "BP [168/98]", "12/20/99 [1440]", "VS: [174/98]", "thresholds [30-35dB]",
    ],
)  # fmt: skip
def test_readings_are_no_codes(text: str) -> None:
    start, end = text.index("["), text.index("]") - 1
    assert is_reading(text.replace("[", "").replace("]", ""), start, end)


@pytest.mark.parametrize(
    "text", ["file [168/98]", "lot[# 4978139]", "Patient ID [P104432]", "PIN [0930]", "ref [T97-4431]", "room [C15]"]
)
def test_codes_are_no_readings(text: str) -> None:
    start, end = text.index("["), text.index("]") - 1
    assert not is_reading(text.replace("[", "").replace("]", ""), start, end)


NOTE = "Pt: T97, P88, R22, Ht 44; seen 1110AM 21APR98 by Dr. Lindgren. 215PM t102, P146, BP120/80. MRN: 00487213."


@pytest.mark.parametrize("preset", PRESETS)
def test_shorthand_of_a_visit_holds_one_code(preset: str) -> None:
    spans = RecordDetector(DetectorSettings.from_dict({"preset": preset})).find([NOTE])[0]
    found = {(NOTE[s.start : s.end], s.label) for s in spans if s.score >= 0.5}
    direct = {v for v, label in found if LABELS[label][1] == "direct"}
    assert direct == {"Dr. Lindgren", "00487213"}
    assert any("21APR98" in v for v, label in found if label == "DATE")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Patient Õnne Ångström – reported dizziness.", "Õnne Ångström"),
        ("Patient Õnne Põld – reported dizziness after the second dose.", "Õnne Põld"),
        ("Seen today: Wojciech Wołosiewicz, no new complaints.", "Wojciech Wołosiewicz"),
        ("Patient Yıldırım – reported dizziness.", "Yıldırım"),
        ("I spoke to Ülle Õunapuu about the results.", "Ülle Õunapuu"),
    ],
)
def test_names_with_letters_outside_english(text: str, name: str) -> None:
    found = {(text[s.start : s.end], s.label) for s in RecordDetector().find([text])[0] if s.score >= 0.5}
    assert (name, "PERSON") in found


def test_foreign_letters_say_nothing_in_another_language() -> None:
    german = "Die Ärztliche Prüfung für Läufer über fünf Kilometer wäre müßig; Größere Übungen würden nützen."
    rules = Rules()
    assert [
        s for s in held_back(german, rules.find(german)) if s.recogniser == "accented_name" and s.score >= 0.5
    ] == []
    english = "She met Õnne Põld at the station, and the two of them took the early train."
    kept = held_back(english, rules.find(english))
    assert {s.score >= 0.5 for s in kept if s.recogniser == "accented_name"} == {True}


@pytest.mark.parametrize("mark", [";", "|", "\t"])
def test_rows_of_tables_are_cut_at_their_separators(mark: str) -> None:
    row = mark.join(["7", "Amina Diallo", "14.03.1961", "Leeds", "Riverside General Hospital", "0113 496 0123"])
    spans = [s for s in RecordDetector().find([f"{row}\n{row}"])[0] if s.score >= 0.5]
    text = f"{row}\n{row}"
    assert not [text[s.start : s.end] for s in spans if mark in text[s.start : s.end]]
    assert {("Amina Diallo", "PERSON"), ("14.03.1961", "DATE")} <= {(text[s.start : s.end], s.label) for s in spans}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (["Clinic letters"], "clinical"),
        (["export_7.csv", "patientNr", "visit_day"], "clinical"),
        (["export", "discharge letter", "clinical"], "clinical"),
        (["Court decisions"], "legal"),
        (["Claims of a hospital", "defendant"], None),  # two are told
        (["Support tickets", "generic", "outcome"], None),
        (["inpatience"], None),  # a part of a word tells nothing
        ([], None),
    ],
)
def test_a_preset_is_proposed_by_public_words_alone(said: list[str], told: str | None) -> None:
    assert proposed(said) == told
