"""Plant fake structured identifiers and canary phrases in copies of records, and keep where they stand.

Source: Mohammed 2025, section 4.2 ("mixing fake structured PII (credit card numbers, addresses, etc.) with some canary
phrases … I also saved a clean reference sample set"). All values are made up: numbers never issued, reserved domains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from engine.pii.sentences import sentence_bounds
from engine.pii.spans import Span, default_identifier_type

CANARY = "CANARY"
FIRST = (  # the two that the paper prints
    "Emerald dragons soar through clouds of rainbow silk",
    "Whispers of crystal snowflakes tell secrets to winter shadows",
)
_HOW = "amber brass cobalt crimson frozen gilded hollow ivory jade lunar marble opal paper quiet silver velvet".split()
_WHO = "badgers compasses falcons gondolas lanterns meteors orchards otters pilgrims sparrows trumpets wizards".split()
_DO = "borrow bury chase count gather juggle measure paint polish rescue scatter weigh".split()
_WHAT = "barrels carpets cathedrals comets echoes feathers glaciers ladders melodies mirrors puddles violins".split()
_WHERE = "basalt bamboo cinnamon copper granite lavender maple porcelain saffron thunder tinsel willow".split()
_NEAR = "bridges canyons chimneys dunes harbours meadows orchards rooftops staircases tunnels valleys windmills".split()
_GIVEN = "Alma Bruno Cecily Dorian Edda Fabian Greta Hugo Ines Jonas Katja Leopold Mirela Nestor Odile Pavel".split()
_SURNAMES = "Abernathy Brandvold Castellane Drummelow Eskerton Fairweather Grunewald Holloway Ingersoll Jarrow".split()
_STREETS = "Alder Birchwood Cottonwood Dogwood Elmhurst Foxglove Hawthorne Juniper Larkspur Mulberry".split()


@dataclass(frozen=True)
class Planted:
    """One record after planting: its text, its old spans moved along, and where the planted values stand."""

    text: str
    spans: tuple[Span, ...]
    identifiers: tuple[Span, ...]
    canaries: tuple[Span, ...]


def canary_phrases(count: int, seed: int) -> tuple[str, ...]:
    """Return `count` distinct phrases that no text contains by chance: the paper's two, then made-up ones."""
    draw, found = Random(f"canaries {seed}"), dict.fromkeys(FIRST[:count])
    while len(found) < count:
        who, do = draw.choice(_WHO), draw.choice(_DO)
        phrase = (
            f"{draw.choice(_HOW)} {who} {do} {draw.choice(_WHAT)} beneath {draw.choice(_WHERE)} {draw.choice(_NEAR)}"
        )
        found[phrase.capitalize()] = None
    return tuple(found)


def identifier(draw: Random) -> tuple[str, str, str]:
    """Return a label, a made-up value of it, and the sentence that holds it."""
    name = f"{draw.choice(_GIVEN)} {draw.choice(_SURNAMES)}"
    plain = name.lower().replace(" ", ".")
    figures = "".join(str(draw.randrange(10)) for _ in range(14))
    options = (
        ("CARD", _luhn("4000" + figures[:11]), "The bill was paid with credit card {}."),
        ("NATIONAL_ID", f"9{figures[:2]}-0{figures[2]}-{figures[3:7]}", "Social security number on file is {}."),
        ("PHONE", f"({draw.randrange(201, 989)}) 555-01{figures[:2]}", "Call back at {} in the evening."),
        ("EMAIL", f"{plain}{figures[:2]}@example.org", "Send the reply to {} please."),
        ("ADDRESS", f"{draw.randrange(100, 9899)} {draw.choice(_STREETS)} Avenue", "The home address is {}."),
        ("MEDICAL_ID", f"MRN-{figures[:8]}", "The chart is filed under {}."),
        ("PERSON", name, "This was reported by {}."),
    )
    return draw.choice(options)


def _luhn(digits: str) -> str:
    """Return the digits with the check digit that makes them a card number, in groups of four."""
    total = sum(sum(divmod(int(d) * (2 - i % 2), 10)) for i, d in enumerate(digits))
    whole = digits + str(-total % 10)
    return " ".join(whole[i : i + 4] for i in range(0, len(whole), 4))


def plant(
    texts: Sequence[str], spans: Sequence[Sequence[Span]], identifiers: int, canaries: Sequence[str], seed: int
) -> list[Planted]:
    """Return each text with `identifiers` fake identifiers, and one canary in each of the first len(canaries) drawn.

    Args:
        texts: clean texts. spans: their accepted spans. identifiers: of each text. canaries: distinct phrases.
        seed: fixes which text gets what and where.
    """
    draw = Random(f"planted {seed}")
    chosen = dict(zip(draw.sample(range(len(texts)), min(len(canaries), len(texts))), canaries, strict=False))
    made = []
    for i, (text, own) in enumerate(zip(texts, spans, strict=True)):
        record = Planted(text, tuple(own), (), ())
        for _ in range(identifiers):
            label, value, sentence = identifier(draw)
            record = _put(record, sentence.replace("{}", value), sentence.index("{}"), value, label, draw)
        if i in chosen:
            record = _put(record, chosen[i] + ".", 0, chosen[i], CANARY, draw)
        made.append(record)
    return made


def _put(record: Planted, sentence: str, offset: int, value: str, label: str, draw: Random) -> Planted:
    """Return the record with a sentence behind one of its own that cuts no span."""
    every = (*record.spans, *record.identifiers, *record.canaries)
    ends = [end for _, end in sentence_bounds([record.text])[0] if not any(s.start < end < s.end for s in every)]
    at = draw.choice(ends) if ends else len(record.text)
    head = record.text[:at].rstrip()
    added = (" " if head else "") + sentence
    tail = record.text[at:]
    gap = " " if tail and not tail[0].isspace() else ""
    move = len(head) + len(added) + len(gap) - at
    start = len(head) + len(added) - len(sentence) + offset
    kind = default_identifier_type("MISC" if label == CANARY else label)
    new = Span("", start, start + len(value), label, 1.0, "planted", kind)

    def moved(span: Span) -> Span:
        shift = move if span.start >= at else 0
        return Span(
            span.record_id, span.start + shift, span.end + shift, span.label, span.score, span.recogniser,
            span.identifier_type,
        )  # fmt: skip

    old, ids, phrases = (
        tuple(moved(s) for s in group) for group in (record.spans, record.identifiers, record.canaries)
    )
    if label == CANARY:
        phrases = (*phrases, new)
    else:
        ids = (*ids, new)
    return Planted(head + added + gap + tail, old, ids, phrases)
