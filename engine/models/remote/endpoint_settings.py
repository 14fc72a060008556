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
from engine.models.remote.endpoint_forms import CHOICE_FORMS, TOKEN_FORMS

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
APIS = ("chat", "completions")
PROMPTS = ("instruct", "plain", "builtin")
KEYS = ("none", "file", "environment")
SCORE_FORMS = ("echo", "prompt_logprobs")
MOST_REPLICAS = 63


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
        replicas: base addresses of further servers of the same model, which share the load; all on this machine or
            all on others, as `url` is.
        concurrency: requests under way at once at each address, 1..512.
        requests_per_minute: 0 = no limit.
        tries: attempts a request, 1..10.
        price_in, price_out: a million tokens, in the custodian's currency; 0 = not counted.
        scores: whether the server returns log-probabilities of a given text.
        score_form: how it is asked for them: `echo` (with `logprobs`) or `prompt_logprobs`, as vLLM is.
        choice_form: how it is held to given answers, one of `endpoint_forms.CHOICE_FORMS`; empty: it is not.
        token_form: how it is asked for token ids, one of `endpoint_forms.TOKEN_FORMS`, where it follows `logit_bias`
            too; empty: it does not.
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
    replicas: tuple[str, ...] = ()
    concurrency: int = 4
    requests_per_minute: int = 0
    tries: int = 5
    price_in: float = 0.0
    price_out: float = 0.0
    scores: bool = False
    score_form: str = "echo"
    choice_form: str = ""
    token_form: str = ""
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
        object.__setattr__(self, "replicas", _checked_replicas(self.url, self.replicas))
        if not self.model.strip() or len(self.model) > 200:
            raise UserError("model: must be the model's name at the server, 1 to 200 characters")
        default = "instruct" if self.api == "chat" else "plain"
        object.__setattr__(self, "prompts", self.prompts or default)
        for key, allowed in _ONE_OF:
            if getattr(self, key) not in allowed:
                raise UserError(f"{key}: must be one of {', '.join(allowed)}, is {getattr(self, key)!r}")
        if self.key_source == "environment" and not VARIABLE.fullmatch(self.key_variable):
            raise UserError("key_variable: must be the name of an environment variable, such as MODEL_KEY")
        for key, low, high in _RANGES:
            value = getattr(self, key)
            if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
                raise UserError(f"{key}: must be from {low:g} to {high:g}, is {value!r}")

    @property
    def addresses(self) -> tuple[str, ...]:
        """Return the base addresses of all servers."""
        return (self.url, *self.replicas)

    @property
    def host(self) -> str:
        """Return host:port of every server, with commas between, as a consent names them."""
        return ", ".join(dict.fromkeys(host_of(url) for url in self.addresses))

    @property
    def local(self) -> bool:
        """Return whether the server is on this machine."""
        return all(is_loopback(urlsplit(url).hostname or "") for url in self.addresses)

    def as_dict(self) -> dict[str, JSON]:
        """Return the settings as JSON-ready values."""
        return {**asdict(self), "replicas": list(self.replicas)}

    @classmethod
    def from_dict(cls, values: JSONObject) -> EndpointSettings:
        """Return settings from stored values; names of another edition are left out."""
        known = {field.name for field in fields(cls)}
        kept: dict[str, Any] = {key: value for key, value in values.items() if key in known}  # checked on creation
        return cls(**kept)


_ONE_OF = (
    ("api", APIS), ("prompts", PROMPTS), ("key_source", KEYS), ("score_form", SCORE_FORMS),
    ("choice_form", ("", *CHOICE_FORMS)), ("token_form", ("", *TOKEN_FORMS)),
)  # fmt: skip
_RANGES = (
    ("timeout_seconds", 1, 3600), ("concurrency", 1, 512), ("requests_per_minute", 0, 100_000), ("tries", 1, 10),
    ("price_in", 0, 1e6), ("price_out", 0, 1e6), ("context", 64, 10_000_000),
)  # fmt: skip


def host_of(url: str) -> str:
    """Return host:port of a checked address."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


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


def _checked_replicas(url: str, replicas: object) -> tuple[str, ...]:
    """Return further base addresses as `checked_url` does; a text holds them with commas or spaces between.

    Raises:
        UserError: one breaks a rule, stands twice, or is here where `url` is elsewhere or the other way round.
    """
    given = replicas.replace(",", " ").split() if isinstance(replicas, str) else replicas
    if not isinstance(given, list | tuple) or not all(isinstance(one, str) for one in given):
        raise UserError("replicas: must be addresses such as http://127.0.0.1:8001/v1, with commas between")
    found = tuple(checked_url(one) for one in given)
    if len(found) > MOST_REPLICAS:
        raise UserError(f"replicas: at most {MOST_REPLICAS} more servers, not {len(found)}")
    if len({url, *found}) <= len(found):
        raise UserError("replicas: the same server is named twice; give each address once")
    if len({is_loopback(urlsplit(one).hostname or "") for one in (url, *found)}) > 1:
        raise UserError(
            "replicas: some of the servers are on this machine and some on others; keep them as two endpoints, since "
            "a consent is needed for the others alone"
        )
    return found
