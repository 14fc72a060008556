"""The models a prefix can be learned for: the built-in network, or a transformers folder through peft.

Privacy posture: holds weights, and a prefix that may be fitted to private text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.models.builtin.decoder.prefix import BuiltinPrefix
from engine.models.contracts import Constraints, Generation, Sampling
from engine.models.tune.prefix_tuning import Pair, Row, private_tokens

if TYPE_CHECKING:
    from engine.models.contracts import Generator


class FolderPrefix:
    """A transformers causal model under peft's prefix tuning.

    Args:
        model: folder of a causal model with safetensors weights. links_within: see `inspect_folder`.

    Raises:
        UserError: the folder cannot be loaded.
    """

    bare = True  # its prompt is the code as it stands

    def __init__(self, model: str | Path, *, links_within: Path | None = None) -> None:
        from engine.models.tune.finetune_nets import FolderNet

        self.net = FolderNet(model, links_within=links_within)
        self.module: Any = self.net.module
        self.device = next(self.module.parameters()).device
        self.context = self.net.context
        self.tuned: Any = None

    def start(self, virtual_tokens: int, seed: int) -> list[tuple[str, nn.Parameter]]:
        """Return peft's prefix parameters (random at the start, as peft has them)."""
        from peft import PrefixTuningConfig, TaskType, get_peft_model

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            settings = PrefixTuningConfig(task_type=TaskType.CAUSAL_LM, num_virtual_tokens=virtual_tokens)
            self.tuned = get_peft_model(self.module, settings).to(self.device)
        self.virtual_tokens = virtual_tokens
        return [(n, p) for n, p in self.tuned.named_parameters() if p.requires_grad]

    def rows(self, pairs: Sequence[Pair], virtual_tokens: int) -> list[Row]:
        """Return the pairs in tokens, the end token last; texts are cut to what the model reads."""
        room = self.context - virtual_tokens
        made = []
        for pair in pairs:
            head: list[int] = self.net.tokenizer(pair.prompt)["input_ids"]
            entry = self.net.tokenizer(pair.text, add_special_tokens=False, return_offsets_mapping=True)
            space = max(0, room - len(head) - 1)
            ids = [*entry["input_ids"][:space], self.net.eos]
            private = [*private_tokens(entry["offset_mapping"][:space], pair.private), False]
            made.append(Row((*head, *ids), len(head), (*([False] * len(head)), *private)))
        return made

    def logits(self, ids: Tensor, real: Tensor, prefix: bool) -> Tensor:
        """Return logits (B, T, V), with the prefix or with peft's adapter switched off."""
        if prefix:
            out: Tensor = self.tuned(input_ids=ids, attention_mask=real.long()).logits
            return out[:, -ids.shape[1] :]
        with self.tuned.disable_adapter():
            plain: Tensor = self.tuned(input_ids=ids, attention_mask=real.long()).logits
        return plain

    def writer(self) -> FolderPrefixGenerator:
        """Return a generator that writes behind the prefix."""
        return FolderPrefixGenerator(self)


class FolderPrefixGenerator:
    """Generates with a transformers model behind its trained prefix, one prompt after another."""

    id = "transformers-prefix"
    capabilities: frozenset[str] = frozenset()

    def __init__(self, base: FolderPrefix) -> None:
        self.base, self.tokenizer = base, base.net.tokenizer
        self.context = base.context - base.virtual_tokens

    def generate(
        self, prompts: Sequence[str], sampling: Sampling, constraints: Constraints | None = None
    ) -> list[Generation]:
        """Return one generation a prompt, in order; the same call gives the same texts."""
        made = []
        for i, prompt in enumerate(prompts):
            ids = self.tokenizer(prompt, return_tensors="pt")["input_ids"].to(self.base.device)
            room = max(1, min(sampling.max_new_tokens, self.context - ids.shape[1]))
            with torch.random.fork_rng(devices=[]), torch.inference_mode():
                torch.manual_seed((sampling.seed * 100003 + i) % 2**31)
                out = self.base.tuned.generate(
                    input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=room,
                    min_new_tokens=min(sampling.min_new_tokens, room), do_sample=sampling.temperature > 0,
                    temperature=max(sampling.temperature, 1e-4), top_p=sampling.top_p, top_k=sampling.top_k,
                    pad_token_id=self.base.net.eos, eos_token_id=self.base.net.eos,
                )  # fmt: skip
            new = out[0, ids.shape[1] :].tolist()
            ended = bool(new) and new[-1] == self.base.net.eos
            text = self.tokenizer.decode(new, skip_special_tokens=True)
            made.append(Generation(text, len(new) - ended, "stop" if ended else "length"))
        return made

    def score(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return each text's token log-probabilities in nats behind the prefix, first token left out."""
        found = []
        for text in texts:
            ids = self.tokenizer(text, return_tensors="pt")["input_ids"].to(self.base.device)
            with torch.inference_mode():
                out = self.base.logits(ids, torch.ones_like(ids, dtype=torch.bool), prefix=True)
            picked = out[0, :-1].float().log_softmax(-1).gather(1, ids[0, 1:, None])[:, 0]
            found.append(picked.cpu().numpy().astype(np.float32))
        return found


def prefix_base(generator: Generator, model: str = "") -> BuiltinPrefix | FolderPrefix:
    """Return what a prefix is learned for: the folder named, the generator's own folder, or the built-in network.

    A generator that runs elsewhere cannot be tuned from here; the built-in network stands in for it.
    """
    from engine.models.builtin.language_model import BuiltinGenerator, load_builtin_generator
    from engine.models.folder.transformers_local import TransformersGenerator

    if model:
        return FolderPrefix(model)
    if isinstance(generator, TransformersGenerator) and generator.facts.kind == "causal":
        return FolderPrefix(generator.facts.folder, links_within=generator.links_within)
    return BuiltinPrefix(generator if isinstance(generator, BuiltinGenerator) else load_builtin_generator())
