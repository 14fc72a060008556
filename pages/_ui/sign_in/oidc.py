"""Signing in through an OpenID provider, with Streamlit's own login: what counts as signed in, and for how long.

Streamlit and Authlib check a token's signature, issuer, nonce and state, and keep its claims in a signed cookie for
thirty days. That cookie alone is not enough here: whoever signed out, rested or signed in before this start of the
program signs in again, also with a copy of the cookie. So the sign-ins of this process are counted below, and lost
with it.

Privacy posture: claims are held in memory; none is logged, and of those that are refused nothing is shown.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

if TYPE_CHECKING:
    from starlette.types import Scope

EMAIL, SUBJECT = "email", "sub"
LONGEST_IDENTITY, LONGEST_ACCOUNT = 120, 600
LONGEST_HOURS, SKEW = 12, 60.0  # of one sign-in; seconds that a provider's clock may be behind or ahead
MOST_SIGN_INS = 20_000
# What a browser needs before anybody signed in: the shell of the page, its socket, and the way to the provider. None
# of it holds data; each page asks who is there before it draws.
OPEN = re.compile(
    r"/[^/]*|/static/.*|/auth/(login|logout)|/_stcore/(stream|bidi-components/.*)"
    r"|(/[A-Za-z0-9_-]+)?/_stcore/(health|host-config|script-health-check)"
)


class NotCountedError(Exception):
    """Somebody signed in at the provider, but it does not count here; the message says why and may be shown."""


@dataclass(frozen=True)
class SignedIn:
    """Whom the provider vouched for.

    identity: as roles are given to it. account: issuer and subject. key: of this one sign-in.
    """

    identity: str
    account: str
    key: str


class SignIns:
    """The sign-ins of this process: which ended, and when each was last used.

    Args:
        minutes: of rest after which one ends.
    """

    def __init__(self, minutes: int) -> None:
        self.minutes = minutes
        self.begun = time.time()
        self._lock = threading.Lock()
        self._used: dict[str, float] = {}  # key -> by the monotonic clock
        self._ended: dict[str, float] = {}

    def check(self, key: str, issued: float) -> None:
        """Raise where a sign-in is over.

        Raises:
            NotCountedError: it ended, rested, is older than this start or than a day's work, or is from the future.
        """
        now = time.time()
        if issued > now + 2 * SKEW:
            raise NotCountedError("Your provider's clock is ahead of this program's. Tell whoever runs it")
        if issued < self.begun - SKEW:
            raise NotCountedError("The program was started again since you signed in. Please sign in again")
        if now - issued > LONGEST_HOURS * 3600:
            raise NotCountedError(f"You signed in more than {LONGEST_HOURS} hours ago. Please sign in again")
        with self._lock:
            if key in self._ended:
                raise NotCountedError("You signed out. Please sign in again")
            used = self._used.get(key)
            rested = now - issued if used is None else time.monotonic() - used
        if rested > self.minutes * 60:
            raise NotCountedError(f"Nothing happened for {self.minutes} minutes. Please sign in again")

    def use(self, key: str) -> None:
        """Note that a sign-in was used just now."""
        with self._lock:
            self._used[key] = time.monotonic()
            self._forget_old(self._used)

    def end(self, key: str) -> None:
        """End a sign-in, in every tab and for every copy of its cookie."""
        with self._lock:
            self._ended[key] = time.monotonic()
            self._forget_old(self._ended)

    @staticmethod
    def _forget_old(times: dict[str, float]) -> None:
        """Forget those that are too old to count anyway."""
        if len(times) > MOST_SIGN_INS:
            since = time.monotonic() - LONGEST_HOURS * 3600 - 4 * SKEW
            for key in [key for key, at in times.items() if at < since]:
                del times[key]


@dataclass(frozen=True)
class Oidc:
    """How people sign in through an OpenID provider.

    origin: at which browsers open the program. client: the program's own id at the provider. claim: that names the
    person; `sub` is issuer and subject. minutes: of rest after which a sign-in ends.
    """

    origin: str
    client: str
    claim: str = EMAIL
    minutes: int = 30
    sign_ins: SignIns = field(default_factory=lambda: SignIns(30), repr=False, compare=False)

    def vouched(self, scope: Scope) -> bool:
        """Return whether a request may come in: what holds nothing, or with the cookie of a sign-in that counts."""
        if OPEN.fullmatch(scope["path"]) and scope.get("method", "GET") in ("GET", "HEAD"):
            return True
        try:
            return self.signed_in(self._claims(scope)) is not None
        except NotCountedError:
            return False

    def known_by(self, scope: Scope) -> tuple[str, str]:
        """Return the identity and the account that a request comes under, empty where nobody signed in.

        Raises:
            NotCountedError: the sign-in does not count, or no longer.
        """
        found = self.signed_in(self._claims(scope))
        return ("", "") if found is None else (found.identity, found.account)

    def signed_in(self, claims: Mapping[str, object]) -> SignedIn | None:
        """Return whom these claims vouch for, None where nobody signed in.

        Raises:
            NotCountedError: they vouch for nobody, or no longer.
        """
        if claims.get("is_logged_in") is not True:
            return None
        issuer, subject, issued = claims.get("iss"), claims.get("sub"), claims.get("iat")
        if not (isinstance(issuer, str) and issuer and isinstance(subject, str) and subject):
            raise NotCountedError("Your provider did not say whose account this is, so nobody can be let in by it")
        if isinstance(issued, bool) or not isinstance(issued, int | float):
            raise NotCountedError("Your provider did not say when you signed in")
        audience = claims.get("aud")
        if self.client not in (audience if isinstance(audience, list) else [audience]):
            raise NotCountedError("Your provider made this sign-in for another program")
        account = f"{issuer}|{subject}"
        if len(account) > LONGEST_ACCOUNT:
            raise NotCountedError("Your provider's name for your account is too long")
        one = [issuer, subject, issued, claims.get("nonce")]
        key = hashlib.sha256(json.dumps(one, default=str).encode()).hexdigest()
        self.sign_ins.check(key, issued)
        return SignedIn(self._identity(claims, account), account, key)

    def _identity(self, claims: Mapping[str, object], account: str) -> str:
        value = account if self.claim == SUBJECT else claims.get(self.claim)
        if not isinstance(value, str) or not value.strip():
            raise NotCountedError(
                f"Your provider sends no “{self.claim}”, by which people are known here. Tell whoever runs this program"
            )
        if self.claim == EMAIL and claims.get("email_verified") is not True:
            raise NotCountedError("Your provider has not verified your e-mail address, so it may be anybody's")
        found = value.strip()
        if len(found) > LONGEST_IDENTITY or not found.isprintable() or not unicodedata.is_normalized("NFKC", found):
            raise NotCountedError(f"What your provider sends as “{self.claim}” cannot be a name for somebody here")
        return found

    def _claims(self, scope: Scope) -> Mapping[str, object]:
        """Return what the cookie of a request holds, nothing where it is not ours or was made for another address."""
        cookies = HTTPConnection(scope).cookies

        def read(name: str) -> bytes | None:
            value = cookies.get(name)
            return None if value is None else decode_signed_value(get_cookie_secret(), name, value.encode("latin-1"))

        try:
            found = json.loads(get_cookie_with_chunks(read, USER_COOKIE_NAME) or b"{}")
        except ValueError:
            return {}
        return found if isinstance(found, dict) and found.get("origin") == self.origin else {}
