"""Figures from findings and tables; ids and numbers, never record text. Light enough for the web process."""

from __future__ import annotations

from engine.figures.base import Figure
from engine.figures.beside import beside
from engine.figures.board import BoardRun, board
from engine.figures.budget import guarantee_curve, ledger_timeline
from engine.figures.funnel import funnel
from engine.figures.iterations import over_rounds
from engine.figures.privacy import closeness, triple_bars
from engine.figures.text_map import text_map
from engine.figures.thresholds import attack_grid
from engine.figures.utility import lengths, utility_dots

__all__ = [
    "BoardRun",
    "Figure",
    "attack_grid",
    "beside",
    "board",
    "closeness",
    "funnel",
    "guarantee_curve",
    "ledger_timeline",
    "lengths",
    "over_rounds",
    "text_map",
    "triple_bars",
    "utility_dots",
]
