"""A page that is drawn anew can take the desk of the review away for a moment: keys of that moment are not lost."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]
UI = ROOT / "pages" / "_ui"
PARTS = [
    UI / "parts" / "say.js", UI / "parts" / "marks.js", UI / "review" / "desk_state.js", UI / "review" / "desk.js",
]  # fmt: skip
NAMES = {"Ann": (0, 3), "Bob": (8, 11), "Eve": (16, 19)}

# Draws the desk as Streamlit does, takes it away, has a hand do things meanwhile, draws it again, and tells what is
# to be stored. `wait` is how long the desk is away.
AWAY = """async ({ source, data, meanwhile, wait }) => {
    const made = (await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })))).default
    const draw = () => made({ data, parentElement: document.body, setTriggerValue: () => {} })
    const key = (name, repeat = false) =>
        document.dispatchEvent(new KeyboardEvent("keydown", { key: name, repeat, bubbles: true }))
    const leave = draw()
    key("a")
    leave()
    for (const one of meanwhile) {
        if (one === "click") document.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }))
        else if (one === "elsewhere") history.pushState({}, "", "#" + one), history.replaceState({}, "", "/release")
        else if (one === "switched") data.go = { n: 1, record: "r2" }, data.sheets = data.sheets.slice(1)
        else key(one.replace("…", ""), one.endsWith("…"))
    }
    await new Promise((done) => setTimeout(done, wait))
    draw()
    const kept = Object.keys(localStorage).filter((name) => name.startsWith("understudy.review."))
    const acts = kept.flatMap((name) => JSON.parse(localStorage.getItem(name)))
    const held = acts.map((act) => (act.span ? [act.action, act.span] : [act.action]))
    const told = document.querySelector(".told").textContent
    key("u") // it listens again, once
    return { held, told, queued: Number(document.querySelector(".status").dataset.waiting) }
}"""


def given() -> dict[str, Any]:
    """Return what the server gives the desk: one text with three findings, and the next one."""
    spans = [
        {"id": f"p-{number}", "start": start, "end": end, "label": "PERSON", "score": 1.0, "who": "x", "type": "direct",
         "state": "accepted", "decided": False, "value": name}
        for number, (name, (start, end)) in enumerate(NAMES.items(), 1)
    ]  # fmt: skip
    sheet = {"reviewed": False, "note": "", "upon": 0, "free": {}}
    return {
        "corpus": "c-1", "labels": {"PERSON": ["person name", 0]}, "names": [], "who": {}, "above": False,
        "language": {"code": "en", "single": {}, "plural": {}, "forms": ""}, "go": {"n": 0, "record": "r1"},
        "total": 2, "size": 40, "page": 0, "next": ["r2"], "others": {}, "away": False, "alike": None, "pressing": 0,
        "rows": [{"id": name, "open": 3, "risk": 0.5, "reviewed": False} for name in ("r1", "r2")],
        "sheets": [{"id": "r1", "text": "Ann met Bob and Eve.", "spans": spans, **sheet},
                   {"id": "r2", "text": "Nothing.", "spans": [], **sheet}],
        "counts": {"records": 2, "reviewed": 0, "undecided": 3, "accepted": 3, "rejected": 0},
        "only": False, "spot": ["", ""], "reply": 0, "done": [], "trouble": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("meanwhile", "wait", "held", "queued", "lost"),
    [
        (["x", "A"], 50, [["accept", "p-1"], ["reject", "p-2"], ["accept text"]], 4, False),
        (["x", "click"], 50, [["accept", "p-1"]], 2, True),
        (["x", "Tab"], 50, [["accept", "p-1"]], 2, True),
        (["elsewhere", "x"], 50, [["accept", "p-1"]], 2, False),
        (["x"], 3300, [["accept", "p-1"]], 2, True),
        (["x", "x…", "x…"], 50, [["accept", "p-1"], ["reject", "p-2"]], 3, False),
        (["n", "A"], 50, [["accept", "p-1"], ["finish"]], 3, True),
        (["A", "switched"], 50, [["accept", "p-1"]], 2, True),
        (["u", "switched"], 50, [["accept", "p-1"], ["undo"]], 2, False),
    ],
    ids=["drawn anew", "clicked elsewhere", "another key", "another page", "away for long", "held down",
         "a text that was not in sight", "another text opened meanwhile", "what is taken back"],
)  # fmt: skip
def test_keys_count_once_the_desk_stands_again_where_the_hand_did_nothing_else(
    browser: Any, meanwhile: list[str], wait: int, held: list[list[str]], queued: int, lost: bool
) -> None:
    page = browser.new_page()
    page.route("http://desk.test/**", lambda route: route.fulfill(body="<body></body>", content_type="text/html"))
    page.goto("http://desk.test/review")
    page.evaluate("(html) => { document.body.innerHTML = html }", (UI / "review" / "desk.html").read_text("utf-8"))
    source = "\n".join(path.read_text(encoding="utf-8") for path in PARTS)
    found = page.evaluate(AWAY, {"source": source, "data": given(), "meanwhile": meanwhile, "wait": wait})
    page.close()
    assert found["held"] == held
    assert found["queued"] == queued, "the key after it counts once"
    assert ("not counted" in found["told"]) == lost, "what is not counted is said"
