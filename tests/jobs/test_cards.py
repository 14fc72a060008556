"""Graphics cards are dealt among a machine's workers, and each process is started with its own."""

from __future__ import annotations

import sys
import time

import pytest

from engine.jobs.worker import cards, slots
from engine.jobs.worker.lock import ProcessLock
from engine.models.offered.machine import Machine
from engine.store.disk.folder import Folder

PRINTS = """
import os, sys
name = sys.argv[sys.argv.index("--slot") + 1]
with open(sys.argv[1], "a") as file:
    print(name, os.environ.get("CUDA_VISIBLE_DEVICES", "-"), file=file)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def asked_anew():
    cards.visible.cache_clear()
    yield
    cards.visible.cache_clear()


def machine(count):
    """Return a machine with so many cards."""
    return Machine("cuda", count * (80 << 30), 64, ("made up",) * count, True, False, False)


@pytest.mark.parametrize(
    ("named", "count", "shares"),
    [
        ("0,1,2,3,4,5,6,7", 8, list("01234567")),
        ("0,1,2,3,4,5,6,7", 3, ["0,3,6", "1,4,7", "2,5"]),
        ("GPU-a, GPU-b", 2, ["GPU-a", "GPU-b"]),
        ("4,2", 5, ["4", "2", "4", "2", "4"]),  # more workers than cards
        ("4,2,-1,3", 2, ["4", "2"]),  # as the driver reads it
    ],
)
def test_every_card_is_one_workers(monkeypatch, named, count, shares):
    monkeypatch.setenv(cards.VISIBLE, named)
    assert [cards.dealt(n, count) for n in range(count)] == [{cards.VISIBLE: share} for share in shares]


@pytest.mark.parametrize(("named", "count"), [("0,1", 1), ("0", 4), ("", 4), ("-1", 4)])
def test_where_there_is_nothing_to_deal_the_environment_stays(monkeypatch, named, count):
    monkeypatch.setenv(cards.VISIBLE, named)
    assert cards.dealt(0, count) == {}


def test_without_a_word_the_drivers_list_is_dealt(monkeypatch):
    monkeypatch.delenv(cards.VISIBLE, raising=False)
    monkeypatch.setattr(cards, "this_machine", lambda: machine(4))
    assert [cards.dealt(n, 2)[cards.VISIBLE] for n in range(2)] == ["0,2", "1,3"]
    monkeypatch.setenv(cards.VISIBLE, "0,2")  # as the first worker does with its own share
    assert cards.dealt(1, 2)[cards.VISIBLE] == "1,3", "the others' shares are of all that there were"


def test_slots_are_started_with_their_cards_and_one_that_died_comes_again_with_its_own(tmp_path, monkeypatch):
    said, folder = tmp_path / "said", Folder(tmp_path)
    monkeypatch.setattr(slots, "worker_command", lambda _: [sys.executable, "-c", PRINTS, str(said)])
    monkeypatch.setenv(cards.VISIBLE, "5,6,7")
    ended = []
    crew = slots.Slots(folder, 3, ProcessLock(tmp_path / "lock"), ended.append)

    def told(count):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            lines = said.read_text().splitlines() if said.exists() else []
            if len(lines) == count:
                return [tuple(line.split()) for line in lines]
            time.sleep(0.02)
        raise AssertionError(lines)

    try:
        crew.tend()
        first = dict(told(2))
        assert sorted(first.values()) == ["6", "7"]  # the worker that starts them keeps the first
        died = next(name for name, card in first.items() if card == "6")
        crew._running[died].kill()
        crew._running[died].wait()
        crew.tend()
        assert ended == [died]
        assert told(3)[-1][1] == "6"
    finally:
        crew.close()
