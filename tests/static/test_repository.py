"""What the repository holds and what its code must not do."""

import ast
import re
import subprocess
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
    for path in CODE:
        for url in re.findall(r"https?://[^\s\"')]+", path.read_text("utf-8")):
            assert allowed.match(url), f"{path.name}: {url}"


def test_readme_shows_the_two_commands():
    text = (ROOT / "README.md").read_text("utf-8")
    assert "pip install -e . && streamlit run app.py" in text
    assert 'pip install -e ".[test]" && pytest' in text


def test_readme_links_lead_somewhere():
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert len(links) >= 4
    assert [link for link in links if not (ROOT / link).exists()] == []
