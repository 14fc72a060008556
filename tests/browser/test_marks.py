"""Marked words are framed line by line, without the blanks at their ends: a frame around these is an empty box."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import ROOT

pytestmark = pytest.mark.browser
PARTS = ROOT / "pages" / "_ui" / "parts"
SEGMENTS = [
    {"text": "Admitted: 3 "},
    {"text": "January 2018", "label": "date", "id": "a"},
    {"text": " 2018 ", "label": "date", "id": "b"},
    {"text": "Diagnosis: 😀 gout\n\nAsked plainly, he admits", "label": "copied words", "id": "c"},
    {"text": "  ", "label": "blank", "id": "d"},
    {"text": "."},
]  # fmt: skip
DRAWN = """(segments) => {
    const area = document.querySelector(".text")
    drawSegments(area, segments, "b", true, () => {})
    const words = [...area.querySelectorAll(".words")]
    const boxes = [...area.querySelectorAll(".mark")].flatMap((mark) => [...mark.getClientRects()])
    return {
        text: words.map((one) => one.textContent).join(""),
        starts: words.map((one) => Number(one.dataset.start)),
        lengths: words.map((one) => points(one.textContent)),
        narrowest: Math.min(...boxes.map((box) => box.width)),
        types: area.querySelectorAll(".tag").length,
        buttons: area.querySelectorAll("[role=button]").length,
    }
}"""


@pytest.mark.parametrize("width", [300, 360, 420])
def test_no_frame_stands_around_blanks_alone(browser: Any, width: int) -> None:
    style, script = ((PARTS / name).read_text(encoding="utf-8") for name in ("highlight.css", "marks.js"))
    page = browser.new_page()
    page.set_content(
        f"<style>{style}</style><div class='text sheet' style='width:{width}px'></div><script>{script}</script>"
    )
    drawn = page.evaluate(DRAWN, SEGMENTS)
    page.close()
    assert drawn["text"] == "".join(one["text"] for one in SEGMENTS)
    assert drawn["starts"] == [sum(drawn["lengths"][:place]) for place in range(len(drawn["lengths"]))]
    assert drawn["narrowest"] > 16, "a frame around nothing is as wide as its own edges"
    assert drawn["types"] == drawn["buttons"] == 4, "each finding is named and reached once"
