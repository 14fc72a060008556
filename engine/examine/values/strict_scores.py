"""The strict meter: private values in synthetic text however they are written, whole, in part or nearly so.

PIPP and ELP (`engine.examine.values.entities`) look for an entity as its whole row of words. This meter looks for what
would give the same entity away: other letter forms, re-formatted numbers and dates, the parts of a name, words joined
or cut short, and near misses (`engine.corpus.text.private_values`). Values that cannot identify anybody, such as
everyday words among quasi-identifiers, are left out by the rule that blocking uses; so is what the records of many
people hold (`engine.examine.values.shared`), a form and a way of finding it at a time: where the first name of a full
name is common, the surname and the full name still count.

Privacy posture: the values live in memory for one examination; positions and numbers are given back.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.text.folding import folded
from engine.corpus.text.private_values import TITLES, How, PrivateValues
from engine.examine.base import Side
from engine.examine.values.shared import MOST_PLACES, Held, Places, shared
from engine.models.builtin.everyday import everyday_words
from engine.pii.control_codes import exemption
from engine.pii.private_forms import private_forms

_DIGITS = 5  # a number with fewer is met by chance
_TOLD = 500  # texts between two calls of `told`
HOW: tuple[How, ...] = ("whole", "partial", "near")


@dataclass(frozen=True)
class StrictIndex:
    """Distinct private values of a reference.

    Args:
        direct: bool array (m,), whether a value is a direct identifier somewhere.
        values: int array (p,) and units: object array (p,): which value stands in which unit's records, each pair once.
        finder: finds forms; of_form: form -> numbers of the values it gives away.
        skipped: spans left out because they cannot identify.
        places: where values are marked, at most `MOST_PLACES` of each; marks: int array (m,), how often each is.
        own: form -> the value of which it is all, or -1.
        common: forms, and ways of finding them, that hold for so many people that they identify nobody.
        aside: bool array (m,), the values of which nothing else is left.
        holders: int array (m,), people in whose records a value stands, of `people` looked at; of values set aside.
        telling: bool array (f,), forms of several words, titles aside, or with many digits: full names, addresses,
            numbers.
    """

    direct: NDArray[np.bool_]
    values: NDArray[np.int64]
    units: NDArray[np.object_]
    finder: PrivateValues
    of_form: list[tuple[int, ...]]
    skipped: int
    places: Places
    marks: NDArray[np.int64]
    own: NDArray[np.int64]
    common: frozenset[tuple[int, How]]
    aside: NDArray[np.bool_]
    holders: NDArray[np.int64]
    telling: NDArray[np.bool_]
    people: int = 0

    def __len__(self) -> int:
        return len(self.direct)

    def holder(self) -> NDArray[np.int64]:
        """Return the number of a unit that has each value, -1 where none has, (m,): who gives away one gives more."""
        first = np.full(len(self), -1, np.int64)
        first[self.values[::-1]] = _numbered(self.units)[0][::-1]
        return first

    def alone(self) -> NDArray[np.bool_]:
        """Return which direct identifiers stand in the records of one person alone and tell who that is, (m,)."""
        once = np.bincount(self.values, minlength=len(self)) == 1  # pairs of value and unit are there once each
        tells = np.zeros(len(self), bool)
        for form in np.flatnonzero(self.telling).tolist():
            tells[list(self.of_form[form])] = True
        return once & self.direct & tells & ~self.aside


def index_strict(reference: Side) -> StrictIndex:
    """Return the distinct private values of the reference's accepted spans (type `none` left out).

    What hangs on a span's words alone is worked out once for all spans of the same words.
    """
    spans = reference.spans
    row_of = {record: row for row, record in enumerate(reference.record_ids)}
    numbers: dict[str, int] = {}
    direct: list[bool] = []
    marks: list[int] = []
    value_of, at = array("q"), array("q")  # of a span that counts: its value, and its record's row
    keys: dict[str, str] = {}
    exempt: dict[tuple[str, str], bool] = {}
    formed: set[tuple[str, str]] = set()
    forms: dict[str, set[int]] = defaultdict(set)
    names: dict[str, set[int]] = defaultdict(set)
    place_of, place = array("q"), array("q")  # of a value, and its row of the spans
    whole: dict[str, int] = {}
    skipped = 0
    columns = ["record_id", "start", "end", "label", "identifier_type"]
    spans = pd.DataFrame(columns=columns) if spans is None else spans
    counted = np.flatnonzero((spans["identifier_type"] != "none").to_numpy(bool))
    rows = zip(*(spans[name] for name in columns), strict=True)
    counts = iter(counted.tolist())
    following = next(counts, -1)
    for span, (record, start, end, label, kind) in enumerate(rows):
        if span != following:
            continue
        following = next(counts, -1)
        row = row_of.get(record)
        if row is None:
            continue
        surface = " ".join(str(reference.texts[row])[int(start) : int(end)].split())
        if surface not in keys:
            keys[surface] = folded(surface)
        if (surface, kind) not in exempt:
            exempt[surface, kind] = not keys[surface] or bool(exemption(surface, str(kind)))
        if exempt[surface, kind]:
            skipped += 1
            continue
        number = numbers.setdefault(keys[surface], len(numbers))
        if number == len(direct):
            direct.append(False)
            marks.append(0)
        direct[number] = direct[number] or kind == "direct"
        marks[number] += 1
        if marks[number] <= MOST_PLACES:
            place_of.append(number)
            place.append(span)
        value_of.append(number)
        at.append(row)
        if (surface, label) in formed:
            continue
        formed.add((surface, label))
        whole.setdefault(surface, number)
        wanted = private_forms(surface, str(label))
        for form in wanted.values:
            forms[form].add(number)
        for form in wanted.names:
            names[form].add(number)
    finder = PrivateValues(list(forms), list(names), everyday_words() if forms or names else frozenset())
    return StrictIndex(
        np.array(direct, bool),
        *_once(np.array(value_of, np.int64), reference.units[np.array(at, np.int64)]),
        finder,
        [tuple(sorted(found)) for found in (*forms.values(), *names.values())],
        skipped,
        Places(np.array(place_of, np.int64), np.array(place, np.int64), spans),
        np.array(marks, np.int64),
        np.array([whole.get(form, -1) for form in (*forms, *names)], np.int64),
        frozenset(),
        np.zeros(len(numbers), bool),
        np.zeros(len(numbers), np.int64),
        np.array([_tells(folded(form)) for form in (*forms, *names)], bool),
    )


def _tells(key: str) -> bool:
    words = [word for word in key.split() if len(word) > 1 and word not in TITLES]
    return len(words) > 1 or sum(map(str.isdigit, key)) >= _DIGITS


@dataclass(frozen=True)
class Reading:
    """What stands in texts: int arrays (k,) `text`, `form`, and the way each was found, each triple once."""

    text: NDArray[np.int64]
    form: NDArray[np.int64]
    how: NDArray[np.int64]

    def of(self, rows: NDArray[np.int64]) -> Reading:
        """Return what stands in some of the texts, counted anew in their order; `rows` ascend."""
        at = np.searchsorted(rows, self.text)
        kept = (at < len(rows)) & (rows[np.minimum(at, len(rows) - 1)] == self.text) if len(rows) else at < 0
        return Reading(at[kept], self.form[kept], self.how[kept])


def read(texts: Sequence[str], index: StrictIndex, told: Callable[[int], None] = lambda done: None) -> Reading:
    """Return which forms stand in which texts; `told` hears how many texts were read."""
    columns = array("q"), array("q"), array("q")
    for at, text in enumerate(texts):
        if at % _TOLD == 0:
            told(at)
        for form, how in dict.fromkeys((hit.value, HOW.index(hit.how)) for hit in index.finder.find(text)):
            for column, number in zip(columns, (at, form, how), strict=True):
                column.append(number)
    return Reading(*(np.array(column, np.int64) for column in columns))


def without_common(index: StrictIndex, private: Reading, units: NDArray[np.object_]) -> StrictIndex:
    """Return the index with what many people's records hold set aside, and values held by all who have them.

    Whose mark a value carries is the detector's luck; it is held by everybody in whose records it stands in full.

    Args:
        private: what stands in the private texts of both parts. units: object array (n,), whose each of them is.
    """
    codes, names = _numbered(units)
    coded, at = np.unique(private.form * len(HOW) + private.how, return_inverse=True)
    ways = np.column_stack(np.divmod(coded, len(HOW)))
    counted = Held(at.reshape(-1), codes[private.text]).people(len(ways))
    much = {(int(form), HOW[how]) for form, how in ways[shared(counted, len(names))].tolist()}
    whole = private.how == 0
    aside, holders = np.ones(len(index), bool), np.zeros(len(index), np.int64)
    for form, values in enumerate(index.of_form):
        if (form, "whole") not in much:
            aside[list(values)] = False
    full = np.bincount(ways[:, 0], weights=np.where(ways[:, 1] == 0, counted, 0), minlength=len(index.of_form))
    for form, value in enumerate(index.own.tolist()):
        if value >= 0:
            holders[value] = max(holders[value], int(full[form]))
    own = index.own[private.form]
    more = whole & (own >= 0)
    held, by = _once(
        np.concatenate([index.values, own[more]]), np.concatenate([index.units, names[codes[private.text[more]]]])
    )
    return replace(
        index, common=frozenset(much), aside=aside, holders=holders, people=len(names), values=held, units=by
    )


def _once(values: NDArray[np.int64], units: NDArray[np.object_]) -> tuple[NDArray[np.int64], NDArray[np.object_]]:
    """Return each pair of a value and a unit once, in the order in which they first come; both of shape (k,)."""
    codes, names = _numbered(units)
    _, first = np.unique(values * max(1, len(names)) + codes, return_index=True)
    first.sort()
    return values[first], names[codes[first]]


def _numbered(units: NDArray[np.object_]) -> tuple[NDArray[np.int64], NDArray[np.object_]]:
    codes, names = pd.factorize(units)
    return codes.astype(np.int64), np.asarray(names, dtype=object)


@dataclass(frozen=True)
class Mentions:
    """Which text gives which value away, each pair once: int arrays (k,) `text`, `value`.

    `whole` says that it stands there as one of its forms is written, `full` that this form tells by itself who it is.
    """

    text: NDArray[np.int64]
    value: NDArray[np.int64]
    whole: NDArray[np.bool_]
    full: NDArray[np.bool_]


def mentions(found: Reading, index: StrictIndex) -> Mentions:
    """Return which texts give which values away, from what stands in them; what is set aside gives nothing away."""
    given: dict[tuple[int, int], tuple[bool, bool]] = {}
    for text, form, how in zip(found.text.tolist(), found.form.tolist(), found.how.tolist(), strict=True):
        if (form, HOW[how]) in index.common:
            continue
        whole = how == 0
        for value in index.of_form[form]:
            if not index.aside[value]:
                before = given.get((text, value), (False, False))
                given[text, value] = before[0] or whole, before[1] or (whole and bool(index.telling[form]))
    table = np.array([(*pair, *how) for pair, how in given.items()], np.int64).reshape(-1, 4)
    return Mentions(table[:, 0], table[:, 1], table[:, 2].astype(bool), table[:, 3].astype(bool))
