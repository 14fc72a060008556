"""A worker whose shards and calls are small, on a machine of its own where the environment says so: for `python -m`.

Slots are the product's own: where shards end is their worker's to say.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from engine.cli import worker
from engine.store import shards
from engine.store.disk import place

RECORDS, MACHINE, CALL = "UNDERSTUDY_TEST_SHARD", "UNDERSTUDY_TEST_MACHINE", "UNDERSTUDY_TEST_CALL"


def main() -> int:
    """Run the worker of the command line's workspace."""
    shards.LEAST = int(os.environ[RECORDS])
    if MACHINE in os.environ:
        place.MACHINE_FILE = Path(os.environ[MACHINE])
    if CALL in os.environ:
        from engine.models.builtin.language_model import BuiltinGenerator

        BuiltinGenerator.texts_a_call = int(os.environ[CALL])
    return worker.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
