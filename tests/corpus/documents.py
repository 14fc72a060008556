"""Small documents made on the spot: Word files with the library, PDF files by hand."""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence

from docx import Document


def word(*paragraphs: str, header: str = "", rows: Sequence[Sequence[str]] = ()) -> bytes:
    """Return a .docx file with these paragraphs, then a table of these rows."""
    document = Document()
    if header:
        document.sections[0].header.paragraphs[0].text = header
    for text in paragraphs:
        document.add_paragraph(text)
    if rows:
        table = document.add_table(len(rows), len(rows[0]))
        for row, cells in zip(table.rows, rows, strict=True):
            for cell, text in zip(row.cells, cells, strict=True):
                cell.text = text
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def pdf(*pages: Sequence[str], stream: bytes | None = None) -> bytes:
    """Return a .pdf file with one page a list of lines (or, instead, the same content stream on one page)."""
    contents = [stream] if stream is not None else [_content(lines) for lines in pages]
    font = 3 + 2 * len(contents)
    kids = " ".join(f"{3 + 2 * i} 0 R" for i in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>".encode(),
    ]
    for i, content in enumerate(contents):
        page = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {4 + 2 * i} 0 R "
            f"/Resources << /Font << /F1 {font} 0 R >> >> >>"
        )
        packed = zlib.compress(content)
        body = f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode() + packed + b"\nendstream"
        objects += [page.encode(), body]
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>")
    out, places = b"%PDF-1.4\n", []
    for number, item in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + item + b"\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    tail = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + head.encode() + tail.encode()


def _content(lines: Sequence[str]) -> bytes:
    shown = b"BT /F1 11 Tf 14 TL 50 740 Td "
    for line in lines:
        text = line.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
        shown += b"(" + text + b") Tj T* "
    return shown + b"ET"
