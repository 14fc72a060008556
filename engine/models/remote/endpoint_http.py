"""Requests to one endpoint, of one server or several: limits, time-outs, retries with back-off, cancellation.

Back-off is exponential with jitter (the "equal jitter" of Brooker, AWS Architecture Blog, 2015): after the k-th
failure wait between half and all of min(30, 0.5 · 2^k) seconds, or as long as the server's Retry-After asks.
Privacy posture: request and reply bodies stay in memory. Errors name the endpoint, its host and a status, never a
body; library errors, which hold the request, are dropped. The key is sent to the endpoint's own hosts alone.

Where an endpoint has several addresses, a request that failed at one goes to another at once; only where none is
known to answer does it wait. Each address more is an attempt more.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import socket
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, fields
from email.utils import parsedate_to_datetime
from threading import Event
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urljoin, urlsplit

from engine.errors import UserError
from engine.json_types import JSONObject
from engine.models.cancel import Cancelled
from engine.models.remote import consent as consents
from engine.models.remote.consent import Consent
from engine.models.remote.endpoint_addresses import Address, Addresses
from engine.models.remote.endpoint_settings import EndpointSettings, is_loopback

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS, LONGEST_ASKED_SECONDS = 0.5, 30.0, 300.0
CONNECT_SECONDS, LOOK_SECONDS = 10.0, 0.1
LARGEST_REPLY = 32 << 20  # bytes
REDIRECTS = 3


@dataclass
class Usage:
    """What a server was asked for so far. `counted` replies told their tokens; the others were estimated.

    blocked: replies with a blocked value. biased: of the requests after those, how many kept its tokens out. held:
    requests held to given answers. outside: replies to those that were none of them.
    """

    requests: int = 0
    retries: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    counted: int = 0
    waited_seconds: float = 0.0
    blocked: int = 0
    biased: int = 0
    held: int = 0
    outside: int = 0

    def as_dict(self) -> dict[str, float]:
        """Return the counts."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class _Rate:
    """Starts at most so many requests a minute, evenly spaced."""

    def __init__(self, per_minute: int) -> None:
        self.interval = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0

    async def turn(self) -> None:
        """Wait for the next place."""
        if not self.interval:
            return
        at = max(self._next, time.monotonic())
        self._next = at + self.interval
        await asyncio.sleep(at - time.monotonic())


class Transport:
    """Speaks to the servers of one endpoint.

    Args:
        settings: the server.
        key: its API key, or None.
        consent: the custodian's consent for the corpus; needed where the server is on another machine.

    Raises:
        UserError: the server is on another machine and no consent names it; nothing was connected to.
    """

    def __init__(self, settings: EndpointSettings, key: str | None = None, consent: Consent | None = None) -> None:
        consents.require(settings, consent)
        if key is not None and not re.fullmatch(r"[!-~]{1,4096}", key):
            raise UserError(f"the key of endpoint {settings.name!r} holds signs that no key has; give it again")
        self.settings, self.usage = settings, Usage()
        self.cancelled: Callable[[], bool] = lambda: False
        self._key = key
        self._rate = _Rate(settings.requests_per_minute)
        self._client: httpx.AsyncClient | None = None
        self._addresses: Addresses | None = None
        self._runner: asyncio.Runner | None = None
        self._thread: ThreadPoolExecutor | None = None

    def run(self, work: Callable[[int], Coroutine[None, None, T]], count: int) -> list[T]:
        """Return the results of `work(0..count-1)` in order, at most `concurrency` requests at once an address.

        The requests are made by a thread of their own, so that a caller may itself stand in an event loop (a notebook
        does); `cancelled` is asked by the caller's thread.

        Raises:
            Cancelled: `cancelled` became true; requests under way are dropped.
            UserError: a request failed for good.
        """
        stop = Event()
        self._runner = self._runner or asyncio.Runner()
        self._thread = self._thread or ThreadPoolExecutor(1, thread_name_prefix="endpoint")
        future = self._thread.submit(self._within, self._runner, work, count, stop)
        try:
            while not wait([future], timeout=LOOK_SECONDS).done and not self.cancelled():
                pass
        finally:
            stop.set()
        return future.result()

    def close(self) -> None:
        """Close the connections."""
        if self._runner is not None and self._thread is not None:
            if self._client is not None:
                self._thread.submit(self._runner.run, self._client.aclose()).result()
            self._thread.submit(self._runner.close).result()
            self._thread.shutdown()
        self._runner = self._thread = self._client = self._addresses = None

    def _within(
        self, runner: asyncio.Runner, work: Callable[[int], Coroutine[None, None, T]], count: int, stop: Event
    ) -> list[T]:
        return runner.run(self._all([work(i) for i in range(count)], stop))

    async def _all(self, works: Sequence[Coroutine[None, None, T]], stop: Event) -> list[T]:
        tasks = [asyncio.ensure_future(work) for work in works]
        pending: set[asyncio.Future[T]] = set(tasks)
        try:
            while pending:
                done, pending = await asyncio.wait(pending, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_EXCEPTION)
                for task in done:
                    task.result()
                if pending and stop.is_set():
                    raise Cancelled("cancelled while waiting for the endpoint")
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return [task.result() for task in tasks]

    async def request(
        self, method: str, path: str, body: JSONObject | None = None, *, beside: bool = False
    ) -> JSONObject:
        """Return the JSON object that a server answers, after as many attempts as the settings allow.

        `beside`: the path stands beside the version (/tokenize), not behind it.
        """
        if self._addresses is None:
            self._addresses = Addresses(self.settings.addresses, self.settings.concurrency)
        addresses, address = self._addresses, None
        tries = self.settings.tries + len(addresses.all) - 1
        for attempt in range(tries):
            await self._rate.turn()
            address = await addresses.take(address)
            try:
                self.usage.requests += 1
                answer, problem, asked = await self._attempt(address, method, path, body, beside)
                if answer is not None:
                    addresses.answered(address)
                    return answer
                elsewhere = addresses.failed(address, asked)
                if attempt + 1 == tries:
                    break
                self.usage.retries += 1
                if not elsewhere:
                    wait = self._wait(attempt, asked)
                    self.usage.waited_seconds += wait
                    await asyncio.sleep(wait)
            finally:
                await addresses.give(address)
        raise UserError(
            f"{self._name()} failed {tries} time(s), the last time because {problem}; what was made is "
            "kept: see that the server is at work, then resume"
        )

    def _wait(self, attempt: int, asked: float | None) -> float:
        if asked is not None:
            if asked > LONGEST_ASKED_SECONDS:
                raise UserError(f"{self._name()} asks to wait {asked:.0f} seconds; resume after that time")
            return asked
        full = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2**attempt)
        return full * random.uniform(0.5, 1.0)

    async def _attempt(
        self, address: Address, method: str, path: str, body: JSONObject | None, beside: bool
    ) -> tuple[JSONObject | None, str, float | None]:
        """Return the reply, else None with why another try may help and the seconds the server asks to wait."""
        import httpx

        try:
            async with asyncio.timeout(self.settings.timeout_seconds):
                base = address.url.rpartition("/")[0] if beside else address.url
                status, headers, content = await self._send(method, base + path, body)
        except (TimeoutError, httpx.TimeoutException):
            return None, f"no answer came within {self.settings.timeout_seconds:g} seconds", None
        except httpx.RequestError as error:
            return None, f"the connection broke ({type(error).__name__})", None
        if status in AGAIN:
            return None, f"the server answered with status {status}", _retry_after(headers.get("retry-after"))
        if status >= 400:
            raise UserError(f"{self._name(address)} refused the request with status {status}: {_remedy(status)}")
        try:
            answer = json.loads(content)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            return None, "the reply was not a JSON object", None
        return answer, "", None

    async def _send(self, method: str, url: str, body: JSONObject | None) -> tuple[int, httpx.Headers, bytes]:
        client = self._open()
        for _ in range(REDIRECTS + 1):
            async with client.stream(method, url, json=body, headers=self._headers()) as reply:
                if reply.is_redirect:
                    url = self._redirect(url, reply.headers.get("location", ""), reply.status_code)
                    continue
                content = bytearray()
                async for chunk in reply.aiter_bytes():
                    content += chunk
                    if len(content) > LARGEST_REPLY:
                        raise UserError(f"{self._name()} sent a reply of more than {LARGEST_REPLY >> 20} MB")
                return reply.status_code, reply.headers, bytes(content)
        raise UserError(f"{self._name()} redirects in a circle; correct its address")

    def _redirect(self, url: str, location: str, status: int) -> str:
        target = urljoin(url, location)
        before, after = urlsplit(url), urlsplit(target)
        same = (before.scheme, before.hostname, before.port) == (after.scheme, after.hostname, after.port)
        if not same or not location or status not in (307, 308):
            raise UserError(
                f"{self._name()} redirects to another address, which is refused: nothing was sent there; give the "
                "server's own address"
            )
        return target

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            import httpx

            local = self.settings.local
            if any(urlsplit(url).hostname == "localhost" for url in self.settings.addresses):
                found = {str(entry[4][0]) for entry in socket.getaddrinfo("localhost", None)}
                if not all(is_loopback(address.partition("%")[0]) for address in found):
                    raise UserError(f"{self._name()}: localhost is not this machine here; use 127.0.0.1")
            most = self.settings.concurrency * len(self.settings.addresses)
            limits = httpx.Limits(max_connections=most, max_keepalive_connections=most)
            timeout = httpx.Timeout(self.settings.timeout_seconds, connect=CONNECT_SECONDS, pool=None)
            # Proxies of the environment would carry text for this machine elsewhere.
            self._client = httpx.AsyncClient(
                timeout=timeout, limits=limits, follow_redirects=False, trust_env=not local
            )
        return self._client

    def _name(self, address: Address | None = None) -> str:
        return f"endpoint {self.settings.name!r} ({address.host if address else self.settings.host})"


def _retry_after(value: str | None) -> float | None:
    """Return the seconds of a Retry-After header: a number, or a date (RFC 9110, section 10.2.3)."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError):
        return None


def _remedy(status: int) -> str:
    return {
        401: "it wants another key; give it on the Models page",
        403: "the key may not use this model; ask who runs the server",
        404: "there is no such address or model; check both on the Models page",
        413: "the prompt is too long; ask for fewer or shorter examples",
    }.get(status, "it does not take a request of this form; check the model and whether it is chat or completions")
