"""Sixteen shadow models trained together against the same sixteen in turn, in one run.

`python tests/benchmarks/shadow.py` prints JSON: seconds of both, their ratio, and the largest difference between a
model's loss trained together and alone (they are the same models: equal seeds, records, steps). On a processor the
rates are of processor time (`--wall` takes the wall clock: use it on a quiet machine); on a GPU, of the wall.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.corpus.samples import load_sample  # noqa: E402
from engine.examine.members.trained.shadows import balanced_coins  # noqa: E402
from engine.models.tune import small_causal as lm  # noqa: E402
from engine.models.tune.stacked import Shape, Training  # noqa: E402

TOLERANCE = 0.1  # nats a token: rounding grows over the steps (width 128: 0.002 after three epochs, 0.05 after five)


def clock(wall: bool) -> float:
    """Return seconds of the wall or of processor time."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.perf_counter() if wall else time.process_time()


def measure(models: int, records: int, tokens: int, shape: Shape, training: Training, wall: bool) -> dict[str, object]:
    """Return both times, their ratio and how far losses lie apart."""
    texts = load_sample("support_tickets")["text"].tolist()[:records]
    rows = [row[:tokens] for row in lm.encode(texts)]
    coins, seeds = balanced_coins(models, texts, 0), list(range(models))
    lm.fitted(rows[:8], np.ones((1, 8), bool), [0], shape, Training(epochs=1))  # libraries and kernels are loaded
    begin = clock(wall)
    _, together = lm.fitted(rows, coins, seeds, shape, training)
    first = clock(wall) - begin
    begin = clock(wall)
    alone = [lm.fitted(rows, coins[i : i + 1], [i], shape, training)[1][0] for i in seeds]
    second = clock(wall) - begin
    apart = float(np.abs(together - np.array(alone)).max())
    if apart > TOLERANCE:
        raise SystemExit(f"losses differ by {apart:.4f} nats a token, over {TOLERANCE}")
    return {
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else f"{torch.get_num_threads()} threads",
        "clock": "wall" if wall or torch.cuda.is_available() else "processor",
        "models": models,
        "width": shape.width,
        "layers": shape.layers,
        "records": records,
        "tokens_an_epoch": int(sum(map(len, rows))),
        "epochs": training.epochs,
        "seconds_together": round(first, 2),
        "seconds_in_turn": round(second, 2),
        "ratio": round(second / first, 2),
        "largest_loss_difference": round(apart, 6),
        "mean_loss": round(float(together.mean()), 4),
    }


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, default=16)
    parser.add_argument("--records", type=int, default=300)
    parser.add_argument("--tokens", type=int, default=48, help="tokens of a record")
    parser.add_argument("--width", type=int, nargs="+", default=[32, 64, 128], help="d_model")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--wall", action="store_true")
    o = parser.parse_args()
    found = [
        measure(o.models, o.records, o.tokens, Shape(lm.vocabulary_size(), width, o.layers, context=o.tokens),
                Training(epochs=o.epochs, batch=o.batch), o.wall)
        for width in o.width
    ]  # fmt: skip
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
