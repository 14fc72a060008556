"""The measurement on judgments, legal text planted here, and what the record of the tagger's evaluation states."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from engine.pii import benchmark
from engine.pii.benchmark import MEASURES, counted, halves, measure, summary
from engine.pii.detect.detector import RecordDetector
from engine.pii.detect.settings import DetectorSettings
from engine.pii.evaluate import wilson
from engine.pii.spans import Span

ROOT = Path(__file__).resolve().parents[2]
# «direct», ‹quasi›; of courts and offices that are none of the benchmark's
PLANTED = {
    "lease": (
        "COUNTY COURT AT ‹WETHERFELD› Claim no. «HQ-18-X04417» The claimant, «Mrs Imelda Farquhar-Stowe», let the "
        "flat at «14 Pellgate Row» to «Mr Tobias Wrenfield» on ‹2 March 2016› at ‹£1,150› a month. «Mr Wrenfield», a "
        "‹joiner› of ‹Portuguese› origin, was ‹41 years old›. He worked for ‹Oakmere Joinery Ltd›. The rent fell "
        "behind in ‹September 2017›. On ‹11 January 2018› «Mrs Farquhar-Stowe» gave notice through "
        "‹Dunmore & Pike LLP›."
    ),
    "land": (
        "The appellant, «Ms Katarzyna Brzozowska», was born in ‹1958› and lives in ‹Lublin›. She inherited parcels "
        "nos. ‹1184/2, 1184/3 and 1190› from her uncle, «Henryk Brzozowski», who died on ‹7 June 1991›. The ‹Lublin "
        "Regional Office› valued the land at ‹PLN 84,300›. Her counsel, «Ms E. Halicka», lodged the appeal on "
        "‹3 May 1999›."
    ),
    "sentence": (
        "The defendant «Marcus Oyelaran Tibbs» (ref. «AKX/2291/07») was convicted at the ‹Brackwater Crown Court› on "
        "‹19 November 2009› of theft from his employer, ‹Calder Freight Services›. He was sentenced to ‹two years and "
        "six months› and ordered to repay ‹$23,480›. «Tibbs», a ‹former soldier›, appealed on ‹4 December 2009›; "
        "«Ms Ruth Adeyemi» appeared for him. The appeal was heard in ‹Norwich› by «Judge P. L. Harcastle»."
    ),
}


def parsed(marked: str) -> tuple[str, list[dict[str, object]]]:
    """Return a text without its marks, and its gold spans; one value is one entity."""
    text, spans, opened = "", [], 0
    for c in marked:
        if c in "«‹":
            opened = len(text)
        elif c in "»›":
            kind, label = ("DIRECT", "PERSON") if c == "»" else ("QUASI", "MISC")
            value = text[opened:]
            spans.append(
                {"start": opened, "end": len(text), "label": label, "identifier_type": kind, "entity_id": value}
            )
        else:
            text += c
    return text, spans


@pytest.fixture(scope="module")
def planted() -> dict[str, tuple[str, list[dict[str, object]]]]:
    return {name: parsed(marked) for name, marked in PLANTED.items()}


def test_planted_legal_text_is_masked_under_the_legal_preset(planted) -> None:
    rows = [{"id": name, "text": text, "spans": spans} for name, (text, spans) in planted.items()]
    found = measure(rows, DetectorSettings(preset="legal"))["all"]
    assert found["records"] == 3
    assert found["direct_recall"]["n"] == 14
    assert found["direct_recall"]["value"] == 1.0
    assert found["quasi_recall"]["n"] == 25
    assert found["quasi_recall"]["value"] >= 0.9
    assert found["token_precision"]["value"] >= 0.75


def test_rules_alone_find_the_formats_of_legal_text(planted) -> None:
    """Claim numbers, dates, amounts, terms, ages, titles and plots need no network."""
    detector = RecordDetector(DetectorSettings(preset="legal", tagger=False))
    masked = {
        name: "".join(
            "_" if any(s.start <= i < s.end and s.score >= 0.5 for s in spans) else c for i, c in enumerate(text)
        )
        for (name, (text, _)), spans in zip(planted.items(), detector.find([t for t, _ in planted.values()]))
    }
    for name, values in {
        "lease": ["X04417", "Wrenfield", "2 March 2016", "1,150", "Portuguese", "41 years", "11 January 2018"],
        "land": ["1184", "1190", "Halicka", "7 June 1991", "84,300"],
        "sentence": ["AKX", "19 November", "six months", "23,480", "Harcastle"],
    }.items():
        assert [v for v in values if v in masked[name]] == []
        assert all(v in planted[name][0] for v in values)


def test_a_cadastral_number_is_no_date_and_is_not_cut() -> None:
    text = "It is registered as sheet/plan 33/21.2.3, plot no. 937 of block C."
    for settings in (DetectorSettings(preset="legal"), DetectorSettings(preset="general", tagger=False)):
        found = [text[s.start : s.end] for s in RecordDetector(settings).find([text])[0] if s.score >= 0.5]
        assert found == ["33/21.2.3", "937 of block C"]


def test_halves_depend_on_the_ids_alone() -> None:
    ids = [f"TAB-{i:03}" for i in range(93)]
    first, second = halves(ids)
    assert (len(first), len(second)) == (46, 47)
    assert not first & second
    assert halves(ids[::-1]) == (first, second)
    assert halves([*ids, *ids]) == (first, second)
    assert sorted(first) != sorted(ids)[:46]


def test_an_entity_counts_when_every_mention_is_masked() -> None:
    text = "Ana Ruiz left. Ruiz came to Oslo."
    gold = [
        {"start": 0, "end": 8, "label": "PERSON", "identifier_type": "DIRECT", "entity_id": "p"},
        {"start": 15, "end": 19, "label": "PERSON", "identifier_type": "QUASI", "entity_id": "p"},
        {"start": 28, "end": 32, "label": "LOC", "identifier_type": "QUASI", "entity_id": "o"},
    ]
    name, again, place = (Span("", g["start"], g["end"], "PERSON", 0.9, "tagger", "quasi") for g in gold)
    wrong = Span("", 9, 13, "PERSON", 0.9, "tagger", "quasi")
    for spans, expected in (
        ([name, place], ((0, 1), (1, 1), (3, 3))),
        ([name, again], ((1, 1), (0, 1), (3, 3))),
        ([name, again, place, wrong], ((1, 1), (1, 1), (4, 5))),
        ([], ((0, 1), (0, 1), (0, 0))),
    ):
        found = counted({"r": gold}, {"r": text}, {"r": spans})["r"]
        assert tuple(found[m] for m in MEASURES) == expected


def test_intervals_are_over_judgments_and_never_narrower_than_over_cases() -> None:
    alike = [dict.fromkeys(MEASURES, (10 * (i % 2), 10)) for i in range(20)]  # all of a judgment, or nothing
    low, high = wilson(100, 200)
    for found in summary(alike).values():
        assert (found["value"], found["hits"], found["n"]) == (0.5, 100, 200)
        assert found["low"] < low - 0.1
        assert found["high"] > high + 0.1
    sure = summary([dict.fromkeys(MEASURES, (3, 3))] * 10)["direct_recall"]
    assert (sure["value"], sure["high"]) == (1.0, 1.0)
    assert sure["low"] == pytest.approx(wilson(30, 30)[0])
    assert summary([dict.fromkeys(MEASURES, (0, 0))])["direct_recall"]["value"] is None


def test_the_command_prints_shares_and_no_text(planted, tmp_path, capsys) -> None:
    path = tmp_path / "gold.jsonl.gz"
    rows = [{"id": f"secret-{n}", "text": t, "spans": s} for n, (t, s) in planted.items()]
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    assert benchmark.main(["--data", str(path), "--preset", "legal", "--without", "MISC"]) == 0
    printed = capsys.readouterr().out
    found = json.loads(printed)
    assert found["half_a"]["records"] + found["half_b"]["records"] == found["all"]["records"] == 3
    assert not [w for w in ("secret", "Brzozowska", "Wrenfield", "Lublin") if w in printed]


def recorded() -> dict[str, dict]:
    report = json.loads((ROOT / "assets/models/tagger/evaluation.json").read_text("utf-8"))
    return report["unseen_judgments"]


def test_the_record_of_unseen_judgments_adds_up() -> None:
    found = recorded()
    assert all(stage["without_tab"] for stage in found["training"])
    for reading in (*found["presets"].values(), found["set_on_one_half"]["measured_on_the_other"]):
        for name in MEASURES:
            parts = [reading[p][name] for p in ("all", "half_a", "half_b")]
            for part in parts:
                assert part["value"] == pytest.approx(part["hits"] / part["n"], abs=1e-5)
                assert part["low"] <= part["value"] <= part["high"]
            assert parts[0]["hits"] == parts[1]["hits"] + parts[2]["hits"]
            assert parts[0]["n"] == parts[1]["n"] + parts[2]["n"]
    for reading in (found["presets"]["legal"], found["set_on_one_half"]["measured_on_the_other"]):
        for part in ("all", "half_a", "half_b"):
            assert reading[part]["direct_recall"]["value"] >= 0.99
            assert reading[part]["quasi_recall"]["value"] >= 0.9


def test_the_readme_states_the_recorded_figures() -> None:
    text = next(line for line in (ROOT / "README.md").read_text("utf-8").splitlines() if line.startswith("**Tagger**"))
    legal = recorded()["presets"]["legal"]
    other = recorded()["set_on_one_half"]["measured_on_the_other"]
    for name in MEASURES:
        share = legal["all"][name]
        assert f"{share['value']:.3f} [{share['low']:.3f}, {share['high']:.3f}]" in text
    for part in ("half_a", "half_b"):
        assert f"{legal[part]['quasi_recall']['value']:.3f}" in text
        assert f"{other[part]['quasi_recall']['value']:.3f}" in text
