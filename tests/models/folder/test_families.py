"""Every family of models, whole: opened, written with, scored, blocked, stepped, steered, tuned with noise and without.

The default suite asks eight families, the slow one the rest.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms, PrivateData
from engine.dp.noise.train import Document, Training
from engine.errors import UserError
from engine.models.constraints import Blocklist
from engine.models.contracts import Constraints, Sampling
from engine.models.folder.hidden_states import layers_of, mean_states, moved_states
from engine.models.folder.inspection import inspect_folder
from engine.models.folder.logits import PromptedModel, logit_source
from engine.models.folder.transformers_local import TransformersGenerator
from engine.models.tune.learner import LearnerSettings, NetLearner
from engine.models.tune.prefix_nets import FolderPrefix, prefix_base
from engine.models.tune.prefix_tuning import Objective, Pair, PrefixLearner, PrefixSettings
from engine.models.tune.tunable import Adapter, FolderTunable, tunable
from tests.models.families import FAMILIES, QUICKLY, TEXT, make_family

LONG = "Anna Berg from Bergen was glad about it and the parcel came late "  # longer than the shortest window
SENTENCE = "The clinic answered on the same day."
DOCUMENTS = [
    Document(SENTENCE, "yes"),
    Document("No.", "no"),
    Document("Anna Berg was glad about the letter, and so was everybody else.", "yes"),
]


@dataclass(frozen=True)
class Opened:
    """A family's folder, opened."""

    name: str
    folder: Path
    model: TransformersGenerator

    @property
    def causal(self) -> bool:
        return FAMILIES[self.name].causal


def each(names: Any = FAMILIES) -> list[Any]:
    return [pytest.param(n, marks=() if n in QUICKLY else pytest.mark.slow, id=n) for n in names]


@pytest.fixture(scope="module", params=each())
def one(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Opened:
    folder = make_family(request.param, tmp_path_factory.mktemp("families") / request.param)
    return Opened(request.param, folder, TransformersGenerator(folder, f"folder:{request.param}", dtype=torch.float32))


def test_a_folder_is_what_its_family_is(one):
    facts, family = inspect_folder(one.folder), FAMILIES[one.name]
    assert facts.architecture == family.architecture
    assert facts.kind == ("causal" if family.causal else "seq2seq")
    assert facts.prompts == ("instruct" if family.chat else "plain")
    assert ("train" in one.model.capabilities) == family.causal
    for text in TEXT:
        assert one.model.tokenizer.decode(one.model.tokenizer.encode(text, add_special_tokens=False)) == text


def test_a_text_depends_on_its_prompt_and_place_alone(one):
    model, prompts = one.model, ["The letter", LONG * 2, "hello " * 300, LONG]
    for wanted in (24, 100):  # the second leaves long prompts less room than short ones
        sampling = Sampling(max_new_tokens=wanted, temperature=0.9, seed=wanted)
        together = model.generate(prompts, sampling)
        model.batch_size = 1
        try:
            alone = model.generate(prompts, sampling)
        finally:
            model.batch_size = 16
        assert [m.text for m in together] == [m.text for m in alone]
        assert any(m.text for m in together)
        assert all(m.tokens <= wanted for m in together)


def test_scores_are_log_probabilities_of_every_token(one):
    values = one.model.score([LONG, "", "No."])
    begun = one.model.tokenizer.bos_token_id is not None or not one.causal
    length = len(one.model.tokenizer.encode(LONG, add_special_tokens=False))
    assert [len(values[0]), len(values[1])] == [length if begun else length - 1, 0]
    assert all(np.isfinite(row).all() and (row <= 0).all() for row in values)
    assert -float(values[0].mean()) == pytest.approx(np.log(len(one.model.tokenizer)), rel=0.35)  # random weights


def taught(one: Opened) -> TransformersGenerator:
    """Return the model after it learned one sentence by heart, so that it wants to write its words."""
    model = copy.deepcopy(one.model.model)
    say = [*one.model.tokenizer.encode(SENTENCE, add_special_tokens=False), one.model.ends()[0]]
    asked = one.model._prompting.encode("Say it.", 4)
    ids = asked if not one.causal else [*asked, *say]
    labels = say if not one.causal else [*([-100] * len(asked)), *say]
    steps = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(400):
        loss = model(input_ids=torch.tensor([ids]), labels=torch.tensor([labels])).loss
        if loss.item() < 0.1:
            break
        loss.backward()
        steps.step()
        steps.zero_grad()
    other = copy.copy(one.model)
    other.model = model.eval()
    return other


def test_blocked_words_stay_out_even_where_the_model_knows_nothing_else(one):
    model, asked = taught(one), Sampling(max_new_tokens=60, temperature=0.0)
    free = model.generate(["Say it."] * 3, asked)
    assert [m.text.strip() for m in free] == [SENTENCE] * 3
    assert {m.finish for m in free} == {"stop"}
    words = ("clinic", "Same Day")
    made = model.generate(["Say it."] * 3, asked, Constraints(words))
    assert not any(Blocklist(words).contains(m.text) for m in made)


def test_a_chat_model_is_asked_inside_its_template(one):
    if not FAMILIES[one.name].chat:
        assert not one.model.chat
        return
    text = one.model.tokenizer.decode(one.model.templated("Say it."))
    assert text.count("Say it.") == 1
    begin = one.model.tokenizer.bos_token or "<s>"
    assert text.count(begin) <= 1  # a template that names the start token gets it once
    assert text.replace(" ", "").startswith(("<s>[INST]", "<|im_start|>user", "<s><start_of_turn>user"))


def test_steps_of_logits_are_those_of_the_network(one):
    if not one.causal:
        with pytest.raises(UserError, match="encoder"):
            logit_source(one.model)
        return
    prompted = PromptedModel(
        logit_source(one.model), lambda record: f"Rewrite: {record or ''}", record_tokens=60, room=8
    )
    prefixes, tokens = prompted.start([LONG, "No."]), [70, 81, 90, 100, 101]
    found = [prefixes.logits()]
    for token in tokens:
        prefixes.append(token)
        found.append(prefixes.logits())
    for row, text in enumerate((LONG, "No.")):
        ids = torch.tensor([[*prompted._private(text), *tokens]])
        with torch.inference_mode():
            whole = one.model.model(input_ids=ids).logits[0].float().numpy()
        assert np.stack(found)[:, row] == pytest.approx(whole[-len(tokens) - 1 :], abs=1e-4)


def test_hidden_states_are_read_and_moved(one):
    if not one.causal:
        with pytest.raises(UserError, match="encoder"):
            layers_of(one.model)
        return
    model = one.model
    states = mean_states(model, [LONG, "", "No."], [0, 1])
    assert states.shape == (3, 2, 32)
    assert not states[1].any()
    assert np.array_equal(mean_states(model, ["No."], [0, 1])[0], states[2])
    ids, start = model.tokenizer.encode(LONG, add_special_tokens=False), model.tokenizer.bos_token_id
    row = torch.tensor([ids if start is None else [start, *ids]])
    with torch.inference_mode():
        told = model.model(input_ids=row, output_hidden_states=True).hidden_states
    assert states[0, 0] == pytest.approx(told[1][0, -len(ids) :].mean(0).numpy(), abs=1e-5)
    asked = Sampling(max_new_tokens=12), ["The letter", LONG]
    plain = model.generate(asked[1], asked[0])
    with moved_states(model, {0: np.zeros(32)}):
        assert model.generate(asked[1], asked[0]) == plain
    with moved_states(model, {1: 20 * np.random.default_rng(0).normal(size=32)}):
        assert model.generate(asked[1], asked[0]) != plain
    assert model.generate(asked[1], asked[0]) == plain  # and nothing of it stays


def learner(net: FolderTunable, **settings: Any) -> NetLearner:
    given = {"rate": 1e-2, "steps": 6, "tokens": 24, "half": False} | settings
    return NetLearner(net, lambda label, words: f"{label}:", LearnerSettings(**given), apart=True)


@pytest.mark.parametrize("rank", [3, 0], ids=["adapters", "all weights"])
def test_tuning_learns_keeps_documents_apart_and_opens_again(one, rank, tmp_path):
    if not one.causal:
        with pytest.raises(UserError, match="cannot be trained"):
            tunable(one.model, Adapter(rank=rank))
        return
    net = tunable(one.model, Adapter(rank=rank))
    made = learner(net)
    together, _ = made.gradients(DOCUMENTS)
    alone, _ = made._alone(DOCUMENTS, half=False)
    for many, own in zip(together, alone, strict=True):
        torch.testing.assert_close(many, own, rtol=2e-3, atol=1e-5)
    before = sum(made.losses(DOCUMENTS))
    for step in range(6):
        made.update(step, made.mean_gradient(DOCUMENTS)[0])
    assert sum(made.losses(DOCUMENTS)) < before
    made.finish()
    folder = tmp_path / "tuned"
    folder.mkdir()
    net.save(folder)
    writer, again = net.writer(), TransformersGenerator(folder, "folder:tuned", dtype=torch.float32)
    assert writer.score([LONG])[0] == pytest.approx(again.score([LONG])[0], abs=1e-4)
    assert writer.score([LONG])[0] != pytest.approx(one.model.score([LONG])[0], abs=1e-4)


def test_noisy_tuning_pays_once_and_moves_the_weights(one):
    if not one.causal:
        return
    net = tunable(one.model, Adapter(rank=2))
    made = learner(net)
    before = [weight.detach().clone() for _, weight in net.trained()]
    rows = [(str(i), d.text, f"s{i}", d.label) for i, d in enumerate(DOCUMENTS)]
    records = pd.DataFrame(rows, columns=["record_id", "text", "source_id", "label"])
    held = Mechanisms(
        PrivateData(records, unit="record", cap=1, order_key=b"k" * 32), MemoryOutputs(), unit="record", cap=1
    )
    asked = Training(steps=2, clip=0.5, noise_multiplier=1.0, sampling_probability=1.0, expected=3.0)
    progress = held.train_dp("training", made, asked, fingerprint="f")
    assert (progress.step, held.events[0].count) == (2, 2)
    made.finish()
    assert all(not torch.equal(weight, old) for (_, weight), old in zip(net.trained(), before, strict=True))


def test_a_prefix_is_learned_and_written_behind_as_it_was_learned(one):
    if not one.causal:
        return
    base = prefix_base(one.model)
    assert isinstance(base, FolderPrefix)
    settings = PrefixSettings(virtual_tokens=4, epochs=4, rate=0.3, batch_size=2, objective=Objective(masked=True))
    made = PrefixLearner(base, [Pair("code: x", "Anna Berg wrote on the same day.", ((0, 9),))] * 2, settings)
    fit = made.fit()
    fit.advance(fit.total)
    made.check()
    (written,) = base.writer().generate([LONG], Sampling(max_new_tokens=6, temperature=0.0, top_k=0, top_p=1.0))
    ids, chosen = list(base.net.tokenizer(LONG)["input_ids"]), []
    for _ in range(6):
        real = torch.ones(1, len(ids), dtype=torch.bool)
        with torch.inference_mode():
            token = int(base.logits(torch.tensor([ids]), real, prefix=True)[0, -1].argmax())
        if token == base.net.eos:
            break
        chosen.append(token)
        ids.append(token)
    assert written.text == base.net.tokenizer.decode(chosen, skip_special_tokens=True)


@pytest.mark.slow
def test_half_precision_writes_and_scores(one):
    half = TransformersGenerator(one.folder, "folder:half", dtype=torch.bfloat16)
    assert half.generate(["The letter", LONG], Sampling(max_new_tokens=6))
    assert half.score([LONG])[0] == pytest.approx(one.model.score([LONG])[0], abs=0.3)


def test_the_token_that_closes_a_turn_ends_private_prediction_too(tmp_path):
    folder = make_family("gemma", tmp_path / "gemma")
    model = TransformersGenerator(folder, "folder:gemma", dtype=torch.float32)
    turn = model.tokenizer.convert_tokens_to_ids("<end_of_turn>")
    assert model.ends() == (model.tokenizer.eos_token_id,)
    model.model.generation_config.eos_token_id = [model.tokenizer.eos_token_id, turn]
    assert model.ends() == (turn, model.tokenizer.eos_token_id)
    source = logit_source(model)
    assert source.end == turn
    assert source.allowed[turn]
    assert not source.allowed[model.tokenizer.eos_token_id]
