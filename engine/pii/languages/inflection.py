"""Put a name into a case and find the case of a name, by a pack's table of endings.

Only what a table says is known: the genitive of a word, by whole word or by ending, and the endings that the other
cases add to it. A form that the table cannot have made is taken as it is written.

Privacy posture: works on single words in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

NOMINATIVE, GENITIVE, PARTITIVE = "nom", "gen", "par"
VOWELS = frozenset("aeiouyõäöüåéèáíóúà")


@dataclass(frozen=True)
class Inflection:
    """Case endings of one language's names.

    Attributes:
        cases: what each case adds to the genitive. genitives: by whole word. endings: by the end of a word.
        vowel_partitive: what the partitive adds to a word that ends in a vowel, empty where there is none.
        last_word_only: of a full name, only the last word changes.
    """

    cases: Mapping[str, str]
    genitives: Mapping[str, str] = field(default_factory=dict)
    endings: Mapping[str, str] = field(default_factory=dict)
    vowel_partitive: str = ""
    last_word_only: bool = True

    def genitive(self, word: str) -> str:
        """Return the genitive of a word written in its first form."""
        head, dash, tail = word.rpartition("-")
        if dash:
            return head + dash + self.genitive(tail)
        if word in self.genitives:
            return self.genitives[word]
        low = word.lower()
        for size in range(min(len(low), 12), -1, -1):
            ending = low[len(low) - size :]
            if ending in self.endings and (size < len(low) or size > 2):
                new = self.endings[ending]
                return word if new == "=" else _like(word, len(low) - size) + _cased(new, word, size)
        return word

    def inflected(self, word: str, case: str) -> str:
        """Return the word in a case; the word itself for the first form and for a case the table has not."""
        if case == PARTITIVE and self.vowel_partitive and word[-1:].lower() in VOWELS:
            return word + self.vowel_partitive
        if case == PARTITIVE and self.vowel_partitive:
            return self.genitive(word)
        if case == NOMINATIVE or case not in self.cases or not word:
            return word
        return self.genitive(word) + self.cases[case]

    def full_name(self, name: str, case: str) -> str:
        """Return a name of several words in a case."""
        words = name.split(" ")
        first = len(words) - 1 if self.last_word_only else 0
        return " ".join(self.inflected(w, case) if i >= first else w for i, w in enumerate(words))

    def case_of(self, form: str, words: frozenset[str] | None = None) -> tuple[str, str]:
        """Return (case, first form) of a form of a known word; without words, (case, genitive) by its ending alone.

        Args:
            form: one word as it is written.
            words: first forms that are known; a form of none of them is taken for a first form.
        """
        if words is not None:
            if form in words:
                return NOMINATIVE, form
            for case in (*self.cases, PARTITIVE):
                ending = self.cases.get(case, "")
                stem = form[: len(form) - len(ending)] if ending and form.endswith(ending) else form
                for word in _candidates(stem, words):
                    if self.inflected(word, case) == form:
                        return case, word
            return NOMINATIVE, form
        for case, ending in sorted(self.cases.items(), key=lambda c: -len(c[1])):
            stem = form[: len(form) - len(ending)] if ending else ""
            if ending and form.endswith(ending) and len(stem) >= 3 and stem[-1].lower() in VOWELS:
                return case, stem
        return NOMINATIVE, form


def _candidates(stem: str, words: frozenset[str]) -> list[str]:
    """Return the known words from which a genitive stem may come: those that begin as it does."""
    return sorted(w for w in words if w[:2] == stem[:2] and abs(len(w) - len(stem)) <= 3)


def _like(word: str, size: int) -> str:
    return word[:size]


def _cased(new: str, word: str, size: int) -> str:
    """Return an ending in the case of what it replaces."""
    old = word[len(word) - size :]
    if (old.isupper() and len(old) > 1) or (not old and word.isupper() and len(word) > 1):
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new
