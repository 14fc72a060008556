"""Which labels a list may hold that is to be public: few, and short enough to be names of classes.

A label is written by whoever filled in the file. A column of diagnoses or remarks read as labels would hand sentences
about single people to every prompt and every output, and a label that one person alone holds tells of that person
that they are in the file, however short it is.

What is checked here reads private rows: which labels occur, and how many people hold each. That is no part of any run.
A declaration is an act of a person in front of the screen, who has the file and answers for the list; the answer
("two of these are held by fewer than three") goes to that person and nowhere else. A run never asks these questions:
it gets the list as it was declared, or none, so that neighbouring corpora with equal declarations give equal plans,
requests and refusals. The number three catches slips; it proves nothing. What a list costs where nobody can answer for
it is a noisy threshold (`engine.dp.noise.label_list`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from engine.errors import UserError

LONGEST_LABEL = 60  # characters
MOST_LABELS = 50
FEWEST_HOLDERS = 3  # people a label must have before a list taken from the file may hold it without a word
_STEPS = ((1, "nobody"), (FEWEST_HOLDERS, f"fewer than {FEWEST_HOLDERS}"), (10, "3 to 9"), (100, "10 to 99"))
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


def label_holders(labels: Sequence[str | None], sources: Sequence[str | None]) -> dict[str, int]:
    """Return label -> people who hold it: distinct sources, and each record without a source as one of its own.

    Sources count as people under the unit "record" too: a label that one patient's twenty records share is that
    patient's label.
    """
    named: dict[str, set[str]] = {}
    alone: dict[str, int] = {}
    for label, source in zip(labels, sources, strict=True):
        if label and source is not None:
            named.setdefault(label, set()).add(source)
        elif label:
            alone[label] = alone.get(label, 0) + 1
    return {label: len(named.get(label, ())) + alone.get(label, 0) for label in {**named, **alone}}


def rare(labels: Iterable[str], holders: Mapping[str, int]) -> tuple[str, ...]:
    """Return the labels of a list that one or two people hold."""
    return tuple(label for label in labels if 0 < holders.get(label, 0) < FEWEST_HOLDERS)


def holders_in_words(holders: int) -> str:
    """Return how many people hold a label in steps: nobody, fewer than 3, 3 to 9, 10 to 99, 100 or more."""
    return next((words for below, words in _STEPS if holders < below), "100 or more")
