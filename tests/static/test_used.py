"""Every public function, class and method of the program is used by the program: what only tests use misleads.

Names are matched, not types: an attribute `.name` anywhere counts for every method of that name, a string for whatever
it names. So a definition that is reported is used by nothing; one that is not may still be.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Used by what this test cannot see, or offered to people who write their own script against the engine.
ALLOWED = {
    "engine.corpus.people.population.overlap",  # the measure that recognising people is held to
    "engine.store.corpora.corpora.Corpora.import_table",  # a data frame in memory, for scripts
    "engine.models.tune.learner.NetLearner.one_by_one",  # which way gradients go, for whoever wonders why it is slow
    "engine.examine.usefulness.meaning.compiled.Kept.load_overload",  # numba asks for it
    "engine.examine.usefulness.meaning.compiled.Kept.save_overload",  # so it does for this
    "engine.models.prompts.negation.polarity",  # the measure that the outline's negations are held to
}
CALLED = re.compile(r"validator|serializer|fixture|computed_field|hookimpl|property.setter")
NAMED = re.compile(r"[\w.:]+")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@cache
def trees() -> dict[str, ast.Module]:
    """Return the program's modules by dotted name; a package is its `__init__`."""
    files = [ROOT / "app.py", *(ROOT / "engine").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
    found = {}
    for path in files:
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text("utf-8"))
    return found


def definitions(module: str, tree: ast.Module) -> Iterator[tuple[str, Definition, bool]]:
    """Yield dotted name, node and whether it stands in a class; private and magic names are left out."""
    for node in tree.body:
        if not isinstance(node, Definition):
            continue
        yield f"{module}.{node.name}", node, False
        for inner in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(inner, Definition):
                yield f"{module}.{node.name}.{inner.name}", inner, True


def mentions(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the names a piece of code uses: plain ones, attributes, and those in strings that are names."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield "plain", part.id
        elif isinstance(part, ast.Attribute):
            yield "attribute", part.attr
        elif isinstance(part, ast.Constant) and isinstance(part.value, str) and NAMED.fullmatch(part.value):
            yield from (("string", name) for name in re.findall(r"\w+", part.value))


@cache
def uses() -> dict[tuple[str, str, str], int]:
    """Return how often each name is mentioned, by module, and imported, by where it is said to come from."""
    found: dict[tuple[str, str, str], int] = defaultdict(int)
    for module, tree in trees().items():
        listed = [
            node for node in tree.body
            if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)
        ]  # fmt: skip
        for kind, name in mentions(tree):
            found[kind, module, name] += 1
            found[kind, "", name] += 1
        for kind, name in (pair for node in listed for pair in mentions(node)):
            found[kind, module, name] -= 1
            found[kind, "", name] -= 1
        package = any(other.startswith(f"{module}.") for other in trees())
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:  # a package that only hands a name on does not use it
                    found["import", node.module, alias.name] += not package or found["plain", module, alias.name] > 0
    return found


def used(module: str, node: Definition, inside: bool) -> bool:
    """Say whether anything outside a definition mentions it."""
    name, count = node.name, uses()
    own: dict[tuple[str, str], int] = defaultdict(int)
    for mention in mentions(node):
        own[mention] += 1
    if count["attribute", "", name] > own["attribute", name] or count["string", "", name] > own["string", name]:
        return True
    if inside:
        return False
    parents = [".".join(module.split(".")[:n]) for n in range(1, module.count(".") + 2)]
    imported = any(count["import", parent, name] for parent in parents)
    return imported or count["plain", module, name] > own["plain", name]


def test_nothing_is_defined_that_only_tests_use() -> None:
    unused = {
        name
        for module, tree in trees().items()
        for name, node, inside in definitions(module, tree)
        if not node.name.startswith("_")
        and not any(CALLED.search(ast.unparse(decorator)) for decorator in node.decorator_list)
        and not used(module, node, inside)
    }
    assert sorted(unused - ALLOWED) == []
    assert unused >= ALLOWED, "no longer unused: take it off the list"


def test_a_definition_that_nothing_mentions_is_found() -> None:
    (node,) = ast.parse("def spare_wheel(n):\n    return spare_wheel(n - 1) if n else 0\n").body
    assert isinstance(node, ast.FunctionDef)
    assert not used("engine.errors", node, inside=False)
    assert used("engine.workspace", next(
        n for n in trees()["engine.workspace"].body if isinstance(n, ast.FunctionDef) and n.name == "open_workspace"
    ), inside=False)  # fmt: skip
