"""Which files of a workspace lie elsewhere too, and what they are called to a person.

Not: locks, logs, keys, the database, models that were put into the workspace, and what is being written.

Privacy posture: a path below the workspace is random ids and names of this program; sentences hold none of it.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from engine.store.disk.folder import PART_SUFFIX, PARTS, SCRATCH

UNFINISHED = (PART_SUFFIX, ".tmp")


def shared(path: str) -> bool:
    """Say whether a file, by its path below the workspace, lies elsewhere too once it is finished."""
    parts = PurePosixPath(path).parts
    passing = any(part.startswith(".") or part.endswith(UNFINISHED) for part in parts)
    return len(parts) > 2 and parts[0] in PARTS and not passing


def owner(path: str) -> str:
    """Return the folder of the corpus, run or release that a file belongs to, below the workspace."""
    return "/".join(PurePosixPath(path).parts[:2])


def kind(path: str) -> str:
    """Return what a file is, in words that begin a sentence."""
    top, _, *rest = PurePosixPath(path).parts
    if top == "releases":
        return "A file of a release"
    if top == "corpora":
        if rest == ["records.parquet"]:
            return "The record table of a corpus"
        return "A table of a study" if rest[0] == "studies" else "A table of a corpus"
    if "tuned" in rest[:-1]:
        return "A file of a run's tuned weights"
    return "A file of an unfinished run" if SCRATCH in rest[:-1] else "A table of a run"
