"""The figure of the likelihood filter says how many attacks stand out with it and without."""

import pandas as pd

from engine.studies.figures import figures


def rows(variant: str, area: float, texts: int) -> list[dict[str, object]]:
    return [
        {"variant": variant, "texts": texts, "attack": name, "title": name.upper(), "auc": area, "low": area - 0.04,
         "high": area + 0.04, "p": 0.1, "tpr_01": 0.01, "members": 200, "others": 200, "greyed": name == "zlib"}
        for name in ("ppl", "refer", "zlib")
    ]  # fmt: skip


def test_attacks_above_chance_are_counted_a_variant():
    table = pd.DataFrame(
        rows("with the filter", 0.51, 50) + rows("without the filter", 0.7, 100)
        + rows("without, as few texts", 0.53, 50)
    )  # fmt: skip
    ((name, figure),) = figures("nll-filter", {"nll_filter": table})
    assert name == "areas"
    assert figure.takeaway.endswith("with the filter 0 of 2; without the filter 2 of 2; without, as few texts 0 of 2.")
    assert figure.plot.data[0].name == "with the filter (50 texts)"
    assert figures("nll-filter", {}) == []
    assert figures("nll-filter", {"nll_filter": table.assign(auc=float("nan"))}) == []
