"""Lay JSON objects out as a table."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from engine.corpus.readers.base import Source, check_columns, make_frame
from engine.corpus.readers.characters import ADVICE, is_half
from engine.json_types import JSONObject


def objects_to_frame(source: Source, objects: Sequence[JSONObject], numbers: Sequence[int]) -> pd.DataFrame:
    """Return one column a key, in order of first sight; absent keys are None.

    Keys are stripped; two keys that become the same name are refused.
    """
    names: dict[str, str] = {}
    for item in objects:
        for key in item:
            names.setdefault(key, key.strip())
        check_columns(source, len(names))
    for position, name in enumerate(names, 1):
        if is_half(name):
            raise source.error(f"the name of column {position} {ADVICE}", "whole characters")
    if len(set(names.values())) != len(names):
        raise source.error("two keys differ only in blanks around them; rename one of them", "unique column names")
    if not names:
        raise source.error("the objects hold no named values; export them with their columns", "at least one column")
    return make_frame({name or "column 1": [item.get(key) for item in objects] for key, name in names.items()}, numbers)
