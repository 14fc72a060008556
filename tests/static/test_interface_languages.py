"""The catalogues of the interface: exactly what the code says, whole for the translated pages, and nothing unsafe."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from pages._ui.language import catalogue, extract

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "pages").rglob("*.py"))
LANGUAGES = [code for code in catalogue.available() if code != catalogue.ENGLISH]
SAYING = {"tr", "trn", "mark"}


def test_the_catalogues_are_exactly_what_the_code_says(capsys):
    assert extract.main(["--check"]) == 0, f"run `python -m pages._ui.language.extract`: {capsys.readouterr().err}"


def test_the_check_of_the_catalogues_can_fail(tmp_path, monkeypatch):
    for name in ("interface.pot", "de/interface.po"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes((extract.FOLDER / name).read_bytes())
    monkeypatch.setattr(extract, "FOLDER", tmp_path)
    monkeypatch.setattr(extract, "PAGES", ROOT / "pages")
    said = extract.template()
    assert extract.written(said) == (tmp_path / "interface.pot").read_bytes()
    said.add("A sentence that nobody has translated.")
    with (tmp_path / "de/interface.po").open("rb") as file:
        assert extract.updated(tmp_path / "de/interface.po", said) != file.read()


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_sentence_is_translated_and_counts(code):
    with (catalogue.FOLDER / code / catalogue.FILE).open("rb") as file:
        read = read_po(file, locale=code)
    missing = [
        message.id
        for message in read
        if message.id and not all(message.string if isinstance(message.string, tuple | list) else (message.string,))
    ]
    assert missing == []
    assert not [message.id for message in read if message.fuzzy and message.id]
    there = catalogue.catalogue(code)
    assert there is not None
    assert there.refused == ()


@pytest.mark.parametrize(
    ("source", "translation", "wrong"),
    [
        ("{n} rows", "{n} Zeilen", ""),
        ("{n} rows", "Zeilen", "placeholders"),
        ("{n} rows", "{m} Zeilen", "placeholders"),
        ("{n} rows", "{n} {n} Zeilen", "placeholders"),
        ("Rows", "{0.__class__} Zeilen", "markup"),
        ("**{name}** is in", "**{name}** ist da", ""),
        ("**{name}** is in", "{name} ist da", "markup"),
        ("{name} is in", "`{name}` ist da", "markup"),
        ("{name} is in", "[{name}](http://evil.example) ist da", "markup"),
        ("{name} is in", "![{name}](/a.png) ist da", "markup"),
        ("{name} is in", "<b>{name}</b> ist da", "markup"),
        ("{name} is in", "http://evil.example/{name}", "markup"),
        ("{name} is in", "www.evil.example {name}", "markup"),
        ("{name} is in", "&lt;{name}", "markup"),
        ("{name} is in", ":red[{name}] ist da", "markup"),
        ("{name} is in", "{name}\n\nist da", "markup"),
        ("run `doctor`", "`rm` ausführen", "markup"),
        (":material/lock: shut", ":material/lock: zu", ""),
        (":material/lock: shut", ":material/key: zu", "markup"),
        ("costs 3 $", "kostet 3 $ und 4 $", "markup"),
    ],
)
def test_a_translation_counts_only_with_the_same_placeholders_and_markup(source, translation, wrong):
    said = catalogue.problem(source, translation)
    assert said.startswith(wrong)
    assert bool(said) is bool(wrong)


def calls(path: Path) -> list[ast.Call]:
    tree = ast.parse(path.read_text("utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) in SAYING]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_is_translated_is_a_whole_sentence_of_the_code(path):
    """No f-string and nothing put together inside `tr`: the catalogue would never hold it."""
    for call in calls(path):
        name = ast.unparse(call.func)
        for given in call.args[: 2 if name == "trn" else 1]:
            assert not isinstance(given, ast.JoinedStr | ast.BinOp), f"{path.name}:{call.lineno}"
            if name == "mark":
                assert isinstance(given, ast.Constant), f"{path.name}:{call.lineno}"
            if not isinstance(given, ast.Constant):
                continue
            names = set(catalogue.PLACEHOLDER.findall(str(given.value)))
            values = {keyword.arg for keyword in call.keywords} | ({"n"} if name == "trn" else set())
            if name != "mark" and None not in values:
                assert names <= values, f"{path.name}:{call.lineno}: {names - values}"
                assert values - {"n"} <= names | {"n"}, f"{path.name}:{call.lineno}: {values - names}"


def said_at_import(tree: ast.AST) -> list[str]:
    """Return the calls that would say a sentence while a module is loaded, when no session has a language yet."""
    found = []
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef | ast.Lambda):
            given = [*child.args.defaults, *(one for one in child.args.kw_defaults if one is not None)]
            given += child.decorator_list if isinstance(child, ast.FunctionDef) else []
            found += [name for one in given for name in said_at_import(ast.Expression(one))]
            continue
        if isinstance(child, ast.Call) and ast.unparse(child.func) in {"tr", "trn", "count_of", "label_name"}:
            found.append(ast.unparse(child))
        found += said_at_import(child)
    return found


def test_nothing_is_said_while_a_module_is_loaded():
    helpers = [path for path in FILES if "_ui" in path.parts and path.name != "main.py"]  # pages are run, not loaded
    assert {path.name: said for path in helpers if (said := said_at_import(ast.parse(path.read_text("utf-8"))))} == {}
    assert said_at_import(ast.parse("A = {1: tr('x')}\ndef f(a=tr('y')): return tr('z')")) == ["tr('x')", "tr('y')"]
