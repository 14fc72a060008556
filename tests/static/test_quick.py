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
code = pytest.main(["-q", "-n", "0", "-m", "quick"])
print(int(code), [name for name in {HEAVY!r} if name in sys.modules])
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_quick_lane_loads_nothing_heavy():
    done = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "0 []", done.stdout[-3000:]
