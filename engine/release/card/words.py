"""Hold words that a person typed for others to read against private text and against what was measured on it.

Privacy posture: a refusal says where something stands, never which word or number.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from engine.corpus.text.folding import spellings
from engine.corpus.text.private_values import PrivateValues, parts_of
from engine.errors import RefusedError
from engine.models.builtin.everyday import everyday_words
from engine.pii.private_forms import private_forms
from engine.release.card.numbers import private_numbers
from engine.release.copies import check_copies

MOST_WORDS = 8  # longest run of private words outside the records where a policy sets no smaller limit
_GRAM = 3  # letters in a row that a value, also a misspelt one, has in common with where it is found


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


def check_values(given: Mapping[str, str], values: Collection[tuple[str, str]]) -> None:
    """Refuse texts, each under what it is, that hold a private value in any form in which it counts.

    Args:
        values: private values with their labels, as they stand in the records.

    Raises:
        RefusedError: one does.
    """
    for where, text in given.items():
        run_together = "".join(part.key for part in parts_of(text))
        grams = {run_together[at : at + _GRAM] for at in range(len(run_together))}
        figures = any(c.isdigit() for c in run_together)
        likely, names = set[str](), set[str]()
        for value, label in values:
            forms = private_forms(value, label)
            for form, kept in (*((one, likely) for one in forms.values), *((one, names) for one in forms.names)):
                # only what shares letters in a row can be found; dates and numbers are written in many ways
                if (figures and any(c.isdigit() for c in form)) or any(_shares(key, grams) for key in spellings(form)):
                    kept.add(form)
        if PrivateValues(sorted(likely), sorted(names), everyday_words()).find(text):
            raise RefusedError(
                f"{where[0].upper()}{where[1:]} holds what identifies somebody in the original; say it without"
            )


def _shares(key: str, grams: Collection[str]) -> bool:
    """Return whether a value's letters share some in a row with a text, or are too few to tell."""
    return len(key) < _GRAM or any(key[at : at + _GRAM] in grams for at in range(len(key) - _GRAM + 1))


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
