"""Which of the prompt domains a corpus belongs to.

A guess from everyday vocabulary, for choosing a prompt or a control token; never a finding.
Privacy posture: reads record text in memory and returns one of five public words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Literal

Domain = Literal["clinical", "legal", "social", "reviews", "generic"]
DOMAINS: tuple[Domain, ...] = ("clinical", "legal", "social", "reviews", "generic")

_CUES: dict[Domain, frozenset[str]] = {
    "clinical": frozenset(
        "patient pt hospital clinic fever pain mg dose vaccine symptoms diagnosis treatment admitted medication "
        "tablets nurse blood rash history injection surgery ward exam reports".split()
    ),
    "legal": frozenset(
        "court applicant judgment tribunal appeal claimant respondent defendant article proceedings convention "
        "hearing lawyer complaint law decision paragraph government statute landlord".split()
    ),
    "social": frozenset("lol hi hey guys anyone channel u ur yeah btw thx idk gonna post follow dm".split()),
    "reviews": frozenset(
        "stars star recommend restaurant product bought purchase quality waiter delicious disappointed review "
        "staff price loved movie film ticket account password order refund support login customer app error".split()
    ),
}
_WORD = re.compile(r"[a-z]+")
_SAMPLE = 200


def guess_domain(texts: Iterable[str]) -> Domain:
    """Return the domain whose cue words are most frequent in the first 200 texts.

    Fewer than one cue word in a hundred means `generic`.
    """
    words = [word for text in islice(texts, _SAMPLE) for word in _WORD.findall(text.lower())]
    counts = {domain: sum(word in cues for word in words) for domain, cues in _CUES.items()}
    best = max(counts, key=lambda domain: counts[domain])
    return best if counts[best] * 100 >= max(len(words), 1) else "generic"
