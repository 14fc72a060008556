"""What the repository holds and what its code must not do."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOP = {"pyproject.toml", "app.py", "pages", "engine", "tests", "assets", "README.md", "LICENSE", "CHANGELOG.md"}
CODE = sorted([ROOT / "app.py", *(ROOT / "engine").rglob("*.py"), *(ROOT / "pages").rglob("*.py")])
MEGABYTE = 1_000_000


def tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout, so tracked files are unknown")
    return [ROOT / name for name in done.stdout.split("\0") if name]


def test_top_level_holds_what_the_card_names():
    names = {path.relative_to(ROOT).parts[0] for path in tracked()}
    assert {name for name in names if not name.startswith(".")} <= TOP


def test_builtin_models_stay_small():
    sizes = [path.stat().st_size for path in (ROOT / "assets" / "models").rglob("*") if path.is_file()]
    assert 0 < sum(sizes) < 80 * MEGABYTE


@pytest.mark.parametrize("path", CODE, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_code_loads_no_pickle_and_no_remote_code(path):
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [a.name for a in node.names] + [getattr(node, "module", "") or ""]
            assert not {"pickle", "dill", "joblib", "cloudpickle"} & set(names), f"{path.name} imports a pickler"
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in {"torch.load", "pd.read_pickle", "eval", "exec"}, called
            if called in {"np.load", "numpy.load"}:
                assert "allow_pickle=False" in ast.unparse(node), f"{path.name}: np.load without allow_pickle=False"
            for keyword in node.keywords:
                if keyword.arg == "trust_remote_code":
                    assert ast.unparse(keyword.value) == "False"


def test_no_address_of_another_machine_in_code():
    allowed = re.compile(r"https?://(127\.0\.0\.1|localhost|example\.(org|com|net)|www\.w3\.org|arxiv\.org|doi\.org)")
    # One file names the hub; it is connected after written consent alone: tests/jobs/test_fetch.
    named = {ROOT / "engine" / "models" / "remote" / "hub.py": {"https://huggingface.co"}}
    for path in CODE:
        for url in re.findall(r"https?://[^\s\"')]+", path.read_text("utf-8")):
            assert allowed.match(url) or url in named.get(path, set()), f"{path.name}: {url}"


def test_readme_shows_the_two_commands():
    text = (ROOT / "README.md").read_text("utf-8")
    assert "pip install -e . && streamlit run app.py" in text
    assert 'pip install -e ".[test]" && pytest' in text


def test_readme_links_lead_somewhere():
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert len(links) >= 4
    assert [link for link in links if not (ROOT / link).exists()] == []


def imported(folders: list[str]) -> set[str]:
    names: set[str] = set()
    for path in [ROOT / "app.py", *(p for folder in folders for p in (ROOT / folder).rglob("*.py"))]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.split(".")[0])
    return names - set(sys.stdlib_module_names) - {"engine", "pages", "tests", "app"}


def declared(*extras: str) -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    return {re.split(r"[^A-Za-z0-9._-]", line)[0].lower().replace("_", "-") for line in lines}


@pytest.mark.parametrize(
    ("folders", "extras"),
    [(["engine", "pages"], ("cluster", "gpu", "encryption", "lemmas")), (["tests"], ("test",))],
    ids=str,
)
def test_what_is_imported_is_a_declared_dependency(folders, extras):
    where, known = packages_distributions(), declared(*extras)
    for name in sorted(imported(folders)):
        owners = {owner.lower().replace("_", "-") for owner in where.get(name, [name])}
        assert owners & known, f"{name} (of {', '.join(sorted(owners))}) is imported but not in pyproject.toml"


def test_drawings_hold_no_letters_that_a_font_would_have_to_draw():
    for path in sorted((ROOT / "assets" / "icons").glob("*.svg")):
        assert "<text" not in path.read_text("utf-8"), path.name
