"""Tiny models of every family that offices bring, with random weights and tokenizers trained on the spot.

Each has the parts that make its family different: position tables, shared or separate heads, soft caps, windows,
fused matrices, biases, encoders; and the tokenizer and chat template of its kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TEXT = (
    "the clinic answered the letter on the same day and Anna Berg from Bergen was glad about it",
    "The parcel came late and wet; nobody had signed for it, so I ask for a refund of 14.50 euros.",
    "Vormelt on õnn kirjutada ühe rea: größer, naïve, tõesti?",
)
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
INST = "{{ bos_token }}{% for m in messages %}[INST] {{ m['content'] }} [/INST]{% endfor %}"
TURNS = (
    "{{ bos_token }}{% for m in messages %}<start_of_turn>"
    "{{ 'model' if m['role'] == 'assistant' else m['role'] }}\n{{ m['content'] | trim }}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
PAD, EOS, BOS = 0, 1, 2
SIZES = {
    "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
    "max_position_embeddings": 256, "pad_token_id": PAD, "eos_token_id": EOS, "bos_token_id": BOS,
}  # fmt: skip


@dataclass(frozen=True)
class Family:
    """How a tiny model of one family is made.

    tokenizer: `bytes` (byte-level pairs), `pieces` (sentencepiece pairs with a byte for what it does not know) or
    `unigram` (sentencepiece unigrams). chat: a template, or empty. model: from the vocabulary's size. without: tokens
    that the tokenizer does not name.
    """

    architecture: str
    tokenizer: str
    model: Callable[[int], Any]
    chat: str = ""
    without: tuple[str, ...] = ()

    @property
    def causal(self) -> bool:
        return not self.architecture.endswith("ForConditionalGeneration")


def make_family(name: str, folder: Path) -> Path:
    """Write the tiny model of a family as the transformers library saves one, and return its folder."""
    import torch

    family = FAMILIES[name]
    folder.mkdir(parents=True)
    size = TOKENIZERS[family.tokenizer](folder, family.chat, family.without)
    torch.manual_seed(len(name))
    family.model(size).save_pretrained(folder)
    return folder


def _saved(plain: Any, folder: Path, chat: str, without: tuple[str, ...]) -> int:
    from transformers import PreTrainedTokenizerFast

    named = {"pad_token": "<pad>", "eos_token": "</s>", "bos_token": "<s>", "unk_token": "<unk>"}
    fast = PreTrainedTokenizerFast(tokenizer_object=plain, **{k: v for k, v in named.items() if k not in without})
    marks = [m for m in ("<|im_start|>", "<|im_end|>", "<start_of_turn>", "<end_of_turn>", "[INST]") if m in chat]
    fast.add_special_tokens({"additional_special_tokens": marks} if marks else {})
    if chat:
        fast.chat_template = chat
    fast.save_pretrained(folder)
    return len(fast)


def _bytes(folder: Path, chat: str, without: tuple[str, ...]) -> int:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    plain = Tokenizer(models.BPE())
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=340, special_tokens=["<pad>", "</s>", "<s>", "<unk>"], show_progress=False, min_frequency=1,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    plain.train_from_iterator(TEXT, trainer)
    return _saved(plain, folder, chat, without)


def _begun(plain: Any) -> None:
    """Put the start token in front, as the tokenizers of Llama, Mistral and Gemma do."""
    from tokenizers.processors import TemplateProcessing

    plain.post_processor = TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", plain.token_to_id("<s>"))]
    )


def _pieces(folder: Path, chat: str, without: tuple[str, ...]) -> int:
    from tokenizers import Tokenizer, decoders, models, normalizers, trainers

    plain = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    plain.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    plain.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    special = ["<pad>", "</s>", "<s>", "<unk>", *(f"<0x{i:02X}>" for i in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=360, special_tokens=special, show_progress=False, min_frequency=1)
    plain.train_from_iterator(TEXT[:2], trainer)  # letters of the third text are written byte by byte
    _begun(plain)
    return _saved(plain, folder, chat, without)


def _unigram(folder: Path, chat: str, without: tuple[str, ...]) -> int:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from tokenizers.processors import TemplateProcessing

    plain = Tokenizer(models.Unigram())
    plain.pre_tokenizer = pre_tokenizers.Metaspace()
    plain.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=120, special_tokens=["<pad>", "</s>", "<s>", "<unk>"], unk_token="<unk>", show_progress=False
    )
    plain.train_from_iterator([*TEXT] * 4, trainer)
    plain.post_processor = TemplateProcessing(single="$A </s>", special_tokens=[("</s>", EOS)])
    return _saved(plain, folder, chat, without)


TOKENIZERS = {"bytes": _bytes, "pieces": _pieces, "unigram": _unigram}


def _of(config: str, model: str, **own: Any) -> Callable[[int], Any]:
    """Return what makes a model of the transformers library from the sizes above and the family's own."""

    def make(size: int) -> Any:
        import transformers

        values = {**SIZES, **own, "vocab_size": size}
        return getattr(transformers, model)(getattr(transformers, config)(**values))

    return make


def _gpt2(size: int) -> Any:
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=size, n_embd=32, n_layer=2, n_head=4, n_positions=256, bos_token_id=BOS, eos_token_id=EOS,
            pad_token_id=PAD,
        )
    )  # fmt: skip


def _t5(size: int) -> Any:
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        vocab_size=size, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, feed_forward_proj="gated-gelu",
        decoder_start_token_id=PAD, pad_token_id=PAD, eos_token_id=EOS,
    )  # fmt: skip
    return T5ForConditionalGeneration(config)


def _bart(size: int) -> Any:
    from transformers import BartConfig, BartForConditionalGeneration

    config = BartConfig(
        vocab_size=size, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=256,
        pad_token_id=PAD, bos_token_id=BOS, eos_token_id=EOS, decoder_start_token_id=EOS, forced_eos_token_id=EOS,
    )  # fmt: skip
    return BartForConditionalGeneration(config)


_GROUPED = {"num_key_value_heads": 2}
_GEMMA = {**_GROUPED, "head_dim": 8, "query_pre_attn_scalar": 8, "sliding_window": 16}
FAMILIES = {
    "llama": Family(
        "LlamaForCausalLM", "pieces", _of("LlamaConfig", "LlamaForCausalLM", **{**_GROUPED, "pad_token_id": None}),
        INST, without=("pad_token",),
    ),
    "qwen": Family(
        "Qwen2ForCausalLM", "bytes",
        _of("Qwen2Config", "Qwen2ForCausalLM", tie_word_embeddings=True, bos_token_id=None, **_GROUPED), CHATML,
        without=("bos_token",),
    ),
    "gemma": Family(
        "Gemma2ForCausalLM", "pieces",
        _of("Gemma2Config", "Gemma2ForCausalLM", **_GEMMA),
        TURNS,
    ),
    "mistral": Family(
        "MistralForCausalLM", "pieces", _of("MistralConfig", "MistralForCausalLM", sliding_window=16, **_GROUPED), INST
    ),
    "phi": Family("PhiForCausalLM", "bytes", _of("PhiConfig", "PhiForCausalLM", partial_rotary_factor=0.5)),
    "gpt2": Family("GPT2LMHeadModel", "bytes", _gpt2),
    "neox": Family("GPTNeoXForCausalLM", "bytes", _of("GPTNeoXConfig", "GPTNeoXForCausalLM", rotary_pct=0.25)),
    "t5": Family("T5ForConditionalGeneration", "unigram", _t5),
    # The rest are asked in the slow suite.
    "bart": Family("BartForConditionalGeneration", "bytes", _bart),
    "opt": Family(
        "OPTForCausalLM", "bytes", _of("OPTConfig", "OPTForCausalLM", ffn_dim=48, word_embed_proj_dim=32, dropout=0.1)
    ),
    "phi3": Family("Phi3ForCausalLM", "bytes", _of("Phi3Config", "Phi3ForCausalLM", **_GROUPED), CHATML),
    "qwen3": Family(
        "Qwen3ForCausalLM", "bytes", _of("Qwen3Config", "Qwen3ForCausalLM", head_dim=8, **_GROUPED), CHATML
    ),
    "gemma3": Family(
        "Gemma3ForCausalLM", "pieces",
        _of("Gemma3TextConfig", "Gemma3ForCausalLM", **_GEMMA),
        TURNS,
    ),
    "olmo2": Family("Olmo2ForCausalLM", "bytes", _of("Olmo2Config", "Olmo2ForCausalLM"), CHATML),
    "granite": Family(
        "GraniteForCausalLM", "bytes",
        _of("GraniteConfig", "GraniteForCausalLM", logits_scaling=8.0, residual_multiplier=0.3, **_GROUPED), CHATML,
    ),
}  # fmt: skip
QUICKLY = ("llama", "qwen", "gemma", "mistral", "phi", "gpt2", "neox", "t5")
