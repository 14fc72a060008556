"""Find out how bytes became text: byte-order mark, strict UTF-8, then statistics.

Detection is a guess and says so; the custodian may name the encoding instead.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field

from engine.corpus.readers.base import Source
from engine.errors import UserError

CHECK_LETTERS = "Check accented letters"  # begins advice that helps before the import alone
SAMPLE_BYTES = 256 * 1024
_MARKS = (  # the four-byte marks first: UTF-32's begins like UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WESTERN_MARKS = "€‚„…‘’“”•–—™¡¿£§©«»®°±²½·\u00a0\u00ad"
_PLAUSIBLE = (
    "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "koi8_r", "koi8_u",
    "iso8859_2", "iso8859_5", "iso8859_7", "iso8859_9", "iso8859_15", "cp437", "cp850", "mac_roman", "cp932", "euc_jp",
    "iso2022_jp", "gb18030", "big5", "euc_kr", "cp949", "tis_620",
)  # fmt: skip
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
    """Return the likely encoding of bytes that are not UTF-8, or None when nothing fits.

    Mostly plain letters with a few Western accents or typographic marks are Windows-1252, which
    statistics cannot tell from rarer code pages on short texts; all else is left to statistics.
    """
    from charset_normalizer import from_bytes

    sample = data[:SAMPLE_BYTES]
    if _is_western(sample):
        return "cp1252"
    best = from_bytes(sample, cp_isolation=list(_PLAUSIBLE)).best()
    if best is None:
        return None
    # Several code pages may give the very same text; name the commonest.
    return "cp1252" if "cp1252" in best.could_be_from_charset else str(best.encoding)


def _is_western(sample: bytes) -> bool:
    high = sum(byte >= 0x80 for byte in sample)
    if not high or high > 0.12 * len(sample):
        return False
    try:
        text = sample.decode("cp1252")
    except UnicodeDecodeError:
        return False
    return all(character.isalpha() or character in _WESTERN_MARKS for character in text if ord(character) >= 0x80)


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
        f"The file is not UTF-8 (first seen in row {line}) and was read as {guess}. {CHECK_LETTERS} in "
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
