"""The list of withdrawn releases, as the custodian publishes it and `engine.release.bundle.checker` reads it.

Privacy posture: ids, checksums, days, and reasons that a person typed for everybody to read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from engine.release.bundle.checker import list_bytes
from engine.release.bundle.signing import Signer


def revocation_list(entries: Sequence[Mapping[str, str]], issued: str, signer: Signer | None = None) -> str:
    """Return the list as JSON, signed where there is a key.

    Args:
        entries: release, manifest_sha256, revoked (a day) and reason.
        issued: day of this list.
    """
    made: dict[str, object] = {"format": 1, "issued": issued, "revocations": [dict(entry) for entry in entries]}
    if signer is not None:
        made["key"] = signer.public
        made["signature"] = signer.sign(list_bytes(made))
    return json.dumps(made, ensure_ascii=False, indent=2) + "\n"
