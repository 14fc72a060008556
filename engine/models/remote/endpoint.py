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
from engine.models.remote.endpoint_forms import LEAST_BIAS, biased, chosen, held_to, token_ids, tokens_of
from engine.models.remote.endpoint_http import Transport, Usage
from engine.models.remote.endpoint_settings import EndpointSettings

BLOCKED_TRIES = 4  # times a reply with a blocked value is asked for anew before it is cut there
CALLS_DEEP, FEWEST_A_CALL = 4, 16  # prompts a call for each place at a server, so that the places are seldom empty
ONE_TOKEN_BEHIND: dict[str, JSON] = {"max_tokens": 1, "prompt_logprobs": 0}  # vLLM writes one token at least
SHORT_PIECE = 2  # characters a token: what begins with shorter ones is not kept out
CHARACTERS_A_TOKEN = 4.0  # where a server does not count


def capabilities_of(settings: EndpointSettings) -> frozenset[str]:
    """Return what an endpoint can do, as its settings say."""
    found = {"block_tokens"}
    if settings.prompts == "instruct":
        found.add("instruct")
    if settings.scores:
        found.add("logprobs")
    if settings.choice_form:
        found.add("choices")
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
        """Return one generation a prompt, in order; a reply with a blocked value is asked for anew, then cut.

        Where a server on this machine follows biases of tokens, it is asked anew with the value's tokens kept out.
        Another machine is never told what is blocked: a consent covers prompts.
        """
        blocked = Blocklist(constraints.blocked, constraints.names) if constraints else Blocklist(())

        async def one(position: int) -> Generation:
            made, away = Generation("", 0, "stop"), list[int]()
            for attempt in range(BLOCKED_TRIES if blocked else 1):
                more = biased(away)
                made = await self._ask(prompts[position], sampling, _seed(sampling.seed, position, attempt), more)
                self.usage.biased += bool(more)
                found = blocked.found(made.text)
                if not found:
                    return made
                self.usage.blocked += 1
                if attempt + 1 < BLOCKED_TRIES:
                    away += await self._begins(found)
            return Generation(blocked.cut(made.text), made.tokens, "stop")

        return self._transport.run(one, len(prompts))

    def score(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return each text's token log-probabilities in nats; the server has none for a text's first token.

        Raises:
            UserError: the server returns none.
        """
        if "logprobs" not in self.capabilities:
            raise UserError(
                f"endpoint {self.settings.name!r} returns no log-probabilities of a given text; test it on the Models "
                "page, or choose a model that scores"
            )
        return self.scored(texts, self.settings.score_form)

    def scored(self, texts: Sequence[str], form: str) -> list[NDArray[np.float32]]:
        """Return each text's token log-probabilities as `score` does, asked for in one of the forms of settings."""

        async def one(position: int) -> NDArray[np.float32]:
            return await self._score(texts[position], form)

        return self._transport.run(one, len(texts))

    def choose(self, prompts: Sequence[str], choices: Sequence[Sequence[str]], sampling: Sampling) -> list[str | None]:
        """Return for each prompt the one of its choices that was answered, None where it was none of them.

        Raises:
            UserError: the server cannot be held to given answers.
        """
        if "choices" not in self.capabilities:
            raise UserError(
                f"endpoint {self.settings.name!r} is not known to hold its model to given answers; test it on the "
                "Models page"
            )
        return self.chosen(prompts, choices, sampling, self.settings.choice_form)

    def chosen(
        self, prompts: Sequence[str], choices: Sequence[Sequence[str]], sampling: Sampling, form: str
    ) -> list[str | None]:
        """Return the same as `choose`, asked for in one of `endpoint_forms.CHOICE_FORMS`."""

        async def one(position: int) -> str | None:
            among, seed = choices[position], _seed(sampling.seed, position, 0)
            made = await self._ask(prompts[position], sampling, seed, held_to(form, among))
            answer = chosen(form, made.text, among)
            self.usage.held += 1
            self.usage.outside += answer is None
            return answer

        return self._transport.run(one, len(prompts))

    def leaning(
        self, prompts: Sequence[str], sampling: Sampling, ids: Sequence[int], by: float = LEAST_BIAS
    ) -> list[str]:
        """Return a text a prompt, written with these tokens biased."""

        async def one(position: int) -> str:
            seed = _seed(sampling.seed, position, 0)
            return (await self._ask(prompts[position], sampling, seed, biased(ids, by))).text

        return self._transport.run(one, len(prompts))

    def token_ids(self, text: str, form: str) -> list[int]:
        """Return the server's ids of a text's tokens, asked for in one of `endpoint_forms.TOKEN_FORMS`."""

        async def one(_: int) -> list[int]:
            return await self._tokens(text, form)

        return self._transport.run(one, 1)[0]

    def listed(self) -> list[str]:
        """Return the names of the models that the server lists."""

        async def one(_: int) -> list[str]:
            answer = await self._transport.request("GET", "/models")
            entries = answer.get("data")
            listed = entries if isinstance(entries, list) else []
            return [str(entry.get("id")) for entry in listed if isinstance(entry, Mapping)]

        return self._transport.run(one, 1)[0]

    async def _begins(self, values: Sequence[str]) -> list[int]:
        """Return the tokens that begin these values, at the start of a text and within it.

        None of values with digits, or of short pieces: too much else begins so.
        """
        form = self.settings.token_form
        if not form or not self.settings.local:
            return []
        found = []
        for value in values:
            if any(character.isdigit() for character in value):
                continue
            for written in (f" {value}", value):
                ids = await self._tokens(written, form)
                found += ids[:1] if ids and len(value) >= SHORT_PIECE * len(ids) else []
        return found

    async def _tokens(self, text: str, form: str) -> list[int]:
        body = tokens_of(form, self.settings.model, text)
        return token_ids(await self._transport.request("POST", "/tokenize", body, beside=True))

    async def _ask(
        self, prompt: str, sampling: Sampling, seed: int, more: Mapping[str, JSON] | None = None
    ) -> Generation:
        """Return what a server writes; `more` is what the request has besides."""
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
        body |= more or {}
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
