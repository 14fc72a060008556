"""Replace places, organisations and addresses, keeping the words that say what kind of thing they are."""

from __future__ import annotations

import re

from engine.corpus import names as invented
from engine.pii.surrogates.codes import same_shape
from engine.pii.surrogates.keyed import Draw, fold
from engine.pii.surrogates.people import Names, cased
from engine.pii.surrogates.pools import pools

_STREET_WORDS = frozenset(
    "street st road rd lane ln avenue ave close court ct drive dr gardens hill mews place pl "
    "row square sq terrace walk way "
    "boulevard blvd crescent grove park parade alley straße strasse rue calle via platz weg house".split()
)
_UNIT_WORDS = frozenset("flat apartment apt unit floor suite block house room no the".split())
_KIND_WORDS = frozenset(
    "the of and for in at on de la le du des & hospital hospitals infirmary clinic surgery "
    "practice centre center health medical "
    "general royal university college school academy institute institution faculty department "
    "dept division section unit ward "
    "ltd limited plc llc llp inc corp corporation company co group holdings partners sons "
    "trust foundation charity association "
    "society club union federation league party bank insurance assurance savings building "
    "council county city town borough "
    "district parish regional national international european federal state central supreme "
    "high court courts tribunal chamber "
    "appeal appeals magistrates crown family employment administrative land ministry minister "
    "office bureau agency authority "
    "commission committee board inspectorate inspector service services police constabulary "
    "prison army navy force forces "
    "public prosecutor prosecutor's registry government parliament assembly senate embassy "
    "consulate church mosque synagogue "
    "temple cathedral museum library theatre gallery hotel restaurant bar café cafe pub inn "
    "shop stores store supermarket "
    "pharmacy bakery farm farms garage motors airways airlines rail bus railway telecom energy "
    "power gas electric water media "
    "news press times post radio television studio software systems digital games network "
    "networks solutions consulting "
    "engineering logistics foods homes housing estates lettings properties law solicitors "
    "chambers first second third fourth "
    "grand memorial community children's women's st saint north south east west northern "
    "southern eastern western upper lower "
    "great little new river lake mount mountain valley bay island islands isle sea beach "
    "forest airport station port bridge "
    "region province territory republic kingdom village suburb area street road avenue lane "
    "square house care human rights "
    "social security welfare tax customs immigration asylum border student students workers "
    "trade youth research science "
    "constitutional military civil labour assize economy directorate roads highways staff president presidency "
    "instance gendarmerie legal affairs administration general's governor mayor cabinet delegation section senate "
    "bar mental children "
    "technology management bowls choral historical day night mr mrs ms dr council's".split()
)
_TOPICS = ("Justice", "Health", "Education", "Finance", "Defence", "Transport", "Agriculture", "Culture", "Labour",
           "Energy", "Housing", "Trade", "Tourism", "Fisheries", "Environment", "Interior")  # fmt: skip
_TOPIC_KEYS = frozenset(fold(t) for t in _TOPICS)
_WORD = re.compile(r"[^\W\d_]+(?:[’'.&](?=[^\W\d_])[^\W\d_]+)*|\d[\w\-/]*")
_TRIES = 24


class Places:
    """The place words of one unit and their surrogates; towns and organisations share them."""

    def __init__(self, key: bytes, unit: str, names: Names, forbidden: frozenset[str]) -> None:
        self._key, self._unit, self._names, self._forbidden = key, unit, names, forbidden

    def location(self, value: str) -> str:
        """Return the surrogate of a place: country for country, state for state, street for street, else a town."""
        parts = re.split(r"(\s*[,;/]\s*|\s+\(|\))", value)
        return "".join(self._part(p) if i % 2 == 0 and p.strip() else p for i, p in enumerate(parts))

    def _part(self, part: str) -> str:
        key = fold(part)
        bare = key.removeprefix("the ")
        if bare in pools().country_keys:
            return cased(part, self._of(pools().countries, "country", bare))
        if bare in pools().state_keys:
            return cased(part, self._of(pools().states, "state", bare))
        words = part.split()
        if (len(words) > 1 and fold(words[-1]).rstrip(".") in _STREET_WORDS) or part[:1].isdigit():
            return self.address(part)
        if any(c.isdigit() for c in part):
            return same_shape(part, Draw(self._key, self._unit, "postcode", key))
        if part.isupper() and len(part) <= 4:
            return self._acronym(part)
        kept = [fold(w) in _KIND_WORDS for w in words]
        if any(kept) and not all(kept):
            return self._words(part)
        return cased(part, self._town(key))

    def organisation(self, value: str) -> str:
        """Return the surrogate of an organisation; kind words (Hospital, Ltd, Court) stay."""
        if re.fullmatch(r"(?:[A-Z]\.?){2,6}", value):
            return self._acronym(value)
        new = self._words(value)
        if fold(new) != fold(value) and fold(new) not in self._forbidden:
            return new
        return self._placed(value)

    def _words(self, value: str) -> str:
        def word(match: re.Match[str]) -> str:
            text = match.group()
            key = fold(text)
            bare, suffix = (key[:-2], text[-2:]) if key.endswith(("'s", "’s")) else (key, "")
            if key in _TOPIC_KEYS:
                return cased(text, self._of(_TOPICS, "topic", key))
            if bare in _KIND_WORDS or key in _KIND_WORDS or text.islower():
                return text
            if text[0].isdigit():
                return same_shape(text, Draw(self._key, self._unit, "number", key))
            if bare in pools().country_keys:
                return cased(text, self._of(pools().countries, "country", bare)) + suffix
            if bare in pools().nationality_keys:
                return cased(text, self._of(pools().nationalities, "nationality", bare)) + suffix
            if text.isupper() and 2 <= len(text) <= 5 and not value.isupper():
                return self._acronym(text)
            household = self._names.household
            if bare in household.surnames or bare in household.given or bare in pools().known_given:
                return cased(text, self._names.token(bare)) + suffix
            return cased(text, self._town(bare)) + suffix

        return _WORD.sub(word, value)

    def _placed(self, value: str) -> str:
        """Return an organisation named by kind words alone ("the Supreme Court") with a town of its own."""
        town = self._town(fold(value))
        if value.islower() or not re.search(r"\bof\b", value):
            article = re.match(r"(?:the|a|an|our|their) ", value, re.IGNORECASE)
            head = article.group() if article else ""
            new = f"{head}{town} {value[len(head) :]}"
        else:
            new = f"{value} of {town}"
        return new.upper() if value.isupper() else new

    def address(self, value: str) -> str:
        """Return the surrogate of a street address: other numbers, an invented street, the kind of street kept."""
        return "".join(
            self._address_part(part) if i % 2 == 0 else part for i, part in enumerate(re.split(r"(\s*[,\n]\s*)", value))
        )

    def _address_part(self, part: str) -> str:
        tokens = re.split(r"(\s+)", part)
        words = [i for i, t in enumerate(tokens) if t.strip() and not any(c.isdigit() for c in t)]
        named = [i for i in words if fold(tokens[i]).rstrip(".") not in _UNIT_WORDS and not tokens[i].islower()]
        if len(named) > 1 and fold(tokens[named[-1]]).rstrip(".") in _STREET_WORDS:
            named = named[:-1]
        street = self._street(" ".join(fold(tokens[i]) for i in named))
        for n, i in enumerate(named):
            tokens[i] = cased(tokens[i], street if n == 0 else self._town(fold(tokens[i])))
        return "".join(self._house(t, part) if any(c.isdigit() for c in t) else t for t in tokens)

    def _street(self, key: str) -> str:
        draw = Draw(self._key, self._unit, "street", key)
        name = "Elm"
        for _ in range(_TRIES):
            name = invented.street(draw.random()).split(" ")[0]
            if fold(name) not in key.split():
                break
        return name

    def _house(self, token: str, value: str) -> str:
        draw = Draw(self._key, self._unit, "house", fold(value), token)
        for _ in range(_TRIES):
            new = same_shape(token, draw)
            if new != token and (not new.isdigit() or int(new) > 0):
                return new
        return same_shape(token, draw)

    def _town(self, key: str) -> str:
        draw = Draw(self._key, self._unit, "place", key)
        name = ""
        for _ in range(_TRIES):
            name = invented.town(draw.random())
            if name.isalpha() and key not in fold(name) and fold(name) not in self._forbidden:
                return name
        return name + "ham"

    def _of(self, options: tuple[str, ...], kind: str, key: str) -> str:
        draw = Draw(self._key, self._unit, kind, key)
        spare = ""
        for _ in range(_TRIES):
            name = draw.choice(options)
            if fold(name) != key:
                spare = name
                if fold(name) not in self._forbidden:
                    return name
        return spare if kind in {"topic"} else self._town(key)

    def _acronym(self, value: str) -> str:
        draw = Draw(self._key, self._unit, "acronym", fold(value))
        new = value
        for _ in range(_TRIES):
            new = same_shape(value, draw)
            if fold(new) != fold(value) and fold(new) not in self._forbidden:
                break
        return new
