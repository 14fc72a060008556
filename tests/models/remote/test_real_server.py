"""The endpoint back end against a server that is not ours: `transformers serve`, a tiny model, continuous batching."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.models.contracts import Sampling
from engine.models.remote.endpoint import EndpointGenerator
from engine.models.remote.endpoint_probe import score_form
from engine.models.remote.endpoint_settings import EndpointSettings
from tests.models.serving import library_serving
from tests.models.tune.test_prefix_tuning import tiny_folder

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def settings(tmp_path_factory) -> Iterator[dict[str, object]]:
    """Start the server on a tiny random model and return the settings of an endpoint for it."""
    with library_serving(tiny_folder(tmp_path_factory.mktemp("served"))) as found:
        yield {**found, "tries": 2}


@pytest.mark.parametrize("api", ["chat", "completions"])
def test_it_writes_as_many_tokens_as_asked_for(settings, api):
    one = EndpointGenerator(EndpointSettings(**settings, api=api))
    made = one.generate(["The clinic", "A letter"], Sampling(max_new_tokens=12, min_new_tokens=1, seed=3))
    assert len(made) == 2
    assert all(text.text.strip() for text in made)
    assert all(text.tokens == 12 for text in made if text.finish == "length")
    assert any(text.finish == "length" for text in made)
    assert one.usage.counted == 2  # it tells its tokens


def test_hundreds_of_requests_under_way_are_answered_in_order(settings):
    """Every second one asks for nine tokens, the others for one, so that a mixed-up order would show."""
    one = EndpointGenerator(EndpointSettings(**settings, api="completions", concurrency=200))
    lengths = [1 + 8 * (i % 2) for i in range(200)]

    async def ask(position: int) -> int:
        sampling = Sampling(max_new_tokens=lengths[position], temperature=1.0, top_k=0, top_p=1.0, seed=position)
        return (await one._ask(f"Letter {position}", sampling, position)).tokens

    made = one._transport.run(ask, 200)
    assert all(tokens <= length for tokens, length in zip(made, lengths, strict=True))
    assert sum(tokens == length for tokens, length in zip(made, lengths, strict=True)) > 180
    assert one.usage.retries == 0


def test_it_gives_no_scores_and_is_found_out(settings):
    assert score_form(EndpointGenerator(EndpointSettings(**settings))) is None
