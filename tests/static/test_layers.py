"""The engine's packages import downwards only, and nothing heavy reaches the web process."""

import ast
import subprocess
import sys
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ORDER = [
    {"errors", "assets", "json_types"},
    {"at_rest"},
    {"corpus"},
    {"dp"},
    {"models"},
    {"pii"},
    {"methods"},
    {"examine"},
    {"figures"},
    {"release"},
    {"store"},
    {"jobs"},
    {"studies"},
    {"workspace"},
    {"cli"},
    {"__main__"},
    {"training"},  # stands beside: it may read everything, and nothing imports it
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
HEAVY = ("torch", "transformers", "spacy", "presidio_analyzer", "sentence_transformers", "umap", "mauve", "numba")
FILES = sorted((ROOT / "engine").rglob("*.py"))


def imported(tree: ast.AST) -> list[str]:
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def layer(path: Path) -> str:
    return path.relative_to(ROOT / "engine").parts[0].removesuffix(".py")


def test_every_package_has_a_place_in_the_order():
    assert {layer(path) for path in FILES} - set(RANK) == {"__init__"}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_imports_point_downwards(path):
    own = layer(path)
    if own == "__init__":
        return
    for name in imported(ast.parse(path.read_text("utf-8"))):
        parts = name.split(".")
        assert parts[0] != "streamlit", f"{path.name} imports streamlit"
        assert parts[0] != "pages", f"{path.name} imports a page"
        if parts[0] == "engine" and len(parts) > 1 and parts[1] in RANK:
            assert parts[1] == own or RANK[parts[1]] < RANK[own], f"{own} may not import {name}"


PAGES = [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))]


@pytest.mark.parametrize("path", [*FILES, *PAGES], ids=lambda p: p.relative_to(ROOT).as_posix())
def test_private_names_stay_in_their_module(path):
    tree = ast.parse(path.read_text("utf-8"))
    ours = [
        n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and (n.module or "").startswith(("engine", "pages"))
    ]
    names = {alias.asname or alias.name: alias.name for node in ours for alias in node.names}
    private = {name for name in names.values() if name.startswith("_") and name != "_ui"}
    assert not private, f"{path.name} imports {private}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
            hidden = node.attr.startswith("_") and not node.attr.startswith("__") and node.attr != "_ui"
            assert not hidden, f"{path.name}:{node.lineno} reads {node.value.id}.{node.attr}"


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_pages_use_what_the_engine_offers_by_name_and_its_figures(path):
    import engine

    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        where = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        if where == "engine":
            assert set(names) <= {*engine.__all__, "figures"}, f"{path.name} imports {names} from engine"
        for name in [where] if where else names:
            deep = name.startswith("engine.") and not f"{name}.".startswith("engine.figures.")
            assert not deep, f"{path.name} imports {name}"


def test_what_the_engine_offers_is_the_same_to_readers_and_at_run_time():
    import engine

    read = {}
    for node in ast.walk(ast.parse((ROOT / "engine" / "__init__.py").read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("engine."):
            read |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
    assert read == engine.PLACES


def test_importing_the_engine_is_light():
    code = (
        "import sys, time; t = time.perf_counter(); import engine; engine.open_workspace; s = time.perf_counter() - t\n"
        f"print(s, [m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]"), done.stdout


def test_public_names_are_sorted():
    import engine

    assert list(engine.__all__) == sorted(engine.__all__)
    for name in engine.__all__:
        assert getattr(engine, name) is not None


def at_run_time(path: Path) -> list[str]:
    """Return what a module imports when it is imported or when one of its functions runs, not for types alone."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = [ast.Pass()]
    return imported(tree)


def test_no_modules_import_each_other_in_a_circle():
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in FILES}
    order: TopologicalSorter[str] = TopologicalSorter()
    for module, path in modules.items():
        for name in at_run_time(path):
            known = name if name in modules else name.rpartition(".")[0]
            if known in modules and known != module:
                order.add(module, known)
    order.prepare()  # raises CycleError, which names the circle


def test_parameters_live_in_files_of_their_own():
    """What a person may set stands apart from what runs it, so that neither face nor run imports the other for it."""
    misplaced = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for family in ("methods", "studies")
        for path in (ROOT / "engine" / family).glob("*/*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef) and node.name.endswith("Parameters") and path.name != "parameters.py"
    ]
    assert misplaced == []


def test_a_folder_holds_about_fifteen_files():
    """A folder is a thought with a map in its `__init__`; where one grows longer, a part of it has become one."""
    held = Counter(path.parent.relative_to(ROOT).as_posix() for path in [*FILES, *PAGES])
    assert {folder: count for folder, count in held.items() if count > 16} == {}
