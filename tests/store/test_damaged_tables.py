"""A damaged or missing table gives a sentence wherever it is read."""

import pytest

from engine.errors import StorageError
from engine.store.records import forget, read_rows, read_table, read_texts
from tests.store.making import examine, finding, finished_run


def truncated(data):
    return data[: len(data) // 2]


def empty(data):
    return b""


def garbage(data):
    return b"garbage" * (len(data) // 7)


def flipped(data):
    """Flip every fifth byte of the pages, and leave the footer as it is."""
    changed = bytearray(data)
    size = int.from_bytes(data[-8:-4], "little") + 8
    for place in range(4, len(data) - size, 5):
        changed[place] ^= 0x5A
    return bytes(changed)


def footless(data):
    changed = bytearray(data)
    for place in range(len(data) - 60, len(data) - 8):
        changed[place] ^= 0xFF
    return bytes(changed)


def no_footer(data):
    return data[:-8] + b"\xff\xff\xff\x7fPAR1"


@pytest.mark.parametrize("damage", [truncated, empty, garbage, flipped, footless, no_footer, None])
@pytest.mark.parametrize(
    "read",
    [
        lambda store, corpus: store.corpora.records(corpus.id),
        lambda store, corpus: store.corpora.frame(corpus.id),
        lambda store, corpus: store.corpora.frame(corpus.id, "train", ["text", "split"]),
        lambda store, corpus: store.review.record_text(corpus.id, "id3"),
        lambda store, corpus: store.values.table(corpus.id, search="knee"),
        lambda store, corpus: store.values.gold_evaluation(corpus.id),
        lambda store, corpus: read_texts(store.folder.records(corpus.id)),
        lambda store, corpus: read_rows(store.folder.records(corpus.id), list(range(40))),
        lambda store, corpus: read_table(store.folder.records(corpus.id), where={"split": "train"}),
    ],
)
def test_every_reader_says_what_to_do(store, corpus, damage, read):
    path = store.folder.records(corpus.id)
    data = path.read_bytes()
    path.unlink()
    if damage is not None:
        path.write_bytes(damage(data))
    forget(corpus.id)
    with pytest.raises(StorageError, match=r"damaged|missing"):
        read(store, corpus)


@pytest.mark.parametrize("damage", [truncated, empty, garbage, footless])
def test_a_damaged_table_of_an_examination_says_so_too(store, corpus, damage):
    from tests.store.conftest import made_up

    run_id = finished_run(store, corpus, ["one"])
    examine(store, run_id, [finding("pipp", 0.5)], tables={"leaks": made_up(3)[["text"]]})
    path = store.folder.run(run_id) / "leaks.parquet"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(StorageError, match="damaged"):
        store.examinations.table(run_id, "leaks")
