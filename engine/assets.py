"""Where the files that ship with the program lie."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]  # the folder of `pyproject.toml`
ASSETS = ROOT / "assets"
