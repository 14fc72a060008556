"""What is proposed for a machine: what fits, in which precision, how long, in which language."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.models.offered import machine as machines
from engine.models.offered.machine import Machine, this_machine
from engine.models.offered.offers import offers
from engine.models.offered.suggest import NIGHT_HOURS, SOON_HOURS, suggest

OFFICE = Machine("cpu", 16 * 10**9, 4, (), False, False, False)
CARD = Machine("cuda", 24 * 10**9, 16, ("RTX",), True, False, False)


def roles(machine, language="en"):
    found = suggest(offers(), machine, language)
    return {one.role: one.offer.hub for one in found if one.role}, {one.offer.hub: one for one in found}


def test_an_office_machine_gets_a_small_model_and_a_card_a_large_one():
    small, large = roles(OFFICE)[0], roles(CARD)[0]
    sizes = {one.hub: one.parameters for one in offers()}
    assert sizes[small["best"]] < 2e9
    assert sizes[large["best"]] > 7e9
    assert set(small) == {"first", "best"}


@pytest.mark.parametrize("machine", [OFFICE, CARD, replace(OFFICE, memory_bytes=4 * 10**9), replace(OFFICE, cores=64)])
def test_what_is_proposed_fits_in_memory_and_in_a_night(machine):
    proposed, found = roles(machine)
    for role, hub in proposed.items():
        one = found[hub]
        assert one.verdict == "fits"
        assert one.memory_bytes <= machine.usable_bytes
        assert one.offer.prompts == "instruct"
        assert one.hours <= (SOON_HOURS if role == "first" else NIGHT_HOURS)
    for one in found.values():
        assert (one.precision is None) == (one.verdict == "too large")


def test_fewer_bits_are_taken_only_where_they_are_needed_and_there():
    tight = replace(CARD, memory_bytes=8 * 10**9)
    assert roles(tight)[1]["Qwen/Qwen2.5-7B-Instruct"].verdict == "too large"
    found = roles(replace(tight, eight_bit=True, four_bit=True))[1]
    assert found["Qwen/Qwen2.5-0.5B-Instruct"].precision == "16 bit"
    assert found["Qwen/Qwen3-4B-Instruct-2507"].precision == "8 bit"
    assert found["ibm-granite/granite-3.3-8b-instruct"].precision == "4 bit"


def test_another_language_changes_the_proposal():
    proposed, found = roles(OFFICE, "et")
    assert set(proposed.values()) == {"utter-project/EuroLLM-1.7B-Instruct"}
    assert found["HuggingFaceTB/SmolLM2-360M-Instruct"].verdict == "other language"
    assert roles(OFFICE, "xx")[0] == {}


def test_a_slow_machine_is_told_the_truth():
    slow = replace(OFFICE, cores=1, memory_bytes=128 * 10**9)
    found = roles(slow)[1]
    assert found["ibm-granite/granite-3.3-8b-instruct"].verdict == "slow"
    assert found["ibm-granite/granite-3.3-8b-instruct"].hours > NIGHT_HOURS


def test_training_needs_the_weights_twice():
    found = roles(OFFICE)[1]
    assert found["HuggingFaceTB/SmolLM2-135M"].trains
    assert not found["Qwen/Qwen2.5-7B-Instruct"].trains


def test_this_machine_is_read_without_anything_heavy():
    found = this_machine()
    assert found.memory_bytes > 1e9
    assert found.cores >= 1
    assert f"{found.memory_bytes / 1e9:.0f} GB" in found.sentence()


def test_a_driver_that_fails_counts_as_no_card(monkeypatch, tmp_path):
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'NVIDIA RTX 4000, 20475'\necho 'NVIDIA RTX 4000, 20475'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert machines._cards() == [("NVIDIA RTX 4000", 20475 << 20)] * 2
    tool.write_text("#!/bin/sh\nexit 9\n")
    assert machines._cards() == []
    tool.write_text("#!/bin/sh\necho nonsense\n")
    assert machines._cards() == []
