"""Membership scores from a language model trained on the synthetic text: numbers in, one score a record out.

Every score is higher for records that look more like members. Log-probabilities are natural, a token. Sources: Yeom
et al. 2018; Carlini et al. 2021 (Extracting training data from large language models) and 2022 (Membership inference
attacks from first principles); Shi et al. 2024 (Min-K %); Zhang et al. 2024 (Min-K %++); Xie et al. 2024 (ReCaLL);
Zarifzadeh et al. 2024 (RMIA); Mireshghallah et al. 2022 for REFER on masked and causal models.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
K = 0.2
_TINY = 1e-6


def perplexity(tokens: Sequence[Floats]) -> Floats:
    """Return each record's mean log-probability: minus the log of its perplexity (PPL).

    Args:
        tokens: a record, float (3, T): log-probability of each token, and mean and spread of all tokens' there.

    Source: Yeom et al. 2018, section 3.2 (a threshold on the loss); Carlini et al. 2021, section 4.
    """
    return np.array([float(one[0].mean()) for one in tokens])


def reference(own: Floats, public: Floats) -> Floats:
    """Return how much likelier a record is than to a model that never saw the release (REFER).

    Args:
        own, public: (n,), log-probability of each record a token, both over the same number of tokens.

    Source: Carlini et al. 2021, section 5.2.
    """
    return own - public


def compressed(tokens: Sequence[Floats], texts: Sequence[str]) -> Floats:
    """Return the log-probability of each record over its size compressed by zlib, nats a byte.

    Source: Carlini et al. 2021, section 5.2.
    """
    sizes = [len(zlib.compress(text.encode("utf-8", "surrogatepass"))) for text in texts]
    return np.array([float(one[0].sum()) / size for one, size in zip(tokens, sizes, strict=True)])


def least_likely(tokens: Sequence[Floats], share: float = K) -> Floats:
    """Return the mean log-probability of each record's least likely tokens (Min-K %).

    Source: Shi et al. 2024, section 3, equation 1; share = 20% is its default.
    """
    return np.array([_lowest(one[0], share) for one in tokens])


def least_likely_standardised(tokens: Sequence[Floats], share: float = K) -> Floats:
    """Return the same of (log-probability - mean) / spread over all tokens that could stand there (Min-K %++).

    Source: Zhang et al. 2024, equation 3.
    """
    return np.array([_lowest((one[0] - one[1]) / np.maximum(one[2], _TINY), share) for one in tokens])


def _lowest(values: Floats, share: float) -> float:
    count = max(1, math.ceil(share * len(values)))
    return float(np.partition(values, count - 1)[:count].mean())


def behind_prefix(behind: Floats, alone: Floats) -> Floats:
    """Return log-probability behind a prefix of an unused record / alone (ReCaLL); members suffer more from it.

    Source: Xie et al. 2024, section 3, equation 1.
    """
    return behind / np.minimum(alone, -_TINY)


def likelihood_ratio(own: Floats, shadows: Floats, out: NDArray[np.bool_]) -> Floats:
    """Return how far a record's log-probability lies above what models without its nearest text give it (LIRA).

    Args:
        own: (n,), under the attacked model. shadows: (models, n). out: bool (models, n), which models were trained
            without what the record may have left in the synthetic text; at least one a record.

    The offline test against a normal distribution of each record's own mean and one pooled variance: with few models
    a record's own variance is too noisy.
    Source: Carlini et al. 2022, section V (offline), section VI-C (pooled variance).
    """
    counts = out.sum(axis=0)
    mean = np.where(out, shadows, 0.0).sum(axis=0) / counts
    residual = np.where(out, shadows - mean, 0.0)
    degrees = max(1, int(counts.sum()) - out.shape[1])
    return np.asarray((own - mean) / max(_TINY, math.sqrt(float((residual**2).sum()) / degrees)))


def robust_ratio(own: Floats, shadows: Floats, out: NDArray[np.bool_], population: NDArray[np.bool_]) -> Floats:
    """Return the share of population records z that x beats: (p(x) / p_out(x)) / (p(z) / p_out(z)) > 1 (RMIA).

    Args:
        own, shadows, out: as in `likelihood_ratio`. population: bool (n,), the records z; a record is not its own z.

    Probabilities are means a token (geometric), gamma = 1, and p(x) is taken from models without it (offline, a = 1).
    Ties count half.
    Source: Zarifzadeh et al. 2024, equations 3 and 4, appendix B.2.2 (offline).
    """
    chances = np.where(out, np.exp(shadows), 0.0).sum(axis=0) / out.sum(axis=0)
    ratio = own - np.log(np.maximum(chances, 1e-300))
    those = np.sort(ratio[population])
    below, upto = np.searchsorted(those, ratio, side="left"), np.searchsorted(those, ratio, side="right")
    beaten = (below + upto) / 2.0 - np.where(population, 0.5, 0.0)
    return np.asarray(beaten / np.maximum(1, len(those) - population))
