"""What noisy votes can tell apart, before any private text is looked at.

How votes spread over candidates depends on the geometry of embeddings, so it is taken from public text (the made-up
sample corpora): half of it votes for the other half. The number of votes a candidate gets is the run's own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.dp.accounting.closed_form import noise_multiplier
from engine.json_types import JSONObject
from engine.methods.advice.budget_figures import Answer, Question, row
from engine.methods.advice.sizes import dense_signal
from engine.methods.base import Facts
from engine.methods.evolution.dpga_elite import NEIGHBOURS

if TYPE_CHECKING:
    from engine.models.contracts import Embedder

OUTPUTS = 500  # where the request names no count
TEXTS = 400  # public texts that vote, and as many that are voted for
WORDS = 60  # read of each of them
REPEATS = 40
CLUSTERS = 50
LITTLE = 0.2  # of the way from chance to no noise
_SAMPLES = {"clinical": ("clinic_letters",), "legal": ("court_decisions",), "reviews": ("support_tickets",)}
_EVERY = ("clinic_letters", "support_tickets", "court_decisions")
_KNOWN: dict[tuple[str, tuple[str, ...]], NDArray[np.float64]] = {}


def vote_signal(request: Question, embedder: Embedder) -> Answer:
    """Return `rows` (figure, value, reference) and `advice` for a run that votes.

    Args:
        request: the run as it is planned. embedder: of the run.
    """
    if request["method"] == "private-prediction":
        from engine.methods.prediction.claim import figures
        from engine.methods.prediction.parameters import PrivatePredictionParameters

        return figures(
            PrivatePredictionParameters.model_validate(dict(request["parameters"])), Facts(**request["facts"])
        )
    if request["method"] == "dp-finetune":
        from engine.methods.tuned import claim as dp_finetune_claim

        return dp_finetune_claim.figures(request)
    noise, facts = request["noise"], request["facts"]
    if request["method"] == "dp-topics":
        return _topic_figures(request)
    if request["method"] == "dp-steer":
        return _steer_figures(request)
    rows: list[dict[str, str]] = []
    advice: list[str] = []
    if "labels" in noise:
        each = facts["records"] / max(1, facts["labels"])
        error = noise["labels"]["sigma"] / max(each, 1e-9)
        rows.append(row("Error of a label's count", f"{error:.1%}", f"of {each:,.0f} records a label on average"))
        if error > 0.25:
            advice.append("The label shares will be rough: raise their share of the budget, or declare them public.")
    if "votes" in noise and request["parameters"].get("votes") == "dense":
        candidates, _ = population(request["method"], request["parameters"], int(request.get("count") or OUTPUTS))
        signal = dense_signal(facts["units"], candidates, float(noise["votes"]["sigma"]))
        rows.append(row("Dense votes over their noise, where records agree", f"{signal:.2g}", "at least 1 is useful"))
    elif "votes" in noise:
        found, sentences = _votes(request, float(noise["votes"]["sigma"]), embedder)
        rows += found
        advice += sentences
        rows.append(_clusters(request, embedder))
    return {"rows": rows, "advice": advice}


def _steer_figures(request: Question) -> Answer:
    """Return how long the noise on a mean difference is."""
    from engine.methods.steer.claim import NUMBERS

    p, units = request["parameters"], max(1, request["facts"]["units"])
    each = float(request["noise"]["sum"]["sigma"]) / units
    size = int(number(p, "layers", 1) * (number(p, "basis", 0) or NUMBERS))
    return {
        "rows": [
            row("Noise on each number of the mean", f"{each:.2g}", "of the longest difference one unit can have"),
            row("Noise on the whole of it", f"{each * math.sqrt(size):.2g}", f"with {size:,} numbers; 0.5 is usual"),
        ],
        "advice": [],
    }


def _topic_figures(request: Question) -> Answer:
    """Return what the noise of a histogram of topics hides."""
    level, p = request["noise"]["histogram"], request["parameters"]
    least = number(p, "threshold", 2.0) * float(level["sigma"])
    share = least / max(1, request["facts"]["units"])
    return {
        "rows": [
            row("Noise of a count", f"{float(level['sigma']):.3g}", "records, one standard deviation"),
            row("Smallest topic that is seen", f"{least:,.0f}", f"records: {min(1.0, share):.1%} of the corpus"),
        ],
        "advice": [],
    }


def _votes(request: Question, sigma: float, embedder: Embedder) -> tuple[list[dict[str, str]], list[str]]:
    method, parameters, facts = request["method"], request["parameters"], request["facts"]
    candidates, keep = population(method, parameters, int(request.get("count") or OUTPUTS))
    voters = facts["records"] * number(parameters, "sampling_rate", 1.0)
    each = voters / candidates
    shares = _geometry(embedder, str(parameters.get("domain", "generic")))
    smoothing = math.sqrt(NEIGHBOURS) if method == "dp-select" else 1.0  # noise of a mean over near candidates
    clean, noisy = kept_share(shares, each, keep, 0.0), kept_share(shares, each, keep, sigma / smoothing)
    rows = [
        row("Votes a candidate gets, on average", f"{each:.2g}", f"noise of σ = {sigma:.3g} on each"),
        row(
            f"Votes that the best {keep:.0%} of candidates keep", f"{noisy:.2f}",
            f"{clean:.2f} without noise, {keep:.2f} by chance",
        ),
    ]  # fmt: skip
    if noisy - keep >= LITTLE * (clean - keep):
        return rows, []
    sentence = (
        f"At this budget the kept candidates hold {noisy:.2f} of the votes, where chance keeps {keep:.2f} and votes "
        f"without noise {clean:.2f}: it buys almost nothing. Ask for fewer outputs or rounds, or a larger ε"
    )
    return rows, [sentence + (", or let private texts vote for clusters." if method == "aug-pe" else ".")]


def population(method: str, parameters: JSONObject, count: int) -> tuple[int, float]:
    """Return how many candidates are voted for in a round, and which share of them is kept."""
    parameters = {name: value for name, value in parameters.items() if not name.startswith("filter_")}  # of a wrapper
    if method == "aug-pe":
        size = int(number(parameters, "variations", 1))
        return count * size, 1.0 / size
    if method == "dpga":
        from engine.methods.evolution.parameters import DpgaParameters, sizes_of

        sizes = sizes_of(DpgaParameters.model_validate(dict(parameters)), count)
        return sizes["population"], sizes["elite"] / sizes["population"]
    if method == "dp-select":
        promise = parameters.get("promise")
        texts = max(int(number(promise, "texts", 1)) if isinstance(promise, Mapping) else 1, count)
        return texts, count / texts
    size = int(number(parameters, "candidates", 10))
    if method == "rpsg-public":
        from engine.methods.rpsg.parameters import RpsgPublicParameters

        count = RpsgPublicParameters.model_validate(dict(parameters)).wanted(count)
    return count * size, 1.0 / size


def number(parameters: JSONObject, name: str, default: float) -> float:
    """Return a parameter as a number, or the default where it is none."""
    value = parameters.get(name, default)
    return float(value) if isinstance(value, int | float) else default


def kept_share(shares: NDArray[np.float64], votes_each: float, keep: float, sigma: float) -> float:
    """Return which share of the votes the best candidates by noisy votes truly have.

    Args:
        shares: each candidate's share of public votes, shape (c,), adding up to 1.
        votes_each: votes a candidate on average. keep: share of candidates kept. sigma: noise of each count.
    """
    rng = np.random.default_rng(0)
    count = max(1, round(keep * len(shares)))
    found = []
    for _ in range(REPEATS):
        votes = rng.multinomial(max(1, round(votes_each * len(shares))), shares)
        seen = votes + rng.normal(0.0, sigma, len(shares)) if sigma > 0.0 else votes + rng.uniform(0, 0.5, len(shares))
        found.append(votes[np.argsort(-seen)[:count]].sum() / votes.sum())
    return float(np.mean(found))


def _clusters(request: Question, embedder: Embedder) -> dict[str, str]:
    """Return the error of a histogram over coarse clusters, bought once with the whole budget."""
    facts = request["facts"]
    shares = _geometry(embedder, str(request["parameters"].get("domain", "generic")))
    coarse = np.sort(shares)[: len(shares) - len(shares) % CLUSTERS].reshape(CLUSTERS, -1).sum(axis=1)
    coarse = coarse / coarse.sum()
    cap = facts["cap"] if facts["unit"] == "source" else 1
    sigma = noise_multiplier(float(request["epsilon"]), float(request["delta"])) * cap
    rng = np.random.default_rng(1)
    errors = []
    for _ in range(REPEATS):
        seen = np.maximum(coarse * facts["records"] + rng.normal(0.0, sigma, CLUSTERS), 0.0)
        errors.append(0.5 * np.abs(seen / max(seen.sum(), 1e-9) - coarse).sum())
    return row(
        f"Error of a histogram of {CLUSTERS} clusters, bought once", f"{np.mean(errors):.2%}",
        "total variation, 0 to 100%",
    )  # fmt: skip


def _geometry(embedder: Embedder, domain: str) -> NDArray[np.float64]:
    """Return each public candidate's share of the public texts that are nearest to it, shape (TEXTS,)."""
    names = _SAMPLES.get(domain, _EVERY)
    if (embedder.id, names) not in _KNOWN:
        _KNOWN[embedder.id, names] = _nearest_shares(embedder, names)
    return _KNOWN[embedder.id, names]


def _nearest_shares(embedder: Embedder, names: tuple[str, ...]) -> NDArray[np.float64]:
    from engine.corpus.samples import load_sample

    texts = [
        " ".join(str(text).split()[:WORDS])
        for name in names
        for text in load_sample(name)["text"].head(-(-2 * TEXTS // len(names)))
    ]
    order = np.random.default_rng(0).permutation(len(texts))[: 2 * TEXTS]
    rows = embedder.embed([texts[i] for i in order])
    half = len(rows) // 2
    nearest = (rows[:half] @ rows[half:].T).argmax(axis=1)
    return np.bincount(nearest, minlength=len(rows) - half) / half
