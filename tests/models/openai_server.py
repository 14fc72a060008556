"""A small OpenAI-compatible server around the built-in model: `python -m tests.models.openai_server [--key K]`.

It prints its port, then answers /v1/models, /v1/chat/completions and /v1/completions (echo with logprobs too).
`POST /control` queues faults, one a request: a status, `drop` (the connection breaks in the middle of the reply),
`cut` (it ends too early), `slow` (several seconds of silence) or `redirect` (to another host); `echo` makes the next
error quote the prompt.
`GET /stats` tells what was seen. With `--plain` it imports no model and repeats made-up words.

`--choices` names the form in which it holds itself to given answers, by the model's own probabilities of them, and
`--tokens` the one in which it gives token ids; then it follows `logit_bias` too. `--odd` has it err: `ignores` takes
every form and follows none, `refuses` answers 400 to what it does not know, `outside` takes the form and answers
otherwise, `fails` answers 500.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import socket
import time
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

FORMS = ("structured_outputs", "guided_choice", "grammar", "response_format")
ODD = ("", "ignores", "refuses", "outside", "fails")
WORDS = "the clinic answered the letter on the same day and the patient was glad about it".split()


class Model:
    """The built-in model, loaded at the first request, or made-up words."""

    def __init__(self, plain: bool) -> None:
        self.plain, self.lock = plain, asyncio.Lock()

    def generate(self, prompt: str, body: dict[str, Any]) -> tuple[str, int, str]:
        if self.plain:
            start = int(body.get("seed", 0)) % len(WORDS)
            count = min(12, int(body["max_tokens"]))
            return " ".join((WORDS * 3)[start : start + count]), count, "stop"
        from engine.models.builtin.language_model import load_builtin_generator
        from engine.models.contracts import Sampling

        sampling = Sampling(
            max_new_tokens=int(body["max_tokens"]),
            temperature=float(body["temperature"]),
            top_p=float(body.get("top_p", 1)),
            seed=int(body.get("seed", 0)),
        )
        made = load_builtin_generator(threads=1).generate([prompt], sampling)[0]
        return made.text, made.tokens, made.finish

    def tokens(self, text: str) -> list[int]:
        if self.plain:
            known = sorted({*WORDS, "garden"})
            words = [[known.index(word)] if word in known else [1000 + ord(c) for c in word] for word in text.split()]
            return [token for word in words for token in word]
        from engine.models.builtin.language_model import load_builtin_generator

        return list(load_builtin_generator(threads=1).tokenizer.encode(text, add_special_tokens=False).ids)

    def biased(self, prompt: str, body: dict[str, Any]) -> tuple[str, int, str]:
        """Write token by token from the model's logits, biased as asked."""
        bias = {int(token): float(by) for token, by in body["logit_bias"].items()}
        if self.plain:
            known, made, start = sorted({*WORDS, "garden"}), [], int(body.get("seed", 0)) % len(WORDS)
            for place in range(min(12, int(body["max_tokens"]))):
                wanted = (WORDS * 3)[start + place]
                logits = [(word == wanted) * 9.0 + (place * 7 + i * 5) % 8 for i, word in enumerate(known)]
                made.append(max(range(len(known)), key=lambda i: logits[i] + bias.get(i, 0.0)))
            return " ".join(known[i] for i in made), len(made), "stop"
        import torch

        from engine.models.builtin.language_model import EOS, load_builtin_generator

        one, own = load_builtin_generator(threads=1), torch.Generator().manual_seed(int(body.get("seed", 0)))
        ids, made = self.tokens(prompt)[:300], []
        while len(made) < int(body["max_tokens"]):
            logits = self._logits([*ids, *made])[-1]
            logits[[token for token in one._banned if token != EOS]] = -torch.inf
            for token, by in bias.items():
                logits[token] += by
            share = torch.softmax(logits / max(0.01, float(body["temperature"])), -1)
            made.append(int(torch.multinomial(share, 1, generator=own)))
            if made[-1] == EOS:
                break
        return one.tokenizer.decode(made, skip_special_tokens=True), len(made), "stop" if made[-1] == EOS else "length"

    def choose(self, prompt: str, choices: list[str], body: dict[str, Any]) -> str:
        """Draw one of the answers by the model's probability of each."""
        seed = int(body.get("seed", 0))
        if self.plain:
            return choices[seed % len(choices)]
        import torch

        ids, sums = self.tokens(prompt)[:300], []
        for choice in choices:
            made = self.tokens(choice)
            logits = self._logits([*ids, *made])[len(ids) : -1].log_softmax(-1)
            sums.append(float(logits.gather(1, torch.tensor(made)[:, None]).sum()))
        share = torch.softmax(torch.tensor(sums) / max(0.01, float(body["temperature"])), -1)
        return choices[int(torch.multinomial(share, 1, generator=torch.Generator().manual_seed(seed)))]

    def _logits(self, ids: list[int]) -> Any:
        """Return the logits behind the beginning and behind each token."""
        import torch

        from engine.models.builtin.language_model import BOS, load_builtin_generator

        with torch.no_grad():
            return load_builtin_generator(threads=1).net(torch.tensor([[BOS, *ids]]))[0].float().clone()

    def score(self, text: str) -> list[float | None]:
        if self.plain:
            return [None, *([-1.5] * (len(text.split()) - 1))]
        from engine.models.builtin.language_model import load_builtin_generator

        return [None, *(float(v) for v in load_builtin_generator(threads=1).score([text])[0][1:])]


def choices_of(form: str, body: dict[str, Any]) -> list[str] | None:
    """Return the answers that a request asks to be held to in one form."""
    if form == "grammar" and "grammar" in body:
        found = re.findall(r'"((?:[^"\\]|\\.)*)"', body["grammar"])
        return [json.loads(f'"{literal}"') for literal in found]
    value = body.get(form)
    if not value:
        return None
    if form == "structured_outputs":
        return value["choice"]
    return value["json_schema"]["schema"]["properties"]["answer"]["enum"] if form == "response_format" else value


def application(
    key: str, plain: bool, latency: float, form: str, choices: str = "", tokens: str = "", odd: str = ""
) -> Starlette:
    model = Model(plain)
    faults: list[Any] = []
    seen: dict[str, Any] = {
        "requests": 0, "at": [], "in_flight": 0, "most_in_flight": 0, "keys": [], "faults": [], "last": {},
        "begins": [], "tokenized": [], "biases": [],
    }  # fmt: skip

    async def control(request: Request) -> Response:
        body = await request.json()
        faults.extend(body.get("faults", []))
        return JSONResponse({"waiting": len(faults)})

    async def stats(_: Request) -> Response:
        return JSONResponse(seen)

    async def answer(request: Request) -> Response:
        seen["requests"] += 1
        seen["at"].append(time.monotonic())
        seen["keys"].append(request.headers.get("authorization", ""))
        seen["in_flight"] += 1
        seen["most_in_flight"] = max(seen["most_in_flight"], seen["in_flight"])
        try:
            return await reply(request)
        finally:
            seen["in_flight"] -= 1

    async def reply(request: Request) -> Response:
        body = await request.json() if request.method == "POST" else {}
        seen["last"] = {name: value for name, value in body.items() if name not in ("messages", "prompt")}
        fault = faults.pop(0) if faults else None
        seen["faults"] += [fault] if fault else []
        if isinstance(fault, dict):
            return Response("later", status_code=fault["status"], headers={"retry-after": str(fault["retry_after"])})
        if fault == "echo":
            return JSONResponse({"error": {"message": f"bad prompt: {body}"}}, status_code=400)
        if isinstance(fault, int):
            return JSONResponse({"error": {"message": f"cannot do {body}"}}, status_code=fault)
        if fault == "drop":
            return StreamingResponse(_broken(), headers={"content-length": "5000"})
        if fault == "cut":
            return Response('{"choices": [{"text": "the cli')
        if fault == "redirect":
            return Response(status_code=307, headers={"location": "https://models.example.com/v1/chat/completions"})
        if fault == "moved":
            return Response(status_code=307, headers={"location": request.url.path + "?again=1"})
        if fault == "rubbish":
            return Response("<html>gateway</html>", media_type="text/html")
        if fault == "slow":
            await asyncio.sleep(3)
        if key and request.headers.get("authorization") != f"Bearer {key}":
            return JSONResponse({"error": {"message": "who are you"}}, status_code=401)
        if latency:
            await asyncio.sleep(latency)
        return await work(request.url.path, body)

    async def work(path: str, body: dict[str, Any]) -> Response:
        if path.endswith("/models"):
            return JSONResponse({"object": "list", "data": [{"id": "builtin", "object": "model"}]})
        if body.get("model") != "builtin":
            return JSONResponse({"error": {"message": "no such model"}}, status_code=404)
        chat = path.endswith("/chat/completions")
        prompt = body["messages"][-1]["content"] if chat else body["prompt"]
        seen["begins"].append(prompt[:40])
        seen["biases"].append(body.get("logit_bias") or {})
        if body.get("echo") and form == "echo":
            async with model.lock:
                values = await run_in_threadpool(model.score, prompt)
            choice = {"text": prompt, "logprobs": {"token_logprobs": values}, "finish_reason": "length"}
            return JSONResponse({"choices": [choice], "usage": {"prompt_tokens": len(values), "completion_tokens": 0}})
        if body.get("prompt_logprobs") is not None and form == "prompt_logprobs":
            async with model.lock:
                values = await run_in_threadpool(model.score, prompt)
            told = [v if v is None else {"9": {"logprob": v, "rank": 3}, "2": {"logprob": -0.1}} for v in values]
            choice = {"text": "x", "logprobs": None, "prompt_logprobs": told, "finish_reason": "length"}
            return JSONResponse({"choices": [choice], "usage": {"prompt_tokens": len(values), "completion_tokens": 1}})
        known = {choices, "logit_bias"} if tokens else {choices}
        unknown = {name for name in (*FORMS, "logit_bias") if name in body} - (known if odd != "refuses" else set())
        if odd in ("refuses", "fails") and unknown:
            return JSONResponse({"error": {"message": "extra"}}, status_code=400 if odd == "refuses" else 500)
        asked = choices_of(choices, body) if choices and odd in ("", "outside") else None
        async with model.lock:
            if asked is not None:
                answered = await run_in_threadpool(model.choose, prompt, asked, body) + " or so" * (odd == "outside")
                wrapped = json.dumps({"answer": answered}) if choices == "response_format" else answered
                text, count, finish = wrapped, 1, "stop"
            elif body.get("logit_bias") and tokens and odd == "":
                text, count, finish = await run_in_threadpool(model.biased, prompt, body)
            else:
                text, count, finish = await run_in_threadpool(model.generate, prompt, body)
        part = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": count}
        return JSONResponse({"choices": [{**part, "finish_reason": finish}], "usage": usage})

    async def tokenized(request: Request) -> Response:
        body = await request.json()
        seen["tokenized"].append(body.get(tokens, ""))
        if not tokens or tokens not in body:
            return JSONResponse({"error": {"message": "not here"}}, status_code=404 if not tokens else 422)
        return JSONResponse({"tokens": await run_in_threadpool(model.tokens, body[tokens])})

    paths = ("/v1/chat/completions", "/v1/completions")
    return Starlette(
        routes=[
            Route("/control", control, methods=["POST"]),
            Route("/stats", stats),
            Route("/v1/models", answer),
            Route("/tokenize", tokenized, methods=["POST"]),
            *(Route(path, answer, methods=["POST"]) for path in paths),
        ]
    )


async def _broken() -> AsyncIterator[bytes]:
    yield b'{"choices": ['
    raise ConnectionError("dropped on purpose")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--key", default="")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--form", choices=("echo", "prompt_logprobs"), default="echo", help="of the scores it gives")
    parser.add_argument("--choices", choices=("", *FORMS), default="", help="how it is held to given answers")
    parser.add_argument("--tokens", choices=("", "prompt", "content"), default="", help="how token ids are asked for")
    parser.add_argument("--odd", choices=ODD, default="")
    options = parser.parse_args()
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)  # from here on connections wait; uvicorn takes them when it is ready
    print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
    served = application(
        options.key, options.plain, options.latency, options.form, options.choices, options.tokens, options.odd
    )
    config = uvicorn.Config(served, log_level="critical", access_log=False, lifespan="off")
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
