"""What pools and packs hand out: frozen summaries, no live database rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.json_types import JSON


@dataclass(frozen=True)
class PoolSummary:
    """A pool: how many texts, which labels, where it is from, who declared what of it, and what its import found.

    pack_id: the prompt pack that it answers, empty for none. rounds: runs whose protected output it was written from.
    read: texts in the file; failed: answers without text; dropped, flagged: counts a reason.
    """

    name: str
    created: str
    actor: str
    texts: int
    labels: dict[str, int]
    digest: str
    origin: str
    licence: str
    statement: str
    pack_id: str
    rounds: tuple[str, ...]
    read: int
    failed: int
    dropped: dict[str, int]
    flagged: dict[str, int]


@dataclass(frozen=True)
class PoolCheck:
    """What a comparison of a pool with a corpus found; internal.

    compared: private records. equal: texts of the pool that equal a record but for spelling. long, shared: texts that
    repeat more than `LONG` and `SHARED` consecutive words of one record.
    """

    pool: str
    corpus_id: str
    at: str
    actor: str
    compared: int
    equal: int
    long: int
    shared: int
    positions: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True)
class Listed:
    """One thing that leaves with a prompt pack: what it is, its content in words, and why it may leave."""

    what: str
    content: str
    why: str


@dataclass(frozen=True)
class PackPrompt:
    """One prompt of a pack.

    label, words: what is asked for, None and 0 where nothing is. parent: text of the winner that it asks a variation
    of, empty for none; votes: that winner's noisy votes.
    """

    id: str
    prompt: str = field(repr=False)
    label: str | None = None
    words: int = 0
    parent: str = field(default="", repr=False)
    votes: float | None = None

    def as_dict(self) -> dict[str, JSON]:
        """Return the prompt as JSON."""
        return {
            "id": self.id, "prompt": self.prompt, "label": self.label, "words": self.words, "parent": self.parent,
            "votes": self.votes,
        }  # fmt: skip


@dataclass(frozen=True)
class PackSummary:
    """A prompt pack that was logged: when, by whom, how many prompts, from which run, and what left with it."""

    id: str
    created: str
    actor: str
    run_id: str
    statement: str
    prompts: int
    digest: str
    listed: tuple[Listed, ...]
