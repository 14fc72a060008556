"""Make canaries, plant them by fair coins, and look for them in synthetic text.

A canary is a made-up record with a secret that no other text contains. Three kinds:

- `prefix`: the beginning of a real record, then a rare ending. Synthetic text echoes what looks like its corpus, so
  the beginning decides whether the canary is picked up and the rare ending whether its echo is told from chance
  (Meeus et al. 2025, "The canary's echo", arXiv 2502.14921: in-distribution prefix, high-perplexity suffix).
- `random`: rare words alone, as for models that can be asked directly (Carlini et al. 2019, "The secret sharer").
  Synthetic text hardly echoes these (Meeus et al. 2025).
- `identifier`: the beginning of a real record, then a made-up name, record number, e-mail address and telephone
  number (reserved domains and numbers that were never given out).

Coins come from the operating system's entropy, before the run, and are kept by the caller. Scores look at texts and
canaries only, never at coins; higher speaks for "it was in".

Privacy posture: a canary of kind `prefix` or `identifier` begins with private text and is private itself. Results
hold numbers and canaries' numbers, never text.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.text.words import WORD
from engine.errors import UserError

Kind = Literal["prefix", "random", "identifier"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PREFIX_WORDS = 20
SUFFIX_WORDS = 8
RANDOM_WORDS = 20
SPAN_COLUMNS = ["record_id", "start", "end", "label", "identifier_type"]

# Rare in any corpus, each a plain English word; their order in a canary is drawn at random.
_RARE = (
    "abacus accordion acrobat alabaster albatross almanac anagram anchovy antelope apricot archway armadillo "
    "artichoke asparagus avocet axolotl bagpipe balalaika balustrade bandicoot banjo barnacle bassoon beehive "
    "belfry bellows bergamot billabong binnacle bobbin bodkin bonfire bonsai bouquet briar brocade buckwheat "
    "bulrush bunting burdock cactus calliope candlewick capstan caraway caravan cardamom carousel cassowary "
    "catamaran cavalcade cedarwood cello centaur chariot charcoal chestnut chicory chinchilla chisel cicada citadel "
    "clavichord cloister cobweb cormorant cowbell cranberry crocus cuckoo curlew cutlass cygnet cymbal daffodil "
    "dandelion dirigible dovetail dragonfly driftwood dromedary dulcimer ebony egret elderberry emerald epaulette "
    "fandango farthing fennel ferret fiddle filigree flamingo flotilla foghorn foxtrot fresco galleon gargoyle "
    "gazebo gazelle geranium gingham gladiolus gondola gooseberry gossamer gramophone grasshopper griffin gryphon "
    "haberdasher halibut hammock harlequin harpoon hazelnut heather hedgehog heirloom heron hickory hollyhock "
    "honeycomb hornpipe hurdle hyacinth ibex icicle iguana inkwell jackdaw jasmine javelin jigsaw jonquil juggler "
    "juniper kaleidoscope kestrel kiosk kumquat lacquer lagoon lapwing larder lattice lavender lemur lichen "
    "limerick lobelia lorry lullaby lupin lyre macaroon magnolia magpie mandolin mangrove marigold marimba marmoset "
    "marquee marzipan meadowlark metronome minaret minstrel monocle moorhen mosaic mulberry mustang narwhal "
    "nasturtium nectarine nettle nightingale nutmeg oboe obelisk ocelot octagon oleander omnibus oregano origami "
    "osprey ottoman oyster pagoda palomino pantaloon papyrus parasol parchment parsnip pavilion peacock pendulum "
    "peony pergola periwinkle petticoat pheasant piccolo pinafore pistachio plectrum plumage polka pomegranate "
    "porcupine portcullis primrose puffin pumice quadrille quagga quartz quill quince rampart rapier ratchet raven "
    "regatta rhubarb rickshaw rosette rotunda rucksack rudder saddlebag saffron samovar sandalwood sardine sarong "
    "scabbard schooner scimitar scooter seahorse semaphore serenade shamrock sidecar silhouette sloop snapdragon "
    "sombrero sonnet spatula spindle spinet squall starling sundial swallowtail sycamore tambourine tandem tapestry "
    "tarragon tartan teapot thimble thistle tinderbox toboggan topiary tortoise toucan trellis tricycle trombone "
    "truffle tugboat turnip turquoise ukulele unicorn vanilla vaudeville viaduct viola wallaby walnut warbler "
    "weathervane wheelbarrow whippet whistle wicker willow windmill wisteria wombat woodpecker xylophone yacht "
    "yodel zeppelin zinnia zither "
).split()
_GIVEN = "Adalbert Bryony Casimir Dagny Evander Fenella Gunnar Hesper Isolde Jorah Keziah Lysander Maren Niamh".split()
_FAMILY = "Arkwright Blenkinsop Culpepper Dunmore Evershed Featherstone Gaskell Hathersage Inchbald Jellicoe".split()


@dataclass(frozen=True)
class Canary:
    """One made-up record.

    Args:
        number: 0 and on. kind: as above.
        text: the whole record.
        start, end: where its secret stands, half-open code points.
        pieces: places of values that count as echoed by themselves: the secret, or each identifier in it.
        spans: identifiers: start, end, label.
        source: record whose beginning it borrows, or None. label: that record's.
    """

    number: int
    kind: Kind
    text: str
    start: int
    end: int
    pieces: tuple[tuple[int, int], ...]
    spans: tuple[tuple[int, int, str], ...] = ()
    source: str | None = None
    label: str | None = None

    @property
    def secret(self) -> str:
        """The part that nothing but the canary contains."""
        return self.text[self.start : self.end]


def make_canaries(kind: Kind, count: int, records: pd.DataFrame, seed: int) -> tuple[Canary, ...]:
    """Return distinct canaries; the same for the same records and seed.

    Args:
        kind: how they look. count: how many, >= 1.
        records: record_id, text, label; beginnings and labels are borrowed from rows drawn without replacement while
            there are enough.
        seed: fixes everything. Coins do not come from it.

    Raises:
        UserError: the kind is unknown, or there is no record to borrow from.
    """
    if kind not in KINDS:
        raise UserError(f"kind: must be one of {', '.join(KINDS)}, got {kind!r}")
    if not len(records):
        raise UserError("records: canaries look like records of the training part, and it has none; import it again")
    draw = Random(f"canaries {kind} {seed}")
    rows: list[int] = []
    while len(rows) < count:
        rows += draw.sample(range(len(records)), min(len(records), count - len(rows)))
    ids, texts = records["record_id"].astype(str).tolist(), records["text"].astype(str).tolist()
    labels = records["label"].tolist() if "label" in records else [None] * len(ids)
    seen: set[str] = set()
    made = []
    for number, row in enumerate(rows):
        label = labels[row] if isinstance(labels[row], str) else None
        secret, pieces, spans = _secret(kind, draw, seen)
        head = "" if kind == "random" else _beginning(texts[row])
        gap = " " if head else ""
        move = len(head) + len(gap)
        made.append(
            Canary(
                number, kind, f"{head}{gap}{secret}.", move, move + len(secret),
                tuple((s + move, e + move) for s, e in pieces), tuple((s + move, e + move, x) for s, e, x in spans),
                None if kind == "random" else ids[row], label,
            )
        )  # fmt: skip
    return tuple(made)


def _beginning(text: str) -> str:
    """Return a record's first words, at most half of it unless it is short."""
    words = list(WORD.finditer(text))
    keep = min(PREFIX_WORDS, max(3, len(words) // 2), len(words))
    return text[: words[keep - 1].end()] if keep else ""


def _secret(
    kind: Kind, draw: Random, seen: set[str]
) -> tuple[str, tuple[tuple[int, int], ...], tuple[tuple[int, int, str], ...]]:
    """Return a secret that was not there before, its pieces and its identifiers."""
    while True:
        if kind == "identifier":
            secret, spans = _identifiers(draw)
            pieces = tuple((s, e) for s, e, label in spans if label != "PERSON")
        else:
            words = draw.sample(_RARE, RANDOM_WORDS if kind == "random" else SUFFIX_WORDS)
            secret, spans, pieces = " ".join(words), (), ((0, sum(map(len, words)) + len(words) - 1),)
        values = {secret[s:e] for s, e in pieces}
        if not values & seen:
            seen |= values
            return secret, pieces, spans


def _identifiers(draw: Random) -> tuple[str, tuple[tuple[int, int, str], ...]]:
    given, family = draw.choice(_GIVEN), draw.choice(_FAMILY)
    digits = "".join(str(draw.randrange(10)) for _ in range(12))
    values = (
        ("reported by ", f"{given} {family}", "PERSON"),
        (", chart ", f"MRN-{digits[:8]}", "MEDICAL_ID"),
        (", mail ", f"{given.lower()}{digits[8:]}@example.org", "EMAIL"),
        (", call ", f"({draw.randrange(201, 989)}) 555-01{draw.randrange(100):02d}", "PHONE"),
    )
    text, spans = "", []
    for lead, value, label in values:
        text += lead
        spans.append((len(text), len(text) + len(value), label))
        text += value
    return text, tuple(spans)


def toss(count: int) -> NDArray[np.bool_]:
    """Return fair coins from the operating system's entropy, True = in."""
    bits = secrets.randbits(count) if count else 0
    return np.array([bits >> place & 1 for place in range(count)], bool)


def record_id(number: int, copy: int = 0) -> str:
    """Return the id under which a canary's copy is planted."""
    return f"canary-{number:05d}-{copy}"


def plant(
    canaries: Sequence[Canary],
    coins: NDArray[np.bool_],
    records: pd.DataFrame,
    spans: pd.DataFrame,
    seed: int,
    *,
    copies: int = 1,
    known: bool = False,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the training records with the canaries whose coin says so, and their spans.

    Args:
        canaries: all of them. coins: bool array, one each.
        records: record_id, text, source_id, label. spans: their accepted spans.
        seed: fixes the places, which are drawn for all canaries, so that they say nothing about the coins.
        copies: how often each is planted. Copies share a source of their own: one person's records.
        known: whether made-up identifiers are marked as accepted spans, as a perfect detector would.
    """
    rows, marks = [], []
    spans = spans if len(spans.columns) else pd.DataFrame(columns=SPAN_COLUMNS)
    borrowed = {str(key): part for key, part in spans.groupby("record_id")} if len(spans) else {}
    for canary in canaries:
        for copy in range(copies):
            name = record_id(canary.number, copy)
            rows.append((name, canary.text, f"canary-{canary.number:05d}", canary.label))
            marks += [{"record_id": name, **span} for span in _spans_of(canary, borrowed, known)]
    added = pd.DataFrame(rows, columns=["record_id", "text", "source_id", "label"])
    whole = pd.concat([records[list(added.columns)].astype(object), added.astype(object)], ignore_index=True)
    kept = np.concatenate([np.ones(len(records), bool), np.repeat(np.asarray(coins, bool), copies)])
    order = np.random.default_rng([seed, 17]).permutation(len(whole))
    planted = whole.iloc[order[kept[order]]].reset_index(drop=True)
    if marks:
        new = pd.DataFrame(marks)
        new = new[new["record_id"].isin(set(planted["record_id"]))].reindex(columns=spans.columns)
        spans = pd.concat([spans, new], ignore_index=True) if len(spans) else new.reset_index(drop=True)
    return planted, spans


def _spans_of(canary: Canary, borrowed: dict[str, pd.DataFrame], known: bool) -> list[dict[str, object]]:
    """Return the spans of the borrowed beginning, and the canary's own where they are to be known."""
    found: list[dict[str, object]] = []
    part = borrowed.get(canary.source or "")
    if part is not None:
        inside = part[part["end"] < canary.start]
        found += [
            {str(k): v for k, v in row.items()} for row in inside.drop(columns="record_id").to_dict(orient="records")
        ]
    if known:
        found += [{"start": s, "end": e, "label": label, "identifier_type": "direct"} for s, e, label in canary.spans]
    return found
