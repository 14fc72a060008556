"""The text of a Word document: headers, paragraphs and tables in reading order, then footers and notes.

Read from the document's own elements rather than from python-docx's `paragraph.text`, which leaves out what was
inserted while changes were tracked, text boxes and content controls: words a reader sees, and so words that may name
somebody. What was deleted while changes were tracked is not text any more; comments are not part of the letter.
Source: ECMA-376, part 1, sections 17.3 (paragraphs), 17.4 (tables), 17.13.5 (tracked changes).
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

from docx import Document
from docx.document import Document as OpenDocument
from docx.oxml.ns import nsmap
from lxml.etree import _Element

from engine.corpus.readers.documents.refusals import BROKEN, LARGE, LOCKED, RefusedError

MAX_UNPACKED_BYTES = 512 * 2**20
_W = f"{{{nsmap['w']}}}"
_SKIPPED = frozenset({f"{_W}del", f"{_W}moveFrom", f"{_W}instrText", f"{_W}delText"})
_WRAPPERS = frozenset(f"{_W}{name}" for name in ("sdt", "sdtContent", "ins", "customXml", "smartTag", "moveTo"))
_BREAKS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_NOTES = ("/footnotes", "/endnotes")
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0"  # an encrypted .docx is wrapped in one


def docx_text(data: bytes) -> str:
    """Return the text of a .docx file, a paragraph a line, cells of a table row apart by tabs.

    Raises:
        RefusedError: the file is locked, damaged, or unpacks to more than a document does.
    """
    if data.startswith(_COMPOUND_FILE):
        raise RefusedError(LOCKED)
    _check_size(data)
    try:
        document = Document(io.BytesIO(data))
    except Exception as error:
        raise RefusedError(BROKEN) from error
    parts = [*_margins(document, "header"), *_lines(document.element.body), *_margins(document, "footer")]
    for relation in document.part.rels.values():
        if relation.reltype.endswith(_NOTES):
            from lxml import etree

            notes = etree.fromstring(relation.target_part.blob, etree.XMLParser(resolve_entities=False))
            parts.extend(_lines(notes))
    return "\n".join(parts).strip()


def _check_size(data: bytes) -> None:
    """Refuse a bomb by what the archive says of itself; what it does not say, the process' memory limit ends."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(info.file_size for info in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise RefusedError(BROKEN) from error
    if size > MAX_UNPACKED_BYTES:
        raise RefusedError(LARGE)


def _margins(document: OpenDocument, kind: str) -> list[str]:
    """Return the lines of all headers or footers, each text once: a letter repeats them on every page."""
    names = (kind, f"first_page_{kind}", f"even_page_{kind}")
    found: dict[str, None] = {}
    for section in document.sections:
        for name in names:
            margin = getattr(section, name)
            if margin.is_linked_to_previous:  # it has none of its own
                continue
            text = "\n".join(_lines(margin._element)).strip()
            if text:
                found[text] = None
    return list(found)


def _lines(parent: _Element) -> Iterator[str]:
    """Yield the lines of a body, a cell, a header or a note."""
    for child in parent.iterchildren():
        if child.tag == f"{_W}p":
            yield _paragraph(child)
        elif child.tag == f"{_W}tbl":
            for row in _children(child, f"{_W}tr"):
                yield "\t".join(" ".join(filter(None, _lines(cell))) for cell in _children(row, f"{_W}tc"))
        elif child.tag not in _SKIPPED and isinstance(child.tag, str):
            yield from _lines(child)  # content controls, notes, inserted blocks


def _children(parent: _Element, tag: str) -> Iterator[_Element]:
    """Yield the rows of a table, or the cells of a row, also those that a content control or a mark wraps."""
    for child in parent.iterchildren():
        if child.tag == tag:
            yield child
        elif isinstance(child.tag, str) and child.tag not in _SKIPPED and child.tag in _WRAPPERS:
            yield from _children(child, tag)


def _paragraph(paragraph: _Element) -> str:
    """Return what a reader sees of a paragraph; a text box in it stands on lines of its own."""
    pieces: list[str] = []
    waiting = [iter(paragraph)]
    while waiting:
        child = next(waiting[-1], None)
        if child is None:
            waiting.pop()
            continue
        if not isinstance(child.tag, str) or child.tag in _SKIPPED or child.tag.endswith("}Fallback"):
            continue  # a fallback repeats what stands beside it, for older programs
        if child.tag == f"{_W}t":
            pieces.append((child.text or "") + "".join(node.tail or "" for node in child))  # an entity stays unread
        elif child.tag in _BREAKS and child.getparent().tag == f"{_W}r":  # a `tab` elsewhere is a tab stop
            pieces.append(_BREAKS[child.tag])
        else:
            if child.tag == f"{_W}p" and pieces:
                pieces.append("\n")
            waiting.append(iter(child))
    return "".join(pieces).rstrip()
