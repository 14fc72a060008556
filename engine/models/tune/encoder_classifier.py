"""A classifier made of the packaged sentence encoder, all of whose weights are trained on labelled texts.

The mean of the encoder's last states, a linear layer on it, AdamW at a rate that rises over a tenth of the steps and
falls in a line to nothing.
Source: Devlin et al. 2019 (BERT), section 4.1, for rates and epochs; Reimers and Gurevych 2019 for the pooling.

Privacy posture: weights fitted to private text stay in memory and are dropped with the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from engine.models.builtin import minilm
from engine.models.tune.fit import Fit, batch_of, half_pays, restore, state_of, steps_of

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENS = 128  # of a text; the rest is cut
BATCH = 16
EPOCHS = 3
LEAST_STEPS = 150
RATE, HEAD_RATE = 5e-5, 1e-3
CLIP = 1.0


class EncoderClassifier(nn.Module):
    """Encoder, mean of its last states, linear layer; logits (B, classes)."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        from transformers import BertModel

        self.encoder: Any = BertModel.from_pretrained(minilm.base_folder(), local_files_only=True, use_safetensors=True)
        self.head = nn.Linear(int(self.encoder.config.hidden_size), classes)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def forward(self, ids: Tensor, real: Tensor) -> Tensor:
        """Return logits (B, classes) of tokens, int64 (B, T), of which `real`, bool (B, T), are no padding."""
        states = self.encoder(input_ids=ids, attention_mask=real.long()).last_hidden_state
        weight = real[..., None].to(states.dtype)
        out: Tensor = self.head((states * weight).sum(1) / weight.sum(1).clamp(min=1))
        return out


class _Lesson:
    """The classifier in training."""

    def __init__(
        self, net: EncoderClassifier, rows: Sequence[Sequence[int]], codes: NDArray[np.int64], total: int, seed: int
    ) -> None:
        self.net, self.rows, self.seed, self.total = net, rows, seed, total
        self.codes = torch.from_numpy(codes)
        self.lengths = [len(row) for row in rows]
        counts = np.bincount(codes, minlength=net.head.out_features)
        self.weight = torch.from_numpy(len(codes) / np.maximum(counts, 1) / max(1, int((counts > 0).sum()))).float()
        self.optimiser = torch.optim.AdamW(
            [{"params": net.encoder.parameters(), "lr": RATE}, {"params": net.head.parameters(), "lr": HEAD_RATE}],
            weight_decay=0.01, fused=True,
        )  # fmt: skip

    def take(self, step: int) -> float:
        warm = max(1, self.total // 10)
        for group, peak in zip(self.optimiser.param_groups, (RATE, HEAD_RATE), strict=True):
            group["lr"] = peak * min((step + 1) / warm, 1.0 - step / self.total)
        chosen = batch_of(step, self.lengths, BATCH, self.seed)
        self.net.train()
        with torch.autocast("cpu", torch.bfloat16, enabled=half_pays("cpu")):
            logits = self.net(*_padded([self.rows[i] for i in chosen]))
        loss = F.cross_entropy(logits.float(), self.codes[chosen], weight=self.weight)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), CLIP)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        return float(loss.detach())

    def state(self) -> Mapping[str, Tensor]:
        return state_of("net", self.net.named_parameters(), self.optimiser)

    def restore(self, state: Mapping[str, Tensor]) -> None:
        restore("net", self.net.named_parameters(), self.optimiser, state)


def tuned_answers(
    texts: Sequence[str],
    codes: NDArray[np.int64],
    asked: Sequence[str],
    classes: int,
    seed: int,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> NDArray[np.int64]:
    """Return the label that a classifier trained on labelled texts gives each text asked, int64 (m,).

    Args:
        texts: trained on, n of them. codes: int (n,), the label of each, below `classes`. asked: m texts.
        seed: of the linear layer's start, the order of texts and what is dropped out.
        report: told (step, steps); it may raise to stop.
    """
    from engine.models.builtin.tagger.tagger import load_tokenizer

    tokenizer = load_tokenizer(minilm.base_folder())
    rows, questions = _encoded(tokenizer, texts), _encoded(tokenizer, asked)
    total = max(LEAST_STEPS, steps_of(len(rows), EPOCHS, BATCH))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = EncoderClassifier(classes)
        fit = Fit(_Lesson(net, rows, codes, total, seed), total, "classifier", None)
        for step in range(total):
            report(step, total)
            fit.advance(step + 1)
    net.eval()
    found = np.empty(len(questions), np.int64)
    order = sorted(range(len(questions)), key=lambda i: len(questions[i]))
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=half_pays("cpu")):
        for at in range(0, len(order), 64):
            chosen = order[at : at + 64]
            found[chosen] = net(*_padded([questions[i] for i in chosen])).float().argmax(1).numpy()
    return found


def _encoded(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    found = tokenizer.encode_batch([str(text) for text in texts])
    return [
        [*entry.ids[: TOKENS - 1], entry.ids[-1]] if len(entry.ids) > TOKENS else list(entry.ids) for entry in found
    ]


def _padded(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    width = max(map(len, rows))
    ids = torch.tensor([[*row, *([0] * (width - len(row)))] for row in rows])
    return ids, torch.arange(width)[None, :] < torch.tensor([len(row) for row in rows])[:, None]
