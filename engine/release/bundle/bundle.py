"""Write a release as one folder or zip file, and check one.

Privacy posture: a bundle holds approved records, the data card and checksums. The gate's verdict
is a condition here, never content. Messages name files and counts, never text.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from engine.at_rest import files
from engine.errors import RefusedError, StorageError, UserError
from engine.examine.repeats.originals_scores import originals_among
from engine.json_types import JSONObject, as_object
from engine.release.bundle import checker
from engine.release.bundle.checker import MANIFEST, SIGNATURE, SUMS
from engine.release.bundle.export import FORMATS, export_frame
from engine.release.bundle.report import report
from engine.release.bundle.signing import Signer
from engine.release.bundle.verify import verify
from engine.release.card.card import DataCard
from engine.release.card.forms import croissant, readme
from engine.release.card.words import MOST_WORDS, check_numbers
from engine.release.copies import check_copies
from engine.release.policy.policy import PRESET_ORDER, Policy
from engine.release.policy.verdicts import Verdict
from engine.release.policy.waivers import Waiver

__all__ = ["Bundle", "verify", "work_folder", "write_bundle"]

CARD, CARD_JSON, HOW, PROGRAM = "DATA_CARD.md", "card.json", "VERIFY.txt", "verify.py"
README, CROISSANT, REPORT, POLICY, LEDGER = "README.md", "croissant.json", "REPORT.html", "policy.json", "ledger.json"
FORMAT_VERSION = 2
WHAT = {
    REPORT: "report for readers, one page",
    CARD: "data card for readers",
    CARD_JSON: "data card for programs",
    README: "data card with the head that data set hubs read",
    CROISSANT: "description for search engines and loaders (Croissant)",
    POLICY: "the policy and its answer, without measured values",
    LEDGER: "what the run drew from the privacy budget",
    HOW: "how to check the files",
    PROGRAM: "checks the files; needs nothing but Python",
    "records.csv": "approved records, for spreadsheets",
    "records.jsonl": "approved records, one JSON object a line",
    "records.parquet": "approved records, column format",
    MANIFEST: "the list of files with their checksums",
    SUMS: "the checksums again, for other programs",
    SIGNATURE: "the custodian's signature of the list",
}
VERIFY_COMMANDS = (
    "python -I -S verify.py              # finds changed, missing and added files\n"
    "sha256sum --check SHA256SUMS        # Linux\n"
    "shasum -a 256 --check SHA256SUMS    # macOS\n"
)
VERIFY_TEXT = (
    "Check that nothing in this bundle changed since it was released. In its folder:\n\n"
    f"{VERIFY_COMMANDS}\n"
    "verify.py needs Python 3.9 or newer and nothing else: no installation, no network. It answers OK, or names what\n"
    "differs. Where the bundle is signed it checks the signature; give the key that the custodian published elsewhere\n"
    "with --key to be sure whose it is. Give the custodian's list of withdrawn releases with --revocations, or put it\n"
    "beside this folder as revocations.json.\n\n"
    "Whoever can change a bundle can also change the verify.py in it. To be sure, take that file from another release\n"
    "or compare the checksum of manifest.json with the one in the custodian's audit log (--manifest-sha256).\n"
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
    ledger: Sequence[JSONObject] = (),
    statistics: Collection[float] = (),
    signer: Signer | None = None,
) -> Bundle:
    """Write a release at `destination`, wholly or not at all.

    Args:
        destination: folder to create; must not exist yet.
        records: the run's records with text, approval and optionally label.
        verdict: the gate's answer for `policy`, just computed.
        sources: texts the method could read, and every label that is private; needed where the policy limits copied
            words.
        originals: every text of the corpus, held out or not; needed unless the guarantee is differential privacy.
        ledger: the run's lines in the ledger, as they may leave.
        statistics: numbers counted or measured on private data that are not public; none may stand outside the records.
        signer: signs the manifest, where the custodian has a key.

    Raises:
        RefusedError: the gate did not pass, a record is an original, a text repeats too long a run of source words, or
            a number that was measured on private data stands on the data card.
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
    private = None if sources is None and originals is None else [*(sources or ()), *(originals or ())]
    _check_copies(policy, frame, sources, private)
    contents = {f"records.{name}": FORMATS[name](frame) for name in FORMATS if name in formats}
    columns = [str(name) for name in frame.columns]
    written = {
        CARD: card.markdown,
        CARD_JSON: card.json(),
        README: readme(card, list(contents), len(frame)),
        CROISSANT: croissant(card, release_id, contents, columns),
        POLICY: _policy(policy, verdict, card),
        LEDGER: _ledger(card, ledger),
        HOW: VERIFY_TEXT,
    }
    contents |= {name: text.encode() for name, text in written.items()}
    contents[PROGRAM] = Path(checker.__file__).read_bytes()
    listed = {name: (WHAT[name], _sha(data)) for name, data in contents.items()}
    written[REPORT] = report(card, release_id, listed)
    contents[REPORT] = written[REPORT].encode()
    _check_words(policy, written, private)
    _check_numbers(policy, card, statistics, len(frame), [line.waived for line in verdict.rules if line.waived])
    contents[MANIFEST] = _manifest(contents, release_id, card, policy, signer)
    if signer is not None:
        contents[SIGNATURE] = checker.signature_file(signer.public, signer.sign(contents[MANIFEST]))
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
    if verdict.digest != policy.digest:
        raise RefusedError(f"policy {policy.id!r} was changed after it was asked; evaluate again")
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


def _check_copies(
    policy: Policy, frame: pd.DataFrame, sources: Sequence[str] | None, private: Sequence[str] | None
) -> None:
    """Refuse records whose text repeats more of a source than the policy allows, or whose label is private text."""
    longest = policy.requirements.longest_copied_words
    if sources is None:
        if longest is not None:
            raise RefusedError(
                f"policy {policy.id!r} limits copied words and the source texts were not given to compare"
            )
        return
    beside = None if policy.requirements.whole_output else _beside_records(policy)
    for name in (name for name in frame.columns if name != "id"):
        allowed = longest if name == "text" else beside
        against = sources if name == "text" else private or ()
        copied = 0 if allowed is None else len(check_copies([*frame[name].dropna()], against, allowed).texts)
        if copied:
            raise RefusedError(
                f"{copied} approved record(s) repeat more than {allowed} consecutive words of a source record in the "
                f"column {name!r}, which policy {policy.id!r} does not allow; reject those records (the leaks tab of "
                "the Privacy page lists copies) and release again"
            )


def _beside_records(policy: Policy) -> int:
    """Return the longest run of source words that may stand in a label, on the card and in every other file."""
    return min(MOST_WORDS, policy.requirements.longest_copied_words or MOST_WORDS)


def _check_words(policy: Policy, written: dict[str, str], private: Sequence[str] | None) -> None:
    """Refuse private words in what stands beside the records: typed words, labels, names.

    A person who types has read any record, so records held out from the method count too. Under a policy for whole
    outputs nothing is compared with private text; the words typed are declared public.
    """
    if private is None or policy.requirements.whole_output:
        return
    longest = _beside_records(policy)
    names = sorted(written)
    copied = check_copies([written[name] for name in names], private, longest).texts
    if copied:
        raise RefusedError(
            f"The data card repeats more than {longest} consecutive words of a private record (found in "
            f"{', '.join(names[position] for position in copied)}); change the words you typed for it and release again"
        )


def _check_numbers(
    policy: Policy, card: DataCard, statistics: Collection[float], records: int, waived: Sequence[Waiver]
) -> None:
    """Refuse numbers of the original in words whose numbers do not follow from public settings."""
    if policy.requirements.whole_output:
        return
    content = card.content
    public = {float(records)}
    public |= {float(line["value"]) for line in content["settings"] if isinstance(line["value"], int | float)}
    given = {
        "the title": content["title"],
        "the name of the original": content["source"],
        "the licence": content["licence"],
        "the purpose": content["purpose"],
        "the recipient": content["recipient"],
        "the contact": content["contact"],
        "the model's name": content["model"],
        "the name of the second person": content["second_person"].get("name", ""),
        "a waiver": " ".join(f"{one.person} {one.reason}" for one in waived),
    }
    if policy.id not in PRESET_ORDER:  # words of the custodian's own policy
        words = (
            policy.title,
            policy.sentence,
            *(f"{rule.title} {rule.sentence} {rule.remedy}" for rule in policy.rules),
            *(one.sentence for one in (policy.requirements.missed, policy.requirements.intruder) if one is not None),
        )
        given["the policy"] = " ".join(words)
        limits = [rule.threshold for rule in policy.rules if rule.threshold is not None]
        public |= {form for limit in limits for form in (limit, 100.0 * limit)}
    if content["guarantee"]["kind"] != "dp":  # what a formal claim says is public or was bought
        said = [content["guarantee"][part] for part in ("sentence", "assumptions", "voided_by")]
        given["the guarantee"] = json.dumps(said, ensure_ascii=False)
    own_dates = re.findall(r"\d{4}-\d{2}-\d{2}", f"{content['created']} {content['review']}")
    for day in own_dates:  # a day of the card itself is no trace, wherever it is named
        given = {where: text.replace(day, " ") for where, text in given.items()}
    check_numbers(given, statistics, public | {float(day[:4]) for day in own_dates})


def _policy(policy: Policy, verdict: Verdict, card: DataCard) -> str:
    """Return the policy's answer: which rules were met, at which public thresholds; no measured value."""
    limits = {rule.id: {"comparator": rule.comparator, "threshold": rule.threshold} for rule in policy.rules}
    answer = {
        "policy": policy.id,
        "title": policy.title,
        "sentence": policy.sentence,
        "answer": "met" if not verdict.waived_rules() else "met but for the rules that were waived",
        "digest": policy.digest,
        "checked": card.content["policy"]["checked"],
        "rules": [
            {
                "rule": line.rule,
                "title": line.title,
                "met": line.passed is True,
                **limits.get(line.rule, {}),
                **({} if line.waived is None else {"waived": _waived(line.waived)}),
            }
            for line in verdict.rules
        ],
        **({} if policy.id in PRESET_ORDER else {"definition": policy.model_dump(mode="json")}),
    }
    return json.dumps(answer, ensure_ascii=False, indent=2) + "\n"


def _waived(waiver: Waiver) -> dict[str, str]:
    """Return a waiver as recipients read it."""
    return {"person": waiver.person, "reason": waiver.reason, "given": waiver.given, "expires": waiver.expires}


def _ledger(card: DataCard, lines: Sequence[JSONObject]) -> str:
    """Return what the run drew, and what the release does to the total of these people."""
    formal = card.content["guarantee"]["kind"] == "dp"
    said = (
        "The run drew these amounts when it ran; the release itself draws nothing."
        if formal
        else "The run drew nothing, and carries no proof: with this release no finite ε holds for all that is released "
        "of these people together."
    )
    if formal and "own_epsilon" in as_object(card.content["guarantee"].get("accounting")):
        said += " What the earlier runs drew that its statement counts too is not in these lines."
    return json.dumps({"sentence": said, "lines": list(lines)}, ensure_ascii=False, indent=2) + "\n"


def _manifest(
    contents: dict[str, bytes], release_id: str, card: DataCard, policy: Policy, signer: Signer | None
) -> bytes:
    manifest = {
        "format": FORMAT_VERSION,
        "release": release_id,
        "created": card.content["created"],
        "policy": policy.id,
        "signed_by": signer.public if signer else "",
        **({"second_person": second} if (second := card.content["second_person"]) else {}),
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
            files.write_bytes(staged / name, data, at=destination / name)
        os.rename(staged, destination)
        files.settle(destination)
    finally:
        with suppress(OSError):
            shutil.rmtree(work)


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
