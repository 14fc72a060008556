"""Methods on the Plan page: cards by what they promise, what is recommended, and which one is chosen."""

from __future__ import annotations

import pytest

import engine
from engine import Recommended
from pages._ui.current import RUN, RUNS
from pages._ui.methods import method_cards
from pages._ui.methods.method_cards import ALL, CHOICE
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
    assert [group["title"] for group in everything] == list(GROUPS.values())
    assert sorted(ids(decks["plan.cards.all"])) == sorted(spec.id for spec in seeded.open().plan.methods())


def test_a_method_chosen_elsewhere_is_never_hidden(seeded, visit, decks):
    app = visit("plan", **{CHOICE: "goldfish"})
    assert app.session_state[CHOICE] == "goldfish"
    assert ids(decks["plan.cards"])[-1] == "goldfish"
    assert card_of(engine.get_method("goldfish").spec).name in [head.value for head in app.subheader]


def test_a_method_that_takes_more_people_says_so(seeded, monkeypatch):
    monkeypatch.setattr(method_cards, "_cost", lambda *given: "About 2 s")  # kept by session, and here is none
    workspace = seeded.open()
    corpus, spec = workspace.corpora.get(seeded.corpus), engine.get_method("dp-topics").spec
    face = method_cards.face_of(workspace, corpus, spec, Recommended("dp-topics", "Takes 300.", fits=False))
    assert face["badge"] == "Proven bound, too few people here"
    assert face["tone"] == "few"


def test_a_run_that_was_started_is_the_one_that_is_shown(seeded, visit):
    app = visit("plan", **{CHOICE: "surrogate", RUNS: seeded.run, RUN: seeded.run})
    app = app.button(key="plan.start").click().run()
    assert not app.exception
    new = {run.id for run in seeded.open().runs.all()} - {seeded.run, seeded.other}
    assert {app.session_state[RUNS]} == {app.session_state[RUN]} == new
