"""A bill of materials of the software: what is installed beside the program, from its own metadata, in CycloneDX 1.6.

Written by hand: a package's name, version, licence and needs are all in `importlib.metadata`, and the library that
writes such files would bring seven packages more into the list. Nothing is looked up elsewhere; whether a version has a
known weakness is for another program to say, to which the file is given: `pip-audit` reads the `pins`.

Source: the CycloneDX 1.6 specification (ECMA-424) and the package-URL type `pypi`, both in JSON.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from engine.assets import ASSETS, ROOT
from engine.json_types import JSONObject

if TYPE_CHECKING:
    from importlib.metadata import PackageMetadata

PROGRAM = "understudy"
MODELS = ASSETS / "models"
WEIGHTS = "model.safetensors"
LONGEST_LICENCE = 100  # characters of a licence's name; longer ones are the licence itself
_NEED = re.compile(r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_EXTRA = re.compile(r"\bextra\s*==")


@dataclass(frozen=True)
class Package:
    """An installed distribution.

    Attributes:
        name: as the index compares it, small letters and hyphens. version: as installed.
        licence: an SPDX expression, or a name as its authors gave it; empty where they gave none.
        expression: whether it is such an expression.
        needs: names of what it asks for without an extra, whether or not it is installed.
    """

    name: str
    version: str
    licence: str
    expression: bool
    needs: tuple[str, ...]

    @property
    def purl(self) -> str:
        """Its package URL."""
        return f"pkg:pypi/{self.name}@{self.version}"


def packages() -> tuple[Package, ...]:
    """Return what is installed where the program runs, itself left out, by name; the first of two on the path."""
    found: dict[str, Package] = {}
    for one in metadata.distributions():
        name = _normal(str(one.metadata["Name"] or ""))
        if name and name not in found and name != PROGRAM:
            licence, expression = _licence(one.metadata)
            found[name] = Package(name, one.version, licence, expression, _needs(one.requires or ()))
    return tuple(found[name] for name in sorted(found))


def digest(known: Iterable[Package]) -> str:
    """Return the SHA-256 of the list, one line of name and version a package: what an assessment and a file share."""
    lines = sorted(f"{one.name}=={one.version}\n" for one in known)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def own_version() -> str:
    """Return the program's version."""
    try:
        return metadata.version(PROGRAM)
    except metadata.PackageNotFoundError:  # run from its folder, never installed
        found = re.search(r'^version = "([^"]+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
        return found[1] if found else "unknown"


@cache
def sentence() -> str:
    """Return what the program runs on, in a sentence; the list is `sbom`'s."""
    known = packages()
    return (
        f"Understudy {own_version()} on Python {platform.python_version()} with {len(known):,} packages installed. "
        f"`python -m engine sbom --out FILE` writes their list; SHA-256 of its names and versions: {digest(known)}"
    )


def bill(*, now: datetime | None = None) -> JSONObject:
    """Return the bill of materials: the program, the packages installed beside it, and the models that it ships."""
    known = packages()
    there = {one.name: one for one in known}
    needs = _needs(_own_needs())
    root = f"pkg:pypi/{PROGRAM}@{own_version()}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid4()}",
        "version": 1,
        "metadata": {
            "timestamp": (now or datetime.now(UTC)).isoformat(timespec="seconds"),
            "component": {
                "type": "application", "bom-ref": root, "name": PROGRAM, "version": own_version(), "purl": root,
                "licenses": [{"expression": "GPL-3.0-or-later"}],
            },
            "properties": [
                {"name": "understudy:packages", "value": str(len(known))},
                {"name": "understudy:packages-sha256", "value": digest(known)},
                {"name": "understudy:python", "value": platform.python_version()},
                {"name": "understudy:platform", "value": f"{platform.system()} {platform.machine()}"},
            ],
        },
        "components": [*(_component(one) for one in known), *_models()],
        "dependencies": [
            {"ref": root, "dependsOn": [there[name].purl for name in needs if name in there]},
            *({"ref": one.purl, "dependsOn": [there[name].purl for name in one.needs if name in there]}
              for one in known),
        ],
    }  # fmt: skip


def written() -> bytes:
    """Return the bill as a file."""
    return (json.dumps(bill(), ensure_ascii=False, indent=1) + "\n").encode()


def pins() -> bytes:
    """Return the packages as a requirements file, for a scanner that reads no bill of materials."""
    return "".join(f"{one.name}=={one.version}\n" for one in packages()).encode()


def _component(one: Package) -> JSONObject:
    said: JSONObject = {"expression": one.licence} if one.expression else {"license": {"name": one.licence}}
    return {
        "type": "library", "bom-ref": one.purl, "name": one.name, "version": one.version, "purl": one.purl,
        **({"licenses": [said]} if one.licence else {}),
    }  # fmt: skip


def _models() -> list[JSONObject]:
    """Return the models that come with the program, with the SHA-256 of their weights."""
    made: list[JSONObject] = []
    for path in sorted(MODELS.glob(f"*/{WEIGHTS}")):
        found = _sha256(path)
        made.append(
            {
                "type": "machine-learning-model", "bom-ref": f"model:{path.parent.name}", "name": path.parent.name,
                "version": found[:12], "hashes": [{"alg": "SHA-256", "content": found}],
            }
        )  # fmt: skip
    return made


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _own_needs() -> list[str]:
    try:
        return metadata.requires(PROGRAM) or []
    except metadata.PackageNotFoundError:
        return []


def _needs(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the names in a distribution's lines of what it needs, those of an extra left out."""
    found = (_NEED.match(line) for line in lines if not _EXTRA.search(line))
    return tuple(sorted({_normal(match[1]) for match in found if match}))


def _licence(given: PackageMetadata) -> tuple[str, bool]:
    """Return a distribution's licence, and whether it is an SPDX expression."""
    expression = _first(given, "License-Expression")
    if expression:
        return expression, True
    named = [
        line.rpartition("::")[2].strip() for line in given.get_all("Classifier") or ()
        if str(line).startswith("License ::") and line.count("::") > 1
    ]  # fmt: skip
    said = _first(given, "License")
    if 0 < len(said) <= LONGEST_LICENCE and said.casefold() != "unknown":
        return said, False
    return "; ".join(named), False


def _first(given: PackageMetadata, name: str) -> str:
    """Return the first value of a field on one line, empty where it is missing."""
    return " ".join(str((given.get_all(name) or [""])[0]).split())


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
