"""Which edition of the program computes: who helps with a job must be of the edition that coordinates it.

Two editions may share a database, for as long as its tables are alike, and find other numbers in the same text. What a
job's cursor holds under `EDITION` is its coordinator's; a helper of another one leaves the job alone, and says so in
its log.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

EDITION = "edition"  # in a job's cursor
COMPUTING = (
    "faiss-cpu", "numpy", "pandas", "pyarrow", "scikit-learn", "scipy", "tokenizers", "torch", "transformers",
)  # fmt: skip
ROOT = Path(__file__).resolve().parents[3]


@cache
def edition() -> str:
    """Return a digest of this program's code and settings, and of the versions of the packages that it computes with.

    Weights are not in it: what is made with a model says which (`fingerprint`).
    """
    digest = hashlib.sha256()
    for path in sorted((*(ROOT / "engine").rglob("*.py"), *(ROOT / "engine").rglob("*.yaml"))):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    for name in COMPUTING:
        digest.update(f"{name} {_version(name)}\n".encode())
    return digest.hexdigest()[:32]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
