"""Why a document gives no text: one code a reason, and the sentence a custodian reads."""

from __future__ import annotations

LOCKED, BROKEN, LARGE, SLOW, CRASHED = "locked", "broken", "large", "slow", "crashed"
OUT_OF_MEMORY = 3  # exit status of the process that reads documents

SENTENCES = {
    LOCKED: "it is protected by a password; save it without one",
    BROKEN: "it is damaged or not of the kind its name says; open it and save it again",
    LARGE: "it unpacks to far more than a document does; save its text as .txt",
    CRASHED: "the program that reads it broke down on it; save its text as .txt",
    SLOW: "its text could not be taken out within the limits of time and memory; save its text as .txt",
}


class RefusedError(Exception):
    """A document that gives no text; its one argument is the code of the reason."""

    @property
    def code(self) -> str:
        """Return the code of the reason."""
        return str(self.args[0])
