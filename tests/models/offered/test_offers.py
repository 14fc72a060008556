"""The list of open models: each field holds, counts follow from the shapes, memory from the counts."""

from __future__ import annotations

import pytest
import yaml
from pydantic import ValidationError

from engine.corpus.description import LANGUAGES
from engine.models.catalogue import CAPABILITIES, HUB_ID
from engine.models.offered.offers import PATH, PRECISIONS, Offer, offer, offers

# The sizes that each model's config.json names: library class, then width, middle, layers, heads, key-value heads,
# vocabulary, and whether input and output share their table.
SHAPES = {
    "HuggingFaceTB/SmolLM2-135M": ("Llama", 576, 1536, 30, 9, 3, 49152, True),
    "HuggingFaceTB/SmolLM2-360M-Instruct": ("Llama", 960, 2560, 32, 15, 5, 49152, True),
    "Qwen/Qwen2.5-0.5B-Instruct": ("Qwen2", 896, 4864, 24, 14, 2, 151936, True),
    "allenai/OLMo-2-0425-1B-Instruct": ("Olmo2", 2048, 8192, 16, 16, 16, 100352, False),
    "Qwen/Qwen2.5-1.5B-Instruct": ("Qwen2", 1536, 8960, 28, 12, 2, 151936, True),
    "utter-project/EuroLLM-1.7B-Instruct": ("Llama", 2048, 5632, 24, 16, 8, 128000, False),
    "HuggingFaceTB/SmolLM2-1.7B-Instruct": ("Llama", 2048, 8192, 24, 32, 32, 49152, True),
    "Qwen/Qwen3-4B-Instruct-2507": ("Qwen3", 2560, 9728, 36, 32, 8, 151936, True),
    "Qwen/Qwen2.5-7B-Instruct": ("Qwen2", 3584, 18944, 28, 28, 4, 152064, False),
    "ibm-granite/granite-3.3-8b-instruct": ("Granite", 4096, 12800, 40, 32, 8, 49159, True),
}


def test_the_list_is_about_ten_models_from_small_to_large():
    found = offers()
    assert [one.hub for one in found] == list(SHAPES)
    assert [one.parameters for one in found] == sorted(one.parameters for one in found)
    assert found[0].parameters < 140e6
    assert 7.5e9 < found[-1].parameters < 8.5e9
    assert len({one.name for one in found}) == len({one.hub for one in found}) == len(found)


@pytest.mark.parametrize("one", offers(), ids=lambda one: one.name)
def test_every_field_can_be_used(one):
    assert HUB_ID.fullmatch(one.hub)
    assert one.revision is None or len(set(one.revision)) > 8  # no made-up string of one digit
    assert set(one.languages) <= set(LANGUAGES)
    assert one.licence == "apache-2.0"  # open to everyone, so that it can be fetched without an account
    assert one.capabilities <= set(CAPABILITIES)
    assert ("instruct" in one.capabilities) == (one.prompts == "instruct")
    sizes = [one.memory_bytes(precision) for precision in PRECISIONS]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[1] == int(2 * one.parameters * 1.25)
    assert sizes[3] > 0.5 * one.parameters


def test_only_what_could_be_confirmed_is_pinned():
    assert [one.hub for one in offers() if one.revision is None] == ["utter-project/EuroLLM-1.7B-Instruct"]
    assert offer("Qwen/Qwen2.5-0.5B-Instruct").revision.startswith("7ae55760")
    assert offer("someone/else") is None


@pytest.mark.parametrize("one", offers(), ids=lambda one: one.name)
def test_numbers_follow_from_the_shape(one):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    kind, width, middle, layers, heads, kv, vocabulary, tied = SHAPES[one.hub]
    values = {
        "hidden_size": width, "intermediate_size": middle, "num_hidden_layers": layers, "num_attention_heads": heads,
        "num_key_value_heads": kv, "vocab_size": vocabulary, "tie_word_embeddings": tied,
    }  # fmt: skip
    values |= {"head_dim": 128} if kind == "Qwen3" else {}
    with torch.device("meta"):
        net = getattr(transformers, f"{kind}ForCausalLM")(getattr(transformers, f"{kind}Config")(**values))
    inside = sum(
        part.weight.numel()
        for name, part in net.named_modules()
        if isinstance(part, torch.nn.Linear) and name != "lm_head"
    )
    assert one.architecture == f"{kind}ForCausalLM"
    assert (one.parameters, one.whole) == (net.num_parameters(), net.num_parameters() - inside)


@pytest.mark.parametrize(
    "change",
    [{"revision": "main"}, {"revision": "abc"}, {"parameters": 5}, {"languages": []}, {"extra": 1}, {"hub": "nothing"}],
)
def test_a_wrong_entry_is_refused(change):
    entry = yaml.safe_load(PATH.read_text("utf-8"))["models"][0]
    assert Offer.model_validate(entry).prompts == "plain"
    with pytest.raises(ValidationError):
        Offer.model_validate(entry | change)
