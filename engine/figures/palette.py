"""One palette for every figure, told apart by colour-blind readers: Okabe and Ito 2008 (Color universal design).

Their yellow is darkened, so that a thin line of it is seen on white.

Shapes repeat what colours say, so no figure relies on colour alone.
"""

from __future__ import annotations

BLUE, ORANGE, GREEN, PINK = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
SKY, VERMILION, OLIVE, GREY = "#56B4E9", "#D55E00", "#9A8700", "#8A979C"
OKABE_ITO = (BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, OLIVE)

# A variant keeps its family's colour; every method has a shape of its own.
METHODS: dict[str, str] = {
    "surrogate": BLUE, "filter": ORANGE, "public": SKY, "aug-pe": GREEN, "dpga": PINK, "rpsg": VERMILION,
    "rpsg-public": VERMILION, "icl": OLIVE, "control-icl": OLIVE, "control-icl-blocked": OLIVE,
    "control-prefix": BLUE, "control-prefix-masked": BLUE, "finetune": GREEN, "goldfish": GREEN, "dp-finetune": SKY,
    "dp-topics": OLIVE, "private-prediction": PINK, "rewrite": ORANGE, "dp-select": BLUE,
    "paid-choice": GREY, "dp-steer": VERMILION,
}  # fmt: skip
METHOD_SYMBOLS: dict[str, str] = {
    "surrogate": "circle", "filter": "diamond", "public": "x", "aug-pe": "triangle-up", "dpga": "pentagon",
    "rpsg": "star", "rpsg-public": "star-open", "icl": "hexagon", "control-icl": "hexagon2",
    "control-icl-blocked": "hexagon2-open", "control-prefix": "triangle-left",
    "control-prefix-masked": "triangle-left-open", "finetune": "triangle-down", "goldfish": "triangle-down-open",
    "dp-finetune": "cross", "dp-topics": "square-cross", "private-prediction": "star-triangle-up",
    "rewrite": "diamond-open", "dp-select": "bowtie", "paid-choice": "hourglass",
    "dp-steer": "arrow-right",
}  # fmt: skip
OTHER_SYMBOL = "square"
REFERENCES: dict[str, str] = {
    "train": VERMILION, "train_equal": ORANGE, "holdout": BLUE, "baseline": GREY, "real": GREEN, "unrelated": GREY,
    "none": ORANGE,
}  # fmt: skip
KINDS: dict[str, str] = {"private": GREY, "train": GREY, "holdout": BLUE, "synthetic": ORANGE}


def of_method(method: str) -> str:
    """Return a method's colour: fixed for known ones, else one that depends on its name alone."""
    return METHODS.get(method) or OKABE_ITO[sum(method.encode()) % len(OKABE_ITO)]


def symbol_of(method: str) -> str:
    """Return a method's shape; methods without one share `OTHER_SYMBOL`."""
    return METHOD_SYMBOLS.get(method, OTHER_SYMBOL)
