"""Fixtures of the examinations: real notes, split as a corpus is."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.examine import examine_helpers


@pytest.fixture(scope="session")
def notes(test_data: Path) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Training part, holdout, and other real notes that neither part holds."""
    return examine_helpers.real_notes(test_data)
