"""Graphics cards, dealt among the workers of a machine: each computes on its own, so that none waits for another's.

A worker sees the cards that `CUDA_VISIBLE_DEVICES` leaves it, as every library does that computes on them. A model that
needs several is spread over those of its worker. One worker alone keeps them all.
"""

from __future__ import annotations

import os
from functools import lru_cache
from itertools import takewhile

from engine.models.offered.machine import this_machine

VISIBLE = "CUDA_VISIBLE_DEVICES"


@lru_cache(maxsize=1)
def visible() -> tuple[str, ...]:
    """Return what this process was given to compute on: as its environment said at the start, else as the driver lists.

    Kept, since a worker that takes its own share out of the environment still deals the others theirs.
    """
    said = os.environ.get(VISIBLE)
    if said is None:
        return tuple(str(number) for number in range(len(this_machine().cards)))
    named = (part.strip() for part in said.split(","))
    return tuple(takewhile(lambda one: one not in ("", "-1"), named))  # what follows is not seen either


def dealt(number: int, count: int) -> dict[str, str]:
    """Return what a worker's environment says of its cards; nothing where there is one worker, or no two cards.

    Each card is one worker's where there are as many cards as workers; else some share one.

    Args:
        number: of the worker, from 0, which starts the others. count: of the machine's workers.
    """
    cards = visible()
    if count < 2 or len(cards) < 2:
        return {}
    return {VISIBLE: ",".join(cards[number::count] or (cards[number % len(cards)],))}
