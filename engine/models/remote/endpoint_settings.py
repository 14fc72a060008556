"""What the custodian says about an OpenAI-compatible server: address, model, limits, prices; never its key.

Privacy posture: settings only. The key lies in a file of the workspace that only its owner can read, or in an
environment variable; here stands which of the two.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import asdict, dataclass, fields
from typing import Any
from urllib.parse import urlsplit

from engine.errors import UserError
from engine.json_types import JSON, JSONObject

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
APIS = ("chat", "completions")
PROMPTS = ("instruct", "plain", "builtin")
KEYS = ("none", "file", "environment")


@dataclass(frozen=True)
class EndpointSettings:
    """One server.

    Args:
        name: the custodian's short name; the model id is `endpoint:<name>`.
        url: base address with the version, such as http://127.0.0.1:8000/v1.
        model: the model's name at the server.
        api: `chat` or `completions`.
        prompts: `instruct` (instructions), `plain` (text to continue) or `builtin` (control tokens); empty follows
            from `api`.
        key_source: `none`, `file` (workspace, mode 600) or `environment`.
        key_variable: name of the environment variable, for `environment`.
        timeout_seconds: for one attempt, 1..3600.
        concurrency: requests under way at once, 1..64.
        requests_per_minute: 0 = no limit.
        tries: attempts a request, 1..10.
        price_in, price_out: a million tokens, in the custodian's currency; 0 = not counted.
        scores: whether the server returns log-probabilities of a given text (`echo` with `logprobs`).
        extended: whether it takes top_k, min_tokens and repetition_penalty as vLLM and TGI do.
        context: tokens of its context.
        licence: as the custodian knows it.
    """

    name: str
    url: str
    model: str
    api: str = "chat"
    prompts: str = ""
    key_source: str = "none"
    key_variable: str = ""
    timeout_seconds: float = 120.0
    concurrency: int = 4
    requests_per_minute: int = 0
    tries: int = 5
    price_in: float = 0.0
    price_out: float = 0.0
    scores: bool = False
    extended: bool = False
    context: int = 4096
    licence: str = ""

    def __post_init__(self) -> None:
        """Check every value; raises `UserError` with parameter, rule and value."""
        if not NAME.fullmatch(self.name):
            raise UserError(
                f"name: must be 1 to 40 small letters, digits, dots, hyphens or underscores, is {self.name!r}"
            )
        object.__setattr__(self, "url", checked_url(self.url))
        if not self.model.strip() or len(self.model) > 200:
            raise UserError("model: must be the model's name at the server, 1 to 200 characters")
        default = "instruct" if self.api == "chat" else "plain"
        object.__setattr__(self, "prompts", self.prompts or default)
        for key, allowed in (("api", APIS), ("prompts", PROMPTS), ("key_source", KEYS)):
            if getattr(self, key) not in allowed:
                raise UserError(f"{key}: must be one of {', '.join(allowed)}, is {getattr(self, key)!r}")
        if self.key_source == "environment" and not VARIABLE.fullmatch(self.key_variable):
            raise UserError("key_variable: must be the name of an environment variable, such as MODEL_KEY")
        for key, low, high in _RANGES:
            value = getattr(self, key)
            if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
                raise UserError(f"{key}: must be from {low:g} to {high:g}, is {value!r}")

    @property
    def host(self) -> str:
        """Return host:port, as a consent names it."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"

    @property
    def local(self) -> bool:
        """Return whether the server is on this machine."""
        return is_loopback(urlsplit(self.url).hostname or "")

    def as_dict(self) -> dict[str, JSON]:
        """Return the settings as JSON-ready values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: JSONObject) -> EndpointSettings:
        """Return settings from stored values; names of another edition are left out."""
        known = {field.name for field in fields(cls)}
        kept: dict[str, Any] = {key: value for key, value in values.items() if key in known}  # checked on creation
        return cls(**kept)


_RANGES = (
    ("timeout_seconds", 1, 3600), ("concurrency", 1, 64), ("requests_per_minute", 0, 100_000), ("tries", 1, 10),
    ("price_in", 0, 1e6), ("price_out", 0, 1e6), ("context", 64, 10_000_000),
)  # fmt: skip


def is_loopback(host: str) -> bool:
    """Say whether a host name is this machine: `localhost` or a literal loopback address, no other name."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def checked_url(url: str) -> str:
    """Return a base address without trailing slash, with /v1 where no path is given.

    Raises:
        UserError: it is no http(s) address, carries a name, a password or a query, or would send text to another
            machine in the clear.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        raise UserError("url: must be an address such as http://127.0.0.1:8000/v1; correct it")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UserError("url: must hold no name, password, query or fragment; give the key in its own field")
    if parts.scheme == "http" and not is_loopback(host):
        raise UserError(
            "url: text would travel in the clear to another machine; use an https address, or a tunnel that ends "
            "on this machine"
        )
    shown = f"[{host}]" if ":" in host else host
    path = parts.path.rstrip("/") or "/v1"
    return f"{parts.scheme}://{shown}{f':{port}' if port else ''}{path}"
