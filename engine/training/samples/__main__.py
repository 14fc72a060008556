"""Write the shipped sample corpora anew: `python -m engine.training.samples`."""

from __future__ import annotations

import sys

from engine.corpus.samples import ALL_SAMPLES, FOLDER
from engine.training.samples import file_bytes


def main() -> int:
    """Write one file a sample corpus and report their sizes."""
    for info in ALL_SAMPLES:
        content = file_bytes(info.id)
        (FOLDER / f"{info.id}.jsonl.gz").write_bytes(content)
        sys.stdout.write(f"{info.id}: {len(content)} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
