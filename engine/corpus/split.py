"""Decide which units are held out, and which records of a unit methods may use.

Each unit is held out independently with the given rate, so that members and non-members of later
attacks are an honest split (DESIGN section 3). A record beyond its unit's cap gets the split
`over_cap`: it is neither training nor holdout, and no method or measure that selects one of those
two can meet it by mistake.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from engine.corpus.keyed import keyed_digest, keyed_uniform

TRAIN, HOLDOUT, OVER_CAP = "train", "holdout", "over_cap"
FEWEST_ASIDE = 35  # with fewer, more is left open than a policy for readers outside allows (`release.policy.aside`)


def unit_names(record_ids: Sequence[str], source_ids: Sequence[str | None], unit: str) -> list[str]:
    """Return each record's unit; a record without a source is a unit of its own.

    The two kinds of name are kept apart, so a source called like a record never merges with it.
    """
    if unit == "record":
        return [f"record\x00{record_id}" for record_id in record_ids]
    return [
        f"record\x00{record_id}" if source_id is None else f"source\x00{source_id}"
        for record_id, source_id in zip(record_ids, source_ids)
    ]


def assign_split(
    units: Sequence[str], record_ids: Sequence[str], *, holdout_rate: float, cap: int, key: bytes
) -> list[str]:
    """Return `train`, `holdout` or `over_cap` a record.

    Args:
        units: each record's unit, same length as `record_ids`.
        holdout_rate: chance in [0, 1) that a unit is held out.
        cap: records of a unit that stay in use, at least 1; chosen by keyed hash.
        key: secret of the workspace.
    """
    sides = {
        unit: HOLDOUT if keyed_uniform(key, "holdout", unit) < holdout_rate else TRAIN for unit in dict.fromkeys(units)
    }
    members: dict[str, list[int]] = defaultdict(list)
    for position, unit in enumerate(units):
        members[unit].append(position)
    split = [sides[unit] for unit in units]
    for positions in members.values():
        if len(positions) > cap:
            ordered = sorted(positions, key=lambda i: keyed_digest(key, "cap", record_ids[i]))
            for position in ordered[cap:]:
                split[position] = OVER_CAP
    return split
