"""Error families of the engine.

Privacy posture: a message may name a file, a row number, a parameter, a rule and the value of a
*setting*. It never carries record text, a span's surface form or an identifier from the data.
"""

from __future__ import annotations


class UnderstudyError(Exception):
    """Base of every error the engine raises on purpose."""

    exit_code = 1


class UserError(UnderstudyError):
    """The request cannot be done as asked; the message says what to change."""


class DataError(UserError):
    """The input data breaks a rule; the message names file, row and rule, never the content."""

    def __init__(self, message: str, *, file: str = "", row: int | None = None, rule: str = "") -> None:
        self.file, self.row, self.rule = file, row, rule
        where = ", ".join(p for p in (file, f"row {row}" if row is not None else "") if p)
        super().__init__(f"{where}: {message}" if where else message)


class NotFoundError(UserError):
    """A corpus, run, span or release with this id does not exist in the workspace."""


class NotAllowedError(UserError):
    """The person who signed in holds no role that allows this."""


class ReasonNeededError(UserError):
    """Text of records is shown only to somebody who said why they look at it."""


class RefusedError(UnderstudyError):
    """A gate or a budget refused the request (exit status 2 on the command line)."""

    exit_code = 2


class InternalError(UnderstudyError):
    """A rule of the program itself was broken; a defect, not the custodian's mistake."""

    exit_code = 1


class StorageError(UserError):
    """The workspace cannot be read or written (disk full, read-only, newer version)."""
