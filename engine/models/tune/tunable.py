"""The networks that are fitted to records with a prompt in front: the built-in one, and a folder through peft.

Privacy posture: holds weights that may be fitted to private text, in memory.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor, nn

from engine.at_rest import files
from engine.errors import UserError
from engine.models.builtin.decoder.folders import save_folder
from engine.models.builtin.decoder.lora import LAYERS, add_lora, merged, tunable_net
from engine.models.builtin.format import clean

WEIGHTS = "model.safetensors"

if TYPE_CHECKING:
    from engine.models.builtin.language_model import BuiltinGenerator
    from engine.models.contracts import Generator
    from engine.models.folder.transformers_local import LocalModel, TransformersGenerator


@dataclass(frozen=True)
class Adapter:
    """What is trained: adapters of this rank and weight, or, where rank is 0, the whole network."""

    rank: int = 8
    alpha: int = 16
    layers: tuple[str, ...] = LAYERS
    seed: int = 0


class Tunable(Protocol):
    """A network some of whose weights are trained. `bare`: its prompts are plain words, not control tokens."""

    bare: bool
    eos: int
    context: int

    @property
    def module(self) -> nn.Module:
        """The network as it is trained."""
        ...

    def trained(self) -> list[tuple[str, nn.Parameter]]:
        """Return the weights that are trained, named, in a fixed order."""
        ...

    def prompt_ids(self, prompt: str) -> list[int]:
        """Return a prompt's tokens."""
        ...

    def text_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return each text's tokens, without special ones."""
        ...

    def logits(self, ids: Tensor, real: Tensor) -> Tensor:
        """Return next-token logits (B, T, V); padding stands behind the text."""
        ...

    def writer(self) -> Generator:
        """Return a generator with the trained weights merged in."""
        ...

    def save(self, folder: Path) -> None:
        """Write the merged model as a folder that opens like any other, safetensors only."""
        ...


class BuiltinTunable:
    """A copy of the built-in network; the generator's own weights stay as they are."""

    bare = False

    def __init__(self, generator: BuiltinGenerator, adapter: Adapter) -> None:
        from engine.models.builtin.decoder.generate import EOS

        self._generator = generator
        self.module = tunable_net(generator.net)
        if adapter.rank:
            add_lora(self.module, adapter.rank, adapter.alpha, adapter.layers, adapter.seed)
        self.eos, self.context = EOS, generator.net.config.context

    def trained(self) -> list[tuple[str, nn.Parameter]]:
        """Return the weights that are trained, named, in a fixed order."""
        return [(name, p) for name, p in self.module.named_parameters() if p.requires_grad]

    def prompt_ids(self, prompt: str) -> list[int]:
        """Return a prompt's tokens."""
        return list(self._generator.tokenizer.encode(prompt, add_special_tokens=False).ids)

    def text_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return each text's tokens, without special ones."""
        encoded = self._generator.tokenizer.encode_batch([clean(t) for t in texts], add_special_tokens=False)
        return [list(entry.ids) for entry in encoded]

    def logits(self, ids: Tensor, real: Tensor) -> Tensor:
        """Return next-token logits (B, T, V); causal attention cannot look at padding behind the text."""
        out: Tensor = self.module(ids)
        return out

    def writer(self) -> Generator:
        """Return a generator with the trained weights merged in."""
        return self._generator.with_net(merged(self.module), "builtin-tuned")

    def save(self, folder: Path) -> None:
        """Write the merged model as a folder that opens like any other, safetensors only."""
        save_folder(merged(self.module), folder, torch.float32)
        words = folder / "tokenizer.json"
        files.write_bytes(words, self._generator.tokenizer.to_str(pretty=True).encode())


class FolderTunable:
    """A transformers causal model, through peft where adapters are trained.

    The model is on its device before peft wraps it: in another order its weights would silently not be trained.

    Raises:
        UserError: the folder is refused or cannot be loaded.
    """

    bare = True

    def __init__(self, model: str | Path, adapter: Adapter, generator: TransformersGenerator | None = None) -> None:
        from engine.models.tune.finetune_nets import FolderNet

        within: Path | None = getattr(generator, "links_within", None)
        self._net, self._folder, self._generator = FolderNet(model, links_within=within), Path(model), generator
        self.module: Any = self._net.module
        self.eos, self.context = self._net.eos, self._net.context
        self.rank = adapter.rank
        if adapter.rank:
            from peft import LoraConfig, TaskType, get_peft_model

            settings = LoraConfig(
                task_type=TaskType.CAUSAL_LM, r=adapter.rank, lora_alpha=adapter.alpha, lora_dropout=0.0,
                target_modules="all-linear",
            )  # fmt: skip
            with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # peft remarks on layers that lie on their side, and turns them
                torch.manual_seed(adapter.seed)
                self.module = get_peft_model(self.module, settings)

    def trained(self) -> list[tuple[str, nn.Parameter]]:
        """Return the weights that are trained, named, in a fixed order."""
        return [(name, p) for name, p in self.module.named_parameters() if p.requires_grad]

    def prompt_ids(self, prompt: str) -> list[int]:
        """Return a prompt's tokens, with the tokenizer's own start token."""
        ids: list[int] = self._net.tokenizer(prompt)["input_ids"]
        return ids

    def text_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return each text's tokens, without special ones."""
        return self._net.encode(texts)

    def logits(self, ids: Tensor, real: Tensor) -> Tensor:
        """Return next-token logits (B, T, V)."""
        out: Tensor = self.module(input_ids=ids, attention_mask=real.long(), use_cache=False).logits
        return out

    def writer(self) -> Generator:
        """Return a generator with the trained weights merged in."""
        from engine.models.folder.transformers_local import TransformersGenerator

        base = self._generator or TransformersGenerator(self._folder, "tuned", prompts="plain")
        return base.with_model(self._merged(), "tuned")

    def save(self, folder: Path) -> None:
        """Write the merged model as a folder that opens like any other, safetensors only."""
        if files.encrypted(folder / WEIGHTS):
            _save_weights(self._merged(), folder)
        else:
            self._merged().save_pretrained(folder, safe_serialization=True)
        self._net.tokenizer.save_pretrained(folder)
        files.seal_plain(folder)

    def _merged(self) -> LocalModel:
        whole = copy.deepcopy(self.module).eval()
        return whole.merge_and_unload() if self.rank else whole


def _save_weights(model: LocalModel, folder: Path) -> None:
    """Write a model's weights encrypted, so that they are never plain on the disk, and what describes them."""
    from safetensors.torch import save

    tensors = {name: value.detach().cpu().clone().contiguous() for name, value in model.state_dict().items()}
    files.write_bytes(folder / WEIGHTS, save(tensors, {"format": "pt"}))
    model.config.save_pretrained(folder)


def tunable(generator: Generator, adapter: Adapter, model: str = "") -> Tunable:
    """Return what is trained: the folder named, the generator's own folder, or the built-in network.

    Raises:
        UserError: the generator runs elsewhere, or the model cannot be trained.
    """
    from engine.models.builtin.language_model import BuiltinGenerator
    from engine.models.folder.transformers_local import TransformersGenerator

    if model:
        return FolderTunable(model, adapter)
    if isinstance(generator, BuiltinGenerator):
        return BuiltinTunable(generator, adapter)
    if isinstance(generator, TransformersGenerator) and generator.facts.kind == "causal":
        return FolderTunable(generator.facts.folder, adapter, generator)
    raise UserError(f"model: {generator.id!r} cannot be trained here; choose the built-in model or a causal folder")
