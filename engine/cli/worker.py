"""The worker process: `python -m engine.cli.worker --workspace PATH`, with every kind of job there is."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from engine.jobs.worker import worker
from engine.jobs.worker.worker import Handler


def handlers() -> dict[str, Handler]:
    """Return the function of each kind of job."""
    from engine.studies import task as study

    return {**worker.handlers(), "study": study.run}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the worker of a workspace; end at once where one is at work already."""
    return worker.main(arguments, handlers)


if __name__ == "__main__":
    sys.exit(main())
