"""The audit log as a file that its holder can check without this program, and such a file held against the log.

In the log lines are chained by keyed hashes, which only the workspace's key can check. The file chains its lines once
more, by plain SHA-256 (`RULE`). Its head stands in the log's own line about the export: whoever keeps file or head
elsewhere can show later that the log is not the one it was, also where database, heads and key were put back together.

Privacy posture: the log holds no text of a record, so its digests confirm no guess about one.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from engine.errors import UserError
from engine.store.chain import GENESIS, canonical

FORMATS = ("json", "csv")
EXPORTED = "audit log exported"
FORMAT = "understudy-audit/1"
FIELDS = ("seq", "at", "actor", "action", "subject", "detail", "hash")
RULE = (
    "Each line's sha256 is the SHA-256, in small hexadecimal digits, of the line's `previous` followed by the JSON "
    "object of its fields seq (a number), at, actor, action, subject, detail and hash (strings): keys in alphabetical "
    "order, no blanks, every character beyond ASCII as \\uXXXX. `previous` is the sha256 of the line before, and 64 "
    "zeros for the first. `hash` is the log's own keyed hash, which only the workspace can check. In the CSV file a "
    "cell that begins with an apostrophe (') was given one, so that no spreadsheet runs it: take one off first."
)
ABOUT = "Audit log of Understudy: who did what and when; ids, counts, settings and typed reasons, no text of a record."


@dataclass(frozen=True)
class Line:
    """A line of the log as the file holds it: its fields as text, `previous` and `sha256`."""

    seq: int
    fields: Mapping[str, str]
    previous: str
    sha256: str

    @property
    def content(self) -> dict[str, int | str]:
        """Return the fields that the hash covers."""
        return {"seq": self.seq, **self.fields}


def chained(lines: Sequence[Mapping[str, object]]) -> list[Line]:
    """Return lines of the log, oldest first, with the hashes of the file."""
    made: list[Line] = []
    for line in lines:
        fields = {name: str(line[name]) for name in FIELDS[1:]}
        seq, previous = int(str(line["seq"])), made[-1].sha256 if made else GENESIS
        made.append(Line(seq, fields, previous, _digest(previous, {"seq": seq, **fields})))
    return made


def head(lines: Sequence[Line]) -> str:
    """Return the sha256 of the last line, 64 zeros where there is none."""
    return lines[-1].sha256 if lines else GENESIS


def written(lines: Sequence[Line], kind: str, exported: str, corpus_id: str | None) -> bytes:
    """Return the file, UTF-8.

    Args:
        kind: one of `FORMATS`. exported: when, ISO 8601.
        corpus_id: the corpus that the lines are about, None for the whole log.
    """
    rows = [{**line.content, "previous": line.previous, "sha256": line.sha256} for line in lines]
    if kind == "json":
        said = {"format": FORMAT, "about": ABOUT, "rule": RULE, "exported": exported, "corpus": corpus_id,
                "count": len(lines), "head": head(lines), "lines": rows}  # fmt: skip
        return (json.dumps(said, indent=1, ensure_ascii=True) + "\n").encode()
    from engine.release.bundle.export import neutralise

    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow((*FIELDS, "previous", "sha256"))
    for row in rows:
        writer.writerow(neutralise(str(cell)) for cell in row.values())
    return buffer.getvalue().encode("utf-8")


def read(data: bytes) -> list[Line]:
    """Return the lines of a file that `written` made, JSON or CSV.

    Raises:
        UserError: it is no such file, or its own chain does not hold.
    """
    try:
        text = data.decode("utf-8-sig")
        lines = list(_from_json(text) if text.lstrip().startswith("{") else _from_csv(text))
        if text.lstrip().startswith("{") and json.loads(text)["head"] != head(lines):
            raise UserError("audit file: its last lines are missing, so the file itself was changed")
        if text.lstrip().startswith("{") and json.loads(text)["corpus"] is None:
            _check_whole(lines)
    except (ValueError, KeyError, TypeError, csv.Error, RecursionError):
        raise UserError("audit file: this is no export of an audit log, or it is damaged") from None
    previous = GENESIS
    for line in lines:
        if line.previous != previous or line.sha256 != _digest(previous, line.content):
            raise UserError(f"audit file: line {line.seq} does not hold, so the file itself was changed")
        previous = line.sha256
    return lines


def _check_whole(lines: Sequence[Line]) -> None:
    """Refuse the lines of one corpus that say they are the whole log."""
    if [line.seq for line in lines] != list(range(1, len(lines) + 1)):
        raise UserError("audit file: it says that it is the whole log and lacks lines, so the file itself was changed")


def against(lines: Sequence[Line], known: Mapping[int, Mapping[str, object]]) -> tuple[str, ...]:
    """Return what of an export the log does not have any more, in sentences; nothing where all of it stands there.

    Args:
        known: the lines of the log by number.
    """
    gone = [line.seq for line in lines if line.seq not in known]
    other = [
        line.seq for line in lines
        if line.seq in known and any(str(known[line.seq][name]) != said for name, said in line.fields.items())
    ]  # fmt: skip
    said = []
    if gone:
        said.append(f"{len(gone):,} of the file's {len(lines):,} lines are not in the log, from line {gone[0]} on.")
    if other:
        said.append(
            f"{len(other):,} of the file's {len(lines):,} lines are others in the log, from line {other[0]} on."
        )
    return tuple(said)


def untold(lines: Sequence[Line], known: Iterable[Mapping[str, object]]) -> tuple[str, ...]:
    """Return, as a sentence, that no line of the log tells of an export that ends like this one; else nothing.

    The file's own chain can be made anew by anybody, so a file that lacks lines holds and is part of the log; and a log
    that was put back to the very moment of the export lacks nothing but the line about it.

    Args:
        known: the lines of the log.
    """
    told = f'"sha256":"{head(lines)}"'
    if any(line["action"] == EXPORTED and told in str(line["detail"]) for line in known):
        return ()
    return ("No line of the log tells of this export: lines of the file were taken out, or the log was put back.",)


def _digest(previous: str, content: Mapping[str, int | str]) -> str:
    return sha256((previous + canonical(dict(content))).encode("ascii")).hexdigest()


def _from_json(text: str) -> Iterator[Line]:
    body = json.loads(text)
    if body["format"] != FORMAT:
        raise ValueError
    for row in body["lines"]:
        yield _line({name: str(row[name]) for name in (*FIELDS, "previous", "sha256")})


def _from_csv(text: str) -> Iterator[Line]:
    from engine.release.bundle.export import restore

    rows = csv.DictReader(io.StringIO(text, newline=""))
    if tuple(rows.fieldnames or ()) != (*FIELDS, "previous", "sha256"):
        raise ValueError
    for row in rows:
        yield _line({name: restore(cell) for name, cell in row.items()})


def _line(row: Mapping[str, str]) -> Line:
    fields = {name: row[name] for name in FIELDS[1:]}
    return Line(int(row["seq"]), fields, row["previous"], row["sha256"])
