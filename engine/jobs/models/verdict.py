"""One line on what a language model is good enough for, from what the program holds of it; nothing is guessed.

It holds: how a model is asked, what it can do, and so which methods run with it; of the built-in one the
language that it was trained on. What a maker says of languages is not held, so it is not said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from engine.models.catalogue import lacks

if TYPE_CHECKING:
    from engine.methods.base import MethodSpec
    from engine.models.catalogue import ModelInfo

USES = {
    "builtin": "Good enough to try methods out, on English text alone: its sentences wander, so what leaves for "
    "readers or for training needs a larger model.",
    "plain": "Good enough where a method trains it or lets it continue text; it follows no instructions, so untrained "
    "it wanders.",
    "instruct": "Good enough to write by instructions; in which languages its maker says and nobody measured here, so "
    "read five of its texts first.",
}

IN_SHORT = {"builtin": "trying out", "plain": "training it here", "instruct": "rewriting and imitating"}
"""The same as `USES`, for a cell of a table."""


def verdict(info: ModelInfo, specs: Sequence[MethodSpec], names: Mapping[str, str] | None = None) -> str:
    """Return the line: what for, in which language as far as that is known, and with how many of the methods.

    Args:
        info: the model. specs: of all methods; those that need no model do not count. names: id -> what a method is
            called to readers, its title where there is none.
    """
    if info.problem:
        return "Good for nothing until its files are put right."
    writing = [spec for spec in specs if "generator" in spec.needs]
    fit = [spec for spec in writing if not lacks(info, spec.title, spec.needs)]
    missing = [(names or {}).get(spec.id, spec.title) for spec in writing if spec not in fit]
    rest = f", not with {', '.join(missing[:3])}{' and others' if len(missing) > 3 else ''}" if missing else ""
    return f"{USES[info.prompts]} Works with {len(fit)} of the {len(writing)} methods that need a model{rest}."
