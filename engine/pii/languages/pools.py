"""Read a pack's pools of names and places."""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import dataclass
from functools import lru_cache

from engine.assets import ASSETS

FOLDER = ASSETS / "languages"


@dataclass(frozen=True)
class Town:
    """A town with its region and one of its postcodes."""

    name: str
    region: str
    postcode: str


@dataclass(frozen=True)
class Pools:
    """Names and places of one country, the most used first; all public lists."""

    female: tuple[str, ...]
    male: tuple[str, ...]
    surnames: tuple[str, ...]
    towns: tuple[Town, ...]
    regions: tuple[str, ...]
    streets: tuple[str, ...]

    @property
    def forenames(self) -> tuple[str, ...]:
        """Return women's and men's names."""
        return self.female + self.male


@lru_cache(maxsize=32)
def read_pools(code: str) -> Pools:
    """Return the pools in `assets/languages/<code>/`."""
    names = _rows(code, "names.csv.gz")
    places = _rows(code, "places.csv.gz")

    def of(rows: list[dict[str, str]], **wanted: str) -> tuple[str, ...]:
        return tuple(r["name"] for r in rows if all(r[k] == v for k, v in wanted.items()))

    return Pools(
        female=of(names, kind="forename", sex="f"),
        male=of(names, kind="forename", sex="m"),
        surnames=of(names, kind="surname"),
        towns=tuple(Town(r["name"], r["region"], r["postcode"]) for r in places if r["kind"] == "town"),
        regions=of(places, kind="region"),
        streets=of(places, kind="street"),
    )


def _rows(code: str, name: str) -> list[dict[str, str]]:
    with gzip.open(FOLDER / code / name, "rb") as file:
        return list(csv.DictReader(io.StringIO(file.read().decode("utf-8"))))
