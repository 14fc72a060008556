"""Plain text with several texts in it: apart by headings `=== NAME ===`, by lines of dashes, or by blank lines."""

from __future__ import annotations

import re

HEADING = re.compile(r"^={3,}[ \t]*(?P<name>[\w.:-]{0,80})[ \t]*={0,}[ \t]*$", re.MULTILINE)
_RULE = re.compile(r"^[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)
_BLANK = re.compile(r"\n[ \t]*\n")


def blocks(text: str) -> list[tuple[str, str]]:
    """Return (prompt's name or empty, text) of each block; text before the first heading is left out."""
    body = text.replace("\r\n", "\n").replace("\r", "\n")
    headings = list(HEADING.finditer(body))
    if headings:
        ends = [*(one.start() for one in headings[1:]), len(body)]
        found = [(one["name"], body[one.end() : end]) for one, end in zip(headings, ends, strict=True)]
    else:
        parts = _RULE.split(body) if _RULE.search(body) else _BLANK.split(body)
        found = [("", part) for part in parts]
    return [(name, part.strip()) for name, part in found if part.strip()]
