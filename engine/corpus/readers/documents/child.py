"""The process that takes text out of documents: bytes in, text or the code of a reason out, within limits.

Privacy posture: it writes to its standard output alone, opens no file and no connection, and says nothing of a
document but the code of why it was refused.

Protocol, on both sides a line of JSON and then that many bytes: `{"kind", "bytes"}` and the document;
`{"bytes"}` and its text in UTF-8, or `{"refused": code}` alone.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from typing import BinaryIO

from engine.corpus.readers.documents.docx import docx_text
from engine.corpus.readers.documents.pdf import pdf_text
from engine.corpus.readers.documents.refusals import LARGE, OUT_OF_MEMORY, SLOW, RefusedError

READ = {".docx": docx_text, ".pdf": pdf_text}
MAX_MEMORY_BYTES = 4 * 2**30
MAX_TEXT_BYTES = 16 * 2**20


def answer(kind: str, data: bytes, seconds: float) -> bytes | str:
    """Return a document's text in UTF-8, or the code of why there is none."""

    def stop(_signal: int, _frame: object) -> None:
        raise TimeoutError

    if hasattr(signal, "SIGALRM"):  # elsewhere the other side ends this process
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        text = READ[kind](data).encode("utf-8", errors="replace")
    except RefusedError as error:
        # A library may turn the alarm's own exception into one of its own on the way.
        late = isinstance(error.__cause__, TimeoutError | MemoryError | RecursionError)
        return SLOW if late else error.code
    except (TimeoutError, MemoryError, RecursionError):
        return SLOW
    finally:
        if hasattr(signal, "SIGALRM"):
            signal.setitimer(signal.ITIMER_REAL, 0)
    return text if len(text) <= MAX_TEXT_BYTES else LARGE


def serve(incoming: BinaryIO, outgoing: BinaryIO) -> None:
    """Answer documents until the other side closes."""
    while line := incoming.readline():
        asked = json.loads(line)
        found = answer(asked["kind"], incoming.read(asked["bytes"]), asked["seconds"])
        head: dict[str, str | int] = {"refused": found} if isinstance(found, str) else {"bytes": len(found)}
        outgoing.write(json.dumps(head).encode() + b"\n")
        if isinstance(found, bytes):
            outgoing.write(found)
        outgoing.flush()


def main() -> int:
    """Set the limits, answer until the other side closes, and return the exit status."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # some systems have no such limit; the alarm stays
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer)
    except MemoryError:
        return OUT_OF_MEMORY
    return 0
