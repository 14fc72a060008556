"""Draw a document again when it repeats a longer run of words of another source's document."""

from __future__ import annotations

import re
from collections.abc import Callable

from engine.training.samples.common import Draft, finish, lengthened
from engine.training.samples.grammar import Grammar, Segment

WINDOW = 8  # words
_TRIES = 4
_WINDOWS_HELD = 300_000  # some 3,000 documents; beyond them documents are taken as they come
_WORD = re.compile(r"\w+")


class Novelty:
    """The word windows of the documents made so far, each with the source it was first seen in."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self.source = 0

    @property
    def full(self) -> bool:
        """Return whether the memory is used up."""
        return len(self._seen) >= _WINDOWS_HELD

    def shared(self, windows: list[str]) -> int:
        """Return how many of the windows another source has."""
        seen, source = self._seen, self.source
        return sum(seen.get(window, source) != source for window in windows)

    def keep(self, windows: list[str]) -> None:
        """Remember the windows of the current source."""
        for window in windows:
            self._seen.setdefault(window, self.source)


def write(
    draft: Draft, grammar: Grammar, shape: str, novelty: Novelty, *, casual: float, shorthand: float = 0.0
) -> list[Segment]:
    """Return a document of one layout of `shape`: of a few drawings, the one that repeats least."""
    layout = draft.rng.randrange(len(grammar.rules[shape]))
    facts = {name: list(entries) for name, entries in draft.lists.items()}

    def drawn() -> list[Segment]:
        draft.lists = {name: list(entries) for name, entries in facts.items()}
        scene = draft.scene()
        more: Callable[[], list[Segment]] = lambda: grammar.expand("addon", scene)  # noqa: E731
        segments = lengthened(grammar.expand(shape, scene, layout), more)
        return finish(segments, draft.rng, casual=casual, shorthand=shorthand)

    return least_repeated(drawn, novelty)


def least_repeated(drawn: Callable[[], list[Segment]], novelty: Novelty, tries: int = _TRIES) -> list[Segment]:
    """Return, of a few drawings, the one that repeats least of other sources' documents, and remember it."""
    best = drawn()
    if novelty.full:
        return best
    windows = _windows(best)
    least = novelty.shared(windows)
    for _ in range(tries):
        if not least:
            break
        other = drawn()
        others = _windows(other)
        count = novelty.shared(others)
        if count < least:
            best, windows, least = other, others, count
    novelty.keep(windows)
    return best


def _windows(segments: list[Segment]) -> list[str]:
    words = _WORD.findall("".join(s.text for s in segments).lower())
    return [" ".join(words[at : at + WINDOW]) for at in range(len(words) - WINDOW + 1)]
