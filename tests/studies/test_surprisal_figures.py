"""Figures of the surprisal study: what they say follows from simulated memory, or its absence."""

import pandas as pd
import pytest

from engine.studies.figures import figures
from engine.studies.surprisal import counterfactual
from engine.studies.surprisal import shown as analysis
from engine.studies.surprisal.tables import extraction_rates
from tests.studies.test_surprisal_shown import scores


@pytest.fixture(scope="module", params=[0.4, 0.0])
def drawn(request):
    table = scores(6, request.param, models=2)
    tables = analysis.tables_of(table) | counterfactual.tables_of(table)
    words = [4, 1, 4, 0] if request.param else [0, 0, 1, 0]
    rows = [
        pd.DataFrame({"strategy": strategy, "side": side, "asked": 4, "longest": 1,
                      "agreed": words if side == "included" else [0] * 4})
        for strategy in ("greedy", "decaying") for side in ("included", "excluded")
    ]  # fmt: skip
    tables["extraction"] = extraction_rates(pd.concat(rows))
    return request.param, dict(figures("surprisal", tables))


def test_the_verdict_follows_from_the_interval(drawn):
    memory, shown = drawn
    assert ("remembers whom it has read" in shown["auc"].takeaway) == bool(memory)
    assert ("chance is not ruled out" in shown["auc"].takeaway) == (not memory)
    assert ("50.0% of continuations" in shown["extraction"].takeaway) == bool(memory)
    assert ("still allows up to" in shown["extraction"].caveat) == (not memory)


def test_every_figure_has_words_axes_and_a_control(drawn):
    _, shown = drawn
    assert set(shown) == {"auc", "cdf", "qq", "ratio", "ratio_models", "curves", "extraction", "memorised"}
    for name, figure in shown.items():
        assert "nan" not in figure.takeaway.lower(), name
        assert "internal" in figure.caveat.lower()
        assert figure.plot.layout.yaxis.title.text
    for name in ("auc", "cdf", "qq", "ratio", "curves"):
        assert any("control" in str(trace.name) for trace in shown[name].plot.data), name
    assert "one score" in shown["curves"].plot.layout.xaxis.title.text


def test_no_tables_no_figures():
    assert figures("surprisal", {}) == []
