"""Models of the transformers library from folders: what is refused, what is drawn, scored and kept out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.errors import UserError
from engine.models.builtin.shipped import lm_folder
from engine.models.cancel import Cancelled
from engine.models.constraints import Blocklist
from engine.models.contracts import Constraints, Sampling
from engine.models.folder.inspection import digest_of, inspect_folder, read_header
from tests.models.serving import ROOT
from tests.models.tiny_models import make_chat, make_t5


@pytest.fixture(scope="module")
def chat_folder(tmp_path_factory) -> Path:
    return make_chat(tmp_path_factory.mktemp("models") / "chat")


@pytest.fixture(scope="module")
def t5_folder(tmp_path_factory) -> Path:
    return make_t5(tmp_path_factory.mktemp("models") / "t5")


@pytest.fixture(scope="module")
def lm():
    import torch

    from engine.models.folder.transformers_local import TransformersGenerator

    return TransformersGenerator(lm_folder(), "folder:lm", dtype=torch.float32)


@pytest.fixture
def copy(chat_folder, tmp_path) -> Path:
    return Path(shutil.copytree(chat_folder, tmp_path / "copy"))


def opened(folder: Path, **values):
    import torch

    from engine.models.folder.transformers_local import TransformersGenerator

    return TransformersGenerator(folder, "folder:x", **({"dtype": torch.float32} | values))


def test_a_folder_tells_what_it_is(chat_folder, t5_folder):
    chat, t5, own = inspect_folder(chat_folder), inspect_folder(t5_folder), inspect_folder(lm_folder())
    assert (chat.kind, chat.prompts, chat.licence, chat.context) == ("causal", "instruct", "apache-2.0", 256)
    assert (t5.kind, t5.prompts, t5.context) == ("seq2seq", "plain", 512)
    assert t5.licence.startswith("not stated")
    assert (own.kind, own.prompts, own.context) == ("causal", "builtin", 1024)
    assert own.parameters == read_header(lm_folder() / "model.safetensors")[0]
    assert chat.bytes > chat.weight_bytes > 4 * chat.parameters  # 32 bit and a header
    assert len(digest_of(chat_folder, chat.files)) == 64


SHARDS = '{"weight_map": {"a": "b.safetensors"}}'


def write_json(path: Path, **values) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: (f / "pytorch_model.bin").write_bytes(b"\x80\x04"), "pytorch_model.bin"),
        (lambda f: (f / "training_args.bin").write_bytes(b""), "training_args.bin"),
        (lambda f: (f / "optimizer.PT").write_bytes(b""), "optimizer.PT"),
        (lambda f: (f / "modeling_own.py").write_text("print()"), "modeling_own.py"),
        (lambda f: write_json(f / "config.json", auto_map={"AutoModel": "own.Model"}), "never run"),
        (lambda f: write_json(f / "tokenizer_config.json", auto_map={"AutoTokenizer": ["own.T", None]}), "never run"),
        (lambda f: write_json(f / "config.json", architectures=["BertModel"]), "BertModel"),
        (lambda f: write_json(f / "config.json", quantization_config={"quant_method": "gptq"}), "quantised"),
        (lambda f: (f / "config.json").write_text("{"), "not JSON"),
        (lambda f: (f / "config.json").unlink(), "config.json"),
        (lambda f: (f / "tokenizer.json").unlink(), "tokenizer"),
        (lambda f: (f / "model.safetensors").unlink(), "model.safetensors"),
        (lambda f: (f / "model.safetensors").write_bytes(b"\x80\x04pickle"), "not a safetensors"),
        (lambda f: os.truncate(f / "model.safetensors", 2000), "safetensors"),
        (lambda f: (f / "README.txt").symlink_to("/etc/passwd"), "leads out"),
        (lambda f: (f / "more").symlink_to("/etc"), "link"),
        (
            lambda f: (f / "model.safetensors.index.json").write_text('{"weight_map": {"a": "b.safetensors"}}'),
            "names 1",
        ),
    ],
)
def test_a_folder_that_could_run_code_or_is_broken_is_refused(copy, change, said):
    change(copy)
    with pytest.raises(UserError, match=said):
        inspect_folder(copy)
    with pytest.raises(UserError, match=said):
        opened(copy)


def test_no_such_folder(tmp_path):
    with pytest.raises(UserError, match="no such folder"):
        inspect_folder(tmp_path / "nowhere")


def test_weights_that_do_not_fit_the_architecture_are_refused(copy):
    write_json(copy / "config.json", model_type="made-up-architecture")
    with pytest.raises(UserError, match="cannot open"):
        opened(copy)


def test_shards_are_read(tmp_path):
    folder = make_chat(tmp_path / "sharded", shards="60KB")
    assert len(list(folder.glob("*.safetensors"))) > 1
    assert inspect_folder(folder).parameters > 10_000
    assert opened(folder).generate(["a"], Sampling(max_new_tokens=4))[0].tokens <= 4


def test_chat_model_follows_its_template(chat_folder):
    one = opened(chat_folder)
    assert one.capabilities >= {"instruct", "logprobs", "block_tokens"}
    ids = one._prompting.encode("hello", 10)
    assert one.tokenizer.decode(ids) == "<user>hello</user><reply>"
    long = one._prompting.encode("hello " * 500, 50)
    assert len(long) < 256 - 50
    assert one.tokenizer.decode(long).startswith("<user>hello")
    plain = opened(chat_folder, prompts="plain")
    assert "instruct" not in plain.capabilities
    assert "<user>" not in plain.tokenizer.decode(plain._prompting.encode("hello", 10))


@pytest.mark.parametrize("kind", ["chat", "t5"])
def test_a_text_depends_on_its_prompt_and_seed_alone(kind, request):
    one = opened(request.getfixturevalue(f"{kind}_folder"), batch_size=5)
    prompts = [f"letter {'x' * (7 * i % 11)}" for i in range(5)]
    sampling = Sampling(max_new_tokens=12, seed=4)
    together = [m.text for m in one.generate(prompts, sampling)]
    one.batch_size = 2
    assert [m.text for m in one.generate(prompts, sampling)] == together
    assert [m.text for m in one.generate(prompts, Sampling(max_new_tokens=12, seed=5))] != together
    assert len({m.text for m in one.generate(["same"] * 5, sampling)}) == 5
    greedy = one.generate(["same"] * 3, Sampling(max_new_tokens=8, temperature=0.0))
    assert len({m.text for m in greedy}) == 1


@pytest.mark.parametrize("kind", ["chat", "t5"])
def test_lengths_and_ends(kind, request):
    one = opened(request.getfixturevalue(f"{kind}_folder"))
    made = one.generate(
        ["letter"] * 8, Sampling(max_new_tokens=20, min_new_tokens=10, temperature=2.0, top_k=400, top_p=1.0)
    )
    assert all(10 <= m.tokens <= 20 for m in made)
    assert {m.finish for m in made} <= {"stop", "length"}
    assert all((m.finish == "length") == (m.tokens == 20) or m.tokens == 20 for m in made)


def test_nothing_is_written_beyond_the_context(chat_folder):
    one = opened(chat_folder)
    made = one.generate(["hello " * 500, "hello"], Sampling(max_new_tokens=300, min_new_tokens=300))
    assert 256 // 3 - 8 <= made[0].tokens < 256
    assert all(m.finish == "length" for m in made)


@pytest.mark.parametrize("kind", ["chat", "t5"])
def test_scores_are_those_of_the_network(kind, request):
    import torch

    one = opened(request.getfixturevalue(f"{kind}_folder"))
    text = "Anna Berg from Bergen"
    values = one.score([text, ""])[0]
    ids = one.tokenizer.encode(text, add_special_tokens=False)
    assert values.shape == (len(ids),)
    with torch.inference_mode():
        if kind == "t5":
            shifted = torch.tensor([[0, *ids[:-1]]])
            logits = one.model(input_ids=torch.tensor([[1]]), decoder_input_ids=shifted).logits[0]
        else:
            logits = one.model(input_ids=torch.tensor([[2, *ids]])).logits[0, :-1]
    expected = [float(logits[i].log_softmax(-1)[token]) for i, token in enumerate(ids)]
    np.testing.assert_allclose(values, expected, atol=1e-4)
    assert len(one.score([""])[0]) == 0


def test_scores_of_the_built_in_model_equal_its_own_back_end(lm):
    from engine.models.builtin.language_model import load_builtin_generator

    texts = ["The patient came back after two weeks.", "A letter " * 400]
    own = [values[:-1] for values in load_builtin_generator().score(texts)[:1]]  # its last is the end token
    np.testing.assert_allclose(lm.score(texts[:1])[0], own[0], atol=2e-3)
    assert len(lm.score(texts)[1]) == len(lm.tokenizer.encode(texts[1], add_special_tokens=False))  # by windows


def test_built_in_model_writes_through_the_library(lm):
    from engine.models.prompts.operators_builtin import BuiltinOperators

    operators = BuiltinOperators()
    prompts = [operators.prompt("invent", domain="clinical", words=25) for _ in range(4)]
    texts = [operators.parse("invent", m.text) for m in lm.generate(prompts, Sampling(max_new_tokens=50))]
    assert all(len(text.split()) > 8 for text in texts)
    assert len(set(texts)) == 4


def test_blocked_values_are_kept_out(lm):
    from engine.models.prompts.operators_builtin import BuiltinOperators

    prompts = [BuiltinOperators().prompt("invent", domain="reviews", words=25)] * 12
    free = lm.generate(prompts, Sampling(max_new_tokens=40))
    written = {word.strip(".,").lower() for m in free for word in m.text.split()}
    words = sorted(written & {"the", "and", "was", "to", "a", "i"})
    assert len(words) >= 3  # else this test sees nothing
    made = lm.generate(prompts, Sampling(max_new_tokens=40), Constraints(tuple(words)))
    assert not any(Blocklist(tuple(words)).contains(m.text) for m in made)
    # written around; one that can go on with blocked words alone ends
    assert sum(len(m.text.split()) > 5 for m in made) >= 4


def test_cancelling_ends_a_call_in_the_middle(chat_folder):
    one, asked = opened(chat_folder), []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 5

    one.watch(cancelled)
    with pytest.raises(Cancelled):
        one.generate(["letter"], Sampling(max_new_tokens=100, min_new_tokens=100))
    assert len(asked) < 10


SHORT_OF_MEMORY = """
import resource, sys, warnings
warnings.simplefilter("ignore")
import torch
from engine.models.contracts import Sampling
from engine.models.folder.transformers_local import TransformersGenerator

def said(name):  # bytes of address space, as the kernel counts them
    line = next(line for line in open("/proc/self/status") if line.startswith(name))
    return int(line.split()[1]) * 1024

torch.set_num_threads(1)
one = TransformersGenerator(__import__("pathlib").Path(sys.argv[1]), "folder:x", batch_size=64, dtype=torch.float32)
prompts = ["the letter and the clinic " * 30] * 64
one.generate(prompts[:1], Sampling(max_new_tokens=2))
used = said("VmSize:")
if sys.argv[2] != "free":
    resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[2]),) * 2)
try:
    made = one.generate(prompts, Sampling(max_new_tokens=2))
    print(len(made), one.halved, one.batch_size, max(0, said("VmPeak:") - used))
except Exception as error:
    print(type(error).__name__, error)
"""

# what is freed goes back at once, so that address space is what is in use and not what an allocator keeps
GIVES_BACK = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}


def _generated(folder: Path, room: str) -> list[int]:
    """Texts made, times halved, batch size at the end, bytes of growth; empty where the process did not get through."""
    done = subprocess.run(
        [sys.executable, "-c", SHORT_OF_MEMORY, str(folder), room],
        env={**os.environ, **GIVES_BACK, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    numbers = done.stdout.split()
    return [int(word) for word in numbers] if done.returncode == 0 and all(map(str.isdigit, numbers)) else []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory by RLIMIT_AS and reads /proc")
def test_out_of_memory_halves_the_batch_and_goes_on(chat_folder):
    made, halved, size, growth = _generated(chat_folder, "free")
    assert (made, halved, size) == (64, 0, 64)
    assert growth > 2**22  # else the batch needs no room, and none can be short
    told = []
    for share in (0.7, 0.5, 0.35, 0.85):  # of what the whole batch took on this machine
        numbers = _generated(chat_folder, str(int(growth * share)))
        told.append(numbers)
        if numbers:
            made, halved, size, _ = numbers
            assert made == 64
            assert halved == 0 or size < 64
            if halved:
                return
    raise AssertionError(f"the batch was never halved: {told}")
