"""Tell the language of each record: English unless the record itself gives evidence of another.

Words that a language uses everywhere (function words) and the classifier of `engine.corpus.text.language` must agree;
a record too short to tell follows the corpus. So an English record stays with the English tagger and its rules.

Privacy posture: works on texts in memory; a code a record is all that leaves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import regex

from engine.corpus.text.language import told_language
from engine.pii.detect.plain.function_words import FUNCTION_WORDS
from engine.pii.languages.pack import codes, pack

ENGLISH = "en"
CHARACTERS = 1_500  # of a record that are looked at
MIN_WORDS, MIN_LETTERS = 5, 24
LEAST_HITS = 2
FOREIGN = 3  # words that can be the other language's, for each that is English alone
ODD = 0.25  # share of function words that outweighs a classifier which names a language without a pack
FEW = 6  # words, of which one with a letter that English has not tells the language
PARTICLES = frozenset(
    "de la del los las el y e i da do dos das di du des le van von vom der den die zu zur ter af yo".split()
)
"""Words inside names of people, which tell where a family came from and not what language a note is in; and "82 yo"."""
PREVAILS = 0.6  # share of the told letters from which a corpus' language decides for records too short to tell
WORD = regex.compile(r"[\p{L}\p{M}]+")


@lru_cache(maxsize=1)
def _function_words() -> dict[str, frozenset[str]]:
    """Return each language's function words without those that English has too, or that names of people hold."""
    return {code: pack(code).function_words - FUNCTION_WORDS - PARTICLES for code in codes()}


def told(text: str) -> str | None:
    """Return the language of one text, None where it is too short to tell."""
    words = [w.lower() for w in WORD.findall(text[:CHARACTERS])]
    if len(words) < MIN_WORDS or sum(map(len, words)) < MIN_LETTERS:
        return None
    spoken = [w for w in words if w in FUNCTION_WORDS]
    english = len(spoken)
    hits = {code: sum(w in own for w in words) for code, own in _function_words().items()}
    best = max(hits, key=hits.__getitem__, default=ENGLISH)
    most = hits.get(best, 0)
    if (english >= most and english >= LEAST_HITS) or (not most and english):
        return _other_language(words, spoken, hits) or ENGLISH
    guessed = told_language(" ".join(words))
    if guessed == ENGLISH:
        return ENGLISH
    if guessed in hits and not any(len(w) > 1 for w in spoken) and _has_letters(words):
        return guessed  # "Hageja Sander Mägi nõuab": no English word, letters that English has not
    if most and hits.get(guessed) == most:
        return guessed
    if guessed not in hits and most < max(LEAST_HITS, ODD * len(words)):  # Danish is no Swedish, Polish no Portuguese
        return None
    if most >= LEAST_HITS and hits.get(guessed, 0) < most / 2:
        return best
    return guessed if hits.get(guessed) else None


def _other_language(words: list[str], spoken: list[str], hits: dict[str, int]) -> str | None:
    """Return the language that a record of English-looking words is in, if the classifier says so too.

    Estonian and Finnish "on" or Portuguese "a", "as", "do" are function words of both. Nearly all of the record's must
    be the other language's; where none is its own alone, a letter that English has not must speak for it too.
    """
    accented, guessed = not all(w.isascii() for w in words), told_language(" ".join(words))
    for code, own in sorted(hits.items(), key=lambda h: -h[1]):
        shared = sum(w in pack(code).function_words for w in spoken)
        only_english = sum(len(w) > 1 for w in spoken) - shared
        if guessed == code and FOREIGN * only_english <= own + shared and (own or (accented and shared)):
            return code
    return None


def _has_letters(words: list[str]) -> bool:
    """Return whether letters that English has not stand in more than one word, or in one of few: names have them."""
    accented = {w for w in words if not w.isascii()}
    return len(accented) > 1 or FEW * len(accented) >= len(words)


def languages_of(texts: Sequence[str], setting: str = "auto") -> list[str]:
    """Return the language of every record of a corpus, in their order.

    Args:
        texts: all records of the corpus.
        setting: `auto`, or the code that was set for all of them.
    """
    if setting != "auto":
        return [setting] * len(texts)
    found = [told(text) for text in texts]
    rest = prevailing(letters_of(texts, found))
    return [rest if code is None else code for code in found]


def letters_of(texts: Sequence[str], found: Sequence[str | None]) -> Counter[str]:
    """Return how many characters are looked at in each language; counts of parts of a corpus add up."""
    letters: Counter[str] = Counter()
    for text, code in zip(texts, found):
        if code is not None:
            letters[code] += min(len(text), CHARACTERS)
    return letters


def prevailing(letters: Counter[str]) -> str:
    """Return the language of a corpus' records that are too short to tell.

    Args:
        letters: of all of its records, by language.
    """
    code, most = letters.most_common(1)[0] if letters else (ENGLISH, 0)
    return code if most >= PREVAILS * letters.total() else ENGLISH
