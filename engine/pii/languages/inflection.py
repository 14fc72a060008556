"""Put a name into a case and find the case of a name, by a pack's table of endings.

Only what a table says is known: the genitive of a word, by whole word or by ending, and the endings that the other
cases add to it, or put in the place of the first form's. A form that the table cannot have made is taken as it is
written, and a word of which the table says nothing stays in its first form.

Privacy posture: works on single words in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

NOMINATIVE, GENITIVE, PARTITIVE = "nom", "gen", "par"
INNER, OUTER = frozenset({"ine", "ela", "ill"}), frozenset({"all", "ade", "abl"})
VOWELS = frozenset("aeiouyõäöüåéèáíóúà")
LIGHT = re.compile(r"[aeiouyõäöü].*[^aeiouyõäöü][aeiouyõäöü][^aeiouyõäöü]$")
"""A word of two syllables or more whose last one is short and closed: Peeter, Margus; not Raudsepp, Jõesaar."""
SAME, UNKNOWN = "=", "?"
BACK, FRONT = frozenset("aouáóúà"), frozenset("äöyõü")


@dataclass(frozen=True)
class Inflection:
    """Case endings of one language's names.

    Attributes:
        cases: what each case adds to the genitive, or to its stem. genitives: by whole word. endings: by the end of
            a word; `=` leaves it, `?` says that the table cannot tell.
        vowel_partitive: what the partitive adds to a word that ends in a vowel, and to the genitive of one that is
            light (Peetrit; to the first form in -s, Margust); empty where there is none.
        last_word_only: of a full name, only the last word changes.
        harmony: an A in an ending is a or ä, as the word's last vowel of those kinds asks.
        direct: case to what it puts in the place of an ending of the first form.
        inner, outer, outer_names: ends of place names, and whole ones, by the local cases that they stand in.
    """

    cases: Mapping[str, str]
    genitives: Mapping[str, str] = field(default_factory=dict)
    endings: Mapping[str, str] = field(default_factory=dict)
    vowel_partitive: str = ""
    last_word_only: bool = True
    harmony: bool = False
    direct: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    inner: tuple[str, ...] = ()
    outer: tuple[str, ...] = ()
    outer_names: frozenset[str] = frozenset()

    def genitive(self, word: str) -> str:
        """Return the genitive, or its stem, of a word written in its first form; the word where it cannot be told."""
        return self._genitive(word) or word

    def knows(self, word: str) -> bool:
        """Return whether the table can tell the word's cases, those that it makes from the first form included."""
        return self._genitive(word) is not None and all(self._direct(word, case) for case in self.direct)

    def _genitive(self, word: str) -> str | None:
        head, dash, tail = word.rpartition("-")
        if dash:
            rest = self._genitive(tail)
            return None if rest is None else head + dash + rest
        if word in self.genitives:
            return self.genitives[word]
        return _ended(word, self.endings)

    def _direct(self, word: str, case: str) -> str | None:
        made = _ended(word, self.direct[case])
        return None if made is None else self._harmonised(made, word)

    def _harmonised(self, form: str, word: str) -> str:
        if not self.harmony or "A" not in form[1:]:
            return form
        vowel = next((c for c in reversed(word.lower()) if c in BACK | FRONT), "ä")
        return form[:1] + form[1:].replace("A", "a" if vowel in BACK else "ä")

    def inflected(self, word: str, case: str) -> str:
        """Return the word in a case; the word itself for the first form and where the table cannot tell."""
        if not word:
            return word
        if case in self.direct:
            return (self._direct(word, case) if self._genitive(word) is not None else None) or word
        if case == PARTITIVE and self.vowel_partitive and word[-1:].lower() in VOWELS:
            return word + self.vowel_partitive
        if case == PARTITIVE and self.vowel_partitive and LIGHT.search(word.lower()):
            return (word if word.endswith("s") else self.genitive(word)) + self.vowel_partitive
        if case == PARTITIVE and self.vowel_partitive:
            return self.genitive(word)
        if case == NOMINATIVE or case not in self.cases:
            return word
        stem = self._genitive(word)
        if stem is None:
            return word
        return stem + self._harmonised("-" + self.cases[case], word)[1:]

    def full_name(self, name: str, case: str) -> str:
        """Return a name of several words in a case."""
        words = name.split(" ")
        first = len(words) - 1 if self.last_word_only else 0
        return " ".join(self.inflected(w, case) if i >= first else w for i, w in enumerate(words))

    def stands_outside(self, place: str) -> bool:
        """Return whether a place takes the outer local cases (on it, not in it)."""
        return place in self.outer_names or place.lower().endswith(self.outer)

    def added(self) -> Iterator[tuple[str, str]]:
        """Yield (case, what it adds to the genitive), the longest first."""
        for case, ending in sorted(self.cases.items(), key=lambda c: -len(c[1])):
            if self.harmony and "A" in ending:
                yield case, ending.replace("A", "a")
                yield case, ending.replace("A", "ä")
            else:
                yield case, ending

    def case_of(self, form: str, words: frozenset[str] | None = None) -> tuple[str, str]:
        """Return (case, first form) of a form of a known word; without words, (case, genitive) by its ending alone.

        Args:
            form: one word as it is written.
            words: first forms that are known; a form of none of them is taken for a first form.
        """
        if words is not None:
            if form in words:
                return NOMINATIVE, form
            for case in dict.fromkeys((*self.cases, PARTITIVE, *self.direct)):
                ending = "" if case in self.direct else self.cases.get(case, "")
                if self.harmony and ending and not form.endswith((ending.replace("A", "a"), ending.replace("A", "ä"))):
                    continue
                stem = form[: len(form) - len(ending)] if ending and (self.harmony or form.endswith(ending)) else form
                for word in _candidates(stem, words, 4 if case in self.direct else 3):
                    if self.inflected(word, case) == form:
                        return case, word
            return NOMINATIVE, form
        for case, ending in self.added():
            stem = form[: len(form) - len(ending)] if ending else ""
            if ending and form.endswith(ending) and len(stem) >= 3 and stem[-1].lower() in VOWELS:
                return case, stem
        return NOMINATIVE, form


def _ended(word: str, endings: Mapping[str, str]) -> str | None:
    """Return the word with its longest listed ending changed; None where none fits or it cannot be told."""
    low = word.lower()
    for size in range(min(len(low), 12), -1, -1):
        ending = low[len(low) - size :]
        if ending in endings and (size < len(low) or size > 2):
            new = endings[ending]
            if new == UNKNOWN:
                return None
            return word if new == SAME else word[: len(low) - size] + _cased(new, word, size)
    return None


def _candidates(stem: str, words: frozenset[str], most: int) -> list[str]:
    """Return the known words from which a genitive stem may come: those that begin as it does."""
    return sorted(w for w in words if w[:2] == stem[:2] and abs(len(w) - len(stem)) <= most)


def _cased(new: str, word: str, size: int) -> str:
    """Return an ending in the case of what it replaces."""
    old = word[len(word) - size :]
    if (old.isupper() and len(old) > 1) or (not old and word.isupper() and len(word) > 1):
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new
