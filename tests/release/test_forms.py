"""The card in forms for programs: what each format requires is there, and what leaves says the same everywhere."""

from __future__ import annotations

import hashlib
import html.parser
import json
from datetime import date
from pathlib import Path

import pytest
import yaml

from engine.errors import InternalError, RefusedError
from engine.release.card import forms
from engine.release.card.numbers import private_numbers
from tests.release.bundles import written

WORDS = {"title": "Made-up letters", "licence": "CC BY 4.0", "purpose": "Teaching", "recipient": "A class"}
HOSTILE = "<script>alert(1)</script> ]( javascript:x) \"' {{7*7}} | `x`\n# head\n---\nlicense: mit"


def of(path: Path, name: str) -> str:
    return (path / name).read_text("utf-8")


def test_croissant_has_what_the_format_requires(tmp_path) -> None:
    path = written(tmp_path / "out", words=WORDS).path
    made = json.loads(of(path, "croissant.json"))
    assert made["@type"] == "sc:Dataset"
    assert made["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert all(made[name] for name in forms.REQUIRED)
    by_id = {entry["@id"]: entry for entry in made["distribution"]}
    for name, entry in by_id.items():
        assert entry["@type"] == "cr:FileObject"
        assert entry["sha256"] == hashlib.sha256((path / entry["contentUrl"]).read_bytes()).hexdigest()
        assert entry["contentSize"] == f"{(path / name).stat().st_size} B"
    (records,) = made["recordSet"]
    header = json.loads(of(path, "records.jsonl").splitlines()[0])
    assert [field["name"] for field in records["field"]] == list(header)
    for field in records["field"]:
        assert field["source"]["fileObject"]["@id"] in by_id
        assert field["dataType"] == "sc:Text"


@pytest.mark.parametrize("missing", ["name", "license", "creator"])
def test_croissant_without_a_required_field_is_not_written(tmp_path, missing, monkeypatch) -> None:
    monkeypatch.setattr(forms, "REQUIRED", (*forms.REQUIRED, f"no-{missing}"))
    with pytest.raises(InternalError, match=f"no-{missing}"):
        written(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("licence", "expected"), [("CC BY 4.0", "cc-by-4.0"), ("mit", "mit"), ("", "other"), ("Ask us: x", "other")]
)
def test_the_readme_has_a_head_that_hubs_read(tmp_path, licence: str, expected: str) -> None:
    path = written(tmp_path / "out", words=WORDS | {"licence": licence}, formats=("csv", "jsonl")).path
    text = of(path, "README.md")
    _, head, body = text.split("---\n", 2)
    read = yaml.safe_load(head)
    assert read["license"] == expected
    assert ("license_name" in read) is (expected == "other")
    assert read["pretty_name"] == "Made-up letters"
    assert read["size_categories"] == ["n<1K"]
    assert (path / read["configs"][0]["data_files"]).exists()
    assert body.strip() == of(path, "DATA_CARD.md").strip()


class Page(html.parser.HTMLParser):
    """Collects a page's tags, attributes and words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href") or name.startswith("on")]

    def handle_data(self, data) -> None:
        self.words += data


def test_hostile_words_stay_words_in_every_form(tmp_path) -> None:
    names = ("title", "source", "contact", "licence", "purpose", "recipient")
    path = written(tmp_path / "out", words=dict.fromkeys(names, HOSTILE)).path
    page = Page(of(path, "REPORT.html"))
    assert not {"script", "img", "iframe", "link"} & set(page.tags)
    assert page.addresses == []
    assert page.words.count("<script>alert(1)</script>") >= len(names)
    head = yaml.safe_load(of(path, "README.md").split("---\n", 2)[1])
    assert head["license"] == "other"
    assert head["pretty_name"] == " ".join(HOSTILE.split())
    assert json.loads(of(path, "croissant.json"))["name"] == " ".join(HOSTILE.split())
    assert "<script>" not in of(path, "DATA_CARD.md")


def test_the_report_needs_nothing_from_outside_and_lists_each_file(tmp_path) -> None:
    bundle = written(tmp_path / "out", words=WORDS)
    text = of(bundle.path, "REPORT.html")
    page = Page(text)
    assert "default-src 'none'" in text
    assert page.addresses == []
    for name in set(bundle.files) - {"REPORT.html", "manifest.json", "SHA256SUMS"}:
        assert name in page.words
        assert bundle.sha256[name] in page.words
    for said in WORDS.values():
        assert said in page.words


@pytest.mark.parametrize(
    ("text", "statistics", "found"),
    [
        ("of 1,234 letters", (1234.0,), 1),
        ("of 1.234 and 1 234 and 1'234 letters", (1234.0,), 3),
        ("of 1234 letters", (1234.0,), 1),
        ("of 12345 letters", (1234.0,), 0),  # another number
        ("ward 12", (12.0,), 0),  # small numbers stand everywhere
        ("88.8 % of them", (0.8884,), 1),
        ("88,84 %", (0.8884,), 1),
        ("0.888", (0.8884,), 1),
        ("0.889", (0.8884,), 0),
        ("CC BY 4.0", (4.0, 0.04), 0),
        ("0.50", (0.5,), 0),  # two digits are no trace
        ("risk .421, or (.421)", (0.4213,), 2),
        ("No.421 and v.421", (0.4213,), 0),  # a number of something
        ("42 % or 42% or 42\u00a0% or 42 per cent or 42 percent", (0.4213,), 5),
        ("42 letters", (0.4213,), 0),
        ("42,1", (0.4213,), 1),
        ("42,1 % and 42.1%", (0.4213,), 2),
        ("7 %, 50 % and 100 %", (0.0713, 0.5012, 0.9999), 0),  # one digit, half and all are no trace
        ("1e3 or 1E+03 or 1.0e3 or 1 x 10^3 or 10\u00b710^2", (1000.0,), 5),
        ("4.21e-1 and 4.21\u00d710^-1 and 421e\u22123", (0.4213,), 3),
        ("1e3x", (1000.0,), 0),
        ("1,000 1 000 1'000 1\u2019000 1.000 1\u202f000 1000.0", (1000.0,), 7),
        ("1,234,567 and 1.234.567 and 1 234 567", (1234567.0,), 3),
        ("1,234.5 and 1.234,5 and 1 234,5", (1234.5,), 3),
        ("1,2345", (1234.0, 12345.0), 0),
        ("12/1000 patients", (1000.0,), 1),
        ("-0.421", (-0.4213,), 1),
        ("\uff11\uff12\uff13\uff14", (1234.0,), 1),
        ("nothing", (float("nan"), float("inf")), 0),
        ("", (1234.0,), 0),
    ],
)
def test_private_numbers_are_found_in_every_spelling(text: str, statistics: tuple, found: int) -> None:
    assert private_numbers(text, statistics) == found


def test_public_numbers_may_stand() -> None:
    assert private_numbers("of 1,234 letters", (1234.0,), (1234.0,)) == 0


@pytest.mark.parametrize("field", ["title", "source", "licence", "purpose", "recipient"])
def test_an_unnoised_statistic_stops_the_release(tmp_path, field: str) -> None:
    with pytest.raises(RefusedError, match="counted or measured") as refused:
        written(tmp_path / "out", words={field: "From 17,389 letters."}, statistics={17389.0})
    assert "17" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("field", ["title", "source", "licence", "purpose", "recipient", "contact", "versions"])
def test_planted_private_words_stop_the_release(tmp_path, field: str) -> None:
    planted = "ONE two, three: four five six «seven» eight nine"
    with pytest.raises(RefusedError, match="repeats more than 8"):
        written(tmp_path / "out", words={field: planted}) if field != "versions" else written(
            tmp_path / "out", words={"versions": {planted: "1"}}
        )
    assert list(tmp_path.iterdir()) == []
    assert written(tmp_path / "out", words={"title": planted.removesuffix(" nine")})


def test_days_of_the_card_itself_are_no_trace(tmp_path) -> None:
    today, year = date.today().isoformat(), float(date.today().year)
    day = f"{date.today().year + 2}-03-24"
    words = {"title": f"Letters of {int(year)}, to be reviewed by {day}, made {today}", "review": day}
    written(tmp_path / "out", words=words, statistics={year, year + 2, 24.0, float(today[-2:]), 17389.0})
    with pytest.raises(RefusedError, match="The title holds a number"):
        written(tmp_path / "second", words={"title": "Letters of 1998"}, statistics={1998.0})
