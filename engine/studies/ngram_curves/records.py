"""Which records words are drawn from directly: drawing has no cap, so a person's records count in full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pandas as pd

if TYPE_CHECKING:
    from engine.studies.base import StudyContext

Part = Literal["uncapped", "train", "all"]


@dataclass(frozen=True)
class Drawn:
    """Records that are drawn from.

    Args:
        records: columns record_id, text, source_id. part: which were asked for. over_cap: records of training sources
            that lie over the cap and are left out. held_out: held-out ones, over the cap or not, that are left out.
    """

    records: pd.DataFrame
    part: Part
    over_cap: int
    held_out: int

    def table(self, unit: str, units: int) -> pd.DataFrame:
        """Return one row that says what was drawn from and what was left out."""
        return pd.DataFrame(
            [{"part": self.part, "unit": unit, "units": units, "records": len(self.records),
              "left_out_over_cap": self.over_cap, "left_out_held_out": self.held_out}]
        )  # fmt: skip


def chosen(train: pd.DataFrame, over_cap: pd.DataFrame, holdout: pd.DataFrame, part: Part) -> Drawn:
    """Return the records of one part.

    Args:
        train, over_cap, holdout: records by split. A source is held out or not as a whole, so records over the cap
            belong to the training part where their source has records there.
    """
    trained = over_cap["source_id"].notna() & over_cap["source_id"].isin(set(train["source_id"].dropna()))
    inside, outside = over_cap[trained], over_cap[~trained]
    left = len(outside) + len(holdout)
    if part == "train":
        return Drawn(train.reset_index(drop=True), part, len(inside), left)
    parts = [train, inside] if part == "uncapped" else [train, over_cap, holdout]
    records = pd.concat([one for one in parts if len(one)], ignore_index=True)
    return Drawn(records, part, 0, 0 if part == "all" else left)


def direct_records(context: StudyContext, part: Part) -> Drawn:
    """Return the records of one part of a study's corpus."""
    return chosen(context.run.records, context.over_cap, context.holdout, part)
