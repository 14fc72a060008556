"""Facts, handlers and writing habits that the three sample domains share."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from engine.corpus import names
from engine.training.samples.grammar import PLURAL, Handler, Scene, Segment, Value, capitalise, tidy

_DIRECT = {
    "PERSON",
    "USERNAME",
    "EMAIL",
    "PHONE",
    "CODE",
    "MEDICAL_ID",
    "NATIONAL_ID",
    "CARD",
    "IBAN",
    "IP",
    "URL",
    "ADDRESS",
}

# Everyday phrases that are one of several ways to say a thing, wherever a grammar uses them.
SYNONYMS: dict[str, str] = {
    "however": "however|but|that said|all the same|even so",
    "although": "although|though|even though|while",
    "several": "several|a few|some|a number of",
    "many": "many|a lot of|plenty of|numerous",
    "often": "often|frequently|repeatedly|regularly",
    "at the moment": "at the moment|at present|for now|currently|these days",
    "in the end": "in the end|eventually|finally|ultimately",
    "in addition": "in addition|besides|moreover|also|on top of that",
    "for example": "for example|for instance|say",
    "as soon as possible": "as soon as possible|without delay|soon|quickly|at the earliest opportunity",
    "immediately": "immediately|at once|straight away|right away|promptly",
    "recently": "recently|lately|not long ago|of late",
    "afterwards": "afterwards|later|after that|subsequently",
    "before that": "before that|earlier|prior to this|previously",
    "more than": "more than|over|well over|upwards of",
    "less than": "less than|under|below",
    "at least": "at least|no fewer than|not less than|a minimum of",
    "very": "very|really|quite|rather|extremely",
    "told": "told|informed|advised",
    "problem": "problem|difficulty|issue|trouble",
    "happened": "happened|occurred|took place|came about",
    "started": "started|began|set in|came on",
    "decided": "decided|chose|resolved|opted",
    "difficult": "difficult|hard|tricky|awkward",
    "therefore": "therefore|so|accordingly|for that reason|thus",
    "mainly": "mainly|mostly|chiefly|for the most part",
    "unable to": "unable to|not able to|in no position to",
    "a long time": "a long time|ages|quite a while|many weeks",
    "confirmed": "confirmed|verified|established",
    "shows": "shows|demonstrates|reveals|indicates",
    "happy": "happy|content|pleased|satisfied",
    "thank you for": "thank you for|thanks for|many thanks for|I am grateful for",
    "regarding": "regarding|concerning|about|with regard to|in relation to",
    "worried": "worried|concerned|anxious|uneasy",
    "need to": "need to|have to|must|ought to",
    "in my view": "in my view|in my opinion|to my mind|as I see it",
    "nevertheless": "nevertheless|still|yet|nonetheless",
    "sufficient": "sufficient|enough|adequate",
}

# The same for the entries of fact lists: complaints, findings, results, grounds.
ITEM_SYNONYMS: dict[str, tuple[str, ...]] = {
    key: tuple(options.split("|"))
    for key, options in {
        "once daily": "once daily|once a day|every day|each day|od",
        "twice daily": "twice daily|two times a day|morning and evening|bd",
        "three times daily": "three times daily|three times a day|tds|thrice daily",
        "at night": "at night|nightly|at bedtime|in the night",
        "each morning": "each morning|every morning|with breakfast",
        "weekly": "weekly|once a week|every week",
        "for five days": "for five days|over five days",
        "per cent": "per cent|%",
        "a normal": "a normal|an ordinary|an unremarkable",
        "normal": "normal|unremarkable|ordinary",
        "shows": "shows|gives",
        "a small": "a small|a slight|a minor",
        "micrograms": "micrograms|mcg",
        "pain": "pain|aching|soreness",
        "painful": "painful|sore|aching",
        "trouble": "trouble|difficulty",
        "tiredness": "tiredness|fatigue|weariness",
        "swollen": "swollen|puffy",
        "slightly": "slightly|a little|mildly",
        "avoid": "avoid|keep away from|leave out",
        "drink": "drink|take in",
        "for a month": "for a month|for four weeks",
        "tablets": "tablets|pills",
        "a failure": "a failure|an omission",
        "after midnight": "after midnight|in the small hours",
        "photographs": "photographs|pictures|photos",
        "e-mails": "e-mails|messages|mails",
        "unpaid": "unpaid|outstanding",
        "stiffness": "stiffness|tightness",
        "breathless": "breathless|short of breath|puffed",
        "losing": "losing|shedding",
    }.items()
}
_ITEM_WORDS = re.compile(r"\b(" + "|".join(sorted(map(re.escape, ITEM_SYNONYMS), key=len, reverse=True)) + r")\b")

_ABBREVIATED = (
    ("patient", "pt"),
    ("history", "hx"),
    ("treatment", "tx"),
    ("with ", "w/ "),
    ("without", "w/o"),
    ("every day", "daily"),
    ("examination", "o/e"),
    ("because", "bc"),
    ("please", "pls"),
    ("years", "yrs"),
    ("weeks", "wks"),
    ("appointment", "appt"),
    ("and ", "& "),
    ("message", "msg"),
    ("account", "acct"),
    ("number", "no"),
    ("tomorrow", "tmrw"),
    ("thanks", "thx"),
    ("twice daily", "bd"),
    ("once daily", "od"),
    ("three times daily", "tds"),
    ("follow-up", "f/u"),
    ("diagnosis", "dx"),
)
_CONTRACTED = (
    ("did not", "didn't"),
    ("does not", "doesn't"),
    ("do not", "don't"),
    ("cannot", "can't"),
    ("have not", "haven't"),
    ("has not", "hasn't"),
    ("is not", "isn't"),
    ("was not", "wasn't"),
    ("I am", "I'm"),
    ("I have", "I've"),
    ("will not", "won't"),
    ("would not", "wouldn't"),
    ("could not", "couldn't"),
    ("it is", "it's"),
    ("that is", "that's"),
    ("I would", "I'd"),
)


@dataclass
class Draft:
    """A document being made: its scene and the writing habits of its author."""

    rng: Random
    dates: dict[str, dt.date]
    facts: dict[str, Value] = field(default_factory=dict)
    date_style: str = "long"
    currency: str = "£"
    lists: dict[str, list[str]] = field(default_factory=dict)

    def scene(self) -> Scene:
        """Return the scene that a grammar expands."""
        return Scene(self.rng, self.facts, self._handlers())

    def _handlers(self) -> dict[str, Handler]:
        return {
            "d": lambda a, s: self._date(a, self.date_style),
            "dm": lambda a, s: self._date(a, "month"),
            "dy": lambda a, s: self._date(a, "year"),
            "dd": lambda a, s: self._date(a, "day"),
            "dw": lambda a, s: self._date(a, "dayname"),
            "n": lambda a, s: str(_between(a, s.rng)),
            "w": lambda a, s: _WORDS[_between(a, s.rng)],
            "amt": lambda a, s: self.amount(_between(a, s.rng)),
            "q": lambda a, s: _quantity(a, s.rng),
            "of": lambda a, s: self._pick(a),
            "time": lambda a, s: Segment(_clock(s.rng), "DATE", "quasi"),
            "who": lambda a, s: entity(names.person(s.rng, a).full, "PERSON"),
            "town": lambda a, s: entity(names.town(s.rng), "LOCATION"),
            "road": lambda a, s: entity(names.street(s.rng), "LOCATION"),
            "tel": lambda a, s: entity(names.phone(s.rng), "PHONE"),
            "code": lambda a, s: entity(names.code(s.rng, a), "CODE"),
        }

    def _date(self, argument: str, style: str) -> Value:
        match = re.fullmatch(r"(\w+?)([+-]\d+)?(?:\.\.(\d+))?", argument)
        if match is None:
            raise ValueError(f"date slot {argument!r} must read NAME, NAME+DAYS or NAME+DAYS..DAYS")
        offset = int(match.group(2) or 0)
        if match.group(3):
            far = int(match.group(3)) * (1 if offset >= 0 else -1)
            offset = self.rng.randint(min(offset, far), max(offset, far))
        day = self.dates[match.group(1)] + dt.timedelta(days=offset)
        return entity(names.date_text(day, style), "DATE")

    def amount(self, value: int) -> Value:
        """Return a sum of money in the document's currency."""
        shape = self.rng.random()
        figure = (
            f"{value:,}" if shape < 0.5 else f"{value}.{self.rng.randint(0, 99):02d}" if shape < 0.85 else str(value)
        )
        symbol = self.currency
        return entity(f"{symbol}{figure}" if len(symbol) == 1 else f"{figure} {symbol}", "QUANTITY")

    def _pick(self, name: str) -> Value:
        """Return an entry of a list of facts that this document has not used yet."""
        left = self.lists[name]
        if not left:
            raise ValueError(f"the list {name!r} is empty")
        item = left.pop(self.rng.randrange(len(left))) if len(left) > 1 else left[0]
        worded = _ITEM_WORDS.sub(lambda m: self.rng.choice(ITEM_SYNONYMS[m.group()]), item)
        return worded + PLURAL if is_plural(item) else worded


_SINGULAR = {"gas", "lens", "MS", "PCOS"}
_HEAD_ENDS = re.compile(
    r" (?:of|in|on|from|at|to|with|after|by|for|behind|below|above|that|when"
    r"|before|over|off|between|under|as|until|up)\b"
)


def is_plural(phrase: str) -> bool:
    """Return whether a noun phrase takes a plural verb, judged by its head noun."""
    head = _HEAD_ENDS.split(phrase, maxsplit=1)[0]
    if head.split(" ")[0].endswith("ing"):
        return False  # "missing words in company is"
    if " and " in head:
        return True
    word = head.rsplit(" ", 1)[-1]
    if word in _SINGULAR or word.endswith(("ss", "us", "is")):
        return False
    return word.endswith("s")


_WORDS = "no one two three four five six seven eight nine ten eleven twelve".split()


def _between(argument: str, rng: Random) -> int:
    low, _, high = argument.partition("-")
    return rng.randint(int(low), int(high or low))


def _quantity(argument: str, rng: Random) -> Value:
    span, _, unit = argument.partition(" ")
    return entity(f"{_between(span, rng)} {unit}", "QUANTITY")


def _clock(rng: Random) -> str:
    hour, minute = rng.randint(7, 21), rng.choice((0, 5, 10, 15, 20, 30, 40, 45, 50))
    if rng.random() < 0.6:
        return f"{hour:02d}:{minute:02d}"
    return f"{(hour - 1) % 12 + 1}.{minute:02d} {'am' if hour < 12 else 'pm'}"


def entity(text: str, label: str, identifier_type: str = "") -> Segment:
    """Return an entity segment with the label's usual identifier type unless told otherwise."""
    return Segment(text, label, identifier_type or ("direct" if label in _DIRECT else "quasi"))


def add_person(facts: dict[str, Value], key: str, who: names.Person, title: str = "") -> None:
    """Add the ways to name `who` under `key`, `key.last`, `key.first`, `key.mr`, `key.init`, and the pronouns."""
    title = title or ("Mr" if who.sex == "m" else "Mrs" if len(who.last) % 3 == 0 else "Ms")
    facts[key] = entity(who.full, "PERSON")
    facts[key + ".last"] = entity(who.last, "PERSON")
    facts[key + ".first"] = entity(who.first, "PERSON")
    facts[key + ".mr"] = [Segment(title + " "), entity(who.last, "PERSON")]
    facts[key + ".mrfull"] = [Segment(title + " "), entity(who.full, "PERSON")]
    facts[key + ".init"] = entity(f"{who.first[0]}. {who.last}", "PERSON")
    facts[key + ".rev"] = entity(f"{who.last}, {who.first}", "PERSON")
    facts[key + ".initials"] = entity(f"{who.first[0]}{who.last[0]}", "PERSON")
    for name, female, male in (
        ("he", "she", "he"),
        ("him", "her", "him"),
        ("his", "her", "his"),
        ("man", "woman", "man"),
        ("boy", "girl", "boy"),
        ("self", "herself", "himself"),
    ):
        facts[f"{key}.{name}"] = female if who.sex == "f" else male


def split_list(text: str) -> list[str]:
    """Return the parts of a `;`-separated list."""
    return [p.strip() for p in text.split(";") if p.strip()]


def lengthened(segments: list[Segment], more: Callable[[], list[Segment]], least: int = 40) -> list[Segment]:
    """Return the segments, with further paragraphs added until there are about `least` words."""
    for _ in range(4):
        if sum(s.text.count(" ") + s.text.count("\n") for s in segments) >= least:
            break
        segments = [*segments, Segment("\n\n"), *more()]
    return segments


def finish(segments: list[Segment], rng: Random, *, casual: float = 0.2, shorthand: float = 0.0) -> list[Segment]:
    """Return the segments with the author's habits put on: contractions, shorthand, slips, casing."""
    segments = tidy(segments)
    lower = rng.random() < casual * 0.4
    if not lower:
        segments = capitalise(segments)
    if rng.random() < casual + 0.15:
        segments = _replace(segments, _CONTRACTED)
    if rng.random() < shorthand:
        segments = _replace(segments, _ABBREVIATED)
    if lower:
        segments = [s if s.label else s._replace(text=s.text.lower()) for s in segments]
    if rng.random() < casual:
        rate = rng.choice((0.01, 0.02, 0.05))
        segments = [s if s.label else s._replace(text=_slips(s.text, rng, rate)) for s in segments]
    if rng.random() < casual * 0.1:
        segments = [s._replace(text=s.text.upper()) for s in segments]
    return segments


def _replace(segments: list[Segment], table: tuple[tuple[str, str], ...]) -> list[Segment]:
    out = []
    for segment in segments:
        text = segment.text
        if segment.label is None:
            for long, short in table:
                if long in text:
                    text = text.replace(long, short)
        out.append(segment._replace(text=text))
    return out


def _slips(text: str, rng: Random, rate: float) -> str:
    """Return the text with some words mistyped: letters swapped, dropped or doubled."""
    words = text.split(" ")
    for i, word in enumerate(words):
        if len(word) > 3 and word.isalpha() and rng.random() < rate:
            at = rng.randrange(1, len(word) - 1)
            kind = rng.random()
            if kind < 0.4:
                words[i] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
            elif kind < 0.75:
                words[i] = word[:at] + word[at + 1 :]
            else:
                words[i] = word[:at] + word[at] + word[at:]
    return " ".join(words)
