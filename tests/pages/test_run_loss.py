"""The loss of a run that trains, on the Run page: its figure, its label, its words; nothing where nothing was noted."""

import dataclasses

from sqlalchemy import update

from engine.dp.guarantee import Guarantee
from engine.figures.training import over_steps
from engine.store.database.schema import runs
from pages._ui.runs.loss import FORMAL, losses

COURSE = [4.0, 3.5, None, 3.0, 2.5, 2.0]


def test_the_figure_leaves_out_steps_that_drew_nobody_and_says_which_way_it_went():
    figure = over_steps(COURSE)
    assert list(figure.plot.data[0].x) == [1, 2, 4, 5, 6]
    assert list(figure.plot.data[0].y) == [4.0, 3.5, 3.0, 2.5, 2.0]
    assert figure.takeaway == "Training loss: 4.000 at first, 2.000 at step 6, better (lower is)."
    assert "must not leave" in figure.caveat
    assert "too few" in over_steps([1.0, None]).takeaway
    assert "worse" in over_steps([1.0, 2.0]).takeaway
    assert "unchanged" in over_steps([1.0, 1.0]).takeaway


def test_the_smoothed_line_is_a_running_mean():
    figure = over_steps([float(i) for i in range(48)])  # windows of four steps
    means = list(figure.plot.data[1].y)
    assert means[:5] == [0.0, 0.5, 1.0, 1.5, 2.5]
    assert means[-1] == 45.5


def test_only_lists_of_numbers_are_losses():
    assert losses({"training_losses": COURSE}) == COURSE
    assert losses({}) == []
    assert losses({"training_losses": 3.0}) == []
    assert losses({"training_losses": [1.0, float("nan")]}) == [1.0, None]


def shown(seeded, visit, claim, course):
    """Return what the Run page says of a run with this claim and these losses."""
    workspace = seeded.open()
    values = {"guarantee": dataclasses.asdict(claim), "diagnostics": {"training_losses": course}}
    with workspace.session.db.write() as connection:
        connection.execute(update(runs).where(runs.c.id == seeded.run).values(**values))
    app = visit("run", **{"run.choice": seeded.run})
    return "\n".join(str(one.value) for kind in ("markdown", "caption", "subheader") for one in app.get(kind))


def test_the_run_page_draws_a_loss_and_says_that_it_is_internal(seeded, visit):
    claim = Guarantee("dp", "A claim.", scope="the run's complete output", epsilon=1.0, delta=1e-5)
    text = shown(seeded, visit, claim, COURSE)
    assert "Training loss: 4.000 at first" in text
    assert FORMAL in text
    assert "internal, may not be released" in text


def test_the_run_page_says_nothing_of_training_where_there_was_none(seeded, visit):
    text = shown(seeded, visit, Guarantee("none", "No formal guarantee covers this run."), [2.0])
    assert "Training loss" not in text
