"""A small OpenAI-compatible server around the built-in model: `python -m tests.models.openai_server [--key K]`.

It prints its port, then answers /v1/models, /v1/chat/completions and /v1/completions (echo with logprobs too).
`POST /control` queues faults, one a request: a status, `drop` (the connection breaks in the middle of the reply),
`cut` (it ends too early), `slow` (several seconds of silence) or `redirect` (to another host); `echo` makes the next
error quote the prompt.
`GET /stats` tells what was seen. With `--plain` it imports no model and repeats made-up words.
"""

from __future__ import annotations

import argparse
import asyncio
import json
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

    def score(self, text: str) -> list[float | None]:
        if self.plain:
            return [None, *([-1.5] * (len(text.split()) - 1))]
        from engine.models.builtin.language_model import load_builtin_generator

        return [None, *(float(v) for v in load_builtin_generator(threads=1).score([text])[0][1:])]


def application(key: str, plain: bool, latency: float, form: str) -> Starlette:
    model = Model(plain)
    faults: list[Any] = []
    seen: dict[str, Any] = {
        "requests": 0, "at": [], "in_flight": 0, "most_in_flight": 0, "keys": [], "faults": [], "last": {},
        "begins": [],
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
        async with model.lock:
            text, tokens, finish = await run_in_threadpool(model.generate, prompt, body)
        part = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": tokens}
        return JSONResponse({"choices": [{**part, "finish_reason": finish}], "usage": usage})

    paths = ("/v1/chat/completions", "/v1/completions")
    return Starlette(
        routes=[
            Route("/control", control, methods=["POST"]),
            Route("/stats", stats),
            Route("/v1/models", answer),
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
    options = parser.parse_args()
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)  # from here on connections wait; uvicorn takes them when it is ready
    print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
    served = application(options.key, options.plain, options.latency, options.form)
    config = uvicorn.Config(served, log_level="critical", access_log=False, lifespan="off")
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
