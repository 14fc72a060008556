"""The addresses at which this server may be asked, and which requests come from elsewhere.

A request must name the server's own host and port; a request sent by a page must come from a page of the very same
origin (scheme, host and port), so that neither a foreign site nor another program's page on this machine can drive
this one. Headers that say "forwarded for somebody else" are refused, because whoever connects can write them, unless
an address was named at the start at which a proxy is known to stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.types import Scope

NAMES = ("localhost", "127.0.0.1", "[::1]")
FORWARDING = frozenset({"forwarded", "via", "x-real-ip", "x-client-ip", "x-original-host", "true-client-ip"})
SECURE = {"ws": "http", "wss": "https"}
DEFAULT_PORTS = {"http": 80, "https": 443}

FOREIGN_HOST = "The program was asked under a name that is not its own. Open the address that it printed at its start."
FOREIGN_PAGE = "Another page sent this request. Open the program at the address that it printed at its start."
FORWARDED = "The request was passed on by a proxy, which this program was not told of at its start."


def origin_of(address: str) -> str:
    """Return `scheme://host[:port]` of an address, small letters, without the scheme's usual port.

    Raises:
        ValueError: it is no http or https address, or it holds more than scheme, host and port.
    """
    parts = urlsplit(address.strip())
    port = parts.port
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname or parts.path not in ("", "/"):
        raise ValueError("an address such as https://example.org")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("an address without account, query or fragment")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{port}" if port and port != DEFAULT_PORTS[parts.scheme] else "")


@dataclass(frozen=True)
class Addresses:
    """The server's own addresses, and the one at which a proxy or a forwarded port shows it, if there is one."""

    public: str | None = None  # an origin, as `origin_of` returns it

    def refusal(self, scope: Scope) -> str | None:
        """Return why a request may not come in, or None."""
        headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        if self.public is None and any(_forwarding(name) for name, _ in headers):
            return FORWARDED
        hosts = [value for name, value in headers if name == "host"]
        origins = self.allowed(scope)
        own = [origin for origin in origins if len(hosts) == 1 and hosts[0].lower() == origin.partition("://")[2]]
        if not own:
            return FOREIGN_HOST
        sent = [value for name, value in headers if name == "origin"]
        if any(origin != own[0] for origin in sent) or (scope["type"] == "websocket" and not sent):
            return FOREIGN_PAGE
        fetched = {name: value for name, value in headers if name.startswith("sec-fetch-")}
        foreign = fetched.get("sec-fetch-site") in ("cross-site", "same-site")
        visit = fetched.get("sec-fetch-mode") == "navigate" and scope.get("method") in ("GET", "HEAD")
        return FOREIGN_PAGE if foreign and not visit else None

    def allowed(self, scope: Scope) -> list[str]:
        """Return the origins under which a request may come in."""
        asked = str(scope.get("scheme", "http"))
        scheme = SECURE.get(asked, asked)
        port = (scope.get("server") or (None, None))[1]
        own = [f"{scheme}://{name}:{port}" for name in NAMES]
        if port == DEFAULT_PORTS.get(scheme):
            own += [f"{scheme}://{name}" for name in NAMES]
        return own + ([self.public] if self.public else [])


def _forwarding(name: str) -> bool:
    return name in FORWARDING or name.startswith(("x-forwarded-", "cf-connecting-"))
