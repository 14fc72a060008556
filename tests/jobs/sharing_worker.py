"""A worker whose shards and calls are small, on a machine of its own where the environment says so: for `python -m`.

It shares examinations however short they are. Slots are the product's own: where shards end is their worker's to say.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from engine.cli import worker
from engine.jobs.worker import parts_ahead, spreading
from engine.json_types import JSON, JSONObject
from engine.methods.base import Make, Piece
from engine.store import shards
from engine.store.disk import place

RECORDS, MACHINE, CALL = "UNDERSTUDY_TEST_SHARD", "UNDERSTUDY_TEST_MACHINE", "UNDERSTUDY_TEST_CALL"
HOLD = "UNDERSTUDY_TEST_HOLD"  # a file: while it is there, the worker keeps two pieces of a run and waits


def hold(path: Path) -> None:
    """Have the worker wait in the middle of a run for as long as a file is there; helpers go on."""
    spread = spreading.Pieces.__call__

    def held(self: spreading.Pieces, pieces: Sequence[Piece], known: JSON, make: Make) -> Iterator[JSONObject]:
        for number, made in enumerate(spread(self, pieces, known, make)):
            while number >= 2 and path.exists():
                time.sleep(0.02)
            yield made

    spreading.Pieces.__call__ = held  # type: ignore[method-assign]


def main() -> int:
    """Run the worker of the command line's workspace."""
    shards.LEAST = int(os.environ[RECORDS])
    parts_ahead.LEAST_SECONDS = 0.0
    if MACHINE in os.environ:
        place.MACHINE_FILE = Path(os.environ[MACHINE])
    if CALL in os.environ:
        from engine.models.builtin.language_model import BuiltinGenerator

        BuiltinGenerator.texts_a_call = int(os.environ[CALL])
    if HOLD in os.environ:
        hold(Path(os.environ[HOLD]))
    return worker.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
