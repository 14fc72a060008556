"""Check a release bundle with the checker that every bundle carries (`engine.release.bundle.checker`)."""

from __future__ import annotations

from pathlib import Path

from engine.errors import NotFoundError
from engine.release.bundle.checker import BundleCheck, check


def verify(
    bundle: Path, *, key: str = "", revocations: Path | None = None, manifest_sha256: str | None = None
) -> BundleCheck:
    """Return whether a folder or zip file is a whole release that nobody withdrew, and what is wrong with it.

    Args:
        key: public key in hexadecimal that must have signed.
        revocations: list of withdrawn releases; else `revocations.json` beside the bundle, where there is one.
        manifest_sha256: checksum from the custodian's audit log, if it is to be compared too.

    Raises:
        NotFoundError: there is no such bundle, or no such list.
    """
    if not bundle.exists():
        raise NotFoundError(f"bundle: {bundle.name} does not exist; give the folder or zip file of a release")
    if revocations is not None and not revocations.is_file():
        raise NotFoundError(f"revocations: {revocations.name} does not exist; give the list the custodian publishes")
    return check(bundle, key=key, revocations=revocations, manifest_sha256=manifest_sha256 or "")
