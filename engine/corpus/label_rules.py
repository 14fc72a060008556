"""Which labels a list may hold that is to be public: few, and short enough to be names of classes.

A label is written by whoever filled in the file. A column of diagnoses or remarks read as labels would hand sentences
about single people to every prompt and every output.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from engine.errors import UserError

LONGEST_LABEL = 60  # characters
MOST_LABELS = 50
_LONGEST = 200  # characters of any label, as the reader of a file has it


def checked_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Return a list of labels without blanks around them, each once, sorted.

    Raises:
        UserError: it is empty, or a label is empty or longer than 200 characters.
    """
    found = sorted({label.strip() for label in labels})
    if not found:
        raise UserError("labels: the list is empty; name at least one label")
    if not all(0 < len(label) <= _LONGEST for label in found):
        raise UserError(f"labels: each must have 1 to {_LONGEST} characters")
    return tuple(found)


def unusual(labels: Collection[str]) -> str:
    """Return why a list does not look like names of classes, or an empty string."""
    long = sum(len(label) > LONGEST_LABEL for label in labels)
    if long:
        which = "one of them is" if long == 1 else f"{long:,} of them are"
        return f"Of the {len(labels):,} labels {which} longer than {LONGEST_LABEL} characters."
    return f"There are {len(labels):,} labels, more than {MOST_LABELS}." if len(labels) > MOST_LABELS else ""
