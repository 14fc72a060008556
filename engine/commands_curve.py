"""The verb `curve`: the ε–δ curve of two output tables, or of drawing n-grams straight from a corpus.

Privacy posture: results are computed from private text outside any guarantee and are marked internal; they hold
counts, chances and sizes, never words. Looking at a corpus this way leaves a line in the audit log.
"""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import DataError, UserError

if TYPE_CHECKING:
    from engine.attacks.ngram_counts import NgramCounts, Tokens
    from engine.attacks.ngram_sampling import DirectSampling

INTERNAL = "Computed from private text outside the guarantee: it must not leave."
ARGUMENTS: list[tuple[tuple[str, ...], dict[str, Any]]] = [
    (("corpus",), {"nargs": "?", "help": "corpus id, for drawing n-grams from it; or --x and --y"}),
    (("--x",), {"type": Path, "help": "JSON object, output → count, with the person"}),
    (("--y",), {"type": Path, "help": "JSON object, output → count, without"}),
    (("--draws",), {"type": int, "default": 1, "help": "independent outputs seen together (with --x and --y)"}),
    (("--n",), {"default": "1", "help": "words an n-gram, 1 to 3; several with commas"}),
    (("--exclude",), {"default": "1,10,100,1000", "help": "how many units are left out, with commas"}),
    (("--trials",), {"type": int, "default": 10, "help": "random sets of each size"}),
    (("--adjacency",), {"choices": ("record", "source"), "help": "what is left out; default the corpus' unit"}),
    (("--censor",), {"type": int, "default": 0, "help": "hide n-grams that occur at most so often; 0: none"}),
    (
        ("--censor-by",),
        {"choices": ("x", "own"), "default": "x", "help": "by the counts with everyone, or each side's"},
    ),
    (
        ("--part",),
        {
            "choices": ("train", "all"),
            "default": "train",
            "help": "training part, or all records, held out and over the cap too",
        },
    ),
    (("--seed",), {"type": int, "default": 0, "help": "seed of which units are left out"}),
]


def curve(options: Namespace) -> dict[str, Any]:
    """Return the curve of two tables, or of a corpus."""
    tables = (options.x, options.y)
    if options.corpus is None and all(tables):
        return _of_tables(options)
    if options.corpus is None or any(tables):
        raise UserError("curve needs either a CORPUS or both --x FILE and --y FILE")
    return _of_corpus(options)


def _of_tables(options: Namespace) -> dict[str, Any]:
    from engine.analysis import lbf

    loss = lbf.loss_of_outputs(_table(options.x), _table(options.y))
    if options.draws == 1:
        return {"curve": lbf.curve(loss).rows()}
    together = lbf.compose(loss, options.draws)
    exact = together.rounding == 0.0
    from engine.analysis.lbf_direct import GRID

    found = lbf.curve(together.loss) if exact else together.curve(list(GRID))
    return {"curve": found.rows(), "floor": lbf.floor(together.loss), "epsilon_rounded_up_by": together.rounding}


def _table(path: Path) -> dict[str, float]:
    """Return a JSON object of output → count.

    Raises:
        DataError: the file cannot be read, or holds something else; its content is not quoted.
    """
    try:
        table = json.loads(path.read_text("utf-8"))
    except OSError:
        raise DataError("cannot be read; check the path", file=path.name, rule="readable") from None
    except ValueError:
        raise DataError("is not JSON", file=path.name, rule="json") from None
    if not isinstance(table, dict):
        raise DataError("needs one JSON object, output → count", file=path.name, rule="object")
    return table


def numbers(text: str, name: str) -> tuple[int, ...]:
    """Return whole numbers >= 1 that are separated by commas.

    Raises:
        UserError: another form.
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and int(part) >= 1 for part in parts):
        raise UserError(f"--{name}: whole numbers from 1 on, separated by commas, are needed, got {text!r}")
    return tuple(dict.fromkeys(int(part) for part in parts))


def _of_corpus(options: Namespace) -> dict[str, Any]:
    import numpy as np
    import pandas as pd

    from engine.attacks import ngram_counts
    from engine.commands import _open, say

    lengths, sizes = numbers(options.n, "n"), numbers(options.exclude, "exclude")
    if max(lengths) > ngram_counts.MAX_N:
        raise UserError(f"--n: n-grams of 1 to {ngram_counts.MAX_N} words are counted, got {max(lengths)}")
    if options.trials < 1 or options.draws != 1:
        raise UserError("--trials: at least 1; --draws goes with --x and --y only")
    workspace = _open(options)
    summary = workspace.corpus(options.corpus)
    split = None if options.part == "all" else "train"
    frame = workspace.records(options.corpus, split=split, limit=summary.records)
    unit = options.adjacency or summary.unit
    workspace.note("n-gram curves computed", options.corpus, n=options.n, exclude=options.exclude, unit=unit)
    units = frame["record_id"]
    if unit == "source":
        if frame["source_id"].isna().all():
            raise UserError("--adjacency source: this corpus names no source; leave out records, or import it with one")
        # a record of unknown source is one of its own
        own = "record " + frame["record_id"].astype(str)
        units = ("source " + frame["source_id"].astype(str)).where(frame["source_id"].notna(), own)
    codes = np.asarray(pd.factorize(units)[0], np.int64)
    known = ngram_counts.Numbers()
    table = ngram_counts.tokens(frame["text"].tolist(), known)
    results = []
    for n in lengths:
        say(f"curve: n = {n}")
        results.append(_direct(table, codes, n, len(known), unit, sizes, options))
    return {
        "corpus": options.corpus, "part": options.part, "records": len(frame), "left_out": summary.records - len(frame),
        "unit": unit, "internal": INTERNAL, "results": results,
    }  # fmt: skip


def _direct(
    table: Tokens, codes: Any, n: int, vocabulary: int, unit: str, sizes: tuple[int, ...], options: Namespace
) -> dict[str, Any]:
    from engine.analysis import lbf_direct
    from engine.attacks import ngram_counts
    from engine.attacks.ngram_sampling import DirectSampling

    counts = ngram_counts.count(table, codes, n, vocabulary)
    sampling = DirectSampling(counts, options.censor, options.censor_by)
    found = list(lbf_direct.trials(sampling, sizes, options.trials, options.seed))
    result = lbf_direct.summarise(sampling, found, unit).as_dict()
    names = [f"epsilon_at_{delta:g}" for delta in lbf_direct.DELTAS]
    result["trials"] = [
        {"excluded": t.size, "trial": t.trial, **dict(zip(names, t.epsilons)), "floor": t.floor, "share": t.share}
        for t in found
    ]
    result["occurring_once"] = _once(counts)
    result["loss_by_probability"] = _by_decade(sampling, sizes, options.seed)
    return result


def _once(counts: NgramCounts) -> dict[str, float]:
    """Return the share of n-grams that occur once, over all, and within a source of median size."""
    import numpy as np

    held = np.diff(counts.bounds)
    middle = int(np.argsort(held, kind="stable")[held.size // 2])
    own = counts.of(middle)[1]
    return {
        "in_all": float(np.mean(counts.totals == 1)),
        "within_a_median_source": float(np.mean(own == 1)) if own.size else 0.0,
    }


def _by_decade(sampling: DirectSampling, sizes: tuple[int, ...], seed: int) -> list[dict[str, Any]]:
    """Return the median |LBF| of n-grams by the power of ten of their chance, for the first trial of each size."""
    import numpy as np

    from engine.analysis.lbf_direct import scatter
    from engine.attacks.ngram_sampling import draw_sources

    rows: list[dict[str, Any]] = []
    for size in sizes:
        points = scatter(sampling.exclude(draw_sources(sampling.counts.sources, size, 1, seed)[0]))
        decade = np.floor(np.log10(points.probability)).astype(int)
        for power in np.unique(decade):
            of_decade = np.abs(points.loss[decade == power])
            row = {"excluded": size, "chance_from": 10.0 ** int(power), "ngrams": int(of_decade.size)}
            rows.append({**row, "median_loss": float(np.median(of_decade))})
        rows.append({"excluded": size, "chance_from": None, "ngrams": sum(points.infinite), "median_loss": None})
    return rows
