"""Say in a claim that leaves which earlier runs it rests on without the ids that they have in the workspace.

Privacy posture: an id means nothing outside, and would tie releases to a workspace; a position in the claim is enough.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from engine.dp.guarantee import Guarantee
from engine.json_types import JSON

_NAMED = re.compile(r"\b(?:the )?(?:run )?(r-[a-hj-km-np-z2-9]{10})\b")


def without_ids(claim: Guarantee) -> Guarantee:
    """Return the claim with every run's id replaced by its place: "earlier run 1" is the first that it names."""
    places: dict[str, int] = {}

    def named(found: re.Match[str]) -> str:
        return f"earlier run {places.setdefault(found[1], len(places) + 1)}"

    def said(value: JSON) -> JSON:
        if isinstance(value, str):
            return _NAMED.sub(named, value)
        if isinstance(value, Mapping):
            return {key: said(item) for key, item in value.items()}
        return [said(item) for item in value] if isinstance(value, Sequence) else value

    return Guarantee.from_dict({name: said(value) for name, value in claim.as_dict().items()})
