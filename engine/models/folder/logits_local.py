"""Next-token logits of a local transformers model (causal), in blocks of one fixed shape: the capability `logits`.

Logits come in the type the model computes in, read as float32. A key-value cache holds what was read.

Privacy posture: prompts hold private records; nothing is logged or kept after the prefixes are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.errors import UserError
from engine.models.folder.logit_blocks import Blocks, padded, parts
from engine.models.threads import one_thread

if TYPE_CHECKING:
    from torch import Tensor

    from engine.dp.noise.prediction import Prefixes
    from engine.models.folder.transformers_local import LocalModel, TransformersGenerator


class LocalLogits:
    """Logits of a local causal model.

    Raises:
        UserError: the model reads with an encoder, or has no end token.
    """

    def __init__(self, generator: TransformersGenerator) -> None:
        if generator.encoder_decoder:
            raise UserError(
                f"model {generator.id!r} reads prompts with an encoder, whose next-token logits private prediction "
                "cannot step: take a causal model"
            )
        self._generator, self._tokenizer = generator, generator.tokenizer
        ends = generator.ends()
        if not ends:
            raise UserError(f"model {generator.id!r} names no token that ends a text: take another model")
        self.end, self.context = ends[0], int(generator.context)
        self.allowed = np.ones(int(generator.model.get_output_embeddings().weight.shape[0]), dtype=bool)
        special = [int(i) for i in self._tokenizer.all_special_ids if int(i) < len(self.allowed)]
        self.allowed[special] = False
        self.allowed[len(self._tokenizer) :] = False
        self.allowed[self.end] = True

    def encode(self, text: str, *, prompt: bool = False) -> list[int]:
        """Return token ids; a prompt gets the model's chat template and start token."""
        if not prompt:
            return list(self._tokenizer.encode(text, add_special_tokens=False))
        if self._generator.chat:
            return self._generator.templated(text)
        ids = list(self._tokenizer.encode(text))
        return ids or [self._tokenizer.bos_token_id if self._tokenizer.bos_token_id is not None else self.end]

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of token ids, special ones left out."""
        return str(self._tokenizer.decode([int(token) for token in tokens], skip_special_tokens=True))

    def prefixes(self, rows: Sequence[Sequence[int]], *, width: int, room: int, block: int) -> Prefixes:
        """Return the rows read by the model."""
        model = self._generator.model
        return Blocks([_LocalBlock(model, part, width, room, block) for part in parts(rows, block)], len(rows))


class _LocalBlock:
    """`block` rows of equal width, padded on the left, over the model's cache."""

    def __init__(self, model: LocalModel, rows: Sequence[Sequence[int]], width: int, room: int, block: int) -> None:
        import torch
        from transformers import DynamicCache

        self._model, self._torch = model, torch
        ids, real = padded(rows, width, block)
        real[len(rows) :, -1] = True  # an empty place holds one token, so that no softmax is over nothing
        self._mask = torch.tensor(real, dtype=torch.long, device=model.device)
        self._positions = (self._mask.cumsum(dim=1) - 1).clamp(min=0)
        self._cache = DynamicCache()
        self._logits = self._read(torch.tensor(ids, device=model.device))

    def _read(self, ids: Tensor) -> NDArray[np.float32]:
        with one_thread(), self._torch.inference_mode():  # a split among threads would depend on a row's place
            output = self._model(
                input_ids=ids, attention_mask=self._mask, position_ids=self._positions,
                past_key_values=self._cache, use_cache=True, logits_to_keep=1,
            )  # fmt: skip
        logits: NDArray[np.float32] = output.logits[:, -1].float().cpu().numpy()
        return logits

    def logits(self) -> NDArray[np.float32]:
        """Return next-token logits (block, V)."""
        return self._logits

    def append(self, token: int) -> None:
        """Read one token in every row."""
        self._positions = self._positions[:, -1:] + 1
        self._mask = self._torch.cat([self._mask, self._torch.ones_like(self._mask[:, :1])], dim=1)
        self._logits = self._read(self._torch.full_like(self._positions, token))
