"""Names of a language in their cases: by the pack's table of endings, and by a synthesiser where one is installed.

Estonian with EstNLTK (extra `et`): the genitive and the partitive of a name are Vabamorf's where it makes exactly one
form (Peeter, Peetri; the table knows Peeteri), whole words of the table still come first; the other cases are built on
that genitive. A name that no list holds is read back from a case with an ending of two letters or more (Meelisele)
where Vabamorf sees one name in it. Without EstNLTK the table alone does what it did. A name may get another surrogate
once EstNLTK is installed, since names are told apart by their genitive.

Vabamorf is loaded when a name is first put into a case, which workers alone do.

Privacy posture: works on single words in memory; what is kept between calls are forms of public names.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache

from engine.pii.languages import vabamorf
from engine.pii.languages.inflection import GENITIVE, NOMINATIVE, PARTITIVE, Inflection
from engine.pii.languages.pack import pack
from engine.pii.languages.pools import read_pools

_LEAST = 2  # letters of an ending that is believed of a name that no list holds


@dataclass(frozen=True)
class Synthesised(Inflection):
    """A table of endings with Vabamorf before it."""

    def _genitive(self, word: str) -> str | None:
        if "-" in word or word in self.genitives:
            return super()._genitive(word)
        return _made(word, GENITIVE) or super()._genitive(word)

    def inflected(self, word: str, case: str) -> str:
        """Return the word in a case, as `Inflection` does."""
        made = _made(word, case) if case == PARTITIVE and word and "-" not in word else None
        return made or super().inflected(word, case)

    def case_of(self, form: str, words: frozenset[str] | None = None) -> tuple[str, str]:
        """Return (case, first form) of a form, as `Inflection` does; of a name that no list holds, by Vabamorf."""
        case, first = super().case_of(form, words)
        if case != NOMINATIVE or words is None or form in words or "-" in form:
            return case, first
        read = vabamorf.case_of(form)
        if read is None:
            return case, first
        ending = self.cases.get(read[0], "")
        return read if len(ending) >= _LEAST and form.endswith(ending) else (case, first)


@lru_cache(maxsize=1)
def _listed() -> frozenset[str]:
    pools = read_pools("et")
    return frozenset((*pools.forenames, *pools.surnames))


def _made(word: str, case: str) -> str | None:
    return _public(word, case) if word in _listed() else vabamorf.inflected(word, case)


@lru_cache(maxsize=8192)
def _public(word: str, case: str) -> str | None:
    """Return a form of a listed name: they are put into their cases over and over while names are read back."""
    return vabamorf.inflected(word, case)


@lru_cache(maxsize=16)
def names_of(code: str) -> Inflection | None:
    """Return how names of a language change, None where they do not; nothing is loaded yet."""
    table = pack(code).inflection
    if table is None or code != "et" or not vabamorf.there():
        return table
    return Synthesised(**{field.name: getattr(table, field.name) for field in fields(table)})
