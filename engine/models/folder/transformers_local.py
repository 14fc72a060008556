"""Causal and sequence-to-sequence models of the transformers library, from a folder on this machine.

Safetensors only, no code of a model is run, nothing is downloaded. Type and device follow the machine; several GPUs
share a model by `device_map`. Tokens are drawn by `draw_tokens`, one random stream a prompt, so that a text does
not depend on which prompts ran beside it. A row whose last word completes a blocked value ends there, is taken back to
the beginning of that word, and is written on from there without the token that began it.

Privacy posture: prompts and outputs stay in memory; nothing is logged.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import UserError
from engine.models.builtin.decoder.draw import draw_tokens
from engine.models.cancel import Cancelled
from engine.models.constraints import Blocklist
from engine.models.contracts import Constraints, Generation, Sampling
from engine.models.folder.inspection import FolderFacts, capabilities_of_folder, inspect_folder
from engine.models.folder.precision import quantised
from engine.models.folder.prompting import Prompting

if TYPE_CHECKING:
    from transformers import GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase

    class LocalModel(PreTrainedModel):
        """What the library loads here: a network that writes."""

        generation_config: GenerationConfig

        def generate(self, **asked: object) -> Tensor:
            """Return each row's tokens, the prompt's first."""
            ...


BATCH = 16
ROUNDS = 24  # times one text may be taken back to the beginning of a word before it ends there
STUBBORN = 4  # beginnings refused at one place before the word in front of it goes too
REDRAWS = 64  # candidates that may be refused at one place before the text ends there


def machine() -> tuple[str, torch.dtype]:
    """Return the device and the number type that suit this machine."""
    from engine.models.builtin.decoder.net import fast_type

    if torch.cuda.is_available():
        return "cuda", torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    if torch.backends.mps.is_available():
        return "mps", torch.float16
    return "cpu", fast_type()


class TransformersGenerator:
    """A model folder behind the `Generator` contract.

    Args:
        folder: the model; it is checked first.
        name: its id.
        prompts: `instruct`, `plain` or `builtin`; None follows from the folder.
        batch_size: prompts side by side; halved where memory runs out.
        dtype: None = as the machine is fast in.
        links_within: see `inspect_folder`.
        precision: `8 bit` or `4 bit` where weights are kept so, see `engine.models.folder.precision`.

    Raises:
        UserError: the folder is refused, or no library for the precision is installed.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        *,
        prompts: str | None = None,
        batch_size: int = BATCH,
        dtype: torch.dtype | None = None,
        links_within: Path | None = None,
        precision: str = "",
    ) -> None:
        self.facts: FolderFacts = inspect_folder(folder, links_within=links_within)
        self.links_within = links_within
        self.id, self.prompts, self.batch_size = name, prompts or self.facts.prompts, batch_size
        self.model, self.tokenizer = _load(self.facts, dtype, precision)
        self.encoder_decoder = self.facts.kind == "seq2seq"
        self._prompting = Prompting(self.tokenizer, self.facts, self.prompts)
        self.context = self.facts.context
        self.capabilities = capabilities_of_folder(self.facts.kind, self.prompts, precision)
        self.halved = 0
        self._cancelled: Callable[[], bool] = lambda: False

    @property
    def chat(self) -> bool:
        """Say whether prompts stand inside a chat template."""
        return self._prompting.chat

    def watch(self, cancelled: Callable[[], bool]) -> None:
        """Ask `cancelled` at every token; a running call then ends with `Cancelled`."""
        self._cancelled = cancelled

    def with_model(self, model: LocalModel, name: str) -> TransformersGenerator:
        """Return a generator that writes on, without chat template, with other weights of the same kind."""
        other = copy.copy(self)
        other.model, other.id, other.prompts = model.eval(), name, "plain"
        other._prompting = Prompting(self.tokenizer, self.facts, "plain")
        return other

    def generate(
        self, prompts: Sequence[str], sampling: Sampling, constraints: Constraints | None = None
    ) -> list[Generation]:
        """Return one generation a prompt, in order; the same call gives the same texts.

        A prompt that leaves too little of the context loses its middle.
        """
        blocked = Blocklist(constraints.blocked, constraints.names) if constraints else Blocklist(())
        encoded = [self._prompting.encode(prompt, sampling.max_new_tokens) for prompt in prompts]
        order = sorted(range(len(prompts)), key=lambda i: (len(encoded[i]), i))
        made: dict[int, Generation] = {}
        rooms = [self._prompting.room(len(row), sampling.max_new_tokens) for row in encoded]
        while order:  # side by side stand prompts with the same room, so that none shortens another's text
            chunk = [i for i in order[: self.batch_size] if rooms[i] == rooms[order[0]]]
            least = min(sampling.min_new_tokens, rooms[chunk[0]])
            asked = replace(sampling, max_new_tokens=rooms[chunk[0]], min_new_tokens=least)
            try:
                outputs = self._batch([encoded[i] for i in chunk], chunk, asked, blocked)
            except (MemoryError, RuntimeError) as error:
                if not _out_of_memory(error):
                    raise
                self._halve(len(chunk))
                continue
            made.update(zip(chunk, outputs, strict=True))
            order = order[len(chunk) :]
        return [made[i] for i in range(len(prompts))]

    def score(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return each text's token log-probabilities in nats, without an end token.

        A text longer than the context is scored in consecutive windows. A causal model without a start token has
        none for a text's first token. An encoder-decoder scores a text as its output to an empty input.
        """
        return [self._score(text) for text in texts]

    @property
    def depth(self) -> int:
        """Return the number of layers whose states can be moved; raises `UserError` where none can."""
        from engine.models.folder.hidden_states import layers_of

        return len(layers_of(self))

    def states(self, texts: Sequence[str], layers: Sequence[int], tokens: int) -> NDArray[np.float32]:
        """Return the mean states of each text behind chosen layers, (n, layers, d); see `hidden_states`."""
        from engine.models.folder.hidden_states import mean_states

        return mean_states(self, texts, layers, tokens)

    def moved(self, vectors: Mapping[int, NDArray[np.float64]]) -> AbstractContextManager[None]:
        """Add a vector behind each named layer while the block runs."""
        from engine.models.folder.hidden_states import moved_states

        return moved_states(self, vectors)

    def _halve(self, size: int) -> None:
        if size <= 1:
            raise UserError(
                f"model {self.id!r} needs more memory than this machine has free, for one prompt alone: close other "
                "programs, ask for shorter outputs, or choose a smaller model"
            ) from None
        self.batch_size, self.halved = max(1, size // 2), self.halved + 1
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def templated(self, prompt: str) -> list[int]:
        """Return the tokens of a prompt inside the model's chat template."""
        return self._prompting.templated(prompt)

    def ends(self) -> tuple[int, ...]:
        """Return the tokens that end a text; the one that closes a turn of the chat template comes first."""
        return self._prompting.ends(self.model.generation_config.eos_token_id)

    def _batch(
        self, rows: list[list[int]], positions: list[int], sampling: Sampling, blocked: Blocklist
    ) -> list[Generation]:
        draw = _Draw(self, sampling, blocked, positions)
        open_ = list(range(len(rows)))
        for _ in range(ROUNDS if blocked else 1):
            groups = [[i] for i in open_] if self.encoder_decoder and any(draw.kept) else [open_]
            for group in groups:
                self._write([rows[i] for i in group], group, draw)
            open_ = draw.taken_back(open_)
            if not open_:
                break
        return [self._read(tokens, blocked, draw.ends, sampling) for tokens in draw.kept]

    def _write(self, rows: list[list[int]], group: list[int], draw: _Draw) -> None:
        """Write on from what is kept of each row of the group."""
        from transformers import LogitsProcessorList, StoppingCriteriaList

        kept = [draw.kept[i] for i in group]
        rows = rows if self.encoder_decoder else [[*row, *made] for row, made in zip(rows, kept, strict=True)]
        width = max(map(len, rows))
        before = 0 if self.encoder_decoder else 1  # an encoder counts places from the first token it is given
        padding = [[self._prompting.pad()] * (width - len(row)) for row in rows]
        ids = torch.tensor([gap * before + row + gap * (1 - before) for gap, row in zip(padding, rows, strict=True)])
        places = [([0] * len(gap), [1] * len(row)) for gap, row in zip(padding, rows, strict=True)]
        mask = torch.tensor([gap * before + row + gap * (1 - before) for gap, row in places])
        more: dict[str, Any] = {}
        if self.encoder_decoder and kept[0]:
            start = self.model.generation_config.decoder_start_token_id
            begun = [self._prompting.pad() if start is None else int(start), *kept[0]]
            more["decoder_input_ids"] = torch.tensor([begun]).to(self.model.device)
        prompt = (1 + len(kept[0]) if more else 1) if self.encoder_decoder else width
        longest = draw.sampling.max_new_tokens - min(map(len, kept))
        draw.begin(group, prompt)
        with torch.inference_mode():
            output = self.model.generate(
                input_ids=ids.to(self.model.device), attention_mask=mask.to(self.model.device),
                generation_config=self._settings(draw.sampling, longest), logits_processor=LogitsProcessorList([draw]),
                stopping_criteria=StoppingCriteriaList([self._stop]), **more,
            )  # fmt: skip
        if self._cancelled():
            raise Cancelled("cancelled while the model was writing")
        for i, tokens in zip(group, output[:, prompt:].tolist(), strict=True):
            draw.kept[i] = [*draw.kept[i], *tokens][: draw.sampling.max_new_tokens]

    def _stop(self, input_ids: Tensor, scores: Tensor, **_: object) -> Tensor:
        return torch.full((input_ids.shape[0],), self._cancelled(), device=input_ids.device, dtype=torch.bool)

    def _settings(self, sampling: Sampling, longest: int) -> GenerationConfig:
        from transformers import GenerationConfig

        own = self.model.generation_config
        return GenerationConfig(
            do_sample=False, num_beams=1, max_new_tokens=longest, repetition_penalty=sampling.repetition_penalty,
            eos_token_id=list(self.ends()) or None, pad_token_id=self._prompting.pad(), bos_token_id=own.bos_token_id,
            decoder_start_token_id=own.decoder_start_token_id,
        )  # fmt: skip

    def _read(self, row: list[int], blocked: Blocklist, ends: frozenset[int], sampling: Sampling) -> Generation:
        at = next((i for i, token in enumerate(row) if token in ends), None)
        tokens = row if at is None else row[:at]
        text = str(self.tokenizer.decode(tokens, skip_special_tokens=True))
        if blocked.contains(text):
            return Generation(blocked.cut(text), len(tokens), "stop")
        return Generation(text, len(tokens), "length" if at is None and len(row) >= sampling.max_new_tokens else "stop")

    def _score(self, text: str) -> NDArray[np.float32]:
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False)
        if self.encoder_decoder:
            parts = [self._output_scores(ids[at : at + self.context]) for at in range(0, len(ids), self.context)]
        else:
            start = self.tokenizer.bos_token_id
            room = self.context - 1
            parts = [self._causal_scores(ids[at : at + room], start) for at in range(0, len(ids), room)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)

    def _causal_scores(self, ids: list[int], start: int | None) -> NDArray[np.float32]:
        row = ids if start is None else [start, *ids]
        tensor = torch.tensor([row], device=self.model.device)
        with torch.inference_mode():
            logits = self.model(input_ids=tensor).logits[0, :-1]
        return _picked(logits, tensor[0, 1:])

    def _output_scores(self, ids: list[int]) -> NDArray[np.float32]:
        end = self.tokenizer.eos_token_id
        source = torch.tensor([[end if end is not None else self._prompting.pad()]], device=self.model.device)
        labels = torch.tensor([ids], device=self.model.device)
        with torch.inference_mode():
            logits = self.model(input_ids=source, labels=labels).logits[0]
        return _picked(logits, labels[0])


class _Draw:
    """Chooses every next token, so that the library has nothing left to draw, and holds what is kept of each row.

    Args:
        owner: the generator. positions: each row's place among the call's prompts, which fixes its random stream.
    """

    def __init__(
        self, owner: TransformersGenerator, sampling: Sampling, blocked: Blocklist, positions: list[int]
    ) -> None:
        self.owner, self.sampling, self.blocked = owner, sampling, blocked
        self.randoms = [np.random.default_rng([sampling.seed, place]) for place in positions]
        self.ends = frozenset(owner.ends())
        self.kept: list[list[int]] = [[] for _ in positions]
        self.refused: list[dict[int, set[int]]] = [{} for _ in positions]
        self.back: dict[int, int] = {}  # row -> tokens that may stay
        self.group, self.prompt = list(range(len(positions))), 0

    def begin(self, group: list[int], prompt: int) -> None:
        """Say which rows the library's batch holds, and how many of its tokens are not new."""
        self.group, self.prompt = group, prompt

    def taken_back(self, rows: list[int]) -> list[int]:
        """Cut the rows that ended in a blocked value back to where it began, and return them."""
        again = [i for i in rows if i in self.back]
        for i in again:
            keep = self.back.pop(i)
            if len(self.refused[i].get(keep, ())) >= STUBBORN and keep:
                text = self._text(self.kept[i][:keep]).rstrip()
                keep = self._tokens_before(self.kept[i][:keep], max(text.rfind(mark) for mark in " \n") + 1)
            self.refused[i] = {at: tokens for at, tokens in self.refused[i].items() if at <= keep}
            self.refused[i].setdefault(keep, set()).add(self.kept[i][keep])
            self.kept[i] = self.kept[i][:keep]
        return again

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        values = scores.float().cpu().numpy()
        rows = [[*self.kept[i], *new] for i, new in zip(self.group, input_ids[:, self.prompt :].tolist(), strict=True)]
        for row, (i, tokens) in enumerate(zip(self.group, rows, strict=True)):
            if len(tokens) < self.sampling.min_new_tokens:
                values[row, list(self.ends)] = -np.inf
            values[row, list(self.refused[i].get(len(tokens), ()))] = -np.inf
        chosen = draw_tokens(values, self.sampling, [self.randoms[i] for i in self.group])
        for row, (i, tokens) in enumerate(zip(self.group, rows, strict=True)):
            if i in self.back or len(tokens) >= self.sampling.max_new_tokens:
                chosen[row] = min(self.ends, default=chosen[row])
            elif self.blocked and not (self.ends & set(tokens)):
                chosen[row] = self._allowed(values[row], tokens, int(chosen[row]), i)
        picked = torch.full_like(scores, float("-inf"))
        picked[torch.arange(len(chosen)), torch.as_tensor(chosen, device=scores.device)] = 0.0
        return picked

    def _allowed(self, values: NDArray[np.float32], tokens: list[int], token: int, row: int) -> int:
        """Return a token that completes no blocked value; where a word must go back, the end of this round."""
        before, values = self._text(tokens), values.copy()
        last = len(tokens) + 1 >= self.sampling.max_new_tokens
        for _ in range(REDRAWS):
            end = token in self.ends
            after = before if end else self._text([*tokens, token])
            place = self.blocked.completed(before, after, final=end or last)
            if place is None:
                return token
            if place < len(before):
                self.back[row] = self._tokens_before(tokens, place)
                break
            values[token] = -np.inf
            token = int(draw_tokens(values[None], self.sampling, [self.randoms[row]])[0])
        return min(self.ends, default=token)

    def _tokens_before(self, tokens: list[int], place: int) -> int:
        """Return how many tokens may stay so that the text ends at or before `place`; fewer than there are."""
        return next((n for n in range(len(tokens) - 1, 0, -1) if len(self._text(tokens[:n])) <= place), 0)

    def _text(self, tokens: list[int]) -> str:
        return str(self.owner.tokenizer.decode(tokens, skip_special_tokens=True))


def _load(facts: FolderFacts, dtype: torch.dtype | None, precision: str) -> tuple[LocalModel, PreTrainedTokenizerBase]:
    """Return model and tokenizer; a library's message may quote a file, so it is left out."""
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    device, fast = machine()
    auto: Any = AutoModelForSeq2SeqLM if facts.kind == "seq2seq" else AutoModelForCausalLM
    several = torch.cuda.device_count() > 1
    bits = quantised(precision, dtype or fast) if precision else None
    place: str | dict[str, str] | None = "auto" if several else {"": device} if bits is not None else None
    try:
        tokenizer = AutoTokenizer.from_pretrained(facts.folder, local_files_only=True, trust_remote_code=False)
        model = auto.from_pretrained(
            facts.folder,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            dtype=dtype or fast,
            device_map=place,
            **({} if bits is None else {"quantization_config": bits}),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, ImportError) as error:
        if _out_of_memory(error):
            raise UserError("the model does not fit into this machine's memory; choose a smaller one") from None
        raise UserError(
            f"folder: the transformers library cannot open this model ({facts.architecture}, {type(error).__name__}); "
            "it may be damaged, or newer than the installed library"
        ) from None
    model = (model if place is not None else model.to(device)).eval()
    for name in ("bos", "eos", "pad"):
        token = getattr(model.config, f"{name}_token_id", None)
        if getattr(tokenizer, f"{name}_token_id") is None and isinstance(token, int):
            setattr(tokenizer, f"{name}_token", tokenizer.convert_ids_to_tokens(token))
    return model, tokenizer


def _picked(logits: Tensor, targets: Tensor) -> NDArray[np.float32]:
    """Return the log-probabilities (n,) of targets (n,) under logits (n, V)."""
    values = logits.float().log_softmax(-1).gather(1, targets[:, None].to(logits.device))[:, 0]
    found: NDArray[np.float32] = values.cpu().numpy().astype(np.float32)
    return found


def _out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    words = str(error).lower()
    return isinstance(error, RuntimeError) and ("can't allocate memory" in words or "not enough memory" in words)
