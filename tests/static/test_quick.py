"""The quick lane loads no model library and no browser driver, and passes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("torch", "transformers", "spacy", "presidio_analyzer", "sentence_transformers", "umap", "playwright")
CODE = f"""
import sys, pytest
sys.path[:0] = [{str(ROOT)!r}]
code = pytest.main(["-q", "-n", "0", "-m", "quick", *sys.argv[1:]])
print(int(code), [name for name in {HEAVY!r} if name in sys.modules])
"""


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(["--collect-only"], id="files"),
        pytest.param([], marks=pytest.mark.long, id="tests"),
    ],
)
def test_the_quick_lane_loads_nothing_heavy(options):
    """Neither to read its files nor, which takes minutes, to run them."""
    asked = [sys.executable, "-c", CODE, *options]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "0 []", done.stdout[-3000:]
