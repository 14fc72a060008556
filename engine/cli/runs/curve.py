"""The verb `curve`: the ε–δ curve of two output tables, or of drawing n-grams straight from a corpus.

Privacy posture: results are computed from private text outside any guarantee and are marked internal; they hold
counts, chances and sizes, never words. Looking at a corpus this way leaves a line in the audit log.
"""

from __future__ import annotations

import json
import math
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.arguments import Argument
from engine.cli.terminal import opened, say
from engine.errors import DataError, UserError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engine.examine.curves.ngram_counts import NgramCounts, Tokens
    from engine.examine.curves.ngram_sampling import DirectSampling

_BOTH = ("delta", "delta_standard")
COUNTED = "words as they are written (word forms); lemmas: study CORPUS --study ngram-curves --set words=both"
INTERNAL = "Computed from private text outside the guarantee: it must not leave."
ARGUMENTS: list[Argument] = [
    (("corpus",), {"nargs": "?", "help": "corpus id, for drawing n-grams from it; or --x and --y"}),
    (("--x",), {"type": Path, "help": "JSON object, output → count, with the person"}),
    (("--y",), {"type": Path, "help": "JSON object, output → count, without"}),
    (("--draws",), {"type": int, "default": 1, "help": "outputs or n-grams, drawn independently, seen together"}),
    (
        ("--adaptive",),
        {"action": "store_true", "help": "adversaries who choose a probe after seeing the outputs (definition 10)"},
    ),
    (("--rounds",), {"default": "1,10,100", "help": "with --adaptive: outputs that are seen, with commas"}),
    (("--n",), {"default": "1", "help": "words as written an n-gram, 1 to 3; several with commas"}),
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
            "choices": ("uncapped", "train", "all"),
            "default": "uncapped",
            "help": "training part with what lies over its cap (drawing has no cap), training part as methods see it, "
            "or all records, held out ones too",
        },
    ),
    (("--seed",), {"type": int, "default": 0, "help": "seed of which units are left out"}),
]


def curve(options: Namespace) -> Mapping[str, object]:
    """Return the curve of two tables, or of a corpus."""
    tables = (options.x, options.y)
    if options.corpus is None and all(tables):
        return _of_tables(options)
    if options.corpus is None or any(tables):
        raise UserError("curve needs either a CORPUS or both --x FILE and --y FILE")
    return _of_corpus(options)


def _of_tables(options: Namespace) -> Mapping[str, object]:
    from engine.examine.curves import lbf

    x, y = _table(options.x), _table(options.y)
    loss = lbf.loss_of_outputs(x, y)
    if options.adaptive:
        return _adaptive_of_tables(x, y, options)
    if options.draws == 1:
        return {"curve": lbf.curve(loss).rows()}
    together = lbf.compose(loss, options.draws)
    exact = together.rounding == 0.0
    from engine.examine.curves.lbf_direct import GRID

    found = lbf.curve(together.loss) if exact else together.curve(list(GRID))
    return {"curve": found.rows(), "floor": lbf.floor(together.loss), "epsilon_rounded_up_by": together.rounding}


def _adaptive_of_tables(x: dict[str, float], y: dict[str, float], options: Namespace) -> Mapping[str, object]:
    from engine.examine.curves import lbf_adaptive
    from engine.studies.ngram_curves.run import ADAPTIVE

    if options.draws != 1:
        raise UserError("--draws: --adaptive takes --rounds instead")
    names = sorted(set(x) | set(y))
    sides = [[float(table.get(name, 0)) for name in names] for table in (x, y)]
    rows = []
    for k in numbers(options.rounds, "rounds"):
        found = lbf_adaptive.probes(sides[0], sides[1], k)
        points = zip(ADAPTIVE.tolist(), found.adaptive(ADAPTIVE).tolist(), found.fixed(ADAPTIVE).tolist(), strict=True)
        curve = [{"epsilon": e, "delta": after, "delta_fixed": before} for e, after, before in points]
        rows.append({"rounds": k, "floor": found.floor(), "curve": curve})
    return {"adaptive": rows, "claim": lbf_adaptive.CLAIM}


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


def _of_corpus(options: Namespace) -> Mapping[str, object]:
    from engine.corpus.split import HOLDOUT, OVER_CAP, TRAIN
    from engine.examine.curves import ngram_counts
    from engine.studies.ngram_curves.records import chosen
    from engine.studies.units import unit_numbers

    lengths, sizes = numbers(options.n, "n"), numbers(options.exclude, "exclude")
    if max(lengths) > ngram_counts.MAX_N:
        raise UserError(f"--n: n-grams of 1 to {ngram_counts.MAX_N} words are counted, got {max(lengths)}")
    if options.trials < 1 or options.draws < 1:
        raise UserError("--trials and --draws: at least 1")
    if options.adaptive and options.draws != 1:
        raise UserError("--draws: --adaptive takes --rounds instead")
    rounds = numbers(options.rounds, "rounds") if options.adaptive else ()
    workspace = opened(options)
    summary = workspace.corpora.get(options.corpus)
    every = workspace.corpora.records(options.corpus, limit=summary.records)
    parts = [every[every["split"] == split] for split in (TRAIN, OVER_CAP, HOLDOUT)]
    drawn = chosen(parts[0], parts[1], parts[2], options.part)
    frame = drawn.records
    unit = options.adjacency or summary.unit
    workspace.audit.note("n-gram curves computed", options.corpus, n=options.n, exclude=options.exclude, unit=unit)
    codes = unit_numbers(frame, unit)
    known = ngram_counts.Numbers()
    table = ngram_counts.tokens(frame["text"].tolist(), known)
    results = []
    for n in lengths:
        say(f"curve: n = {n}")
        results.append(_direct(table, codes, n, len(known), unit, sizes, rounds, options))
    return {
        "corpus": options.corpus, "part": options.part, "records": len(frame), "left_out": summary.records - len(frame),
        "left_out_over_cap": drawn.over_cap, "left_out_held_out": drawn.held_out,
        "unit": unit, "counted": COUNTED, "internal": INTERNAL, "results": results,
    }  # fmt: skip


def _direct(
    table: Tokens,
    codes: NDArray[np.int64],
    n: int,
    vocabulary: int,
    unit: str,
    sizes: tuple[int, ...],
    rounds: tuple[int, ...],
    options: Namespace,
) -> Mapping[str, object]:
    from engine.examine.curves import lbf_direct, ngram_counts
    from engine.examine.curves.ngram_sampling import DirectSampling

    counts = ngram_counts.count(table, codes, n, vocabulary)
    sampling = DirectSampling(counts, options.censor, options.censor_by)
    found = list(lbf_direct.trials(sampling, sizes, options.trials, options.seed))
    shown: dict[str, object] = {**lbf_direct.summarise(sampling, found, unit).as_dict()}
    names = [f"epsilon_at_{delta:g}" for delta in lbf_direct.DELTAS]
    shown["trials"] = [
        {"excluded": t.size, "trial": t.trial, **dict(zip(names, t.epsilons)), "floor": t.floor, "share": t.share}
        for t in found
    ]
    shown["occurring_once"] = _once(counts)
    shown["loss_by_probability"] = _by_decade(sampling, sizes, options.seed)
    if options.draws > 1:
        shown["seen_together"] = _together(sampling, sizes, options)
    if rounds:
        shown["adaptive"] = _adaptive(sampling, sizes, rounds, options)
    return shown


def _together(sampling: DirectSampling, sizes: tuple[int, ...], options: Namespace) -> Mapping[str, object]:
    """Return mean δ over the trials of an attacker who sees several n-grams, drawn independently."""
    import numpy as np

    from engine.examine.curves import lbf, lbf_direct
    from engine.examine.curves.ngram_sampling import draw_sources

    rows, rounded = [], 0.0
    epsilons = [math.log(odds) for odds in (1.01, 1.2, 2.0, 10.0)]
    for size in sizes:
        found = []
        for excluded in draw_sources(sampling.counts.sources, size, options.trials, options.seed):
            together = lbf.compose(lbf_direct.loss_of(sampling.exclude(excluded)), options.draws)
            rounded = max(rounded, together.rounding)
            found.append(together.curve(epsilons))
        for at, epsilon in enumerate(epsilons):
            strict, standard = (float(np.mean([getattr(c, name)[at] for c in found])) for name in _BOTH)
            rows.append({"excluded": size, "epsilon": epsilon, "delta": strict, "delta_standard": standard})
    return {"draws": options.draws, "curve": rows, "epsilon_rounded_up_by": rounded}


def _adaptive(
    sampling: DirectSampling, sizes: tuple[int, ...], rounds: tuple[int, ...], options: Namespace
) -> Mapping[str, object]:
    """Return mean strict δ of adversaries who choose a word probe after seeing k n-grams, and beforehand."""
    from engine.examine.curves.lbf_adaptive import CLAIM
    from engine.studies.ngram_curves.run import adaptive_table

    table = adaptive_table(sampling, sizes, options.trials, options.seed, rounds)
    columns = ["excluded", "rounds", "epsilon", "delta", "low", "high", "delta_fixed", "floor"]
    return {"claim": CLAIM, "curve": table[columns].to_dict("records")}


def _once(counts: NgramCounts) -> dict[str, float]:
    """Return the share of n-grams that occur once, over all, and within a source of median size."""
    import numpy as np

    from engine.examine.curves.ngram_counts import middle_source

    own = counts.of(middle_source(counts))[1]
    return {
        "in_all": float(np.mean(counts.totals == 1)),
        "within_a_median_source": float(np.mean(own == 1)) if own.size else 0.0,
    }


def _by_decade(sampling: DirectSampling, sizes: tuple[int, ...], seed: int) -> list[dict[str, object]]:
    """Return the median |LBF| of n-grams by the power of ten of their chance, for the first trial of each size."""
    import numpy as np

    from engine.examine.curves.lbf_direct import scatter
    from engine.examine.curves.ngram_sampling import draw_sources

    rows: list[dict[str, object]] = []
    for size in sizes:
        points = scatter(sampling.exclude(draw_sources(sampling.counts.sources, size, 1, seed)[0]))
        decade = np.floor(np.log10(points.probability)).astype(int)
        for power in np.unique(decade):
            of_decade = np.abs(points.loss[decade == power])
            row = {"excluded": size, "chance_from": 10.0 ** int(power), "ngrams": int(of_decade.size)}
            rows.append({**row, "median_loss": float(np.median(of_decade))})
        rows.append({"excluded": size, "chance_from": None, "ngrams": sum(points.infinite), "median_loss": None})
    return rows
