"""Figures from findings and tables; ids and numbers, never record text. Light enough for the web process.

    base, palette, equal           what every figure function returns, its colours, the same axes beside each other
    privacy/                       what a release gives away, and what is proven of it
    utility, text_map              how well the text stands in
    board, beside                  runs against each other
    budget, funnel                 guarantees and ledgers; where a run's records went
    iterations, training           internal: rounds, the loss of a training

May import `engine.examine` and below. One more figure: a function that returns a `Figure`, exported here where several
pages draw it.
"""

from __future__ import annotations

from engine.figures.base import Figure
from engine.figures.beside import beside
from engine.figures.board import BoardRun, board
from engine.figures.budget import guarantee_curve, ledger_timeline
from engine.figures.funnel import funnel
from engine.figures.iterations import over_rounds
from engine.figures.privacy.privacy import closeness, leak_shares
from engine.figures.privacy.thresholds import attack_grid
from engine.figures.text_map import text_map
from engine.figures.utility import lengths, likeness, utility_dots

__all__ = [
    "BoardRun",
    "Figure",
    "attack_grid",
    "beside",
    "board",
    "closeness",
    "funnel",
    "guarantee_curve",
    "leak_shares",
    "ledger_timeline",
    "lengths",
    "likeness",
    "over_rounds",
    "text_map",
    "utility_dots",
]
