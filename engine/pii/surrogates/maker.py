"""Make surrogates: consistent inside a unit, unlinkable across units, true to the type they replace."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from engine.errors import UserError
from engine.pii.languages.pack import Pack, pack
from engine.pii.languages.pack import codes as pack_codes
from engine.pii.languages.people import People, people
from engine.pii.redact.base import join_overlapping
from engine.pii.spans import Span
from engine.pii.surrogates import codes
from engine.pii.surrogates.dates import shift_date
from engine.pii.surrogates.keyed import Draw, fold
from engine.pii.surrogates.local import numbers
from engine.pii.surrogates.local.ages import local_age
from engine.pii.surrogates.local.joins import fitted
from engine.pii.surrogates.local.names import LocalNames
from engine.pii.surrogates.local.places import LocalPlaces
from engine.pii.surrogates.numbers import first_number, perturb_quantity, shift_age
from engine.pii.surrogates.online import Online
from engine.pii.surrogates.people import Names, cased
from engine.pii.surrogates.places import Places
from engine.pii.surrogates.pools import pools

_EDGES = re.compile(r"\A(\s*[\"“(]?)(.*?)((?:[’']s)?[\s,;:\"”)]*)\Z", re.DOTALL)
_ARTICLE = re.compile(r"\b([Aa])(n?) \Z")
_TRIES = 24
_UNITS_HELD = 4096


@dataclass(frozen=True)
class Replaced:
    """A text with surrogates in it.

    `spans` are where the surrogates stand, `kept` counts per label the values left as they were
    because nothing in them could be replaced ("last Tuesday", an unknown occupation); their spans
    have the recogniser `kept`.
    """

    text: str
    spans: tuple[Span, ...]
    kept: Mapping[str, int] = field(default_factory=dict)


class _Unit:
    """Everything one unit's surrogates share."""

    def __init__(
        self, key: bytes, name: str, forbidden: frozenset[str], tokens: frozenset[str], most_days: int
    ) -> None:
        self.key, self.name, self.forbidden, self.tokens = key, name, forbidden, tokens
        draw = Draw(key, name, "shift")
        self.days = draw.between(1, most_days) * draw.choice((-1, 1))
        self.years = draw.between(1, 4) * draw.choice((-1, 1))
        self.names = Names(key, name, forbidden, tokens)
        self.places = Places(key, name, self.names, forbidden)
        self.online = Online(key, name, self.names)
        self.month_first = False
        self.memo: dict[tuple[str, str], str] = {}
        self.own: Pack | None = None

    def speak(self, code: str) -> None:
        """Take names, places, dates and numbers from a language's pack from here on; English stays as it is."""
        if code not in pack_codes() or self.own is not None:
            return
        self.own = pack(code)
        names = LocalNames(self.key, self.name, self.forbidden, self.tokens, code)
        self.names = names
        self.places = LocalPlaces(self.key, self.name, names, self.forbidden, code)
        self.online = Online(self.key, self.name, names)

    def value(self, label: str, value: str) -> str:
        """Return the surrogate of a value, in the casing it is asked for."""
        memo_key = (label, value)
        if memo_key not in self.memo:
            self.memo[memo_key] = self._made(label, value)
        return self.memo[memo_key]

    def _made(self, label: str, value: str) -> str:
        steady: dict[str, Callable[[str], str]] = {
            "PERSON": self.names.replace,
            "LOCATION": self.places.location,
            "ORGANISATION": self.places.organisation,
            "ADDRESS": self.places.address,
            "EMAIL": self.online.email,
            "USERNAME": self.online.username,
            "URL": self.online.url,
            "AGE": self._age,
            "DATE": self._date,
            "DEMOGRAPHIC": self._demographic,
            "MISC": lambda _: "[MISC]",
        }
        if label in steady:
            return steady[label](value)
        return self._drawn(label, value)

    def _drawn(self, label: str, value: str) -> str:
        """Return a number or code drawn again until it is neither the value nor a forbidden one."""
        make: dict[str, Callable[[str, Draw], str]] = {
            "PHONE": codes.phone,
            "CARD": codes.card,
            "IBAN": codes.iban,
            "NATIONAL_ID": codes.national_id,
            "IP": codes.ip,
            "QUANTITY": perturb_quantity,
        }
        own = self.own
        if own is not None:
            make["PHONE"] = lambda v, d: numbers.phone(v, d, own)
            make["NATIONAL_ID"] = lambda v, d: numbers.national_id(v, d, own, self.days)
        draw = Draw(self.key, self.name, label, fold(value))
        new = value
        for _ in range(_TRIES):
            new = make.get(label, codes.same_shape)(value, draw)
            if fold(new) != fold(value) and (fold(new) not in self.forbidden or label == "QUANTITY"):
                break
        return new

    def _age(self, value: str) -> str:
        moved = None if self.own is None else local_age(value, self.years, self.own.code)
        return shift_age(value, self.years) if moved is None else moved

    def _date(self, value: str) -> str:
        if self.own is not None and (moved := numbers.local_date(value, self.days, self.own)) is not None:
            return moved
        if self.own is not None and (moved := numbers.weekday(value, self.days, self.own)) is not None:
            return moved
        draw = Draw(self.key, self.name, "date", fold(value))
        if self.own is not None and (other := numbers.clock(value, draw)) is not None:
            return other
        shifted = shift_date(value, self.days, draw, month_first=self.month_first)
        return self._drawn("QUANTITY", value) if shifted.kept and not _RELATIVE.search(value) else shifted.text

    def _demographic(self, value: str) -> str:
        whole = fold(value)
        if re.search(r"\bage\b|year-old|years old|\baged\b", whole):
            return shift_age(value, self.years)
        if first_number(value) is not None:
            return self._drawn("QUANTITY", value)
        own = None if self.own is None else people(self.own.code)
        if own is not None:
            made = re.sub(r"[^\W\d_]+(?:-[^\W\d_]+)*", lambda m: self._called(m.group(), own), value)
            if made != value:
                return made
        found = self._same_kind(whole)
        if found:
            return cased(value, found) if value.isupper() or value[:1].islower() else found[:1].upper() + found[1:]
        for gap in re.finditer(r"\s+", value):
            found = self._same_kind(fold(value[gap.end() :]))
            if found:
                return value[: gap.end()] + cased(value[gap.end() :], found)
        return re.sub(r"[^\W\d_]+", lambda m: self._word_of_kind(m.group()), value)

    def _called(self, written: str, own: People) -> str:
        """Return another word of the unit's language for what people are called, in the form it stands in."""
        word = own.find(written)
        name = None if word is None else word.named(written)
        options = () if word is None else own.instead(word)
        if word is None or name is None or not options:
            return written
        new = Draw(self.key, self.name, "called", fold(word.first)).choice(options).forms[name]
        if written.isupper() and len(written) > 1:
            return new.upper()
        return new[:1].upper() + new[1:] if written[:1].isupper() else new

    def _word_of_kind(self, word: str) -> str:
        found = self._same_kind(fold(word))
        return (found if found[0].isupper() and word[0].isupper() else cased(word, found)) if found else word

    def _same_kind(self, key: str) -> str | None:
        known = pools()
        options: Sequence[str] = ()
        plural = ""
        for ending in ("", "s"):
            stem = key.removesuffix(ending) if ending else key
            if stem in known.groups:
                options = known.groups[stem]
            elif stem in known.nationality_keys:
                options = known.nationalities
            elif stem in known.job_keys:
                options = known.jobs
            if options:
                key, plural = stem, ending if stem != key else ""
                break
        if not options:
            return None
        draw = Draw(self.key, self.name, "demographic", key)
        for _ in range(_TRIES):
            new = draw.choice(options)
            if fold(new) != key:
                return new + plural
        return None


_RELATIVE = re.compile(r"\b(?:last|next|this|previous|following|coming)\b", re.IGNORECASE)


class SurrogateMaker:
    """Replace accepted spans by surrogates keyed by a secret.

    Args:
        key: secret of at least 16 bytes; without it surrogates cannot be traced back.
        unit: `source` shares surrogates among a source's records (a record without a source is its
            own unit); `record` shares them inside each record only.
        forbidden: true values no surrogate may equal.
        keep_labels: labels whose values stay as they are.
        date_shift_days_max: largest shift of a unit's dates, in days.
        month_first: how to read "3/4/98"; `dates.month_first` tells it from a corpus' dates.
        languages: record id to language code; a unit speaks the language of its first record that is observed or
            replaced, and a record that is not there speaks English.
    """

    def __init__(
        self,
        key: bytes,
        unit: str,
        *,
        forbidden: Collection[str] = (),
        keep_labels: Collection[str] = (),
        date_shift_days_max: int = 365,
        month_first: bool = False,
        languages: Mapping[str, str] | None = None,
    ) -> None:
        if len(key) < 16:
            raise UserError(f"key must have at least 16 bytes; got {len(key)}; use the workspace's surrogate key")
        if unit not in ("record", "source"):
            raise UserError(f"unit must be record or source; got {unit!r}")
        self._key, self._unit, self._most_days = key, unit, date_shift_days_max
        self._month_first = month_first
        self._languages = languages or {}
        self._keep = frozenset(keep_labels)
        self._forbidden = frozenset(map(fold, forbidden))
        self._tokens = frozenset(t for value in self._forbidden for t in re.findall(r"[^\W\d_]{3,}", value))
        self._units: OrderedDict[str, _Unit] = OrderedDict()

    def _of(self, record_id: str, source_id: str | None) -> _Unit:
        name = f"source {source_id}" if self._unit == "source" and source_id is not None else f"record {record_id}"
        if name not in self._units:
            self._units[name] = _Unit(self._key, name, self._forbidden, self._tokens, self._most_days)
            self._units[name].month_first = self._month_first
            self._units[name].speak(self._languages.get(record_id, "en"))
            if self._unit == "record" and len(self._units) > _UNITS_HELD:
                self._units.popitem(last=False)
        return self._units[name]

    def observe(self, text: str, spans: Sequence[Span], record_id: str, source_id: str | None = None) -> None:
        """Learn from a record who is named how in its unit.

        Call it for all records of a unit before the first `replace`, so that a surname alone in one
        record meets the full name in another, in whatever order records are then replaced.
        """
        household = self._of(record_id, source_id).names.household
        for span in spans:
            if span.label == "PERSON":
                household.observe(text[span.start : span.end], text[max(0, span.start - 12) : span.start])

    def replace(self, text: str, spans: Sequence[Span], record_id: str, source_id: str | None = None) -> Replaced:
        """Return the text with every span's value replaced; overlapping spans count as one.

        Args:
            text: the record's text.
            spans: its accepted spans, half-open code-point offsets, in any order.
            record_id, source_id: which unit it belongs to.
        """
        if self._unit == "record" or source_id is None:
            self.observe(text, spans, record_id, source_id)
        unit = self._of(record_id, source_id)
        parts: list[str] = []
        placed: list[Span] = []
        kept: dict[str, int] = {}
        at = length = 0
        for span in join_overlapping(text, spans):
            value = text[span.start : span.end]
            new = value if span.label in self._keep else self._surrogate(unit, span.label, value)
            by = "surrogate"
            if new == value and span.label not in self._keep:
                by = "kept"
                kept[span.label] = kept.get(span.label, 0) + 1
            between = text[at : span.start]
            if new != value:
                between = fitted(between, new, unit.own.code) if unit.own else _with_article(between, new)
            parts += [between, new]
            length += len(between)
            placed.append(Span(record_id, length, length + len(new), span.label, 1.0, by, span.identifier_type))
            length += len(new)
            at = span.end
        parts.append(text[at:])
        return Replaced("".join(parts), tuple(placed), kept)

    def _surrogate(self, unit: _Unit, label: str, value: str) -> str:
        match = _EDGES.match(value)
        if match is None or not match.group(2):
            return value
        return match.group(1) + unit.value(label, match.group(2)) + match.group(3)


def _with_article(between: str, new: str) -> str:
    """Return the text before a surrogate with "a" or "an" as the surrogate's first letter asks."""
    match = _ARTICLE.search(between)
    if match is None or not new[:1].isalpha():
        return between
    vowel = new[0].lower() in "aeio" or (new[0].lower() == "u" and not re.match(r"(?i)u(?:n[iu]|s[eu]|ti|k)", new))
    vowel = vowel and not re.match(r"(?i)eu|one\b", new)
    return between[: match.start()] + match.group(1) + ("n " if vowel else " ")
