"""Estonian morphology where EstNLTK is installed: the lemma of a word, its cases, and a name put into a case.

Only EstNLTK's part `vabamorf` is loaded, an analyser and a synthesiser in C++ with their two dictionaries; the rest of
EstNLTK, which can download models, never is. Vabamorf is by Filosoft, EstNLTK by the University of Tartu (GPL-2.0-only
or Apache-2.0; taken here under the Apache licence). Loading takes a second and some 40 MB; only workers do it.

Privacy posture: works on single words in memory; the words are not kept.
"""

from __future__ import annotations

import importlib
import sys
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Protocol, TypedDict, cast

_MODULE = "understudy_vabamorf"
FORMS = {
    "nom": "sg n", "gen": "sg g", "par": "sg p", "ill": "sg ill", "ine": "sg in", "ela": "sg el", "all": "sg all",
    "ade": "sg ad", "abl": "sg abl", "tra": "sg tr", "ter": "sg ter", "ess": "sg es", "abe": "sg ab", "com": "sg kom",
}  # fmt: skip
"""Cases of the Estonian pack and what Vabamorf calls them."""
_CASES = {form: case for case, form in FORMS.items()} | {"adt": "ill"}
_NAME, _NOUNS = "H", frozenset("HS")


class _Analysis(TypedDict):
    lemma: str
    form: str
    partofspeech: str


class _Word(TypedDict):
    analysis: list[_Analysis]


class _Morphology(Protocol):
    def analyze(
        self, words: list[str], disambiguate: bool = ..., guess: bool = ..., propername: bool = ...
    ) -> list[_Word]: ...
    def synthesize(self, lemma: str, form: str, partofspeech: str = ...) -> list[str]: ...


def folder() -> Path | None:
    """Return where Vabamorf lies, None where EstNLTK is not installed; nothing is imported."""
    spec = find_spec("estnltk")
    places = [] if spec is None else list(spec.submodule_search_locations or [])
    found = Path(places[0]) / "vabamorf" if places else None
    return found if found is not None and (found / "morf.py").is_file() else None


def there() -> bool:
    """Return whether Vabamorf is installed; nothing is imported."""
    return folder() is not None


def told_version() -> str:
    """Return EstNLTK's version."""
    return version("estnltk")


@lru_cache(maxsize=1)
def _module() -> object:
    """Load the package `vabamorf` alone, under a name of its own, so that `estnltk` itself is not imported."""
    at = folder()
    assert at is not None
    spec = spec_from_file_location(_MODULE, at / "__init__.py", submodule_search_locations=[str(at)])
    assert spec is not None
    assert spec.loader is not None
    package = module_from_spec(spec)
    sys.modules[_MODULE] = package
    try:
        spec.loader.exec_module(package)
        return importlib.import_module(f"{_MODULE}.morf")
    except BaseException:
        del sys.modules[_MODULE]
        raise


def _morphology() -> _Morphology:
    # its own `instance` makes a new one after a fork
    return cast("_Morphology", _module().Vabamorf.instance())  # type: ignore[attr-defined]


def lemma(form: str) -> str:
    """Return the first form of a word that stands alone, the likeliest where there are several.

    A word in small letters that no dictionary holds is taken for a name (`raplamaal`, of Raplamaa).
    """
    known = _morphology().analyze([form], disambiguate=False, guess=False, propername=False)[0]["analysis"]
    (word,) = _morphology().analyze([form if known else form[:1].upper() + form[1:]], disambiguate=True)
    return next((a["lemma"] for a in word["analysis"] if a["lemma"]), form)


def case_of(form: str) -> tuple[str, str] | None:
    """Return (case, first form) of a written name in the singular; None where it is none, or could be of two names."""
    (word,) = _morphology().analyze([form], disambiguate=False)
    read = {
        (_CASES[a["form"]], a["lemma"])
        for a in word["analysis"]
        if a["partofspeech"] == _NAME and a["form"] in _CASES and a["lemma"][:1].isupper()
    }
    return read.pop() if len(read) == 1 else None


def inflected(name: str, case: str) -> str | None:
    """Return a name in a case; None where Vabamorf cannot make it, or makes more than one form of it."""
    if case not in FORMS:
        return None
    made = {
        found[:1].upper() + found[1:] for kind in _NOUNS for found in _morphology().synthesize(name, FORMS[case], kind)
    }
    return made.pop() if len(made) == 1 else None
