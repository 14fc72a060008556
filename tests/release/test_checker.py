"""The checker in a bundle: one file, run by a bare Python in the folder of the bundle, that finds every change."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from engine.release.bundle import checker
from engine.release.bundle.revocations import revocation_list
from engine.release.bundle.signing import make_key, read_key
from engine.release.policy.second import SecondPerson
from engine.store.disk import staging
from tests.release.bundles import written

NAMES = (
    "records.csv", "records.jsonl", "records.parquet", "DATA_CARD.md", "README.md", "REPORT.html", "card.json",
    "croissant.json", "policy.json", "ledger.json", "VERIFY.txt", "verify.py", "manifest.json", "SHA256SUMS",
    "SIGNATURE.json",
)  # fmt: skip

# RFC 8032, 7.1: secret key, public key, message, signature
RFC = [
    ("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe246"
     "55141438e7a100b"),
    ("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb"
     "00d291612bb0c00"),
    ("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc"
     "027beceea1ec40a"),
    ("833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
     "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2"
     "a9ac94fa54ca49f",
     "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad"
     "9bef1177331a704"),
]  # fmt: skip


@pytest.mark.parametrize(("secret", "public", "message", "signature"), RFC)
def test_signatures_of_the_standard_hold_and_no_neighbour_does(secret, public, message, signature) -> None:
    key, text, signed = bytes.fromhex(public), bytes.fromhex(message), bytes.fromhex(signature)
    made = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(secret))
    assert made.public_key().public_bytes_raw() == key
    assert made.sign(text) == signed
    assert checker.signature_holds(key, signed, text)
    assert not checker.signature_holds(key, signed, text + b"\0")
    for place in (0, 31, 32, 63):
        changed = bytearray(signed)
        changed[place] ^= 1
        assert not checker.signature_holds(key, bytes(changed), text)
    assert not checker.signature_holds(bytes([key[0] ^ 1]) + key[1:], signed, text)


def test_a_signature_with_s_plus_the_order_is_refused() -> None:
    """The same signature in another spelling (RFC 8032, 5.1.7: s < L)."""
    key, signed = bytes.fromhex(RFC[0][1]), bytes.fromhex(RFC[0][3])
    order = 2**252 + 27742317777372353535851937790883648493
    s = int.from_bytes(signed[32:], "little") + order
    assert not checker.signature_holds(key, signed[:32] + s.to_bytes(32, "little"), b"")


@pytest.mark.parametrize("key", [bytes([1]) + bytes(31), bytes(32), b"\xec" + b"\xff" * 30 + b"\x7f", b"\xff" * 32])
def test_keys_of_small_order_and_no_points_are_refused(key: bytes) -> None:
    assert not checker.signature_holds(key, bytes([1]) + bytes(63), b"any message at all")
    assert not checker.signature_holds(key[:31], bytes(64), b"")


def test_it_agrees_with_another_implementation() -> None:
    for i in range(12):
        made = Ed25519PrivateKey.generate()
        key, message = made.public_key().public_bytes_raw(), os.urandom(i * 7)
        signed = bytearray(made.sign(message))
        assert checker.signature_holds(key, bytes(signed), message)
        signed[i * 5] ^= 1 << (i % 8)
        with pytest.raises(InvalidSignature):
            Ed25519PublicKey.from_public_bytes(key).verify(bytes(signed), message)
        assert not checker.signature_holds(key, bytes(signed), message)


@pytest.fixture(scope="module")
def signed(tmp_path_factory) -> tuple[Path, str]:
    """A signed bundle and its public key."""
    folder = tmp_path_factory.mktemp("signed")
    public = make_key(folder / "key", folder / "workspace")
    written(folder / "out", read_key(folder / "key", folder / "workspace"))
    return folder / "out", public


@pytest.fixture
def bundle(signed, tmp_path: Path) -> Path:
    return Path(shutil.copytree(signed[0], tmp_path / "alone" / "bundle"))


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run the bundle's own checker by a bare Python: no site packages, no environment, nothing of this program."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "verify.py", *arguments],
        cwd=folder, capture_output=True, text=True, env={"PATH": "/nonexistent"}, timeout=60, check=False,
    )  # fmt: skip
    assert done.stderr == "", done.stderr
    return done.returncode, done.stdout


def test_a_whole_bundle_is_ok_in_a_bare_python(bundle: Path, signed) -> None:
    assert {path.name for path in bundle.iterdir()} == set(NAMES)
    code, text = run(bundle)
    assert (code, text.splitlines()[0]) == (0, "OK: release rel-1")
    assert signed[1] in text
    assert "nothing is said on whether it was withdrawn" in text
    assert run(bundle, "--key", signed[1])[0] == 0
    assert {path.name for path in bundle.iterdir()} == set(NAMES), "the check left something behind"


def test_without_a_signature_it_says_what_is_not_shown(tmp_path: Path) -> None:
    folder = written(tmp_path / "out").path
    code, text = run(folder)
    assert code == 0
    assert "not who made it" in text
    assert "not signed at all" in run(folder, "--key", "ab" * 32)[1]
    assert run(folder, "--key", "ab" * 32)[0] == 1


@pytest.mark.parametrize("name", [name for name in NAMES if name != "verify.py"])
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_one_changed_byte_in_any_file_is_found(bundle: Path, name: str, place: str) -> None:
    data = bytearray((bundle / name).read_bytes())
    data[{"first": 0, "middle": len(data) // 2, "last": -1}[place]] ^= 1
    (bundle / name).write_bytes(bytes(data))
    answer = checker.check(bundle)
    assert not answer["ok"], name
    if place == "middle":
        code, text = run(bundle)
        assert code == 1
        assert text.startswith("NOT OK")


def test_a_changed_checker_is_found_by_another_copy(bundle: Path, signed) -> None:
    (bundle / "verify.py").write_bytes((bundle / "verify.py").read_bytes().replace(b"NOT OK", b"ALL OK"))
    assert checker.check(bundle)["problems"][0] == "verify.py: content differs"
    code, text = run(signed[0], str(bundle))
    assert code == 1
    assert "verify.py: content differs" in text


@pytest.mark.parametrize("name", [name for name in NAMES if name != "verify.py"])
@pytest.mark.parametrize("how", ["truncated", "emptied", "missing", "renamed", "a link", "longer"])
def test_a_file_that_is_not_as_it_was_is_found(bundle: Path, name: str, how: str) -> None:
    path, data = bundle / name, (bundle / name).read_bytes()
    if how in ("truncated", "emptied", "longer"):
        path.write_bytes({"truncated": data[:-7], "emptied": b"", "longer": data + b"\n"}[how])
    elif how == "missing":
        path.unlink()
    elif how == "renamed":
        path.rename(bundle / f"x{name}")
    else:
        path.rename(bundle.parent / name)
        path.symlink_to(bundle.parent / name)
    assert not checker.check(bundle)["ok"]


@pytest.mark.parametrize("name", ["extra.txt", "records.csv.bak", "VERIFY.TXT", ".hidden", "a b", "folder/"])
def test_what_was_added_is_found(bundle: Path, name: str) -> None:
    (bundle / name).mkdir() if name.endswith("/") else (bundle / name).write_text("added")
    code, text = run(bundle)
    assert code == 1
    assert "NOT OK" in text


@pytest.mark.parametrize(
    "name", ["../escape.txt", "/etc/escape", "a/b.txt", "..", "C:\\x", "records.csv", "Records.CSV"]
)
def test_a_zip_with_a_bad_or_second_name_is_refused(bundle: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "b.zip"
    staging.stage(bundle, target, as_zip=True)
    assert run(bundle, str(target))[0] == 0
    with zipfile.ZipFile(target, "a") as archive:
        archive.writestr(name, "x")
    before = sorted(tmp_path.rglob("*"))
    assert run(bundle, str(target))[0] == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_link_in_a_zip_is_refused(bundle: Path, tmp_path: Path) -> None:
    target = tmp_path / "b.zip"
    with zipfile.ZipFile(target, "w") as archive:
        for path in bundle.iterdir():
            info = zipfile.ZipInfo(path.name)
            info.external_attr = (0o120777 if path.name == "records.csv" else 0o100600) << 16
            archive.writestr(info, path.read_bytes())
    assert not checker.check(target)["ok"]


def forge(bundle: Path) -> None:
    """Change a record and mend both lists, as whoever has the folder but no key can."""
    (bundle / "records.jsonl").write_text('{"id": "1", "text": "forged"}\n')
    manifest = json.loads((bundle / "manifest.json").read_text())
    for entry in manifest["files"]:
        data = (bundle / entry["name"]).read_bytes()
        entry |= {"bytes": len(data), "sha256": checker.hashlib.sha256(data).hexdigest()}
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    mend_sums(bundle)


def mend_sums(bundle: Path) -> None:
    names = sorted(path.name for path in bundle.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{checker.hashlib.sha256((bundle / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (bundle / "SHA256SUMS").write_text("".join(lines))


def test_a_consistent_forgery_breaks_the_signature(bundle: Path) -> None:
    forge(bundle)
    assert run(bundle)[1].splitlines()[1].strip() == "the signature does not belong to manifest.json"


def test_a_forgery_signed_by_another_key_is_found_by_the_key_given(bundle: Path, tmp_path: Path, signed) -> None:
    other = make_key(tmp_path / "other", tmp_path / "workspace")
    signer = read_key(tmp_path / "other", tmp_path / "workspace")
    manifest = json.loads((bundle / "manifest.json").read_text()) | {"signed_by": other}
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    signature = signer.sign((bundle / "manifest.json").read_bytes())
    (bundle / "SIGNATURE.json").write_bytes(checker.signature_file(other, signature))
    mend_sums(bundle)
    assert checker.check(bundle)["ok"], "whole in itself: only the key tells"
    answer = checker.check(bundle, key=signed[1])
    assert answer["problems"] == ["it is not signed by the key you gave"]
    manifest["signed_by"] = signed[1]  # it says so, and is not
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    mend_sums(bundle)
    assert not checker.check(bundle, key=signed[1])["ok"]


def test_taking_the_signature_away_is_found(bundle: Path) -> None:
    (bundle / "SIGNATURE.json").unlink()
    mend_sums(bundle)
    assert "SIGNATURE.json is missing" in run(bundle)[1]


def withdrawn(key: str = "rel-1", signer=None) -> str:
    entry = {
        "release": key,
        "manifest_sha256": "",
        "revoked": "2026-11-23",
        "reason": "A name was\x1b[31m found.",
    }
    return revocation_list([entry], "2026-11-23", signer)


def test_a_bundle_beside_a_list_that_names_it_is_revoked(bundle: Path, signed) -> None:
    signer = read_key(signed[0].parent / "key", signed[0].parent / "workspace")
    beside = bundle.parent / "revocations.json"
    beside.write_text(withdrawn("rel-2", signer))
    code, text = run(bundle)
    assert code == 0
    assert "Not withdrawn, by the list of 2026-11-23." in text
    beside.write_text(withdrawn(signer=signer))
    code, text = run(bundle)
    assert code == 1
    assert "REVOKED on 2026-11-23: A name was [31m found." in text
    assert "ask the custodian" not in text
    beside.rename(bundle.parent / "elsewhere.json")
    assert run(bundle)[0] == 0
    assert run(bundle, "--revocations", str(bundle.parent / "elsewhere.json"))[0] == 1


def test_a_list_is_found_by_the_checksum_too_and_a_changed_list_is_no_answer(bundle: Path, signed) -> None:
    signer = read_key(signed[0].parent / "key", signed[0].parent / "workspace")
    own = checker.hashlib.sha256((bundle / "manifest.json").read_bytes()).hexdigest()
    entry = {"release": "", "manifest_sha256": own, "revoked": "2026-11-23", "reason": ""}
    beside = bundle.parent / "revocations.json"
    made = revocation_list([entry], "2026-11-23", signer)
    beside.write_text(made)
    assert checker.check(bundle)["revoked"]
    beside.write_text(made.replace(own, "0" * 64))
    answer = checker.check(bundle)
    assert answer["problems"] == ["the list of revocations was changed after it was signed"]
    for broken in ("", "[]", "{}", "[" * 100_000, '{"revocations": 3}'):
        beside.write_text(broken)
        assert not checker.check(bundle)["ok"]


def test_an_unsigned_list_still_withdraws_and_says_whose_it_is_not(bundle: Path) -> None:
    (bundle.parent / "revocations.json").write_text(withdrawn())
    code, text = run(bundle)
    assert code == 1
    assert "not signed by the key of the bundle" in text


def test_a_bundle_of_the_first_edition_still_verifies(tmp_path: Path) -> None:
    data = b"id,text\n"
    digest = checker.hashlib.sha256(data).hexdigest()
    manifest = {"format": 1, "release": "r", "created": "2026-01-01", "policy": "research",
                "files": [{"name": "records.csv", "what": "", "bytes": 8, "sha256": digest}]}  # fmt: skip
    (tmp_path / "records.csv").write_bytes(data)
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    mend_sums(tmp_path)
    assert checker.check(tmp_path)["ok"]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"format": 3}))
    mend_sums(tmp_path)
    assert not checker.check(tmp_path)["ok"]


@pytest.mark.parametrize("how", ["more words", "another algorithm", "long"])
def test_nothing_stands_beside_a_signature(bundle: Path, signed, how: str) -> None:
    path = bundle / "SIGNATURE.json"
    found = json.loads(path.read_text())
    if how == "more words":
        path.write_text(json.dumps({**found, "note": "Corrections: ask elsewhere."}, indent=2) + "\n")
    elif how == "another algorithm":
        path.write_text(json.dumps({**found, "algorithm": "none"}, indent=2) + "\n")
    else:
        path.write_text(path.read_text() + " " * (1 << 21))
    mend_sums(bundle)
    answer = checker.check(bundle, key=signed[1])
    assert not answer["ok"]


def zipped(bundle: Path, path: Path, kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    with zipfile.ZipFile(path, "w", kind) as archive:
        for file in sorted(bundle.iterdir()):
            archive.write(file, file.name)
    return path.read_bytes()


@pytest.mark.parametrize("kind", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_holds_no_bytes_that_its_list_does_not_name(bundle: Path, tmp_path: Path, kind: int) -> None:
    path = tmp_path / "good.zip"
    good = zipped(bundle, path, kind)
    assert checker.check(path)["ok"]
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil" / "records.csv").write_text("EVIL")
    evil = zipped(tmp_path / "evil", tmp_path / "evil.zip", kind)
    front = evil[: evil.index(b"PK\x01\x02")]  # its entry without the list of files
    for name, content in {
        "front": front + good,
        "comment": good[:-2] + b"\x04\x00EVIL",
        "behind": good + front,
    }.items():
        bad = tmp_path / f"{name}.zip"
        bad.write_bytes(content)
        assert not checker.check(bad)["ok"], name


def test_a_list_of_somebody_else_is_no_answer_where_a_key_was_given(bundle: Path, tmp_path: Path, signed) -> None:
    listed = tmp_path / "elsewhere.json"
    listed.write_text(withdrawn("rel-other"))
    assert checker.check(bundle, revocations=listed)["ok"]
    answer = checker.check(bundle, revocations=listed, key=signed[1])
    assert answer["problems"] == ["the list of revocations is not signed by the key you gave"]


def test_who_signed_second_is_said_and_both_files_must_name_the_same(tmp_path: Path) -> None:
    folder = written(tmp_path / "out", words={"second": SecondPerson("Mary *Second*", False)}).path
    code, text = run(folder)
    assert (code, "Second person: Mary *Second* (name typed, no sign-in)." in text) == (0, True)
    assert "**Second person:** Mary \\*Second\\* (name typed, no sign-in)" in (folder / "DATA_CARD.md").read_text()
    assert "Second person" not in run(written(tmp_path / "without").path)[1]
    manifest = json.loads((folder / "manifest.json").read_text())
    for changed, said in (({"name": "Mary *Second*", "how": "signed in"}, "names another second person"),
                          ({"name": "Mary *Second*", "how": "in person"}, "does not say how"), ("Mary", "does not say"),
                          ({}, "names another second person")):  # fmt: skip
        (folder / "manifest.json").write_text(json.dumps(manifest | {"second_person": changed}))
        assert said in run(folder)[1], changed
