"""Make candidates ready to be chosen from: readable, of a sensible length, each once.

Every rule is public and looks at the pool alone, so nothing private decides which candidates there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from engine.corpus.label_rules import LONGEST_LABEL
from engine.corpus.pool.gather import Candidate
from engine.corpus.text.near_duplicates import near_duplicate_pairs
from engine.corpus.text.readability import unreadable
from engine.errors import UserError

Choice = Literal["drop", "keep"]
MOST = 50_000  # candidates of one pool
LEAST_WORDS = 3
LONGEST = 20_000  # characters of a candidate
NEAR = 0.7  # Jaccard similarity of runs of five words from which two candidates count as nearly equal
EMPTY, LONG, UNREADABLE, EQUAL, NEARLY = "too short", "too long", "unreadable", "equal to another", "nearly equal"


@dataclass(frozen=True)
class Built:
    """A pool's candidates with what was found: `dropped` and `flagged` are counts a reason."""

    candidates: tuple[Candidate, ...] = field(repr=False)
    read: int
    dropped: dict[str, int]
    flagged: dict[str, int]

    @property
    def labels(self) -> dict[str, int]:
        """Return how many candidates carry each label, sorted by name."""
        return dict(sorted(Counter(one.label for one in self.candidates if one.label is not None).items()))


def build(candidates: Sequence[Candidate], *, unread: Choice = "drop", near: Choice = "keep") -> Built:
    """Return a pool's candidates, in their order.

    Args:
        candidates: as they came. unread: what becomes of those that public rules find unreadable. near: of those that
            nearly equal an earlier one; dp-select holds near-duplicates back in any case.

    Raises:
        UserError: nothing is left, there are too many, or a label is longer than any name of a class.
    """
    if len(candidates) > 4 * MOST:
        raise UserError(f"the file holds {len(candidates):,} texts; a pool takes {MOST:,}: import a part of it")
    dropped: Counter[str] = Counter()
    flagged: Counter[str] = Counter()
    kept: list[Candidate] = []
    seen: set[str] = set()
    for one in candidates:
        text = one.text.strip()
        folded = " ".join(text.casefold().split())
        if len(folded.split(" ", LEAST_WORDS)) < LEAST_WORDS:
            dropped[EMPTY] += 1
        elif len(text) > LONGEST:
            dropped[LONG] += 1
        elif folded in seen:
            dropped[EQUAL] += 1
        else:
            seen.add(folded)
            kept.append(Candidate(text, one.label, one.prompt))
    reasons = [unreadable(one.text) for one in kept]
    bad = sum(bool(reason) for reason in reasons)
    if bad:
        (dropped if unread == "drop" else flagged)[UNREADABLE] += bad
    if unread == "drop":
        kept = [one for one, reason in zip(kept, reasons, strict=True) if not reason]
    later = _nearly_equal([one.text for one in kept])
    if later:
        (dropped if near == "drop" else flagged)[NEARLY] += len(later)
    if near == "drop":
        kept = [one for i, one in enumerate(kept) if i not in later]
    if not kept:
        raise UserError(
            "none of the texts can be used: "
            + (", ".join(f"{n:,} {why}" for why, n in dropped.items()) or "there are none")
        )
    if len(kept) > MOST:
        raise UserError(f"{len(kept):,} texts are left; a pool takes {MOST:,}: import a part of the file")
    if any(len(one.label or "") > LONGEST_LABEL for one in kept):
        raise UserError(
            f"label: a label is longer than {LONGEST_LABEL} characters; choose the column that holds classes"
        )
    return Built(tuple(kept), len(candidates), dict(dropped), dict(flagged))


def _nearly_equal(texts: Sequence[str]) -> set[int]:
    """Return the positions of texts that nearly equal one that comes before them."""
    return {later for earlier, later, _ in near_duplicate_pairs(texts, texts, NEAR) if earlier < later}
