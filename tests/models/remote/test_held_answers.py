"""Servers that are held to given answers and kept from tokens, and those that only say so: real processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from engine.errors import UserError
from engine.models.constraints import Blocklist
from engine.models.contracts import Choosing, Constraints, Sampling
from engine.models.remote.consent import Consent
from engine.models.remote.endpoint import EndpointGenerator
from engine.models.remote.endpoint_forms import CHOICE_FORMS, TOKEN_FORMS, biased, chosen, held_to, token_ids
from engine.models.remote.endpoint_probe import choice_form, probed, token_form
from engine.models.remote.endpoint_settings import EndpointSettings
from tests.models.serving import Served, serving

KINDS = ["the bill", "a delay", "the weather"]
AT_SERVER = {"json_schema": "response_format"}


def generator(server: Served, **values) -> EndpointGenerator:
    given = {"name": "test", "url": server.url, "model": "builtin", "tries": 1, "timeout_seconds": 60.0}
    return EndpointGenerator(EndpointSettings(**(given | values)))


@pytest.fixture(scope="module")
def real() -> Iterator[Served]:
    """Return a server of the built-in model that follows biases and is held to answers by its own probabilities."""
    with serving("--choices", "structured_outputs", "--tokens", "prompt") as server:
        yield server


@pytest.mark.parametrize("form", CHOICE_FORMS)
@pytest.mark.parametrize("api", ["chat", "completions"])
def test_each_form_is_found_and_followed(form, api):
    with serving("--plain", "--choices", AT_SERVER.get(form, form)) as server:
        assert choice_form(generator(server, api=api)) == form
        one = generator(server, api=api, choice_form=form)
        assert isinstance(one, Choosing)
        assert "choices" in one.capabilities
        among = [KINDS, ['say "no"', "a\\b", "Label: x\nConfidence: 90"]] * 4
        made = one.choose(["What is it about?"] * 8, among, Sampling(seed=2))
        assert all(answer in own for answer, own in zip(made, among, strict=True))
        assert len(set(made)) > 2
        assert made == one.choose(["What is it about?"] * 8, among, Sampling(seed=2))


@pytest.mark.parametrize("odd", ["ignores", "refuses", "outside", "fails"])
def test_a_server_that_does_not_follow_is_found_out(odd):
    """One that passes over what it is asked, answers 400 or 500 to it, or answers outside of what it was given."""
    with serving("--plain", "--choices", "guided_choice", "--tokens", "prompt", "--odd", odd) as server:
        found = probed(generator(server))
        assert (found.choice_form, found.token_form) == ("", "")
        assert found.scores
        one = generator(server)
        assert "choices" not in one.capabilities
        with pytest.raises(UserError, match="test it on the Models page"):
            one.choose(["x"], [KINDS], Sampling())
        if odd in ("ignores", "outside"):  # and one that changed its ways since it was tested gives no answer
            trusted = generator(server, choice_form="guided_choice")
            assert trusted.choose(["x"] * 3, [KINDS] * 3, Sampling(max_new_tokens=6)) == [None] * 3


@pytest.mark.parametrize("form", TOKEN_FORMS)
def test_token_ids_count_only_where_biases_are_followed(form):
    with serving("--plain", "--tokens", form) as server:
        assert token_form(generator(server)) == form
    with serving("--plain") as server:
        assert token_form(generator(server)) is None
    with serving("--plain", "--tokens", form, "--odd", "ignores") as server:
        assert token_form(generator(server)) is None


def test_the_models_own_probabilities_choose(real):
    assert choice_form(generator(real)) == "structured_outputs"
    one = generator(real, choice_form="structured_outputs", api="completions")
    among = ["he went home on the train", "xq zzkv wq jjx qqv"]
    made = one.choose(["The man was tired and"] * 12, [among] * 12, Sampling(temperature=1.0, seed=4))
    assert Counter(made)[among[0]] == 12


def test_a_real_model_keeps_a_token_out(real):
    assert token_form(generator(real)) == "prompt"
    one = generator(real, api="completions")
    sampling = Sampling(max_new_tokens=8, temperature=1.0, top_k=0, top_p=1.0, seed=1)
    (token, *_) = one.token_ids(" the", "prompt")
    assert len(set(one.leaning(["It was", "She said"], sampling, [token], 100.0))) == 1
    plain = one.leaning(["It was on"] * 20, sampling, [1_000_000 % 7 + 500])  # a bias of some other token
    kept_out = one.leaning(["It was on"] * 20, sampling, [token])
    assert any(token in one.token_ids(text, "prompt") for text in plain)
    assert not any(" the " in text for text in kept_out)


def test_a_blocked_value_is_asked_for_anew_with_its_token_kept_out():
    """Where the server follows biases, the second try is another text; where not, tries go on as they did."""
    blocked = Constraints(("letter",))
    with serving("--plain", "--tokens", "prompt") as server:
        with_bias = generator(server, token_form="prompt")
        made = with_bias.generate(["x"] * 12, Sampling(max_new_tokens=12, seed=1), blocked)
        seen = server.stats()
        assert not any(Blocklist(blocked.blocked).contains(text.text) for text in made)
        assert with_bias.usage.blocked > 0
        assert with_bias.usage.biased == with_bias.usage.blocked  # one more try each: the word cannot come again
        assert all(text.tokens == 12 for text in made)  # so nothing had to be cut
        assert set(seen["tokenized"]) == {" letter", "letter"}
        assert sum(bool(bias) for bias in seen["biases"]) == with_bias.usage.biased
        plain = generator(server)
        plain.generate(["x"] * 12, Sampling(max_new_tokens=12, seed=1), blocked)
        assert plain.usage.biased == 0
        assert plain.usage.blocked >= with_bias.usage.blocked
        assert len(server.stats()["tokenized"]) == len(seen["tokenized"])


def test_numbers_and_short_pieces_are_not_kept_out():
    """Their first tokens stand in much else: the text is checked all the same."""
    with serving("--plain", "--tokens", "prompt") as server:
        one = generator(server, token_form="prompt")
        assert one._transport.run(lambda _: one._begins(["5551234", "zz"]), 1) == [[]]
        assert len(one._transport.run(lambda _: one._begins(["letter"]), 1)[0]) == 2
        assert server.stats()["tokenized"] == [" zz", "zz", " letter", "letter"]


def test_another_machine_is_not_told_what_is_blocked():
    """A consent covers prompts; words that must not be written are not among them."""
    settings = EndpointSettings("far", "https://192.0.2.7/v1", "m", tries=1, token_form="prompt")
    one = EndpointGenerator(settings, "key", Consent("c-1", "far", "192.0.2.7:443", "me", "now", "agreed on", 1))

    async def asked(*_: object, **__: object) -> dict[str, object]:
        raise AssertionError("a request was made")

    one._transport.request = asked
    assert one._transport.run(lambda _: one._begins(["Quackenbush"]), 1) == [[]]


def test_forms_are_read_as_they_are_written():
    assert held_to("grammar", ['a"b', "c\nd\\"]) == {"grammar": 'root ::= "a\\"b" | "c\\nd\\\\"'}
    assert chosen("json_schema", '{"answer": "a delay"}', KINDS) == "a delay"
    for reply in ("a delay", "[]", '{"answer": 3}', '{"other": "a delay"}', ""):
        assert chosen("json_schema", reply, KINDS) is None
    assert chosen("guided_choice", " a delay\n", KINDS) == "a delay"
    assert chosen("guided_choice", "a delay, perhaps", KINDS) is None
    assert token_ids({"tokens": [3, 4]}) == [3, 4]
    for odd in ({"tokens": [3, "4"]}, {"tokens": 3}, {}, {"tokens": {"3": 4}}):
        assert token_ids(odd) == []
    assert biased([]) == {}
    assert len(biased(range(1000))["logit_bias"]) == 300


def test_settings_of_other_forms_are_refused():
    for name in ("choice_form", "token_form"):
        with pytest.raises(UserError, match=name):
            EndpointSettings("a", "http://127.0.0.1:1/v1", "m", **{name: "guess"})
    kept = EndpointSettings("a", "http://127.0.0.1:1/v1", "m", choice_form="grammar", token_form="content")
    assert EndpointSettings.from_dict(kept.as_dict()) == kept
