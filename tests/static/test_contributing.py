"""The steps of `.github/CONTRIBUTING.md`, followed to the letter in a copy of the tree: what they add works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / ".github" / "CONTRIBUTING.md").read_text("utf-8")

pytestmark = pytest.mark.timeout(1200)  # real commands, which a slow machine takes minutes for

METHOD = '''
"""Say "nothing" as often as asked."""

from pydantic import BaseModel, ConfigDict

from engine.dp.guarantee import Guarantee
from engine.methods.base import MethodSpec, Plan, Step, SyntheticRecord


class NothingParameters(BaseModel):
    """No settings."""

    model_config = ConfigDict(extra="forbid")


class NothingMethod:
    """Say nothing."""

    spec = MethodSpec(
        id="nothing",
        title="Nothing",
        summary="Says the same word for each text.",
        origin="Each record is one word that was there before the corpus.",
        citation="None",
        kind="none",
        needs=(),
        parameters=NothingParameters,
        good_for="Trying the steps.",
        bad_for="Everything else.",
    )

    def guarantee(self, parameters, facts, accountant=None):
        """Return that nothing private is read."""
        return Guarantee(kind="none", sentence="Nothing private is read.", unit=facts.unit)

    def plan(self, parameters, facts, count):
        """Return a second."""
        return Plan(model_calls=0, tokens=0, seconds=1.0, outputs=count)

    def run(self, context):
        """Yield one step."""
        if context.state is None:
            records = tuple(SyntheticRecord(text="Nothing.") for _ in range(context.count))
            funnel = {"made": len(records), "kept": len(records)}
            yield Step(state={"end": True}, records=records, funnel=funnel, stage="saying", done=1, total=1)
'''
MEASURE = '''
"""The share of synthetic records that shout."""

import numpy as np

from engine.examine.findings.make import finding
from engine.examine.findings.part import Part
from engine.examine.stats import intervals


def examine_shouting(prepared):
    """Return the share of records in capitals alone."""
    prepared.report("shouting", 0, 1)
    loud = np.array([text.isupper() for text in prepared.synthetic.texts])
    share = intervals.share(loud, prepared.synthetic_groups())
    return Part(findings=[finding("shouting", "train", share)])
'''
WORDING = """- name: shouting
  title: Records that shout
  measure: share of synthetic records in capitals alone
  direction: lower is safer
  group: privacy
  topic: copies
  scale: share
  means: Whether the text shouts.
  caveat: None.
  source: None

"""
READER = '''
"""One record a line."""

from engine.corpus.readers.base import Format, RawTable
from engine.corpus.readers.encoding import decode

import pandas as pd


def read_lines(source, options, limit):
    """Return one row a line."""
    decoded = decode(source, source.read(options), options.encoding)
    lines = decoded.text.splitlines()
    frame = pd.DataFrame({"text": lines[:limit]}, index=range(1, len(lines[:limit]) + 1))
    return RawTable(frame, len(lines), decoded.encoding, None, decoded.warnings)


LINES = Format("lines", "Lines", (".lines",), read_lines, lambda: ("example.lines", b"One.\\nTwo.\\n"))
'''
PAGE = """
from pages._ui.guard import guard

workspace = guard()

import streamlit as st

st.title("Nothing", anchor=False)
st.caption(f"{len(workspace.corpora.all())} corpora, and nothing to do.")
"""


def steps(title: str) -> str:
    """Return the text of one section."""
    return re.split(r"^## ", TEXT, flags=re.M)[
        [s.split("\n")[0] for s in re.split(r"^## ", TEXT, flags=re.M)].index(title)
    ]


def named(title: str) -> list[str]:
    """Return the paths that a section names, `<…>` as a wildcard, a folder as whatever is in it."""
    paths = [re.sub(r"<[^>]*>", "*", path) for path in re.findall(r"`((?:engine|pages|tests)/[^` ]+)`", steps(title))]
    return [path + "*" if path.endswith("/") else path for path in paths]


class Tree:
    """A copy of the program in which somebody follows the steps."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("engine", "pages"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("app.py", "pyproject.toml"):
            shutil.copy(ROOT / name, folder / name)
        (folder / "assets").symlink_to(ROOT / "assets")
        self.touched: dict[str, list[str]] = {}

    def write(self, title: str, path: str, text: str) -> None:
        """Make a file that the section names."""
        assert not (self.folder / path).exists()
        self._touch(title, path)
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text.lstrip("\n"), "utf-8")

    def insert(self, title: str, path: str, before: str, line: str) -> None:
        """Put a line into a file that the section names, before a line of it."""
        self._touch(title, path)
        old = (self.folder / path).read_text("utf-8")
        assert old.count(before) == 1, f"{path}: {before!r} stands there {old.count(before)} times"
        (self.folder / path).write_text(old.replace(before, line + before), "utf-8")

    def _touch(self, title: str, path: str) -> None:
        assert any(fnmatch(path, pattern) for pattern in named(title)), f"“{title}” does not name {path}"
        self.touched.setdefault(title, [])
        if path not in self.touched[title]:
            self.touched[title].append(path)

    def python(self, code: str) -> str:
        """Return what a program prints that imports this tree."""
        done = subprocess.run(
            [sys.executable, "-P", "-c", code], cwd=self.folder, env={**os.environ, "PYTHONPATH": str(self.folder)},
            capture_output=True, text=True, timeout=1000, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    made = Tree(tmp_path_factory.mktemp("tree"))
    title = "Add a method"
    made.write(title, "engine/methods/nothing/nothing.py", METHOD)
    made.insert(title, "engine/methods/__init__.py", '    ("rewrite", ',
                '    ("nothing", "engine.methods.nothing.nothing", "NothingMethod"),\n')  # fmt: skip
    title = "Add a measure"
    made.write(title, "engine/examine/usefulness/shouting.py", MEASURE)
    made.insert(title, "engine/examine/registry.py", '    Examination("originals", ',
                '    Examination("shouting", "shouting", "usefulness.shouting", "examine_shouting"),\n')  # fmt: skip
    made.insert(title, "engine/examine/measures.yaml", "- name: canary_echo\n", WORDING)
    title = "Add a reader"
    made.write(title, "engine/corpus/readers/lines.py", READER)
    made.insert(title, "engine/corpus/readers/__init__.py", "from engine.corpus.readers.parquet import PARQUET\n",
                "from engine.corpus.readers.lines import LINES\n")  # fmt: skip
    made.insert(title, "engine/corpus/readers/__init__.py", "CSV, TSV, JSONL, JSON, PARQUET", "LINES, ")
    title = "Add a page"
    made.write(title, "pages/nothing.py", PAGE)
    made.insert(title, "pages/_ui/navigation.py", '    PageInfo("settings", ',
                '    PageInfo("nothing", "Nothing", "block", "Nothing to do.", "Workspace"),\n')  # fmt: skip
    return made


def test_each_takes_no_more_files_than_it_should(tree):
    code = {title: len(paths) for title, paths in tree.touched.items()}
    assert code == {"Add a method": 2, "Add a measure": 3, "Add a reader": 2, "Add a page": 2}


def test_every_path_that_is_named_is_there():
    for title in ("Add a method", "Add a measure", "Add a study", "Add a reader", "Add a page", "Add a model back end"):
        assert named(title), title
        for pattern in named(title):
            assert list(ROOT.glob(pattern)), f"“{title}” names {pattern}, which is not there"


def test_a_method_a_reader_and_a_measure_work(tree, tmp_path):
    (tmp_path / "made.lines").write_text(
        "".join(f"A note of number {i} and little else.\n" for i in range(40)), "utf-8"
    )
    told = tree.python(f"""
from pathlib import Path
from engine import open_workspace
from engine.__main__ import main
import engine
assert Path(engine.__file__).is_relative_to({str(tree.folder)!r})
workspace = Path({str(tmp_path / "workspace")!r})
assert main(["--workspace", str(workspace), "import", {str(tmp_path / "made.lines")!r}, "--text", "text"]) == 0
opened = open_workspace(workspace)
(corpus,) = opened.corpora.all()
assert corpus.records == 40
assert main(["--workspace", str(workspace), "synthesize", corpus.id, "--method", "nothing", "--count", "5"]) == 0
(run,) = opened.runs.all(corpus.id)
assert (run.state, run.kept) == ("done", 5)
assert main(["--workspace", str(workspace), "examine", run.id, "--privacy", "--quick"]) == 0
(found,) = [f for f in opened.examinations.findings(run.id) if f.name == "shouting"]
print(found.value, found.n, found.measure)
opened.jobs.stop_worker()
""")
    assert told.splitlines()[-1] == "0.0 5 share of synthetic records in capitals alone"


def test_a_page_is_in_the_navigation_and_opens(tree, tmp_path):
    told = tree.python(f"""
import os
os.environ["UNDERSTUDY_WORKSPACE"] = {str(tmp_path / "workspace")!r}
from streamlit.testing.v1 import AppTest
page = AppTest.from_file("pages/_ui/main.py", default_timeout=120).run()
page.switch_page({str(tree.folder / "pages" / "nothing.py")!r}).run()
assert not page.exception, page.exception
print([title.value for title in page.title], [caption.value for caption in page.caption])
""")
    assert "['Nothing']" in told
    assert "0 corpora, and nothing to do." in told
