"""The pictures in the README and beside it are of these pages."""

from __future__ import annotations

import re

import pytest

from tests.browser import pictures

SCRIPTS = {
    "pages/home.py": "from pages._ui import a\nfrom pages._ui.b.c import draw\n",
    "pages/_ui/main.py": "import streamlit\n",
    "pages/_ui/a.py": '"""Says."""\nx = 1  # one\n',
    "pages/_ui/b/c.py": 'from engine.figures.board import board\nCSS = "desk.css"\n\n\ndef draw():\n    "Draw."\n',
    "pages/_ui/b/desk.css": "a {}\n",
    "engine/figures/board.py": "from engine import corpus\n",
    "engine/corpus.py": "y = 1\n",
    "pages/_ui/other.py": "z = 1\n",
}


def changed(**texts: str) -> str:
    """Return the digest of the page with other texts of some files; `__` in a name stands for a slash."""
    files = SCRIPTS | {path: texts[name] for path in SCRIPTS if (name := path.replace("/", "__")[:-3]) in texts}
    return pictures.digest("home", files.get)


def test_a_page_is_drawn_by_what_it_imports_and_names():
    assert set(pictures.sources("home", SCRIPTS.get)) == set(SCRIPTS) - {"engine/corpus.py", "pages/_ui/other.py"}


@pytest.mark.parametrize(
    ("file", "text", "counts"),
    [
        ("pages___ui__a", '"""Says more."""\n\n\n# why\nx = 1  # one\n', False),  # words about the code
        ("pages___ui__a", '"""Says."""\nx = 2\n', True),
        ("pages___ui__main", "import streamlit as st\n", True),
        ("engine__figures__board", "from engine import corpus\n\nWIDTH = 4\n", True),
        ("engine__corpus", "y = 2\n", False),
        ("pages___ui__other", "z = 2\n", False),
    ],
)
def test_what_changes_a_page(file, text, counts):
    assert (changed(**{file: text}) != changed()) is counts


def test_a_style_changes_its_page():
    files = SCRIPTS | {"pages/_ui/b/desk.css": "a { color: red }\n"}
    assert pictures.digest("home", files.get) != changed()


def test_every_picture_is_of_a_page_and_has_a_record():
    there = {path.name for path in pictures.FOLDER.glob("*.png")}
    assert set(pictures.recorded()) == there
    for name in there:
        assert (pictures.ROOT / "pages" / f"{pictures.page_of(name)}.py").is_file(), name
    shown = re.findall(r"assets/pictures/([\w.]+)", (pictures.ROOT / "README.md").read_text("utf-8"))
    assert shown
    assert set(shown) <= there


def test_the_record_follows_the_real_scripts():
    drawn = pictures.sources("review")
    assert {"pages/review.py", "pages/_ui/review/desk.js", "pages/_ui/sidebar.py"} <= set(drawn)
    assert "engine/figures/board.py" in pictures.sources("compare")


@pytest.mark.long
@pytest.mark.parametrize("picture", sorted(path.name for path in pictures.FOLDER.glob("*.png")))
def test_a_picture_is_no_older_than_its_page(picture):
    """Run before an edition: the pictures take a browser and an hour, so they are not taken at every change."""
    page = pictures.page_of(picture)
    assert pictures.recorded()[picture] == pictures.digest(page), (
        f"{picture} was taken of an older page; see the head of tests/browser/pictures.py"
    )
