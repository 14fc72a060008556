"""Causal model folders written with vLLM in this process, where it is installed and there is a graphics card.

For methods that only have text written and scored: continuous batching makes it many times as fast as the transformers
library. Methods that read logits, states or train take the transformers library. A text with a blocked value is asked
for anew, then cut there, as with a server.

Privacy posture: prompts stay on this machine; vLLM's usage statistics are switched off, and it logs no request.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import UserError
from engine.models.cancel import Cancelled
from engine.models.constraints import Blocklist
from engine.models.contracts import Constraints, Generation, Sampling
from engine.models.folder.inspection import FolderFacts, inspect_folder
from engine.models.folder.prompting import Prompting

CAPABILITIES = frozenset({"logprobs", "block_tokens", "instruct"})
# What a method may ask for and still be served by text alone.
SERVED = frozenset({"generator", "operators", "embedder", "detector", "spans", "instruct", "logprobs", "block_tokens"})
TRIES = 4  # times a text with a blocked value is asked for anew before it is cut there
AT_ONCE = 256  # prompts between two looks at whether to stop
QUIET = {
    "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1", "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_HOST_IP": "127.0.0.1", "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
}  # fmt: skip


def installed() -> bool:
    """Say whether vLLM is installed."""
    return find_spec("vllm") is not None


def vllm_serves(facts: FolderFacts, needs: Collection[str], precision: str) -> bool:
    """Say whether vLLM is here and may write for a method with these needs."""
    if facts.kind != "causal" or precision or facts.prompts == "builtin" or not set(needs) <= SERVED:
        return False
    if not installed():
        return False
    import torch

    return torch.cuda.is_available()


class VllmGenerator:
    """A causal model folder behind the `Generator` contract, by vLLM.

    Raises:
        UserError: the folder is refused, or vLLM cannot open it.
    """

    def __init__(self, folder: Path, name: str, *, prompts: str, links_within: Path | None = None) -> None:
        self.facts = inspect_folder(folder, links_within=links_within)
        self.id = name
        self.capabilities = CAPABILITIES if prompts == "instruct" else CAPABILITIES - {"instruct"}
        for variable, value in QUIET.items():
            os.environ.setdefault(variable, value)
        from transformers import AutoTokenizer, GenerationConfig
        from vllm import LLM

        try:
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
            self._llm = LLM(
                model=str(folder), trust_remote_code=False, load_format="safetensors", dtype="auto", seed=0,
                max_model_len=self.facts.context, disable_log_stats=True,
            )  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError, RuntimeError, ImportError) as error:
            raise UserError(
                f"model {name!r}: vLLM cannot open it ({type(error).__name__}); it may need more memory than the "
                "graphics card has free. Take vLLM away to use the transformers library"
            ) from None
        own = folder / "generation_config.json"
        ends = GenerationConfig.from_pretrained(folder).eos_token_id if own.is_file() else None
        self.tokenizer, self._prompting = tokenizer, Prompting(tokenizer, self.facts, prompts)
        self._ends = list(self._prompting.ends(ends))
        self._cancelled: Callable[[], bool] = lambda: False

    def watch(self, cancelled: Callable[[], bool]) -> None:
        """Ask `cancelled` between batches; a running call then ends with `Cancelled`."""
        self._cancelled = cancelled

    def close(self) -> None:
        """Let go of the graphics card's memory."""
        import gc

        import torch

        del self._llm
        gc.collect()
        torch.cuda.empty_cache()

    def generate(
        self, prompts: Sequence[str], sampling: Sampling, constraints: Constraints | None = None
    ) -> list[Generation]:
        """Return one generation a prompt, in order; a text with a blocked value is asked for anew, then cut."""
        blocked = Blocklist(constraints.blocked, constraints.names) if constraints else Blocklist(())
        rows = [self._prompting.encode(prompt, sampling.max_new_tokens) for prompt in prompts]
        made: dict[int, Generation] = {}
        waiting = list(range(len(rows)))
        for attempt in range(TRIES if blocked else 1):
            for at in range(0, len(waiting), AT_ONCE):
                chunk = waiting[at : at + AT_ONCE]
                made |= dict(zip(chunk, self._write([rows[i] for i in chunk], chunk, sampling, attempt), strict=True))
            waiting = [i for i in waiting if blocked.contains(made[i].text)] if blocked else []
        for i in waiting:
            made[i] = Generation(blocked.cut(made[i].text), made[i].tokens, "stop")
        return [made[i] for i in range(len(rows))]

    def score(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return each text's token log-probabilities in nats, by consecutive windows where it is long."""
        from vllm import SamplingParams, TokensPrompt

        start = self.tokenizer.bos_token_id
        encoded = [list(self.tokenizer.encode(text, add_special_tokens=False)) for text in texts]
        room = self.facts.context - 2
        windows = [(i, ids[at : at + room]) for i, ids in enumerate(encoded) for at in range(0, len(ids), room)]
        rows = [ids if start is None else [start, *ids] for _, ids in windows]
        found: list[list[float]] = [[] for _ in texts]
        asked = SamplingParams(max_tokens=1, temperature=0.0, prompt_logprobs=0, detokenize=False)
        for at in range(0, len(rows), AT_ONCE):
            self._check()
            chunk = rows[at : at + AT_ONCE]
            outputs = self._llm.generate([TokensPrompt(prompt_token_ids=row) for row in chunk], asked, use_tqdm=False)
            for (i, _), row, output in zip(windows[at : at + AT_ONCE], chunk, outputs, strict=True):
                steps = list(output.prompt_logprobs or [])[1:]  # none for a row's first token
                found[i] += [float(step[token].logprob) for step, token in zip(steps, row[1:], strict=True)]
        return [np.array(values, dtype=np.float32) for values in found]

    def _write(self, rows: list[list[int]], places: list[int], sampling: Sampling, attempt: int) -> list[Generation]:
        from vllm import SamplingParams, TokensPrompt

        self._check()
        asked = []
        for row, place in zip(rows, places, strict=True):
            most = self._prompting.room(len(row), sampling.max_new_tokens)
            asked.append(
                SamplingParams(
                    max_tokens=most, min_tokens=min(sampling.min_new_tokens, most), temperature=sampling.temperature,
                    top_k=sampling.top_k, top_p=sampling.top_p, repetition_penalty=sampling.repetition_penalty,
                    seed=_seed(sampling.seed, place, attempt), stop_token_ids=self._ends, skip_special_tokens=True,
                )
            )  # fmt: skip
        outputs = self._llm.generate([TokensPrompt(prompt_token_ids=row) for row in rows], asked, use_tqdm=False)
        made = []
        for output in outputs:
            (one,) = output.outputs
            tokens = [token for token in one.token_ids if token not in self._ends]
            text = str(self.tokenizer.decode(tokens, skip_special_tokens=True))
            made.append(Generation(text, len(tokens), "length" if one.finish_reason == "length" else "stop"))
        return made

    def _check(self) -> None:
        if self._cancelled():
            raise Cancelled("cancelled while the model was writing")


def _seed(seed: int, place: int, attempt: int) -> int:
    """Return a 31-bit seed of one prompt's draw: equal prompts side by side must not give equal texts."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{place}/{attempt}".encode()).digest()[:4], "big") >> 1
