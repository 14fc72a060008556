"""The questions of the Plan page: what follows from the answers, and that they are remembered."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from engine import Answers, least_aside, propose, recommended
from engine.release.policy.policy import policies
from pages._ui.methods import method_cards
from pages._ui.plan.wizard import few_aside
from pages._ui.release import policy as release_policy


def words(app):
    return "\n".join(str(e.value) for kind in ("markdown", "caption", "info", "success") for e in getattr(app, kind))


def answer(app, corpus: str, **given):
    for name, value in given.items():
        app.selectbox(key=f"plan.wizard.{corpus}.{name}").set_value(value)
    return app.run()


def test_what_was_fixed_at_import_is_said_and_not_asked(seeded, visit):
    app = visit("plan")
    facts, corpus = seeded.open().ledger.facts(seeded.corpus), seeded.open().corpora.get(seeded.corpus)
    said = words(app)
    assert f"People are protected, with at most {corpus.cap} records each; {facts.units} may be learned from." in said
    assert "**Policy for a release**: Research release" in said
    asked = [box.key for box in app.selectbox if str(box.key).startswith("plan.wizard.")]
    assert len(asked) == 3


@pytest.mark.parametrize(("people", "told"), [(60, "too few can be set aside"), (800, "load the file again")])
def test_nobody_is_told_to_set_aside_more_than_there_are(people, told):
    policy = next(one for one in policies() if one.id == "research")
    said = few_aside(policy, SimpleNamespace(holdout_units=9, units=people, unit="source"))  # type: ignore[arg-type]
    assert told in said
    assert str(least_aside(policy)) in said or people == 60
    assert said.startswith("For these readers “Research release” holds.")


def test_above_start_stands_that_the_readers_policy_takes_no_such_run(seeded, visit):
    told = "takes no run of this method"
    app = visit("plan", **{method_cards.CHOICE: "surrogate"})
    assert told not in words(app), "nobody named the readers"
    app = answer(app, seeded.corpus, recipients="public")
    assert told not in words(app), "a method that suits was chosen with the answer"
    app = visit("plan", **{method_cards.CHOICE: "surrogate"})
    assert f"“Public release”, which holds for these readers, {told}" in words(app)


def test_while_no_readers_are_named_every_page_says_the_same(seeded, visit):
    said = "No readers are named on Plan yet: until then “Exploratory” holds, for inside."
    plan = words(visit("plan"))
    assert said in plan
    assert "**Name the readers first:**" in plan
    assert "For researchers" not in plan, "nobody named researchers"
    assert said in words(visit("release"))
    assert "(no readers named yet)" in "".join(e.value for e in visit("plan").sidebar.markdown)


def test_above_start_stands_what_a_run_could_be_released_under(seeded, visit):
    """The seeded corpus has so few set aside that no limit beside them can be met."""
    told = words(visit("plan", **{method_cards.CHOICE: "surrogate"}))
    assert "With this plan: “Exploratory” only, so it stays inside. Not likely to be met: “" in told
    hardly, _, counts = told.partition("Not likely to be met: ")[2].partition(" (only ")
    corpus = seeded.open().corpora.get(seeded.corpus)
    assert re.match(rf"{corpus.holdout_units} set aside, \d+( to \d+)? are needed\)\.", counts)
    assert "“Research release”" in hardly
    assert len(hardly) < 80, "the policies, and nothing else"
    proven = words(visit("plan", **{method_cards.CHOICE: "public"}))
    assert "Could be passed with this plan: “Proof alone” (while nobody examines it), “Exploratory”." in proven


def proposed(seeded, recipients: str, beside: bool = False):
    """Return what the engine proposes for the corpus; how many people there are depends on who was set aside."""
    facts = seeded.open().ledger.facts(seeded.corpus)
    return propose(Answers(True, recipients, facts.labels > 0, beside, facts.units))


@pytest.mark.parametrize(
    ("recipients", "policy"), [("team", "exploratory"), ("organisation", "internal"), ("public", "public")]
)
def test_an_answer_chooses_method_and_policy_and_survives_a_reload(seeded, visit, recipients, policy):
    first = proposed(seeded, recipients).method
    app = visit("plan", **{method_cards.CHOICE: "goldfish"})
    answer(app, seeded.corpus, recipients=recipients)
    assert app.session_state[method_cards.CHOICE] == first
    assert app.session_state[release_policy.CHOICE] == policy
    again = visit("plan")  # a new session: nothing but the store
    assert again.selectbox(key=f"plan.wizard.{seeded.corpus}.recipients").value == recipients
    assert again.session_state[method_cards.CHOICE] == first


def test_a_method_that_was_chosen_for_other_readers_goes_with_them(seeded, visit):
    """Before, its card stayed, as the widest, above what is recommended for the new readers."""

    beside = f"{method_cards.BESIDE}.{seeded.corpus}"
    app = visit("plan", **{method_cards.CHOICE: "goldfish"})
    assert app.session_state[beside] == "goldfish"
    app = answer(app, seeded.corpus, recipients="organisation")
    assert beside not in app.session_state


def test_an_answer_to_another_question_names_no_readers(seeded, visit):
    app = answer(visit("plan"), seeded.corpus, beside=True)
    assert "recipients" not in seeded.open().plan.remembered(seeded.corpus)
    assert release_policy.CHOICE not in app.session_state
    assert app.selectbox(key=f"plan.wizard.{seeded.corpus}.recipients").value == ""
    assert release_policy.standing(seeded.open(), seeded.corpus).id == "exploratory"
    app = answer(app, seeded.corpus, recipients="researchers")
    assert "No readers named yet" not in app.selectbox(key=f"plan.wizard.{seeded.corpus}.recipients").options
    assert app.session_state[release_policy.CHOICE] == "research"


def test_an_answer_keeps_a_chosen_method_that_suits_it(seeded, visit):
    app = visit("plan", **{method_cards.CHOICE: "control-icl-blocked"})
    answer(app, seeded.corpus, recipients="organisation")
    assert app.session_state[method_cards.CHOICE] == "control-icl-blocked"


def test_answers_belong_to_a_corpus(seeded, visit, import_small):
    answer(visit("plan"), seeded.corpus, recipients="team")
    other = import_small(seeded.open())
    app = visit("plan", **{"_ui.next_corpus": other.id})
    readers = app.selectbox(key=f"plan.wizard.{other.id}.recipients")
    assert (readers.value, readers.options[0]) == ("", "No readers named yet")
    assert seeded.open().plan.remembered(other.id) == {}


def test_nobody_is_told_to_load_again_for_what_reads_nothing(seeded, visit):
    app = answer(visit("plan", **{method_cards.CHOICE: "public"}), seeded.corpus, recipients="public")
    assert app.session_state[method_cards.CHOICE] == "public"
    assert "Nobody here has more than" not in words(app), "the sample's cap is the largest count"
    assert not [box for box in app.info if "load the file again" in box.value.lower()]


def test_a_cap_beyond_anybodys_records_is_said(small, open_page):
    workspace = small.open()
    corpus = workspace.corpora.get(small.corpus)
    most = max(int(size) for size in workspace.corpora.statistics(small.corpus).records_per_unit)
    assert most < corpus.cap == 20
    said = words(open_page("plan"))
    assert f"Nobody here has more than {most}, but noise is made for the 20 that were declared." in said
    assert "the count itself is private" in said


def test_reviewers_beside_private_text_change_what_is_recommended(seeded, visit):
    app = answer(visit("plan"), seeded.corpus, beside=True)
    facts = seeded.open().ledger.facts(seeded.corpus)
    suited = recommended(
        Answers(True, "researchers", facts.labels > 0, True, facts.units),
        [spec.id for spec in seeded.open().plan.methods()],
    )
    assert not [one.method for one in suited if one.method in ("aug-pe", "dp-topics")]
    assert app.session_state[method_cards.CHOICE] in [one.method for one in suited]
    assert suited[0].method == proposed(seeded, "researchers", beside=True).method
