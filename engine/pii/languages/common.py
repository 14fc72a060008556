"""Common words of a language that writes every noun with a capital, which the tagger takes for names now and then.

A span of the tagger that is made of such nouns alone ("Immobilien") waits as a suggestion, and a word in small letters
at the edge of a name ("Genf reisen") leaves it. Only words that are listed do: half a name that a line's end broke off
("Deutsch lands") is none. The words are data, `assets/languages/<code>/common.txt.gz`, one a line, without those that
are names of people or places too; `engine.training.languages.common` writes
them.

Privacy posture: public words; works on one text in memory.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import regex

from engine.assets import ASSETS
from engine.pii.languages.pools import read_pools
from engine.pii.spans import MODELS, NAME_LABELS, SUGGESTION, Span

FOLDER = ASSETS / "languages"
SURE = 0.9  # a person that the tagger is so sure of stays one: nouns are surnames as well
LINKS = frozenset(
    "von vom van der den dem des de du di del della da la le les zu zum zur und am im an in auf bei ob unter y e i af "
    "av ten ter te op het".split()
)
HALVES = frozenset(
    "reich land mann man heim stadt dorf burg berg haus hof gasse straße strasse bach thal tal wald feld stein bad "
    "rosa hart weg platz see markt brunn kirchen hausen brück hagen neu".split()
)
"""Second halves of names, which the end of a line breaks off."""
ENDS = regex.compile(
    r"(?!\p{L}*(?:zeitung|regierung|gesellschaft|genossenschaft|gewerkschaft)$)"
    r"(?:\p{Lu}\p{Ll}{4,}(?:ung|ungen|heit|heiten|keit|keiten|schaft|schaften|tion|tionen|ismus|tät|täten|nisses?"
    r"|meisters?|meisterin|händlers?|händlerin|gesellens?|geselle|lehrlings?|gehilfen?|besitzers?|besitzerin|arbeiters?"
    r"|arbeiterin|beamtens?|beamter|macherin|wärters?|krankheit|fehler|entzündung)|Sohn|Tochter|Gattin|Witwe|Wittwe)"
)
"""How nouns end that no list holds, as they are put together anew; newspapers and the like have names of their own."""
WORD = regex.compile(r"[\p{L}\p{M}]+")
SMALL_WORD = regex.compile(r"(?<![\p{L}\p{M}])\p{Ll}{3}")
CAPITAL_WORD = regex.compile(r"\p{Lu}\p{Ll}{2}")
SENTENCE = regex.compile(r"(?:\A|[.!?:\n])[\s»“„\"]*$")
FIRST_SMALL = regex.compile(r"(?=\p{Ll})([\p{L}\p{M}]+) +")
LAST_SMALL = regex.compile(r"(?<!-)[ ,;]+((?=\p{Ll})[\p{L}\p{M}]+)$")


@lru_cache(maxsize=16)
def names_of(code: str) -> frozenset[str]:
    """Return the fore- and surnames and the places of a pack."""
    pools = read_pools(code)
    return frozenset((*pools.forenames, *pools.surnames, *(t.name for t in pools.towns), *pools.regions))


@lru_cache(maxsize=16)
def common_words(code: str) -> frozenset[str]:
    """Return the common words of a language as they are written, none where its pack has no list."""
    path = FOLDER / code / "common.txt.gz"
    return frozenset(gzip.decompress(path.read_bytes()).decode("utf-8").split()) if path.is_file() else frozenset()


def is_common(word: str, code: str) -> bool:
    """Return whether a word is a common one of the language, by the list or by how it ends."""
    listed = common_words(code)
    return bool(listed) and (word in listed or ENDS.fullmatch(word) is not None)


def without_common(text: str, spans: Sequence[Span], code: str) -> list[Span]:
    """Return the spans of one text, the tagger's names cut and held below one half where common words are in them.

    A text without small letters beside capitals tells nothing, nor does a language without a list.
    """
    if not common_words(code) or not (SMALL_WORD.search(text) and CAPITAL_WORD.search(text)):
        return list(spans)
    return [_doubted(text, s, code) if s.recogniser in MODELS and s.label in NAME_LABELS else s for s in spans]


def _doubted(text: str, span: Span, code: str) -> Span:
    span = _cut(text, span, code)
    words = WORD.findall(text, span.start, span.end)
    if any(c.isdigit() for c in text[span.start : span.end]):
        return span
    sure = span.label == "PERSON" and span.score >= SURE
    one = len(words) == 1 or (len(words) > 1 and span.label != "ORGANISATION")  # "Praxis am Markt" is a name
    plain = one and not sure and all(w in LINKS or is_common(w, code) for w in words)
    return replace(span, score=min(span.score, SUGGESTION)) if plain or _begins(text, span, code) else span


def _begins(text: str, span: Span, code: str) -> bool:
    """Return whether a span is one word that is written small elsewhere, at the beginning of a sentence or line."""
    word = text[span.start : span.end]
    small = word[1:].islower() and word.lower() in common_words(code) and word not in names_of(code)
    return small and SENTENCE.search(text, max(0, span.start - 8), span.start) is not None


def _cut(text: str, span: Span, code: str) -> Span:
    """Return the span without listed small words at its edges; particles at its beginning belong to a name."""
    start, end, listed = span.start, span.end, common_words(code)
    while (last := LAST_SMALL.search(text[start:end])) is not None and last.group(1) in listed - HALVES:
        end = start + last.start()
    while span.label == "PERSON" and (first := FIRST_SMALL.match(text, start, end)) is not None:
        if first.group(1) not in listed or first.group(1) in LINKS:
            break
        start = first.end()
    return replace(span, start=start, end=end)
