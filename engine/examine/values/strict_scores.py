"""The strict meter: private values in synthetic text however they are written, whole, in part or nearly so.

PIPP and ELP (`engine.examine.values.entities`) look for an entity as its whole row of words. This meter looks for what
would give the same entity away: other letter forms, re-formatted numbers and dates, the parts of a name, words joined
or cut short, and near misses (`engine.corpus.text.private_values`). Values that cannot identify anybody, such as
everyday words among quasi-identifiers, are left out by the rule that blocking uses.

Privacy posture: the values live in memory for one examination; positions and numbers are given back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.corpus.text.folding import folded
from engine.corpus.text.private_values import PrivateValues
from engine.examine.base import Side
from engine.models.builtin.everyday import everyday_words
from engine.pii.control_codes import exemption
from engine.pii.private_forms import private_forms

_TOLD = 500  # texts between two calls of `told`


@dataclass(frozen=True)
class StrictIndex:
    """Distinct private values of a reference.

    Args:
        direct: bool array (m,), whether a value is a direct identifier somewhere.
        values: int array (p,) and units: object array (p,): which value stands in which unit's records, each pair once.
        finder: finds forms; of_form: form -> numbers of the values it gives away.
        skipped: spans left out because they cannot identify.
    """

    direct: NDArray[np.bool_]
    values: NDArray[np.int64]
    units: NDArray[np.object_]
    finder: PrivateValues
    of_form: list[tuple[int, ...]]
    skipped: int

    def __len__(self) -> int:
        return len(self.direct)


def index_strict(reference: Side) -> StrictIndex:
    """Return the distinct private values of the reference's accepted spans (type `none` left out)."""
    spans = reference.spans
    row_of = {record: row for row, record in enumerate(reference.record_ids)}
    numbers: dict[str, int] = {}
    direct: list[bool] = []
    pairs: dict[tuple[int, str], None] = {}
    forms: dict[str, set[int]] = defaultdict(set)
    names: dict[str, set[int]] = defaultdict(set)
    skipped = 0
    columns = ["record_id", "start", "end", "label", "identifier_type"]
    rows = [] if spans is None else spans[spans["identifier_type"] != "none"][columns].itertuples(index=False)
    for record, start, end, label, kind in rows:
        row = row_of.get(record)
        if row is None:
            continue
        surface = " ".join(str(reference.texts[row])[int(start) : int(end)].split())
        key = folded(surface)
        if not key or exemption(surface, str(kind)):
            skipped += 1
            continue
        number = numbers.setdefault(key, len(numbers))
        if number == len(direct):
            direct.append(False)
        direct[number] = direct[number] or kind == "direct"
        pairs[number, str(reference.units[row])] = None
        wanted = private_forms(surface, str(label))
        for form in wanted.values:
            forms[form].add(number)
        for form in wanted.names:
            names[form].add(number)
    finder = PrivateValues(list(forms), list(names), everyday_words() if forms or names else frozenset())
    return StrictIndex(
        np.array(direct, bool),
        np.array([number for number, _ in pairs], np.int64),
        np.array([unit for _, unit in pairs], object),
        finder,
        [tuple(sorted(found)) for found in (*forms.values(), *names.values())],
        skipped,
    )


@dataclass(frozen=True)
class Mentions:
    """Which text gives which value away, each pair once: int arrays (k,) `text`, `value`; `whole` says how."""

    text: NDArray[np.int64]
    value: NDArray[np.int64]
    whole: NDArray[np.bool_]


def find_strict(texts: Sequence[str], index: StrictIndex, told: Callable[[int], None] = lambda done: None) -> Mentions:
    """Return which texts give which values away; `told` hears how many texts were read."""
    found: dict[tuple[int, int], bool] = {}
    for at, text in enumerate(texts):
        if at % _TOLD == 0:
            told(at)
        for hit in index.finder.find(text):
            for value in index.of_form[hit.value]:
                found[at, value] = found.get((at, value), False) or hit.how == "whole"
    table = np.array([(text, value, whole) for (text, value), whole in found.items()], np.int64).reshape(-1, 3)
    return Mentions(table[:, 0], table[:, 1], table[:, 2].astype(bool))
