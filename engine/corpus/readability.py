"""Judge by public rules alone whether a text says something: repetition of words, phrases and sentences, unknown words.

Nothing here was read from a record: the thresholds are fixed, and the pieces of words are those of the tokenizer that
ships with the program, so the judgment may filter the output of a method with a guarantee. A word is unknown where it
takes more pieces than a word of its length takes in public English text. Of a text in another language only
repetition is judged, and the answer says so. Readable does not mean true, coherent or useful.

Thresholds: at least 97% of public real texts of each kind pass (clinical shorthand, judgments, abstracts, chat).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

VOCABULARY = Path(__file__).resolve().parents[2] / "assets" / "models" / "lm" / "tokenizer.json"
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_BORN = re.compile(r"\b(?:DOB|D\.O\.B\.|[Dd]ate of birth|[Bb]orn(?: on)?)\b[:\s][^\n.;]{0,20}?\b(1[89]\d\d|20\d\d)\b")
_AGE = re.compile(r"\b(\d{1,3})[ -]years?[ -]old\b")
_TITLED = re.compile(r"\b(Mr|Ms|Mrs|Miss)\.? ([A-Z][a-z]+) [A-Z][a-z]+")
_LETTERS = re.compile(r"[A-Za-z]+")
_STOP = frozenset(
    "the of and to in a is was for on with that by it he she as at from his her be this are were had not or an have "
    "has you i we they but pt no after which been their my me what so if do".split()
)
_LINKS = frozenset("of to in for with by from at on".split())

LONG = 12  # words from which shares of phrases are judged
DISTINCT_TRIPLES = 0.72  # least share of word triples that are distinct
RUN, AGAIN = 6, 0.25  # words of a run, and the share of words in runs that came before
SAME_WORD = 3  # one content word so often in a row
SAME_NUMBER = 3  # one long number so often among `SHORT` words
SHORT = 40
CIRCLE = 16  # words of a text that may not come back to a pair of its content words
BLOCK = 150  # words: longer texts are judged block by block, since stock phrases of a trade add up
SAME_PHRASE = 3  # words of a phrase that follows itself at once
ECHO_EVERY = 60  # words for which one such echo is let pass: "the Board (the Board)" stands in judgments
REPEATED_SENTENCES = 0.25  # largest share of sentences (of three words or more) that stood before
MOST_OF_ONE_WORD = 0.25  # largest share of one content word among all words
LEAST_JUDGED = 8  # words in letters from which unknown words are judged
UNKNOWN = 0.30  # largest share of unknown words
ENGLISH_STOP_WORDS = 0.03  # below, the text is not taken for English

REASONS = {
    "words": "repeats a word",
    "phrases": "repeats phrases",
    "sentences": "repeats sentences",
    "fields": "contradicts its own header",
    "unknown": "holds many words that are none",
}


@dataclass(frozen=True)
class Readability:
    """The judgment of one text.

    Args:
        reason: the first rule it fails (a key of `REASONS`), or empty.
        unknown: share of unknown words in [0, 1], None where words were not judged (short, or not English).
    """

    reason: str
    unknown: float | None

    @property
    def readable(self) -> bool:
        """Whether no rule fails."""
        return not self.reason


def readability(text: str) -> Readability:
    """Return the judgment of a text."""
    words = [word.casefold() for word in _WORD.findall(text)]
    unknown = unknown_share(text)
    reason = _repetition(text, words) or ("fields" if _contradicts(text) else "")
    return Readability(reason or ("unknown" if (unknown or 0.0) > UNKNOWN else ""), unknown)


def unreadable(text: str) -> str:
    """Return why a text cannot be read, in words for a funnel, or an empty string."""
    return REASONS.get(readability(text).reason, "")


def _repetition(text: str, words: Sequence[str]) -> str:
    if _stutters(words):
        return "words"
    numbers = Counter(number for number in words if number[0].isdigit() and len(number) > 4)
    if len(words) <= SHORT and numbers and numbers.most_common(1)[0][1] >= SAME_NUMBER:
        return "words"
    if len(words) <= CIRCLE and _circles(words):
        return "phrases"
    blocks = [words[at : at + BLOCK] for at in range(0, len(words), BLOCK)]
    for reason in ("words", "phrases"):
        poor = sum(reason == _poor(block) for block in blocks)
        if poor and 2 * poor >= len(blocks):
            return reason
    if _echoes(words):
        return "phrases"
    sentences = [tuple(_WORD.findall(part.casefold())) for part in _SENTENCE.split(text)]
    long = [sentence for sentence in sentences if len(sentence) >= 3]
    if len(long) - len(set(long)) > REPEATED_SENTENCES * len(long):
        return "sentences"
    return ""


def _poor(words: Sequence[str]) -> str:
    """Return what a block of words repeats too much, or an empty string."""
    if len(words) < LONG:
        return ""
    content = Counter(word for word in words if word not in _STOP and not word[0].isdigit())
    if content and content.most_common(1)[0][1] > max(3, MOST_OF_ONE_WORD * len(words)):
        return "words"
    triples = list(zip(words, words[1:], words[2:], strict=False))
    if len(set(triples)) < DISTINCT_TRIPLES * len(triples) or _again(words) >= AGAIN * len(words):
        return "phrases"
    return ""


def _again(words: Sequence[str]) -> int:
    """Return how many words stand in runs of `RUN` words that came before: a sentence written again keeps triples."""
    seen: set[tuple[str, ...]] = set()
    until = count = 0
    for start in range(len(words) - RUN + 1):
        run = tuple(words[start : start + RUN])
        if run in seen:
            count += start + RUN - max(start, until)
            until = start + RUN
        seen.add(run)
    return count


def _stutters(words: Sequence[str]) -> bool:
    """Say whether one word stands `SAME_WORD` times in a row; numbers and words of one or two letters may."""
    run = 1
    for before, word in pairwise(words):
        run = run + 1 if word == before and not word[0].isdigit() and len(word) > 2 else 1
        if run >= SAME_WORD:
            return True
    return False


def _circles(words: Sequence[str]) -> bool:
    """Say whether a short text comes back to a pair of its own content words, or says "X of X"."""
    pairs = [pair for pair in pairwise(words) if pair[0] != pair[1] and not _STOP & set(pair)]
    if len(pairs) > len(set(pairs)):
        return True
    return any(
        first == last and middle in _LINKS and first not in _STOP and len(first) > 3
        for first, middle, last in zip(words, words[1:], words[2:], strict=False)
    )


def _echoes(words: Sequence[str]) -> bool:
    """Say whether phrases of three to eight words, not of numbers alone, follow themselves at once too often."""
    found, at = 0, 0
    while at < len(words):
        size = next((n for n in range(SAME_PHRASE, 9) if _doubled(words, at, n)), 0)
        found += bool(size)
        at += max(1, 2 * size)
    return found > len(words) // ECHO_EVERY


def _doubled(words: Sequence[str], at: int, size: int) -> bool:
    phrase = words[at : at + size]
    return phrase == words[at + size : at + 2 * size] and not all(word[0].isdigit() for word in phrase)


def _contradicts(text: str) -> bool:
    """Say whether fields of a header cannot both hold: an age that the birth date does not allow, a title and a name.

    A first name counts only where a second name follows ("Mr Samantha Wyndoro"): surnames are given to both.
    """
    born = [int(match.group(1)) for match in _BORN.finditer(text)]
    ages = [int(match.group(1)) for match in _AGE.finditer(text)]
    if len(born) == len(ages) == 1 and ages[0] > date.today().year - born[0]:
        return True
    men, women = _first_names()
    return any(
        (title == "Mr" and name in women) or (title in ("Ms", "Mrs", "Miss") and name in men)
        for title, name in _TITLED.findall(text)
    )


@cache
def _first_names() -> tuple[frozenset[str], frozenset[str]]:
    """Return the shipped first names of men alone and of women alone."""
    from engine.corpus.samples.names import FEMALE, MALE

    return frozenset(MALE) - frozenset(FEMALE), frozenset(FEMALE) - frozenset(MALE)


def unknown_share(text: str) -> float | None:
    """Return the share of unknown words among the words in Latin letters, None where they are not judged."""
    words = [word for word in _LETTERS.findall(text) if len(word) > 1]
    lower = [word.lower() for word in words]
    if len(words) < LEAST_JUDGED or sum(word in _STOP for word in lower) < ENGLISH_STOP_WORDS * len(words):
        return None
    if not text.isascii() and sum(ord(c) > 591 and c.isalpha() for c in text) > 0.2 * len(text):
        return None
    judged = [word for word, form in zip(words, lower, strict=True) if len(form) >= 4]
    return sum(map(_unknown, judged)) / len(words) if judged else 0.0


def _unknown(word: str) -> bool:
    """Say whether a word takes more pieces than English words of its length."""
    form = word.lower()
    return min(pieces(form), pieces(word.capitalize())) > 1 + len(form) / 3.5


@lru_cache(maxsize=100_000)
def pieces(word: str) -> int:
    """Return the fewest pieces of the shipped vocabulary that make up a word, the first at a word's beginning."""
    known, longest = _vocabulary()
    best = [0] + [len(word)] * len(word)
    for end in range(1, len(word) + 1):
        best[end] = best[end - 1] + 1
        for start in range(max(0, end - longest), end):
            part = word[start:end]
            if ("Ġ" + part if start == 0 else part) in known:
                best[end] = min(best[end], best[start] + 1)
    return best[-1]


@cache
def _vocabulary() -> tuple[frozenset[str], int]:
    """Return the tokenizer's pieces and the length of the longest one."""
    vocabulary = json.loads(VOCABULARY.read_text(encoding="utf-8"))["model"]["vocab"]
    return frozenset(vocabulary), min(20, max(map(len, vocabulary)))
