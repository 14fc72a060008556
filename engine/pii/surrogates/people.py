"""Replace person names token by token, so that every way to name a person leads to the same surrogate."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

from engine.corpus import names as invented
from engine.pii.surrogates.keyed import Draw, fold
from engine.pii.surrogates.pools import pools

_FEMALE_TITLES = frozenset("mrs ms miss madam lady sister mme frau dame".split())
_MALE_TITLES = frozenset("mr sir lord master brother herr monsieur".split())
TITLES = _FEMALE_TITLES | _MALE_TITLES | frozenset(
    "dr prof professor judge justice rev reverend father hon the and of captain sergeant "
    "inspector president phd md jr sr qc kc esq "
    "dame mx baroness baron count countess".split()
)  # fmt: skip
_PARTICLES = frozenset("van von de der den di da dos del la le el al bin ibn ter ten du y e zu".split())
_TOKEN = re.compile(r"[^\W\d_]+(?:[’'][^\W\d_]{2,})*")
_TITLE_BEFORE = re.compile(r"\b(Mrs|Ms|Miss|Madam|Lady|Mr|Sir|Lord|Master)\.?\s+$", re.IGNORECASE)
_TRIES = 24


@dataclass
class Household:
    """What a unit's own mentions say about its name tokens: roles, genders, who has which initials."""

    given: set[str] = field(default_factory=set)
    surnames: set[str] = field(default_factory=set)
    gender: dict[str, str] = field(default_factory=dict)
    given_of: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def observe(self, mention: str, before: str) -> None:
        """Take in one mention and the text just before it."""
        tokens = _TOKEN.findall(mention)
        titled = _TITLE_BEFORE.search(before)
        titles = {fold(t) for t in tokens} | ({fold(titled.group(1))} if titled else set())
        gender = "f" if titles & _FEMALE_TITLES else "m" if titles & _MALE_TITLES else ""
        words = [[fold(t) for t in _TOKEN.findall(word)] for word in mention.split()]
        names = [[t for t in word if t not in TITLES and t not in _PARTICLES and len(t) > 1] for word in words]
        names = [word for word in names if word]
        if "," in mention and len(names) >= 2:
            names = names[1:] + names[:1]
        if len(names) >= 2:
            given = [token for word in names[:-1] for token in word]
            self.given.update(given)
            self.surnames.update(names[-1])  # a hyphenated surname is one word of two tokens
            for surname in names[-1]:
                self.given_of[surname].update(given)
            if gender:
                self.gender.update(dict.fromkeys(given, gender))
        elif names and titled:
            self.surnames.update(names[0])

    def is_given(self, token: str) -> bool:
        """Return whether the token is a given name here."""
        if token in self.given or token in self.surnames:
            return token in self.given and not (token in self.surnames and token not in pools().known_given)
        return token in pools().known_given


class Names:
    """The name tokens of one unit and their surrogates."""

    def __init__(self, key: bytes, unit: str, forbidden: frozenset[str], forbidden_tokens: frozenset[str]) -> None:
        self._key, self._unit = key, unit
        self._forbidden, self._forbidden_tokens = forbidden, forbidden_tokens
        self.household = Household()
        self._memo: dict[str, str] = {}

    def replace(self, mention: str) -> str:
        """Return the mention with every name token replaced; titles, particles and marks stay."""
        if re.fullmatch(r"[A-Z]\.?[ -]?(?:[A-Z]\.?[ -]?){0,2}", mention):
            return self._initials(mention)
        tokens = [m for m in _TOKEN.finditer(mention) if fold(m.group()) not in TITLES]
        if not tokens:
            return self._alone(mention)
        last = next((fold(m.group()) for m in reversed(tokens) if len(m.group()) > 1), "")
        first = fold(tokens[0].group())
        owner = first if "," in mention else last

        def token(match: re.Match[str]) -> str:
            word = match.group()
            key = fold(word)
            if key in TITLES or (key in _PARTICLES and (match.start() > 0 or len(tokens) > 1)):
                return word
            if word == "J" and len(tokens) > 1 and match.end() == len(mention):
                return word  # "BROWN J": the judge's rank, not an initial
            if len(word) == 1:
                return self._initial(key, owner)
            return cased(word, self.token(key))

        return _TOKEN.sub(token, mention)

    def token(self, key: str) -> str:
        """Return the surrogate of one folded name token."""
        if key not in self._memo:
            self._memo[key] = self._given(key) if self.household.is_given(key) else self._surname(key)
        return self._memo[key]

    def _given(self, key: str) -> str:
        gender = self.household.gender.get(key) or pools().known_given.get(key, "")
        draw = Draw(self._key, self._unit, "given", key)
        options = pools().given[gender]
        for _ in range(_TRIES):
            name = draw.choice(options)
            if fold(name) != key and fold(name) not in self._forbidden:
                return name
        return self._invented(draw, key)

    def _surname(self, key: str) -> str:
        draw = Draw(self._key, self._unit, "surname", key)
        for _ in range(_TRIES):
            name = draw.choice(pools().surnames)
            if fold(name) != key and fold(name) not in self._forbidden_tokens:
                return name
        return self._invented(draw, key)

    def _invented(self, draw: Draw, key: str) -> str:
        for _ in range(200):
            name = invented.surname(draw.random()).replace(" ", "").replace("-", "").replace("’", "").replace("'", "")
            if fold(name) != key and fold(name) not in self._forbidden_tokens:
                return name.capitalize()
        return "Xavervale" + "".join(draw.choice("abcdeilmnorst") for _ in range(8))

    def _initial(self, letter: str, surname: str) -> str:
        owners = sorted(g for g in self.household.given_of.get(surname, ()) if g.startswith(letter))
        if owners:
            return self.token(owners[0])[0].upper()
        return self._other_letter(letter, surname)

    def _other_letter(self, letter: str, surname: str) -> str:
        draw = Draw(self._key, self._unit, "initial", letter, surname)
        return draw.choice([c for c in "ABCDEFGHIJKLMNOPRSTW" if c.lower() != letter])

    def _initials(self, mention: str) -> str:
        """Return initials ("MK", "G.T.") of the surrogate of the person they stand for, if one is known."""
        letters = [c.lower() for c in mention if c.isalpha()]
        for surname in sorted(self.household.given_of):
            for given in sorted(self.household.given_of[surname]):
                if len(letters) == 2 and given.startswith(letters[0]) and surname.startswith(letters[1]):
                    supply = iter((self.token(given)[0].upper(), self.token(surname)[0].upper()))
                    return self._changed(mention, "".join(next(supply) if c.isalpha() else c for c in mention))
        return self._changed(
            mention, "".join(self._other_letter(c.lower(), mention) if c.isalpha() else c for c in mention)
        )

    def _changed(self, old: str, new: str) -> str:
        if fold(old) != fold(new) and fold(new) not in self._forbidden:
            return new
        draw = Draw(self._key, self._unit, "initials again", fold(old))
        for _ in range(_TRIES):
            new = "".join(draw.choice("ABCDEFGHIJKLMNOPRSTW") if c.isalpha() else c for c in old)
            if fold(new) != fold(old) and fold(new) not in self._forbidden:
                break
        return new

    def _alone(self, mention: str) -> str:
        """Return the surrogate of a mention without name tokens: a title alone stays, digits change."""
        digits = Draw(self._key, self._unit, "name digits", fold(mention))
        return "".join(str(digits.number(10)) if c.isdigit() else c for c in mention)


def cased(old: str, new: str) -> str:
    """Return `new` in the casing of `old`."""
    if old.isupper() and len(old) > 1:
        return new.upper()
    if old.islower():
        return new.lower()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new
