"""Job `selftest`: what a language model does when it is asked, with times. The result is kept by model id.

Privacy posture: made-up text only; no record is read. The line that the model wrote is kept to be shown.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import UnderstudyError, UserError
from engine.jobs.worker.task import Task
from engine.models.constraints import Blocklist
from engine.models.contracts import Constraints, Generator, Sampling
from engine.models.remote.endpoint import EndpointGenerator
from engine.models.remote.endpoint_probe import probed
from engine.store import model_settings
from engine.store.audit import now
from engine.store.model_settings import SelfTest
from engine.store.views import Check

if TYPE_CHECKING:
    from engine.models.folder.transformers_local import TransformersGenerator

LINE = "The shop opened at nine and the first visitors asked for a map."
TOKENS, SHOWN, STAGES = 48, 400, 4
STRONG = 8.0  # times a state's own length: what no text survives


def run(task: Task) -> None:
    """Test the model that the job names and keep the result; a model that fails is a result, not a failed job."""
    model = str(task.arguments["model"])
    result: SelfTest = {"ok": False, "at": now(), "checks": [], "line": ""}
    try:
        _test(task, model, result)
        result["ok"] = all(check["ok"] for check in result["checks"])
    except UnderstudyError as error:
        result["checks"].append(_check("goes on", False, str(error)))
    with task.batch("testing a model", STAGES, STAGES) as connection:
        model_settings.save_test(connection, model, result)


def _test(task: Task, model: str, result: SelfTest) -> None:
    checks = result["checks"]
    task.report("testing a model", 0, STAGES)
    begun = time.monotonic()
    generator = task.models.generator(model, task.store.session)
    checks.append(_check("opens", True, f"{time.monotonic() - begun:.1f} s"))
    if isinstance(generator, EndpointGenerator):
        _ask_server(task, model, generator, checks)
        generator = task.models.generator(model, task.store.session)
    prompt = task.models.operators(model, task.store.session).prompt("invent", domain="generic", words=20)
    begun = time.monotonic()
    generator.generate([prompt], Sampling(max_new_tokens=4))  # the first call also compiles and fills caches
    checks.append(_check("answers", True, f"the first time after {time.monotonic() - begun:.1f} s"))
    task.report("testing a model", 1, STAGES)
    begun = time.monotonic()
    made = generator.generate([prompt], Sampling(max_new_tokens=TOKENS))[0]
    seconds = max(time.monotonic() - begun, 1e-6)
    result["line"] = made.text[:SHOWN]
    checks.append(
        _check(
            "writes a line", bool(made.text.strip()),
            f"{made.tokens} tokens in {seconds:.2f} s, {made.tokens / seconds:.0f} a second",
        )
    )  # fmt: skip
    task.report("testing a model", 2, STAGES)
    if "logprobs" in generator.capabilities:
        checks.append(_scores(generator))
    task.report("testing a model", 3, STAGES)
    if "block_tokens" in generator.capabilities:
        checks.append(_blocks(generator, prompt, made.text))
    from engine.models.folder.transformers_local import TransformersGenerator

    if isinstance(generator, TransformersGenerator) and "states" in generator.capabilities:
        checks.append(_moves(generator, prompt))


def _ask_server(task: Task, model: str, generator: EndpointGenerator, checks: list[Check]) -> None:
    """See whether the server lists the model, and what it follows; the latter is kept in its settings."""
    name, wanted = generator.settings.name, generator.settings.model
    try:
        listed = generator.listed()
    except UserError:  # one that lists nothing may write all the same; what follows tells
        listed = []
    checks.append(
        _check(
            "the server lists it", wanted in listed or not listed,
            "yes" if wanted in listed else f"{len(listed)} other model(s) are listed" if listed else "it lists none",
        )
    )  # fmt: skip
    found = probed(generator)
    if found != generator.settings:
        with task.store.session.db.write() as connection:
            known = model_settings.endpoints(connection)
            if known.get(name) == generator.settings:
                model_settings.save_endpoints(connection, {**known, name: found})


def _scores(generator: Generator) -> Check:
    begun = time.monotonic()
    values = generator.score([LINE])[0]
    ok = len(values) > 0 and bool(np.all(np.isfinite(values)) and np.all(values <= 1e-4))
    each = f"{-float(values.mean()) / np.log(2):.2f} bits a token" if ok else "the values are no log-probabilities"
    return _check("scores a line", ok, f"{each}, {time.monotonic() - begun:.2f} s")


def _blocks(generator: Generator, prompt: str, text: str) -> Check:
    """Ask again with the most frequent words of the first line blocked: none of them may come back."""
    words = [word.strip(".,;:!?\"'()").lower() for word in text.split()]
    frequent = sorted({w for w in words if w.isalpha()}, key=lambda w: (-words.count(w), w))[:5] or ["the", "and"]
    begun = time.monotonic()
    made = generator.generate([prompt] * 2, Sampling(max_new_tokens=TOKENS), Constraints(tuple(frequent)))
    kept_out = not any(Blocklist(frequent).contains(m.text) for m in made)
    return _check(
        "keeps given words out", kept_out, f"{len(frequent)} words, 2 lines, {time.monotonic() - begun:.2f} s"
    )


def _moves(generator: TransformersGenerator, prompt: str) -> Check:
    """Read the middle layer's states of a line and write with a long vector added to them: the text must change."""
    from engine.models.folder.hidden_states import layers_of, mean_states, moved_states

    begun = time.monotonic()
    layer, asked = len(layers_of(generator)) // 2, Sampling(max_new_tokens=16, temperature=0.0)
    state = mean_states(generator, [LINE], [layer])[0, 0]
    push = np.random.default_rng(0).normal(size=len(state))
    push *= STRONG * float(np.linalg.norm(state)) / float(np.linalg.norm(push))
    plain = generator.generate([prompt], asked)[0].text
    with moved_states(generator, {layer: push}):
        moved = generator.generate([prompt], asked)[0].text
    ok = bool(np.isfinite(state).all()) and moved != plain
    return _check("can be steered", ok, f"layer {layer + 1}, {len(state)} numbers, {time.monotonic() - begun:.2f} s")


def _check(name: str, ok: bool, detail: str) -> Check:
    return {"name": name, "ok": bool(ok), "detail": detail}
