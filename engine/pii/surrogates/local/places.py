"""Places, streets and organisations of a pack's country, in the case they stood in; kind words stay."""

from __future__ import annotations

import re
from functools import lru_cache

from engine.pii.languages.inflection import INNER, NOMINATIVE, OUTER
from engine.pii.languages.pack import pack
from engine.pii.languages.pools import Town, read_pools
from engine.pii.surrogates.codes import same_shape
from engine.pii.surrogates.keyed import Draw, fold
from engine.pii.surrogates.local.joins import elided
from engine.pii.surrogates.local.names import LocalNames
from engine.pii.surrogates.people import cased
from engine.pii.surrogates.places import Places

_WORD = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*|\d[\w/-]*")
_POSTCODE = re.compile(r"(?<!\d)\d{3} \d{2}(?!\d)|(?<!\d)\d{4,5}(?:-\d{3}| ?[A-Z]{2}(?!\w))?(?!\d)")
_FLOOR = re.compile(r"\s*\d{1,2}\s?\.?\s?[ºª°o](?!\w)")
_STREET_NUMBER = re.compile(r"[^,;\n]*[^\W\d_]{3}[^,;\n]*\d{1,4}\s*,\s*\d{1,2}\s?\.?\s?[ºª°]")
_TRIES = 40
_LONG_KIND = 6  # letters of a kind word that is believed at the end of a longer one


@lru_cache(maxsize=16)
def _by_local_case(code: str) -> tuple[tuple[Town, ...], tuple[Town, ...]]:
    """Return the towns that stand in the inner local cases and those in the outer; all in the first where none say."""
    table, towns = pack(code).inflection, read_pools(code).towns
    if table is None or not table.inner:
        return towns, ()
    known = [t for t in towns if " " not in t.name and table.knows(t.name)]
    inside = tuple(t for t in known if t.name.endswith(table.inner) and not table.stands_outside(t.name))
    return inside, tuple(t for t in known if table.stands_outside(t.name))


class LocalPlaces(Places):
    """The place words of one unit and their surrogates in its language."""

    def __init__(self, key: bytes, unit: str, names: LocalNames, forbidden: frozenset[str], code: str) -> None:
        super().__init__(key, unit, names, forbidden)
        self._own, self._pools, self._people = pack(code), read_pools(code), names
        data = self._own.data
        self._kinds = {fold(w) for w in (*data.organisation_words, *data.street_words)}
        if self._own.inflection is not None:  # Kliinikumisse
            table = self._own.inflection
            self._kinds |= {fold(table.inflected(w, case)) for w in data.organisation_words for case in table.cases}
        self._lands = {fold(w): w for w in data.lands}
        self._regions = {fold(w): w for w in self._pools.regions}
        self._inside, self._outside = _by_local_case(code)
        self._towns = frozenset((*(t.name for t in self._pools.towns), *data.lands))

    def location(self, value: str) -> str:
        """Return the surrogate of a place: country for country, region for region, postcode with its town."""
        if _STREET_NUMBER.match(value) and not _POSTCODE.match(value):
            return self.address(value)  # a street with its floor or flat
        parts = re.split(r"(\s*[,;/\n]\s*|\s+\(|\))", value)
        return "".join(self._place(p) if i % 2 == 0 and p.strip() else p for i, p in enumerate(parts))

    def _place(self, part: str) -> str:
        key = fold(part)
        if key in self._lands:
            return self._other(self._own.data.lands, "land", part)
        if key in self._regions:
            return self._other(self._pools.regions, "region", part)
        post = _POSTCODE.search(part)
        if post:
            town = self._town_of(fold(_POSTCODE.sub("", part)) or key)
            code = town.postcode or same_shape(post.group(), self._draw("post", key))
            letters = re.search(r" ?[A-Z]{2}\Z", post.group())  # the Dutch ones, which no list of towns has
            code += same_shape(letters.group(), self._draw("post letters", key)) if letters and town.postcode else ""
            rest = part[: post.start()] + code
            tail = part[post.end() :]
            return rest + (" " + town.name if tail.strip() else tail)
        if any(c.isdigit() for c in part):
            return self.address(part)
        words = part.split()
        if len(words) > 1 and any(fold(w).strip(".") in self._kinds for w in words):
            return self.organisation(part)
        table = self._own.inflection
        if table is not None:
            case, first = table.case_of(words[-1], self._towns)
            if case == NOMINATIVE and words[-1] not in self._towns:
                case, first = table.case_of(words[-1])
            if first in self._lands.values():
                return cased(part, table.inflected(self._other(self._own.data.lands, "land", first), case))
            outer = case in OUTER or (case not in INNER and table.stands_outside(first))
            town = self._town_of(fold(table.genitive(first) if first in self._towns else first), outer=outer)
            return cased(part, table.inflected(town.name, case))
        return cased(part, self._town_of(key).name)

    def _town_of(self, key: str, *, outer: bool = False) -> Town:
        """Return the town that stands for a town of this unit, of those that take the same local cases."""
        draw = self._draw("local town", key)
        towns = self._outside if outer and self._outside else self._inside
        town = towns[0]
        for _ in range(_TRIES):
            town = draw.choice(towns)
            if fold(town.name) != key and fold(town.name) not in self._forbidden:
                return town
        return town

    def _other(self, options: tuple[str, ...], kind: str, value: str) -> str:
        draw = self._draw(kind, fold(value))
        new = value
        for _ in range(_TRIES):
            new = draw.choice(options)
            if fold(new) != fold(value) and fold(new) not in self._forbidden:
                break
        return cased(value, new) if value.isupper() else new

    def _draw(self, *parts: str) -> Draw:
        return Draw(self._key, self._unit, *parts)

    def organisation(self, value: str) -> str:
        """Return the surrogate of an organisation; words that say its kind stay."""
        if re.fullmatch(r"(?:[A-Z]\.?){2,6}", value):
            return self._acronym(value)

        def word(match: re.Match[str]) -> str:
            text = match.group()
            key = fold(text)
            if text[0].isdigit():
                return same_shape(text, self._draw("number", key))
            head, dash, kind = text.rpartition("-")
            if dash and key not in self._kinds and self._is_kind(fold(kind)):  # Anna-Krankenhaus
                return f"{self._place(head)}-{kind}"
            if self._is_kind(key) or f"{key}." in self._kinds or text.islower() or len(text) < 2:
                return text
            household = self._people.household
            if household.is_given(key) or key in household.surnames:
                return cased(text, self._people.token(key))
            return self._place(text)

        new = elided(_WORD.sub(word, value), self._own.code)
        if fold(new) != fold(value):
            return new
        return f"{value} {self._town_of(fold(value)).name}"

    def _is_kind(self, key: str) -> bool:
        """Return whether a word says what kind of organisation this is, by itself or at its end (Kreiskrankenhaus)."""
        return key in self._kinds or any(key.endswith(kind) for kind in self._kinds if len(kind) >= _LONG_KIND)

    def address(self, value: str) -> str:
        """Return a street address of the country; what follows a comma is a place."""
        head, comma, rest = value.partition(",")
        number = re.match(r"\s*\d+\w?\s*(?:bis|ter)?\s*$", head)
        if number and rest:  # "4, avenue Victor Hugo"
            head, comma, rest = value, "", ""
        data, draw = self._own.data, self._draw("local street", fold(head))
        stems = self._pools.streets or data.street_stems or self._pools.surnames
        stem = ""
        for _ in range(_TRIES):
            stem = draw.choice(stems)
            if fold(stem) not in fold(head):
                break
        house = str(draw.between(1, 90))
        written = {fold(w) for w in _WORD.findall(head)}
        shapes = [s for s in data.streets if {fold(w) for w in _WORD.findall(s)} & written] or list(data.streets)
        shape = draw.choice(shapes)
        stem = re.sub(r" (?:tn|tee|pst)$", "", stem)
        new = shape.format(name=stem, n=house)
        if not any(c.isdigit() for c in head):
            new = re.sub(r",?\s*\b" + house + r"\b\s*", "", new).strip()
        tail = "".join(
            p if i % 2 or not p.strip() else self._tail(p) for i, p in enumerate(re.split(r"(\s*[,;\n]\s*)", rest))
        )
        return new + comma + tail

    def _tail(self, part: str) -> str:
        """Return what stands for a part after a street: a floor's or flat's signs change, a town is a town."""
        if _FLOOR.match(part):
            draw = self._draw("floor", fold(part))
            return re.sub(r"\d+|\b[A-Z]\b", lambda m: same_shape(m.group(), draw), part)
        if len(re.findall(r"[^\W\d_]", part)) < 4:
            draw = self._draw("flat", fold(part))
            return re.sub(r"[A-Za-z\d]+", lambda m: same_shape(m.group(), draw), part)
        return self._place(part)
