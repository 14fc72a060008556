"""Put the runs of the control-code study into the tables of Zhao and Field 2025, each under the paper's number.

| table | what it holds |
| --- | --- |
| table_1 | direct identifiers, known: codes from accepted spans |
| table_3 | the same, where most texts carry marks of a de-identification such as `[**Hospital 18**]` |
| table_5 | the same, written by another model than the built-in one |
| table_2 | direct identifiers, unknown: codes from the detector, leaks counted on accepted spans |
| table_4 | perplexity and MAUVE with known and unknown identifiers, and of real text |
| table_6, both_unknown | direct and quasi-identifiers, known; unknown (the paper has no such table) |
| table_14, table_15 | quasi-identifiers alone, known; unknown |

Tables 1, 3 and 5 differ in the corpus and the model; one study makes one of them.
Cells are the mean over repeats ± half the 95% t-interval, or its two ends where they are cut at 0 or 1; one repeat has
no interval; PIPP and ELP in per cent. Where no text of any repeat holds a private value, PIPP has the upper end of
Wilson's interval over all texts. What is proven about a method stands beside it; the DP-SGD row is `dp-finetune`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from engine.examine.stats.intervals import wilson
from engine.pii.control_codes import marks
from engine.studies.control_codes.measures import MEASURES, UNBOUNDED, compared, measured

NAMES: Mapping[tuple[str, str], str] = {
    ("direct", "known"): "table_1", ("direct", "unknown"): "table_2", ("both", "known"): "table_6",
    ("both", "unknown"): "both_unknown", ("quasi", "known"): "table_14", ("quasi", "unknown"): "table_15",
}  # fmt: skip
PAPER: Mapping[str, str] = {
    "icl": "Baseline", "control-icl": "ICL", "control-icl-blocked": "ICL w/ privacy enhancement",
    "control-prefix": "Fine-tuning", "control-prefix-masked": "Fine-tuning w/ masking", "dp-finetune": "DP-SGD",
}  # fmt: skip
CODES: Mapping[str, str] = {
    "icl": "none", "control-icl": "fictional, in the prompt",
    "control-icl-blocked": "fictional, in the prompt; private values blocked",
    "control-prefix": "fictional, before each text", "control-prefix-masked": "fictional, before each text",
    "dp-finetune": "none: noise covers the whole record, so known and unknown identifiers make no difference",
}  # fmt: skip
TOLD = ("guarantee", "codes")
PRIVACY = ("pipp", "elp", "rouge_2", "rouge_l")
UTILITY = ("perplexity", "mauve")
PER_CENT = ("pipp", "elp")
SET: Mapping[str, str] = {"examples": ", 3 examples (as set)", "weights": ", suppress, λ 1, 1, 1 (as set)"}
PLAIN, MASKED = "control-prefix", "control-prefix-masked"


def first_table(texts: Iterable[str], model: str) -> str:
    """Return the paper's number of the table of known direct identifiers: 1, 3 for marked notes, 5 for another model.

    Args:
        texts: the training records'. model: id of the one that writes.
    """
    marked = [bool(marks("", text)) for text in texts]
    if 2 * sum(marked) > len(marked):
        return "table_3"
    return "table_1" if model == "builtin" else "table_5"


def paper_tables(runs: pd.DataFrame, first: str = "table_1") -> dict[str, pd.DataFrame]:
    """Return the paper's tables that the runs allow, by name.

    Args:
        runs: one row a run: variant, method, identifiers, entities, sweep, repeat and one column a measure.
        first: what `first_table` says.
    """
    names = {**NAMES, ("direct", "known"): first}
    made = runs[runs["identifiers"] != ""]
    main = made[made["sweep"] == ""]
    found = {
        names[str(identifiers), str(entities)]: rows_of(part, "method", PRIVACY)
        for (identifiers, entities), part in main.groupby(["identifiers", "entities"], sort=False)
    }
    if set(UTILITY) <= set(runs.columns):
        real = runs[runs["identifiers"] == ""]
        found["table_4"] = _utility(pd.concat([main[main["identifiers"] == main["identifiers"].iloc[0]], real]))
    for sweep in ("examples", "weights"):
        part = made[made["sweep"] == sweep]
        if len(part):
            held = [m for m in (*PRIVACY, *UTILITY) if m in part.columns]
            beside = made[(made["sweep"] == "") & made["method"].isin(set(part["method"]))]
            beside = beside[(beside["identifiers"] + beside["entities"]).isin(part["identifiers"] + part["entities"])]
            beside = beside.assign(variant=[f"{m}{SET[sweep]}" for m in beside["method"]])
            together = pd.concat([beside, part]).sort_values("method", key=_place, kind="stable")
            found[f"sweep_{sweep}"] = rows_of(together, "variant", held)
    against = _masked(main)
    if len(against):
        found["masked_against_plain"] = against
    found["validity"] = validity(made)
    return found


def rows_of(runs: pd.DataFrame, by: str, measures: Sequence[str]) -> pd.DataFrame:
    """Return one row a method or variant, cells in words as the paper has them."""
    rows = []
    for name, part in runs.groupby(by, sort=False):
        row = {by: str(name)} | ({"in the paper": PAPER.get(str(name), "")} if by == "method" else {})
        row |= {m: cell(part, m) for m in measures} | {"repeats": str(len(part))}
        rows.append(row | (_told(part) if by == "method" else {}))
    return pd.DataFrame(rows)


def _told(part: pd.DataFrame) -> dict[str, str]:
    """Return what is proven and what codes are to a method; nothing for runs of an earlier edition."""
    return {name: str(part[name].iloc[-1]) for name in TOLD if name in part and part[name].notna().any()}


def cell(runs: pd.DataFrame, measure: str) -> str:
    """Return mean ± half the interval; both ends where it is cut at 0 or 1; PIPP and ELP in per cent.

    Where none was seen, zero and the interval's end.
    """
    scale, digits = (100, 2) if measure in PER_CENT else (1, 1 if measure == "perplexity" else 4)
    value, low, high = measured(runs, measure)
    if value != value:
        return "not measured"
    if not value and high > 0:
        return f"{0:.{digits}f}, at most {high * scale:.{digits}f}"
    shown = f"{value * scale:.{digits}f}"
    if low != low:
        return shown
    if measure not in UNBOUNDED and (low <= 0.0 or high >= 1.0) and high > low:
        return f"{shown} ({low * scale:.{digits}f} to {high * scale:.{digits}f})"
    return f"{shown} ± {(value - low) * scale:.{digits}f}"


def _place(methods: pd.Series) -> pd.Series:
    return methods.map(list(PAPER).index)


def _utility(runs: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for method, part in runs.groupby("method", sort=False):
        row = {"method": str(method), "in the paper": PAPER.get(str(method), "")}
        for entities in [e for e in ("known", "unknown") if e in set(runs["entities"])]:
            own = part[part["entities"].isin((entities, ""))]
            row |= {f"{m}, {entities}": cell(own, m) for m in UTILITY}
        rows.append(row | _told(part))
    return pd.DataFrame(rows)


def _masked(main: pd.DataFrame) -> pd.DataFrame:
    """Return, for each setting and measure, whether the masked objective lies below or above the plain one."""
    held = [m for m in MEASURES if m in main.columns]
    parts = []
    for (identifiers, entities), part in main.groupby(["identifiers", "entities"], sort=False):
        if {PLAIN, MASKED} <= set(part["method"]):
            named = part.assign(variant=part["method"])
            setting = {"identifiers": str(identifiers), "entities": str(entities)}
            against = compared(named, MASKED, PLAIN, held).assign(**setting)
            parts.append(against[against["repeats"] > 0])  # MAUVE of few texts is no number
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def validity(runs: pd.DataFrame) -> pd.DataFrame:
    """Return, for each variant over all repeats, how many texts are valid and how many of those hold a private value.

    Valid has at least 100 tokens and is no repetition. `high` is the upper end of Wilson's 95% interval of the share
    with a private value: none seen does not mean none.
    """
    rows = []
    for name, part in runs.groupby("variant", sort=False):
        valid = int(part["valid"].sum())
        hits = int(part["valid_with_value"].sum())
        low, high = wilson(hits, valid) if valid else (float("nan"), float("nan"))
        share = hits / valid if valid else float("nan")
        kept, again = int(part["texts"].sum()), int(part["tried_again"].sum())
        fewest = int(part["valid"].min())
        rows.append((name, len(part), kept, valid, fewest, hits, share, low, high, again))
    return pd.DataFrame(
        rows,
        columns=["variant", "repeats", "texts", "valid", "fewest_valid", "with_value", "share", "low", "high",
                 "tried_again"],
    )  # fmt: skip
