"""Judge by public rules alone whether a text says something: repetition of words, phrases and sentences, unknown words.

Nothing here was read from a record: the thresholds are fixed, and the pieces of words are those of the tokenizer that
ships with the program, so the judgment may filter the output of a method with a guarantee. A word is unknown where it
takes more pieces than a word of its length takes in public English text. Readable does not mean true, coherent or
useful: fluent nonsense passes, and so do invented words made of common pieces.

`Readability.rules` says which rules there were: all of them for English, repetition alone for other languages whose
words stand apart, none for scripts written without spaces. Masks and placeholders (`XXXX`, `[PERSON]`) are no words.

Thresholds were set on six kinds of public text (clinical shorthand and notes, dialogues, abstracts, chat, judgments)
and four more (complaints, novels, questions and answers, consultations); at least 98% of every kind not looked at pass.
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
from typing import Literal

from engine.assets import ASSETS

VOCABULARY = ASSETS / "models" / "lm" / "tokenizer.json"
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_BORN = re.compile(r"\b(?:DOB|D\.O\.B\.|[Dd]ate of birth|[Bb]orn(?: on)?)\b[:\s][^\n.;]{0,20}?\b(1[89]\d\d|20\d\d)\b")
_AGE = re.compile(r"\b(\d{1,3})[ -]years?[ -]old\b")
_TITLED = re.compile(r"\b(Mr|Ms|Mrs|Miss)\.? ([A-Z][a-z]+) [A-Z][a-z]+")
_KIN = re.compile(r"\b(mother|sister|daughter|niece|aunt|father|brother|son|nephew|uncle),? ([A-Z][a-z]+)\b(?! and\b)")
_SELF = re.compile(
    r"\b(the (?:\w+ ){0,2}\w{3,}) (?:was|is|were|are) (?:a|an|the) \w+ (?:of|to|for) \1\b", re.IGNORECASE
)
_NO_TIME = re.compile(r"\b(?:from|between|in) (1[89]\d\d|20\d\d) (?:to|and|until) \1\b")
_LETTERS = re.compile(r"[A-Za-z]+")
_BLANK = re.compile(r"\[[A-Z][A-Z_ ]*\]|<[A-Z][A-Z_ ]*>|\b(\w)\1{3,}\b|\*{2,}|_{2,}")  # [PERSON], XXXX, ***
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")  # Thai to Han
_STOP = frozenset(
    "the of and to in a is was for on with that by it he she as at from his her be this are were had not or an have "
    "has you i we they but pt no after which been their my me what so if do".split()
)
# Frequent in English and rare in other languages, "in", "a" or "was" being words of several.
_ENGLISH = frozenset(
    "the and of with that it she his this were not have has they you been which from after what their but would there "
    "who when your could than then about into some our these those because any does did".split()
)
_WOMEN = frozenset("mother sister daughter niece aunt".split())
_FILLERS = frozenset("yes yeah yep nope bye okay hello hey haha very blah".split())
_LINKS = frozenset("of to in for with by from at on".split())

LONG = 12  # words from which shares of phrases are judged
DISTINCT_TRIPLES = 0.72  # least share of word triples that are distinct
RUN, AGAIN = 6, 0.25  # words of a run, and the share of words in runs that came before
SAME_WORD = 3  # one content word so often in a row
STUTTER_EVERY = 400  # words for which one such row is let pass: people stutter in transcripts and in novels
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
ENGLISH_WORDS = 0.06  # least share of words of `_ENGLISH` in what is taken for English
STOP_WORDS = 0.15  # share of words of `_STOP` from which an ASCII text of few words is taken for English
SPACED = 0.5  # largest share of letters in a script without spaces where words are judged at all

Rules = Literal["all", "repetition", "none"]

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
        rules: which rules there were for its language.
    """

    reason: str
    unknown: float | None
    rules: Rules

    @property
    def readable(self) -> bool:
        """Whether no rule fails."""
        return not self.reason


def readability(text: str) -> Readability:
    """Return the judgment of a text."""
    rules = rules_for(text)
    if rules == "none":
        return Readability("", None, rules)
    unknown = unknown_share(text)
    reason = _repetition(text, rules == "all") or ("fields" if _contradicts(text) else "")
    return Readability(reason or ("unknown" if (unknown or 0.0) > UNKNOWN else ""), unknown, rules)


def rules_for(text: str) -> Rules:
    """Return which rules there are for the language of a text, told by its script and its commonest words."""
    letters = sum(map(str.isalpha, text))
    if len(_UNSPACED.findall(text)) > SPACED * letters:
        return "none"
    words = [word.lower() for word in _WORD.findall(_BLANK.sub(" ", text))]
    found = sum(word in _ENGLISH for word in words)
    return "all" if found >= max(1, ENGLISH_WORDS * len(words)) and _is_latin(text, letters) else "repetition"


def _is_latin(text: str, letters: int) -> bool:
    """Say whether at least four letters in five are Latin ones of Western Europe."""
    return text.isascii() or sum(ord(c) > 591 and c.isalpha() for c in text) <= 0.2 * letters


def words_of(text: str) -> list[str]:
    """Return the words in lower case; a mask or placeholder is a word of its own that equals no other."""
    found: list[str] = []
    at = 0
    for blank in _BLANK.finditer(text):
        found += [word.casefold() for word in _WORD.findall(text[at : blank.start()])]
        found.append(f"0 blank {len(found)}")  # begins as a number does, and so counts as no content
        at = blank.end()
    return found + [word.casefold() for word in _WORD.findall(text[at:])]


def unreadable(text: str) -> str:
    """Return why a text cannot be read, in words for a funnel, or an empty string."""
    return REASONS.get(readability(text).reason, "")


def _repetition(text: str, english: bool) -> str:
    words = words_of(text)
    if _stutters(words):
        return "words"
    numbers = Counter(word for word in words if word[0].isdigit() and len(word) > 4)
    if len(words) <= SHORT and numbers and numbers.most_common(1)[0][1] >= SAME_NUMBER:
        return "words"
    # Few words may hold none that is English alone: many that are English among others do as well.
    short = english or (text.isascii() and sum(word in _STOP for word in words) >= STOP_WORDS * len(words))
    if len(words) <= CIRCLE and _circles(words, short):
        return "phrases"
    blocks = [words[at : at + BLOCK] for at in range(0, len(words), BLOCK)]
    for reason in ("words", "phrases"):
        poor = sum(reason == _poor(block, english) for block in blocks)
        if poor and 2 * poor >= len(blocks):
            return reason
    # A line that repeats the end of the line before may be a heading; a sentence that does is counted below.
    if sum(_echoes(words_of(line)) for line in text.splitlines()) > len(words) // ECHO_EVERY:
        return "phrases"
    if _SELF.search(text):
        return "phrases"
    sentences = [tuple(words_of(part)) for part in _SENTENCE.split(text)]
    long = [sentence for sentence in sentences if len(sentence) >= 3]
    if len(long) - len(set(long)) > REPEATED_SENTENCES * len(long):
        return "sentences"
    return ""


def _poor(words: Sequence[str], english: bool) -> str:
    """Return what a block of words repeats too much, or an empty string."""
    if len(words) < LONG:
        return ""
    content = Counter(word for word in words if word not in _STOP and not word[0].isdigit())
    # The words that every sentence needs are known of English alone.
    least = 3 if english else 5
    if content and content.most_common(1)[0][1] > max(least, MOST_OF_ONE_WORD * len(words)):
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
    """Say whether words stand `SAME_WORD` times in a row too often; numbers, "yeah" and words of two letters may."""
    run, found = 1, 0
    for before, word in pairwise(words):
        same = word == before and not word[0].isdigit() and len(word) > 2 and word not in _FILLERS
        run = run + 1 if same else 1
        found += run == SAME_WORD
    return found > len(words) // STUTTER_EVERY


def _circles(words: Sequence[str], english: bool) -> bool:
    """Say whether a short text comes back to a pair of its own content words, or says "X of X"."""
    pairs = Counter(pair for pair in pairwise(words) if pair[0] != pair[1] and not _STOP & set(pair))
    if pairs and pairs.most_common(1)[0][1] > (1 if english else 2):
        return True
    return any(
        first == last and middle in _LINKS and first not in _STOP and len(first) > 3
        for first, middle, last in zip(words, words[1:], words[2:], strict=False)
    )


def _echoes(words: Sequence[str]) -> int:
    """Return how many phrases of three to eight words, not of numbers alone, follow themselves at once."""
    found, at = 0, 0
    while at < len(words):
        size = next((n for n in range(SAME_PHRASE, 9) if _doubled(words, at, n)), 0)
        found += bool(size)
        at += max(1, 2 * size)
    return found


def _doubled(words: Sequence[str], at: int, size: int) -> bool:
    phrase = words[at : at + size]
    return phrase == words[at + size : at + 2 * size] and not all(word[0].isdigit() for word in phrase)


def _contradicts(text: str) -> bool:
    """Say whether facts of a text cannot both hold: an age and a birth date, a title or a kin and a first name.

    Behind a title a first name counts only where a second name follows ("Mr Samantha Wyndoro"): surnames are given to
    both. A span of time ends after it begins.
    """
    if _NO_TIME.search(text):
        return True
    born = [int(match.group(1)) for match in _BORN.finditer(text)]
    ages = [int(match.group(1)) for match in _AGE.finditer(text)]
    if len(born) == len(ages) == 1 and ages[0] > date.today().year - born[0]:
        return True
    men, women = _first_names()
    return any(
        (title == "Mr" and name in women) or (title in ("Ms", "Mrs", "Miss") and name in men)
        for title, name in _TITLED.findall(text)
    ) or any(name in (men if kin in _WOMEN else women) for kin, name in _KIN.findall(text))


@cache
def _first_names() -> tuple[frozenset[str], frozenset[str]]:
    """Return the shipped first names of men alone and of women alone."""
    from engine.corpus.names import FEMALE, MALE

    return frozenset(MALE) - frozenset(FEMALE), frozenset(FEMALE) - frozenset(MALE)


def unknown_share(text: str) -> float | None:
    """Return the share of unknown words among the words in Latin letters, None where they are not judged."""
    words = [word for word in _LETTERS.findall(_BLANK.sub(" ", text)) if len(word) > 1]
    if len(words) < LEAST_JUDGED or rules_for(text) != "all":
        return None
    judged = [word for word in words if len(word) >= 4]
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
