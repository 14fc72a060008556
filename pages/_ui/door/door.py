"""The door: who may come in to the web process.

Whoever connects over loopback as the operating-system account this program runs as comes in without asking. Everybody
else (another account, a container's gateway, a forwarded port, an owner that cannot be told) needs the token of this
start, which is printed with the address and swapped for a cookie. It stands before every HTTP route and WebSocket.

Where several people sign in, the token serves nobody: a request comes in where the sign-in vouches for it, and gets a
file of a page where that was given to this person, by the roles that they still hold.

Privacy posture: neither token nor cookie is written anywhere after the start's print; a request is never logged.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from threading import Event
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from pages._ui.door.addresses import Addresses
from pages._ui.door.door_page import again_page, refusal_page, token_page
from pages._ui.door.peer import Peer, identify
from pages._ui.sign_in import given
from pages._ui.sign_in.settings import Way

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

WRONG_ALLOWED, WRONG_SECONDS = 10, 60.0  # wrong tokens a visitor may send, and how long each counts
MOST_VISITORS, MOST_CONNECTIONS = 512, 512
LONGEST_FORM = 4096  # bytes
FORM_TYPE = "application/x-www-form-urlencoded"
PAGE_PATH = re.compile(r"(?:/[A-Za-z0-9_-]+)+/?")
UNVOUCHED = "This program is opened through its sign-in. Use the address that your office gave you."
KEPT_OUT_OF_CACHES = {"cache-control": "no-store"}

STANDING = Event()


def stands() -> bool:
    """Return whether this process' server was started with a door."""
    return STANDING.is_set()


class Wrong:
    """Counts wrong tokens a visitor; whoever sent too many is not listened to for a while."""

    def __init__(self) -> None:
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def too_many(self, visitor: str) -> bool:
        """Return whether the visitor must wait."""
        times = self._times.get(visitor, deque())
        while times and times[0] < time.monotonic() - WRONG_SECONDS:
            times.popleft()
        return len(times) >= WRONG_ALLOWED

    def add(self, visitor: str) -> None:
        """Count one wrong token."""
        self._times.setdefault(visitor, deque()).append(time.monotonic())
        self._times.move_to_end(visitor)
        while len(self._times) > MOST_VISITORS:
            self._times.popitem(last=False)


class Door:
    """ASGI middleware that lets in own-account visitors and holders of this start's token, and nobody else."""

    def __init__(
        self, app: ASGIApp, token: str, addresses: Addresses, require_token: bool = False, sign_in: Way | None = None
    ) -> None:
        self.app = app
        self.sign_in = sign_in
        self.addresses = addresses
        # Behind a proxy everybody looks like the proxy's account.
        self.require_token = require_token or addresses.public is not None
        self._token = hashlib.sha256(token.encode()).digest()
        self._visitors: OrderedDict[bytes, str] = OrderedDict()  # digest of a cookie -> who it was given to
        self._connections: OrderedDict[int, tuple[Any, Peer]] = OrderedDict()
        self._wrong = Wrong()
        STANDING.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it here."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refused = self.addresses.refusal(scope)
        peer = None if refused else await self._peer(scope)
        if peer is not None and self.sign_in is not None and not self.sign_in.vouched(scope):
            refused, peer = UNVOUCHED, None
        signed = peer is not None and self.sign_in is not None
        if signed and given.is_file(scope["path"]) and not await self._given(scope):
            refused, peer = given.REFUSED, None
        admitted = peer is not None and self._admitted(scope, peer)
        plain_visit = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        asked = plain_visit and self.sign_in is None
        token = parse_token(scope.get("query_string", b"")) if asked else None
        if admitted and token is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": ""})  # before it is accepted: 403
        elif peer is None:
            await self._refuse(scope, refused or "")(scope, receive, send)
        elif admitted:
            await self._inside(scope)(scope, receive, send)  # the token must not stay in the history
        else:
            if scope["method"] == "POST" and _header(scope, "content-type").startswith(FORM_TYPE):
                token = parse_token(await _body(receive))
            await self._ask(scope, peer, token)(scope, receive, send)

    async def _peer(self, scope: Scope) -> Peer:
        """Return who opened the connection, looked up once a connection.

        The server makes one address tuple a connection, so the tuple itself, not its value, names the connection: a
        later one from the same port is another tuple. Holding it keeps its identity from being used again.
        """
        client = scope.get("client")
        known = self._connections.get(id(client))
        if known is not None and known[0] is client:
            return known[1]
        peer = await run_in_threadpool(identify, client, scope.get("server"))
        if client is not None:
            self._connections[id(client)] = (client, peer)
            while len(self._connections) > MOST_CONNECTIONS:
                self._connections.popitem(last=False)
        return peer

    async def _given(self, scope: Scope) -> bool:
        return self.sign_in is not None and await run_in_threadpool(given.may_fetch, self.sign_in, scope)

    def _admitted(self, scope: Scope, peer: Peer) -> bool:
        if self.sign_in is not None:  # the token of the start is of no use then
            return True
        if peer.own and not self.require_token:
            return True
        return any(
            self._visitors.get(_digest(value)) == self._visitor(peer) for value in _cookies(scope, cookie_name(scope))
        )

    def _visitor(self, peer: Peer) -> str:
        """Return whom a cookie belongs to: browsers show it to every port of a host, so it serves one account alone."""
        if self.addresses.public is not None:
            return "through the public address"
        return f"account {peer.uid}" if peer.uid is not None else f"address {peer.host}"

    def _ask(self, scope: Scope, peer: Peer, given: str | None) -> Response:
        """Return the way in for a right token, else the page that asks for one."""
        visitor = self._visitor(peer)
        if self._wrong.too_many(visitor):
            wait = KEPT_OUT_OF_CACHES | {"retry-after": str(int(WRONG_SECONDS))}
            return _answer(scope, token_page("wait"), "Too many wrong tokens: wait a minute.", 429, wait)
        if given is None:
            if _header(scope, "sec-fetch-site") == "cross-site":  # a strict cookie is not sent on the way from there
                return _answer(scope, again_page(), "The token of this start is needed.", 401)
            return _answer(scope, token_page(), "The token of this start is needed.", 401)
        if not hmac.compare_digest(hashlib.sha256(given.encode("utf-8", "replace")).digest(), self._token):
            self._wrong.add(visitor)
            return _answer(scope, token_page("wrong"), "This is not the token of this start.", 401)
        value = secrets.token_urlsafe(32)
        self._visitors[_digest(value)] = visitor
        while len(self._visitors) > MOST_VISITORS:
            self._visitors.popitem(last=False)
        response = self._inside(scope)
        secure = self.addresses.public.startswith("https") if self.addresses.public else scope["scheme"] == "https"
        response.set_cookie(cookie_name(scope), value, path="/", secure=secure, httponly=True, samesite="strict")
        return response

    @staticmethod
    def _inside(scope: Scope) -> Response:
        """Return the way to the same page without the token; to the first page where the path is none of a page."""
        path = scope["path"] if PAGE_PATH.fullmatch(scope["path"]) else "/"
        return RedirectResponse(path, 303, headers=KEPT_OUT_OF_CACHES)

    @staticmethod
    def _refuse(scope: Scope, why: str) -> Response:
        return _answer(scope, refusal_page(why, sign_in=why == UNVOUCHED), why, 403)


def cookie_name(scope: Scope) -> str:
    """Return the cookie's name, one a port: browsers keep one jar for all ports of a host."""
    return f"understudy_{(scope.get('server') or (None, 0))[1]}"


def parse_token(query: bytes) -> str | None:
    """Return the token in a query or a form, or None."""
    try:
        fields = parse_qs(query.decode("latin-1"), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        return None
    return fields["token"][0].strip() if "token" in fields else None


def _digest(value: str) -> bytes:
    return hashlib.sha256(value.encode("utf-8", "replace")).digest()


def _header(scope: Scope, name: str) -> str:
    wanted = name.encode()
    return next((value.decode("latin-1") for key, value in scope["headers"] if key.lower() == wanted), "")


def _cookies(scope: Scope, name: str) -> list[str]:
    """Return the values of a cookie; a foreign one that cannot be read hides no other."""
    found = []
    for key, value in scope["headers"]:
        if key.lower() != b"cookie":
            continue
        for part in value.decode("latin-1").split(";"):
            try:
                morsel = SimpleCookie(part.strip()).get(name)
            except CookieError:
                continue
            if morsel is not None:
                found.append(morsel.value)
    return found[:8]


def _answer(scope: Scope, page: str, words: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """Return the page where one is asked for, else one sentence."""
    headers = dict(headers or KEPT_OUT_OF_CACHES)
    if "text/html" in _header(scope, "accept"):
        return HTMLResponse(page, status, headers)
    return PlainTextResponse(words, status, headers)


async def _body(receive: Receive) -> bytes:
    """Return a form's body, or nothing where it is too long."""
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > LONGEST_FORM or message["type"] == "http.disconnect":
            return b""
        if not message.get("more_body"):
            return body
