"""Stepping many prompts together: equal to the network itself, and no row knows of another, to the bit."""

import numpy as np
import pytest
import torch

from engine.errors import UserError
from engine.models.builtin.language_model import load_builtin_generator
from engine.models.folder.logits import BLOCK, PromptedModel, logit_source
from engine.models.prompts.operators_builtin import BuiltinOperators
from tests.models.tiny_models import make_chat, make_t5

TEXTS = ["The parcel came late and wet.", "I cannot log in.", "Refund my ticket, please, as agreed on the phone."] * 7
STEPS = [400, 900, 321]


@pytest.fixture(scope="module")
def source():
    return logit_source(load_builtin_generator())


@pytest.fixture(scope="module")
def model(source):
    operators = BuiltinOperators()

    def prompt(record):
        return operators.prompt("rephrase", domain="reviews", words=20, text=record or "")

    return PromptedModel(source, prompt, record_tokens=24, room=8)


def stepped(prefixes):
    """Return the logits at the start and after each token."""
    found = [prefixes.logits()]
    for token in STEPS:
        prefixes.append(token)
        found.append(prefixes.logits())
    return np.stack(found)


def test_logits_equal_those_of_the_network_read_at_once(model, source):
    found = stepped(model.start(TEXTS[:3]))
    net = load_builtin_generator().net
    for i, text in enumerate(TEXTS[:3]):
        ids = torch.tensor([[*model._private(text), *STEPS]])
        with torch.inference_mode():
            whole = net(ids)[0].float().numpy()
        start = ids.shape[1] - len(STEPS) - 1
        assert found[:, i] == pytest.approx(whole[start:], abs=2e-3)


def test_a_private_row_changes_no_other_row_and_no_public_number_by_a_bit(model):
    whole = stepped(model.start(TEXTS))
    assert whole.shape[1] == len(TEXTS) > BLOCK
    public = stepped(model.start([None]))
    without = stepped(model.start(TEXTS[1:]))  # every other row moves up a place, across the blocks
    assert np.array_equal(without, whole[:, 1:])
    replaced = stepped(model.start(["Something else altogether, " * 9, *TEXTS[1:]]))
    assert np.array_equal(replaced[:, 1:], whole[:, 1:])
    assert not np.array_equal(replaced[:, 0], whole[:, 0])
    assert np.array_equal(stepped(model.start([None])), public)


def test_a_long_record_is_cut_until_its_prompt_fits(model, source):
    shown = model._private("word " * 500)
    assert len(shown) <= len(model._public) + 24 + 8
    assert shown[-1] == model._public[-1]  # the output token stays


def test_control_tokens_are_never_allowed(source):
    assert source.allowed[source.end]
    assert source.allowed.sum() < len(source.allowed)
    assert source.decode([source.end, *source.encode("Plain words.")]) == "Plain words."


def test_texts_too_long_for_the_context_are_refused(source):
    with pytest.raises(UserError, match="tokens"):
        PromptedModel(source, lambda record: "<|bos|>", record_tokens=10, room=source.context)


def test_a_model_without_logits_is_refused():
    with pytest.raises(UserError, match="logits"):
        logit_source(object())


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    from engine.models.folder.transformers_local import TransformersGenerator

    folder = make_chat(tmp_path_factory.mktemp("models") / "chat")
    return TransformersGenerator(folder, "folder:chat", dtype=torch.float32)


def test_a_local_model_steps_like_its_forward_pass_and_keeps_rows_apart(local):
    source = logit_source(local)
    assert "logits" in local.capabilities
    model = PromptedModel(source, lambda record: f"Rewrite: {record or ''}", record_tokens=12, room=8)
    tokens = [70, 81, 92]

    def follow(texts):
        prefixes = model.start(texts)
        found = [prefixes.logits()]
        for token in tokens:
            prefixes.append(token)
            found.append(prefixes.logits())
        return np.stack(found)

    whole = follow(TEXTS)
    ids = torch.tensor([[*model._private(TEXTS[0]), *tokens]])
    with torch.inference_mode():
        plain = local.model(input_ids=ids).logits[0].float().numpy()
    assert whole[:, 0] == pytest.approx(plain[-len(tokens) - 1 :], abs=1e-4)
    assert np.array_equal(follow(TEXTS[1:]), whole[:, 1:])
    assert follow([None]).shape == (4, 1, len(source.allowed))
    assert "<reply>" in local.tokenizer.decode(model._public)


def test_a_model_with_an_encoder_is_refused(tmp_path):
    from engine.models.folder.transformers_local import TransformersGenerator

    held = TransformersGenerator(make_t5(tmp_path / "t5"), "folder:t5", dtype=torch.float32)
    assert "logits" not in held.capabilities
    with pytest.raises(UserError, match="encoder"):
        logit_source(held)
