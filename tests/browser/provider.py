"""A small OpenID provider on loopback: discovery, keys, authorisation with state and nonce, and signed id tokens.

It checks what a real one checks (client, address to come back to, code once, PKCE), and signs with RS256. `claims` is
who signs in next; `spoil` changes a token before it is signed, `foreign_key` signs it with a key nobody published.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

CLIENT, SECRET = "understudy-test", "a-secret-of-the-client"


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _number(value: int) -> str:
    return _text(value.to_bytes((value.bit_length() + 7) // 8, "big"))


class Provider:
    """The provider; `come_back` is the only address that it sends codes to."""

    def __init__(self, come_back: str) -> None:
        self.come_back = come_back
        self.key = rsa.generate_private_key(65537, 2048)
        self.other_key = rsa.generate_private_key(65537, 2048)
        self.claims: dict[str, Any] = {}
        self.spoil: Callable[[dict[str, Any]], None] = lambda claims: None
        self.foreign_key = False
        self.codes: dict[str, dict[str, Any]] = {}
        self.refused: list[str] = []
        self.tokens = 0
        self.last_callback = ""
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.issuer = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """End the provider."""
        self.server.shutdown()
        self.server.server_close()

    def who(self, name: str, **claims: Any) -> None:
        """Say who signs in next."""
        self.claims = {"sub": name, "email": f"{name}@example.org", "email_verified": True, "name": name, **claims}
        self.spoil, self.foreign_key = lambda claims: None, False

    def discovery(self) -> dict[str, Any]:
        """Return the metadata."""
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "end_session_endpoint": f"{self.issuer}/end",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def jwks(self) -> dict[str, Any]:
        """Return the public key."""
        numbers = self.key.public_key().public_numbers()
        return {"keys": [{"kty": "RSA", "kid": "one", "use": "sig", "alg": "RS256", "n": _number(numbers.n),
                          "e": _number(numbers.e)}]}  # fmt: skip

    def authorize(self, asked: dict[str, str]) -> str | None:
        """Return where the browser goes with a code, None where the request is refused."""
        right = (
            asked.get("client_id") == CLIENT
            and asked.get("redirect_uri") == self.come_back
            and asked.get("response_type") == "code"
            and "openid" in asked.get("scope", "").split()
            and asked.get("code_challenge_method") == "S256"
            and all(asked.get(name) for name in ("state", "nonce", "code_challenge"))
        )
        if not right:
            self.refused.append("authorize")
            return None
        code = secrets.token_urlsafe(16)
        self.codes[code] = {**asked, "claims": dict(self.claims)}
        self.last_callback = f"{self.come_back}?{urlencode({'code': code, 'state': asked['state']})}"
        return self.last_callback

    def token(self, form: dict[str, str], authorization: str) -> dict[str, Any] | None:
        """Return a token for a code, once; None where the request is refused."""
        asked = self.codes.pop(form.get("code", ""), None)
        expected = "Basic " + base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        challenge = _text(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if (
            asked is None
            or authorization != expected
            or form.get("redirect_uri") != self.come_back
            or challenge != asked["code_challenge"]
        ):
            self.refused.append("token")
            return None
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 600, "nonce": asked["nonce"],
                  **asked["claims"]}  # fmt: skip
        self.spoil(claims)
        self.tokens += 1
        return {"access_token": secrets.token_urlsafe(8), "token_type": "Bearer", "id_token": self._signed(claims)}

    def _signed(self, claims: dict[str, Any]) -> str:
        head = {"alg": "RS256", "typ": "JWT", "kid": "one"}
        body = ".".join(_text(json.dumps(part).encode()) for part in (head, claims))
        key = self.other_key if self.foreign_key else self.key
        return f"{body}.{_text(key.sign(body.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def _json(self, found: dict[str, Any] | None) -> None:
            body = json.dumps(found or {"error": "invalid_grant"}).encode()
            self.send_response(400 if found is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _go(self, where: str) -> None:
            self.send_response(302)
            self.send_header("Location", where)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if parts.path == "/.well-known/openid-configuration":
                self._json(provider.discovery())
            elif parts.path == "/jwks":
                self._json(provider.jwks())
            elif parts.path == "/end":
                self._go(asked["post_logout_redirect_uri"])
            else:
                where = provider.authorize(asked) if parts.path == "/authorize" else None
                self._go(where) if where else self._json(None)

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            form = {name: values[0] for name, values in parse_qs(self.rfile.read(length).decode()).items()}
            self._json(provider.token(form, self.headers.get("Authorization", "")))

    return Handler
