"""The window join equals a set of word tuples, however it is cut into blocks."""

from __future__ import annotations

import re
from random import Random

import numpy as np
import pytest

from engine.corpus.text.runs import copies_anything, index_windows, matching_windows, windows
from engine.corpus.text.words import WORD, Vocabulary, WordTable, cut


def tables(seed: int, texts: int = 90, longest: int = 40) -> tuple[WordTable, WordTable]:
    """Two random sides over three words, so that windows repeat, with empty and short texts among them."""
    rng = np.random.default_rng(seed)
    vocabulary = Vocabulary()
    made = [" ".join(rng.choice(["a", "b", "c"], rng.integers(0, longest))) for _ in range(2 * texts)]
    return cut(made[:texts], vocabulary), cut(made[texts:], vocabulary)


def all_windows(table: WordTable, width: int) -> list[tuple[int, tuple[int, ...]]]:
    return [
        (int(table.offsets[text]) + i, tuple(table.of(text)[i : i + width].tolist()))
        for text in range(table.size)
        for i in range(len(table.of(text)) - width + 1)
    ]


@pytest.mark.parametrize("width", [1, 2, 8])
@pytest.mark.parametrize("block", [7, 64, 1 << 21])
def test_matches_are_those_of_a_set_join_and_each_slot_holds_the_same_words(width: int, block: int) -> None:
    candidate, reference = tables(width)
    known = {words for _, words in all_windows(reference, width)}
    expected = [at for at, words in all_windows(candidate, width) if words in known]
    index = index_windows(reference, width, block=block)
    positions, slots = matching_windows(candidate, index, block=block)
    assert positions.tolist() == expected
    for at, slot in zip(positions, slots, strict=True):
        source = index.positions[slot]
        assert candidate.ids[at : at + width].tolist() == reference.ids[source : source + width].tolist()
        assert not slot or index.hashes[slot - 1] < index.hashes[slot]  # the earliest of equal windows


def test_blocks_change_nothing_and_report_their_progress() -> None:
    candidate, reference = tables(5)
    whole = matching_windows(candidate, index_windows(reference))
    told: list[tuple[int, int]] = []
    parts = matching_windows(candidate, index_windows(reference, block=50), lambda *at: told.append(at), block=50)
    assert parts[0].tolist() == whole[0].tolist()
    assert len(told) > 10
    assert told[-1] == (len(candidate.ids), len(candidate.ids))
    assert told == sorted(told)


def test_a_report_that_raises_stops_the_join() -> None:
    candidate, reference = tables(6)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index_windows(reference, report=stop)
    with pytest.raises(KeyboardInterrupt):
        matching_windows(candidate, index_windows(reference), stop)


@pytest.mark.parametrize("texts", [[], [""], ["a b"], ["", "a b c d e f g", ""]])
def test_too_little_text_has_no_window(texts: list[str]) -> None:
    vocabulary = Vocabulary()
    table, other = cut(texts, vocabulary), cut(["a b c d e f g h i"], vocabulary)
    assert not copies_anything(table, index_windows(other)).any()
    assert not copies_anything(other, index_windows(table)).any()
    assert sum(len(hashes) for hashes, _ in windows(table)) == 0


def test_words_are_cut_the_same_with_and_without_the_fast_path_for_ascii() -> None:
    random = Random(0)
    letters = "aB1_ \t\n.,'-\x1c\x1f\x00\x85é東京Ａﬁ"
    texts = ["".join(random.choice(letters[: 13 if k % 3 else None]) for _ in range(random.randrange(40)))
             for k in range(2000)]  # fmt: skip
    vocabulary, plain = Vocabulary(), Vocabulary()
    table = cut(texts, vocabulary)
    expected = [[(plain.number(m.group()), *m.span()) for m in re.finditer(WORD, text)] for text in texts]
    rows = [row for found in expected for row in found]
    assert list(zip(table.ids.tolist(), table.starts.tolist(), table.ends.tolist(), strict=True)) == rows
    assert table.counts.tolist() == [len(found) for found in expected]
    assert vocabulary.words() == plain.words()
