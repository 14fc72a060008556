"""What each language has and has not, and what was measured: one list for the page, the command line and the docs.

Privacy posture: public facts about packs; no record is read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache

from engine.assets import ASSETS
from engine.models.builtin.shipped import word_tagger_there
from engine.models.prompts.domains import prompt_languages
from engine.pii.languages.lemmas import THEN, no_lemmas, told_by
from engine.pii.languages.national_ids import national_ids
from engine.pii.languages.pack import Pack, codes, pack
from engine.pii.languages.people import people
from engine.pii.languages.pools import read_pools

ENGLISH = "en"
MEASURED = ASSETS / "models" / "word_tagger" / "evaluation.json"


@dataclass(frozen=True)
class Recall:
    """Share of the annotated mentions of one type that were masked whole, with a 95 % interval over documents.

    `what` is person, place, organisation, date or code, or `precision`: the share of masked words that stand in an
    annotated mention. `source` says on which kind of text.
    """

    what: str
    value: float
    low: float
    high: float
    n: int
    source: str


@dataclass(frozen=True)
class LanguageView:
    """One language: what there is for it, what there is not, and what was measured."""

    code: str
    name: str
    has: tuple[str, ...]
    lacks: tuple[str, ...]
    measured: tuple[Recall, ...]


def languages() -> tuple[LanguageView, ...]:
    """Return English and every pack, English first."""
    return (_english(), *(_view(pack(code)) for code in codes()))


def _english() -> LanguageView:
    return LanguageView(
        ENGLISH,
        "English",
        ("tagger of its own", "rules", "surrogates", "built-in language model", "every measure"),
        (),
        (),
    )


def _view(own: Pack) -> LanguageView:
    pools = read_pools(own.code)
    ids = [kind.title for kind in national_ids() if kind.country in own.data.countries]
    tagger = "tagger for several languages: persons, places, organisations, dates, codes"
    has = [
        *([tagger] if word_tagger_there() else []),
        "rules: titles, field labels, addresses, ages, dates in words, telephone numbers",
        f"national numbers, checked: {', '.join(ids)}; those of other EU countries beside a word that names them",
        f"surrogates: {len(pools.forenames):,} forenames, {len(pools.surnames):,} surnames, {len(pools.towns):,} towns",
    ]
    missing = "a tagger of its own: the English one reads it and misses many names; nothing was measured yet"
    lacks = [
        *([] if word_tagger_there() else [missing]),
        "a built-in language model: methods that write need a model of the language",
    ]
    called = people(own.code)
    if called is None:
        lacks.append("other words for work and descent: such a description stays, and is counted")
    else:
        has.append(f"{len(called.words):,} words for work and descent, one for another in the form it stands in")
    asked = "prompts for models that follow instructions, with public words, where a person declares the language"
    if own.code in prompt_languages():
        has.append(asked)
    else:
        lacks.append("prompts of its own: such models are asked in English for text in the language")
    if own.inflection is not None:
        has.append("names in their case, by a table of endings")
        if own.inflection.harmony:  # a table that does not tell every word
            lacks.append("endings that the table does not tell: such a name, and such a case, stays as it is written")
    elif own.data.possessive:
        has.append(f"the possessive -{own.data.possessive} of names")
    lemmas = told_by(own.code)
    if lemmas is None:
        lacks.append(no_lemmas(own.code).removesuffix(THEN))
    else:
        has.append(f"lemmas for the curves of words, by {lemmas}")
    lacks.append("measures of tone and readability, and the built-in embeddings, which expect English")
    return LanguageView(own.code, own.data.name, tuple(has), tuple(lacks), measured().get(own.code, ()))


@lru_cache(maxsize=1)
def measured() -> dict[str, tuple[Recall, ...]]:
    """Return what was measured of each language, from the file beside the tagger's weights."""
    if not MEASURED.is_file():
        return {}
    found: dict[str, tuple[Recall, ...]] = {}
    for code, rows in json.loads(MEASURED.read_text(encoding="utf-8"))["shown"].items():
        found[code] = tuple(Recall(**row) for row in rows)
    return found
