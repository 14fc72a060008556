"""The paper's claims about the parts of DPGA-TextSyn, tested on a study's runs.

A claim holds, or does not (the opposite is shown), where its corrected test falls below 0.05; else one cannot tell. A
claim about what was not measured says so, as does one whose repeats never varied. Claims about a change against the
method as it is are the differences of the table of comparisons, with their correction, so the two never contradict each
other; the rest are corrected together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from engine.examine.stats.over_repeats import Difference, difference, from_nothing
from engine.studies.base import TableRow
from engine.studies.bench import compared
from engine.studies.evolution_ablation.tables import BASE, RATE, TAU

HOLDS, FAILS = "holds", "does not hold"
COLUMNS = ["claim", "paper", "measure", "difference", "low", "high", "p", "p_corrected", "p_paired", "repeats",
           "verdict"]  # fmt: skip
WORSE_WITHOUT = {
    "length": "Without lengths the result is worse", "keywords": "Without key words the result is worse",
    "suppression": "Without suppression the result is worse",
}  # fmt: skip
ALL_VOTE = "Letting all vote (q = 1) is worse than sampling at the usual rate"
ALIKE, DISTANCE = "alike", "kid"


def claims(
    runs: pd.DataFrame, rounds: pd.DataFrame | None, summary: pd.DataFrame, comparison: pd.DataFrame
) -> pd.DataFrame:
    """Return a row a claim and measure, with its test and whether it holds.

    Args:
        runs: of the study. rounds: every round's population measured, or None. summary: means of the outputs.
        comparison: each change against the method as it is.
    """
    changed = [*_changed(runs, comparison)]
    others = compared.judged([*_over_rounds(rounds), *_thresholds(runs, summary)], COLUMNS)
    parts = [table for table in (pd.DataFrame(changed, columns=COLUMNS), others) if len(table)]
    made = pd.concat(parts, ignore_index=True) if parts else others
    made["verdict"] = made["verdict"].replace({compared.BETTER: HOLDS, compared.WORSE: FAILS})
    return made


def _changed(runs: pd.DataFrame, comparison: pd.DataFrame) -> Iterator[TableRow]:
    """Yield what is claimed of a change, as the comparison with the method as it is has it: worse means it holds."""
    turned = {compared.WORSE: HOLDS, compared.BETTER: FAILS}
    named = runs[["variant", "changed", "level"]].drop_duplicates("variant")
    for row in named.itertuples(index=False):
        claim, paper = WORSE_WITHOUT.get(str(row.changed), ""), "Table 3"
        if row.changed == RATE and row.level == 1.0:
            claim, paper = ALL_VOTE, "Figure 7"
        for _, found in comparison[(comparison["one"] == row.variant) & (comparison["other"] == BASE)].iterrows():
            if claim:
                verdict = turned.get(str(found["verdict"]), str(found["verdict"]))
                kept = {name: found[name] for name in COLUMNS if name in comparison and name != "measure"}
                yield {**kept, "claim": claim, "paper": paper, "measure": str(found["title"]), "verdict": verdict}


def _row(claim: str, paper: str, title: str, found: Difference, good: int) -> TableRow:
    """Return a claim's row; `good` is 1 where a difference above 0 speaks for it, else -1."""
    word = compared.UNTOLD if found.enough else compared.FEW
    if not min(found.first, found.second):
        word = compared.UNMEASURED
    return {"claim": claim, "paper": paper, "measure": title, "difference": found.value, "low": found.low,
            "high": found.high, "p": found.p, "p_corrected": math.nan, "p_paired": found.p_paired,
            "repeats": min(found.first, found.second), "verdict": word, "good": good}  # fmt: skip


def _against(runs: pd.DataFrame, one: str, other: str, measure: str) -> tuple[Difference, int, str] | None:
    """Return one minus other, 1 where more is better (else -1), and the measure's title; None where one has no run."""
    of = runs[runs["measure"] == measure]
    first, second = of[of["variant"] == one], of[of["variant"] == other]
    if first.empty or second.empty:
        return None
    ours, theirs = compared.scored(first), compared.scored(second)
    repeats = sorted(set(ours) | set(theirs))
    found = difference([ours.get(r, math.nan) for r in repeats], [theirs.get(r, math.nan) for r in repeats])
    better = 1 if first["direction"].iloc[0] == "higher is better" else -1
    return found, better, str(first["title"].iloc[0])


def _change(rounds: pd.DataFrame, variant: str, measure: str, to_real: bool) -> list[float]:
    """Return, a repeat, the last round's value minus the first one's; of distances from real text where asked."""
    part = rounds[(rounds["variant"] == variant) & (rounds["measure"] == measure)]
    values = (part["value"] - part["real"]).abs() if to_real else part["value"]
    table = part.assign(v=values).pivot(index="repeat", columns="round", values="v")
    if table.shape[1] < 2:
        return []
    return [float(x) for x in table.iloc[:, -1] - table.iloc[:, 0]]


def _over_rounds(rounds: pd.DataFrame | None) -> Iterator[TableRow]:
    if rounds is None or rounds["round"].nunique() < 2:
        return
    titles = dict(zip(rounds["measure"], rounds["title"], strict=True))
    if DISTANCE in titles:
        changes = _change(rounds, BASE, DISTANCE, False)
        yield _row("The text comes nearer to private text round by round", "Figure 4", titles[DISTANCE],
                   from_nothing(changes), -1)  # fmt: skip
    if ALIKE not in titles:
        return
    yield _row("With suppression, likeness among the texts comes nearer to that of private text", "Figure 3",
               titles[ALIKE], from_nothing(_change(rounds, BASE, ALIKE, True)), -1)  # fmt: skip
    for variant in rounds.loc[rounds["changed"] == "suppression", "variant"].unique():
        yield _row("Without suppression, likeness among the texts rises round by round", "Figure 3", titles[ALIKE],
                   from_nothing(_change(rounds, str(variant), ALIKE, False)), 1)  # fmt: skip


def _thresholds(runs: pd.DataFrame, summary: pd.DataFrame) -> Iterator[TableRow]:
    """Yield whether the threshold nearest to the private texts' own likeness beats each other one."""
    levels = runs.loc[runs["changed"] == TAU, ["variant", "level"]].drop_duplicates()
    real = summary.loc[summary["measure"] == ALIKE, "real"].dropna()
    if len(levels) < 2 or real.empty:
        return
    private = float(real.mean())
    near = str(levels["variant"].iloc[int((levels["level"].astype(float) - private).abs().argmin())])
    for other in levels["variant"]:
        found = None if other == near else _against(runs, near, str(other), _main(runs))
        if found is not None:
            claim = f"{near}, nearest to private text's own likeness ({private:.2f}), is better than {other}"
            yield _row(claim, "Figure 6", found[2], found[0], found[1])


def _main(runs: pd.DataFrame) -> str:
    """Return the measure that the paper judges by, or the first there is."""
    names = [str(name) for name in dict.fromkeys(runs["measure"])]
    return "next_word" if "next_word" in names else names[0]
