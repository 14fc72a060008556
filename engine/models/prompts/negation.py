"""What an English text denies: found with its cue, kept in an outline or a noisy copy, put back into an abstract.

A cue (no, not, denies, w/o, didn't) denies the words after it, up to the end of the clause and at most `SCOPE` of
them; a list joined by "or" stays denied as a whole. Source of the idea: Chapman et al. 2001 (NegEx), section 2.

Privacy posture: text comes in and goes out in memory; nothing is logged.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from engine.models.builtin.format import STOPWORDS, noisy, outline

SCOPE = 6
_CUES = frozenset(
    """no not never nor neither without w/o denies denied deny denying negative cannot cant didnt doesnt dont isnt
    wasnt werent hasnt havent hadnt wont couldnt""".split()
)
_JOINING = frozenset(("or", "nor"))
_ENDING = frozenset("and & but however though although except because since which who he she they it we i then".split())
_GLUE = "\u2060"  # word joiner: no white space to `split`
_STEM = 5  # letters by which forms of a word (rash, rashes) are told to be one
_EDGE = re.compile(r"^[^\w\[]+|[^\w\]]+$")
_STOP = re.compile(r"[.;:!?)]$")


@dataclass(frozen=True)
class Denied:
    """One denial: the places of its cue and of the content words it denies, as word numbers of the text."""

    cue: int
    words: tuple[int, ...]
    end: int  # the first word past its clause


def denied(text: str) -> list[Denied]:
    """Return what a text denies, in order; cues without an object are left out."""
    words = text.split()
    found: list[Denied] = []
    at = 0
    while at < len(words):
        if not _cue(words[at]) or _STOP.search(words[at]):
            at += 1
            continue
        end = _scope(words, at + 1)
        objects = tuple(
            i for i in range(at + 1, end) if (bare := _bare(words[i])) and bare not in STOPWORDS and not _cue(words[i])
        )
        if objects:
            found.append(Denied(at, objects, end))
        at = max(end, at + 1)
    return found


def _scope(words: list[str], start: int) -> int:
    """Return the first word past the clause that begins at `start`."""
    most = min(len(words), start + SCOPE)
    comma = 0
    for i in range(start, most):
        if i > start and (_bare(words[i]) in _ENDING or (_cue(words[i]) and _bare(words[i]) not in _JOINING)):
            return comma or i
        if comma and _bare(words[i]) in _JOINING:
            comma = 0  # a list: its commas do not end it
            most = min(len(words), i + 3)
        if _STOP.search(words[i]):
            return comma or i + 1
        if words[i].endswith(",") and not comma and not _joined_before(words, start, i):
            comma = i + 1
    return comma or most


def _joined_before(words: list[str], start: int, at: int) -> bool:
    return any(_bare(word) in _JOINING for word in words[start:at])


def faithful_outline(text: str, rng: random.Random, keep: float) -> list[str]:
    """Return the text's content phrases in order; what it denies stays whole, cue and all.

    Args:
        text: any text. rng, keep: which other content words stay, as of `outline`.
    """
    words, phrases, at = text.split(), list[str](), 0
    for entry in denied(text):
        phrases += outline(" ".join(words[at : entry.cue]), rng, keep)
        inside = [i for i in range(entry.cue + 1, entry.end) if i in entry.words or _bare(words[i]) in _JOINING]
        while inside and inside[-1] not in entry.words:
            inside.pop()
        phrases.append(" ".join(_EDGE.sub("", words[i]) for i in (entry.cue, *inside)))
        at = entry.end
    return phrases + outline(" ".join(words[at:]), rng, keep)


def noisy_keeping(text: str, rng: random.Random, drop: float, shuffle: float) -> str:
    """Return the text's words with some dropped and the rest moved a little; a denial is moved or dropped as a whole.

    Args:
        text: any text. rng, drop, shuffle: as of `noisy`.
    """
    words, out, at = text.replace(_GLUE, " ").split(), list[str](), 0
    for entry in denied(" ".join(words)):
        last = entry.words[-1] + 1
        out += [*words[at : entry.cue], _GLUE.join(words[entry.cue : last])]
        at = last
    return noisy(" ".join([*out, *words[at:]]), rng, drop=drop, shuffle=shuffle).replace(_GLUE, " ")


def restored(abstract: str, source: str) -> str:
    """Return an abstract in which words that its source denies, and never states, are denied again.

    Args:
        abstract: made from the source. source: the text it stands for.
    """
    cues = _only_denied(source)
    if not cues:
        return abstract
    words, safe = abstract.split(), set[int]()
    for entry in denied(abstract):
        safe.update(range(entry.cue, entry.end))
    out: list[str] = []
    last = ""
    for i, word in enumerate(words):
        cue = "" if i in safe else cues.get(_stem(word), "")
        if cue and (cue != last or _STOP.search(words[i - 1])):
            out.append(cue)
        last = cue
        out.append(word)
    return " ".join(out)


def polarity(source: str, output: str) -> tuple[int, int, int]:
    """Return how many words that the source only denies the output denies as well, states, and leaves out."""
    wanted = _only_denied(source)
    there = {_stem(word) for word in output.split()}
    words = output.split()
    still = {_stem(words[i]) for entry in denied(output) for i in entry.words}
    kept = sum(stem in still for stem in wanted)
    turned = sum(stem in there and stem not in still for stem in wanted)
    return kept, turned, len(wanted) - kept - turned


def _only_denied(text: str) -> dict[str, str]:
    """Return the stem of each word that is denied and nowhere stated, and its cue."""
    words, found, inside = text.split(), dict[str, str](), set[int]()
    for entry in denied(text):
        inside.update((entry.cue, *entry.words))
        for i in entry.words:
            found.setdefault(_stem(words[i]), _EDGE.sub("", words[entry.cue]))
    stated = {_stem(word) for i, word in enumerate(words) if i not in inside}
    return {stem: cue for stem, cue in found.items() if stem not in stated}


def _cue(word: str) -> bool:
    bare = _bare(word)
    return bare in _CUES or bare.endswith(("n't", "n’t"))


def _bare(word: str) -> str:
    return _EDGE.sub("", word).lower()


def _stem(word: str) -> str:
    return _bare(word)[:_STEM]
