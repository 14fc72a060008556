"""Names of a pack's country in place of a record's names: gender, case and possessive as they stood.

A name token is known by its genitive, so that Tamm, Tamme and Tammele are one; its surrogate is put into the case it
stood in. Where the first form of a name is its genitive too, so is the surrogate's, and no case is ever guessed wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from engine.pii.languages.inflection import GENITIVE, NOMINATIVE
from engine.pii.languages.pack import Pack, codes, pack
from engine.pii.languages.pools import read_pools
from engine.pii.languages.synthesis import names_of
from engine.pii.surrogates.keyed import Draw, fold
from engine.pii.surrogates.people import Household, Names, cased
from engine.pii.surrogates.pools import pools

_TOKEN = re.compile(r"[^\W\d_]+(?:[’'][^\W\d_]{2,})*")
_PARTICLES = frozenset(
    "van von vom zu zum zur de der den del la las los le du des da dos do das af av ten ter y e i und ja".split()
)
_LADIES = frozenset({"freifrau", "lady"})  # ranks of women that do not end in -in
_TRIES = 40
_SAFE_ENDINGS = frozenset({"le", "lt", "ga", "sse"})  # believed of a word that no list holds; names end in others too


@lru_cache(maxsize=16)
def _known(code: str) -> tuple[dict[str, str], frozenset[str]]:
    """Return the folded forenames with their sex, and every name of the pools as written."""
    pools = read_pools(code)
    given = {fold(n): "f" for n in pools.female} | {fold(n): "m" for n in pools.male}
    for name in {fold(n) for n in pools.female} & {fold(n) for n in pools.male}:
        given[name] = ""
    return given, frozenset((*pools.forenames, *pools.surnames))


@lru_cache(maxsize=1)
def _elsewhere() -> dict[str, str]:
    """Return the sex of forenames of all packs, of those that are one sex wherever they are known."""
    found: dict[str, set[str]] = {}
    for code in codes():
        for name, sex in _known(code)[0].items():
            found.setdefault(name, set()).add(sex)
    return {name: sex for name, (sex, *more) in found.items() if not more}


class Forms:
    """Tells the key and the case of a written name token, and puts surrogates into a case."""

    def __init__(self, own: Pack) -> None:
        self.own, self.table = own, names_of(own.code)
        self.words = _known(own.code)[1]
        self.keys: set[str] = set()  # keys of tokens seen
        self.first: dict[str, set[str]] = {}  # key -> first forms seen

    def key(self, word: str) -> str:
        """Return the key of a first form."""
        return fold(self.table.genitive(word[:1].upper() + word[1:].lower())) if self.table else fold(word)

    def read(self, word: str) -> tuple[str, str]:
        """Return (key, case) of a written token."""
        plain = word[:1].upper() + word[1:].lower() if word.isupper() and len(word) > 1 else word
        if self.table is not None:
            if any(fold(f) != fold(plain) for f in self.first.get(fold(plain), ())):
                return fold(plain), GENITIVE
            case, first = self.table.case_of(plain, self.words)
            if case != NOMINATIVE or plain in self.words:
                return self.key(first), case
            for case, ending in self.table.added():
                stem = plain[: len(plain) - len(ending)]
                fits = ending and plain.endswith(ending) and len(stem) > 2 and stem[-1] in "aeiouõäöü"
                if fits and (fold(stem) in self.keys or ending in _SAFE_ENDINGS):
                    return fold(stem), case
            return self.key(plain), NOMINATIVE
        ending = self.own.data.possessive
        if ending and plain.endswith(ending) and fold(plain[: -len(ending)]) in self.keys:
            return fold(plain[: -len(ending)]), GENITIVE
        return fold(plain), NOMINATIVE

    def see(self, word: str) -> str:
        """Remember a token and return its key."""
        key, case = self.read(word)
        self.keys.add(key)
        if case == NOMINATIVE:
            self.first.setdefault(key, set()).add(word)
        return key

    def put(self, name: str, case: str) -> str:
        """Return a surrogate in a case."""
        if self.table is not None:
            return self.table.inflected(name, case)
        if case == GENITIVE and self.own.data.possessive:
            special = next((v for k, v in self.own.data.possessive_after.items() if name[-1:] in k), None)
            return name + (self.own.data.possessive if special is None else special)
        return name

    def steady(self, name: str) -> bool:
        """Return whether a name's genitive is its first form."""
        return self.table is None or self.table.genitive(name) == name


@dataclass
class LocalHousehold(Household):
    """What a unit's mentions say about its name tokens, by the titles of its language."""

    code: str = ""
    forms: Forms = field(init=False)

    def __post_init__(self) -> None:
        """Read the pack."""
        own = pack(self.code)
        self.forms = Forms(own)
        titles = own.data.titles
        ranks = {fold(r): "f" if fold(r).endswith("in") or fold(r) in _LADIES else "m" for r in own.data.ranks}
        self.sexes = ranks | {fold(t): "f" for t in titles.f} | {fold(t): "m" for t in titles.m}
        self.titles = frozenset(self.sexes) | {fold(w) for t in titles.any for w in re.findall(r"\w+", t)}
        self.known = _known(self.code)[0]
        self.families = frozenset(map(fold, read_pools(self.code).surnames))

    def untitled(self, tokens: Sequence[str]) -> list[bool]:
        """Return which tokens of a mention are of the name; a title behind a forename is one (Thomas Richter)."""
        named = [fold(t) not in self.titles for t in tokens]
        if len(tokens) > 1 and not named[-1] and fold(tokens[-2]) in self.known and named[-2]:
            named[-1] = True
        return named

    def observe(self, mention: str, before: str) -> None:
        """Take in one mention and the text just before it."""
        words = [[t for t in _TOKEN.findall(word) if len(t) > 1] for word in mention.split()]
        tokens = [t for word in words for t in word]
        near = [fold(t) for t in _TOKEN.findall(before)[-1:]]
        own_words = self.untitled(tokens)
        title_words = [fold(t) for t, is_name in zip(tokens, own_words) if not is_name]
        titles = [t for t in (*title_words, *near) if t in self.titles]
        sex = next((self.sexes[t] for t in titles if t in self.sexes), "")
        is_name = iter(own_words)
        named = [[t for t in word if next(is_name) and fold(t) not in _PARTICLES] for word in words]
        named = [word for word in named if word]
        keys = [[self.forms.see(t) for t in word] for word in named]
        if "," in mention and len(keys) > 1:
            keys, named = keys[1:] + keys[:1], named[1:] + named[:1]
        if len(keys) > 1:
            known = [any(k in self.known or fold(n) in self.known for k, n in zip(*w)) for w in zip(keys, named)]
            count = max(1, min(len(keys) - 1, next((i for i, k in enumerate(known) if not k), len(keys) - 1)))
            given = [k for word in keys[:count] for k in word]  # a hyphenated forename is one word of two tokens
            surnames = [k for word in keys[count:] for k in word]
            self.given.update(given)
            self.surnames.update(surnames)
            for surname in surnames:
                self.given_of[surname].update(given)
            own = [self.known[k] for k in (*given, *(fold(n) for w in named[:count] for n in w)) if self.known.get(k)]
            if sex or own:
                self.gender.update(dict.fromkeys(given, sex or own[0]))
        elif keys and titles and not (fold(named[0][0]) in self.known and fold(named[0][0]) not in self.families):
            self.surnames.update(keys[0])  # "Frau Anna" is no surname

    def is_given(self, token: str) -> bool:
        """Return whether the token is a given name here."""
        if token in self.given or token in self.surnames:
            return token in self.given
        return token in self.known or any(fold(f) in self.known for f in self.forms.first.get(token, ()))


class LocalNames(Names):
    """The name tokens of one unit and their surrogates, in the unit's language."""

    def __init__(self, key: bytes, unit: str, forbidden: frozenset[str], tokens: frozenset[str], code: str) -> None:
        super().__init__(key, unit, forbidden, tokens)
        self._own, self._pools = pack(code), read_pools(code)
        self._people = LocalHousehold(code=code)
        self.household = self._people
        self._chosen: dict[str, str] = {}

    def replace(self, mention: str) -> str:
        """Return the mention with every name token replaced; titles, particles and marks stay."""
        if re.fullmatch(r"[^\W\d_]\.?[ -]?(?:[A-Z]\.?[ -]?){0,2}", mention):
            return self._initials(mention)
        found = list(_TOKEN.finditer(mention))
        tokens = [m for m, own in zip(found, self._people.untitled([m.group() for m in found])) if own]
        if not tokens:
            return self._alone(mention)
        starts = {m.start() for m in tokens}
        owner = next((self._people.forms.read(m.group())[0] for m in reversed(tokens) if len(m.group()) > 1), "")

        def token(match: re.Match[str]) -> str:
            word = match.group()
            if match.start() not in starts or (fold(word) in _PARTICLES and word.islower()):
                return word
            if len(word) == 1:
                return self._initial(fold(word), owner)
            key, case = self._people.forms.read(word)
            return cased(word, self._people.forms.put(self.token(key), case))

        return _TOKEN.sub(token, mention)

    def token(self, key: str) -> str:
        """Return the surrogate of one name token by its key, in its first form."""
        forms = self._people.forms
        if key not in forms.keys:  # a folded first form, as a mail address holds it
            key = next((k for k, seen in sorted(forms.first.items()) if any(fold(f) == key for f in seen)), key)
        if key not in self._chosen:
            self._chosen[key] = self._made(key)
        return self._chosen[key]

    def _made(self, key: str) -> str:
        people, forms = self._people, self._people.forms
        given = people.is_given(key)
        first = sorted(forms.first.get(key, ()))
        sex = (
            people.gender.get(key)
            or people.known.get(key, "")
            or next((people.known[fold(f)] for f in first if fold(f) in people.known), "")
            or (_elsewhere().get(key) or pools().known_given.get(key, "") if given else "")
        )
        options = self._pools.surnames
        if given:
            options = {"f": self._pools.female, "m": self._pools.male}.get(sex, self._pools.forenames)
        steady = all(forms.steady(f) for f in first) if first else True
        draw = Draw(self._key, self._unit, "local given" if given else "local surname", key)
        name = options[0]
        for n in range(_TRIES):
            name = draw.choice(options)
            folded = fold(name)
            if (
                " " in name
                or folded == key
                or forms.key(name) == key
                or folded in self._forbidden | self._forbidden_tokens
            ):
                continue
            if forms.table is not None and not forms.table.knows(name):
                continue  # it could not be put into a case
            if forms.table is None or forms.steady(name) == steady or n > _TRIES // 2:
                return name
        return name if fold(name) != key else self._invented(draw, key)
