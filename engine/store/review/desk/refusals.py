"""Why an act of a browser was refused: a code from this list is stored, and its sentence is told.

Privacy posture: what a browser sent may hold anything, so none of it reaches the database or an answer.
"""

from __future__ import annotations

from typing import Literal, cast

from engine.errors import NotFoundError, UserError

Code = Literal["since", "gone", "never added", "nothing", "nothing own", "outside", "there", "not possible"]
SENTENCES: dict[Code, str] = {
    "since": "somebody decided on it since; look at it again as it is now",
    "gone": "the finding or the text does not exist any more; a newer detection may have replaced it",
    "never added": "the finding that this decision is about was never added",
    "nothing": "there is nothing to take back: that act changed nothing, or was taken back before",
    "nothing own": "this page decided nothing that could be taken back",
    "outside": "the words to mark do not lie inside the text",
    "there": "a finding with this type is already there; accept that one instead",
    "not possible": "this cannot be done",
}


class Refusal(UserError):
    """An act that changes nothing; `code` says why."""

    def __init__(self, code: Code, message: str = "") -> None:
        self.code = code
        super().__init__(message or SENTENCES[code])


def code_of(error: UserError) -> Code:
    """Return the code of what an act raised."""
    if isinstance(error, Refusal):
        return error.code
    return "gone" if isinstance(error, NotFoundError) else "not possible"


def sentence(code: str | None) -> str:
    """Return what is told; empty where nothing was refused, and general words for a code of another version."""
    return "" if not code else SENTENCES.get(cast("Code", code), SENTENCES["not possible"])
