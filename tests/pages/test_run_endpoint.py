"""What a run asked of a server, on the Run page: counts, cost, what is estimated; nothing for other models."""

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from pages._ui.runs.endpoint import asked, cost, sentences

COUNTS = {"requests": 120, "retries": 2, "tokens_in": 45_600, "tokens_out": 7_800, "counted": 110,
          "waited_seconds": 12.4, "cost": 0.0612}  # fmt: skip


def test_only_whole_counts_of_a_server_are_read():
    assert asked({"endpoint": COUNTS}) == {name: float(value) for name, value in COUNTS.items()}
    assert asked({}) == {}
    assert asked({"endpoint": 3}) == {}
    assert asked({"endpoint": COUNTS | {"requests": 0}}) == {}
    assert asked({"endpoint": COUNTS | {"cost": float("nan")}}) == {}
    assert asked({"endpoint": {"requests": 2}})["retries"] == 0.0


def test_what_is_estimated_and_what_is_not_counted_is_said():
    said = " ".join(sentences(asked({"endpoint": COUNTS})))
    for part in ("10 requests took; they are estimated", "2 requests had to be made again", "12 s", "currency"):
        assert part in said
    bare = sentences(asked({"endpoint": {"requests": 5, "counted": 5}}))
    assert bare == ["No prices are given on the Models page, so no cost is counted."]


@pytest.mark.parametrize(
    ("value", "shown"), [(1234.5, "1,234.50"), (0.1, "0.10"), (0.0612, "0.061"), (2e-5, "0.000020")]
)
def test_a_small_cost_keeps_its_digits(value, shown):
    assert cost(value) == shown


def page(counts, model):
    from types import SimpleNamespace

    from pages._ui.runs import endpoint as run_endpoint

    workspace = SimpleNamespace(runs=SimpleNamespace(diagnostics=lambda run_id: {"endpoint": counts}))
    run_endpoint.draw(workspace, SimpleNamespace(id="r-1", model=model))


def test_requests_tokens_and_cost_are_drawn():
    app = AppTest.from_function(page, args=(COUNTS, "endpoint:far"), default_timeout=60).run()
    assert not app.exception
    shown = pd.Series({metric.label: metric.value for metric in app.metric})
    assert shown.to_dict() == {"Requests": "120", "Tokens sent": "45,600", "Tokens written": "7,800", "Cost": "0.061"}
    assert "far" in app.markdown[0].value
    assert "estimated" in app.caption[0].value


def test_a_model_on_this_machine_draws_nothing():
    app = AppTest.from_function(page, args=(COUNTS, "folder:tiny"), default_timeout=60).run()
    assert not app.metric
