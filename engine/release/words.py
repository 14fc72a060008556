"""Hold words that a person typed for others to read against private text and against what was measured on it.

Privacy posture: a refusal says where something stands, never which word or number.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from engine.errors import RefusedError
from engine.release.copies import check_copies
from engine.release.numbers import private_numbers

MOST_WORDS = 8  # longest run of private words outside the records where a policy sets no smaller limit


def check_typed(given: Mapping[str, str], private: Sequence[str], statistics: Collection[float], longest: int) -> None:
    """Refuse private words and private numbers in texts that are published apart from a bundle.

    Args:
        given: texts, each under what it is, for the refusal.
        private: texts and labels of the corpus. statistics: counted or measured on it. longest: run of words allowed.

    Raises:
        RefusedError: one repeats more than `longest` words of a private record, or holds a private number.
    """
    names = list(given)
    copied = check_copies([given[name] for name in names], private, longest).texts
    if copied:
        where = names[copied[0]]
        raise RefusedError(
            f"{where[0].upper()}{where[1:]} repeats more than {longest} consecutive words of a private record; say it "
            "in other words"
        )
    check_numbers(given, statistics, ())


def check_numbers(given: Mapping[str, str], statistics: Collection[float], public: Collection[float]) -> None:
    """Refuse texts, each under what it is, that hold a number of the original.

    Raises:
        RefusedError: one does.
    """
    for where, text in given.items():
        if private_numbers(text, statistics, public):
            raise RefusedError(
                f"{where[0].upper()}{where[1:]} holds a number that was counted or measured on the original and was "
                "neither declared public nor bought with noise; leave it out"
            )
