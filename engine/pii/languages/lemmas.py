"""First forms of words (lemmas), by what is installed for a language.

Estonian: Vabamorf of EstNLTK (extra `et`). Any other language that it knows, and Estonian without EstNLTK: the word
lists of simplemma (extra `lemmas`; its program is under the MIT licence, its lists come from Měchura's lemmatization
lists (Open Database License), Wiktionary and others; nothing of it ships with this program).

A lemma is told from the form of a word alone, whatever stands beside it. So lemmas are made from forms by a fixed
public rule, and nothing that is counted on lemmas can tell more than the same forms told (post-processing).

Only workers make a lemmatiser; whether there is one is told without importing anything.

Privacy posture: works on single words in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from engine.corpus.text.language import detect_languages
from engine.corpus.text.language_names import language_name
from engine.corpus.text.words import WORD, fold
from engine.errors import UserError
from engine.pii.languages import vabamorf

AUTO = "auto"
INSTALL = {"et": "understudy[et]"}
OTHERS = "understudy[lemmas]"
THEN = "; word forms are counted."


@dataclass(frozen=True)
class Lemmatiser:
    """Lemmas of one language.

    Args:
        language: its code. by: what tells them, with its version. find: from a folded form to its lemma.
    """

    language: str
    by: str
    find: Callable[[str], str]

    def __call__(self, form: str) -> str:
        """Return the folded lemma of a word in any writing."""
        folded = fold(form)
        return fold(self.find(folded)) or folded

    def text(self, text: str) -> str:
        """Return a text in which every word is its lemma, in capitals where the word was; all else stays."""
        return WORD.sub(lambda match: _as_written(self(match.group()), match.group()), text)


def _as_written(lemma: str, form: str) -> str:
    if form.isupper() and len(form) > 1:
        return lemma.upper()
    return lemma[:1].upper() + lemma[1:] if form[:1].isupper() else lemma


def _lists() -> frozenset[str]:
    """Return the codes of simplemma's languages, none where it is not installed; nothing is imported."""
    spec = find_spec("simplemma")
    places = [] if spec is None else list(spec.submodule_search_locations or [])
    return frozenset(p.stem for place in places for p in Path(place).glob("strategies/dictionaries/data/*.plzma"))


def told_by(language: str) -> str | None:
    """Return what tells a language's lemmas here, None where nothing installed does; nothing is imported."""
    if language == "et" and vabamorf.there():
        return f"Vabamorf of EstNLTK {vabamorf.told_version()}"
    return f"simplemma {version('simplemma')}" if language in _lists() else None


def no_lemmas(language: str) -> str:
    """Return the sentence that says that a language has no lemmas here, and what would bring them."""
    said = f"No lemmas for this language ({language_name(language)}): "
    if _lists():
        return f"{said}what is installed does not know it{THEN}"
    extra = f"{INSTALL[language]} or {OTHERS}" if language in INSTALL else OTHERS
    return f"{said}nothing is installed that tells them, which {extra} may bring{THEN}"


def lemmatiser(language: str) -> Lemmatiser:
    """Return a language's lemmatiser; loads its dictionaries.

    Raises:
        UserError: nothing installed knows the language.
    """
    by = told_by(language)
    if by is None:
        raise UserError(no_lemmas(language))
    if language == "et" and vabamorf.there():
        return Lemmatiser(language, by, vabamorf.lemma)
    import simplemma

    return Lemmatiser(language, by, lambda form: str(simplemma.lemmatize(form, lang=language)))


def language_of(texts: Sequence[str], setting: str = AUTO) -> tuple[str, float]:
    """Return the one language whose lemmas are counted, and the share of letters in it.

    Args:
        texts: of the corpus, of which at most 500 are looked at. setting: `auto`, or a code that a person has set.
    """
    ids = [str(at) for at in range(len(texts))]
    found = detect_languages(ids, texts, bytes(32)).shares  # which records are looked at is no secret here
    if setting != AUTO:
        return setting, found.get(setting, 0.0)
    return next(iter(found.items()), ("en", 0.0))
