"""An OpenAI-compatible server (vLLM, TGI, llama.cpp, Ollama, ours in the tests) behind the `Generator` contract.

Privacy posture: prompts go to the server the custodian named and nowhere else; one on another machine needs a
written consent for the corpus. Nothing is logged or kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.errors import UserError
from engine.json_types import JSON, JSONObject
from engine.models.constraints import Blocklist
from engine.models.contracts import Constraints, Generation, Sampling
from engine.models.remote.consent import Consent
from engine.models.remote.endpoint_http import Transport, Usage
from engine.models.remote.endpoint_settings import SCORE_FORMS, EndpointSettings

BLOCKED_TRIES = 4  # times a reply with a blocked value is asked for anew before it is cut there
CALLS_DEEP, FEWEST_A_CALL = 4, 16  # prompts a call for each place at a server, so that the places are seldom empty
ONE_TOKEN_BEHIND: dict[str, JSON] = {"max_tokens": 1, "prompt_logprobs": 0}  # vLLM writes one token at least
CHARACTERS_A_TOKEN = 4.0  # where a server does not count


def capabilities_of(settings: EndpointSettings) -> frozenset[str]:
    """Return what an endpoint can do, as its settings say."""
    found = {"block_tokens"}
    if settings.prompts == "instruct":
        found.add("instruct")
    if settings.scores:
        found.add("logprobs")
    return frozenset(found)


class EndpointGenerator:
    """Generates, and scores where the server offers it, over HTTP.

    Args:
        settings: the server, or several of one model.
        key: their API key, or None.
        consent: needed where the server is on another machine.

    Raises:
        UserError: such a consent is missing.
    """

    def __init__(self, settings: EndpointSettings, key: str | None = None, consent: Consent | None = None) -> None:
        self.settings = settings
        self.id = f"endpoint:{settings.name}"
        self.capabilities = capabilities_of(settings)
        self.context = settings.context
        self.texts_a_call = max(FEWEST_A_CALL, CALLS_DEEP * settings.concurrency * len(settings.addresses))
        self._transport = Transport(settings, key, consent)

    @property
    def usage(self) -> Usage:
        """Return what was asked for so far."""
        return self._transport.usage

    @property
    def cost(self) -> float:
        """Return what the tokens so far cost at the prices of the settings, in the custodian's currency."""
        used, prices = self.usage, self.settings
        return (used.tokens_in * prices.price_in + used.tokens_out * prices.price_out) / 1e6

    def watch(self, cancelled: Callable[[], bool]) -> None:
        """Ask `cancelled` while waiting; a running call then ends with `Cancelled`."""
        self._transport.cancelled = cancelled

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def generate(
        self, prompts: Sequence[str], sampling: Sampling, constraints: Constraints | None = None
    ) -> list[Generation]:
        """Return one generation a prompt, in order; a reply with a blocked value is asked for anew, then cut."""
        blocked = Blocklist(constraints.blocked, constraints.names) if constraints else Blocklist(())

        async def one(position: int) -> Generation:
            made = Generation("", 0, "stop")
            for attempt in range(BLOCKED_TRIES if blocked else 1):
                made = await self._ask(prompts[position], sampling, _seed(sampling.seed, position, attempt))
                if not blocked.contains(made.text):
                    return made
            return Generation(blocked.cut(made.text), made.tokens, "stop")

        return self._transport.run(one, len(prompts))

    def score(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return each text's token log-probabilities in nats; the server has none for a text's first token."""
        if "logprobs" not in self.capabilities:
            raise UserError(
                f"endpoint {self.settings.name!r} returns no log-probabilities of a given text; test it on the Models "
                "page, or choose a model that scores"
            )

        async def one(position: int) -> NDArray[np.float32]:
            return await self._score(texts[position], self.settings.score_form)

        return self._transport.run(one, len(texts))

    def listed(self) -> list[str]:
        """Return the names of the models that the server lists."""

        async def one(_: int) -> list[str]:
            answer = await self._transport.request("GET", "/models")
            entries = answer.get("data")
            listed = entries if isinstance(entries, list) else []
            return [str(entry.get("id")) for entry in listed if isinstance(entry, Mapping)]

        return self._transport.run(one, 1)[0]

    def score_form(self, text: str = "One two three.") -> str | None:
        """Return the form in which the server returns log-probabilities of a given text; asks once for each."""
        for form in SCORE_FORMS:

            async def one(_: int, form: str = form) -> int:
                return len(await self._score(text, form))

            try:
                if self._transport.run(one, 1)[0] > 0:
                    return form
            except UserError:
                continue
        return None

    async def _ask(self, prompt: str, sampling: Sampling, seed: int) -> Generation:
        chat = self.settings.api == "chat"
        body: dict[str, JSON] = {
            "model": self.settings.model, "max_tokens": sampling.max_new_tokens, "temperature": sampling.temperature,
            "top_p": sampling.top_p, "seed": seed,
        }  # fmt: skip
        if self.settings.extended:
            body |= {
                "top_k": sampling.top_k, "min_tokens": sampling.min_new_tokens,
                "repetition_penalty": sampling.repetition_penalty,
            }  # fmt: skip
        body |= {"messages": [{"role": "user", "content": prompt}]} if chat else {"prompt": prompt}
        answer = await self._transport.request("POST", "/chat/completions" if chat else "/completions", body)
        choice = _choice(answer)
        found = _part(choice.get("message")).get("content") if chat else choice.get("text")
        text = found if isinstance(found, str) else ""
        tokens = self._count(answer, prompt, text)
        return Generation(text, tokens, "length" if choice.get("finish_reason") == "length" else "stop")

    async def _score(self, text: str, form: str) -> NDArray[np.float32]:
        body: dict[str, JSON] = {"model": self.settings.model, "prompt": text, "temperature": 0.0}
        body |= {"max_tokens": 0, "echo": True, "logprobs": 1} if form == "echo" else ONE_TOKEN_BEHIND
        answer = await self._transport.request("POST", "/completions", body)
        self._count(answer, text, "")
        choice = _choice(answer)
        echoed, own = _part(choice.get("logprobs")).get("token_logprobs"), choice.get("prompt_logprobs")
        found = echoed if form == "echo" else [_first(one) for one in own] if isinstance(own, list) else None
        if not isinstance(found, list):
            raise UserError(f"endpoint {self.settings.name!r} sent no log-probabilities; choose a model that scores")
        return np.array([value for value in found if isinstance(value, int | float)], dtype=np.float32)

    def _count(self, answer: JSONObject, prompt: str, text: str) -> int:
        """Add a reply's tokens to the counter and return the new ones."""
        usage, told = self._transport.usage, _part(answer.get("usage"))
        before, after = told.get("prompt_tokens"), told.get("completion_tokens")
        usage.counted += isinstance(before, int)
        usage.tokens_in += before if isinstance(before, int) else _estimate(prompt)
        new = after if isinstance(after, int) else _estimate(text)
        usage.tokens_out += new
        return new


def _choice(answer: JSONObject) -> JSONObject:
    choices = answer.get("choices")
    return _part(choices[0]) if isinstance(choices, list) and choices else {}


def _part(value: JSON) -> JSONObject:
    """Return an object inside a reply; what is none of the kind counts as empty."""
    return value if isinstance(value, Mapping) else {}


def _first(tokens: JSON) -> JSON:
    """Return the log-probability of a place's own token, which vLLM puts before the likelier ones."""
    return next((_part(one).get("logprob") for one in _part(tokens).values()), None)


def _estimate(text: str) -> int:
    return round(len(text) / CHARACTERS_A_TOKEN)


def _seed(seed: int, position: int, attempt: int) -> int:
    """Return a 31-bit seed of one prompt's draw: equal prompts side by side must not give equal texts."""
    digest = hashlib.sha256(f"{seed}/{position}/{attempt}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
