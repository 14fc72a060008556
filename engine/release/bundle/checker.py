"""Check a release bundle: every file listed, none changed, none added, signed by whom, withdrawn or not.

    python -I -S verify.py [BUNDLE] [--key KEY] [--revocations FILE] [--manifest-sha256 SHA256]

BUNDLE is the folder or zip file of a release; without it, the folder this file lies in. The answer is OK and exit
status 0, or what differs and 1. One file, the standard library of Python 3.9 or newer, no network. It reads only
plain names inside the bundle, follows no link, unpacks nothing to disk, and reads no more than the manifest promises,
so that a hostile bundle cannot make it leave its folder or fill memory.

A copy of this file lies in every bundle. Whoever can change a bundle can change that copy: to be sure, use one that
came another way, or a key that did.

References: Ed25519, RFC 8032; point formulas, Hisil et al. 2008, section 3.1 and 4.4.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import re
import stat
import sys
import zipfile
import zlib
from pathlib import Path
from typing import IO, ContextManager, Sequence, TypedDict  # noqa: UP035 - old Pythons read this file

MANIFEST, SUMS, SIGNATURE, REVOCATIONS = "manifest.json", "SHA256SUMS", "SIGNATURE.json", "revocations.json"
CARD = "card.json"
HOWS = ("name typed, no sign-in", "signed in")  # how the name of a second person may be known
FORMATS = (1, 2)
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_HEX = re.compile(r"[0-9a-f]*")
_SMALL = 1 << 20  # bytes; more than any manifest, signature or checksum list needs
_CHUNK = 1 << 20
_GAPS = (0, 12, 16, 20, 24)  # bytes of a description that may stand behind an entry's data
_BROKEN = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, RuntimeError, EOFError, UnicodeError)


class FileCheck(TypedDict):
    """Whether one file of a bundle is as the manifest says, and what is wrong with it, empty where nothing is."""

    name: str
    ok: bool
    problem: str


class BundleCheck(TypedDict):
    """Whether a bundle is whole, of which release it says that it is, its files, and all problems as sentences.

    signed_by: the public key in hexadecimal whose signature holds, empty where there is none. second_person: who
    signed as the second person, and how that is known, empty where the bundle names nobody. revoked: a list of
    revocations names the release. notes: what was not looked at.
    """

    ok: bool
    release: str
    signed_by: str
    second_person: str
    revoked: bool
    files: list[FileCheck]
    problems: list[str]
    notes: list[str]


class Unreadable(ValueError):
    """A file of the bundle is not what it should be; the message says which."""


# Ed25519: the curve -x² + y² = 1 + d x² y² over the integers modulo p, points as (X, Y, Z, T) with T = XY/Z.
_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)
_Point = tuple[int, int, int, int]
_ZERO: _Point = (0, 1, 1, 0)


def _add(a: _Point, b: _Point) -> _Point:
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % _P, (a[1] + a[0]) * (b[1] + b[0]) % _P
    g, h = 2 * a[3] * b[3] * _D % _P, 2 * a[2] * b[2] % _P
    w, x, y, z = f - e, h - g, h + g, f + e
    return w * x % _P, y * z % _P, x * y % _P, w * z % _P


def _times(scalar: int, point: _Point) -> _Point:
    result = _ZERO
    while scalar:
        if scalar & 1:
            result = _add(result, point)
        point, scalar = _add(point, point), scalar >> 1
    return result


def _x_of(y: int, odd: int) -> int | None:
    """Return the x of a point, None where there is none (RFC 8032, 5.1.3)."""
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if (x * x - square) % _P or (x == 0 and odd):
        return None
    return _P - x if x & 1 != odd else x


def _decoded(data: bytes) -> _Point | None:
    number = int.from_bytes(data, "little")
    y, odd = number & ((1 << 255) - 1), number >> 255
    x = _x_of(y, odd) if y < _P else None
    return None if x is None else (x, y, 1, x * y % _P)


def _encoded(point: _Point) -> bytes:
    inverse = pow(point[2], _P - 2, _P)
    x, y = point[0] * inverse % _P, point[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


_BASE_Y = 4 * pow(5, _P - 2, _P) % _P
_BASE_X = _x_of(_BASE_Y, 0) or 0
_BASE: _Point = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % _P)


def signature_holds(key: bytes, signature: bytes, message: bytes) -> bool:
    """Return whether `signature` (64 bytes) is that of `message` by the holder of `key` (32 bytes), RFC 8032.

    A key of small order, with which one signature fits many messages, is refused.
    """
    if len(key) != 32 or len(signature) != 64:
        return False
    point, s = _decoded(key), int.from_bytes(signature[32:], "little")
    if point is None or s >= _L or _encoded(_times(8, point)) == _encoded(_ZERO):
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % _L
    negative = (_P - point[0], point[1], point[2], _P - point[3])
    return _encoded(_add(_times(s, _BASE), _times(k, negative))) == signature[:32]


class _Source:
    """A bundle that can be read by name."""

    def names(self) -> list[str]:
        """Return the names in the bundle; one that is not plain is not a file of it."""
        raise NotImplementedError

    def open(self, name: str) -> ContextManager[IO[bytes]]:
        """Open one file."""
        raise NotImplementedError

    def read(self, name: str, limit: int) -> bytes:
        """Return at most `limit` bytes of a file."""
        with self.open(name) as file:
            return file.read(limit)

    def digest(self, name: str, limit: int) -> tuple[int, str]:
        """Return how many bytes there are, up to `limit`, and their SHA-256."""
        found, size = hashlib.sha256(), 0
        with self.open(name) as file:
            while size < limit:
                part = file.read(min(_CHUNK, limit - size))
                if not part:
                    break
                found.update(part)
                size += len(part)
        return size, found.hexdigest()


class _Folder(_Source):
    """A bundle as a folder; links and subfolders are names that are never plain."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def names(self) -> list[str]:
        return [p.name if p.is_file() and not p.is_symlink() else f"{p.name}/" for p in self._path.iterdir()]

    def open(self, name: str) -> ContextManager[IO[bytes]]:
        return (self._path / name).open("rb")


class _Zip(_Source):
    """A bundle as a zip file; nothing is ever unpacked to disk."""

    def __init__(self, path: Path) -> None:
        self._archive = zipfile.ZipFile(path)
        self._whole(path)

    def _whole(self, path: Path) -> None:
        """Refuse bytes that no entry lists: a program that reads from the front would unpack them."""
        end = 0
        with path.open("rb") as file:
            for info in sorted(self._archive.infolist(), key=lambda entry: entry.header_offset):
                gap = info.header_offset - end
                file.seek(info.header_offset + 26)
                lengths = file.read(4)
                if gap not in _GAPS or len(lengths) < 4 or (gap and not end):
                    raise Unreadable("the zip file holds bytes that its list of files does not name")
                name, extra = int.from_bytes(lengths[:2], "little"), int.from_bytes(lengths[2:], "little")
                end = info.header_offset + 30 + name + extra + info.compress_size
            file.seek(-22, 2)
            last = file.read(22)
        closed = last.startswith(b"PK\5\6") and last.endswith(b"\0\0")  # nothing stands behind the list
        if self._archive.start_dir - end not in _GAPS or self._archive.comment or not closed:
            raise Unreadable("the zip file holds bytes that its list of files does not name")

    def names(self) -> list[str]:
        return [
            f"{info.filename}/" if stat.S_ISLNK(info.external_attr >> 16) else info.filename
            for info in self._archive.infolist()
        ]

    def open(self, name: str) -> ContextManager[IO[bytes]]:
        return self._archive.open(name)


def check(bundle: Path, *, key: str = "", revocations: Path | None = None, manifest_sha256: str = "") -> BundleCheck:
    """Return whether a folder or zip file is a whole release that nobody withdrew, and what is wrong with it.

    Args:
        bundle: an existing folder or zip file.
        key: public key in hexadecimal that must have signed.
        revocations: list of withdrawn releases; without it `revocations.json` beside the bundle, where there is one.
        manifest_sha256: checksum from the custodian's audit log, if it is to be compared too.
    """
    answer: BundleCheck = {
        "ok": False, "release": "", "signed_by": "", "second_person": "", "revoked": False, "files": [],
        "problems": [], "notes": [],
    }  # fmt: skip
    try:
        source: _Source = _Folder(bundle) if bundle.is_dir() else _Zip(bundle)
        _check_source(source, answer, key.strip().lower(), manifest_sha256.strip().lower())
        listed = revocations or _beside(bundle)
        if not answer["release"]:
            pass
        elif listed is None:
            answer["notes"].append("No list of revocations was given: nothing is said on whether it was withdrawn.")
        else:
            own = hashlib.sha256(source.read(MANIFEST, _SMALL)).hexdigest()
            _check_revocations(listed, answer, own, key.strip().lower())
    except Unreadable as error:
        answer["problems"].append(str(error))
    except _BROKEN:
        answer["problems"].append("not a release bundle: neither a folder nor a readable zip file")
    except OSError as error:
        answer["problems"].append(f"cannot be read: {error.strerror or 'unknown reason'}")
    answer["ok"] = not answer["problems"]
    return answer


def _beside(bundle: Path) -> Path | None:
    found = bundle.absolute().parent / REVOCATIONS
    return found if found.is_file() else None


def _check_source(source: _Source, answer: BundleCheck, key: str, expected: str) -> None:
    names, problems = source.names(), answer["problems"]
    problems += [f"unsafe file name ({len(n)} characters)" for n in names if not _PLAIN_NAME.fullmatch(n)]
    if len(names) != len({name.lower() for name in names}):
        problems.append("a file name occurs twice")
    if not problems:
        problems += [f"{name} is missing" for name in (MANIFEST, SUMS) if name not in names]
    if problems:
        return
    raw = source.read(MANIFEST, _SMALL)
    release, signed_by, entries = _manifest(raw)
    answer["release"] = release
    own = hashlib.sha256(raw).hexdigest()
    if expected and own != expected:
        problems.append(f"{MANIFEST} is not the one in the audit log")
    answer["files"] = [_check_file(source, names, entry) for entry in entries]
    problems += [f"{file['name']}: {file['problem']}" for file in answer["files"] if not file["ok"]]
    answer["second_person"] = _second(_object(raw, MANIFEST).get("second_person"), MANIFEST)
    if any(file["name"] == CARD and file["ok"] for file in answer["files"]):
        card = _object(source.read(CARD, _SMALL), CARD).get("second_person")
        if _second(card, CARD) != answer["second_person"]:
            problems.append(f"{CARD} names another second person than {MANIFEST}")
    sums = {str(entry["name"]): str(entry["sha256"]) for entry in entries}
    sums[MANIFEST] = own
    outside = {MANIFEST, SUMS}
    if signed_by:
        outside.add(SIGNATURE)
        problems += _check_signature(source, names, raw, answer, signed_by)
        if SIGNATURE in names:
            sums[SIGNATURE] = source.digest(SIGNATURE, _SMALL)[1]
    if key and signed_by != key:
        problems.append("it is not signed by the key you gave" if signed_by else "it is not signed at all")
    problems += [f"{name}: not listed in {MANIFEST}" for name in sorted(set(names) - set(sums) - outside)]
    if source.read(SUMS, _SMALL) != "".join(f"{h}  {n}\n" for n, h in sorted(sums.items())).encode():
        problems.append(f"{SUMS} does not agree with {MANIFEST}")


def _object(raw: bytes, name: str) -> dict[str, object]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Unreadable(f"{name} cannot be read")
    return found


def _is_hex(value: object, digits: int) -> bool:
    return isinstance(value, str) and len(value) == digits and _HEX.fullmatch(value) is not None


def _manifest(raw: bytes) -> tuple[str, str, list[dict[str, object]]]:
    """Return release id, announced key (or empty) and entries."""
    wrong = Unreadable(f"{MANIFEST} is not a release manifest")
    try:
        found = _object(raw, MANIFEST)
    except Unreadable:
        raise wrong from None
    release, entries, signed_by = found.get("release"), found.get("files"), found.get("signed_by") or ""
    if found.get("format") not in FORMATS or not isinstance(release, str) or not isinstance(entries, list):
        raise wrong
    if not entries or not (signed_by == "" or _is_hex(signed_by, 64)):
        raise wrong
    for entry in entries:
        if not isinstance(entry, dict) or not set(entry) <= {"name", "what", "bytes", "sha256"}:
            raise wrong
        size = entry.get("bytes")
        if not isinstance(entry.get("name"), str) or not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise wrong
        if not _is_hex(entry.get("sha256"), 64):
            raise wrong
    if len({entry["name"] for entry in entries}) != len(entries):
        raise wrong
    return _plain(release, 100), str(signed_by), entries


def _second(found: object, name: str) -> str:
    """Return who signed as the second person, and how that is known; empty where nobody is named."""
    if not found:
        return ""
    if not isinstance(found, dict) or set(found) != {"name", "how"} or found["how"] not in HOWS:
        raise Unreadable(f"{name} does not say how it knows its second person")
    return f"{_plain(found['name'], 200)} ({found['how']})"


def _plain(text: object, longest: int) -> str:
    """Return words of a file so that no control character reaches a terminal."""
    return "".join(c if c.isprintable() else " " for c in str(text))[:longest].strip()


def _check_file(source: _Source, names: Sequence[str], entry: dict[str, object]) -> FileCheck:
    name, promised, problem = str(entry["name"]), int(str(entry["bytes"])), ""
    if not _PLAIN_NAME.fullmatch(name) or name in (MANIFEST, SUMS, SIGNATURE):
        return {"name": "(unsafe name)", "ok": False, "problem": "unsafe file name"}
    if name not in names:
        problem = "missing"
    else:
        size, digest = source.digest(name, promised + 1)
        if size != promised:
            problem = "size differs"
        elif digest != entry["sha256"]:
            problem = "content differs"
    return {"name": name, "ok": not problem, "problem": problem}


def _check_signature(
    source: _Source, names: Sequence[str], raw: bytes, answer: BundleCheck, signed_by: str
) -> list[str]:
    if SIGNATURE not in names:
        return [f"{SIGNATURE} is missing, though {MANIFEST} says that it is signed"]
    found = _object(source.read(SIGNATURE, _SMALL), SIGNATURE)
    if found.get("key") != signed_by:
        return [f"{SIGNATURE} is of another key than {MANIFEST} says"]
    signature = found.get("signature")
    if not _is_hex(signature, 128):
        return [f"{SIGNATURE} holds no signature"]
    if source.read(SIGNATURE, _SMALL) != signature_file(signed_by, str(signature)):
        return [f"{SIGNATURE} holds more than a signature"]
    if not signature_holds(bytes.fromhex(signed_by), bytes.fromhex(str(signature)), raw):
        return [f"the signature does not belong to {MANIFEST}"]
    answer["signed_by"] = signed_by
    return []


def signature_file(key: str, signature: str) -> bytes:
    """Return the one form in which a signature stands in a bundle, since nothing else covers that file."""
    written = {"algorithm": "Ed25519", "over": MANIFEST, "key": key, "signature": signature}
    return (json.dumps(written, indent=2) + "\n").encode()


def list_bytes(found: dict[str, object]) -> bytes:
    """Return the bytes of a list of revocations that its signature covers: all but the signature itself."""
    rest = {name: value for name, value in found.items() if name != "signature"}
    return json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def _check_revocations(listed: Path, answer: BundleCheck, own: str, wanted: str) -> None:
    """Add a problem where the list names this release, or was changed; a list may only ever take trust away."""
    with listed.open("rb") as file:
        found = _object(file.read(_SMALL), "the list of revocations")
    entries, key, signature = found.get("revocations"), found.get("key") or "", found.get("signature")
    if not isinstance(entries, list):
        raise Unreadable("the list of revocations cannot be read")
    if key:
        holds = _is_hex(key, 64) and _is_hex(signature, 128)
        if not holds or not signature_holds(bytes.fromhex(str(key)), bytes.fromhex(str(signature)), list_bytes(found)):
            answer["problems"].append("the list of revocations was changed after it was signed")
    if wanted and key != wanted:
        answer["problems"].append("the list of revocations is not signed by the key you gave")
    elif answer["signed_by"] and key != answer["signed_by"]:
        answer["notes"].append("The list of revocations is not signed by the key of the bundle; ask the custodian.")
    for entry in entries:
        if isinstance(entry, dict) and (
            entry.get("manifest_sha256") == own or entry.get("release") == answer["release"]
        ):
            answer["revoked"] = True
            why = _plain(entry.get("reason") or "no reason given", 300)
            answer["problems"].append(f"REVOKED on {_plain(entry.get('revoked'), 10)}: {why}")
    if not answer["revoked"]:
        answer["notes"].append(f"Not withdrawn, by the list of {_plain(found.get('issued'), 10)}.")


def report(answer: BundleCheck) -> str:
    """Return the answer in lines for a person."""
    lines = [f"{'OK' if answer['ok'] else 'NOT OK'}: release {answer['release'] or 'unknown'}"]
    lines += [f"  {problem}" for problem in answer["problems"]]
    if answer["ok"]:
        lines.append(f"  {len(answer['files'])} files, none changed, missing or added.")
    if answer["signed_by"]:
        lines.append(f"  Signed by the key {answer['signed_by']}; compare it with the one the custodian gave you.")
    elif answer["release"]:
        lines.append("  No signature was found: this shows that nothing changed, not who made it.")
    if answer["second_person"]:
        lines.append(f"  Second person: {answer['second_person']}.")
    return "\n".join([*lines, *(f"  {note}" for note in answer["notes"])]) + "\n"


def key_from(text: str) -> str:
    """Return a public key from hexadecimal, or from the file that holds it.

    Raises:
        ValueError: it is neither.
    """
    given = text.strip().lower()
    if not _is_hex(given, 64):
        path = Path(text)
        given = path.read_text("ascii", "replace")[:100].strip().lower() if path.is_file() else ""
    if not _is_hex(given, 64):
        raise ValueError("key: give 64 hexadecimal digits, or a file that holds them")
    return given


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the bundle that the command line names; return 0 where it is whole, 1 where it is not."""
    parser = argparse.ArgumentParser(description="Check a release: nothing changed, missing, added or withdrawn.")
    parser.add_argument("bundle", nargs="?", type=Path, default=Path(__file__).absolute().parent)
    parser.add_argument("--key", type=key_from, help="public key that must have signed, or its file")
    parser.add_argument("--revocations", type=Path, help="list of withdrawn releases")
    parser.add_argument("--manifest-sha256", default="", help=f"checksum of {MANIFEST} in the custodian's audit log")
    options = parser.parse_args(arguments)
    if not options.bundle.exists():
        sys.stderr.write("there is no such folder or file\n")
        return 1
    answer = check(
        options.bundle,
        key=options.key or "",
        revocations=options.revocations,
        manifest_sha256=options.manifest_sha256,
    )
    text = report(answer)
    sys.stdout.buffer.write(text.encode(sys.stdout.encoding or "ascii", "backslashreplace"))
    return 0 if answer["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
