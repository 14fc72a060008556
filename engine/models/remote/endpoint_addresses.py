"""The addresses of one endpoint: which of several servers takes the next request, and which rests after failures.

A request goes to the address with the fewest under way. One that failed `FAILURES` times in a row, or that asks to
wait, is left alone for a while that doubles with each such time, if there is another; then it is tried again.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass

from engine.models.remote.endpoint_settings import host_of

FAILURES = 3  # in a row: a single broken connection among hundreds is no sign of a server that is down
FIRST_REST_SECONDS, LONGEST_REST_SECONDS = 1.0, 60.0


@dataclass(eq=False)
class Address:
    """One server: `url` without trailing slash, requests under way, and how it has answered lately."""

    url: str
    under_way: int = 0
    failures: int = 0
    rests: int = 0
    awake_at: float = 0.0

    @property
    def host(self) -> str:
        """Return host:port."""
        return host_of(self.url)


class Addresses:
    """Hands out addresses, at most `each` requests at once to every one; lives in one event loop."""

    def __init__(self, urls: Sequence[str], each: int) -> None:
        self.all = [Address(url) for url in urls]
        self.each = each
        self._places = asyncio.Semaphore(each * len(urls))  # so that few wait for a change, and the rest in line
        self._changed = asyncio.Condition()

    async def take(self, after: Address | None = None) -> Address:
        """Return the least busy address that is awake, another than `after` where one is; waits for a free place."""
        await self._places.acquire()
        try:
            return await self._place(after)
        except BaseException:
            self._places.release()
            raise

    async def _place(self, after: Address | None) -> Address:
        async with self._changed:
            while True:
                now = time.monotonic()
                awake = self._awake(now)
                others = [one for one in awake if one is not after] or awake  # waiting beats failing there again
                free = [one for one in others if one.under_way < self.each]
                if free:
                    chosen = min(free, key=lambda one: one.under_way)
                    chosen.under_way += 1
                    return chosen
                wake = min((one.awake_at - now for one in self.all if one.awake_at > now), default=None)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), wake)

    async def give(self, address: Address) -> None:
        """Take back an address whose request has ended."""
        async with self._changed:
            address.under_way -= 1
            self._places.release()
            self._changed.notify_all()  # who waits may not want this one

    def answered(self, address: Address) -> None:
        """Note that an address has answered."""
        address.failures = address.rests = 0

    def failed(self, address: Address, asked: float | None) -> bool:
        """Note a failure, and the seconds the server asks to wait; returns whether another address may answer now."""
        address.failures += 1
        now = time.monotonic()
        if len(self.all) > 1 and now >= address.awake_at and (asked is not None or address.failures >= FAILURES):
            rest = min(LONGEST_REST_SECONDS, FIRST_REST_SECONDS * 2**address.rests)
            address.awake_at, address.rests = now + (rest if asked is None else asked), address.rests + 1
        return any(one is not address and one.failures < FAILURES for one in self._awake(now))

    def _awake(self, now: float) -> list[Address]:
        """Return the addresses that do not rest; if all do, the one that wakes first."""
        awake = [one for one in self.all if one.awake_at <= now]
        return awake or [min(self.all, key=lambda one: one.awake_at)]
