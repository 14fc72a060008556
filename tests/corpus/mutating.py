"""Damaged copies of good files, drawn from a seed: bytes changed, cut, doubled, moved; values turned odd; names too."""

from __future__ import annotations

import gzip
import io
import json
import random
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq

from engine.corpus.readers import FORMATS, example_file

KINDS = ("csv", "tsv", "jsonl", "json", "parquet", "excel", "zip", "gz", "values", "columns", "encoding", "entries")
ODD = (
    "", "\x00", "\ufeff", "\u202e", "a" * 70_000, "=1+1", "'", '"', '""', "\r", "\r\n", ",", ";", "\t", "|", "\\", "{",
    "]", "NaN", "null", "1e999", "-0", "9" * 400, "\ud800", "\udfff", "👩‍👩‍👧", "é" * 3, "<script>", "../../x",
    "a\u0300" * 50,
)  # fmt: skip
NAMES = (
    "a.csv", "../a.csv", "a.CSV", "a", ".csv", "a.csv.gz", "a.xlsx", "a.json", "a.parquet", "a.zip", "a.txt",
    "a.tar.gz", "a\x00.csv", "con.csv", "a" * 300 + ".csv", "\u202evsc.a.csv", "a.xls", "a.jsonl", "é.json", "a.gz",
    "", "a.csv/",
)  # fmt: skip


def mutated(seed: int) -> tuple[str, str, bytes]:
    """Return (kind, file name, bytes) of one damaged file."""
    draw = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    made = {"values": _values, "columns": _columns, "encoding": _encoding, "entries": _entries, "gz": _packed}
    name, data = made[kind](draw) if kind in made else _bytes(draw, *example_file(kind))
    if draw.random() < 0.08:
        name = draw.choice(NAMES)
    return kind, name, data


def _bytes(draw: random.Random, name: str, data: bytes) -> tuple[str, bytes]:
    body = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 6))):
        if not body:
            break
        at, length = draw.randrange(len(body)), draw.randint(1, 40)
        what = draw.choice((0, 0, 0, 0, 1, 2, 3, 4, 5, 6))
        if what == 0:
            body[at] = draw.randrange(256)
        elif what == 1:
            del body[at : at + length]
        elif what == 2:
            body[at:at] = draw.randbytes(length)
        elif what == 3:
            del body[at:]
        elif what == 4:
            body[at:at] = body[at : at + length] * draw.randint(1, 50)
        elif what == 5:
            body[at : at + 4] = draw.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff", b"\xed\xa0\x80x"))
        else:
            body[at:at] = draw.choice(ODD).encode("utf-8", "surrogatepass")
    return name, bytes(body)


def _odd(draw: random.Random, depth: int = 0):
    what = draw.randrange(9 if depth < 4 else 7)
    if what < 4:
        return draw.choice(ODD)
    if what == 4:
        return draw.choice((None, True, False, 0, -1, 1e308, 2**63, 2**200, 0.1))
    if what < 7:
        return "An ordinary note about a visit, " * draw.randint(1, 4)
    if what == 7:
        return [_odd(draw, depth + 1) for _ in range(draw.randint(0, 4))]
    return {draw.choice((*ODD, "start", "end", "label")): _odd(draw, depth + 1) for _ in range(draw.randint(0, 4))}


def _values(draw: random.Random) -> tuple[str, bytes]:
    rows = [
        {"text": f"An ordinary note about visit {number}.", draw.choice(("text", "n", *ODD)): _odd(draw)}
        | {name: _odd(draw) for name in ("record_id", "source_id", "label", "spans") if draw.random() < 0.3}
        for number in range(draw.randint(1, 12))
    ]
    if draw.random() < 0.5:
        return "a.jsonl", "\n".join(json.dumps(row) for row in rows).encode()
    return "a.json", json.dumps(rows, ensure_ascii=draw.random() < 0.7).encode("utf-8", "surrogatepass")


def _columns(draw: random.Random) -> tuple[str, bytes]:
    """Return a Parquet file whose columns have kinds and values no text has."""
    big = (0, 1, -1, 2**31 - 1, -(2**31), 2**53, 2**62, -(2**62))
    kinds = (
        pa.duration("s"), pa.duration("ns"), pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("ns", "UTC"),
        pa.timestamp("us", "Europe/Paris"), pa.timestamp("us", "No/Where"), pa.time64("ns"), pa.date64(), pa.int64(),
        pa.uint64(), pa.float64(),
    )  # fmt: skip
    rows, columns = draw.randint(1, 9), {"text": None}
    columns["text"] = pa.array([f"An ordinary note, number {i}, of some length." for i in range(rows)])
    for number in range(draw.randint(1, 4)):
        kind = draw.choice(kinds)
        values = pa.array([draw.choice(big) for _ in range(rows)], pa.int64())
        try:
            columns[f"c{number}"] = values.view(kind) if kind.bit_width == 64 else values.cast(kind)
        except pa.ArrowException:
            columns[f"c{number}"] = values
    what = draw.randrange(6)
    if what == 0:
        columns["broken"] = pa.array([draw.randbytes(draw.randint(0, 9)) for _ in range(rows)]).view(pa.string())
    elif what == 1:
        columns["nested"] = pa.array([{"a": [{"b": "x"}]}] * rows)
    elif what == 2:
        columns["coded"] = pa.array(["y" * 1000] * rows).dictionary_encode()
    elif what == 3:
        columns["nothing"] = pa.nulls(rows)
    elif what == 4:
        columns["decimal"] = pa.array([10**30] * rows, pa.decimal128(38, 4))
    buffer = io.BytesIO()
    try:
        pq.write_table(pa.table(columns), buffer)
    except (pa.ArrowException, OverflowError):
        pq.write_table(pa.table({"text": columns["text"]}), buffer)
    return "a.parquet", buffer.getvalue() if draw.random() < 0.7 else _bytes(draw, "", buffer.getvalue())[1]


def _encoding(draw: random.Random) -> tuple[str, bytes]:
    text = "text,id\n" + "".join(f'"Ein Brief über {draw.choice(ODD)!r}, Nummer",{i}\n' for i in range(9))
    coded = text.encode(draw.choice(("utf-16", "utf-16-le", "utf-32", "cp1252", "utf-7", "shift_jis")), "replace")
    return _bytes(draw, "a.csv", draw.choice((b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\0")) + coded)


def _entries(draw: random.Random) -> tuple[str, bytes]:
    """Return an archive or a workbook whose entries have odd names, repeat, or hold odd XML."""
    buffer = io.BytesIO()
    names = ("a.txt", "../a.txt", "/etc/x.txt", "C:\\x.txt", "a/b/c.txt", "a\x01.txt", "é.txt", ".hidden.txt", "a.exe")
    if draw.random() < 0.5:
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for _ in range(draw.randint(0, 6)):
                info = zipfile.ZipInfo(draw.choice(names))
                info.external_attr = draw.choice((0, 0o120777 << 16, 0o100644 << 16, 0o010644 << 16))
                archive.writestr(info, draw.choice(ODD).encode("utf-8", "surrogatepass") * draw.randint(1, 3))
        return "a.zip", buffer.getvalue()
    _, book = example_file("excel")
    entity = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'
    with zipfile.ZipFile(io.BytesIO(book)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            data = old.read(info)
            if draw.random() < 0.3:
                data = draw.choice((
                    _bytes(draw, "", data)[1], entity.encode() + data, data.replace(b'r="', b'r="9'), b"",
                    data.replace(b"<c ", b'<c t="s" '), data.replace(b"<row ", b'<row r="2e9" '),
                    data[: len(data) // 2],
                ))  # fmt: skip
            if draw.random() < 0.95:
                new.writestr(info.filename, data)
    return "a.xlsx", buffer.getvalue()


def _packed(draw: random.Random) -> tuple[str, bytes]:
    name, data = example_file(draw.choice([item.id for item in FORMATS if item.id not in ("excel", "zip", "folder")]))
    packed = gzip.compress(data if draw.random() < 0.5 else _bytes(draw, "", data)[1])
    return _bytes(draw, name + ".gz", packed) if draw.random() < 0.7 else (name + ".gz", packed)
