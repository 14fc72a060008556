"""Tiny models with random weights, saved the way the transformers library saves them."""

from __future__ import annotations

from pathlib import Path

TEXT = "the clinic answered the letter on the same day and Anna Berg from Bergen was glad about it"
CHAT = (
    "{% for m in messages %}<user>{{ m['content'] }}</user>{% endfor %}{% if add_generation_prompt %}<reply>{% endif %}"
)


def _tokenizer(folder: Path, chat: bool) -> int:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    plain = Tokenizer(models.BPE())
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    special = ["<pad>", "</s>", "<s>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False, min_frequency=1
    )
    plain.train_from_iterator([TEXT] * 3, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=plain, pad_token="<pad>", eos_token="</s>", bos_token="<s>")
    if chat:
        fast.chat_template = CHAT
    fast.save_pretrained(folder)
    return len(fast)


def make_t5(folder: Path) -> Path:
    """Write a T5 of a few thousand numbers."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    folder.mkdir(parents=True)
    size = _tokenizer(folder, chat=False)
    torch.manual_seed(1)
    config = T5Config(
        vocab_size=size, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0,
        pad_token_id=0, eos_token_id=1,
    )  # fmt: skip
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def make_chat(folder: Path, layers: int = 2, shards: str = "1GB") -> Path:
    """Write a GPT-2 of a few thousand numbers with a chat template."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    folder.mkdir(parents=True)
    size = _tokenizer(folder, chat=True)
    torch.manual_seed(2)
    config = GPT2Config(
        vocab_size=size, n_embd=32, n_layer=layers, n_head=4, n_positions=256, bos_token_id=2, eos_token_id=1,
        pad_token_id=0,
    )  # fmt: skip
    GPT2LMHeadModel(config).save_pretrained(folder, max_shard_size=shards)
    (folder / "README.md").write_text("---\nlanguage: en\nlicense: apache-2.0\n---\n# Tiny\n")
    return folder


def make_llama(folder: Path) -> Path:
    """Write a Llama of a few thousand numbers, without a chat template."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder.mkdir(parents=True)
    size = _tokenizer(folder, chat=False)
    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=size, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=256, bos_token_id=2, eos_token_id=1, pad_token_id=0,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
