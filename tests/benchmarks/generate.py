"""Tokens a second of the built-in model: one run of mixed prompts, one prompt at a time, and padded batches.

`python tests/benchmarks/generate.py` prints JSON. The padded batches are transformers' own `generate` over the same
folder, type, threads and sampling, sorted by length, at the best of several sizes. Only tokens before the end token
count. On a processor rates are per second of processor time of one thread, so that a busy machine changes little.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.models.builtin.language_model import BuiltinGenerator  # noqa: E402
from engine.models.builtin.shipped import lm_folder  # noqa: E402
from engine.models.contracts import Sampling  # noqa: E402

SHORTEST, LONGEST = 8, 300
EOS, PAD = 2, 0
SAMPLING = Sampling(max_new_tokens=160, min_new_tokens=20, temperature=0.8, top_k=50, top_p=0.95, seed=1)


def texts(generator: BuiltinGenerator, count: int, seed: int = 0) -> list[str]:
    """Return `count` beginnings of made-up clinic letters, of 8 to 300 tokens each."""
    from engine.corpus.samples import load_sample

    rng = np.random.default_rng(seed)
    letters = " ".join(load_sample("clinic_letters")["text"])
    ids = generator.tokenizer.encode(letters, add_special_tokens=False).ids
    cuts = [(int(rng.integers(len(ids) - LONGEST)), int(rng.integers(SHORTEST, LONGEST + 1))) for _ in range(count)]
    return [generator.tokenizer.decode(ids[at : at + length]) for at, length in cuts]


def clock() -> float:
    """Return seconds of processor time, or of the wall where a GPU does the work."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.process_time()


def measure(run: Callable[[], int]) -> dict[str, float]:
    """Return tokens, seconds and tokens a second of one call that returns how many tokens it made."""
    start = clock()
    tokens = run()
    seconds = clock() - start
    return {"tokens": tokens, "seconds": round(seconds, 2), "tokens_per_second": round(tokens / seconds, 1)}


def own(generator: BuiltinGenerator, prompts: Sequence[str]) -> int:
    """Return the tokens of one call."""
    return sum(made.tokens for made in generator.generate(prompts, SAMPLING))


def padded(model: Any, rows: list[list[int]], size: int) -> int:
    """Return the tokens that transformers makes in left-padded batches of similar length."""
    tokens = 0
    ordered = sorted(rows, key=len)
    for begin in range(0, len(ordered), size):
        batch = ordered[begin : begin + size]
        width = max(map(len, batch))
        ids = torch.tensor([[PAD] * (width - len(row)) + row for row in batch], device=model.device)
        seen = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in batch], device=model.device)
        with torch.inference_mode():
            made = model.generate(
                ids,
                attention_mask=seen,
                do_sample=True,
                temperature=SAMPLING.temperature,
                top_k=SAMPLING.top_k,
                top_p=SAMPLING.top_p,
                min_new_tokens=SAMPLING.min_new_tokens,
                max_new_tokens=SAMPLING.max_new_tokens,
                eos_token_id=EOS,
                pad_token_id=PAD,
            )[:, width:]
        ended = (made == EOS).cumsum(dim=1) > 0
        tokens += int((~ended).sum())
    return tokens


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, default=256)
    parser.add_argument("--dtype", choices=("auto", "float32", "bfloat16"), default="auto")
    parser.add_argument("--sizes", type=int, nargs="*", default=[16, 32, 64, 128, 256], help="padded batches to try")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dtype = None if args.dtype == "auto" else getattr(torch, args.dtype)
    generator = BuiltinGenerator(lm_folder(), dtype=dtype)
    prompts = texts(generator, args.prompts)
    own(generator, prompts[:2])  # compiles
    result: dict[str, Any] = {"dtype": str(generator.dtype), "device": str(generator.net.embed_tokens.weight.device)}
    result |= {"prompts": len(prompts), "batch_size": generator.batch_size}
    result["one_run"] = measure(lambda: own(generator, prompts))
    result["one_at_a_time"] = measure(lambda: sum(own(generator, [prompt]) for prompt in prompts))
    result["padded"] = transformers_rates(generator, prompts, args.sizes)
    best = max((rate["tokens_per_second"] for rate in result["padded"].values()), default=float("nan"))
    rate = result["one_run"]["tokens_per_second"]
    result["times_one_at_a_time"] = round(rate / result["one_at_a_time"]["tokens_per_second"], 2)
    result["times_best_padded"] = round(rate / best, 2)
    print(json.dumps(result, indent=1))


def transformers_rates(generator: BuiltinGenerator, prompts: list[str], sizes: list[int]) -> dict[str, Any]:
    """Return the rates of padded batches by size."""
    from transformers import AutoModelForCausalLM

    model: Any = AutoModelForCausalLM.from_pretrained(lm_folder(), dtype=generator.dtype, local_files_only=True)
    model = model.to(generator.net.embed_tokens.weight.device).eval()
    rows = [entry.ids for entry in generator.tokenizer.encode_batch(prompts, add_special_tokens=False)]
    padded(model, rows[:2], 2)

    def rate(size: int) -> dict[str, float]:
        return measure(lambda: padded(model, rows, size))

    return {str(size): rate(size) for size in sizes}


if __name__ == "__main__":
    main()
