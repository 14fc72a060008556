"""Write a release as one folder or zip file, and check one.

Privacy posture: a bundle holds approved records, the data card and checksums. The gate's verdict
is a condition here, never content. Messages name files and counts, never text.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from engine.errors import RefusedError, StorageError, UserError
from engine.examine.repeats.originals_scores import originals_among
from engine.release.card import DataCard
from engine.release.copies import check_copies
from engine.release.export import FORMATS, export_frame
from engine.release.gate import Verdict
from engine.release.policy import Policy
from engine.release.verify import MANIFEST, SUMS, verify

__all__ = ["Bundle", "verify", "work_folder", "write_bundle"]

CARD, CARD_JSON, HOW = "DATA_CARD.md", "card.json", "VERIFY.txt"
FORMAT_VERSION = 1
WHAT = {
    CARD: "data card for readers",
    CARD_JSON: "data card for programs",
    HOW: "how to check the files",
    "records.csv": "approved records, for spreadsheets",
    "records.jsonl": "approved records, one JSON object a line",
    "records.parquet": "approved records, column format",
}
VERIFY_COMMANDS = "sha256sum --check SHA256SUMS        # Linux\nshasum -a 256 --check SHA256SUMS    # macOS\n"
VERIFY_TEXT = (
    "Check that nothing in this bundle changed since it was released. In its folder:\n\n"
    f"{VERIFY_COMMANDS}\nWith Understudy installed, this also finds missing and added files:\n\n"
    "python -m engine verify PATH_OF_THIS_BUNDLE\n\n"
    "The custodian's audit log holds the checksum of manifest.json; ask for it to be sure of the origin.\n"
)


@dataclass(frozen=True)
class Bundle:
    """A written release: where, how many records, and each file's size in bytes and SHA-256."""

    path: Path
    records: int
    files: dict[str, int]
    sha256: dict[str, str]
    manifest_sha256: str


def write_bundle(
    destination: Path,
    *,
    release_id: str,
    records: pd.DataFrame,
    card: DataCard,
    policy: Policy,
    verdict: Verdict,
    sources: Sequence[str] | None,
    originals: Sequence[str] | None,
    formats: Sequence[str] = ("csv", "jsonl", "parquet"),
) -> Bundle:
    """Write a release at `destination`, wholly or not at all.

    Args:
        destination: folder to create; must not exist yet.
        records: the run's records with text, approval and optionally label.
        verdict: the gate's answer for `policy`, just computed.
        sources: texts the method could read; needed where the policy limits copied words.
        originals: every text of the corpus; needed unless the guarantee is differential privacy.

    Raises:
        RefusedError: the gate did not pass, a record is an original, or a text repeats too long a run of source words.
        UserError: nothing approved, unknown format, destination exists.
        StorageError: the files cannot be written.
    """
    _check_gate(policy, verdict)
    unknown = sorted(set(formats) - set(FORMATS))
    if unknown or not formats:
        raise UserError(f"formats: {', '.join(unknown) or 'none given'}; choose from {', '.join(FORMATS)}")
    if destination.exists():
        raise UserError(f"out: {destination.name} exists already; name a folder or file that does not")
    frame = export_frame(records)
    _check_originals(frame, card, originals)
    _check_copies(policy, frame, card, sources)
    contents = {f"records.{name}": FORMATS[name](frame) for name in FORMATS if name in formats}
    contents |= {CARD: card.markdown.encode(), CARD_JSON: card.json().encode(), HOW: VERIFY_TEXT.encode()}
    contents[MANIFEST] = _manifest(contents, release_id, card, policy)
    contents[SUMS] = "".join(f"{_sha(data)}  {name}\n" for name, data in sorted(contents.items())).encode()
    try:
        _write(destination, contents)
    except OSError as error:
        raise StorageError(
            f"out: {destination.name} cannot be written: {error.strerror or 'unknown reason'}"
        ) from error
    hashes = {name: _sha(data) for name, data in contents.items()}
    sizes = {name: len(data) for name, data in contents.items()}
    return Bundle(destination, len(frame), sizes, hashes, hashes[MANIFEST])


def _check_gate(policy: Policy, verdict: Verdict) -> None:
    if verdict.policy != policy.id:
        raise RefusedError(f"policy: the verdict is for {verdict.policy!r}, not for {policy.id!r}; evaluate again")
    if not verdict.passed or verdict.open_rules():
        titles = "; ".join(line.title for line in verdict.open_rules())
        raise RefusedError(f"policy {policy.id!r} is not met: {titles}. The Release page says what would help")


def _check_originals(frame: pd.DataFrame, card: DataCard, originals: Sequence[str] | None) -> None:
    """Refuse originals under every policy; after a proof the comparison would be a selection that it does not cover."""
    if card.content["guarantee"]["kind"] == "dp":
        return
    if originals is None:
        raise RefusedError("the originals were not given, so nobody knows whether a record is one; nothing leaves")
    equal = len(originals_among(list(frame["text"]), originals))
    if equal:
        raise RefusedError(
            f"{equal} approved record(s) equal a record of the corpus or differ from it in spelling alone; no policy "
            "lets an original leave. Reject them (examine the run to see which they are) and release again"
        )


def _check_copies(policy: Policy, frame: pd.DataFrame, card: DataCard, sources: Sequence[str] | None) -> None:
    longest = policy.requirements.longest_copied_words
    if longest is None:
        return
    if sources is None:
        raise RefusedError(f"policy {policy.id!r} limits copied words and the source texts were not given to compare")
    columns = [name for name in frame.columns if name != "id"]
    for name in columns:
        copied = len(check_copies([*frame[name].dropna()], sources, longest).texts)
        if copied:
            raise RefusedError(
                f"{copied} approved record(s) repeat more than {longest} consecutive words of a source record in the "
                f"column {name!r}, which policy {policy.id!r} does not allow; reject those records (the leaks tab of "
                "the Privacy page lists copies) and release again"
            )
    if not check_copies([card.markdown, card.json()], sources, longest).passed:
        raise RefusedError(
            f"The data card repeats more than {longest} consecutive words of a source record, which policy "
            f"{policy.id!r} does not allow; change the words you typed for it and release again"
        )


def _manifest(contents: dict[str, bytes], release_id: str, card: DataCard, policy: Policy) -> bytes:
    manifest = {
        "format": FORMAT_VERSION,
        "release": release_id,
        "created": card.content["created"],
        "policy": policy.id,
        "files": [
            {"name": name, "what": WHAT[name], "bytes": len(data), "sha256": _sha(data)}
            for name, data in sorted(contents.items())
        ],
    }
    return (json.dumps(manifest, ensure_ascii=False, indent=2) + "\n").encode()


def work_folder(destination: Path) -> Path:
    """Return the folder beside `destination` in which a bundle is written; a kill may leave it behind."""
    return destination.with_name(f".{destination.name}.part")


def _write(destination: Path, contents: dict[str, bytes]) -> None:
    """Write beside the destination first, then move into place."""
    destination.parent.mkdir(parents=True, exist_ok=True)
    work = work_folder(destination)
    work.mkdir(mode=0o700)
    try:
        staged = work / "bundle"
        staged.mkdir(mode=0o700)
        for name, data in contents.items():
            _write_file(staged / name, data)
        os.rename(staged, destination)
    finally:
        with suppress(OSError):
            shutil.rmtree(work)


def _write_file(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
