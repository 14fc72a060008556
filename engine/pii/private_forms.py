"""The forms in which a private value counts: with and without title, a name's parts, the inside of a mark.

The surname of a person always counts, and so does every other part of the name. A distinctive part (three letters or
more, or all there is of the name, and no everyday word) counts anywhere; an everyday or two-letter one ("Young", "Ng",
"May") where it stands as a name (`engine.corpus.text.private_values`). Single letters and particles ("van", "de") do
not count by themselves.

Privacy posture: works on values in memory and keeps none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.corpus.text.folding import folded
from engine.corpus.text.private_values import TITLES
from engine.models.builtin.everyday import everyday_words
from engine.pii.detect.plain.function_words import FUNCTION_WORDS

MARK = re.compile(r"\[\*\*(.*?)\*\*\]", re.DOTALL)
_PARTICLES = frozenset(
    "al am and av bin da dal de del della den der di do dos du e el i ibn la le les lo och of op san st te ten ter the "
    "und v van vom von y zu zum zur".split()
)
_TITLE = re.compile(rf"(?:{'|'.join(sorted(TITLES))})\b\.?\s+", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|[’'](?=[^\W\d_]{2})|[\u00ad\u200b-\u200d\u0300-\u036f])*")
_SHORTEST = 3  # letters of a part that counts anywhere
_INSIDE = 3  # characters of a mark's inside that say something


@dataclass(frozen=True)
class Forms:
    """What counts of one value: `values` anywhere, `names` where they stand as a name."""

    values: tuple[str, ...]
    names: tuple[str, ...] = ()


def private_forms(value: str, label: str) -> Forms:
    """Return the forms in which a value of the given label counts."""
    mark = MARK.fullmatch(value)
    if mark:
        inside = mark.group(1).strip()
        return Forms((value,) if len(inside) < _INSIDE else (value, inside))
    if label != "PERSON":
        return Forms((value,))
    bare = value
    while _TITLE.match(bare):
        bare = _TITLE.sub("", bare, count=1)
    keys = {part: folded(part).replace(" ", "") for part in _WORD.findall(bare)}
    parts = [part for part, key in keys.items() if len(key) > 1 and key not in _PARTICLES and key not in TITLES]
    common = [part for part in parts if (len(keys[part]) < _SHORTEST and part != bare) or _everyday(keys[part])]
    whole = [form for form in (value, bare) if sum(c.isalnum() for c in form) > 1 and form not in common]
    forms = dict.fromkeys((*whole, *(part for part in parts if part not in common)))
    return Forms(tuple(forms), tuple(common))


def _everyday(key: str) -> bool:
    return key in everyday_words() or key in FUNCTION_WORDS
