"""Texts a second of an OpenAI-compatible server by requests under way, as multiples of one at a time.

`python tests/benchmarks/endpoint.py` starts `transformers serve` with continuous batching on a random model of some
three million numbers, asks for texts of 40 tokens with 1, 16, 64 and 200 requests under way, and prints JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.models.contracts import Sampling  # noqa: E402
from engine.models.remote.endpoint import EndpointGenerator  # noqa: E402
from engine.models.remote.endpoint_settings import EndpointSettings  # noqa: E402
from tests.models.serving import library_serving  # noqa: E402
from tests.models.tune.test_prefix_tuning import tiny_folder  # noqa: E402

TOKENS = 40


def random_model(folder: Path) -> Path:
    """Write a random model wide enough that writing, not talking, takes the time."""
    from transformers import AutoConfig, LlamaForCausalLM

    config = AutoConfig.from_pretrained(tiny_folder(folder))
    config.hidden_size, config.intermediate_size, config.num_hidden_layers = 192, 512, 6
    config.head_dim, config.max_position_embeddings = 48, 512
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def rate(found: dict[str, Any], at_once: int, count: int) -> dict[str, float]:
    """Return the texts a second and how many requests had to be repeated."""
    one = EndpointGenerator(EndpointSettings(**found, api="completions", concurrency=at_once))
    sampling = Sampling(max_new_tokens=TOKENS, temperature=1.0, top_p=1.0)
    one.generate(["warm"] * min(at_once, 4), sampling)
    began = time.monotonic()
    made = one.generate([f"Letter {i}: the patient" for i in range(count)], sampling)
    seconds = time.monotonic() - began
    one.close()
    return {"texts": len(made) / seconds, "tokens": sum(m.tokens for m in made) / seconds, "retries": one.usage.retries}


def main() -> None:
    """Print the rates and the multiples of one request at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, library_serving(random_model(Path(temporary))) as found:
        rates = {n: rate(found, n, options.texts if n > 1 else max(8, options.texts // 10)) for n in (1, 16, 64, 200)}
    first = rates[1]["texts"]
    shown = {
        n: {**{k: round(v, 2) for k, v in r.items()}, "times": round(r["texts"] / first, 2)} for n, r in rates.items()
    }
    print(json.dumps(shown, indent=1))


if __name__ == "__main__":
    main()
