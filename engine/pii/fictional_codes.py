"""Fictional control codes: the types of a real code, with values that never depend on the real ones.

Zhao and Field 2025 (appendix A.2) draw from short lists; here names, towns, streets, firms and jobs come from the
large pools of the surrogates. A surrogate keeps something of the value it replaces (a date near the true one), so a
fictional value is not made from a real one but from a public sample of its type, under a key and a number.
MISC gets no value.
"""

from __future__ import annotations

import datetime as dt
import re
import string
from collections.abc import Callable, Collection, Mapping

from engine.pii.control_codes import ControlCode
from engine.pii.spans import Span
from engine.pii.surrogates import SurrogateMaker
from engine.pii.surrogates.keyed import Draw, fold
from engine.pii.surrogates.pools import pools

_TRIES = 32
_FIRST, _LAST = dt.date(1990, 1, 1), dt.date(2024, 12, 31)  # the paper's Figure 2
# Public samples that surrogates are made of, by type; which one is taken is drawn.
_SAMPLES: dict[str, tuple[str, ...]] = {
    "LOCATION": ("Springfield", "Springfield", "Lakeside", "Norway"),
    "ORGANISATION": (
        "Riverside Hospital", "Harper Consulting Ltd", "University of Ashford", "Ashford District Court",
        "Milton Foundation", "Ashford City Council", "Keller Bank",
    ),
    "ADDRESS": ("12 Elm Street", "221 Baker Road", "7 Mill Lane"),
    "EMAIL": ("jane.doe@mail.com", "jdoe@office.org"),
    "USERNAME": ("jane_doe", "@jdoe77"),
    "URL": ("https://example.org/page",),
    "PHONE": ("555 0134 267", "+44 20 7946 0958"),
    "NATIONAL_ID": ("078-05-1120", "AB123456C"),
    "MEDICAL_ID": ("H872210", "943 476 5919"),
    "CARD": ("4000 0012 3456 7899",),
    "IBAN": ("GB82 WEST 1234 5698 7654 32",),
    "IP": ("192.0.2.17",),
}  # fmt: skip


class FictionalCodes:
    """Makes fictional codes under a secret key.

    Args:
        key: secret of at least 16 bytes.
        forbidden: true values that no fictional value may equal; a fictional name or place shares no word with one.
    """

    def __init__(self, key: bytes, forbidden: Collection[str] = ()) -> None:
        self._key = key
        self._forbidden = frozenset(map(fold, forbidden))
        self._words = frozenset(w for value in self._forbidden for w in re.findall(r"[^\W\d_]{3,}", value))
        self._maker = SurrogateMaker(key, "record", forbidden=forbidden)

    def make(self, counts: Mapping[str, int], name: str, most: int = 3) -> ControlCode:
        """Return a code with the types of `counts`, each with as many values, `most` at most.

        Args:
            counts: how many values each type of the real code has; MISC is left out.
            name: which code this is; the same name gives the same code. Inside one code every value of a type
                differs, and an organisation or an address stays one thing.
            most: cap a type, so that a code does not tell how crowded one real text is.
        """
        found = []
        for label, count in sorted(counts.items()):
            values: dict[str, None] = {}
            for i in range(_TRIES * min(count, most) if label != "MISC" else 0):
                value = self._value(label, f"{name} {label} {i}")
                if self._allowed(label, value):
                    values[value] = None
                if len(values) == min(count, most):
                    break
            if values:
                found.append((label, tuple(values)))
        return ControlCode(tuple(found))

    def _allowed(self, label: str, value: str) -> bool:
        words = set(re.findall(r"[^\W\d_]{3,}", fold(value))) - _TITLES
        return fold(value) not in self._forbidden and not (label in _NAMING and words & self._words)

    def _value(self, label: str, name: str) -> str:
        draw = Draw(self._key, "fiction", name)
        own: dict[str, Callable[[Draw], str]] = {
            "PERSON": _person, "CODE": _code, "DATE": _date, "AGE": _age, "QUANTITY": _quantity,
            "DEMOGRAPHIC": _demographic,
        }  # fmt: skip
        if label in own:
            return own[label](draw)
        sample = draw.choice(_SAMPLES[label])
        unit = f"fiction {name}"
        return self._maker.replace(sample, [Span(unit, 0, len(sample), label)], unit).text


_NAMING = frozenset({"PERSON", "LOCATION"})
_TITLES = frozenset({"mrs"})


def _person(draw: Draw) -> str:
    gender = draw.choice(("f", "m"))
    title = draw.choice({"f": ("Ms", "Mrs", "Dr", "Ms"), "m": ("Mr", "Mr", "Mr", "Dr")}[gender])
    return f"{title} {draw.choice(pools().given[gender])} {draw.choice(pools().surnames)}"


def _code(draw: Draw) -> str:
    letters = string.ascii_uppercase
    shape = draw.number(3)
    if shape == 0:
        return f"{draw.between(10000, 99999)}/{draw.between(0, 99):02d}"
    if shape == 1:
        head = "".join(draw.choice(letters + string.digits) for _ in range(5))
        return f"{head}/{draw.choice(letters)}{draw.choice(letters)}"
    return f"{draw.choice(letters)}{draw.between(100000, 999999)}"


def _date(draw: Draw) -> str:
    day = _FIRST + dt.timedelta(days=draw.number((_LAST - _FIRST).days + 1))
    return f"{day.day} {day:%B} {day.year}"


def _age(draw: Draw) -> str:
    return f"{draw.between(19, 88)} years old"


def _quantity(draw: Draw) -> str:
    amount = draw.between(2, 99) * 10 ** draw.number(4)
    return draw.choice((f"{amount:,} euros", f"{draw.between(2, 95)} per cent", str(draw.between(3, 40))))


def _demographic(draw: Draw) -> str:
    job, nation = draw.choice(pools().jobs), draw.choice(pools().nationalities)
    return draw.choice((job, nation, f"{draw.between(19, 88)}-year-old {job}"))
