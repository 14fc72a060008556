"""Two to four runs beside each other: a panel a measure, one axis for all runs."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from engine.examine.findings.embedders import embedders_apart
from engine.examine.findings.findings import Finding
from engine.examine.findings.sizes import at_one_number, none_in_common
from engine.examine.measures import MEASURES
from engine.figures import palette
from engine.figures.base import Figure, listed, pick, whiskers
from engine.figures.board import COARSE, own
from engine.figures.utility import beside_real

# What matters first: a leak of identifiers, copies, near copies, closeness, linked and guessed details; then use.
PRIVACY = ("strict_pipp_excess", "strict_alone_excess", "verbatim_8gram_excess", "near_copies_08_excess",
           "nearest_similarity_excess",
           "longest_run_excess", "pipp_excess", "linkage_excess", "detail_inference_excess",
           "attribute_inference_excess")  # fmt: skip
UTILITY = ("readable", "kid", "next_word", "mauve", "js_2gram", "coverage", "self_bleu", "length_distance")
MOST = 5
SYMBOLS = ("circle", "square", "diamond", "triangle-up")
SHADE = "rgba(0,158,115,0.25)"  # of real text
BAND = {"thickness": 12, "width": 0, "color": SHADE}
MARGIN = 1.08  # room beside the longest bar
WIDTH = 48  # characters of a title in half a page
FEW = 3  # measures that not every run has, so many are named
CHANCE = "more than chance"


def shared(findings: Mapping[str, Sequence[Finding]], names: Sequence[str], most: int = MOST) -> list[str]:
    """Return the first names that every run has a number for; what lies clearly above chance somewhere comes first.

    Of those none is cut off, however many there are: `most` limits the others.
    """
    known = [name for name in names if all(own(rows, name) is not None for rows in findings.values())]
    clear = [name for name in known if any(_leaks(own(rows, name)) for rows in findings.values())]
    return [*clear, *(name for name in known if name not in clear)][: max(most, len(clear))]


def lacking(findings: Mapping[str, Sequence[Finding]], names: Sequence[str]) -> str:
    """Return which measures are not drawn because one of the runs lacks them, leaks first; empty where none does.

    Args:
        findings: how a run is called ("3 · …") -> what was found. names: measures to look for.
    """
    clear, others = [], []
    for name in names:
        found = {_short(run): own(rows, name) for run, rows in findings.items()}
        without = [run for run, one in found.items() if one is None]
        if not without or len(without) == len(found):
            continue
        leaks = [run for run, one in found.items() if _leaks(one)]
        said = f"“{MEASURES[name].title}” (not measured in {_runs(without)}"
        if leaks:
            clear.append(f"{said}; clearly above chance in {_runs(leaks)})")
        else:
            others.append(f"{said})")
    if not clear and not others:
        return ""
    shown = [*clear, *others[: max(0, FEW - len(clear))]]
    more = len(clear) + len(others) - len(shown)
    rest = [f"{more} more"] if more else []
    return f"Not drawn, since not every run has a number: {listed([*shown, *rest])}."


def beside(
    findings: Mapping[str, Sequence[Finding]], names: Sequence[str], methods: Mapping[str, str] | None = None
) -> Figure:
    """Return a panel a measure with every run's value and interval; a run stands there by its number or letter.

    What moves with the number of texts is drawn at the largest number that all runs were measured at, as real text is.

    Args:
        findings: how a run is called ("3 · …") -> what was found, in the order of drawing. names: measures that all
            runs have. methods: how a run is called -> its method's id, for colour and shape as on the board; without
            it they go by the place in `findings`.
    """
    equal, cut = at_one_number(findings, names)
    called = {run: f"Run {_short(run)}" for run in findings}
    looks = _looks(list(findings), methods)
    panel, gap = 26 * max(1, len(findings)) + 10, 96  # pixels
    height = 40 + max(1, len(names)) * (panel + gap)
    reach = {name: _reach(equal, name) for name in names}
    widest = MARGIN * max(
        (reach[n] for n in names if n.endswith("_excess") and MEASURES[n].scale == "share"), default=1
    )
    plot = make_subplots(rows=max(1, len(names)), cols=1, vertical_spacing=gap / height if len(names) > 1 else None)
    for row, name in enumerate(names, 1):
        for run, rows in equal.items():
            found = own(rows, name)
            if found is None:
                continue
            colour, symbol = looks[run]
            plot.add_scatter(
                x=[found.value], y=[called[run]], mode="markers", name=run, showlegend=False,
                error_x=whiskers([found]) | {"color": colour},
                marker={"size": 11, "color": colour, "symbol": symbol}, row=row, col=1,
                hovertemplate=f"{MEASURES[name].title}: %{{x:.3g}}<extra>{run}</extra>",
            )  # fmt: skip
        _level(plot, row, name, equal)
        plot.add_annotation(
            text=_titled(name, cut.get(name)), row=row, col=1, x=0, y=1, xref="x domain", yref="y domain",
            xanchor="left", yanchor="bottom", showarrow=False, align="left", font={"size": 13},
        )  # fmt: skip
        read = f"{CHANCE}; {MEASURES[name].direction}" if _above(name) else MEASURES[name].direction
        plot.update_xaxes(title={"text": read, "standoff": 4}, row=row, col=1)
        if MEASURES[name].scale == "share":
            excess = name.endswith("_excess")  # of one unit: one scale for all of them
            coarse = (widest if excess else reach[name]) >= COARSE
            plot.update_xaxes(tickformat=".0%" if coarse else ".1%", row=row, col=1)
            if excess:
                plot.update_xaxes(range=[-widest, widest], row=row, col=1)
    plot.update_xaxes(nticks=5, tickangle=0, automargin=True)
    plot.update_yaxes(type="category", autorange="reversed", automargin=True, categoryorder="array",
                      categoryarray=list(called.values()))  # fmt: skip
    plot.update_layout(
        height=height, margin={"l": 10, "r": 10, "t": 50, "b": 10}, paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )  # fmt: skip
    takeaway = _takeaway(equal, names)
    caveat = (
        "The dotted line is chance, green is real text against real text, with a mark for each run where they differ; "
        "bars are 95% intervals."
    )
    if unlike := none_in_common(equal, names):
        titles = listed([f"“{MEASURES[name].title}”" for name in unlike])
        caveat += (
            f" {titles} {'moves' if len(unlike) == 1 else 'move'} with the number of texts, of which these runs have "
            "none in common: there each run is to be read beside its own real text alone."
        )
    apart = [name for name in names if embedders_apart(one for rows in equal.values() if (one := own(rows, name)))]
    if apart:
        titles = listed([f"“{MEASURES[name].title}”" for name in apart])
        caveat += f" {titles}: measured by different embedders in these runs, so not to be held together."
    return Figure(plot, takeaway, caveat, f"{len(names)} panels with a mark a run. {takeaway}")


def _looks(runs: Sequence[str], methods: Mapping[str, str] | None) -> dict[str, tuple[str, str]]:
    """Return each run's colour and shape: those of its method on the board, else those of its place."""
    if methods is not None:
        return {run: (palette.of_method(methods[run]), palette.symbol_of(methods[run])) for run in runs}
    return {
        run: (palette.OKABE_ITO[place % len(palette.OKABE_ITO)], SYMBOLS[place % len(SYMBOLS)])
        for place, run in enumerate(runs)
    }


def _short(run: str) -> str:
    """Return the number or letter before a run's name."""
    return run.split(" · ", 1)[0]


def _runs(numbers: Sequence[str]) -> str:
    return f"run{'s' if len(numbers) > 1 else ''} {listed(numbers)}"


def _reach(findings: Mapping[str, Sequence[Finding]], name: str) -> float:
    """Return how far from 0 the marks and bars of a panel go."""
    found = [one for rows in findings.values() if (one := own(rows, name)) is not None]
    return max((abs(end) for one in found for end in (one.value, one.low, one.high) if end is not None), default=0.0)


def _level(plot: go.Figure, row: int, name: str, findings: Mapping[str, Sequence[Finding]]) -> None:
    """Draw chance, or the band of real text, behind the marks of a panel; a mark a run where real text differs.

    It does where it was cut to another number of texts or words for each run.
    """
    if name.endswith("_excess"):
        plot.add_vline(x=0, row=row, col=1, line={"dash": "dot", "width": 1.5, "color": palette.GREY})
        return
    real = {run: level for run, rows in findings.items() if (level := pick(rows, name, "real", "baseline"))}
    if len({level.value for level in real.values()}) > 1:
        plot.add_scatter(
            x=[level.value for level in real.values()], y=[f"Run {_short(run)}" for run in real], mode="markers",
            showlegend=False, error_x=whiskers(list(real.values())) | BAND, row=row, col=1,
            marker={"color": palette.GREEN, "symbol": "line-ns-open", "size": 14, "line": {"width": 2}},
            hovertemplate=f"{MEASURES[name].title}: %{{x:.3g}}<extra>real against real</extra>",
        )  # fmt: skip
    elif real:
        level = next(iter(real.values()))
        low, high = (level.value if end is None else end for end in (level.low, level.high))
        plot.add_vrect(x0=low, x1=high, row=row, col=1, line_width=0, fillcolor=SHADE, layer="below")
        plot.add_vline(x=level.value, row=row, col=1, line={"dash": "dash", "width": 1, "color": palette.GREEN})


def _titled(name: str, texts: int | None) -> str:
    """Return a measure's title, broken where it is long, with the number of texts where it is not each run's own."""
    title = MEASURES[name].title.removesuffix(f": {CHANCE}") + ("" if texts is None else f", at {texts:,} texts")
    return "<br>".join(textwrap.wrap(title, WIDTH))


def _above(name: str) -> bool:
    """Return whether a measure's title says that it is a difference to chance: in a panel its axis says so."""
    return MEASURES[name].title.endswith(f": {CHANCE}")


def _leaks(found: Finding | None) -> bool:
    return found is not None and found.name.endswith("_excess") and found.low is not None and found.low > 0


def _takeaway(findings: Mapping[str, Sequence[Finding]], names: Sequence[str]) -> str:
    if not names:
        return "The runs share no measure of this kind."
    excess = [name for name in names if name.endswith("_excess")]
    parts = []
    for run, rows in findings.items():
        if excess:
            count = sum(_leaks(own(rows, name)) for name in excess)
        else:
            count = sum(beside_real(rows, name) == "close" for name in names)
        parts.append(f"run {_short(run)} on {count or 'none'}")
    what = "Clearly above chance at equal sizes" if excess else "Not to be told from real text against real text"
    beside_it = " Membership attacks are not among them." if excess else ""
    return f"{what}, of the {len(names)} measures drawn: {listed(parts)}.{beside_it}"
