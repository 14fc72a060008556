"""Write the shipped sample corpora anew: `python -m engine.corpus.samples`."""

from __future__ import annotations

import sys

from engine.corpus.samples import SAMPLES, file_bytes
from engine.corpus.samples.common import ASSETS


def main() -> int:
    """Write one file a sample corpus and report their sizes."""
    for info in SAMPLES:
        content = file_bytes(info.id)
        (ASSETS / f"{info.id}.jsonl.gz").write_bytes(content)
        sys.stdout.write(f"{info.id}: {len(content)} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
