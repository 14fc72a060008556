"""Plan, ledger, runs and sidebar where a budget is at stake: empty, pending, refused, reserved, drawn, released."""

from __future__ import annotations

import json
import math
import sqlite3
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

import engine
from engine.dp.accounting.closed_form import (
    default_delta,
    gaussian_mu,
    mu_of,
    noise_multiplier,
    posterior,
)
from engine.dp.accounting.closed_form import epsilon as epsilon_at
from engine.dp.accounting.failure import gaussian_failure
from engine.dp.events import Event
from engine.dp.upward import upward
from engine.figures.budget import chance_at_most
from pages._ui.ledger.budget import SPENT, more_than_limit
from pages._ui.methods import method_cards
from pages._ui.plan.promise import chance_at, in_words, prior_sentence
from pages._ui.runs import budget as run_budget
from pages._ui.runs.bought import bought, reference, told_apart
from pages._ui.runs.rounds import drawn, series

KINDS = ("title", "subheader", "markdown", "caption", "error", "warning", "info", "success")


def words(app, *kinds: str) -> str:
    return "\n".join(str(e.value) for kind in kinds or KINDS for e in getattr(app, kind))


def bars(app) -> list[str]:
    return [bar.proto.text for bar in app.get("progress")]


@pytest.fixture
def plan(seeded, visit):
    """Return a function that opens the Plan page on a method."""
    return lambda method: visit("plan", **{method_cards.CHOICE: method})


def knob(seeded, name: str, method: str = "aug-pe") -> str:
    return f"plan.set.{seeded.corpus}.{method}.{name}"


def strength(seeded) -> str:
    """Return the key of ε, one for a corpus."""
    return f"plan.epsilon.{seeded.corpus}"


NARROW, MARKER = 688, 33  # pixels that a window of 1,024 leaves a table, and of them where a row is chosen


def start(seeded, epsilon: float = 2.0, method: str = "aug-pe") -> str:
    workspace = seeded.open()
    return workspace.jobs.synthesize(
        seeded.corpus, method, count=20, parameters={"epsilon": epsilon, "labels": "public"}
    )


def draw_one(seeded, run_id: str) -> None:
    """Store one mechanism output the way the worker does; its ledger line is in the same transaction."""
    workspace = seeded.open()
    events = [Event.from_dict(event) for event in workspace.runs.get(run_id).guarantee.events]
    planned = next(event for event in events if event.what in ("votes", "dense votes"))
    event = Event.from_dict({**planned.as_dict(), "count": 1})
    workspace.ledger.outputs(run_id).save("votes/0", {"candidates": "x"}, event, np.zeros(3))


class TestPlan:
    def test_noise_and_claim_follow_the_sliders_at_once(self, seeded, plan):
        app = plan("aug-pe")
        app.selectbox(key=knob(seeded, "labels")).set_value("public")
        app.number_input(key=strength(seeded)).set_value(2.0).run()
        facts = seeded.open().ledger.facts(seeded.corpus)
        expected = noise_multiplier(2.0, default_delta(facts.units), 1)  # one round of dense votes, of length 1 each
        noise = next(frame.value for frame in app.dataframe if "Noise (σ)" in frame.value)
        assert noise["Noise (σ)"].iloc[0] == pytest.approx(expected, rel=1e-3)
        assert "Default" in words(app, "caption")
        assert "δ = " in words(app, "caption")
        assert app.get("plotly_chart"), "the curve is closed form and there at once"

    def test_an_attacker_who_was_ten_percent_sure(self, seeded, plan):
        app = plan("aug-pe")
        app.selectbox(key=knob(seeded, "labels")).set_value("public").run()
        guarantee = seeded.open().plan.guarantee("aug-pe", corpus_id=seeded.corpus, parameters={"labels": "public"})
        mu = gaussian_mu([Event.from_dict(event) for event in guarantee.events])
        after, chance = posterior(0.1, 4.0), gaussian_failure(mu, 4.0)
        assert prior_sentence(0.1, after, chance, "a person", "zero-out") in words(app, "markdown")
        app.slider(key="plan.prior").set_value(50.0).run()
        assert "**50%** sure" in words(app, "markdown")

    def test_delta_is_said_to_be_an_addition_not_a_chance_of_failure(self, plan):
        field = next(box for box in plan("aug-pe").number_input if box.label.startswith("δ"))
        assert field.label == "δ, what is allowed on top of the factor of ε"
        assert "plus δ" in field.help

    def test_the_chance_that_the_bound_fails_is_the_least_that_the_standard_curve_leaves(self):
        claim = SimpleNamespace(
            mechanisms=(Event("laplace", "count", epsilon=0.5), Event("gaussian", "votes", noise_multiplier=4.0)),
            bound=(1.0, 0.002),
        )
        curve = SimpleNamespace(epsilons=[0.0, 0.5, 0.9, 1.0, 1.1], standard=[0.4, 0.02, 0.003, 0.002, 0.001])
        assert chance_at(claim, curve) == pytest.approx(0.003 / (1 - math.exp(-0.1)))
        claim.bound = (1.0, 0.0)
        assert chance_at(claim, curve) == 0.0

    def test_the_chance_on_a_page_holds_for_who_sees_one_bit(self):
        noise = noise_multiplier(1.0, 1e-3)
        claim = engine.Guarantee("dp", "A sentence.", epsilon=1.0, delta=1e-3, adjacency="zero-out", events=(
            Event("gaussian", "votes", noise_multiplier=noise).as_dict(),
        ))  # fmt: skip
        t = brentq(lambda x: log_ndtr(1 / noise - x) - log_ndtr(-x) - 1.0, -30, 30)
        assert f"at most {chance_at_most(float(ndtr(1 / noise - t)))}." in in_words(claim)

    def test_each_public_input_is_named(self, seeded, plan):
        guarantee = seeded.open().plan.guarantee("aug-pe", corpus_id=seeded.corpus)
        text = words(plan("aug-pe"), "markdown")
        assert guarantee.assumptions
        assert text.count("- Relies on: ") == len(guarantee.assumptions)
        assert text.count("- Breaks it: ") == len(guarantee.voided_by)

    def test_what_needs_the_worker_is_pending_and_nothing_starts(self, seeded, plan):
        app = plan("dpga")
        assert seeded.open().plan.guarantee("dpga", corpus_id=seeded.corpus).pending
        assert "being computed and appears here by itself" in words(app, "caption")
        assert app.button(key="plan.start").disabled

    def test_past_the_limit_is_refused_with_its_sentence(self, seeded, plan):
        seeded.open().ledger.set_limit(seeded.corpus, 1.0, 1e-3)
        app = plan("aug-pe")
        app.selectbox(key=knob(seeded, "labels")).set_value("public").run()
        assert app.button(key="plan.start").disabled
        (said,) = [element.value for element in app.markdown if "**Cannot start.**" in element.value]
        assert "limit" in said
        assert not app.error  # it is said once, beside the button
        app.number_input(key=strength(seeded)).set_value(0.5).run()
        assert not app.button(key="plan.start").disabled

    def test_start_reserves_what_the_sliders_say(self, seeded, plan):
        app = plan("aug-pe")
        app.selectbox(key=knob(seeded, "labels")).set_value("public")
        app.number_input(key=strength(seeded)).set_value(3.0)
        app.number_input(key=knob(seeded, "delta")).set_value(1e-4).run()
        assert any(bar.startswith("After: ") for bar in bars(app))
        app.button(key="plan.start").click().run()
        assert not app.exception
        run = seeded.open().runs.all(seeded.corpus)[0]
        assert (run.parameters["epsilon"], run.parameters["delta"]) == (3.0, 1e-4)
        assert "nothing was drawn yet, so cancelling" in words(app, "markdown")
        assert seeded.open().ledger.of(seeded.corpus).share > 0

    def test_a_run_that_takes_most_of_what_is_left_asks_first(self, seeded, plan):
        seeded.open().ledger.set_limit(seeded.corpus, 3.5, 1e-3)
        app = plan("aug-pe")
        app.selectbox(key=knob(seeded, "labels")).set_value("public")
        app.number_input(key=strength(seeded)).set_value(3.0).run()
        assert "in use, for good" in words(app, "markdown")
        before = len(seeded.open().runs.all(seeded.corpus))
        app.button(key="plan.start").click().run()
        assert len(seeded.open().runs.all(seeded.corpus)) == before, "it asks"
        app.button(key="plan.sure").click().run()
        assert not app.exception
        assert len(seeded.open().runs.all(seeded.corpus)) == before + 1

    def test_a_run_that_does_not_fit_is_set_to_what_is_left_by_one_press(self, seeded, plan):
        run_id = start(seeded, 2.0)
        draw_one(seeded, run_id)
        app = plan("aug-pe")
        app.selectbox(key=knob(seeded, "labels")).set_value("public")
        app.number_input(key=strength(seeded)).set_value(9.9).run()
        assert app.button(key="plan.start").disabled
        left = seeded.open().ledger.of(seeded.corpus).remaining_epsilon
        app.button(key="plan.fit").click().run()
        assert not app.exception
        assert 0.01 < left < 9.9
        assert 0.0 <= left - app.number_input(key=strength(seeded)).value < 1e-3
        assert not [one for one in app.button if one.key == "plan.fit"], "it fits, or something else is in the way"

    def test_the_seed_says_that_it_never_touches_noise(self, seeded, plan):
        assert "never touches mechanism noise" in words(plan("aug-pe"), "caption")
        assert "never touches mechanism noise" not in words(plan("filter"), "caption")

    def test_no_private_input_costs_nothing(self, seeded, plan):
        app = plan("public")
        assert "Nothing private is read" in words(app, "markdown")
        assert not app.button(key="plan.start").disabled

    def test_selection_only_says_so(self, seeded, plan):
        app = plan("rpsg")
        sentence = seeded.open().plan.guarantee("rpsg", corpus_id=seeded.corpus).sentence
        assert sentence[:40] in words(app, "markdown").replace("\\", "")
        assert "Noisy choice, no bound" in words(app, "markdown")


class TestLedger:
    def test_before_anything_the_default_limit_is_whole(self, seeded, visit):
        app = visit("ledger")
        assert "0% of the limit in use" in bars(app)
        assert {metric.label for metric in app.metric} == {"Limit, ε", "A next run may claim, ε"}, (
            "all have a certainty"
        )
        assert all(metric.delta for metric in app.metric), "cards of one height"
        assert "**Left:** a further run may claim ε = 10. Someone who is 10% sure" in words(app, "markdown")
        assert not app.warning
        assert "does not bring budget back" in words(app, "markdown")

    def test_reservation_and_spend_are_lines_and_totals_are_recomputed(self, seeded, visit):
        run_id = start(seeded, 2.0)
        draw_one(seeded, run_id)
        app = visit("ledger")
        lines = next(frame.value for frame in app.dataframe if "In use after" in frame.value)
        assert list(lines["What"]).count("Reserved, partly drawn") == 1, "what a run claimed and drew is one row"
        assert "Reserved" not in set(lines["What"])
        whole = words(app.container(key="ledger.lines.full"), "markdown")
        assert "**Claimed** ε = 2 at δ = " in whole
        assert "**Drawn** votes for the invented texts (budget line " in whole
        totals = next(frame.value for frame in app.dataframe if "Recomputed ε" in frame.value)
        assert float(totals["Recomputed ε"].iloc[0]) == pytest.approx(2.0, rel=1e-3)
        heads = next(json.loads(one.proto.columns) for one in app.dataframe if "Recomputed ε" in one.value)
        assert "apart from what the run claims" in heads["Recomputed ε"]["help"]
        assert "a line of its own" in heads["Noisy answers"]["help"]
        assert totals["State"].iloc[0] == "reserved, partly drawn"
        assert totals["Noisy answers"].iloc[0] == "1 of 11", "as Runs says: ten rounds, and the label shares"
        assert "1 noisy answer drawn" in words(app, "markdown")

    def test_that_parts_come_to_more_than_the_limit_is_said_where_they_do(self, seeded, visit):
        assert "does not add up like money" not in words(visit("ledger"), "caption"), "nothing was drawn"
        workspace = seeded.open()
        run_id = workspace.jobs.synthesize(
            seeded.corpus,
            "aug-pe",
            count=20,
            parameters={"epsilon": 4.0, "votes": "dense", "rounds": 1, "labels": "public"},
        )
        draw_one(seeded, run_id)  # all that it planned
        view = workspace.ledger.of(seeded.corpus)
        assert view.total_epsilon == pytest.approx(4.0, rel=1e-2)
        left, delta = view.remaining_epsilon, view.limit_delta
        assert view.total_epsilon + left > view.limit_epsilon
        both = math.hypot(mu_of(view.total_epsilon, delta), mu_of(left, delta))
        assert epsilon_at(both, delta) <= view.limit_epsilon, "what is said is true of two runs of Gaussian noise"
        said = words(visit("ledger"), "caption")
        assert f"ε = {upward(view.total_epsilon)} drawn and a further run" in said
        assert f"ε = {left:.3g} lose at most ε = {view.limit_epsilon:g} at δ = {view.limit_delta:g} together" in said
        assert more_than_limit(replace(view, unknown_since="2026-01-01T10:00:00+00:00")) == ""

    def test_the_limit_is_set_and_a_late_change_says_so(self, seeded, visit):
        app = visit("ledger")
        app.number_input(key=f"ledger.limit.epsilon.{seeded.corpus}").set_value(6.0).run()
        app.button(key="ledger.limit.set").click().run()
        assert seeded.open().ledger.of(seeded.corpus).limit_epsilon == 6.0
        assert "Noisy answers were already drawn" not in words(app)
        draw_one(seeded, start(seeded, 2.0))
        app = visit("ledger")
        assert "Noisy answers were already drawn" in words(app, "warning")

    def test_what_if_past_the_limit_is_refused(self, seeded, visit):
        app = visit("ledger")
        assert "**Refused.**" not in words(app, "error")
        app.slider(key="ledger.whatif").set_value(16.0).run()
        assert "**Refused.**" in words(app, "error")

    def test_a_release_without_proof_makes_the_total_unbounded(self, seeded, visit):
        workspace = seeded.open()
        workspace.runs.approve_all_pending(seeded.run)
        workspace.releases.make(seeded.run, "exploratory", accept_unbounded=True)
        app = visit("ledger")
        assert "The formal total is unbounded." in words(app, "warning")
        assert {metric.label: metric.value for metric in app.metric}["Total that can be stated, ε"] == "none"
        assert all(metric.delta for metric in app.metric), "cards of one height"
        assert "Drawn so far, ε: unbounded." in words(app, "markdown")
        assert "Unbounded" in words(app, "markdown"), "the sidebar says it on every page"

    def test_chain_holds_and_a_change_is_found(self, seeded, visit):
        start(seeded)
        app = visit("ledger")
        app.button(key="ledger.lines.verify").click().run()
        assert "lines of the ledger hold together" in words(app, "success")
        with sqlite3.connect(seeded.open().folder.database) as connection:  # someone with the file in hand
            for (name,) in connection.execute("select name from sqlite_master where type = 'trigger'").fetchall():
                connection.execute(f"drop trigger {name}")
            connection.execute("update ledger set actor = 'nobody' where seq = (select max(seq) from ledger)")
        app.button(key="ledger.lines.verify").click().run()
        assert "The ledger was changed." in words(app, "error")

    def test_export_holds_every_line_and_no_text(self, seeded):
        start(seeded)
        workspace = seeded.open()
        exported = workspace.ledger.export(seeded.corpus)
        assert len(json.loads(exported)["lines"]) == len(workspace.ledger.of(seeded.corpus).lines)
        text = str(workspace.corpora.records(seeded.corpus, limit=1)["text"].iloc[0])
        assert text[:40] not in exported

    def test_a_corpus_that_comes_back_finds_its_spends(self, seeded, visit):
        draw_one(seeded, start(seeded, 2.0))
        workspace = seeded.open()
        workspace.jobs.cancel(workspace.runs.all(seeded.corpus)[0].id)
        workspace.corpora.delete(seeded.corpus)
        again = workspace.corpora.import_sample("clinic_letters")
        share = workspace.ledger.of(again.id).share
        assert share > 0
        app = visit("ledger", **{"_ui.next_corpus": again.id})
        assert f"{100 * share:.0f}% of the limit in use" in bars(app)
        totals = next(frame.value for frame in app.dataframe if "Recomputed ε" in frame.value)
        assert totals["Run"].iloc[0] == "deleted; its lines stay"

    def test_no_table_is_wider_than_a_narrow_window(self, seeded, visit):
        start(seeded, 2.0)
        seen = set()
        for state in ({}, {"ledger.scope": "Whole workspace"}):
            for frame in visit("ledger", **state).dataframe:
                order = list(frame.proto.column_order or frame.value.columns)
                drawn = json.loads(frame.proto.columns)
                seen.add(order[-1])
                free = NARROW - (MARKER if frame.proto.selection_mode else 0)
                assert sum(drawn[name]["width"] for name in order) <= free, order
        assert seen == {"State", "In use after", "About", "Formal total", "Effect on the formal total"}

    def test_whole_workspace_lists_every_budget(self, seeded, visit, import_small):
        import_small(seeded.open())
        app = visit("ledger", **{"ledger.scope": "Whole workspace"})
        budgets = next(frame.value for frame in app.dataframe if "Formal total" in frame.value)
        assert len(budgets) == 2
        assert budgets["People"].nunique() == 2


class TestRun:
    def test_outputs_drawn_and_reservation_are_shown(self, seeded, visit):
        run_id = start(seeded)
        app = visit("run", **{"run.choice": run_id})
        assert "cancelling or deleting this run gives everything back" in words(app, "markdown")
        draw_one(seeded, run_id)
        app = visit("run", **{"run.choice": run_id})
        assert "1 of 11 noisy answers drawn" in bars(app)  # ten rounds, and the label shares
        assert "draws none twice" in words(app, "markdown")

    def test_what_is_said_of_a_budget_follows_from_what_was_drawn(self, seeded, visit):
        assert run_budget.sentence(3, 3, SPENT, 4.0) == "All budget of this run is spent, for good: ε = 4."
        assert run_budget.sentence(2, 3, SPENT, 4.0) == "What was drawn is spent for good."
        workspace, run_id = seeded.open(), start(seeded, 2.0)
        assert "given back" in run_budget.after_deletion(workspace, workspace.runs.get(run_id))
        draw_one(seeded, run_id)
        self.finished(seeded, run_id)
        share = workspace.ledger.of(seeded.corpus).share
        app = visit("run", **{"run.choice": run_id})
        app.button(key="run.delete").click().run()
        assert "What this run drew of its budget stays spent" in words(app, "markdown")
        app.button(key="run.delete.sure").click().run()
        assert 0 < workspace.ledger.of(seeded.corpus).share <= share
        assert run_budget.after_deletion(workspace, workspace.runs.get(seeded.run)) == "", "it claims nothing"

    def test_outputs_stand_in_their_order_across(self, seeded, visit):
        app = visit("run", **{"run.choice": seeded.run})
        rows = [block for block in app.get("column") if any(str(one.value).isdigit() or " · " in str(one.value)
                for one in block.text)]  # fmt: skip
        first = [str(block.text[0].value).partition(" · ")[0] for block in rows]
        kept = seeded.open().runs.get(seeded.run).kept
        assert first == [str(n) for n in range(1, min(6, kept) + 1)]

    def test_rounds_are_drawn_and_marked_internal(self, seeded, visit):
        from engine.store.database.schema import runs

        with seeded.open().session.db.write() as connection:
            pair = {"first": "A ![needle](http://x/a.png)", "second": "B", "similarity": 0.91}
            noted = {
                "rounds": {str(i): {"iteration": i, "self_similarity": 0.5 - i / 20} for i in (1, 2, 3)},
                "iterations": [
                    {"iteration": 1, "most_similar": []},
                    {"iteration": 2, "most_similar": [pair | {"first": "an earlier round's"}]},
                    {"iteration": 3, "most_similar": [pair]},
                ],
            }
            connection.execute(runs.update().where(runs.c.id == seeded.run).values(diagnostics=noted))
        app = visit("run", **{"run.choice": seeded.run})
        assert "Round by round" in words(app, "subheader")
        assert "internal, may not be released" in words(app, "markdown")
        assert "0.45 at first, 0.35 after round 3." in words(app, "markdown")
        assert "Cosine **0.910**" in words(app, "markdown")
        assert "needle" not in words(app), "model output never goes through Markdown"
        assert any("needle" in element.value for element in app.text)
        rounds = app.selectbox(key=f"run.rounds.pairs.{seeded.run}")
        assert (rounds.options, rounds.value) == (["3", "2"], 3)
        rounds.set_value(2).run()
        assert any("an earlier round's" in element.value for element in app.text)
        assert not any("needle" in element.value for element in app.text)

    @pytest.mark.parametrize(
        ("kept", "warned"),
        [
            ({"true_votes_kept": 0.42, "true_votes_error": 0.02}, False),
            ({"true_votes_kept": 0.22, "true_votes_error": 0.02}, True),
            ({}, True),
        ],
    )
    def test_votes_kept_stand_beside_chance_and_warn_at_chance(self, seeded, visit, kept, warned):
        from engine.store.database.schema import runs

        noted = {"rounds": {str(i): {"iteration": i, "votes_chance": 0.2, **kept} for i in (1, 2)}}
        with seeded.open().session.db.write() as connection:
            connection.execute(runs.update().where(runs.c.id == seeded.run).values(diagnostics=noted))
        app = visit("run", **{"run.choice": seeded.run})
        said = words(app, "warning") if warned else words(app, "markdown")
        assert f"Votes kept: {kept.get('true_votes_kept', 'cannot be told')}" in said
        assert "chance 0.20" in said
        assert warned == ("Votes kept" in words(app, "warning"))

    def test_one_round_has_no_curve_but_its_most_similar_texts(self, seeded, visit):
        from engine.store.database.schema import runs

        pair = {"first": "Text one.", "second": "Text two.", "similarity": 0.5}
        noted = {"rounds": {"1": {"iteration": 1}}, "iterations": [{"iteration": 1, "most_similar": [pair]}]}
        with seeded.open().session.db.write() as connection:
            connection.execute(runs.update().where(runs.c.id == seeded.run).values(diagnostics=noted))
        app = visit("run", **{"run.choice": seeded.run})
        assert "internal, may not be released" in words(app, "markdown")
        assert {"Text one.", "Text two."} <= {element.value for element in app.text}

    def test_filters_are_scored_attacked_and_counted_anew(self, seeded, visit):
        from engine.store.database.schema import runs

        noted = {
            "scores": {"similarity": [0.1, 0.2, 0.9, 0.3], "nll": [3.0, 1.0, 2.0, 2.5], "retained": [0, 3]},
            "attack": {
                "nearest_output": [{"similarity_keep": 0.5, "nll_keep": 1.0, "retained": 2, "auc": 0.625}],
                "variants_model": 0.71,
                "without_nll": {"outputs": 4, "auc": 0.8},
                "with_nll": {"outputs": 2, "auc": 0.6},
            },
        }  # fmt: skip
        with seeded.open().session.db.write() as connection:
            connection.execute(runs.update().where(runs.c.id == seeded.run).values(diagnostics=noted))
        app = visit("run", **{"run.choice": seeded.run})
        text = words(app, "markdown")
        assert "between 0.62 and 0.62" in text
        assert "without the likelihood filter (4): AUC 0.80; with it (2): 0.60" in text
        app.slider(key="run.filters.similarity").set_value(50.0)
        app.slider(key="run.filters.nll").set_value(50.0).run()
        assert "Of 4 outputs 2 pass the cosine filter (at most 0.200) and 1 the likelihood filter" in words(app)

    def finished(self, seeded, run_id: str) -> None:
        from engine.store import queue
        from engine.store.database.schema import runs

        workspace = seeded.open()
        with workspace.session.db.write() as connection:
            queue.finish(connection, workspace.runs.get(run_id).job_id, "done")
            connection.execute(runs.update().where(runs.c.id == run_id).values(state="done"))

    def test_the_reference_without_private_text_is_offered_and_made(self, seeded, visit):
        run_id = start(seeded)
        self.finished(seeded, run_id)
        app = visit("run", **{"run.choice": run_id})
        app.button(key="run.bought.make").click().run()
        assert not app.exception
        made = seeded.open().runs.all(seeded.corpus)[0]
        assert (made.method, made.count) == ("public", 20)
        assert "is being made" in words(app, "caption")

    def test_what_epsilon_bought_is_said_once_both_are_examined(self, seeded, visit, add_run, examine):
        from engine.store.database.schema import runs

        workspace = seeded.open()
        claim = workspace.plan.guarantee("aug-pe", corpus_id=seeded.corpus, parameters={"labels": "public"}).as_dict()
        records = [{"text": f"A visit about point {i}.", "label": None, "lineage": None} for i in range(30)]
        other = add_run(workspace, seeded.corpus, records, method="public", title="Public prompts")
        with workspace.session.db.write() as connection:
            connection.execute(runs.update().where(runs.c.id == seeded.run).values(guarantee=claim, method="aug-pe"))
        app = visit("run", **{"run.choice": seeded.run})
        assert "the reference must be examined first" in words(app, "markdown")
        examine(workspace, other)
        app = visit("run", **{"run.choice": seeded.run})
        assert "ε = 4 made the text better than no private input at all on" in words(app, "markdown")
        table = seeded.open().examinations.compare([other, seeded.run])
        shown = told_apart(table, seeded.run, other)
        assert 0 < len(shown) <= 3
        assert list(shown.columns) == ["Measure", "Without private text", "This run", "Good is", "This run is"]
        row = table[(table["group"] == "utility") & table[f"{seeded.run} against first"].isin(("better", "worse"))]
        assert set(shown["Measure"]) <= {engine.MEASURES[name].title for name in row["name"]}
        assert "| Measure | Without private text | This run | Good is | This run is |" in words(app, "markdown")


class TestSentences:
    @pytest.mark.parametrize(
        ("counts", "expected"),
        [
            ((3, 0, 1), "ε = 4 made the text better than no private input at all on 3 of 4 measures; on 1 one cannot"),
            ((0, 2, 0), "worse on 2. So far the budget bought nothing that shows."),
            ((0, 0, 0), "Nothing about utility was measured on both."),
        ],
    )
    def test_bought(self, counts, expected):
        assert expected in bought(4.0, *counts)

    def test_certainty_is_never_claimed(self):
        sentence = prior_sentence(0.99, posterior(0.99, 10.0), 1e-4, "a record", "zero-out")
        assert "**99%** sure" in sentence
        assert "100" not in sentence.replace("10,000", "")
        assert "1 in 10,000" in sentence

    def test_rounds_are_read_either_way_round(self):
        assert series({"fid": {"2": 1.0, "10": 0.5}, "kept": 7}) == {"fid": {2: 1.0, 10: 0.5}}
        noted = {"rounds": {"1": {"iteration": 1, "votes": 3, "fid": 2.0}}}
        assert series(noted) == {"votes": {1: 3.0}, "fid": {1: 2.0}}
        assert series({"dropped": {"short": 3}}) == {}

    def test_the_reference_is_the_examined_one_of_the_nearest_size(self, seeded, add_run):
        workspace = seeded.open()
        for count in (5, 40):
            add_run(workspace, seeded.corpus, [{"text": "x", "label": None, "lineage": None}] * count, method="public")
        runs = workspace.runs.all(seeded.corpus)
        mine = next(run for run in runs if run.id == seeded.run)
        assert reference(mine, runs).count == 40
        assert reference(mine, [run for run in runs if run.method != "public"]) is None


def test_what_real_texts_score_is_a_line_in_the_figure_of_its_measure():
    courses = {
        "fid": {1: 0.5, 2: 0.4}, "fid_real": {1: 0.1, 2: 0.3}, "selected": {1: 9.0, 2: 9.0}, "population": {1: 1.0},
        "votes": {1: 3.0, 2: 3.0}, "true_votes_kept": {1: 0.4, 2: 0.5}, "votes_chance": {1: 0.2, 2: 0.2},
    }  # fmt: skip
    shown, lines = drawn(courses)
    assert set(shown) == {"fid", "votes", "true_votes_kept"}
    assert lines == {"fid": ("real against real", pytest.approx(0.2)), "true_votes_kept": ("chance", 0.2)}
    assert "selected" in drawn({"selected": {1: 9.0, 2: 8.0}})[0]
