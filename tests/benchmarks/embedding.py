"""Speed of sentence embeddings: the built-in encoder against `SentenceTransformer.encode` with its defaults.

`python tests/benchmarks/embedding.py` embeds the same real notes with both (those of the folder that
`UNDERSTUDY_TEST_DATA` names; made-up ones without it), in one process, and prints one JSON line: seconds of the clock
and of the processor of each, their ratios, and the least cosine between rows of one text. `--records N` (1,500) and
`--threads N` (2) change the size; `--records 20706` takes all notes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.models.builtin.embedder import load_embedder  # noqa: E402
from engine.models.builtin.minilm import base_folder  # noqa: E402

LEAST_COSINE, LEAST_RATIO = 0.999, 2.0


def notes(records: int) -> list[str]:
    """Return real notes, or made-up ones of such lengths."""
    folder = os.environ.get("UNDERSTUDY_TEST_DATA")
    if folder:
        table = pd.read_parquet(Path(folder) / "vaers_1998_1999.parquet", columns=["text"])
        return table["text"].sample(min(records, len(table)), random_state=0).tolist()
    rng = np.random.default_rng(0)
    words = "patient had fever pain in the left arm after dose and swelling redness for two days".split()
    return [" ".join(rng.choice(words, max(2, int(rng.gamma(2.0, 12.0))))) for _ in range(records)]


def timed(embed: Callable[[], NDArray[np.float32]]) -> tuple[NDArray[np.float32], float, float]:
    """Return the rows, seconds of the clock and seconds of the processor."""
    began, began_cpu = time.perf_counter(), time.process_time()
    rows = embed()
    return rows, time.perf_counter() - began, time.process_time() - began_cpu


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1500)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(options.threads)
    texts = notes(options.records)
    ours, plain = load_embedder(), SentenceTransformer(str(base_folder()), local_files_only=True)
    ours.embed(texts[:64])
    plain.encode(texts[:64], show_progress_bar=False)
    rows, seconds, cpu = timed(lambda: ours.embed(texts))
    found, plain_seconds, plain_cpu = timed(lambda: np.asarray(plain.encode(texts, show_progress_bar=False)))
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    cosine = float((rows * found).sum(axis=1).min())
    ratio = plain_cpu / cpu
    print(json.dumps({
        "records": len(texts), "threads": options.threads, "bf16": ours.half, "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2), "plain_seconds": round(plain_seconds, 2),
        "plain_cpu_seconds": round(plain_cpu, 2),
        "times_faster_clock": round(plain_seconds / seconds, 2), "times_faster_cpu": round(ratio, 2),
        "least_cosine": round(cosine, 5),
    }))  # fmt: skip
    assert cosine >= LEAST_COSINE
    assert not ours.half or ratio >= LEAST_RATIO


if __name__ == "__main__":
    main()
