"""People at risk: units ranked by how many attacks flag them, beside what chance flags.

Privacy posture: names of units and records only; the text stays behind the reveal of the Leaks view.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from engine import wider_level
from pages._ui.examined.attack_names import FIELD, IN_FIELD
from pages._ui.parts import wrapped
from pages._ui.parts.pager import digest, offset_of, pager
from pages._ui.privacy.data import Examined
from pages._ui.texts import count_of, share

SIZE = 10  # rows of three lines, all of them in view
KEPT = 500  # units that an examination lists
NEEDED = 99  # records kept aside, of which at most one in a hundred may score as high
WHOLE = 2  # of what flags somebody: so many names are read whole in a cell of three lines
OLD = "Nobody was ranked in this examination: examine the run again."
TEXT_FLAGS = {"direct identifier": "a direct identifier of theirs alone", "copied words": "eight of their words copied"}

OCCURS = {  # of text that no private record went into
    "direct identifier": "a direct identifier of theirs alone also occurs in the text",
    "copied words": "eight of their words in a row also occur in the text",
}


def draw(side: Examined) -> None:
    """Draw who is at risk in one run."""
    units, counts = side.units, side.unit_flags
    if units is None or counts is None:
        st.caption(OLD)
        return
    titles, fields = _titles(side.attacks)
    noun = "person" if _grouped(units) else "record"
    untouched = side.claim is not None and side.claim.epsilon == 0 and not contradicted(side)
    st.markdown(sentence(counts, units, noun, untouched=untouched))
    if not units.empty:
        _ranked(side.run.id, units, titles, noun)
    with st.expander("How many each attack flags, and how many chance flags", key=f"privacy.flags.{side.run.id}"):
        table = flags(counts, titles, fields)
        config: dict[str, Any] = {
            name: st.column_config.TextColumn(alignment="right") for name in ("Flagged", "By chance")
        }
        st.dataframe(table, hide_index=True, column_config=config, key=f"privacy.flags.table.{side.run.id}",
                     alt="How many each attack flags, and how many chance flags", height="content")  # fmt: skip
    st.caption(
        "An attack flags one if at most one other in a hundred scores as high. With several attacks, chance alone "
        "flags many: look at those with many flags, and judge an attack by its line above. Not being listed is no "
        "proof of safety."
    )


def contradicted(side: Examined) -> bool:
    """Return whether an attack on the text finds more than its proof allows."""
    from engine.figures.privacy.proof_attack import violations

    return bool(violations(side.roc, side.attacks, side.claim))


def _grouped(units: pd.DataFrame) -> bool:
    return bool(units["unit"].astype(str).str.startswith("s:").any())


def sentence(counts: pd.DataFrame, units: pd.DataFrame, noun: str, *, untouched: bool = False) -> str:
    """Return how many are flagged, and whether that is more than chance flags, all attacks allowed for.

    `untouched`: the text was made without any private record, so that whatever matches is chance.
    """
    usable = counts[counts["flagged"].notna()]
    attacks = usable[~usable["attack"].isin(list(TEXT_FLAGS))]
    if attacks.empty and units.empty:
        if len(counts[counts["flagged"].isna()]):
            few = f"an attack needs {NEEDED} of them{_here(counts)}"
            return f"Too few records were set aside to single out any {noun}: {few}."
        return f"No {noun} is flagged."
    plural = "people" if noun == "person" else "records"
    more = [f - e for _, f, e in _counts(attacks) if _above(f, e, len(attacks))]
    told = usable[usable["attack"].isin(list(TEXT_FLAGS)) & (usable["flagged"] > 0)]
    verb = "is" if len(units) == 1 else "are"
    text = f"**{count_of(len(units), noun, plural)}** {verb} flagged by something. "
    if len(units) >= KEPT:  # the list is cut, so how many there are is known from below alone
        most = max((int(flagged) for _, flagged, _ in _counts(usable)), default=0)
        text = f"**At least {max(most, len(units)):,} {plural}** are flagged by something; the riskiest {KEPT} are "
        text += "listed. "
    for name, flagged, expected in _counts(told):
        text += f"{count_of(int(flagged), noun, plural)}: {(OCCURS if untouched else TEXT_FLAGS)[name]}"
        text += f", {_beside_chance(flagged, expected)}. " if expected == expected and not untouched else ". "
    if untouched:
        return f"{text}Every match is chance: no private record was read (ε = 0)."
    if attacks.empty:
        here = _here(counts) or ", and words that do not tell the two parts apart"  # an attack may be greyed
        return text + f"Attacks on single {plural} need {NEEDED} records set aside{here}."
    if more:
        verb = "flags" if len(attacks) == 1 else "flag"
        text += f"{len(more)} of {count_of(len(attacks), 'attack')} {verb} more than chance does, "
        return text + f"the clearest {max(more):,.0f} more."
    return text + "No attack flags more than chance does: take each line below as a candidate, not as a finding."


def _beside_chance(flagged: float, expected: float) -> str:
    """Return what chance flags beside what was flagged; no more than that is said to be so."""
    by_chance = f"chance gives about {expected:,.0f}"
    return f"no more than {by_chance.replace('gives about', 'gives (about')})" if flagged <= expected else by_chance


def _here(counts: pd.DataFrame) -> str:
    """Return how many records kept aside there were for the attacks that flag nobody; empty where these are enough."""
    others = counts.loc[counts["flagged"].isna(), "others"] if "others" in counts else pd.Series(dtype=float)
    return f"; here {int(others.max()):,}" if len(others) and others.max() < NEEDED else ""


def _counts(rows: pd.DataFrame) -> list[tuple[str, float, float]]:
    names = [str(name) for name in rows["attack"]]
    return list(zip(names, map(float, rows["flagged"]), map(float, rows["expected"]), strict=True))


def _above(flagged: float, expected: float, looks: int) -> bool:
    return flagged - expected > 1.96 * wider_level(looks) * max(expected, 1.0) ** 0.5


def _titles(attacks: pd.DataFrame | None) -> tuple[dict[str, str], dict[str, str]]:
    """Return what flags somebody by its id, as words in a sentence, and the names of attacks in the field."""
    if attacks is None:
        return dict(TEXT_FLAGS), {}
    names = [str(title) for title in attacks["title"]]
    titles = {str(one): f"{name[:1].lower()}{name[1:]}" for one, name in zip(attacks["attack"], names, strict=True)}
    return titles | TEXT_FLAGS, dict(zip(attacks["attack"], attacks[FIELD], strict=True))


def flags(counts: pd.DataFrame, titles: Mapping[str, str], fields: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return one row an attack as it is drawn: flagged, expected by chance, units, non-members, name in the field."""
    known = fields or {}
    return pd.DataFrame(
        {
            "Attack": [_sentence(titles.get(str(a), str(a))) for a in counts["attack"]],
            "Flagged": ["too few others" if f != f else f"{f:,.0f}" for f in counts["flagged"]],
            "By chance": ["–" if e != e else f"about {e:,.0f}" for e in counts["expected"]],
            "Of": counts["units"].astype(int),
            "Others": counts["others"].astype(int),
            IN_FIELD: [known.get(str(a), "") for a in counts["attack"]],
        }
    )


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _named(attacks: Sequence[str], titles: Mapping[str, str]) -> str:
    """Return what flags somebody as a cell holds it whole: copied words and identifiers first, then the attacks."""
    told = sorted((titles.get(one, one) for one in attacks), key=lambda title: title not in TEXT_FLAGS.values())
    more = len(told) - WHOLE
    return ", ".join(told[:WHOLE]) + (f" and {more} more" if more > 0 else "")


def _ranked(run_id: str, units: pd.DataFrame, titles: Mapping[str, str], noun: str) -> None:
    key = f"privacy.units.page.{run_id}"
    start = offset_of(key, SIZE)
    rows = units.iloc[start : start + SIZE]
    shown = pd.DataFrame(
        {
            noun.capitalize(): [str(u).removeprefix("s:") for u in rows["unit"]],
            "Flags": rows["flags"].astype(int).to_numpy(),
            "Flagged by": [_named(str(f).split("|"), titles) for f in rows["flagged_by"]],
            "Scores above others": [
                "–" if p != p else "all" if p >= 1 else share(min(p, 0.999)) for p in rows["percentile"]
            ],
            "Records": rows["records"].astype(int).to_numpy(),
            "Most exposed record": rows["record_id"].astype(str).to_numpy(),
            "Seen in output": ["" if s is None or s != s else str(s) for s in rows["synthetic"]],
        }
    )
    if (shown["Most exposed record"] == shown[noun.capitalize()]).all():
        shown = shown.drop(columns=["Most exposed record", "Records"])
    config: dict[str, Any] = {
        "Flags": st.column_config.NumberColumn(width=50),
        "Flagged by": st.column_config.TextColumn(width=200),
        "Scores above others": st.column_config.TextColumn(
            "Above others",
            width=80,
            alignment="right",
            help="Share of records kept aside that score lower than the highest record here",
        ),
        "Records": st.column_config.NumberColumn(width=60),
        "Most exposed record": st.column_config.TextColumn("Exposed record", width=110),
        "Seen in output": st.column_config.TextColumn(width=100, help="A synthetic record that holds words of theirs"),
    }
    st.dataframe(
        shown, hide_index=True, row_height=wrapped.ROW, column_config=config, alt="Who is at risk, riskiest first",
        key=f"privacy.units.{run_id}.{digest(rows['unit'])}", height="content",
    )  # fmt: skip
    pager(
        len(units),
        key=key,
        size=SIZE,
        counted=count_of(len(units), "person", "people") if noun == "person" else count_of(len(units), "record"),
    )
