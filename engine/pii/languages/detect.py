"""Detection in other languages: a tagger and the language's rules, before spans are resolved.

The word tagger reads them where its weights are there; until then the English tagger does, as it always did.

Privacy posture: works on texts in memory; spans are positions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import regex

from engine.models import cancel
from engine.models.builtin.shipped import word_tagger_there
from engine.pii.languages.common import without_common
from engine.pii.languages.grown import grown
from engine.pii.languages.pack import codes, pack
from engine.pii.languages.tidy import tidied, without_codes
from engine.pii.spans import Span, default_identifier_type

if TYPE_CHECKING:
    from engine.models.builtin.tagger.tagger_run import Tagger
    from engine.models.builtin.tagger.word_tagger_run import WordTagger
    from engine.pii.languages.rules import LanguageRules

ADDRESS = 4  # letters of a form of address, at most


class OtherLanguages:
    """The word tagger and the rules of the packs, loaded when the first record needs them."""

    def __init__(self, disabled: frozenset[str], english: Tagger | None) -> None:
        self._disabled = disabled
        self._english = english
        self._tagger: WordTagger | None = None
        self._rules: LanguageRules | None = None
        self.own_tagger = english is not None and word_tagger_there()  # whether scores are of the tagger made for these

    def find(
        self, texts: Sequence[str], languages: Sequence[str], stop: Callable[[], bool] | None = None
    ) -> list[list[Span]]:
        """Return what tagger and rules find in each text, overlaps included.

        Raises:
            Cancelled: `stop` said so.
        """
        if self._rules is None:
            from engine.pii.languages.rules import LanguageRules

            self._rules = LanguageRules(self._disabled)
            if self.own_tagger:
                from engine.models.builtin.tagger.word_tagger_run import load_word_tagger

                self._tagger = load_word_tagger()
        rows = self._tagged(texts, languages, stop)
        for row, text, code in zip(rows, texts, languages):
            cancel.check(stop)
            if code in codes():
                row[:] = tidied(text, grown(text, without_common(text, row, code), code), code)
            row[:] = without_codes(row + self._rules.find(text, code))
            row[:] = [s for s in row if not _names_nobody(text[s.start : s.end], code)]
        return rows

    def _tagged(
        self, texts: Sequence[str], languages: Sequence[str], stop: Callable[[], bool] | None
    ) -> list[list[Span]]:
        """Return what the tagger finds, nothing where there is none."""
        if self._tagger is not None:
            found = self._tagger.tag(texts, stop, languages)
        elif self._english is not None:
            found = self._english.tag(texts, stop)
        else:
            found = [[] for _ in texts]
        return [
            [Span("", t.start, t.end, t.label, t.score, "tagger", default_identifier_type(t.label)) for t in row]
            for row in found
        ]


@lru_cache(maxsize=32)
def dated_in(code: str) -> regex.Pattern[str]:
    """Return what a date has in a language, and a span of time has not: a digit, the name of a month or of a day."""
    data = pack(code).data if code in codes() else None
    names = (*data.month_stems, *map(regex.escape, data.weekdays)) if data is not None else ()
    named = rf"|(?<!\p{{L}})(?:{'|'.join(names)})" if names else ""
    return regex.compile(rf"\d{named}", regex.I)


def _names_nobody(surface: str, code: str) -> bool:
    """Return whether a span is made of a language's function words or titles alone, or of no letter and no digit."""
    words = regex.findall(r"\w+", surface)
    if code not in codes():
        return not words
    return all(w.lower() in pack(code).function_words for w in words) or _is_title(surface, code)


def _is_title(surface: str, code: str) -> bool:
    """Return whether a span is a form of address alone: "Dr.", "Mme"; longer titles are surnames as well (Richter)."""
    return surface.rstrip(" .").lower() in _titles(code)


@lru_cache(maxsize=16)
def _titles(code: str) -> frozenset[str]:
    data = pack(code).data.titles
    return frozenset(t.lower() for t in (*data.f, *data.m, *data.any) if len(t) <= ADDRESS)
