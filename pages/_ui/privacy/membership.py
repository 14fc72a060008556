"""Membership: every attack with its interval, ROC curves on logarithmic axes, and what is greyed and why."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from engine import BLIND, holm, judge_attacks
from pages._ui.examined.attack_names import FIELD, IN_FIELD
from pages._ui.parts import wrapped
from pages._ui.privacy import beside as privacy_beside
from pages._ui.privacy import chart as privacy_chart
from pages._ui.privacy.data import Examined
from pages._ui.privacy.verdict import LEVELS, NONE_SEEN
from pages._ui.texts import plain

OLD = "This run was examined before membership attacks were carried out: examine it again."
NOTHING = "No attack could be carried out; “All numbers” says why."
GREYED = "greyed: told apart without a model"
BEYOND = "greyed, but above words alone"
SHORT = ("Attack", "The attacker sees", "Judgement", "Area (AUC)", "Found at 1%")  # what is read whole
RATE, UNKNOWN = "Found at 1%", "not estimable"
NUMBERS = ("Area (AUC)", "p", "p, corrected", "Found at 1%", "Found at 0.1%", "Without duplicates")

HELPS = {
    "p": "Chance that membership dealt out at random gives an area this far from 0.5",
    "p, corrected": "The same, corrected for looking at many attacks (Holm 1979)",
    "Found at 1%": "Share of members found while 1% of the others are suspected; needs 1,000 others",
    "Found at 0.1%": "The same at 0.1%; needs 10,000 others",
    "Without duplicates": "Area without records that have a near-duplicate on the other side",
}


def draw(sides: Sequence[Examined]) -> None:
    """Draw both figures and the table of attacks."""
    from engine.figures.privacy.membership import areas, roc_curves

    st.markdown(
        "An attacker holds a text and asks: was it used? An attack is called by what it goes by. The members are "
        "records that were used, the others records kept aside by a coin. “Found at 1%” is the share of members found "
        "while 1 in 100 others is suspected wrongly."
    )
    names = [side.name for side in sides]
    if all(side.attacks is None for side in sides):
        st.caption(OLD)
        return
    if all(side.attacks is None or side.attacks.empty for side in sides):
        st.caption(NOTHING)
        return
    privacy_beside.draw(
        [None if s.attacks is None or s.attacks.empty else areas(s.attacks) for s in sides],
        names, key="privacy.areas", missing=OLD,
    )  # fmt: skip
    if privacy_chart.titles(sides):
        shown = privacy_chart.pick(sides, key="privacy.roc.attacks")
        privacy_beside.draw(
            [None if s.attacks is None or s.roc is None else roc_curves(s.roc, s.attacks, shown) for s in sides],
            names, key="privacy.roc", missing=OLD,
        )  # fmt: skip
    for side in sides:
        if side.attacks is not None and not side.attacks.empty:
            if len(sides) > 1:
                st.markdown(f"**{plain(side.name)}**")
            _table(side.attacks, side.run.id)


def rows(attacks: pd.DataFrame) -> pd.DataFrame:
    """Return the attack table as it is drawn: judged ones first, clearest on top, the blind baseline last."""
    by_id = {str(row["attack"]): row for row in attacks.to_dict("records")}
    looks = judge_attacks(attacks)
    order = [look.attack for look in looks] + [i for i, row in by_id.items() if row["observes"] == BLIND]
    levels = {look.attack: look.level for look in looks}
    words = {look.attack: (NONE_SEEN if look.nothing else LEVELS[look.level])[1] for look in looks}
    beyond = {look.attack for look in looks if look.beyond}
    judged = [i for i in order if levels.get(i, "unknown") != "unknown"]
    corrected = dict(zip(judged, holm([_number(by_id[i].get("p")) for i in judged]), strict=True))
    unknown = LEVELS["unknown"][1]
    return pd.DataFrame(
        [_row(by_id[i], words.get(i, unknown), corrected.get(i, math.nan), beyond=i in beyond) for i in order]
    )


def _row(row: Mapping[Hashable, object], word: str, corrected: float, *, beyond: bool) -> dict[str, object]:
    if row["observes"] == BLIND:
        judgement = "the yardstick"
    elif row["greyed"]:
        judgement = BEYOND if beyond else GREYED
    else:
        judgement = word
    return {
        "Attack": row["title"],
        IN_FIELD: row.get(FIELD, row["title"]),
        "The attacker sees": row["observes"],
        "Judgement": judgement,
        "Area (AUC)": _area(row["auc"], row["low"], row["high"]),
        "Found at 1%": _rate(row, "tpr_01"),
        "Found at 0.1%": _rate(row, "tpr_001"),
        "p": _p(_number(row["p"])),
        "p, corrected": _p(corrected),
        "Without duplicates": _area(row["without_duplicates_auc"]),
        "Members": row["members"],
        "Others": row["others"],
        "Note": row["note"] if isinstance(row["note"], str) else "",
    }


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _area(value: object, low: object = None, high: object = None) -> str:
    if not math.isfinite(_number(value)):
        return "–"
    text = f"{_number(value):.3f}"
    known = math.isfinite(_number(low)) and math.isfinite(_number(high))
    return f"{text} ({_number(low):.3f} to {_number(high):.3f})" if known else text


def _rate(row: Mapping[Hashable, object], name: str) -> str:
    value, low, high = (100 * _number(row[f"{name}{end}"]) for end in ("", "_low", "_high"))
    if not math.isfinite(value):
        return UNKNOWN if row["observes"] != BLIND else "–"
    return f"{value:.1f}% ({low:.1f} to {high:.1f})" if math.isfinite(low) and math.isfinite(high) else f"{value:.1f}%"


def _p(value: float) -> str:
    return "–" if not math.isfinite(value) else f"{value:.3f}" if value >= 0.001 else "under 0.001"


def _table(attacks: pd.DataFrame, run_id: str) -> None:
    every = rows(attacks)
    with st.container(key=f"privacy.attacks.table.{run_id}"):
        columns = [name for name in SHORT if name != RATE or not every[name].isin([UNKNOWN, "–"]).all()]
        wrapped.table(every[columns], right=("Area (AUC)", RATE))
    greyed = int(attacks["greyed"].sum())
    text = "Brackets hold the 95% interval of each number alone; the judgement allows for all attacks at once. "
    if greyed:
        text += (
            f"{greyed} {'attack is' if greyed == 1 else 'attacks are'} greyed: members and others can be told apart by "
            "their words without any model, so such an attack may see that difference and not a leak, "
            "unless it does better than words alone. "
        )
    st.caption(text + "“–” means that nothing could be measured.")
    with st.expander("Every column", key=f"privacy.attacks.every.{run_id}"):
        config: dict[str, Any] = {
            "Attack": st.column_config.TextColumn(pinned=True, width=230),
            IN_FIELD: st.column_config.TextColumn(width=270),
            **{name: st.column_config.TextColumn(alignment="right", help=HELPS.get(name)) for name in NUMBERS},
            **{name: st.column_config.NumberColumn(format="localized") for name in ("Members", "Others")},
        }
        st.dataframe(every, hide_index=True, column_config=config,
                     height="content", alt="Membership attacks with intervals, clearest first")  # fmt: skip
