"""Gradients a document against one document at a time; adapters; rows; goldfish; what training must not touch."""

import copy
import shutil

import pytest
import torch

from engine.dp.noise.train import Document
from engine.errors import InternalError, UserError
from engine.models.builtin.decoder.llama_net import LlamaNet
from engine.models.builtin.decoder.lora import add_lora, merged, tunable_net
from engine.models.builtin.format import Fields, build_prompt
from engine.models.builtin.language_model import BuiltinGenerator
from engine.models.contracts import Sampling
from engine.models.tune.learner import LearnerSettings, NetLearner
from engine.models.tune.tunable import Adapter, BuiltinTunable, FolderTunable, tunable
from engine.models.tune.tuning_rows import IGNORED, Goldfish, Row, collate, counted, document_losses, rows
from tests.models.small_lm import small_bert_generator, small_generator
from tests.models.tiny_models import make_chat, make_llama, make_t5

DOCUMENTS = [
    Document("The clinic answered on the same day.", "yes"),
    Document("No.", "no"),
    Document("", None),
    Document("Anna Berg was glad about the letter, and so was everybody else in Bergen that day.", "yes"),
]


def prompt(label, words):
    return build_prompt("invent", Fields(domain="clinical", label=label or "", words=words))


@pytest.fixture(scope="module")
def generator():
    return small_generator()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_chat(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return make_llama(tmp_path_factory.mktemp("models") / "llama")


def nets(generator, folder, llama=None):
    return {
        "adapters": lambda: BuiltinTunable(generator, Adapter(rank=3)),
        "some adapters": lambda: BuiltinTunable(generator, Adapter(rank=2, layers=("q_proj", "down_proj"))),
        "all weights": lambda: BuiltinTunable(generator, Adapter(rank=0)),
        "adapters on BERT": lambda: BuiltinTunable(small_bert_generator(), Adapter(rank=3)),
        "all of BERT": lambda: BuiltinTunable(small_bert_generator(), Adapter(rank=0)),
        "peft adapters": lambda: FolderTunable(folder, Adapter(rank=3)),
        "all of GPT-2": lambda: FolderTunable(folder, Adapter(rank=0)),
        "peft adapters on Llama": lambda: FolderTunable(llama, Adapter(rank=3)),
        "all of Llama": lambda: FolderTunable(llama, Adapter(rank=0)),
    }


def learner(net, apart=True, **settings):
    given = {"rate": 1e-2, "steps": 10, "tokens": 24, "half": False} | settings
    return NetLearner(
        net, prompt if not net.bare else lambda label, words: f"{label}:", LearnerSettings(**given), apart=apart
    )


EVERY = [
    "adapters", "some adapters", "all weights", "peft adapters", "all of GPT-2", "peft adapters on Llama",
    "all of Llama", "adapters on BERT", "all of BERT",
]  # fmt: skip


@pytest.mark.parametrize("kind", EVERY)
def test_gradients_side_by_side_are_those_of_one_document_at_a_time(kind, generator, folder, llama):
    net = nets(generator, folder, llama)[kind]()
    with torch.no_grad():  # an adapter at its start has no gradient on its first half
        for _, weight in net.trained():
            weight.add_(0.05 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(1)))
    made = learner(net)
    together, losses = made.gradients(DOCUMENTS)
    assert [tuple(part.shape[1:]) for part in together] == made.shapes()
    made._unhook()
    for i, document in enumerate(DOCUMENTS):
        (row,) = rows(net, [document], made._prompt, 24)
        ids, targets = collate([row], net.eos, torch.device("cpu"))
        loss = document_losses(net.logits(ids, torch.ones_like(ids, dtype=torch.bool)), targets)[0]
        alone = torch.autograd.grad(loss, [weight for _, weight in net.trained()])
        assert losses[i].item() == pytest.approx(loss.item(), rel=1e-5)
        assert max(float(part.abs().max()) for part in alone) > 1e-4
        for one, part in zip(alone, together, strict=True):
            torch.testing.assert_close(part[i], one, rtol=2e-4, atol=2e-6)


def test_a_document_s_gradient_does_not_follow_from_those_beside_it(generator, monkeypatch):
    """Where one unit goes, others are padded and grouped anew; in bfloat16 their gradients then move by a hundredth."""
    from engine.models.tune import learner as learners

    monkeypatch.setattr(learners, "half_pays", lambda device: True)  # as on a processor that is fast in it
    words = "the patient was seen in clinic and feels well today with mild pain in the left knee".split()
    texts = [Document(" ".join((words[i:] + words)[: 4 + i])) for i in range(6)]
    found = {}
    for half in (None, False, True):
        made = learner(BuiltinTunable(generator, Adapter(rank=3)), half=half)
        with torch.no_grad():
            for p in made._weights:
                p.add_(0.01 * torch.randn(p.shape, generator=torch.Generator().manual_seed(1)))
        groups = (made.gradients(texts[1:4])[0], made.gradients(texts[3:])[0])
        found[half] = [torch.cat([part[at].flatten() for part in own]) for at, own in zip((2, 0), groups, strict=True)]
    beside, others = found[None]
    assert float((beside - others).norm() / beside.norm()) < 1e-5
    assert torch.equal(beside, found[False][0])
    assert float((beside - found[True][0]).norm() / beside.norm()) > 1e-4
    assert learner(BuiltinTunable(generator, Adapter(rank=3)), apart=False, half=None)._half


def test_the_mean_gradient_is_the_mean_of_the_documents(generator, folder):
    apart = learner(BuiltinTunable(generator, Adapter(rank=3)))
    plain = learner(BuiltinTunable(generator, Adapter(rank=3)), apart=False)
    single, losses = apart.gradients(DOCUMENTS)
    mean, loss = plain.mean_gradient(DOCUMENTS)
    assert loss == pytest.approx(float(losses.mean()), rel=1e-5)
    for one, many in zip(mean, single, strict=True):
        torch.testing.assert_close(one, many.mean(dim=0), rtol=2e-4, atol=2e-6)


# GPT-2 looks its positions up once for the whole batch, so hooks cannot tell documents apart there.
@pytest.mark.parametrize(
    ("kind", "alone"),
    [
        ("all of GPT-2", True),
        ("peft adapters", False),
        ("peft adapters on Llama", False),
        ("all weights", False),
        ("adapters on BERT", False),
        ("all of BERT", False),
    ],
)
def test_where_hooks_cannot_tell_documents_apart_each_goes_by_itself(kind, alone, generator, folder, llama):
    assert learner(nets(generator, folder, llama)[kind]()).one_by_one is alone


def test_hooks_that_mix_documents_up_are_found_out(generator, monkeypatch):
    together = NetLearner._together

    def mixed(self, documents, half=None):
        found, losses = together(self, documents, half)
        return [one.roll(1, 0) for one in found], losses

    monkeypatch.setattr(NetLearner, "_together", mixed)
    for rank in (0, 2):
        assert learner(BuiltinTunable(generator, Adapter(rank=rank))).one_by_one


def test_adapters_begin_at_the_model_and_merge_into_what_they_compute(generator):
    ids = torch.tensor([[1, 9, 80, 800, 7]])
    net = tunable_net(generator.net)
    before = net(ids)
    torch.testing.assert_close(before, generator.net(ids))
    add_lora(net, 4, 8.0, seed=5)
    torch.testing.assert_close(net(ids), before)
    with torch.no_grad():
        for name, weight in net.named_parameters():
            if "lora_" in name:
                weight.add_(0.1 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(3)))
    assert float((net(ids) - before).abs().max()) > 0.1
    plain = merged(net)
    assert type(plain) is LlamaNet
    torch.testing.assert_close(plain(ids), net(ids), rtol=1e-4, atol=1e-4)
    trained = sum(p.numel() for p in net.parameters() if p.requires_grad)
    assert trained == 4 * 2 * (4 * (32 + 32) + 3 * (32 + 48))  # rank x layers x (attention and the three wide ones)
    bert = tunable_net(small_bert_generator().net)
    add_lora(bert, 2, 4.0, seed=5)
    with torch.no_grad():
        for weight in bert.parameters():
            weight.add_(0.1 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(4)))
    torch.testing.assert_close(merged(bert)(ids), bert(ids), rtol=1e-4, atol=1e-4)
    with pytest.raises(UserError, match="layers"):
        add_lora(tunable_net(generator.net), 4, 8.0, ("q_proj", "norm"))


@pytest.mark.parametrize("rank", [0, 3])
def test_training_moves_its_weights_alone_and_goes_on_from_its_state(generator, rank):
    untouched = {name: value.clone() for name, value in generator.net.state_dict().items()}
    first = learner(BuiltinTunable(generator, Adapter(rank=rank)), apart=False)
    for step in range(2):
        first.update(step, first.mean_gradient(DOCUMENTS)[0])
    second = learner(BuiltinTunable(generator, Adapter(rank=rank)), apart=False)
    second.restore({name: value.clone() for name, value in first.state().items()})
    for one in (first, second):
        one.update(2, one.mean_gradient(DOCUMENTS)[0])
        one.finish()
    for (_, a), (_, b) in zip(first.net.trained(), second.net.trained(), strict=True):
        assert torch.equal(a, b)
    assert sum(first.losses(DOCUMENTS)) < sum(
        learner(BuiltinTunable(generator, Adapter(rank=rank)), apart=False).losses(DOCUMENTS)
    )
    for name, value in generator.net.state_dict().items():
        assert torch.equal(value, untouched[name])


def test_training_that_did_nothing_or_too_much_is_told(generator):
    still = learner(BuiltinTunable(generator, Adapter(rank=2)))
    with pytest.raises(InternalError, match="left every weight"):
        still.finish()
    meddled = learner(BuiltinTunable(generator, Adapter(rank=2)))
    with torch.no_grad():
        meddled.net.module.norm.weight.add_(1.0)
    with pytest.raises(InternalError, match="were to stay"):
        meddled.finish()
    broken = learner(BuiltinTunable(generator, Adapter(rank=2)))
    with torch.no_grad():
        broken.net.trained()[0][1].fill_(float("nan"))
    with pytest.raises(InternalError, match="finite"):
        broken.finish()


@pytest.mark.parametrize("kind", ["adapters", "all weights", "peft adapters"])
def test_what_writes_and_what_is_saved_is_the_tuned_model(kind, generator, folder, tmp_path):
    net = nets(generator, folder)[kind]()
    made = learner(net, rate=0.05)
    for step in range(3):
        gradients, _ = made.gradients(DOCUMENTS)
        made.update(step, [part.mean(dim=0) for part in gradients])
    made.finish()
    writer = net.writer()
    ids = torch.tensor([[1, 9, 80, 80, 7]])
    real = torch.ones_like(ids, dtype=torch.bool)
    net.save(tmp_path / "tuned")
    assert not list((tmp_path / "tuned").glob("*.bin"))
    if kind == "peft adapters":
        again = FolderTunable(tmp_path / "tuned", Adapter(rank=0))
        held = writer.model(input_ids=ids).logits
    else:
        again = BuiltinTunable(BuiltinGenerator(tmp_path / "tuned"), Adapter(rank=0))
        held = writer.net(ids)
    torch.testing.assert_close(again.logits(ids, real), net.logits(ids, real), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(held, net.logits(ids, real), rtol=1e-4, atol=1e-4)
    sampling = Sampling(max_new_tokens=6, seed=1)
    assert writer.generate([prompt("yes", 5)], sampling) == copy.copy(writer).generate([prompt("yes", 5)], sampling)


def test_rows_end_where_the_text_does_and_count_what_they_should(generator):
    net = BuiltinTunable(generator, Adapter(rank=2))
    short, long_ = rows(net, [DOCUMENTS[1], DOCUMENTS[3]], prompt, 8)
    assert short.ids[-1] == net.eos
    assert len(long_.ids) - long_.begin == 8
    assert long_.ids[-1] != net.eos  # cut: no end is learned in the middle
    row = Row((5, 6, 7, 8, 9), 2, (True, False, True))
    ids, targets = collate([row, Row((5, 6, 7), 2, (True,))], 0, torch.device("cpu"))
    assert ids.tolist() == [[5, 6, 7, 8], [5, 6, 0, 0]]
    assert targets.tolist() == [[IGNORED, 7, IGNORED, 9], [IGNORED, 7, IGNORED, IGNORED]]
    bare, aims = collate([Row((7, 8), 0, (True, True))], 0, torch.device("cpu"))
    assert (bare.tolist(), aims.tolist()) == ([[7]], [[8]])


def test_goldfish_leaves_out_the_same_tokens_of_a_passage_wherever_it_stands():
    numbers = torch.Generator().manual_seed(0)
    passage = torch.randint(0, 8000, (4000,), generator=numbers).tolist()
    kept = counted(passage, Goldfish(4, 13))
    assert kept[0]
    assert sum(kept) / len(kept) == pytest.approx(0.75, abs=0.03)
    moved = counted([1, 2, 3, *passage], Goldfish(4, 13))
    assert moved[3 + 13 :] == kept[13:]
    assert counted(passage, Goldfish(3, 13)) != kept
    assert all(counted(passage, Goldfish(0)))


def test_tokens_left_out_have_no_say(generator):
    base = {"goldfish": Goldfish(2, 3)}
    made = learner(BuiltinTunable(generator, Adapter(rank=2)), **base)
    document = DOCUMENTS[3]
    (row,) = rows(made.net, [document], prompt, 24, Goldfish(2, 3))
    assert 2 < sum(row.counted) < len(row.counted)
    whole = learner(BuiltinTunable(generator, Adapter(rank=2)))
    assert made.losses([document]) != whole.losses([document])
    ids, targets = collate([row], made.net.eos, torch.device("cpu"))
    picked = whole.net.logits(ids, ids >= 0).log_softmax(-1).gather(2, targets.clamp(min=0)[..., None])[..., 0]
    assert made.losses([document])[0] == pytest.approx(float(-picked[targets != IGNORED].mean()), rel=1e-4)


def test_a_folder_is_checked_before_it_is_opened(folder, tmp_path):
    pickled = tmp_path / "pickled"
    shutil.copytree(folder, pickled)
    (pickled / "pytorch_model.bin").write_bytes(b"anything")
    with pytest.raises(UserError, match="safetensors"):
        FolderTunable(pickled, Adapter())
    with pytest.raises(UserError, match="causal"):
        FolderTunable(make_t5(tmp_path / "t5"), Adapter())


def test_a_model_that_runs_elsewhere_is_refused():
    class Far:
        id = "endpoint:far"

    with pytest.raises(UserError, match="endpoint:far"):
        tunable(Far(), Adapter())
