"""How people sign in, settled at the start: through an authenticating proxy, or through an OpenID provider.

Behind a proxy the identity comes in a header, and a header is worth what its sender is worth. So a request counts only
where it carries a secret that the proxy alone knows, and where the header stands there exactly once, since some proxies
pass a visitor's own header on beside theirs. The connection's other end says nothing here: the server takes it from
headers that a proxy, or anybody, writes.
"""

from __future__ import annotations

import argparse
import hmac
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pages._ui.sign_in import provider
from pages._ui.sign_in.oidc import EMAIL, SUBJECT, Oidc, SignIns

if TYPE_CHECKING:
    from starlette.types import Scope

PROXY, OIDC = "proxy", "oidc"
SECRET_HEADER = "x-understudy-proxy"
LEAST_SECRET, LONGEST_IDENTITY = 24, 120
HEADER = re.compile(r"[A-Za-z0-9-]{1,60}")
CLAIM = re.compile(r"[A-Za-z0-9_:./-]{1,120}")


@dataclass(frozen=True)
class SignIn:
    """How people sign in.

    header: that the proxy names the person in. secret: what the proxy sends to show that it is the proxy. minutes: of
    rest after which a session ends.
    """

    header: str
    secret: bytes = field(repr=False)
    minutes: int = 30

    def vouched(self, scope: Scope) -> bool:
        """Return whether a request may come in: it is the proxy's, and names one person."""
        return self._from_proxy(scope) and self.known_by(scope)[0] != ""

    def known_by(self, scope: Scope) -> tuple[str, str]:
        """Return the identity that a vouched request comes under, empty for none; a proxy tells no account."""
        return self.identity([value.decode("latin-1") for name, value in scope["headers"] if self._is(name)]), ""

    def identity(self, values: list[str]) -> str:
        """Return the identity in the header's values, empty where there is none, or more than one."""
        found = values[0].strip() if len(values) == 1 else ""
        return found if found.isprintable() and len(found) <= LONGEST_IDENTITY else ""

    def _from_proxy(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name.lower() == SECRET_HEADER.encode()]
        return bool(self.secret) and len(given) == 1 and hmac.compare_digest(given[0].strip(), self.secret)

    def _is(self, name: bytes) -> bool:
        # Some servers in between read an underscore as a hyphen; such a twin is the visitor's own.
        return name.lower().replace(b"_", b"-") == self.header.lower().encode()


Way = SignIn | Oidc
_chosen: dict[str, Way] = {}


def choose(sign_in: Way | None) -> None:
    """Settle how people sign in to this process; None is nobody has to."""
    _chosen.clear()
    if sign_in is not None:
        _chosen["it"] = sign_in


def current() -> Way | None:
    """Return how people sign in to this process, None where nobody has to."""
    return _chosen.get("it")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the start."""
    parser.add_argument("--sign-in", choices=[PROXY, OIDC], help="several people use the program, each signed in")
    parser.add_argument("--identity-header", metavar="NAME", help="header in which the proxy names who signed in")
    parser.add_argument(
        "--proxy-secret-file", type=Path, metavar="FILE", help=f"secret that the proxy sends as {SECRET_HEADER}"
    )
    parser.add_argument(
        "--identity-claim", metavar="NAME",
        help=f"with oidc: what of a sign-in names the person; {EMAIL} (the usual, verified), {SUBJECT} (issuer and "
        "subject) or another claim",
    )  # fmt: skip
    parser.add_argument("--session-minutes", type=int, default=30, metavar="N", help="rest after which a session ends")


def from_options(parser: argparse.ArgumentParser, given: argparse.Namespace) -> Way | None:
    """Return how people sign in by these options; ends the program with a sentence where they do not fit together."""
    if given.sign_in != PROXY and (given.identity_header or given.proxy_secret_file):
        parser.error("--identity-header and --proxy-secret-file need --sign-in proxy")
    if given.sign_in != OIDC and given.identity_claim:
        parser.error("--identity-claim needs --sign-in oidc")
    if given.sign_in is None:
        return None
    if not 1 <= given.session_minutes <= 24 * 60:
        parser.error("--session-minutes: must be 1 to 1440")
    if given.public_address is None:
        parser.error(f"--sign-in {given.sign_in} needs --public-address: where people find the program")
    return _proxy(parser, given) if given.sign_in == PROXY else _oidc(parser, given)


def _proxy(parser: argparse.ArgumentParser, given: argparse.Namespace) -> SignIn:
    if not HEADER.fullmatch(given.identity_header or ""):
        parser.error("--sign-in proxy needs --identity-header: the header in which the proxy names who signed in")
    if given.proxy_secret_file is None:
        parser.error("--sign-in proxy needs --proxy-secret-file, or anybody could send the header")
    return SignIn(given.identity_header, _secret(parser, given.proxy_secret_file), given.session_minutes)


def _oidc(parser: argparse.ArgumentParser, given: argparse.Namespace) -> Oidc:
    claim = given.identity_claim or EMAIL
    if not CLAIM.fullmatch(claim):
        parser.error("--identity-claim: must be the name of a claim, such as email or sub")
    try:
        client = provider.check(given.public_address, claim)
    except provider.NotUsableError as error:
        parser.error(f"--sign-in oidc: {error}")
    return Oidc(given.public_address, client, claim, given.session_minutes, SignIns(given.session_minutes))


def _secret(parser: argparse.ArgumentParser, path: Path) -> bytes:
    try:
        if os.name == "posix" and path.stat().st_mode & 0o077:
            parser.error("--proxy-secret-file: others may read it; give it mode 600")
        secret = path.read_bytes().strip()
    except OSError:
        parser.error("--proxy-secret-file: it cannot be read")
    if len(secret) < LEAST_SECRET or not secret.isascii() or b"\n" in secret:
        parser.error(f"--proxy-secret-file: must hold one line of at least {LEAST_SECRET} plain characters")
    return secret


def header_values(headers: Mapping[str, str], name: str) -> list[str]:
    """Return a header's values as the page sees them; the door has seen to it that there is one."""
    return [value for key, value in headers.items() if key.lower() == name.lower()]
