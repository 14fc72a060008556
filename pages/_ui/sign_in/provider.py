"""What `secrets.toml` says of an OpenID provider, checked before the program starts: it closes where something is off.

Privacy posture: no value of the file stands in a message.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from streamlit import config
from streamlit.auth_util import is_authlib_installed
from streamlit.runtime.secrets import secrets_singleton

CALLBACK = "/oauth2callback"
LEAST_SECRET, LEAST_KINDS = 32, 12  # characters of the cookie's secret, and how many different ones
ALLOWED = frozenset("scope prompt code_challenge_method token_endpoint_auth_method".split())
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class NotUsableError(Exception):
    """The settings of the provider are missing, or let in too many; the message says which."""


def check(public: str, claim: str) -> str:
    """Return the program's id at the provider.

    Args:
        public: origin at which browsers open the program. claim: that names a person.

    Raises:
        NotUsableError: something is missing, too weak, or does not fit the address.
    """
    if not is_authlib_installed():
        raise NotUsableError('Authlib is not installed: pip install -e ".[oidc]"')
    if not _secure(public):
        raise NotUsableError("--public-address must be an address of https, or cookies could be read on the way")
    _check_config()
    found = _section()
    if found.get("redirect_uri") != public + CALLBACK:
        raise NotUsableError(
            f"redirect_uri in [auth] must be the public address and {CALLBACK}, here {public}{CALLBACK}"
        )
    _check_secret(found.get("cookie_secret"))
    if found.get("expose_tokens"):
        raise NotUsableError("expose_tokens in [auth] must go: no page needs a token of the provider")
    for name in ("client_id", "client_secret", "server_metadata_url"):
        if not isinstance(found.get(name), str) or not str(found[name]).strip():
            raise NotUsableError(f"{name} is missing in [auth]")
    if not _secure(str(found["server_metadata_url"])):
        raise NotUsableError("server_metadata_url in [auth] must be an address of https")
    _check_asked(found.get("client_kwargs") or {}, claim)
    return str(found["client_id"])


def _secure(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.hostname) and (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK))


def _check_config() -> None:
    if config.get_option("server.trustedUserHeaders"):
        raise NotUsableError("server.trustedUserHeaders must be empty, or a visitor's header could say who they are")
    if config.get_option("server.baseUrlPath"):
        raise NotUsableError("server.baseUrlPath must be empty")
    if not config.get_option("server.enableXsrfProtection"):
        raise NotUsableError("server.enableXsrfProtection must be on")


def _section() -> Mapping[str, object]:
    for name in config.get_option("secrets.files"):
        path = Path(name)
        if os.name == "posix" and path.is_file() and path.stat().st_mode & 0o077:
            raise NotUsableError("others may read secrets.toml; give it mode 600")
    found = secrets_singleton.get("auth") if secrets_singleton.load_if_toml_exists() else None
    if not isinstance(found, Mapping):
        raise NotUsableError("secrets.toml has no [auth], which names the provider, or cannot be read")
    return found


def _check_secret(secret: object) -> None:
    if not isinstance(secret, str) or len(secret) < LEAST_SECRET or len(set(secret)) < LEAST_KINDS:
        raise NotUsableError(
            f"cookie_secret in [auth] must be at least {LEAST_SECRET} characters drawn at random, since whoever "
            "guesses it is anybody: python -c 'import secrets; print(secrets.token_urlsafe(48))'"
        )


def _check_asked(asked: object, claim: str) -> None:
    if not isinstance(asked, Mapping) or set(asked) - ALLOWED:
        raise NotUsableError(f"client_kwargs in [auth] may hold {', '.join(sorted(ALLOWED))}, nothing else")
    scopes = str(asked.get("scope", "openid email profile")).split()
    if "openid" not in scopes or (claim == "email" and "email" not in scopes):
        raise NotUsableError("scope in client_kwargs must hold openid, and email where that names people")
