"""Find out how bytes became text: byte-order mark, strict UTF-8, then statistics.

Detection is a guess and says so; the custodian may name the encoding instead.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field

from engine.corpus.readers.base import Source
from engine.errors import UserError

SAMPLE_BYTES = 256 * 1024
_MARKS = (  # the four-byte marks first: UTF-32's begins like UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NOT_TEXT = (
    (b"PK\x03\x04", "is a zip or Excel file"),
    (b"PAR1", "is a Parquet file"),
    (b"\xd0\xcf\x11\xe0", "is an old Office file or a protected one"),
    (b"%PDF", "is a PDF file"),
    (b"\x1f\x8b", "is a gzip file"),
    (b"\x89PNG", "is a picture"),
)


@dataclass(frozen=True)
class Decoded:
    """Text and how it was decoded."""

    text: str = field(repr=False)
    encoding: str
    warnings: tuple[str, ...] = ()


def decode(source: Source, data: bytes, encoding: str | None = None) -> Decoded:
    """Return the text of `data`, in `encoding` or in the one found.

    Raises:
        DataError: the bytes are no text, break their encoding, or hold NUL characters.
        UserError: there is no encoding of that name.
    """
    for magic, what in _NOT_TEXT:
        if data.startswith(magic):
            message = f"its name says text but it {what}; give it its true ending or export it as text"
            raise source.error(message, "content matches ending")
    if encoding is not None:
        decoded = Decoded(_strict(source, data, _known(encoding)), _known(encoding))
    else:
        decoded = _detected(source, data)
    _refuse_nul(source, decoded.text)
    return decoded


def detect_encoding(data: bytes) -> str | None:
    """Return the likely encoding of bytes that are not UTF-8, or None when nothing fits."""
    from charset_normalizer import from_bytes

    sample = data[:SAMPLE_BYTES]
    matches = from_bytes(sample)
    best = matches.best()
    if best is None:
        return None
    if "cp1252" in best.could_be_from_charset:  # the same text under both names
        return "cp1252"
    western = next((m for m in matches if m.encoding == "cp1252"), None)
    # Single-byte code pages often tie on short texts; among equals the Western one is by far the commonest.
    if western is not None and western.chaos <= best.chaos + 0.02 and western.coherence >= best.coherence - 0.05:
        return "cp1252"
    return str(best.encoding)


def _detected(source: Source, data: bytes) -> Decoded:
    for mark, name in _MARKS:
        if data.startswith(mark):
            return Decoded(_strict(source, data, name), name.removesuffix("-sig"))
    wide = _wide_without_mark(data)
    if wide:
        return Decoded(_strict(source, data, wide), wide, (f"Read as {wide.upper()} (no byte-order mark).",))
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
    guess = detect_encoding(data)
    if guess is None or b"\x00" in data[:SAMPLE_BYTES]:
        message = "this is not text in any known encoding; save it as UTF-8, or choose its encoding"
        raise source.error(message, "known encoding", row=line)
    text = _strict(source, data, guess)
    warning = (
        f"The file is not UTF-8 (first seen in row {line}) and was read as {guess}. Check accented letters in "
        "the preview; if they look wrong, choose another encoding."
    )
    return Decoded(text, guess, (warning,))


def _wide_without_mark(data: bytes) -> str | None:
    """Return the UTF-16 order that many zero bytes at even or odd places reveal."""
    sample = data[: 4096 - len(data[:4096]) % 2]
    if len(sample) < 4 or len(data) % 2:
        return None
    half = len(sample) // 2
    even, odd = sample[0::2].count(0) / half, sample[1::2].count(0) / half
    if odd > 0.6 and even < 0.05:
        return "utf-16-le"
    return "utf-16-be" if even > 0.6 and odd < 0.05 else None


def _strict(source: Source, data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"the bytes are not valid {encoding}; choose another encoding, or save the file as UTF-8"
        raise source.error(message, "valid encoding", row=line) from None
    except UnicodeError:
        message = f"the bytes are not valid {encoding}; choose another encoding, or save the file as UTF-8"
        raise source.error(message, "valid encoding") from None


def _known(encoding: str) -> str:
    try:
        info = codecs.lookup(encoding)
    except (LookupError, ValueError):
        info = None
    if info is None or not getattr(info, "_is_text_encoding", True):
        raise UserError(f"encoding: no encoding is called {encoding!r}; use for example utf-8, cp1252 or utf-16")
    return info.name


def _refuse_nul(source: Source, text: str) -> None:
    position = text.find("\x00")
    if position >= 0:
        line = text.count("\n", 0, position) + 1
        message = "there is a NUL character, which text never holds; the file may be damaged, export it again"
        raise source.error(message, "no NUL characters", row=line)
