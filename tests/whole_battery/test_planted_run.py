"""A tenth of the outputs repeat their seeds and canaries are echoed: what should see it does, and the page says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.examine.findings.findings import Finding
from engine.workspace import Workspace, open_workspace
from tests.pages.small import verdict_lines
from tests.whole_battery import world

SHARE = 0.1


def sentences(path: Path, run: str, patch: pytest.MonkeyPatch) -> list[str]:
    """Return the verdict that the privacy page shows, a line a sentence."""
    from streamlit.testing.v1 import AppTest

    from pages._ui.navigation import page_path

    patch.setenv("UNDERSTUDY_WORKSPACE", str(path))
    app = AppTest.from_file(str(Path(world.__file__).parents[2] / "pages" / "_ui" / "main.py"), default_timeout=120)
    app.session_state["_ui.run"] = run
    app.run()
    app.switch_page(page_path("privacy")).run()
    assert not app.exception, app.exception
    return verdict_lines(app.container(key="privacy.verdict"))


def the(lines: list[str], title: str) -> str:
    found = [line for line in lines if f"· {title}:" in line]
    assert len(found) == 1, lines
    return found[0]


def planted(test_data: Path, path: Path, patch: pytest.MonkeyPatch, size: int) -> tuple[Workspace, str]:
    """Import notes, repeat a tenth of them and all canaries, examine."""
    table = world.notes(test_data)
    with world.opened(path, table.iloc[-6000:], patch) as workspace:
        records = world.corpus_of(table.iloc[:size].copy(), canaries=80)
        corpus = workspace.corpora.import_table(records, world.MAPPING, name="Notes", holdout=0.4)
        workspace.review.use_gold(corpus.id)
        seeds = corpus.records - len(workspace.corpora.records(corpus.id, split="holdout", limit=size))
        run = world.made(workspace, corpus.id, "leaking", seeds, copies=SHARE, echoes=1.0)
        world.examined(workspace, run, model_attacks=False)
    return open_workspace(path, "tester"), run


def found(workspace: Workspace, run: str) -> dict[tuple[str, str], Finding]:
    return {(f.name, f.reference): f for f in workspace.examinations.findings(run)}


# What stands out so far among 800 notes that the split by chance cannot hide it.
CLEAR = ("verbatim_8gram", "near_copies_05", "near_copies_08")


def copies_are_seen(findings: dict[tuple[str, str], Finding]) -> None:
    """Assert what a tenth of copies makes of findings on text alone."""
    for name in CLEAR:
        excess = findings[f"{name}_excess", "holdout"]
        assert excess.low is not None, name
        assert excess.low > 0, name
    near = findings["near_copies_08", "train"].value
    assert SHARE - 0.01 <= near <= SHARE + 0.04
    assert findings["near_copies_08", "holdout"].value < 0.02
    own, other = findings["pipp_context", "train"], findings["pipp_context", "baseline"]
    assert own.value > 0.025 > other.value
    assert findings["canary_echo", "train"].value == 1.0
    assert findings["canary_echo", "holdout"].value == 0.0


@pytest.mark.slow  # a minute
def test_copies_and_canaries_are_seen_and_said(
    tmp_path: Path, test_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "workspace"
    workspace, run = planted(test_data, path, monkeypatch, 800)
    copies_are_seen(found(workspace, run))
    said = sentences(path, run, monkeypatch)
    for title in ("Copied text", "Planted canaries"):
        assert "**leak**" in the(said, title), title
    assert "100.0% of the canaries planted among the records used stand in the text word for word, 0.0%" in the(
        said, "Planted canaries"
    )
    assert "nothing is proven about this method" in said[-1]
    marks = ["**leak**" in line for line in said]
    assert marks == sorted(marks, reverse=True)  # most serious first
