"""Signatures say what they take and give: `Any` stands in few, and in no more than before."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CEILING = 10


def annotations(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    given = function.args
    for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
        if argument is not None and argument.annotation is not None:
            yield argument.annotation
    if function.returns is not None:
        yield function.returns


def anys(text: str) -> int:
    """Count `Any` in the arguments and returns of a source's functions, quoted annotations too."""
    found = 0
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for given in annotations(node):
                quoted = isinstance(given, ast.Constant) and isinstance(given.value, str)
                tree = ast.parse(given.value, mode="eval") if quoted else given
                found += sum(isinstance(part, ast.Name) and part.id == "Any" for part in ast.walk(tree))
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(a: int) -> str: ...", 0),
        ("def f(a: Any, *b: Any, c: 'dict[str, Any]', **d: int) -> tuple[Any, Any]: ...", 5),
        ("x: Any = 1", 0),
        ("class A:\n    async def f(self, a: list[Any]) -> None: ...", 1),
    ],
)
def test_what_is_counted(text, expected):
    assert anys(text) == expected


def test_few_signatures_say_any():
    paths = [*(ROOT / "engine").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"]
    counts = {path.relative_to(ROOT).as_posix(): anys(path.read_text("utf-8")) for path in sorted(paths)}
    most = sorted(counts, key=lambda name: -counts[name])[:5]
    assert sum(counts.values()) <= CEILING, [(name, counts[name]) for name in most]
