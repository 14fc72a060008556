"""A Llama of a million numbers that writes a few made-up messages: small enough to be taught in a test."""

from __future__ import annotations

from pathlib import Path

import numpy as np

WORDS, TEXTS, STEPS, ROWS = 45, 16, 400, 8
ENOUGH = 0.12  # nats a token: it then writes the messages and mixtures of them


def messages() -> list[str]:
    """Return made-up messages to a shop, each cut to whole sentences."""
    from engine.training.samples import generate

    found = []
    for text in generate("support_tickets", 120, 99)["text"]:
        sentences, kept = str(text).replace("\n", " ").split(". "), ""
        for sentence in sentences:
            if len((kept + sentence).split()) > WORDS:
                break
            kept += sentence.strip().rstrip(".") + ". "
        if 15 <= len(kept.split()) <= WORDS:
            found.append(kept.strip())
    return found[:TEXTS]


def make_taught(folder: Path) -> Path:
    """Write the model's folder as the transformers library saves one, and return it."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    from engine.models.prompts.domains import load_prompts
    from engine.models.prompts.operators_plain import PlainOperators

    rng = np.random.default_rng(0)
    texts, known = messages(), load_prompts("generic")
    prompts = []
    for _ in range(64):
        chosen = [str(word) for word in rng.choice(known.keywords, 2, replace=False)]
        prompts.append(
            PlainOperators().prompt(
                "invent", domain="generic", kind="", label=None, words=60, keywords=chosen,
                persona=str(rng.choice(known.personas)),
            )
        )  # fmt: skip
    plain = Tokenizer(models.BPE())
    plain.pre_tokenizer, plain.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1500, special_tokens=["</s>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    plain.train_from_iterator([*texts * 4, *prompts], trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="</s>")
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(fast), hidden_size=96, intermediate_size=192, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=512, eos_token_id=0, bos_token_id=None, pad_token_id=None,
    )  # fmt: skip
    net = LlamaForCausalLM(config)
    optimiser = torch.optim.AdamW(net.parameters(), lr=4e-3)
    heads, tails = [fast.encode(prompt) for prompt in prompts], [[*fast.encode(text), 0] for text in texts]
    for _ in range(STEPS):
        rows = [(heads[rng.integers(len(heads))], tails[rng.integers(len(tails))]) for _ in range(ROWS)]
        width = max(len(head) + len(tail) for head, tail in rows)
        ids, labels = torch.zeros(ROWS, width, dtype=torch.long), torch.full((ROWS, width), -100)
        for i, (head, tail) in enumerate(rows):
            ids[i, : len(head) + len(tail)] = torch.tensor([*head, *tail])
            labels[i, len(head) : len(head) + len(tail)] = torch.tensor(tail)
        loss = net(input_ids=ids, labels=labels).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if loss.item() < ENOUGH:
            break
    folder.mkdir(parents=True)
    net.save_pretrained(folder)
    fast.save_pretrained(folder)
    (folder / "README.md").write_text("---\nlicense: cc0-1.0\n---\n# Taught\n")
    return folder
