"""Methods on the Plan page: cards by what they promise, what is recommended, and which one is chosen."""

from __future__ import annotations

import typing
from dataclasses import replace

import pytest

import engine
from engine import Recommended
from pages._ui.current import RUN, RUNS
from pages._ui.methods import method_cards
from pages._ui.methods.method_cards import ALL, CHOICE
from pages._ui.methods.parameter_names import GROUPS as NAMED
from pages._ui.methods.parameter_names import VALUES
from pages._ui.methods.parameters import grouped
from pages._ui.plan import dock, lasting
from pages._ui.plan.leaving import Ways
from pages._ui.plan.words import CARDS, FACES, GROUPS, card_of, group_of

TERMS = ("ε", "σ", "control code", "goldfish", "clip", "virtual token", "gradient", "LoRA", "DP-SGD", "et al", "20")


@pytest.fixture
def decks(monkeypatch):
    """Return what the browser was given to draw, by deck; the last drawing of each."""
    found = {}
    monkeypatch.setattr(method_cards, "_COMPONENT", lambda **given: found.update({given["key"]: given}))
    return found


def ids(deck) -> list[str]:
    return [card["id"] for group in deck["data"]["groups"] for card in group["cards"]]


def test_every_method_has_a_card_in_plain_words_and_a_group(seeded):
    specs = seeded.open().plan.methods()
    assert set(CARDS) == {spec.id for spec in specs}
    assert {group_of(spec) for spec in specs} == set(GROUPS) == set(FACES)
    assert len({card_of(spec).name for spec in specs}) == len(specs)
    for spec in specs:
        card = card_of(spec)
        face = " ".join((card.name, card.does, card.good, card.mind))
        assert not [term for term in TERMS if term in face], (spec.id, face)
        assert card_of(engine.get_method(f"filter:{spec.id}").spec if spec.id != "filter" else spec) == card


def test_what_is_bad_for_anything_that_leaves_stands_apart(seeded):
    apart = {spec.id for spec in seeded.open().plan.methods() if group_of(spec) == "inside"}
    assert apart == {"icl", "finetune"}


def test_a_few_are_recommended_and_the_rest_is_folded(seeded, visit, decks):
    app = visit("plan")
    shown = ids(decks["plan.cards"])
    assert 3 <= len(shown) <= 5
    assert app.session_state[CHOICE] == shown[0] == decks["plan.cards"]["data"]["chosen"]
    assert "plan.cards.all" not in decks
    visit("plan", **{ALL: True})
    everything = decks["plan.cards.all"]["data"]["groups"]
    assert (decks["plan.cards"]["data"]["list"], decks["plan.cards.all"]["data"]["list"]) == (False, True)
    assert [group["title"] for group in everything] == list(GROUPS.values())
    assert sorted(ids(decks["plan.cards.all"])) == sorted(spec.id for spec in seeded.open().plan.methods())


def test_a_method_chosen_elsewhere_is_never_hidden(seeded, visit, decks):
    app = visit("plan", **{CHOICE: "goldfish"})
    assert app.session_state[CHOICE] == "goldfish"
    assert ids(decks["plan.cards"])[0] == "goldfish"
    assert card_of(engine.get_method("goldfish").spec).name in [head.value for head in app.subheader]


def drafted(workspace, corpus_id: str, method: str):
    """Return the verdict on a method's run by the standard preset, as the bar with Start gives it."""
    standard = next(preset for preset in engine.presets_of(method) if preset.id == "standard")
    count = standard.count(engine.get_method(method).spec, workspace.ledger.facts(corpus_id))
    return workspace.plan.draft(corpus_id, method, count=count, parameters=dict(standard.parameters)).verdict


def test_a_card_says_of_people_what_the_verdict_on_its_run_says(seeded, visit, decks):
    visit("plan", **{ALL: True})
    workspace, here = seeded.open(), seeded.open().ledger.facts(seeded.corpus).units
    cards = [card for group in decks["plan.cards.all"]["data"]["groups"] for card in group["cards"]]
    seen = set()
    for card in cards:
        verdict = drafted(workspace, seeded.corpus, card["id"])
        seen.add(verdict.level)
        said = {
            "weak": ", weak signal here", "noise": ", mostly noise here", "pending": ", signal being computed",
        }.get(verdict.level, "")  # fmt: skip
        assert card["badge"] == FACES[group_of(engine.get_method(card["id"]).spec)][0] + said, card["id"]
        takes = "" if verdict.units is None else f"Needs about {verdict.units:,} people; there are {here}."
        assert card["takes"] == takes
        proven = engine.get_method(card["id"]).spec.kind == "dp"
        assert bool(card["signal"]) is (proven and verdict.level in ("enough", "pending", "unknown"))
        assert verdict.units is None or f"Takes about {verdict.units:,} people; here are {here}." in verdict.sentence
    assert seen & {"weak", "noise"}, "the sample is small"
    assert not [card["id"] for card in cards if "hundreds" in card["good"] or "thousands" in card["good"]]


def test_one_card_is_marked_and_it_is_none_that_noise_drowns(seeded, visit, decks):
    app = visit("plan")
    cards = [card for group in decks["plan.cards"]["data"]["groups"] for card in group["cards"]]
    (marked,) = [card for card in cards if card["best"] and not card["best"].startswith("Can be released: ")]
    assert app.session_state[CHOICE] == marked["id"]
    assert drafted(seeded.open(), seeded.corpus, marked["id"]).level != "noise"
    assert [said for said in app.caption if said.value.startswith(f"**{marked['best']}: {marked['name']}.** ")]


def test_where_noise_drowns_each_the_first_stands(seeded):
    workspace = seeded.open()
    corpus = workspace.corpora.get(seeded.corpus)
    drafts = method_cards.Drafts(workspace, corpus)
    weak, noise, other = (Recommended(name, "Why.") for name in ("dp-topics", "dp-finetune", "filter"))
    assert [drafted(workspace, seeded.corpus, one.method).level for one in (weak, noise)] == ["weak", "noise"]
    assert method_cards.best(drafts, [noise]) == "dp-finetune"
    assert method_cards.best(drafts, [noise, other]) == "filter"
    assert method_cards.best(drafts, [weak, other]) == "dp-topics", "the measured order stays"
    for one in (weak, noise):
        assert method_cards.why(drafts, one) == drafted(workspace, seeded.corpus, one.method).sentence


def test_a_card_says_what_the_last_run_took(seeded, visit, decks):
    visit("plan", **{ALL: True})
    run = next(run for run in seeded.open().runs.all(seeded.corpus) if run.state == "done" and run.kept)
    for card in (card for group in decks["plan.cards.all"]["data"]["groups"] for card in group["cards"]):
        found = lasting.last(seeded.open().runs.all(seeded.corpus), card["id"], "builtin")
        assert (f"; {lasting.last_words(found)}" in card["cost"]) if found else ("last time" not in card["cost"])
    workspace = seeded.open()
    again = workspace.plan.draft(
        run.corpus_id, run.method, count=run.count, parameters=dict(run.parameters), model=run.model
    ).plan.seconds  # fmt: skip
    slow = replace(run, id="r-slow", seconds=7.0 * max(again, lasting.LEAST))
    assert lasting.measured(workspace, slow).of(again) == pytest.approx(slow.seconds), "what it took"
    assert lasting.pace(workspace, None).of(3.0) == 3.0
    took = replace(run, seconds=360.0, kept=100, model="builtin")
    later = replace(took, id="r-later", created="9999", seconds=22.0, state="failed")
    assert lasting.last_words(lasting.last([took, later], run.method, "builtin")) == "last time 6 min for 100 texts"
    assert lasting.last([took], run.method, "another") is None
    assert lasting.about(0.2) == "Some seconds to get ready"


def test_what_a_short_run_took_to_get_ready_counts_for_a_long_one(seeded):
    workspace = seeded.open()
    run = next(run for run in workspace.runs.all(seeded.corpus) if run.state == "done" and run.method == "surrogate")
    short = replace(run, id="r-short", seconds=9.0)
    reckoned = workspace.plan.draft(
        run.corpus_id, run.method, count=run.count, parameters=dict(run.parameters), model=run.model
    ).plan.seconds  # fmt: skip
    assert reckoned < lasting.LEAST
    assert lasting.measured(workspace, short).of(reckoned + 2.0) == pytest.approx(11.0)


def test_what_a_release_would_end_stands_in_its_own_line(seeded):
    workspace = seeded.open()
    unproven, proven = (workspace.plan.draft(seeded.corpus, name, count=20) for name in ("filter", "aug-pe"))
    assert "no total of privacy loss can be promised" in dock.consequence(unproven)
    assert dock.consequence(proven) == ""
    assert "unbounded" not in dock.cost(unproven)
    assert "no budget is spent" in dock.cost(unproven)


def test_a_method_that_takes_more_people_says_so(seeded):
    workspace = seeded.open()
    corpus, spec = workspace.corpora.get(seeded.corpus), engine.get_method("dp-topics").spec
    face = method_cards.face_of(
        method_cards.Drafts(workspace, corpus), spec, Recommended("dp-topics", "Takes 300.", fits=False)
    )
    assert face["badge"] == "Proven bound, too few people here"
    assert face["tone"] == "few"


def test_a_run_that_was_started_is_the_one_that_is_shown(seeded, visit):
    app = visit("plan", **{CHOICE: "surrogate", RUNS: seeded.run, RUN: seeded.run})
    app = app.button(key="plan.start").click().run()
    assert not app.exception
    new = {run.id for run in seeded.open().runs.all()} - {seeded.run, seeded.other}
    assert {app.session_state[RUNS]} == {app.session_state[RUN]} == new


def test_settings_stand_in_groups_and_each_is_drawn_once(seeded):
    for spec in seeded.open().plan.methods():
        names = list(spec.parameters.model_fields)
        parts = grouped(names)
        assert sorted(name for held in parts.values() for name in held) == sorted(names)
        assert list(parts) == [group for group in NAMED if group in parts]
        for (name, value), said in VALUES.items():
            if name in names and spec.id == "dp-topics":
                assert value in typing.get_args(spec.parameters.model_fields[name].annotation), (name, said)


def test_values_are_told_in_words_and_what_a_setting_does_in_its_help(seeded, visit):
    app = visit("plan", **{CHOICE: "dp-topics"})
    box = app.selectbox(key=f"plan.set.{seeded.corpus}.dp-topics.adjacency")
    assert box.options[:2] == ["is left out (zero-out)", "is replaced by another (replace-one)"]
    assert box.value == "zero-out"
    assert "Neighbouring corpora" in box.help
    assert not [said for said in app.caption if "Neighbouring corpora" in said.value]
    assert [head for head in app.markdown if head.value == "**Budget and proof**"]


def test_where_the_first_method_cannot_be_released_another_card_says_what_can(seeded, visit, decks):
    """The seeded corpus has few set aside, so a limit beside them can hardly be met without a proof."""
    workspace = seeded.open()
    corpus = workspace.corpora.get(seeded.corpus)
    drafts = method_cards.Drafts(workspace, corpus)
    ways = Ways(tuple(workspace.releases.policies()), corpus.holdout_units, engine.enough_for("researchers"))
    recommended = [Recommended("filter", "New text."), Recommended("public", "No private text.")]
    faces = [method_cards.face_of(drafts, engine.get_method(one.method).spec, one, {}, "") for one in recommended]
    assert ways.way(drafts.of(engine.get_method("filter").spec).guarantee) is None
    method_cards.lead_out(drafts, recommended, faces, ways)
    assert [(face["best"], face["weak"]) for face in faces] == [
        ("First choice, stays inside", True), ("Can be released: Proof alone", False),
    ]  # fmt: skip
