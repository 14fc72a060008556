"""A part computes with one thread, its embedder with all there are, and both are as before afterwards."""

from __future__ import annotations

import threading

import numpy as np
import torch
from threadpoolctl import threadpool_info

from engine.examine.threads import computing, embedding
from engine.models.builtin.embedder import SentenceEmbedder

TEXTS = [f"{'She came in with a cough that had begun ' * (n % 5 + 1)}{n} days before." for n in range(40)]


def test_the_embedder_has_the_threads_that_were_there_before_the_part() -> None:
    before = torch.get_num_threads()
    with computing(1):
        assert torch.get_num_threads() == 1
        with embedding():
            assert torch.get_num_threads() == before
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
    with embedding():
        assert torch.get_num_threads() == before


def test_its_rows_hang_on_no_number_of_threads() -> None:
    embedder = SentenceEmbedder()
    rows = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        with computing(1), embedding():
            rows.append(embedder.embed(TEXTS))
    assert np.array_equal(*rows)


def test_a_part_that_ends_leaves_one_of_another_thread_its_one_thread() -> None:
    entered, seen, before = threading.Event(), [], torch.get_num_threads()
    first, ended = threading.Event(), threading.Event()

    def other() -> None:
        first.wait(60)
        entered.set()
        with computing(1):
            ended.wait(60)
            seen.extend(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")

    thread = threading.Thread(target=other)
    thread.start()
    with computing(1):
        first.set()
        assert entered.wait(60)
        thread.join(0.5)  # long enough to have entered, were it let in
    ended.set()
    thread.join(60)
    assert seen, "no library was counted"
    assert set(seen) == {1}
    assert torch.get_num_threads() == before
