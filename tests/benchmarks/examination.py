"""Seconds of a whole examination, part by part: 20,706 real notes against 1,000 texts, on two threads.

`UNDERSTUDY_TEST_DATA=FOLDER python tests/benchmarks/examination.py` prints a line a part (seconds of the clock and of
the processor) and one JSON line with the sums; without the folder it says what is missing. The texts examined are
notes of earlier years. `--records N`, `--texts N` make it smaller, `--models` adds what trains language models.
Finding private values in all records takes minutes of its own and is no part of an examination, so those of the first
`--detected` (2,000) records stand for all.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.examine.examination import ExamineInput, examine_run  # noqa: E402
from engine.models.builtin.embedder import load_embedder  # noqa: E402
from engine.pii.detect.detector import RecordDetector  # noqa: E402
from engine.pii.detect.settings import DetectorSettings  # noqa: E402

MOST_SECONDS = 360.0
MOST_MODEL_SECONDS = 600.0  # of what trains language models, whose stages are called so:
TRAINING = ("models trained on the text", "a language model trained on the text", "training on the synthetic text")
COLUMNS = ["record_id", "start", "end", "label", "identifier_type"]


def spans(detector: RecordDetector, records: pd.DataFrame, number: int) -> pd.DataFrame:
    """Return the private values found in the first records."""
    first = records.head(number)
    rows = [
        (record, one["start"], one["end"], one["label"], one["identifier_type"])
        for record, found in zip(first["record_id"], detector.detect(first["text"].tolist()), strict=True)
        for one in found
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


class Clock:
    """Adds up what each part takes, from the stages it reports."""

    def __init__(self) -> None:
        self.stage, self.begun, self.cpu = "", time.perf_counter(), time.process_time()
        self.parts: dict[str, list[float]] = {}

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Count what passed since the last report to the stage before."""
        del done, total
        now, cpu = time.perf_counter(), time.process_time()
        own = self.parts.setdefault(self.stage or "preparing", [0.0, 0.0])
        own[0], own[1] = own[0] + now - self.begun, own[1] + cpu - self.cpu
        self.stage, self.begun, self.cpu = stage, now, cpu


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=20_706)
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--detected", type=int, default=2000)
    parser.add_argument("--models", action="store_true")
    options = parser.parse_args()
    folder = Path(os.environ.get("UNDERSTUDY_TEST_DATA", ""))
    if not (folder / "vaers_1998_1999.parquet").is_file():
        sys.stderr.write("UNDERSTUDY_TEST_DATA names no folder with vaers_1998_1999.parquet\n")
        return 1
    import torch

    torch.set_num_threads(2)
    notes = pd.read_parquet(folder / "vaers_1998_1999.parquet").head(options.records)
    records = pd.DataFrame({
        "record_id": notes["report_id"].astype(str), "text": notes["text"], "source_id": None,
        "label": notes["outcome"],
    })  # fmt: skip
    held = np.random.default_rng(0).random(len(records)) < 0.2
    train, holdout = records[~held].reset_index(drop=True), records[held].reset_index(drop=True)
    earlier = pd.read_parquet(folder / "lm" / "vaers_1990_1997.parquet").sample(options.texts, random_state=0)
    made = pd.DataFrame({
        "record_id": [f"s{i}" for i in range(options.texts)], "text": earlier["text"].to_numpy(),
        "label": np.random.default_rng(1).choice(records["label"], options.texts), "lineage": None,
    })  # fmt: skip
    detector, clock = RecordDetector(DetectorSettings()), Clock()
    own, theirs = spans(detector, train, options.detected), spans(detector, holdout, options.detected // 4)
    given = ExamineInput(
        made, train, holdout, own, theirs, embedder=load_embedder(), detector=detector, seed=3,
        model_attacks=options.models,
    )  # fmt: skip
    clock = Clock()
    begun, cpu = time.perf_counter(), time.process_time()
    output = examine_run(given, clock)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    clock("", 0, 0)
    for stage, (wall, processor) in sorted(clock.parts.items(), key=lambda pair: -pair[1][0]):
        sys.stdout.write(f"{stage:45s} {wall:8.1f} {processor:8.1f}\n")
    trained = sum(wall for stage, (wall, _) in clock.parts.items() if any(word in stage for word in TRAINING))
    sys.stdout.write(json.dumps({
        "records": len(records), "texts": options.texts, "findings": len(output.findings), "models": options.models,
        "seconds": round(seconds, 1), "cpu_seconds": round(cpu, 1), "of_training": round(trained, 1),
    }) + "\n")  # fmt: skip
    assert seconds - trained <= MOST_SECONDS
    assert trained <= MOST_MODEL_SECONDS
    return 0


if __name__ == "__main__":
    sys.exit(main())
