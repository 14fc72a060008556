"""The steps of "Add an interface language", followed in a copy of the tree: Spanish, each sentence marked."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from pages._ui.language.extract import written

ROOT = Path(__file__).resolve().parents[2]
TITLE = "## Add an interface language\n"
STEPS = (ROOT / ".github" / "CONTRIBUTING.md").read_text("utf-8").partition(TITLE)[2].partition("\n## ")[0]
CODE, MARK = "es", " ¶"

pytestmark = pytest.mark.timeout(1200)  # real commands, which a slow machine takes minutes for


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", *arguments], cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True, text=True, timeout=1000, check=False,
    )  # fmt: skip


def named(path: str) -> str:
    """Return a path of the steps with the language's code in it; the text must name it."""
    assert f"`{path}`" in STEPS, f"the steps do not name {path}"
    return path.replace("<code>", CODE)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    for name in ("engine", "pages", "assets/languages"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (ROOT / "assets").iterdir():
        if path.name != "languages":
            (folder / "assets" / path.name).symlink_to(path)
    made = folder / named("assets/languages/<code>/interface.po")
    text = (folder / named("assets/languages/interface.pot")).read_text("utf-8")
    german = (folder / "assets/languages/de/interface.po").read_text("utf-8")
    head = [line for line in german.splitlines()[:40] if line.startswith(('"Language:', '"Plural-Forms:'))]
    assert [line.split(":")[0][1:] for line in head] == re.findall(r"`([\w-]+):`", STEPS)
    lines = [line.replace(": de", f": {CODE}") for line in head]
    text = text.partition("\n")[2].replace('"MIME-Version', "\n".join([*lines, '"MIME-Version']), 1)
    made.write_text("# Spanish. One word for one thing:\n# record: registro\n" + text, "utf-8")
    with made.open("rb") as file:
        catalog = read_po(file, locale=CODE)
    for message in catalog:
        if message.id:
            many = isinstance(message.id, tuple)
            message.string = tuple(one + MARK for one in message.id) if many else message.id + MARK
    made.write_bytes(written(catalog))
    return folder


def test_the_catalogue_is_as_the_extractor_writes_it(tree):
    assert "python -m pages._ui.language.extract" in STEPS
    done = run(tree, "-m", "pages._ui.language.extract", "--check")
    assert done.returncode == 0, done.stderr[-2000:]


def test_every_sentence_counts_and_the_words_settled_on_stay(tree):
    done = run(tree, "-c", f"""
from pages._ui.language import catalogue
there = catalogue.catalogue({CODE!r})
print(catalogue.available(), there.refused, there.name)
""")  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split(") ")[0] == "('en', 'de', 'es'"
    assert "()" in done.stdout
    assert "spañol" in done.stdout.lower()
    assert "# record: registro" in (tree / f"assets/languages/{CODE}/interface.po").read_text("utf-8")


def test_it_is_chosen_in_settings_and_at_the_start_and_spoken(tree, tmp_path):
    assert "--language <code>" in STEPS
    done = run(tree, "-c", f"""
import os
os.environ["UNDERSTUDY_WORKSPACE"] = {str(tmp_path / "workspace")!r}
os.environ["UNDERSTUDY_LANGUAGE"] = {CODE!r}
from streamlit.testing.v1 import AppTest
page = AppTest.from_file("pages/_ui/main.py", default_timeout=120).run()
page.switch_page({str(tree / "pages" / "load.py")!r}).run()
assert not page.exception, page.exception
print([title.value for title in page.title])
page.switch_page({str(tree / "pages" / "settings.py")!r}).run()
assert not page.exception, page.exception
print([box.options for box in page.selectbox])
""")  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    title, options = done.stdout.splitlines()[-2:]
    assert MARK in title
    assert "spañol" in options.lower()
    assert "Deutsch" in options


def test_a_translation_that_breaks_a_placeholder_is_refused_there(tree):
    path = tree / f"assets/languages/{CODE}/interface.po"
    whole = path.read_text("utf-8")
    broken = re.sub(r'(msgstr "[^"\n]*)\{\w+\}', r"\1", whole, count=1)
    assert broken != whole
    path.write_text(broken, "utf-8")
    try:
        code = f"from pages._ui.language import catalogue; print(len(catalogue.catalogue({CODE!r}).refused))"
        done = run(tree, "-c", code)
        assert done.stdout.strip() == "1", done.stderr[-2000:]
    finally:
        path.write_text(whole, "utf-8")
