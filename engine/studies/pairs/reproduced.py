"""How much of what only U wrote comes back in generated text, beside chance and the null pair (section 5.4.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from engine.examine.curves import ngram_counts
from engine.examine.curves.ngram_counts import Ints, NgramCounts, Tokens
from engine.examine.stats.intervals import Interval
from engine.studies.base import TableRow
from engine.studies.pairs import synthetic as lbf_synthetic


def reproduced(
    x: Tokens,
    units: Ints,
    vocabulary: int,
    excluded: Ints,
    from_x: Sequence[Tokens],
    from_y: Sequence[Tokens],
) -> pd.DataFrame:
    """Return the share of U's own three-word runs that come back (section 5.4.2), whole sources taken together.

    Rows: text from X, text from X ∖ U (chance), other text from X (the null pair) and the differences of the first
    to both; a difference above 0 beyond its interval is memory.

    Args:
        x: words of X's records. units: int64 (n,), each record's unit. vocabulary: distinct words of all texts.
        excluded: numbers of the units of U. from_x, from_y: generations made from X and from X ∖ U.
    """
    counts = ngram_counts.count(x, units, 3, vocabulary)
    both = min(len(from_x), len(from_y))
    ours = _merged(from_x[:both], vocabulary)
    theirs = _merged(from_y[:both], vocabulary)
    found = lbf_synthetic.reproduced(counts, excluded, ours, theirs)
    rows = [_share_row("from X", found.from_x), _share_row("from X without U", found.from_y)]
    rows.append(_share_row("difference", found.difference))
    others = from_x[both : 2 * both]
    if len(others) == both:
        null = lbf_synthetic.reproduced(counts, excluded, ours, _merged(others, vocabulary))
        rows += [_share_row("from X again", null.from_y), _share_row("difference of X and X", null.difference)]
    return pd.DataFrame(rows).assign(unique=found.unique)


def _merged(generations: Sequence[Tokens], vocabulary: int) -> NgramCounts:
    lengths = np.concatenate([np.diff(one.offsets) for one in generations])
    whole = Tokens(np.concatenate([one.ids for one in generations]), np.concatenate([[0], np.cumsum(lengths)]))
    return ngram_counts.count(whole, np.zeros(lengths.size, np.int64), 3, vocabulary)


def _share_row(of: str, found: Interval) -> TableRow:
    return {"of": of, "share": found.value, "low": found.low, "high": found.high, "method": found.method}
