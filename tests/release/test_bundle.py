"""A bundle is written wholly or not at all, only past the gate, and any change to it is found."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from pydantic import BaseModel

from engine.dp.guarantee import Guarantee
from engine.errors import NotFoundError, RefusedError, StorageError, UserError
from engine.examine.findings.findings import Finding
from engine.methods.base import MethodSpec
from engine.release import CardFacts, build_card, evaluate, get_policy, verify, write_bundle
from engine.store.disk import staging
from tests.release import bundles

GOOD = replace(bundles.GOOD, approved=15, rejected=5)
SOURCES = ["one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"] * 3


def good_findings() -> list[Finding]:
    """Nothing leaks, and 1,000 records make the intervals narrow."""
    names = ("pipp", "pipp_excess", "pipp_direct", "strict_alone_excess", "label_direct", "verbatim_8gram",
             "nearest_similarity")  # fmt: skip
    return [
        Finding(name, 0.0, 0.0, 0.002, 1000, reference, name, "lower is safer", "privacy")  # type: ignore[arg-type]
        for name in names
        for reference in ("train", "holdout", "baseline")
    ]


class NoParameters(BaseModel):
    """A method without settings."""


SPEC = MethodSpec("filter", "Three-stage filter", "Writes new text.", "Someone 2024", "none", (), NoParameters, "", "")


def records(texts: list[str] | None = None) -> pd.DataFrame:
    texts = texts or [f"a made-up story about number {i}" for i in range(20)]
    states = ["approved" if i % 4 else "rejected" for i in range(len(texts))]
    return pd.DataFrame({"record_id": range(len(texts)), "text": texts, "approval": states, "label": "x"})


def write(destination: Path, **changes: object):
    policy = get_policy(str(changes.pop("policy_id", "research")))
    card = changes.pop("card_made", None) or build_card(
        CardFacts(SPEC, Guarantee("none", "No formal guarantee."), policy, **changes.pop("card", {}))  # type: ignore[arg-type]
    )
    arguments: dict = {
        "release_id": "rel-1",
        "records": records(),
        "card": card,
        "policy": policy,
        "verdict": evaluate(policy, good_findings(), GOOD),
        "sources": SOURCES,
        "originals": SOURCES,
    }
    return write_bundle(destination, **{**arguments, **changes})


def write_zip(destination: Path) -> Path:
    staging.stage(write(destination.with_suffix("")).path, destination, as_zip=True)
    return destination


@pytest.mark.parametrize("zipped", [False, True])
def test_written_bundle_verifies(tmp_path: Path, zipped: bool) -> None:
    bundle = write(tmp_path / "out")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"]  # nothing left beside it
    if zipped:
        staging.stage(bundle.path, tmp_path / "out.zip", as_zip=True)
    answer = verify(tmp_path / "out.zip" if zipped else bundle.path, manifest_sha256=bundle.manifest_sha256)
    assert answer["ok"], answer
    assert answer["release"] == "rel-1"
    assert {f["name"] for f in answer["files"]} == set(bundle.files) - {"manifest.json", "SHA256SUMS"}
    assert bundle.records == 15


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="needs sha256sum")
def test_the_command_it_names_works(tmp_path: Path) -> None:
    bundle = write(tmp_path / "out")
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    assert subprocess.run(command, cwd=bundle.path, capture_output=True).returncode == 0
    (bundle.path / "records.csv").write_text("changed")
    assert subprocess.run(command, cwd=bundle.path, capture_output=True).returncode != 0


def test_only_the_formats_asked_for(tmp_path: Path) -> None:
    bundle = write(tmp_path / "out", formats=("jsonl",))
    assert {n for n in bundle.files if n.startswith("records")} == {"records.jsonl"}


def change_byte(path: Path) -> None:
    data = bytearray((path / "records.jsonl").read_bytes())
    data[10] ^= 1
    (path / "records.jsonl").write_bytes(bytes(data))


def change_file_and_manifest(path: Path) -> None:
    """A forger who repairs the manifest is still found by the second list."""
    import hashlib

    (path / "card.json").write_text("{}")
    manifest = json.loads((path / "manifest.json").read_text())
    entry = next(e for e in manifest["files"] if e["name"] == "card.json")
    entry.update(bytes=2, sha256=hashlib.sha256(b"{}").hexdigest())
    (path / "manifest.json").write_text(json.dumps(manifest))


def traverse(path: Path) -> None:
    (path.parent / "outside.txt").write_text("secret")
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["files"].append({"name": "../outside.txt", "bytes": 6, "sha256": "0" * 64})
    (path / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    "damage",
    [
        change_byte,
        change_file_and_manifest,
        traverse,
        lambda p: (p / "records.csv").unlink(),
        lambda p: (p / "extra.txt").write_text("added"),
        lambda p: (p / "manifest.json").unlink(),
        lambda p: (p / "SHA256SUMS").unlink(),
        lambda p: (p / "SHA256SUMS").write_text(""),
        lambda p: (p / "manifest.json").write_text("[" * 100_000),
        lambda p: (p / "manifest.json").write_text("{}"),
        lambda p: (p / "folder").mkdir(),
        lambda p: (os.remove(p / "records.csv"), os.symlink("/etc/hostname", p / "records.csv")),
    ],
)
def test_tampering_is_found(tmp_path: Path, damage) -> None:
    bundle = write(tmp_path / "out")
    damage(bundle.path)
    answer = verify(bundle.path)
    assert not answer["ok"]
    assert answer["problems"]
    assert "secret" not in json.dumps(answer)


def test_a_consistent_forgery_is_found_by_the_audit_checksum(tmp_path: Path) -> None:
    real, forged = write(tmp_path / "real"), write(tmp_path / "forged", release_id="rel-2")
    assert verify(forged.path)["ok"]
    assert not verify(forged.path, manifest_sha256=real.manifest_sha256)["ok"]


@pytest.mark.parametrize("name", ["../escape.txt", "/etc/escape", "a/b.txt", "..", "C:\\x"])
def test_zip_with_unsafe_names_is_refused_and_writes_nothing(tmp_path: Path, name: str) -> None:
    path = write_zip(tmp_path / "out.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, "x")
    before = sorted(tmp_path.rglob("*"))
    assert not verify(path)["ok"]
    assert sorted(tmp_path.rglob("*")) == before


def test_a_bomb_is_read_no_further_than_promised(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "out.zip")
    other = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, b"0" * 300_000_000 if name == "records.csv" else old.read(name))
    answer = verify(other)
    assert not answer["ok"]
    assert "records.csv: size differs" in answer["problems"]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not really a zip", b"plain text"])
def test_other_files_are_not_bundles(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file.zip").write_bytes(content)
    assert not verify(tmp_path / "file.zip")["ok"]
    with pytest.raises(NotFoundError):
        verify(tmp_path / "nowhere")


def test_corrupt_zip_content_is_an_answer_not_a_crash(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "out.zip")
    data = bytearray(path.read_bytes())
    for position in range(60, len(data) // 2, 40):
        data[position] ^= 0xFF
    path.write_bytes(bytes(data))
    assert not verify(path)["ok"]


def refused(tmp_path: Path, match: str, error: type[Exception] = RefusedError, **changes: object) -> None:
    with pytest.raises(error, match=match):
        write(tmp_path / "out", **changes)
    assert list(tmp_path.iterdir()) == []


def test_refused_gate_writes_nothing(tmp_path: Path) -> None:
    policy = get_policy("research")
    refused(tmp_path, "is not met", verdict=evaluate(policy, [], GOOD))
    refused(tmp_path, "is not met", verdict=replace(evaluate(policy, [], GOOD), passed=True))  # a verdict that lies
    refused(tmp_path, "evaluate again", verdict=evaluate(get_policy("exploratory"), good_findings(), GOOD))


def test_copied_words_are_refused_in_records_and_card(tmp_path: Path) -> None:
    copy = " ".join(SOURCES[0].split()[:13])
    texts = [f"story {i}" for i in range(8)]
    texts[5] = f"he said {copy.upper()}!"
    refused(tmp_path, "1 approved record", records=records(texts))
    refused(tmp_path, "The data card", card={"source": copy})
    texts[5] = f"he said {' '.join(SOURCES[0].split()[:12])} then left"  # twelve words are allowed
    assert write(tmp_path / "out", records=records(texts)).records == 6


def test_copied_words_are_refused_in_every_released_column(tmp_path: Path) -> None:
    frame = records()
    frame.loc[2, "label"] = SOURCES[0].title()  # record 2 is approved
    refused(tmp_path, "1 approved record.*'label'", records=frame)
    frame.loc[2, "approval"] = "rejected"
    assert write(tmp_path / "out", records=frame).records == 14


def test_copy_in_a_rejected_record_does_not_matter(tmp_path: Path) -> None:
    texts = [f"story {i}" for i in range(8)]
    texts[4] = SOURCES[0]  # position 4 is rejected
    assert write(tmp_path / "out", records=records(texts)).records == 6


@pytest.mark.parametrize("policy_id", ["exploratory", "internal", "research"])
@pytest.mark.parametrize("spelling", [str, str.upper, lambda t: t.replace(" ", "\u200b  "), lambda t: f"«{t}»…"])
def test_an_original_leaves_under_no_policy(tmp_path: Path, policy_id: str, spelling) -> None:
    texts = [f"story {i}" for i in range(8)]
    original = "No complaints today."
    texts[5] = spelling(original)
    policy = get_policy(policy_id)
    given = {"policy_id": policy_id, "verdict": evaluate(policy, good_findings(), GOOD), "originals": [original]}
    refused(tmp_path, "1 approved record.*equal", records=records(texts), **given)
    refused(tmp_path, "originals were not given", **{**given, "originals": None})
    texts[5] = f"{original} And more."
    assert write(tmp_path / "out", records=records(texts), **given).records == 6


@pytest.mark.parametrize("kind", ["heuristic", "selection-only"])
def test_a_heuristic_is_no_proof_here(tmp_path: Path, kind: str) -> None:
    card = build_card(CardFacts(SPEC, Guarantee(kind, "No proof."), get_policy("research")))  # type: ignore[arg-type]
    refused(tmp_path, "1 approved record.*equal", card_made=card, originals=["a made-up story about number 2"])


def test_a_proof_is_not_compared_with_the_originals(tmp_path: Path) -> None:
    """A comparison with private text would be a selection that the proof does not cover."""
    policy = get_policy("proof")
    facts = replace(GOOD, guarantee_kind="dp", epsilon=1.0, examined=False, rejected=0, actor="A", signed_off_by="B")
    formal = Guarantee("dp", "One record changes little.", "the output", 1.0, 1e-6, "record", "zero-out")
    card = build_card(CardFacts(SPEC, formal, policy, selected=False))
    same = records(["No complaints today."] * 4).assign(approval="approved")
    bundle = write(tmp_path / "out", policy_id="proof", card_made=card, verdict=evaluate(policy, [], facts),
                   records=same, originals=None, sources=None)  # fmt: skip
    assert bundle.records == 4
    assert "covers these records as they are" in (bundle.path / "DATA_CARD.md").read_text()


def test_sources_are_needed_where_copies_are_limited(tmp_path: Path) -> None:
    refused(tmp_path, "source texts were not given", sources=None)
    assert write(tmp_path / "out", sources=None, policy_id="exploratory").records == 15


def test_wrong_requests(tmp_path: Path) -> None:
    refused(tmp_path, "formats", UserError, formats=("xlsx",))
    refused(tmp_path, "formats", UserError, formats=())
    refused(tmp_path, "no record is approved", UserError, records=records().assign(approval="pending"))
    (tmp_path / "out").mkdir()
    with pytest.raises(UserError, match="exists already"):
        write(tmp_path / "out")


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="cannot be written"):
        write(tmp_path / "file" / "out")


def test_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("engine.release.bundle.bundle.os.fsync", full)
    refused(tmp_path, "No space left", StorageError)
