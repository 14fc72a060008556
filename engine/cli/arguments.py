"""An argument of a verb as a row of a table: its names, and what argparse is told of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypedDict


class Option(TypedDict, total=False):
    """What argparse is told of one argument."""

    help: str
    action: str
    nargs: int | str
    default: object
    const: object
    type: Callable[[str], object]
    choices: Sequence[str]
    required: bool
    metavar: str | tuple[str, ...]
    dest: str


Argument: TypeAlias = tuple[tuple[str, ...], Option]
