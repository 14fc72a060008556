"""The text of a PDF: page by page, with lines that a page's width broke joined again.

Pictures of pages hold no text here: a scanned letter gives an empty one, which the reader tells of.
"""

from __future__ import annotations

import io
import logging
import re

from pypdf import PdfReader
from pypdf.errors import FileNotDecryptedError

from engine.corpus.readers.documents.refusals import BROKEN, LARGE, LOCKED, RefusedError

MAX_PAGES = 3_000
FULL_LINE = 0.75
"""A line at least this share of the page's longest was broken by the page's width and not by its writer."""
_ITEM = re.compile(r"\s*(?:[-*•–·▪]|\d{1,3}[.)]|[a-z]\))\s")
_HYPHEN = re.compile(r"[^\W\d_]-$")


def pdf_text(data: bytes) -> str:
    """Return the text of a .pdf file, pages apart by a blank line; empty where it holds pictures alone.

    Raises:
        RefusedError: the file is locked, damaged, or has more pages than `MAX_PAGES`.
    """
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # its warnings may quote the file
    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise RefusedError(LOCKED)
        if len(reader.pages) > MAX_PAGES:
            raise RefusedError(LARGE)
        pages = [unwrapped(page.extract_text()) for page in reader.pages]
    except RefusedError:
        raise
    except FileNotDecryptedError as error:
        raise RefusedError(LOCKED) from error
    except Exception as error:
        raise RefusedError(BROKEN) from error
    return "\n\n".join(page for page in pages if page).strip()


def unwrapped(page: str) -> str:
    """Return a page's text with the lines joined that its width broke.

    A line that nearly fills the page goes on in the next one, unless that one is empty or opens an item of a list.
    A word cut by a hyphen at such an end is put together where the rest begins with a small letter.
    """
    lines = [line.rstrip() for line in page.replace("\x00", "").splitlines()]
    longest = max(map(len, lines), default=0)
    joined: list[str] = []
    goes_on = False
    for line in lines:
        text = line.strip()
        if not (goes_on and text) or _ITEM.match(line):
            joined.append(text)
        elif _HYPHEN.search(joined[-1]) and text[0].islower():
            joined[-1] = joined[-1][:-1] + text
        else:
            joined[-1] = f"{joined[-1]} {text}"
        goes_on = bool(text) and len(line) >= FULL_LINE * longest and longest > 0
    return "\n".join(joined).strip()
