"""A person's name to its full extent, in languages whose pack says which ranks stand before one.

What the tagger found of a name grows to the rank, the particle and the initials before it ("Gräfin Emma", "General von
Hess", "J. K. Lind"), to a genitive with an apostrophe, and in lists of people to the surname that stands before a
forename ("Welk Maria, Magd,"). Where a text shows elsewhere that letters were lost or set apart in it, as misread
print does, a name grows to such letters as well ("W e l e k Maria", "Gran n i ch Johann", "Musso lini"); in a text
without such a sign nothing of it is done, since "Jena gelocht" looks the same as "Musso lini". A word of letters set
apart that is no common one is a name too.

Privacy posture: works on one text in memory; returns positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import regex

from engine.pii.languages.common import LINKS, common_words, is_common
from engine.pii.languages.pack import Pack, pack
from engine.pii.languages.pools import read_pools
from engine.pii.spans import MODELS, NAME_LABELS, Span

ACCEPTED = 0.5
REACH = 64  # characters before a name that are looked at
SHORT = 2  # letters of a piece that hardly any word has
LETTERS = 3  # single letters that a word set apart has, at least
HALF = 6  # letters of half a name at the end of a line, at most
BROKEN_OFF = 32  # pieces after a name that are looked at: a text of single letters is no name of thousands
WORD = regex.compile(r"[\p{L}\p{M}]+")
GAP = r"(?: - |- |[ ^-])"
JUNK = regex.compile(r"[«»<>^°*|]{1,3}[\p{L}\d]{1,12}")
GENITIVE = regex.compile(r"['’`´][sö](?![\p{L}\p{M}])")
OTHER_HALF = regex.compile(r"(?:- ?| )(\p{Ll}{2,9})(?![\p{L}\p{M}.°«»-])")
AFTER_HYPHEN = regex.compile(r" ?\p{Ll}\p{L}{1,11}(?![\p{L}\p{M}])")
PIECE_AFTER = regex.compile(r"(?:[-^] ?| )(\p{Ll}[\p{L}°«»]{0,3})(?![\p{L}\p{M}.°«»])")
PIECES = regex.compile(rf"(?<![\p{{L}}\p{{M}}])\p{{Lu}}\p{{L}}{{0,4}}\.?(?:{GAP}\p{{L}}{{1,4}}){{1,16}}[ ^-]{{1,2}}$")
HEAD = regex.compile(r"(?<![\p{L}\p{M}])\p{Lu}\p{L}*(?:[ ^-]{1,2}\p{L}{1,4}){0,4}[ ^-]{1,2}$")
BETWEEN = regex.compile(r"[ ^-]{1,2}(?:\p{L}{1,3}[ ^-]{1,2}){0,6}")
ENTRY = regex.compile(r"(?:^|[.;:!?,“”\"'] |\n)\K\p{Lu}[^\d,;:.!?\n]{1,30}[ ^-]{1,2}$")
INITIALS = regex.compile(r"(?<![\p{L}\p{M}\d.])(?:\p{Lu}\.[ -]?){1,3}$")
APART = regex.compile(
    r"(?<![\p{L}\p{M}\d.-])(?:\p{Lu}\. )?\p{Lu}\p{L}?(?: \p{L}{1,2}){2}(?: \p{L}{1,3}){1,15}(?![\p{L}\p{M}])"
)
SPACED = regex.compile(r"(?<![\p{L}\p{M}.'’-])(?:\p{L} \p{L} \p{L}|\p{Ll} \p{Ll})(?![\p{L}\p{M}.)])")
BROKEN = regex.compile(r"\p{Ll}{2}- (\p{Ll}{2,})")
MISREAD = regex.compile(r"\p{L}[«»^°~<>■]+\p{Ll}|\p{Ll}[à^]")
"""Signs of lost letters: letters set apart, a hyphen within a line that breaks a word, marks inside a word."""
SMALL = LINKS | frozenset("um so ja da wo ab et du nun bzw beziehungsweise".split())
LAST_PIECE = regex.compile(r" (\p{L}{1,3})$")
PARTICLE = regex.compile(r" (?:von|v[.,]|van|zu|zur|zum) ")


def grown(text: str, spans: Sequence[Span], code: str) -> list[Span]:
    """Return the spans of one text, the tagger's persons grown; several that are one name are one span."""
    own = pack(code)
    if not own.data.ranks:
        return list(spans)
    rows = sorted((s for s in spans if _person(s)), key=lambda s: (s.start, -s.end))
    others = [s for s in spans if not _person(s)]
    names = {s.start for s in spans if s.label in NAME_LABELS and s.score >= ACCEPTED}
    out: list[Span] = []
    damaged = shows_damage(text, own)
    for span in rows:
        low = out[-1].end if out else 0
        one = _right(text, _left(text, span, low, own, damaged), own, names, damaged)
        if out and (one.start < out[-1].end or (damaged and _one_name(text, out[-1], one, own))):
            out[-1] = replace(out[-1], end=max(one.end, out[-1].end), score=max(one.score, out[-1].score))
        else:
            out.append(one)
    return others + out + _set_apart(text, own, out)


def shows_damage(text: str, own: Pack) -> bool:
    """Return whether a text has a sign that letters in it were lost, misread or set apart."""
    if SPACED.search(text) or MISREAD.search(text):
        return True
    known = own.function_words | SMALL | common_words(own.code)
    return any(match.group(1) not in known for match in BROKEN.finditer(text))


def _person(span: Span) -> bool:
    return span.label == "PERSON" and span.recogniser in MODELS and span.score >= ACCEPTED


def _left(text: str, span: Span, low: int, own: Pack, damaged: bool) -> Span:
    """Return the span with the letters, the surname, the initials and the rank that stand before it."""
    start = span.start - (text[span.start] == "." and span.start > low)
    window = text[max(low, start - REACH) : start]
    pieces, entry = PIECES.search(window) if damaged else None, ENTRY.search(window)
    head = HEAD.search(window) if damaged and _is_rest(text, start) else None
    if pieces is not None and _apart(pieces.group(), own):
        start -= len(pieces.group())
    elif head is not None and not _worded(head.group(), own) and _surname(head.group(), own):
        start -= len(head.group())
    elif entry is not None and _lone(text, span) and _surname(entry.group(), own):
        start -= len(entry.group())
    for before in (INITIALS, _called(own.code)):
        found = before.search(text[max(low, start - REACH) : start])
        start -= len(found.group()) if found is not None else 0
    return replace(span, start=start)


def _is_rest(text: str, start: int) -> bool:
    """Return whether a name begins with the rest of a word: in small letters, and not with a particle ("v. Hess")."""
    first = WORD.match(text, start)
    return (
        first is not None
        and text[start].islower()
        and first.group() not in LINKS
        and text[first.end() : first.end() + 1] != "."
    )


def _right(text: str, span: Span, own: Pack, names: set[int], damaged: bool) -> Span:
    """Return the span with broken-off letters after it, with the genitive and the particle before another name."""
    end, apart = span.end, False
    if text[end - 1] == "-" and (rest := AFTER_HYPHEN.match(text, end)) is not None:
        end = rest.end() if rest.group().strip() not in common_words(own.code) else end
    half = OTHER_HALF.match(text, end) if damaged else None
    if half is not None and _is_half(text, span, half.group(1), own):
        end = half.end()
    for _ in range(BROKEN_OFF if damaged else 0):
        piece = PIECE_AFTER.match(text, end)
        if piece is None:
            break
        letters = piece.group(1)
        if letters in own.function_words or (not apart and (len(letters) > SHORT or letters in SMALL)):
            break
        end, apart = piece.end(), True
    for _ in range(BROKEN_OFF if damaged else 0):
        junk = JUNK.match(text, end)
        if junk is None:
            break
        end = junk.end()
    genitive = GENITIVE.match(text, end)
    end = genitive.end() if genitive is not None else end
    other = next((at for at in range(end + 3, end + 6) if at in names and PARTICLE.fullmatch(text, end, at)), None)
    return replace(span, end=end if other is None else other - 1)


def _one_name(text: str, first: Span, second: Span, own: Pack) -> bool:
    """Return whether only broken-off letters stand between two spans."""
    between = BETWEEN.fullmatch(text, first.end, second.start)
    grown_to = WORD.search(text, max(first.start, first.end - SHORT - 1), first.end)
    if between is not None and not WORD.search(between.group()):  # only where a name ends in a broken-off piece
        return grown_to is not None and grown_to.group().islower() and first.end - grown_to.start() <= SHORT
    return between is not None and not _worded(between.group(), own)


def _apart(pieces: str, own: Pack) -> bool:
    """Return whether pieces are letters of one word: most of them are short and none is a function word."""
    words = WORD.findall(pieces)
    short = sum(len(w) <= SHORT for w in words)
    return short >= max(2, len(words) // 2) and not _worded(pieces, own)


def _worded(pieces: str, own: Pack) -> bool:
    """Return whether one of the pieces is a word of its own; "er" is an ending more often, between letters."""
    return any(w in own.function_words and w != "er" for w in WORD.findall(pieces))


def _set_apart(text: str, own: Pack, found: Sequence[Span]) -> list[Span]:
    """Return the words whose letters are set apart, but for common ones ("G r ü n d e")."""
    out, held = [], {at for s in found for at in range(s.start, s.end)}
    for match in APART.finditer(text):
        start, end = match.span()
        while (last := LAST_PIECE.search(text[start:end])) is not None and last.group(1) in own.function_words:
            end = start + last.start()
        pieces = WORD.findall(text, start, end)
        singles = sum(len(w) == 1 for w in pieces)
        if singles >= LETTERS and not _worded(text[start:end], own) and not is_common("".join(pieces), own.code):
            out += [] if start in held else [Span("", start, end, "PERSON", 0.6, f"{own.code}.apart", "direct")]
    return out


def _is_half(text: str, span: Span, rest: str, own: Pack) -> bool:
    """Return whether a name's last word is the first half of one that a line's end broke ("Musso lini")."""
    last = WORD.findall(text, span.start, span.end)[-1:]
    return (
        bool(last)
        and len(last[0]) <= HALF
        and last[0] not in _names(own.code)
        and rest not in common_words(own.code)
        and rest not in own.function_words | SMALL
    )


def _lone(text: str, span: Span) -> bool:
    """Return whether a span is one word before a comma, as the forename in a list of people is."""
    return text[span.end : span.end + 1] == "," and " " not in text[span.start : span.end]


def _surname(entry: str, own: Pack) -> bool:
    """Return whether what stands before a forename can be a surname: none of its words is a common one."""
    titles = {*own.data.titles.f, *own.data.titles.m, *own.data.titles.any}
    words = WORD.findall(entry)
    return not any(w.lower() in own.function_words or is_common(w, own.code) or w in titles for w in words)


@lru_cache(maxsize=8)
def _names(code: str) -> frozenset[str]:
    pools = read_pools(code)
    return frozenset((*pools.forenames, *pools.surnames))


@lru_cache(maxsize=8)
def _called(code: str) -> regex.Pattern[str]:
    """Return what belongs to a name before it: a rank, with its particle; a particle after a title."""
    data = pack(code).data
    ranks, titles = (
        "|".join(map(regex.escape, sorted(words, key=len, reverse=True)))
        for words in (data.ranks, {*data.titles.f, *data.titles.m, *data.titles.any, "General", "Oberst", "Hauptmann"})
    )
    particle = r"(?:v\.|von|zu|van|de)(?: der| dem)?"
    word = r"(?<![\p{L}\p{M}-])"
    return regex.compile(rf"{word}(?:{ranks})(?: {particle})? $|{word}(?:{titles})\.? \K{particle} $")
