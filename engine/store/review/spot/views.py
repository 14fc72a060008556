"""What the spot checks of a corpus look like from outside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.pii.decide.missed import Rate
    from engine.pii.decide.second import Agreement, Unseen


@dataclass(frozen=True)
class SpotCheck:
    """A spot check of a corpus.

    Attributes:
        look: 1 for the first of these records, in whatever corpus. at, actor: when and by whom it was drawn.
        records: of the corpus. drawn_from: records it was drawn from, all but in a sample of an earlier edition.
        read_before: records of the corpus that somebody had read then. again: records of the sample among these, which
            are read once more.
        drawn, read: records of the sample, and those read to the end since. twice, read_twice: those that a second
            person reads too, and has read.
        disagreements: identifiers that one reader alone found, or that were taken back, and nobody settled.
        stale: why its numbers describe the corpus no longer, or empty.
    """

    id: str
    look: int
    at: str
    actor: str
    records: int
    drawn_from: int
    read_before: int
    again: int
    drawn: int
    read: int
    twice: int
    read_twice: int
    disagreements: int
    stale: str

    @property
    def complete(self) -> bool:
        """Whether each of its records was read to the end."""
        return self.read == self.drawn


@dataclass(frozen=True)
class Estimate:
    """What a spot check says: records that still hold something missed, per 1,000 records of the corpus.

    Attributes:
        why: why nothing is told, or empty; then `direct` and `quasi` are there.
        types: the same by type of identifier, those that were missed at all.
        places: identifiers that had been missed in the sample's records: direct, quasi.
        agreement, unseen: of the records read twice, where there are any.
    """

    check: SpotCheck
    why: str = ""
    direct: Rate | None = None
    quasi: Rate | None = None
    types: dict[str, Rate] = field(default_factory=dict)
    places: tuple[int, int] = (0, 0)
    agreement: Agreement | None = None
    unseen: Unseen | None = None


@dataclass(frozen=True)
class Drawable:
    """What a new spot check has to draw from: records of the corpus, and those of them that somebody read.

    look: which one it would be, of these records in whatever corpus. elsewhere: the same records were drawn from in
    another corpus, which counts.
    """

    records: int
    read_before: int
    look: int
    elsewhere: bool = False

    @property
    def groups(self) -> tuple[int, int]:
        """Records that nobody read, and those that somebody did; see `engine.pii.decide.missed.strata`."""
        return self.records - self.read_before, self.read_before


@dataclass(frozen=True)
class SecondSheet:
    """A text for the second reader: what was marked when the sample was drawn, and what this reader added.

    Attributes:
        marked: places that would have been replaced: start, end, label. mine: places added, the same.
    """

    record_id: str
    text: str
    marked: tuple[tuple[int, int, str], ...]
    mine: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True)
class Difference:
    """An identifier that one reader alone found, or that was taken back once its record had been read.

    Attributes:
        by: `first`, `second` or `withdrawn`. settled: `missed`, `none` or empty.
    """

    record_id: str
    start: int
    end: int
    label: str
    by: str
    settled: str
    settled_by: str = ""
