"""A study's tables: the summary as variants by measures with intervals, the rest folded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st

from pages._ui.texts import plain

if TYPE_CHECKING:
    import pandas as pd

FEW = 200  # rows shown of a long table
EARLIER = (
    "These curves come from an earlier edition whose bands did not hold, so they are not shown. Run the study again."
)
SHARES = ("leakage", "canary_parts", "canary_words", "pipp", "elp", "near_0")
WORDS = {
    "js_1gram": "Divergence of words (bits)", "js_2gram": "Divergence of word pairs (bits)",
    "js_3gram": "Divergence of word triples (bits)", "pipp": "Texts with a private value (PIPP)",
    "elp": "Private values that come out (ELP)", "rouge_2": "ROUGE-2", "rouge_l": "ROUGE-L", "mauve": "MAUVE",
    "canary_parts": "Four words of a canary", "canary_words": "Share of a canary's words",
    "own_identifier_leakage": "Leakage of the records' own identifiers", "identifier_leakage": "Planted identifiers",
    "replaced_as_similar": "Pieces replaced for similarity, an output",
    **{f"near_{limit}": f"Outputs {limit} near a known item" for limit in ("0.85", "0.90", "0.92", "0.95")},
    "canary_leakage": "Whole canaries", "rouge_2_max": "ROUGE-2, nearest record",
    "rouge_l_max": "ROUGE-L, nearest record", "perplexity": "Perplexity",
    "perplexity_holdout": "Perplexity of unseen records", "perplexity_train": "Perplexity of training records",
    "holdout_over_train": "Unseen over training records", "holdout_over_untuned": "Unseen records, against untuned",
    "canary_auc": "Canaries told from those left out (AUC)", "claimed_epsilon": "ε claimed",
    "audited_epsilon_canaries": "ε proven by canaries", "audited_epsilon_gradients": "ε proven on the noisy steps",
    "pipp_corpus": "PIPP, against all records", "elp_corpus": "ELP, against all records",
}  # fmt: skip
TABLES = {
    "table_1": "Table 1: direct identifiers, known", "table_2": "Table 2: direct identifiers, found by the detector",
    "table_3": "Table 3: direct identifiers, known, in notes with de-identification marks",
    "table_4": "Table 4: perplexity and MAUVE", "table_5": "Table 5: direct identifiers, known, with another model",
    "table_6": "Table 6: direct and quasi-identifiers, known",
    "both_unknown": "Direct and quasi-identifiers, found by the detector",
    "table_14": "Table 14: quasi-identifiers, known", "table_15": "Table 15: quasi-identifiers, found by the detector",
    "sweep_examples": "Other numbers of examples", "sweep_weights": "Other weights and directions of the objective",
    "in_words": "In words", "effects": "What size and temperature do", "claims": "The paper's claims",
    "sizes_and_temperatures": "Every size and temperature (the paper's Table 17)",
    "parts_left_out": "Parts left out, at the first and the last round (the paper's Table 3)",
    "comparison": "Differences, one by one", "rounds_summary": "Rounds", "rounds": "Every round of every run",
    "runs": "Every run", "time": "Time",
    "masked_against_plain": "Masked against plain prefix", "validity": "Usable texts, and private values in them",
}  # fmt: skip


PAPERS = {"method": "Method", "variant": "Variant", "in the paper": "In the paper", "pipp": "PIPP (%)",
          "elp": "ELP (%)", "rouge_2": "ROUGE-2", "rouge_l": "ROUGE-L", "perplexity": "Perplexity", "mauve": "MAUVE",
          "repeats": "Runs", "guarantee": "Proven", "codes": "Control codes"}  # fmt: skip
VALIDITY = {"variant": "Variant", "repeats": "Runs", "texts": "Texts", "valid": "Valid", "fewest_valid": "Fewest a run",
            "with_value": "With a private value", "share": "Share", "low": "95% from", "high": "to",
            "tried_again": "Written again"}  # fmt: skip


def headings(name: str) -> dict[str, str]:
    """Return what the columns of a table are called, as far as they have a name of their own."""
    return PAPERS if name.startswith(("table_", "sweep_", "both_")) else VALIDITY if name == "validity" else {}


def draw(found: Mapping[str, pd.DataFrame], key: str) -> None:
    """Draw the summary first, then every other table folded."""
    rest = dict(found)
    summary = rest.pop("summary", None)
    if summary is not None and {"variant", "measure", "value"} <= set(summary.columns):
        st.subheader("Every measure", anchor=False)
        st.dataframe(wide(summary), key=f"study.summary.{key}", alt="Measures of each variant with 95% intervals")
        st.caption("Brackets hold the 95% interval where one is defined.")
    elif summary is not None:
        rest["summary"] = summary
    for name in sorted(rest, key=lambda name: list(TABLES).index(name) if name in TABLES else len(TABLES)):
        part = rest[name]
        title = TABLES.get(name, name.replace("_", " ").capitalize())
        with st.expander(plain(title), key=f"study.part.{key}.{name}"):
            if name in ("curves", "semantic_curves") and "form" in part and "verdict" not in part:
                st.caption(EARLIER)
                continue
            st.dataframe(part.head(FEW), hide_index=True, key=f"study.rows.{key}.{name}", column_config=headings(name))
            if len(part) > FEW:
                st.caption(f"The first {FEW} of {len(part):,} rows; the command line prints all.")


def wide(summary: pd.DataFrame) -> pd.DataFrame:
    """Return one row a measure, one column a variant, cells with interval as words; order as measured."""
    import pandas as pd

    from engine import METHODS

    variants = list(dict.fromkeys(summary["variant"]))
    measures = list(dict.fromkeys(summary["measure"]))
    cells = {(row["variant"], row["measure"]): _cell(row) for _, row in summary.iterrows()}
    methods = {entry[0] for entry in METHODS}
    headed = {v: v if v.split(" ")[0] in methods else v.capitalize() for v in variants}
    rows = {headed[v]: [cells.get((v, m), "") for m in measures] for v in variants}
    titles = dict(zip(summary["measure"], summary["title"], strict=True)) if "title" in summary else WORDS
    return pd.DataFrame(rows, index=[str(titles.get(m, m.replace("_", " ").capitalize())) for m in measures])


def _cell(row: pd.Series) -> str:
    value, low, high = row["value"], row.get("low"), row.get("high")
    if value != value or value is None:
        return "not measured"
    share = any(word in row["measure"] for word in SHARES)

    def shown(number: float) -> str:
        return f"{number:.0%}" if share else f"{number:.2f}" if abs(number) < 100 else f"{number:,.0f}"

    if low is None or high is None or low != low or high != high:
        return shown(value)
    return f"{shown(value)} [{shown(low)}, {shown(high)}]"
