"""Prefix extraction against a generator that knows one text by heart."""

import numpy as np
import pytest

from engine.models.contracts import Generation
from engine.studies.surprisal.extraction import STRATEGIES, extract, split_prefix

TEXT = "The patient came in on Monday with a cough, slept badly and left again before anybody had seen her."


class Memory:
    """Goes on in a text it knows, otherwise says something else; notes the temperatures it was asked for."""

    id = "memory"
    capabilities = frozenset()

    def __init__(self, known):
        self.known, self.temperatures = known, []

    def generate(self, prompts, sampling, constraints=None):
        self.temperatures.append((sampling.temperature, sampling.max_new_tokens))
        return [Generation(self._next(prompt, sampling.max_new_tokens), 1, "length") for prompt in prompts]

    def _next(self, prompt, tokens):
        for end in range(len(prompt)):
            at = self.known.find(prompt[end:])
            if at >= 0 and len(prompt) - end > 12:
                rest = self.known[at + len(prompt) - end :]
                return " ".join(rest.split(" ")[: tokens + 1])
        return " nothing of the kind"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_is_known_comes_out_and_what_is_not_does_not(strategy):
    prefix, rest = split_prefix(TEXT, 5)
    memory = Memory(TEXT)
    found = extract(
        memory, ["head: " + prefix, "head: something else was said here"], [rest, " by others"], strategy, 5
    )
    assert found.words.tolist() == [5, 0]
    assert found.longest.tolist() == [5, 0]


def test_the_temperature_falls_from_ten_to_one_over_twenty_tokens():
    prefix, rest = split_prefix(TEXT, 5)
    memory = Memory(TEXT)
    extract(memory, [prefix], [rest], "decaying", 5)
    assert [heat for heat, _ in memory.temperatures] == pytest.approx([10.0, 7.75, 5.5, 3.25, 1.0])
    assert [tokens for _, tokens in memory.temperatures[:4]] == [4] * 4
    greedy = Memory(TEXT)
    extract(greedy, [prefix], [rest], "greedy", 5)
    assert greedy.temperatures[0][0] == 0.0


def test_a_break_ends_the_count_but_not_the_longest_run():
    class Slip(Memory):
        def _next(self, prompt, tokens):
            return " with WRONG cough, slept badly and"

    found = extract(Slip(TEXT), ["p"], [" with a cough, slept badly and left"], "plain", 7)
    assert (found.words.tolist(), found.longest.tolist()) == ([1], [4])


def test_short_texts_have_no_prefix():
    assert split_prefix("one two three", 2) is None
    assert split_prefix("one two, three four", 2) == ("one two", ", three four")
    assert extract(Memory(TEXT), [], [], "plain", 3).words.dtype == np.int64
