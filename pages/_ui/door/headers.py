"""Security headers of every HTTP answer.

Streamlit's page has one inline script; its hash is computed from the installed package at start,
because it changes with the version. Nothing else inline may run and nothing foreign may load.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def inline_script_hashes(page: str) -> list[str]:
    """Return the CSP source of each inline script of an HTML page."""
    return [
        f"'sha256-{base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()}'"
        for body in INLINE_SCRIPT.findall(page)
    ]


def content_security_policy() -> str:
    """Return the policy for the installed Streamlit version."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    scripts = " ".join(["'self'", "blob:", *inline_script_hashes(page)])
    return "; ".join(
        (
            "default-src 'self'",
            "img-src 'self' data: blob:",
            "connect-src 'self'",
            f"script-src {scripts}",
            "style-src 'self' 'unsafe-inline'",
            "font-src 'self' data:",
            "worker-src 'self' blob:",
            "frame-ancestors 'none'",
            "form-action 'self'",
            "object-src 'none'",
            "base-uri 'self'",
        )
    )


class SecurityHeaders:
    """ASGI middleware that adds the headers to each HTTP answer and leaves sockets alone."""

    def __init__(self, app: ASGIApp, policy: str) -> None:
        self.app = app
        self.headers = [
            (b"content-security-policy", policy.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"x-frame-options", b"DENY"),
            (b"referrer-policy", b"same-origin"),
            (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"cross-origin-resource-policy", b"same-origin"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, with the headers added to its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = {name for name, _ in self.headers}
                kept = [(name, value) for name, value in message.get("headers", []) if name.lower() not in ours]
                message["headers"] = [*kept, *self.headers]
            await send(message)

        await self.app(scope, receive, send_with_headers)
