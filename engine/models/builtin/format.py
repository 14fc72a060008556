"""Define the control tokens and the sequence format of the built-in language model.

One sequence is `bos [op] [domain] [kind] [label] [length] [keys] [code] [text] [example...] out OUTPUT eos`;
a bare document is `bos OUTPUT eos`. The trainer and `operators_builtin` build prompts through the same
function, so a format cannot drift between training and use.

Privacy posture: prompts hold (redacted) record text; nothing here logs or keeps them.
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

PLACEHOLDER_LABELS = (
    "PERSON", "USERNAME", "EMAIL", "PHONE", "CODE", "NATIONAL_ID", "MEDICAL_ID", "CARD", "IBAN", "IP", "URL",
    "ADDRESS", "LOCATION", "ORGANISATION", "DATE", "AGE", "DEMOGRAPHIC", "QUANTITY", "MISC",
)  # fmt: skip
OPERATORS = (
    "invent", "vary", "fill", "cross", "abstract", "expand", "rephrase", "from_control_code", "from_examples", "judge",
)  # fmt: skip
DOMAINS = ("clinical", "legal", "social", "reviews", "generic")
KINDS = {
    "narrative": "clinical", "abstract": "generic", "textbook": "generic", "novel": "generic", "complaint": "reviews",
    "incident report": "generic", "short report": "reviews", "court opinion": "legal", "health question": "clinical",
    "consultation": "clinical", "dialogue": "social", "letter": "social", "plain English": "generic",
    "country description": "generic", "encyclopedia": "generic", "sentence": "social", "clinic letter": "clinical",
    "support ticket": "reviews", "court decision": "legal",
}  # fmt: skip
"""The kinds of documents that the shipped weights learned, each under one domain and under no other."""
LENGTH_EDGES = (5, 8, 12, 16, 20, 25, 30, 40, 50, 60, 80, 100, 130, 160, 200, 260, 330, 400)

BOS, EOS, PAD, OUT = "<|bos|>", "<|eos|>", "<|pad|>", "<|out|>"
LABEL, KIND, KEYS, CODE, TEXT, EXAMPLE, BLANK, SEP = (
    f"<|{name}|>" for name in ("label", "kind", "keys", "code", "text", "example", "blank", "sep")
)
YES, NO = "<|yes|>", "<|no|>"
"""Field and answer tokens; each is one token of the vocabulary."""


def control_tokens() -> list[str]:
    """Return every control token in vocabulary order (ids 0, 1, 2 are pad, bos, eos)."""
    fields = [OUT, LABEL, KIND, KEYS, CODE, TEXT, EXAMPLE, BLANK, SEP, YES, NO]
    lengths = [f"<|len:{edge}|>" for edge in (*LENGTH_EDGES, "more")]
    return [PAD, BOS, EOS, *fields, *(f"<|op:{o}|>" for o in OPERATORS), *(f"<|dom:{d}|>" for d in DOMAINS), *lengths]


def placeholder_tokens() -> list[str]:
    """Return the typed placeholders (`[PERSON]`, ...), each one token of the vocabulary."""
    return [f"[{label}]" for label in PLACEHOLDER_LABELS]


def length_token(words: int) -> str:
    """Return the bucket token of a length in words: the first edge not below it."""
    return next((f"<|len:{edge}|>" for edge in LENGTH_EDGES if words <= edge), "<|len:more|>")


_NAMED = {kind.lower(): kind for kind in KINDS}


def learned(kind: str, domain: str) -> tuple[str, str]:
    """Return a kind in the spelling in which it was learned, and the domain that it was learned under.

    Asked for under another domain, a known kind comes out as anything but itself. One that is not known keeps both.
    """
    known = _NAMED.get(" ".join(kind.lower().split()))
    return (kind, domain) if known is None else (known, KINDS[known])


def clean(text: str) -> str:
    """Return `text` with anything that reads as a control token broken up, so that input cannot steer the format."""
    return text.replace("<|", "< |").strip()


@dataclass(frozen=True)
class Fields:
    """What a prompt may carry; empty fields are left out. `words` is the wanted length in words (0 = free)."""

    domain: str = ""
    kind: str = ""
    label: str = ""
    words: int = 0
    keys: Sequence[str] = ()
    code: str = ""
    texts: Sequence[str] = ()
    examples: Sequence[str] = ()


def build_prompt(op: str, fields: Fields) -> str:
    """Return the prompt string up to and including the output-start token.

    Args:
        op: One of OPERATORS, or empty for a plain document.
        fields: The fields to write. Their text must be clean (see `clean`); `BLANK` is allowed in `texts`.
    """
    parts = [BOS]
    if op:
        parts.append(f"<|op:{op}|>")
    if fields.domain:
        parts.append(f"<|dom:{fields.domain}|>")
    if fields.kind:
        parts.append(KIND + fields.kind)
    if fields.label:
        parts.append(LABEL + fields.label)
    if fields.words:
        parts.append(length_token(fields.words))
    if fields.keys:
        parts.append(KEYS + "; ".join(fields.keys))
    if fields.code:
        parts.append(CODE + fields.code)
    if fields.texts:
        parts.append(TEXT + SEP.join(fields.texts))
    parts.extend(EXAMPLE + example for example in fields.examples)
    parts.append(OUT)
    return "".join(parts)


STOPWORDS = frozenset(
    """a an and are as at be been being but by can could did do does for from had has have he her hers him his i if in
    into is it its may me might must my no nor not of off on or our ours out she should so such than that the their
    theirs them then there these they this those to too up us was we were what when where which while who whom whose
    why will with would you your yours also any both each other some very just about after again all am because before
    between during few further here how more most only over own same through under until upon shall one""".split()
)
_WORD = re.compile(r"\S+")
_EDGE = re.compile(r"^[^\w\[\]<>%$#]+|[^\w\[\]<>%$#]+$")
_PLACE = re.compile(r"\[[A-Z_]+\]")
_SENTENCE_END = re.compile(r"[.;!?:]$")


def text_rng(text: str, salt: int = 0) -> random.Random:
    """Return a generator seeded by the text alone, so that one input always gives one prompt."""
    return random.Random(zlib.crc32(text.encode("utf-8", "surrogatepass")) ^ (salt * 0x9E3779B1))


def outline(text: str, rng: random.Random, keep: float = 0.6) -> list[str]:
    """Return the text's content phrases in order, function words and a share of the content dropped.

    Args:
        text: Any text.
        rng: Decides which content words stay; placeholders and their word always stay.
        keep: Share of content words kept, in (0, 1].
    """
    phrases: list[str] = []
    current: list[str] = []
    for match in _WORD.finditer(text):
        raw = match.group()
        bare = _EDGE.sub("", raw)
        stays = bool(bare) and (bool(_PLACE.search(raw)) or (bare.lower() not in STOPWORDS and rng.random() < keep))
        if stays:
            current.append(bare)
        if current and (not stays or _SENTENCE_END.search(raw) or len(current) >= 4):
            phrases.append(" ".join(current))
            current = []
    if current:
        phrases.append(" ".join(current))
    return phrases


def noisy(text: str, rng: random.Random, drop: float = 0.25, shuffle: float = 2.0) -> str:
    """Return the text's words with some dropped and the rest moved a little: the input of rephrase and vary.

    Args:
        text: Any text.
        rng: Source of the corruption.
        drop: Share of words dropped; function words are dropped twice as readily, placeholders never.
        shuffle: Words move at most about this many positions (Lample et al. 2018, section 2.3).
    """
    kept = []
    for word in text.split():
        bare = _EDGE.sub("", word).lower()
        chance = 0.0 if _PLACE.search(word) else min(0.9, drop * (1.8 if bare in STOPWORDS else 0.8))
        if rng.random() >= chance:
            kept.append(word)
    order = sorted(range(len(kept)), key=lambda i: i + rng.uniform(0, shuffle))
    return " ".join(kept[i] for i in order)


def blanked(text: str, rng: random.Random, share: float = 0.45) -> str:
    """Return the text with about `share` of its words replaced by blanks, a blank standing for 1 to 6 words."""
    words = text.split()
    target, hidden = max(1, round(share * len(words))), 0
    out: list[str] = []
    i = 0
    while i < len(words):
        if hidden < target and rng.random() < share / 2.0:
            size = rng.randint(1, min(6, len(words) - i))
            out.append(BLANK)
            hidden += size
            i += size
        else:
            out.append(words[i])
            i += 1
    if not hidden:
        out[rng.randrange(len(out))] = BLANK
    return " ".join(out)
