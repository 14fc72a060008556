"""Read what people are called in a language, by their work and descent, and find a word that fits where another stood.

`assets/languages/<code>/people.yaml` holds groups of words. A word is a row of forms (Koch, Kochs, Köche, Köchin …), to
which a group may add some that are made of these (Estonian cases: the genitive and an ending). A written form may be
several at once ("Lehrer" is one and many), and nothing here reads the sentence. So a word is only ever replaced by one
whose forms are alike wherever its own are: whichever was meant, the other word's is the right one.

Privacy posture: public lists; works on single words in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from engine.assets import ASSETS
from engine.errors import InternalError

FOLDER = ASSETS / "languages"
OPEN = frozenset("aeiouyhàâäéèêëîïôöûüœ")  # letters before which French shortens an article
ELIDING = frozenset({"fr"})


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    group: str
    forms: tuple[str, ...]
    derived: dict[str, tuple[str, str]] = {}
    words: str


@dataclass(frozen=True)
class Word:
    """A word: its group and its forms by name, the first one in front."""

    group: str
    forms: dict[str, str]

    @property
    def first(self) -> str:
        """Return the word as a list would have it."""
        return next(iter(self.forms.values()))

    def named(self, written: str) -> str | None:
        """Return the name of a form that is written so, without regard to case; the first of several."""
        return next((name for name, form in self.forms.items() if form.casefold() == written.casefold()), None)

    def alike(self) -> frozenset[tuple[str, str]]:
        """Return the pairs of forms that are written alike."""
        names = list(self.forms)
        return frozenset((a, b) for i, a in enumerate(names) for b in names[i + 1 :] if self.forms[a] == self.forms[b])


@dataclass(frozen=True)
class People:
    """What people are called in one language."""

    words: tuple[Word, ...]
    by_form: dict[str, Word]
    stand_ins: dict[str, tuple[Word, ...]]

    def find(self, written: str) -> Word | None:
        """Return the word that a written form is of, the first one that lists it; None where there is none."""
        return self.by_form.get(written.casefold())

    def instead(self, word: Word) -> tuple[Word, ...]:
        """Return the words that fit wherever this one stood; without the word itself."""
        return self.stand_ins[word.first]


@lru_cache(maxsize=16)
def people(code: str) -> People | None:
    """Return what people are called in a language, None where nothing is written down.

    Raises:
        InternalError: the file breaks a rule.
    """
    file = FOLDER / code / "people.yaml"
    if not file.is_file():
        return None
    try:
        groups = [_Group.model_validate(one) for one in yaml.safe_load(file.read_text(encoding="utf-8"))]
        words = tuple(_word(group, line) for group in groups for line in group.words.splitlines())
    except (ValidationError, KeyError, ValueError) as error:
        raise InternalError(f"language pack {code}: people.yaml ({type(error).__name__})") from None
    by_form: dict[str, Word] = {}
    for word in words:
        for form in word.forms.values():
            by_form.setdefault(form.casefold(), word)
    alike = {word.first: word.alike() for word in words}
    stand_ins = {
        word.first: tuple(
            other for other in words
            if other is not word and other.group == word.group and alike[word.first] <= alike[other.first]
            and (code not in ELIDING or _is_open(other) == _is_open(word))
        )
        for word in words
    }  # fmt: skip
    return People(words, by_form, stand_ins)


def _word(group: _Group, line: str) -> Word:
    forms = dict(zip(group.forms, line.split(), strict=True))
    for name, (of, ending) in group.derived.items():
        forms[name] = forms[of] + ending
    return Word(group.group, forms)


def _is_open(word: Word) -> bool:
    return word.first[0].casefold() in OPEN
