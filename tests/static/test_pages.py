"""Rules of the pages: guard first, no private text in Markdown, caches by session, a thin process."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "pages").glob("*.py"))
HELPERS = sorted((ROOT / "pages" / "_ui").rglob("*.py"))
EXPECTED = {
    "home", "load", "review", "plan", "run", "privacy", "utility", "compare", "release", "ledger", "models", "pool",
    "settings",
}  # fmt: skip
HEAVY = (
    "torch", "transformers", "spacy", "presidio_analyzer", "sentence_transformers", "umap", "numba", "mauve",
    "opendp", "dp_accounting", "sklearn", "simplemma", "estnltk", "understudy_vabamorf",
)  # fmt: skip

# Calls and attributes that yield record text, and the drawing calls that must never be given any.
TEXT_CALLS = {"record_text", "redacted", "synthetic", "records", "preview", "read_table", "values", "table"}
TEXT_FIELDS = {"sample", "text", "value", "rows"}
SINKS = {
    "markdown", "write", "caption", "metric", "error", "warning", "info", "success", "toast", "table", "html", "title",
    "header", "subheader", "badge", "latex", "json", "page_link", "link_button", "exception", "write_stream",
}  # fmt: skip
SAFE_WRAPPERS = {"len", "int", "float", "bool", "number", "share", "count_of", "sum", "digest", "isinstance", "any"}
SENTENCES = {"takeaway", "caveat", "alt", "sentence"}  # written by the engine about numbers
WORDED = {"label", "help", "placeholder", "captions", "alt", "text"}


def id_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def called(call: ast.Call) -> str:
    return ast.unparse(call.func)


def test_all_thirteen_pages_are_there():
    assert {path.stem for path in PAGES} == EXPECTED


@pytest.mark.parametrize("path", PAGES, ids=id_of)
def test_first_statement_of_a_page_is_the_guard(path):
    body = [
        statement
        for statement in tree_of(path).body
        if not isinstance(statement, ast.Import | ast.ImportFrom)
        and not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
    ]
    imported = [
        alias.name
        for statement in tree_of(path).body
        if isinstance(statement, ast.ImportFrom) and statement.module == "pages._ui.guard"
        for alias in statement.names
    ]
    assert imported == ["guard"]
    first = body[0]
    value = first.value if isinstance(first, ast.Assign | ast.Expr) else None
    assert isinstance(value, ast.Call)
    assert called(value) == "guard"


@pytest.mark.parametrize("path", PAGES, ids=id_of)
def test_pages_are_layout_only(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 130


def test_every_page_has_icon_path_and_help():
    sys.path.insert(0, str(ROOT))
    from pages._ui import navigation

    assert {page.id for page in navigation.PAGES} == EXPECTED
    for page in navigation.PAGES:
        assert page.icon, page.id
        assert page.help.endswith("."), page.id
        assert page.help.count(". ") == 0, f"{page.id}: one sentence"
    made = [call for call in calls(tree_of(ROOT / "pages/_ui/navigation.py")) if called(call) == "st.Page"]
    named = [{keyword.arg for keyword in call.keywords} for call in made]
    (shown,) = [keywords for keywords in named if "visibility" not in keywords]  # the other leads to the first page
    assert {"icon", "url_path", "help", "title"} <= shown


@pytest.mark.parametrize("path", PAGES + HELPERS, ids=id_of)
def test_caches_cannot_leak_between_people(path):
    for node in ast.walk(tree_of(path)):
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in node.decorator_list:
            words = ast.unparse(decorator)
            if "cache_data" in words:
                assert "scope='session'" in words, f"{node.name}: cache_data needs scope='session'"
                assert "persist" not in words
            if "cache_resource" in words:
                assert path.name == "client.py", f"{node.name}: only the engine client is a cached resource"


@pytest.mark.parametrize("path", PAGES + HELPERS, ids=id_of)
def test_no_raw_html_no_url_parameters_no_network(path):
    tree = tree_of(path)
    for call in calls(tree):
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        assert "unsafe_allow_html" not in keywords
        assert "unsafe_allow_javascript" not in keywords
        assert keywords.get("bind") is None, "values in the URL outlive the session"
        assert called(call) not in {"st.html", "st.write", "st.table", "st.iframe", "st.image", "st.components.v1.html"}
        if called(call) == "st.code":
            assert isinstance(keywords.get("language"), ast.Constant)
            assert keywords["language"].value is None
    attributes = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert "st.query_params" not in attributes
    imported = {
        alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    assert not imported & {"requests", "urllib", "httpx", "socket", "sqlalchemy", "sqlite3", *HEAVY}


@pytest.mark.parametrize("path", PAGES + HELPERS, ids=id_of)
def test_no_mutable_data_at_module_level(path):
    for statement in tree_of(path).body:
        if isinstance(statement, ast.Assign) and path in HELPERS and path.name != "main.py":
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            if isinstance(statement.value, ast.List | ast.Dict | ast.Set):
                assert all(name.isupper() for name in names), f"{names}: constants only"


def holds_text(node: ast.AST, tainted: set[str]) -> bool:
    """Return whether an expression may hold record text."""
    if isinstance(node, ast.Call):
        name = called(node).rsplit(".", 1)[-1]
        if name in SAFE_WRAPPERS:
            return False
        if name in TEXT_CALLS and isinstance(node.func, ast.Attribute):
            return re.search(r"workspace(\.\w+)?$", ast.unparse(node.func.value)) is not None
    if isinstance(node, ast.Attribute) and node.attr in SENTENCES:
        return False
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == "text":
        return True
    if isinstance(node, ast.Name):
        return node.id in tainted
    return any(holds_text(child, tainted) for child in ast.iter_child_nodes(node))


def leaks(source: str) -> list[str]:
    """Return the drawing calls of a module that are given record text."""
    found = []
    tree = ast.parse(source)
    scopes = [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))]
    for scope in scopes:
        tainted: set[str] = set()
        for _ in range(3):
            for node in ast.walk(scope):
                value = getattr(node, "value", None) if isinstance(node, ast.Assign | ast.NamedExpr) else None
                if isinstance(node, ast.For | ast.comprehension):
                    value = node.iter
                if value is None or not holds_text(value, tainted):
                    continue
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[union-attr]
                for target in targets:
                    if isinstance(target, ast.Tuple):
                        target = target.elts[0]
                    if isinstance(target, ast.Name):
                        tainted.add(target.id)
        for call in calls(scope):
            name = called(call)
            if not name.startswith(("st.", "left.", "right.", "middle.", "column.")):
                continue
            sink = name.rsplit(".", 1)[-1] in SINKS
            given = list(call.args) if sink else []
            given += [keyword.value for keyword in call.keywords if sink or keyword.arg in WORDED]
            found += [f"line {call.lineno}: {name}" for value in given if holds_text(value, tainted)]
    return sorted(set(found))


TEXT = "    text = workspace.review.record_text('c', 'r')\n"


@pytest.mark.parametrize(
    ("body", "bad"),
    [
        (f"{TEXT}    st.markdown(text)", True),
        (f"{TEXT}    st.markdown(f'**{{text}}**')", True),
        ("    frame, total = workspace.values.table('c')\n    st.caption(frame.iloc[0])", True),
        ("    page = workspace.runs.synthetic('r')\n    for text in page['text']:\n        st.info(text)", True),
        ("    st.button('x', help=workspace.review.redacted('c', 'r'))", True),
        ("    st.toast(plain(workspace.review.redacted('c', 'r')))", True),
        (f"{TEXT}    st.text(text)", False),
        (f"{TEXT}    st.caption(f'{{len(text)}} characters')", False),
    ],
)
def test_the_check_for_record_text_can_fail(body, bad):
    assert bool(leaks(f"def f(workspace):\n{body}")) is bad


@pytest.mark.parametrize("path", PAGES + HELPERS, ids=id_of)
def test_record_text_reaches_no_markdown(path):
    assert leaks(path.read_text(encoding="utf-8")) == []


WIDGETS = {
    "button", "text_input", "text_area", "selectbox", "multiselect", "data_editor", "radio", "number_input", "slider",
    "toggle", "checkbox", "download_button", "file_uploader", "segmented_control",
}  # fmt: skip


@pytest.mark.parametrize("path", PAGES + HELPERS, ids=id_of)
def test_widget_keys_are_names_not_positions(path):
    for call in calls(tree_of(path)):
        name = called(call)
        if not name.startswith("st.") or name.rsplit(".", 1)[-1] not in WIDGETS:
            continue
        keys = [keyword.value for keyword in call.keywords if keyword.arg == "key"]
        assert keys, f"line {call.lineno}: {name} has no key"
        if isinstance(keys[0], ast.Constant):
            assert "." in str(keys[0].value), f"line {call.lineno}: keys are page.thing.id"


@pytest.mark.parametrize("path", PAGES + HELPERS, ids=id_of)
def test_what_a_person_ticks_is_never_cut_short(path):
    """A tick's words in a narrow column would end in an ellipsis unless they wrap."""
    for call in ast.walk(ast.parse(path.read_text("utf-8"))):
        asked = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        if asked and call.func.attr in {"checkbox", "toggle"}:
            wrapped = any(word.arg == "wrap" and ast.unparse(word.value) == "True" for word in call.keywords)
            assert wrapped, f"line {call.lineno}: {call.func.attr} without wrap=True"


@pytest.mark.parametrize("path", sorted((ROOT / "pages").rglob("*.js")), ids=id_of)
def test_components_only_set_text(path):
    script = path.read_text(encoding="utf-8")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "http"):
        assert word not in script
    if "export default" not in script and path.stem != "desk_state":
        assert "textContent" in script


def test_what_the_desk_keeps_over_a_reload_holds_no_text():
    """The queue is made of acts, the history of their names; neither they nor a message name what holds words."""
    script, drawing = ((ROOT / f"pages/_ui/review/{name}.js").read_text("utf-8") for name in ("desk_state", "desk"))
    stored = re.findall(r"setItem\((.*)\)", script)
    assert stored == [
        "key, JSON.stringify(mine.map(({ prior, ...act }) => act))",
        "`${MADE}${desk.corpus}`, JSON.stringify(made)",
    ]
    assert "const made = desk.history.slice(-REMEMBERED).map(({ client, seq, record, span }) =>" in script
    made = "\n".join(re.findall(r"act\(desk, (\{.*?\})\)", script + drawing))
    assert made.count("action") >= 6
    assert not re.search(r"\b(text|words|slice|typed)\b", made)


def test_pages_load_nothing_heavy(tmp_path):
    """Render every page with a corpus in a fresh process and look at what was imported."""
    script = (
        "import sys, streamlit as st\n"
        "from pathlib import Path\n"
        "import engine\n"
        "from streamlit.testing.v1 import AppTest\n"
        "workspace = engine.open_workspace(Path(sys.argv[1]))\n"
        "corpus = workspace.corpora.import_sample('support_tickets')\n"
        "workspace.review.use_gold(corpus.id)\n"
        "at = AppTest.from_file('pages/_ui/main.py', default_timeout=30).run()\n"
        "assert not at.exception, at.exception[0].message\n"
        "from pages._ui.navigation import PAGES, page_path\n"
        "for page in PAGES:\n"
        "    at.switch_page(page_path(page.id)).run()\n"
        "    assert not at.exception, (page.id, at.exception[0].message)\n"
        f"heavy = sorted(set(sys.modules) & {set(HEAVY)!r})\n"
        "print('HEAVY', heavy)\n"
    )
    environment = {**os.environ, "UNDERSTUDY_WORKSPACE": str(tmp_path / "workspace"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "workspace")],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "HEAVY []" in done.stdout, done.stdout
