"""One endpoint of several servers, and hundreds of requests at once, against real server processes on loopback."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from engine.errors import UserError
from engine.models.contracts import Sampling
from engine.models.remote import consent as consents
from engine.models.remote.consent import Consent
from engine.models.remote.endpoint import EndpointGenerator
from engine.models.remote.endpoint_probe import score_form
from engine.models.remote.endpoint_settings import EndpointSettings
from tests.models.serving import Served, serving

SHORT = Sampling(max_new_tokens=4, seed=5)


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Served, Served]]:
    """Return two servers of one model that answer after 0.05 s."""
    with serving("--plain", "--latency", "0.05") as first, serving("--plain", "--latency", "0.05") as second:
        yield first, second


def settings(*servers: Served, **values) -> EndpointSettings:
    first, *others = [server.url for server in servers]
    given = {"name": "test", "url": first, "replicas": tuple(others), "model": "builtin", "timeout_seconds": 20.0}
    return EndpointSettings(**(given | values))


def requests(server: Served) -> int:
    return server.stats()["requests"]


def test_servers_share_the_load_and_write_what_one_would(pair):
    before = [requests(one) for one in pair]
    prompts = [f"prompt {i}" for i in range(80)]
    together = EndpointGenerator(settings(*pair)).generate(prompts, SHORT)
    shares = [requests(one) - had for one, had in zip(pair, before, strict=True)]
    assert sum(shares) == 80
    assert min(shares) >= 25
    assert together == EndpointGenerator(settings(pair[0])).generate(prompts, SHORT)


def test_one_server_takes_hundreds_of_requests_at_once():
    with serving("--plain", "--latency", "1.5") as server:
        one = EndpointGenerator(settings(server, concurrency=400))
        assert one.texts_a_call == 1600
        assert len(one.generate(["x"] * 400, SHORT)) == 400
        assert server.stats()["most_in_flight"] >= 300  # it answers the first after 1.5 s; by then most have come
        one.close()


def test_no_server_gets_more_at_once_than_allowed(pair):
    EndpointGenerator(settings(*pair, concurrency=3)).generate(["x"] * 60, SHORT)
    with serving("--plain", "--latency", "0.05") as first, serving("--plain", "--latency", "0.05") as second:
        EndpointGenerator(settings(first, second, concurrency=3)).generate(["x"] * 60, SHORT)
        assert [server.stats()["most_in_flight"] for server in (first, second)] == [3, 3]


def test_a_server_that_dies_in_the_middle_loses_nothing():
    with serving("--plain", "--latency", "0.1") as first, serving("--plain", "--latency", "0.1") as second:
        one = EndpointGenerator(settings(first, second, concurrency=8, tries=3))
        prompts = [f"prompt {i}" for i in range(120)]
        threading.Timer(0.3, second.process.kill).start()
        made = one.generate(prompts, SHORT)
        assert made == EndpointGenerator(settings(first, concurrency=8)).generate(prompts, SHORT)
        assert second.process.wait() != 0
        assert 0 < one.usage.retries < 60  # once it is known to be down it is seldom asked


def test_a_server_that_is_down_from_the_start_costs_a_few_attempts(pair):
    with serving("--plain") as gone:
        pass
    one = EndpointGenerator(settings(gone, pair[1], concurrency=4, tries=1))
    assert len(one.generate(["x"] * 60, SHORT)) == 60
    assert one.usage.retries < 20
    assert one.usage.waited_seconds == 0.0  # another one answered


def test_when_all_are_down_the_call_ends_with_their_names(pair):
    with serving("--plain") as first, serving("--plain") as second:
        one = settings(first, second, tries=2)
    with pytest.raises(UserError, match=r"failed 3 time\(s\)") as caught:
        EndpointGenerator(one).generate(["x"], SHORT)
    assert one.host in str(caught.value)


def test_a_server_that_asks_to_wait_is_left_alone_and_then_asked_again(pair):
    first, second = pair
    one = EndpointGenerator(settings(first, second, concurrency=2))
    rest = 10.0  # longer than the others take on a slow machine
    first.faults({"status": 429, "retry_after": int(rest)})
    before, began = requests(first), time.monotonic()
    one.generate(["x"] * 40, SHORT)
    assert time.monotonic() - began < rest, "it waited for the one that rests"
    assert requests(first) - before <= 2  # what was under way when it asked
    time.sleep(max(0.0, rest + 0.2 - (time.monotonic() - began)))
    one.generate(["x"] * 40, SHORT)
    assert requests(first) - before >= 10


def test_broken_connections_among_many_put_no_server_to_rest(pair):
    first, second = pair
    one = EndpointGenerator(settings(first, second, concurrency=8))
    before = [requests(server) for server in pair]
    for server in pair:
        server.faults("drop", "cut")
    assert len(one.generate(["x"] * 100, SHORT)) == 100
    assert one.usage.retries == 4
    assert min(requests(server) - had for server, had in zip(pair, before, strict=True)) >= 30


def test_a_refusal_names_the_server_that_refused(pair):
    first, second = pair
    second.faults(*[404] * 40)
    with pytest.raises(UserError, match="no such address or model") as caught:
        EndpointGenerator(settings(first, second)).generate(["x"] * 40, SHORT)
    assert second.url.split("/")[2] in str(caught.value)
    assert first.url.split("/")[2] not in str(caught.value)


def test_scores_come_in_either_form():
    with serving("--plain", "--form", "prompt_logprobs") as server:
        assert score_form(EndpointGenerator(settings(server))) == "prompt_logprobs"
        one = EndpointGenerator(settings(server, scores=True, score_form="prompt_logprobs"))
        values = one.score(["one two three", "four five"])
        assert [v.tolist() for v in values] == [[-1.5, -1.5], [-1.5]]  # the place's own token, not the likeliest
        assert values[0].dtype == np.float32
        with pytest.raises(UserError, match="no log-probabilities"):
            EndpointGenerator(settings(server, scores=True)).score(["one two"])


FAR = {"name": "far", "model": "m"}


def test_a_consent_names_every_host():
    one = EndpointSettings(url="https://a.example.com/v1", replicas=("https://b.example.com:8443/v1",), **FAR)
    assert one.host == "a.example.com:443, b.example.com:8443"
    assert not one.local
    given = Consent("c-1", "far", "a.example.com:443", "me", "now", "agreed on in contract 7", 3)
    assert consents.holds(EndpointSettings(url="https://a.example.com/v1", **FAR), given)
    assert not consents.holds(one, given)
    with pytest.raises(UserError, match="no written consent"):
        EndpointGenerator(one, consent=given)
    assert "b.example.com:8443" in consents.statement("Letters", one.host, "m")


@pytest.mark.parametrize(
    ("replicas", "said"),
    [
        (("https://a.example.com/v1/",), "twice"),
        (("http://b.example.com/v1",), "in the clear"),
        (("http://127.0.0.1:8000/v1",), "some on others"),
        (("https://b.example.com/v1",) * 2, "twice"),
        (tuple(f"https://b.example.com:{port}/v1" for port in range(1, 66)), "at most 63"),
        ((5,), "must be addresses"),
        (7, "must be addresses"),
    ],
)
def test_replicas_that_are_refused(replicas, said):
    with pytest.raises(UserError, match=said):
        EndpointSettings(url="https://a.example.com/v1", replicas=replicas, **FAR)


def test_replicas_are_kept_as_json_and_read_from_a_line():
    one = EndpointSettings(url="http://127.0.0.1:1", replicas="http://127.0.0.1:2, http://[::1]:3/v1", **FAR)
    assert one.replicas == ("http://127.0.0.1:2/v1", "http://[::1]:3/v1")
    assert one.local
    assert EndpointSettings.from_dict(json.loads(json.dumps(one.as_dict()))) == one
    assert EndpointSettings.from_dict({"url": "http://127.0.0.1:1", **FAR}).replicas == ()  # kept by an older edition
