"""The pictures of the pages, and what the pages were made of when they were taken.

A clone has no file times worth anything, so beside the pictures stands `sources.json`: for each picture a digest of
what its page is drawn by. That is the page's script, main.py, every module of `pages` and `engine.figures` that they
import, the scripts and styles beside those, and the theme. Docstrings, blank lines and lines of comment do not count.

`UNDERSTUDY_WRITE_PICTURES=1 pytest -m "slow or long" -n 0 tests/browser/test_whole_path.py tests/browser/test_board.py
tests/browser/test_assessment_pictures.py` takes them all anew and writes their digests. The last ones are the first
pages of three assessment files, which the Release page hands out and which have no dark form.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assets" / "pictures"
RECORD = FOLDER / "sources.json"
PAGE_OF = {
    "beside": "compare",
    "table": "compare",
    "classifier": "utility",
    "assessment_dp": "release",
    "assessment_filter": "release",
    "assessment_surrogate": "release",
}  # a picture is of the page it is named after, but for these
ALWAYS = ("pages/_ui/main.py", ".streamlit/config.toml")
FOLLOWED = ("pages", "engine.figures")
BESIDE = (".js", ".css", ".html")

Read = Callable[[str], str | None]


def on_disk(path: str) -> str | None:
    """Return the text of a file of the project, or None where there is none."""
    file = ROOT / path
    return file.read_text("utf-8") if file.is_file() else None


def page_of(picture: str) -> str:
    """Return which page a picture shows: `review_dark.png` is of `review`."""
    name = picture.rsplit("_", 1)[0]
    return PAGE_OF.get(name, name)


def imported(source: str) -> list[str]:
    """Return the names of followed modules, and of what may be one, that a module imports anywhere in it."""
    names: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [name for name in names if any(name == root or name.startswith(f"{root}.") for root in FOLLOWED)]


def sources(page: str, read: Read = on_disk) -> dict[str, str]:
    """Return path and text of all that a page is drawn by."""
    waiting, found = [f"pages/{page}.py", *ALWAYS], {}
    while waiting:
        path = waiting.pop()
        text = None if path in found else read(path)
        if text is None:
            continue
        found[path] = text
        if path.endswith(".py"):
            for name in imported(text):
                stem = name.replace(".", "/")
                waiting += [f"{stem}.py", f"{stem}/__init__.py"]
            waiting += _named_files(path, text)
    return found


def _named_files(path: str, text: str) -> Iterable[str]:
    """Return the scripts and styles that a module names; they stand beside it."""
    folder = path.rsplit("/", 1)[0]
    words = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
    return [f"{folder}/{word}" for word in words if isinstance(word, str) and word.endswith(BESIDE) and "/" not in word]


def digest(page: str, read: Read = on_disk) -> str:
    """Return the digest of what a page is drawn by."""
    made = hashlib.sha256()
    for path, text in sorted(sources(page, read).items()):
        made.update(f"{path}\0{_meaning(text) if path.endswith('.py') else text}\0".encode())
    return made.hexdigest()[:16]


def _meaning(source: str) -> str:
    """Return a module without docstrings, blank lines and lines that are comments alone; the same in every Python."""
    silent: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node, clean=False):
            silent |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = (line.strip() for number, line in enumerate(source.splitlines(), 1) if number not in silent)
    return "\n".join(line for line in lines if line and not line.startswith("#"))


def recorded() -> dict[str, str]:
    """Return the digest of each picture's page when it was taken."""
    found: dict[str, str] = json.loads(RECORD.read_text("utf-8"))
    return found


def note(picture: str) -> None:
    """Write down what a picture's page is drawn by now; called when the picture was taken."""
    known = recorded() if RECORD.exists() else {}
    known[picture] = digest(page_of(picture))
    RECORD.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", "utf-8")
