"""How far apart two sets of sentence embeddings lie: kernel, Fréchet and transport distance, neighbourhoods, clusters.

Rows are unit vectors, so a product of two rows is their cosine. All of it is of our embeddings, not of those that
papers used: values are compared with each other here, never with published ones.
"""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from engine.errors import InternalError
from engine.examine.stats.intervals import group_numbers
from engine.examine.usefulness.base import Sample, Value, left
from engine.examine.usefulness.meaning.embeddings import embedded
from engine.examine.usefulness.meaning.frechet import frechet, principal_axes
from engine.examine.usefulness.one_thread import one_thread

Rows = NDArray[np.float32]

NEIGHBOURS = 5
CLUSTERS = 40
TEXTS_A_CLUSTER = 10
PROJECTIONS = 128
PERMUTATIONS = 499
SHARES = (0.4, 0.55, 0.7, 0.85, 1.0)  # of the sample, for the Fréchet distance at growing n
# Texts a side from which each is reported; what an interval leaves of them is still enough to estimate it.
LEAST_FRECHET = 80
LEAST_NEIGHBOURS = 20
LEAST_CLUSTERS = 40


def kernel(one: Rows, two: Rows) -> NDArray[np.float64]:
    """Return (1 + cosine)³ for each pair of rows, float array (n, m).

    Source: Bińkowski et al. 2018 (Demystifying MMD GANs), section 4, with rows of length one in place of features of
    d values divided by d.
    """
    products = one.astype(np.float64) @ two.astype(np.float64).T
    return (1.0 + products) ** 3


def kid(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return the kernel distance (squared maximum mean discrepancy): unbiased, so equal sources vary around 0.

    Source: Gretton et al. 2012 (A kernel two-sample test), equation 3; Bińkowski et al. 2018, section 4.
    """
    ours, theirs = embedded(sample), embedded(target)
    if min(len(ours), len(theirs)) < 2:
        return Value(float("nan"))
    return Value(
        _inside(kernel(ours, ours)) + _inside(kernel(theirs, theirs)) - 2.0 * float(kernel(ours, theirs).mean())
    )


def _inside(matrix: NDArray[np.float64]) -> float:
    """Return the mean over pairs of different texts."""
    n = len(matrix)
    return float((matrix.sum() - np.trace(matrix)) / (n * (n - 1)))


def chance_of_kid(sample: Sample, target: Sample, seed: int, permutations: int = PERMUTATIONS) -> float:
    """Return how often sides drawn anew from all units together are as far apart, in (0, 1].

    Whole units change sides, so that several texts of one person are not counted as several witnesses; where a side
    would keep fewer than two texts the draw counts as farther apart.

    Source: Gretton et al. 2012, section 5; the count includes the observed order (Phipson and Smyth 2010, equation 2).
    """
    ours, theirs = embedded(sample), embedded(target)
    rows = np.concatenate([ours, theirs])
    codes = np.concatenate([group_numbers(sample.units), group_numbers(target.units)])
    codes[len(ours) :] += codes[: len(ours)].max() + 1
    matrix = kernel(rows, rows)
    units = int(codes.max()) + 1
    first_units = len(np.unique(codes[: len(ours)]))
    rng = np.random.default_rng(seed)
    sides = np.zeros((permutations + 1, len(rows)))
    sides[0, : len(ours)] = 1.0
    for draw in sides[1:]:
        chosen = np.zeros(units)
        chosen[rng.permutation(units)[:first_units]] = 1.0
        draw[:] = chosen[codes]
    distances = _distances(matrix, sides)
    return float(np.mean(distances >= distances[0] - 1e-12))


def _distances(matrix: NDArray[np.float64], sides: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the unbiased distance for each way to cut the texts in two, rows of zeros and ones."""
    own, total = np.diag(matrix), matrix.sum()
    product = sides @ matrix
    n = sides.sum(axis=1)
    m = len(matrix) - n
    inside = (product * sides).sum(axis=1)
    across = product.sum(axis=1) - inside
    outside = total - inside - 2.0 * across
    trace = sides @ own
    with np.errstate(divide="ignore", invalid="ignore"):
        first = (inside - trace) / (n * (n - 1))
        second = (outside - (own.sum() - trace)) / (m * (m - 1))
        found = first + second - 2.0 * across / (n * m)
    return np.where(np.minimum(n, m) < 2, np.inf, found)


def frechet_extrapolated(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return the Fréchet distance at ever more texts: the intercept of a line through its values over 1 / n.

    The plain distance falls with n also where both sides are equal; what is left at 1 / n = 0 does not. It may be a
    little below 0. The axes are at most 64 principal ones of the target, a quarter of the smallest sample.

    Source: Chong and Forsyth 2020 (Effectively unbiased FID), section 4; Heusel et al. 2017, equation 6.
    """
    ours, theirs = embedded(sample), embedded(target)
    size = min(len(ours), len(theirs))
    if size < left(LEAST_FRECHET):
        return Value(float("nan"))
    axes, centre = principal_axes(theirs, round(SHARES[0] * size) // 4)
    one, two = ((rows[_order(rows, seed)] - centre) @ axes.T for rows in (ours, theirs))
    sizes = np.array([round(share * size) for share in SHARES])
    distances = [frechet(one[:n], two[:n]) for n in sizes]
    slope, intercept = np.polyfit(1.0 / sizes, distances, 1)
    del slope
    return Value(float(intercept))


def _order(rows: Rows, seed: int) -> NDArray[np.int64]:
    """Return an order that looks random and stays that of the others where rows are left out.

    Equal rows are numbered, so that copies are spread as other rows are.
    """
    key, met = str(seed).encode()[:64], Counter[bytes]()
    digests = np.empty(len(rows), np.uint64)
    for i, row in enumerate(rows):
        content = row.tobytes()
        met[content] += 1
        digest = hashlib.blake2b(content + met[content].to_bytes(4, "big"), key=key, digest_size=8).digest()
        digests[i] = int.from_bytes(digest, "big")
    return np.argsort(digests, kind="stable").astype(np.int64)


def _reach(rows: Rows) -> NDArray[np.float64]:
    """Return the squared distance from each row to its fifth nearest other row."""
    apart = _apart(rows, rows)
    np.fill_diagonal(apart, np.inf)
    return np.partition(apart, NEIGHBOURS - 1, axis=1)[:, NEIGHBOURS - 1]


def _apart(one: Rows, two: Rows) -> NDArray[np.float64]:
    return np.maximum(0.0, 2.0 - 2.0 * (one.astype(np.float64) @ two.astype(np.float64).T))


def _near(sample: Sample, target: Sample) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Return, for each pair (a text of `sample`, one of `target`), whether it lies in reach of the one of `target`,
    and whether that one lies in reach of it; None for too few texts."""
    ours, theirs = embedded(sample), embedded(target)
    if min(len(ours), len(theirs)) < left(LEAST_NEIGHBOURS):
        return None
    apart = _apart(ours, theirs)
    slack = 1e-6  # of float32 rows: a text lies in reach of its own copy
    return apart <= _reach(theirs) + slack, apart <= _reach(ours)[:, None] + slack


def precision(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return the share of texts that lie in reach of a real text: within its distance to its fifth nearest other.

    Source: Kynkäänniemi et al. 2019 (Improved precision and recall), equations 1 and 2.
    """
    near = _near(sample, target)
    return Value(float("nan") if near is None else float(near[0].any(axis=1).mean()))


def recall(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return the share of real texts that lie in reach of a text of the sample.

    Source: Kynkäänniemi et al. 2019, equations 1 and 2, with the sides exchanged.
    """
    near = _near(sample, target)
    return Value(float("nan") if near is None else float(near[1].any(axis=0).mean()))


def balance(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return the harmonic mean of precision and recall (F1), in [0, 1]."""
    one, two = precision(sample, target).value, recall(sample, target).value
    if one != one or two != two:
        return Value(float("nan"))
    return Value(2.0 * one * two / (one + two) if one + two else 0.0)


def density(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return in how many real texts' reach a text lies, over five: about 1 where both come from one source.

    Source: Naeem et al. 2020 (Reliable fidelity and diversity metrics), equation 4.
    """
    near = _near(sample, target)
    return Value(float("nan") if near is None else float(near[0].sum(axis=1).mean()) / NEIGHBOURS)


def coverage(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return the share of real texts with a text of the sample in reach.

    Source: Naeem et al. 2020, equation 5.
    """
    near = _near(sample, target)
    return Value(float("nan") if near is None else float(near[0].any(axis=0).mean()))


def cover(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return the mean over real texts of the cosine to the nearest text of the sample, in [-1, 1]."""
    ours, theirs = embedded(sample), embedded(target)
    if not len(ours) or not len(theirs):
        return Value(float("nan"))
    return Value(float((theirs @ ours.T).max(axis=1).astype(np.float64).mean()))


def sliced_wasserstein(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return the root of the mean squared 2-Wasserstein distance over 128 random directions; equally many texts a side.

    Source: Bonneel et al. 2015 (Sliced and Radon Wasserstein barycenters), section 2.
    """
    ours, theirs = embedded(sample), embedded(target)
    size = min(len(ours), len(theirs))
    if size < 2:
        return Value(float("nan"))
    directions = np.random.default_rng(seed).normal(size=(ours.shape[1], PROJECTIONS))
    directions /= np.linalg.norm(directions, axis=0)
    one, two = np.sort(ours[:size] @ directions, axis=0), np.sort(theirs[:size] @ directions, axis=0)
    return Value(float(np.sqrt(np.square(one - two).mean())))


def clustered(rows: Rows, seed: int) -> Rows | None:
    """Return the centres of k-means on real texts: a cluster for ten of them, 40 at most; None for too few texts."""
    if len(rows) < LEAST_CLUSTERS:
        return None
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    number = min(CLUSTERS, len(rows) // TEXTS_A_CLUSTER)
    with one_thread(__name__), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # many equal texts leave clusters empty, which is no fault
        found = KMeans(number, n_init=1, random_state=seed % 2**32).fit(rows)
    centres: Rows = found.cluster_centers_.astype(np.float32)
    return centres


def cluster_shares(sample: Sample, target: Sample, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the share of each side in each cluster, with half a text added to each; None for too few texts.

    The clusters are those that the examination made of both halves of the real text; without them, of the target.
    """
    ours, theirs = embedded(sample), embedded(target)
    centres = sample.centres if sample.centres is not None else clustered(theirs, seed)
    if centres is None or not len(ours) or not len(theirs):
        return None
    shares = []
    for rows in (ours, theirs):
        place = _nearest(rows, centres)
        counts = np.bincount(place, minlength=len(centres)) + 0.5
        shares.append(counts / counts.sum())
    return shares[0], shares[1]


def _nearest(rows: Rows, centres: Rows) -> NDArray[np.int64]:
    return np.asarray(np.argmax(rows @ centres.T - 0.5 * np.square(centres).sum(axis=1), axis=1), np.int64)


def nearest_cluster(sample: Sample) -> NDArray[np.int64]:
    """Return the cluster each text stands in, int64 (n,).

    Raises:
        InternalError: the sample has no embeddings or no clusters.
    """
    if sample.centres is None:
        raise InternalError("these texts have no clusters to stand in")
    return _nearest(embedded(sample), sample.centres)


def missed_topics(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return the Kullback-Leibler divergence of the sample's cluster shares from the real ones, bits: what is left out.

    Source: Kullback and Leibler 1951, equation 2.4, base 2; half a text added a cluster (Krichevsky, Trofimov 1981).
    """
    shares = cluster_shares(sample, target, seed)
    return Value(float("nan") if shares is None else float(np.sum(shares[1] * np.log2(shares[1] / shares[0]))))


def added_topics(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return the Kullback-Leibler divergence of the real cluster shares from the sample's, bits: what is too much.

    Source: as `missed_topics`, with the sides exchanged.
    """
    shares = cluster_shares(sample, target, seed)
    return Value(float("nan") if shares is None else float(np.sum(shares[0] * np.log2(shares[0] / shares[1]))))


def topic_shift(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return the total variation of cluster shares, in [0, 1]: the share of texts that stand in the wrong cluster."""
    shares = cluster_shares(sample, target, seed)
    return Value(float("nan") if shares is None else 0.5 * float(np.abs(shares[0] - shares[1]).sum()))


def topic_divergence(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return the Jensen-Shannon divergence of cluster shares, bits, in [0, 1].

    Source: Lin 1991, equation 3.6, base 2.
    """
    from engine.examine.usefulness.wording.ngrams import jensen_shannon

    shares = cluster_shares(sample, target, seed)
    return Value(float("nan") if shares is None else jensen_shannon(*shares))
