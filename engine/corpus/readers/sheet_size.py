"""How large a worksheet says it is, read from its XML while it is unpacked and before any program lays it out.

A workbook of a few kilobytes may name row two billion, or fill each row to the last column: laying out the empty cells
between would take hours. Row and column numbers are checked here, and the widest column that holds a value is kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.corpus.readers.base import MAX_COLUMNS, Source, check_cells

LAST_ROW = 1_048_576
LONGEST_TAG = 4_096  # bytes
_ROW = re.compile(rb"<(?:\w+:)?row\s[^<>]*?\br\s*=\s*[\"']([^\"'<>]*)[\"']")
_CELL = re.compile(rb"<(?:\w+:)?c(?:\s[^<>]*?)?(/?)>")
_PLACE = re.compile(rb"\br\s*=\s*[\"']([A-Za-z]{1,3})\d{1,7}[\"']")
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>/]")


@dataclass
class SheetSize:
    """Counts one worksheet's cells chunk by chunk; `widest` is the last column with a value, at least 1."""

    source: Source
    widest: int = 1
    cells: int = 0
    formulas: bool = False
    _rest: bytes = b""

    def add(self, chunk: bytes) -> None:
        """Look at the next bytes; raise where the sheet is larger than a spreadsheet can be."""
        text = self._rest + chunk
        cut = text.rfind(b"<")
        if cut < 0 or len(text) - cut > LONGEST_TAG:
            cut = len(text)
        self._look(text[:cut])
        self._rest = text[cut:]

    def end(self) -> None:
        """Look at what is left."""
        self._look(self._rest)
        self._rest = b""

    def _look(self, text: bytes) -> None:
        for found in _ROW.findall(text):
            if not found.isdigit() or len(found) > 7 or int(found) > LAST_ROW:
                message = f"a row has a number beyond {LAST_ROW:,}, the last one a spreadsheet has; save it again"
                raise self.source.error(message, "row numbers")
        for found in _CELL.finditer(text):
            self.cells += 1
            if found.group(1):  # it is empty, and only has a style
                continue
            place = _PLACE.search(found.group(0))
            # A cell without a place follows the one before it; such sheets are laid out as wide as tables may be.
            self.widest = max(self.widest, _column(place.group(1)) if place else MAX_COLUMNS + 1)
        check_cells(self.source, self.cells)
        self.formulas = self.formulas or _FORMULA.search(text) is not None


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number
