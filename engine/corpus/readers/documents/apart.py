"""Ask the process that takes text out of documents, and start another where it was lost.

Privacy posture: a document goes through a pipe and its text comes back through one; nothing is written anywhere, and
a message names a file by its number.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from types import TracebackType
from typing import Self

from engine.assets import ROOT
from engine.corpus.readers.base import Source
from engine.corpus.readers.documents.refusals import CRASHED, OUT_OF_MEMORY, SENTENCES, SLOW

DOCUMENTS = (".docx", ".pdf")
SECONDS = 60.0
"""Time for one document; a letter takes a few hundredths of a second, a book of a thousand pages some twenty."""
PREVIEWED = 25
"""Documents that a preview reads: each costs about what a thousand lines of a table do."""

START = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from engine.corpus.readers.documents.child import main; raise SystemExit(main())"
)
KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
"""Variables that Python itself may need to start: where its libraries lie. No secret of a server stands in them."""
WAIT_SECONDS = 5.0  # for a process that ends to be gone
OVER_LIMITS = (OUT_OF_MEMORY, -9)  # its own word, and SIGKILL: what a system short of memory sends


class DocumentReader:
    """Take the text out of documents, one after the other, in a process of their own."""

    def __init__(self, source: Source, seconds: float = SECONDS) -> None:
        self._source = source
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._late = False
        self.without_text = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def text(self, suffix: str, data: bytes, number: int) -> bytes:
        """Return the text of a document in UTF-8, empty where it holds none.

        Args:
            suffix: its kind, one of `DOCUMENTS`. data: its bytes. number: its place, for messages.

        Raises:
            DataError: the document is locked, damaged, or takes more time or memory than it may.
        """
        found = self._ask(suffix, data)
        if isinstance(found, str):
            message = f"this {suffix} file gives no text: {SENTENCES[found]}"
            raise self._source.error(message, f"readable document ({found})", row=number)
        self.without_text += not found.strip()
        return found

    def warnings(self) -> list[str]:
        """Return what the custodian should know of the documents read so far."""
        if not self.without_text:
            return []
        return [
            f"{self.without_text} documents hold no text; scanned pages are pictures. Recognise their text (OCR) and "
            "import them again, or their records stay empty."
        ]

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _ask(self, suffix: str, data: bytes) -> bytes | str:
        process = self._process if self._process is not None and self._process.poll() is None else self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        self._late = False
        late = threading.Timer(self._seconds + 10, self._end_late, [process])  # where the alarm inside cannot end it
        late.start()
        try:
            head = json.dumps({"kind": suffix, "bytes": len(data), "seconds": self._seconds}).encode()
            process.stdin.write(head + b"\n" + data)
            process.stdin.flush()
            line = process.stdout.readline()
            if not line:
                return self._ended()
            answered = json.loads(line)
            if "refused" in answered:
                return str(answered["refused"])
            text = process.stdout.read(answered["bytes"])
            return text if len(text) == answered["bytes"] else self._ended()
        except (BrokenPipeError, OSError):
            return self._ended()
        except (ValueError, KeyError, TypeError):  # what it said was not of the protocol: its memory was overwritten
            self.close()
            return CRASHED
        finally:
            late.cancel()

    def _end_late(self, process: subprocess.Popen[bytes]) -> None:
        self._late = True
        process.kill()

    def _ended(self) -> str:
        """Return why the process is gone: it was ended over its limits, or it broke down."""
        assert self._process is not None
        try:
            status = self._process.wait(timeout=WAIT_SECONDS)
        except subprocess.TimeoutExpired:  # it closed its pipes and runs on
            self.close()
            return CRASHED
        return SLOW if self._late or status in OVER_LIMITS else CRASHED

    def _start(self) -> subprocess.Popen[bytes]:
        self.close()
        self._process = subprocess.Popen(
            # isolated: neither the folder it starts in nor a variable says where its modules come from
            [sys.executable, "-I", "-c", START, *_places()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )
        return self._process


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in KEPT if name in os.environ}


def _places() -> list[str]:
    """Return where this process takes its modules from, without the folder that it happens to stand in."""
    here = os.getcwd()
    return [str(ROOT), *(place for place in sys.path if os.path.isabs(place) and place not in (here, str(ROOT)))]
