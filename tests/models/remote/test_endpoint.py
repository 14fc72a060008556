"""The endpoint back end against a real server process on loopback: faults, limits, scores, cancellation."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from engine.errors import UserError
from engine.models.cancel import Cancelled
from engine.models.constraints import Blocklist
from engine.models.contracts import Constraints, Sampling
from engine.models.remote.consent import Consent
from engine.models.remote.endpoint import EndpointGenerator
from engine.models.remote.endpoint_probe import score_form
from engine.models.remote.endpoint_settings import EndpointSettings, checked_url, is_loopback
from tests.models.serving import ROOT, Served, serving

SECRET = "Wilhelmina Quackenbush"
KEY = "sk-test-5f3759df"


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """Return a server that wants a key, answers after 0.1 s and repeats made-up words."""
    with serving("--plain", "--key", KEY, "--latency", "0.1") as server:
        yield server


def generator(server: Served, key: str | None = KEY, **values) -> EndpointGenerator:
    settings = {"name": "test", "url": server.url, "model": "builtin", "tries": 4, "timeout_seconds": 30.0}
    return EndpointGenerator(EndpointSettings(**(settings | values)), key)


def test_generates_over_chat_and_completions(served):
    for api in ("chat", "completions"):
        made = generator(served, api=api).generate(["a", "b", "a"], Sampling(max_new_tokens=8, seed=3))
        assert [m.tokens for m in made] == [8, 8, 8]
        assert made[0].text != made[2].text  # equal prompts side by side are drawn apart
        again = generator(served, api=api).generate(["a", "b", "a"], Sampling(max_new_tokens=8, seed=3))
        assert [m.text for m in again] == [m.text for m in made]


@contextmanager
def answering(body: object) -> Iterator[EndpointGenerator]:
    """Give a generator of a server that answers every request with this JSON."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            content = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            settings = EndpointSettings(name="odd", url=f"http://127.0.0.1:{server.server_address[1]}", model="m")
            yield EndpointGenerator(settings, None)
        finally:
            server.shutdown()


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [{"message": "hello"}]}, {"choices": [5]}, {"choices": {"0": {}}}, {"choices": []},
        {"choices": [{"message": {"content": ["a"]}, "logprobs": 3}], "usage": [1, 2]}, {"data": 5}, {"data": ["m"]},
    ],
)  # fmt: skip
def test_a_reply_of_another_form_is_an_empty_one(body):
    """Whatever JSON a server sends, no error of the program's own comes of it."""
    with answering(body) as one:
        (made,) = one.generate(["x"], Sampling(max_new_tokens=3))
        assert made.text == ""
        assert one.listed() == []
        assert score_form(one) is None


def test_as_many_requests_at_once_as_allowed_and_no_more(served):
    for concurrency, seconds in ((1, 0.75), (4, 0.0)):
        before = served.stats()
        began = time.monotonic()
        generator(served, concurrency=concurrency).generate(["x"] * 8, Sampling(max_new_tokens=2))
        assert time.monotonic() - began > seconds
        assert served.stats()["requests"] == before["requests"] + 8
    assert served.stats()["most_in_flight"] == 4


def test_rate_limit_spaces_requests(served):
    generator(served, requests_per_minute=240, concurrency=8).generate(["x"] * 4, Sampling(max_new_tokens=2))
    at = served.stats()["at"][-4:]
    # 240 a minute: a quarter of a second apart; without the limit they come together. The first may come late.
    assert at[-1] - at[1] > 0.45


def test_faults_are_tried_again_and_counted(served):
    one = generator(served, timeout_seconds=1.0, tries=6)
    faults = [500, "drop", "cut", "slow", "rubbish"]
    served.faults(*faults)
    made = one.generate(["x"], Sampling(max_new_tokens=3))
    assert made[0].tokens == 3
    assert (one.usage.requests, one.usage.retries) == (6, 5)
    assert served.stats()["faults"][-5:] == faults


def test_waiting_grows_and_honours_retry_after(served):
    one = generator(served)
    served.faults(503, 503, {"status": 429, "retry_after": 1})
    one.generate(["x"], Sampling(max_new_tokens=3))
    first, second, third = np.diff(served.stats()["at"][-4:])
    assert first >= 0.25  # between half and all of 0.5 s, then of 1 s, then what the server asks for
    assert second >= 0.5
    assert third >= 1.0
    assert 1.75 <= one.usage.waited_seconds <= 2.5
    served.faults({"status": 429, "retry_after": 4000})
    with pytest.raises(UserError, match="4000 seconds"):
        one.generate(["x"], Sampling(max_new_tokens=3))


def test_a_server_that_keeps_failing_ends_the_call(served):
    served.faults(500, 500)
    with pytest.raises(UserError, match=r"failed 2 time\(s\).*status 500"):
        generator(served, tries=2).generate([f"Tell of {SECRET}"], Sampling(max_new_tokens=3))


@pytest.mark.parametrize("fault", ["echo", 500, 401, 404, 413, "rubbish", "drop", "redirect"])
def test_no_error_quotes_a_prompt_or_key(served, fault):
    served.faults(fault)
    with pytest.raises(UserError) as caught:
        generator(served, tries=1).generate([f"Tell of {SECRET}"], Sampling(max_new_tokens=3))
    error: BaseException | None = caught.value
    assert "test" in str(error)
    shown = []
    while error is not None and not (error.__suppress_context__ and error.__cause__ is None and shown):
        shown.append(repr(error))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    assert SECRET not in "".join(shown)
    assert KEY not in "".join(shown)


def test_a_refused_key_is_not_tried_again(served):
    before = served.stats()["requests"]
    with pytest.raises(UserError, match="another key"):
        generator(served, key="wrong").generate(["x"], Sampling(max_new_tokens=3))
    assert served.stats()["requests"] == before + 1


@pytest.mark.parametrize("key", ["", "two words", "line\nbreak: x", "schlüssel"])
def test_a_key_that_is_none_is_refused_unseen(served, key):
    with pytest.raises(UserError, match="give it again") as caught:
        generator(served, key=key)
    assert not key or key not in str(caught.value)


def test_redirects_stay_on_the_host(served):
    served.faults("moved")
    assert generator(served).generate(["x"], Sampling(max_new_tokens=3))[0].tokens == 3
    served.faults("redirect")
    with pytest.raises(UserError, match="another address"):
        generator(served).generate(["x"], Sampling(max_new_tokens=3))


def test_cancelling_ends_a_call_in_the_middle(served):
    one, stop = generator(served, tries=9), threading.Event()
    one.watch(stop.is_set)
    served.faults(*[{"status": 503, "retry_after": 60}] * 3)
    threading.Timer(0.7, stop.set).start()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        one.generate(["x"] * 3, Sampling(max_new_tokens=3))
    assert time.monotonic() - began < 30  # the server asks for a minute
    stop.clear()
    assert one.generate(["x"], Sampling(max_new_tokens=3))[0].tokens == 3  # usable afterwards


def test_a_caller_may_stand_in_an_event_loop(served):
    """A notebook does, and so does a process that drives a browser."""

    async def caller() -> list[int]:
        one = generator(served)
        made = one.generate(["a", "b"], Sampling(max_new_tokens=4))
        one.close()
        return [text.tokens for text in made]

    with ThreadPoolExecutor(1) as apart:  # this process may stand in a loop of its own
        assert apart.submit(asyncio.run, caller()).result() == [4, 4]


def test_closing_ends_its_thread(served):
    before = set(threading.enumerate())
    one = generator(served)
    one.generate(["x"], Sampling(max_new_tokens=3))
    assert set(threading.enumerate()) > before
    one.close()
    assert set(threading.enumerate()) <= before
    one.close()  # again: nothing to do


def test_tokens_and_cost_are_counted(served):
    one = generator(served, price_in=2.0, price_out=10.0)
    one.generate(["one two three", "four five"], Sampling(max_new_tokens=6))
    assert (one.usage.tokens_in, one.usage.tokens_out, one.usage.counted) == (5, 12, 2)
    assert one.cost == pytest.approx((5 * 2.0 + 12 * 10.0) / 1e6)


def test_scores_where_offered_only(served):
    assert score_form(generator(served)) == "echo"
    values = generator(served, scores=True).score(["one two three", "four five"])
    assert [len(v) for v in values] == [2, 1]  # none for a text's first token
    assert values[0].dtype == np.float32
    with pytest.raises(UserError, match="no log-probabilities"):
        generator(served).score(["one"])
    assert generator(served).capabilities == {"instruct", "block_tokens"}
    assert generator(served, api="completions", scores=True).capabilities == {"logprobs", "block_tokens"}


def test_blocked_values_are_asked_for_anew_and_then_cut(served):
    blocked = Constraints(("letter", "same day"))
    made = generator(served).generate(["x"] * 12, Sampling(max_new_tokens=12), blocked)
    assert not any(Blocklist(blocked.blocked).contains(m.text) for m in made)
    everything = generator(served).generate(["x"], Sampling(max_new_tokens=12), Constraints(("the", "on", "and")))
    assert not Blocklist(("the", "on", "and")).contains(everything[0].text)


def test_sampling_the_server_may_not_know_is_sent_only_where_it_does(served):
    generator(served).generate(["x"], Sampling(max_new_tokens=3))
    assert "top_k" not in served.stats()["last"]
    generator(served, extended=True).generate(["x"], Sampling(max_new_tokens=3, top_k=7))
    assert served.stats()["last"]["top_k"] == 7


def test_models_are_listed(served):
    assert generator(served).listed() == ["builtin"]


def test_a_proxy_of_the_environment_sees_nothing_meant_for_this_machine(served, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert generator(served, tries=1).generate(["x"], Sampling(max_new_tokens=3))[0].tokens == 3


REMOTE = """
import sys
from engine.models.remote.endpoint import EndpointGenerator
from engine.models.remote.endpoint_settings import EndpointSettings
from engine.models.cancel import Cancelled
from engine.models.remote.consent import Consent
from engine.models.contracts import Sampling
settings = EndpointSettings("far", "https://192.0.2.7/v1", "m", tries=1, timeout_seconds=5)
consent = Consent("c-1", "far", sys.argv[1], "me", "now", "because it is agreed on", 1) if sys.argv[1:] else None
try:
    EndpointGenerator(settings, "key", consent).generate(["a private text"], Sampling())
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("host", "connected", "said"),
    [
        (None, False, "no written consent"),
        ("other.example.com:443", False, "no written consent"),
        ("192.0.2.7:443", True, "the connection broke"),
    ],
)
def test_another_machine_is_not_spoken_to_without_consent(tmp_path, host, connected, said):
    log = tmp_path / "netguard.log"
    log.touch()
    path = os.pathsep.join([str(ROOT / "tests" / "netguard"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", REMOTE, *([host] if host else [])],
        env={**os.environ, "PYTHONPATH": path, "UNDERSTUDY_NETGUARD": str(log)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said in done.stdout
    assert "private text" not in done.stdout + done.stderr
    assert bool(log.read_text()) is connected  # with a consent the guard sees the attempt, so it does look


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
        ("http://localhost:1234/v1/", "http://localhost:1234/v1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("https://models.example.com/openai/v1", "https://models.example.com/openai/v1"),
        ("http://models.example.com/v1", None),  # in the clear to another machine
        ("https://me:secret@models.example.com/v1", None),
        ("https://models.example.com/v1?key=secret", None),
        ("ftp://127.0.0.1/v1", None),
        ("127.0.0.1:8000", None),
        ("http://127.0.0.1:99999", None),
        ("", None),
    ],
)
def test_addresses(url, kept):
    if kept is None:
        with pytest.raises(UserError, match="url:") as caught:
            checked_url(url)
        assert "secret" not in str(caught.value)
    else:
        assert checked_url(url) == kept


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("LOCALHOST", True),
        ("localhost.example.com", False), ("127.0.0.1.example.com", False), ("0.0.0.0", False), ("10.0.0.5", False),
        ("my-loopback", False), ("", False),
    ],
)  # fmt: skip
def test_only_literal_loopback_is_this_machine(host, local):
    assert is_loopback(host) is local


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", "Two words"), ("name", "../x"), ("model", " "), ("api", "grpc"), ("prompts", "morse"),
        ("timeout_seconds", 0), ("concurrency", 513), ("requests_per_minute", -1), ("tries", 0), ("price_in", -1),
        ("key_source", "database"), ("context", True), ("score_form", "guess"),
    ],
)  # fmt: skip
def test_settings_name_the_rule_they_break(name, value):
    with pytest.raises(UserError, match=name):
        EndpointSettings(**({"name": "a", "url": "http://127.0.0.1:1/v1", "model": "m"} | {name: value}))
    with pytest.raises(UserError, match="key_variable"):
        EndpointSettings("a", "http://127.0.0.1:1/v1", "m", key_source="environment", key_variable="no spaces")


def test_a_consent_names_endpoint_and_host():
    from engine.models.remote import consent as consents

    far = EndpointSettings("far", "https://models.example.com/v1", "m")
    given = Consent("c-1", "far", "models.example.com:443", "me", "now", "agreed on in contract 7", 3)
    assert consents.holds(far, given)
    assert not consents.holds(EndpointSettings("far", "https://models.example.com:8443/v1", "m"), given)
    assert not consents.holds(EndpointSettings("other", "https://models.example.com/v1", "m"), given)
    with pytest.raises(UserError, match="20 to 1000 characters"):
        consents.checked_text("yes")
    assert "models.example.com" in consents.statement("Letters", far.host, "m")


def test_the_built_in_model_answers_over_http():
    from engine.models.prompts.operators_builtin import BuiltinOperators

    operators = BuiltinOperators()
    prompts = [operators.prompt("invent", domain="clinical", words=30) for _ in range(3)]
    with serving() as server:
        one = generator(server, key=None, api="completions", prompts="builtin", scores=True)
        made = one.generate(prompts, Sampling(max_new_tokens=60))
        texts = [operators.parse("invent", m.text) for m in made]
        values = one.score([texts[0]])[0]
    assert all(len(text.split()) > 5 for text in texts)
    assert len(set(texts)) == 3
    assert np.all(values <= 0)
    assert -8 < float(values.mean()) < -0.5
