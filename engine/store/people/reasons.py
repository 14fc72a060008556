"""Why people look at text of records: reasons to choose from, and typed ones held against private text.

A reason stands in the audit log, and the log leaves: with its exports, and for whoever audits it. So a typed one is
refused where it repeats a run of words of a private record, holds what identifies somebody directly, or names a record
or a person by the number that their file gives them.

Privacy posture: the refusal says that a reason holds such words, never which.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from engine.errors import RefusedError
from engine.store.records import read_table
from engine.store.review.spans import accepted_spans
from engine.store.session import Session

STANDARD = (
    "Review of what identifies people",
    "Check of outputs before a release",
    "A question of somebody whom the text is about",
)
SHORTEST_ID = 4  # letters and digits; a shorter number stands in every other sentence
LONGEST_ID = 6  # parts between blanks and signs
_WORD = re.compile(r"[^\W_]+")


def check_reason(session: Session, corpus_id: str, reason: str) -> None:
    """Refuse a typed reason that holds private text of a corpus.

    Raises:
        RefusedError: it does.
    """
    from engine.release.card.words import MOST_WORDS, check_typed, check_values

    if reason in STANDARD:
        return
    given = {"the reason": reason}
    frame = read_table(session.folder.records(corpus_id), ["record_id", "source_id", "text"])
    check_ids(reason, [*frame["record_id"].dropna(), *frame["source_id"].dropna()])
    texts = dict(zip(frame["record_id"], frame["text"], strict=True))
    check_typed(given, list(texts.values()), (), MOST_WORDS)
    with session.db.read() as connection:
        found = accepted_spans(connection, corpus_id)
    found = found[found["identifier_type"] == "direct"]
    places = zip(found["record_id"], found["start"], found["end"], found["label"], strict=True)
    check_values(given, {(texts[record][start:end], str(label)) for record, start, end, label in places})


def check_ids(reason: str, ids: Collection[object]) -> None:
    """Refuse a reason that holds an id of a record or a person, whatever its case and the signs around it.

    Raises:
        RefusedError: it does.
    """
    known = {_bare(str(one)) for one in ids}
    words = [_bare(word) for word in _WORD.findall(reason)]
    runs = {"".join(words[at : at + n]) for at in range(len(words)) for n in range(1, LONGEST_ID + 1)}
    if any(len(one) >= SHORTEST_ID and one in known for one in runs):
        raise RefusedError("The reason holds the number of a record or a person in the file; say it without")


def _bare(word: str) -> str:
    """Return a word's letters and digits as they are compared."""
    return "".join(c for c in word.casefold() if c.isalnum())
