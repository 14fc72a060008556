"""A part computes with one thread, its embedder with all there are, and both are as before afterwards."""

from __future__ import annotations

import numpy as np
import torch

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
