"""Corpora and runs by name on the command line: an id always counts, a name where one thing alone has it.

Privacy posture: names are those of the workspace's owner; a refusal lists ids, dates and titles, never record text.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.errors import UserError

if TYPE_CHECKING:
    from engine.workspace import Workspace

CORPORA = ("corpus", "same_people_as", "other_people_than")
RUNS = ("run", "runs")
Known = Mapping[str, tuple[str, str]]  # id -> name, and what tells it from others of that name


def resolve(workspace: Workspace, options: Namespace) -> None:
    """Put ids in place of the names among a verb's options; what is neither stays, and is refused where it is used.

    Raises:
        UserError: several corpora or runs have a name.
    """
    if any(getattr(options, name, None) for name in CORPORA):
        found = {one.id: (one.name, f"{one.records:,} records, {one.created[:16]}") for one in workspace.corpora.all()}
        _replace(options, CORPORA, "corpora", found)
    if any(getattr(options, name, None) for name in RUNS):
        runs = {one.id: (one.name or one.title, f"{one.title}, {one.created[:16]}") for one in workspace.runs.all()}
        _replace(options, RUNS, "runs", runs)


def _replace(options: Namespace, names: tuple[str, ...], kind: str, known: Known) -> None:
    for name in names:
        value = getattr(options, name, None)
        if isinstance(value, list):
            setattr(options, name, [_one(str(item), kind, known) for item in value])
        elif isinstance(value, str):
            setattr(options, name, _one(value, kind, known))


def _one(given: str, kind: str, known: Known) -> str:
    """Return the id of what has this id or name: the very name, else the name whatever its capitals."""
    if given in known:
        return given
    words = " ".join(given.split())
    found = [one for one, (name, _) in known.items() if name == words]
    found = found or [one for one, (name, _) in known.items() if name.casefold() == words.casefold()]
    if len(found) > 1:
        listed = "; ".join(f"{one} ({known[one][1]})" for one in found)
        raise UserError(f"{len(found)} {kind} are called {words!r}: {listed}. Name one by its id.")
    return found[0] if found else given
