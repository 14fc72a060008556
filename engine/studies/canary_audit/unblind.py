"""Unblind a canary audit: guesses declared beforehand against coins, as bounds on ε, echo shares and signals.

What is guessed, by which score and how often is declared before a coin is looked at. The row that decides about the
claim is the one-run bound with declared guesses; the other rows are tests of their own, each at 95%, and show what
other assumptions would give. Red means that the lower bound exceeds the claim; everything else stays grey, for a lower
bound is never a certificate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.stats import intervals, roc
from engine.studies import audit_bounds as bounds
from engine.studies.base import TableRow

CONFIDENCE = 1.0 - bounds.MISS
Design = Literal["coin", "twin"]
Verdict = Literal["violation", "no violation seen", "no claim"]
MEASURED = ("exact", "run", "ngram", "nearest", "ranks")
SIGNALS = {
    "exact": "A whole secret echoed", "run": "Longest echo in a row", "ngram": "Word pairs", "nearest": "Nearest text",
    "ranks": "Mean rank of the three",
}  # fmt: skip
_STEINKE = "Steinke, Nasr and Jagielski 2023, theorem 5.2"
_CURVE = "Mahloujifar, Melis and Chaudhuri 2024, coins (k = 2)"
_TWO = "Jagielski, Ullman and Oprea 2020, section 4; Clopper and Pearson 1934"
INDEPENDENT = "canaries of one run do not influence one another"
GAUSSIAN = "the mechanism's trade-off curve is Gaussian"


@dataclass(frozen=True)
class Declaration:
    """What is fixed before any coin is looked at.

    Args:
        method: audited method. kind: of canaries. score: which one orders the canaries.
        canaries, repeats, copies: coins a run, runs, and how often a canary is planted.
        design: `coin` (in or out) or `twin` (which of two is in, for claims about a replaced record).
        guesses_in, guesses_out: highest and lowest scores guessed, in all runs together.
        delta: standard δ of the bounds.
        claim_epsilon, claim_delta: what the run claims about one canary with all its copies; None: no claim.
        unit, adjacency: of the claim. commitment: SHA-256 of the coins and a secret, made before the run.
    """

    method: str
    kind: str
    score: str
    canaries: int
    repeats: int
    copies: int
    design: Design
    guesses_in: int
    guesses_out: int
    delta: float
    claim_epsilon: float | None
    claim_delta: float | None
    unit: str
    adjacency: str
    commitment: str

    def table(self) -> pd.DataFrame:
        """Return the declaration as one row."""
        row = asdict(self) | {"confidence": CONFIDENCE}
        return pd.DataFrame([{k: math.nan if v is None else v for k, v in row.items()}])


@dataclass(frozen=True)
class Guesses:
    """Guesses of coins: score, coin, canary of each, all runs one after the other."""

    scores: NDArray[np.float64]
    coins: NDArray[np.bool_]
    canaries: NDArray[np.int64]

    def take(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Guesses:
        """Return the coins named by `rows`."""
        return Guesses(self.scores[rows], self.coins[rows], self.canaries[rows])


def guess(scores: NDArray[np.float64], high: int, low: int, seed: int) -> NDArray[np.int8]:
    """Return 1 (in) for the `high` highest scores, -1 (out) for the `low` lowest, 0 (abstained) for the rest.

    Ties are broken by chance, and not by the coins, which this does not see.
    """
    order = np.lexsort((np.random.default_rng([seed, 23]).random(len(scores)), scores))
    made = np.zeros(len(scores), np.int8)
    made[order[: min(low, len(scores))]] = -1
    if high:
        made[order[-high:]] = 1
    return made


def right(guesses: NDArray[np.int8], coins: NDArray[np.bool_]) -> int:
    """Return how many guesses are right."""
    return int(((guesses == 1) & coins).sum() + ((guesses == -1) & ~coins).sum())


def unblind(
    declared: Declaration, scores: pd.DataFrame, coins: NDArray[np.bool_], seed: int
) -> dict[str, pd.DataFrame]:
    """Return the tables `declaration`, `bounds`, `canaries`, `echo` and `signals`.

    Args:
        declared: as it was before the run.
        scores: a row a canary and run: repeat, canary, exact, run, ngram, nearest, ranks. With twins the canaries
            m .. 2 m - 1 are the second ones.
        coins: bool array (repeats, m), True = in (with twins: the first is in).
        seed: breaks ties and splits the canaries; public.
    """
    members = _members(declared, scores, coins)
    material = _material(declared, members, coins)
    made = guess(material.scores, declared.guesses_in, declared.guesses_out, seed)
    return {
        "declaration": declared.table(),
        "bounds": pd.DataFrame(_bounds(declared, material, made, seed)),
        "canaries": _listed(declared, members, made),
        "echo": _echo(members),
        "signals": _signals(declared, members),
    }


def _members(declared: Declaration, scores: pd.DataFrame, coins: NDArray[np.bool_]) -> pd.DataFrame:
    """Return the scores with `in`, ordered by run and canary."""
    table = scores.sort_values(["repeat", "canary"], kind="stable").reset_index(drop=True)
    inside = coins if declared.design == "coin" else np.concatenate([coins, ~coins], axis=1)
    return table.assign(**{"in": inside.reshape(-1)})


def _material(declared: Declaration, members: pd.DataFrame, coins: NDArray[np.bool_]) -> Guesses:
    """Return one score a coin: of the canary, or of the first twin less that of the second."""
    repeats, m = coins.shape
    values = members[declared.score].to_numpy(np.float64).reshape(repeats, -1)
    if declared.design == "twin":
        values = values[:, :m] - values[:, m:]
    return Guesses(values.reshape(-1), coins.reshape(-1), np.tile(np.arange(m), repeats))


def _bounds(declared: Declaration, all_coins: Guesses, made: NDArray[np.int8], seed: int) -> list[TableRow]:
    m, v, r = len(all_coins.coins), right(made, all_coins.coins), int((made != 0).sum())
    delta = declared.delta
    first, second = _halves(all_coins, seed)
    high, low = best_numbers(first, delta, seed)
    split = guess(second.scores, high, low, seed)
    sm, sv, sr = len(second.coins), right(split, second.coins), int((split != 0).sum())
    counts, sizes = _hits(second, threshold(first, delta))
    rows = [
        _row(declared, "one-run", "One run, guesses declared", m, r, v, bounds.one_run_epsilon(m, r, v, delta),
             bounds.one_run_epsilon(m, r, r, delta), _STEINKE, decides=True),
        _row(declared, "one-run curve", "One run, trade-off curve", m, r, v, bounds.curve_epsilon(m, r, v, delta),
             bounds.curve_epsilon(m, r, r, delta), _CURVE),
        _row(declared, "one-run split", "One run, number of guesses chosen on the other half", sm, sr, sv,
             bounds.one_run_epsilon(sm, sr, sv, delta), bounds.one_run_epsilon(sm, sr, sr, delta), _STEINKE),
        _two_sample(declared, counts, sizes),
    ]  # fmt: skip
    if delta > 0.0:
        rows += [
            _row(declared, "one-run gaussian", "One run, Gaussian curve", m, r, v,
                 bounds.gaussian_epsilon(bounds.curve_mu(m, r, v), delta),
                 bounds.gaussian_epsilon(bounds.curve_mu(m, r, r), delta), _CURVE, GAUSSIAN),
            _two_sample(declared, counts, sizes, gaussian=True),
        ]  # fmt: skip
    return rows


def _two_sample(
    declared: Declaration, counts: tuple[int, int], sizes: tuple[int, int], gaussian: bool = False
) -> TableRow:
    """Return the row of the two-sample bound; with `gaussian` that of the μ behind the same shares."""
    delta, (hits_in, hits_out), (total_in, total_out) = declared.delta, counts, sizes
    if gaussian:
        found = bounds.gaussian_epsilon(bounds.two_sample_mu(hits_in, total_in, hits_out, total_out), delta)
        ceiling = bounds.gaussian_epsilon(bounds.two_sample_mu(total_in, total_in, 0, total_out), delta)
        name, title = "two-sample gaussian", "Two samples, Gaussian curve"
        source, assumption = f"Nasr et al. 2023; {_TWO}", f"{INDEPENDENT}; {GAUSSIAN}"
    else:
        found = bounds.two_sample_epsilon(hits_in, total_in, hits_out, total_out, delta)
        ceiling = bounds.two_sample_epsilon(total_in, total_in, 0, total_out, delta)
        name, title, source, assumption = "two-sample", "Two samples, threshold from the other half", _TWO, INDEPENDENT
    n = total_in + total_out
    row = _row(declared, name, title, n, n, hits_in + total_out - hits_out, found, ceiling, source, assumption)
    return row | {"tpr": hits_in / max(1, total_in), "fpr": hits_out / max(1, total_out)}


def _row(
    declared: Declaration, name: str, title: str, canaries: int, guesses: int, correct: int, found: float,
    ceiling: float, source: str, assumption: str = "", *, decides: bool = False,
) -> TableRow:  # fmt: skip
    claim = declared.claim_epsilon
    p_value, delta = math.nan, declared.claim_delta or 0.0
    if claim is not None and name in ("one-run", "one-run split"):
        p_value = bounds.one_run_p_value(canaries, guesses, correct, claim, delta)
    elif claim is not None and name == "one-run curve":
        p_value = bounds.curve_p_value(canaries, guesses, correct, bounds.pure_inverse(claim, delta))
    return {
        "method": declared.method, "bound": name, "title": title, "epsilon_lower": found, "ceiling": ceiling,
        "claim": math.nan if claim is None else claim, "verdict": verdict(found, claim), "decides": decides,
        "p_value": p_value, "delta": declared.delta, "confidence": CONFIDENCE, "canaries": canaries,
        "guesses": guesses, "right": correct, "tpr": math.nan, "fpr": math.nan, "assumption": assumption,
        "source": source,
    }  # fmt: skip


def verdict(epsilon_lower: float, claim: float | None) -> Verdict:
    """Return `violation` where the bound exceeds the claim; nothing here ever confirms one."""
    if claim is None:
        return "no claim"
    return "violation" if epsilon_lower > claim else "no violation seen"


def _halves(material: Guesses, seed: int) -> tuple[Guesses, Guesses]:
    """Return two halves; all runs of one canary lie in the same."""
    m = int(material.canaries.max()) + 1
    first = np.zeros(m, bool)
    first[np.random.default_rng([seed, 29]).permutation(m)[: m // 2]] = True
    chosen = first[material.canaries]
    return material.take(chosen), material.take(~chosen)


def best_numbers(material: Guesses, delta: float, seed: int) -> tuple[int, int]:
    """Return how many highest and lowest scores give the largest bound on these coins; for use on other coins."""
    n = len(material.coins)
    sizes = sorted({max(1, round(share * n)) for share in (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)})
    best, found = (max(1, n // 4), 0), 0.0  # a quarter, where no number gives a bound
    for high in (0, *sizes):
        for low in (0, *sizes):
            if not 0 < high + low <= n:
                continue
            made = guess(material.scores, high, low, seed)
            value = bounds.one_run_epsilon(n, high + low, right(made, material.coins), delta)
            if value > found:
                best, found = (high, low), value
    return best


def threshold(material: Guesses, delta: float) -> float:
    """Return the score above which the two-sample bound is largest on these coins; for use on other coins."""
    values = np.unique(material.scores)
    edges = values[np.unique(np.linspace(0, len(values) - 1, 200).astype(int))]
    gains = [bounds.two_sample_epsilon(*_interleaved(material, edge), delta) for edge in edges]
    return float(np.median(values)) if max(gains) == 0.0 else float(edges[int(np.argmax(gains))])


def _interleaved(material: Guesses, edge: float) -> tuple[int, int, int, int]:
    (hits_in, hits_out), (total_in, total_out) = _hits(material, edge)
    return hits_in, total_in, hits_out, total_out


def _hits(material: Guesses, edge: float) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return scores at or above the edge, in and out, and how many there are of each."""
    above, coins = material.scores >= edge, material.coins
    return (int((above & coins).sum()), int((above & ~coins).sum())), (int(coins.sum()), int((~coins).sum()))


def _listed(declared: Declaration, members: pd.DataFrame, made: NDArray[np.int8]) -> pd.DataFrame:
    """Return a row a canary and run with its scores and the guess; twins share the guess, turned over."""
    words = np.array(["out", "none", "in"], dtype=object)
    turned = made.reshape(declared.repeats, -1)
    both = turned if declared.design == "coin" else np.concatenate([turned, -turned], axis=1)
    table = members.assign(kind=declared.kind, guess=words[both.reshape(-1) + 1])
    return table[["repeat", "canary", "kind", "in", "guess", *MEASURED]].reset_index(drop=True)


def _echo(members: pd.DataFrame) -> pd.DataFrame:
    """Return the shares of canaries echoed whole and by half, in and out, with intervals over canaries."""
    rows = []
    hits: Mapping[str, pd.Series] = {"whole": members["exact"].astype(bool), "half": members["run"] >= 0.5}
    for name, hit in hits.items():
        for side, chosen in (("in", members["in"]), ("out", ~members["in"])):
            part = intervals.share(hit[chosen].to_numpy(bool), members.loc[chosen, "canary"].to_numpy(object))
            rows.append({"side": side, "echo": name, "share": part.value, "low": part.low, "high": part.high,
                         "canaries": part.n})  # fmt: skip
    return pd.DataFrame(rows)


def _signals(declared: Declaration, members: pd.DataFrame) -> pd.DataFrame:
    """Return each score's AUC of in against out; chance is 0.5."""
    rows = []
    inside, groups = members["in"].to_numpy(bool), members["canary"].to_numpy(object)
    several = declared.repeats > 1
    for name in MEASURED:
        values = members[name].to_numpy(np.float64)
        area = roc.auc(
            values[inside], values[~inside],
            member_groups=groups[inside] if several else None, other_groups=groups[~inside] if several else None,
        )  # fmt: skip
        rows.append({"score": name, "title": SIGNALS[name], "auc": area.value, "low": area.low, "high": area.high,
                     "in": int(inside.sum()), "out": int((~inside).sum()), "declared": name == declared.score,
                     "interval": area.method})  # fmt: skip
    return pd.DataFrame(rows)
