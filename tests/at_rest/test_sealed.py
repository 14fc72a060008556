"""Encrypted files: what was changed, cut, lengthened, swapped or taken from elsewhere is refused."""

import io
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.at_rest import files, keys
from engine.at_rest.keys import DataKey
from engine.at_rest.sealed import (
    CHUNK,
    HEAD,
    STORED,
    SealedFile,
    UnsealError,
    identity,
    seal,
    sealing,
    stored_size,
    unseal,
    unsealing,
)
from engine.errors import InternalError, StorageError

PLACE = "runs/r-1/each.parquet"
KEY = DataKey.new()


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 17])
def test_what_was_sealed_is_read_back_and_no_two_times_the_same(size):
    data = os.urandom(size)
    stored = seal(data, KEY, PLACE)
    assert unseal(stored, KEY, PLACE) == data
    assert stored != seal(data, KEY, PLACE)
    assert len(stored) == HEAD + size + 16 * max(1, -(-size // CHUNK))
    if size > 16:
        assert data[:16] not in stored


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 17])
def test_what_is_sealed_and_read_in_one_pass_is_the_same(size):
    data = os.urandom(size)
    stored = b"".join(sealing(io.BytesIO(data), size, KEY, PLACE))
    assert len(stored) == stored_size(size)
    assert unseal(stored, KEY, PLACE) == data
    assert b"".join(unsealing(io.BytesIO(stored), len(stored), KEY, PLACE)) == data
    changed = [stored[:-1], stored + b"\0", stored[:HEAD], stored[:7], b"", data, stored[:-1] + bytes([stored[-1] ^ 1])]
    for other in changed:
        with pytest.raises(UnsealError):
            list(unsealing(io.BytesIO(other), len(stored), KEY, PLACE))
    with pytest.raises(UnsealError):
        list(unsealing(io.BytesIO(stored), len(stored), KEY, f"{PLACE}x"))
    if size:
        with pytest.raises(StorageError, match="became shorter"):
            list(sealing(io.BytesIO(data[:-1]), size, KEY, PLACE))


@pytest.mark.parametrize("size", [0, 5, CHUNK, 2 * CHUNK, 2 * CHUNK + 9])
def test_a_cut_or_longer_file_is_refused(size):
    stored = seal(os.urandom(size), KEY, PLACE)
    lengths = {0, 7, HEAD - 1, HEAD, HEAD + 15, HEAD + 16, HEAD + STORED, HEAD + 2 * STORED, len(stored) - 1}
    for length in {n for n in lengths if n < len(stored)}:
        with pytest.raises(UnsealError):
            unseal(stored[:length], KEY, PLACE)
    for more in (b"\0", os.urandom(16), stored[HEAD:]):
        with pytest.raises(UnsealError):
            unseal(stored + more, KEY, PLACE)


def test_any_changed_bit_is_refused_and_chunks_cannot_change_places():
    data = os.urandom(2 * CHUNK + 100)
    stored = seal(data, KEY, PLACE)
    for at in (0, 9, HEAD, HEAD + 100, HEAD + STORED, len(stored) - 1):
        changed = bytearray(stored)
        changed[at] ^= 1
        with pytest.raises(UnsealError):
            unseal(bytes(changed), KEY, PLACE)
    first, second, rest = stored[HEAD : HEAD + STORED], stored[HEAD + STORED : HEAD + 2 * STORED], stored[-116:]
    with pytest.raises(UnsealError):
        unseal(stored[:HEAD] + second + first + rest, KEY, PLACE)


def test_a_file_in_the_place_of_another_or_under_another_key_is_refused():
    stored = seal(b"private", KEY, PLACE)
    for key, place in ((KEY, "runs/r-2/each.parquet"), (KEY, "runs/r-1/map.parquet"), (DataKey.new(), PLACE)):
        with pytest.raises(UnsealError):
            unseal(stored, key, place)
    with pytest.raises(UnsealError, match="not encrypted"):
        unseal(b"private, and plain", KEY, PLACE)


def test_a_finished_part_keeps_its_identity_when_it_leaves_the_scratch_folder():
    at_last = identity("runs/r-1/tuned/model.safetensors")
    assert identity("runs/r-1/scratch/tuned.part/model.safetensors") == at_last
    assert identity("runs/r-1/scratch/tuned/model.safetensors") == at_last
    assert identity("runs/r-1/tuned/scratch") != identity("runs/r-1/tuned")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 3 * CHUNK), st.lists(st.tuples(st.integers(0, 3 * CHUNK + 5), st.integers(-1, CHUNK + 5))))
def test_any_part_is_read_as_from_the_plain_file(size, reads):
    data = (b"0123456789abcdef" * (size // 16 + 1))[:size]
    file, plain = SealedFile(io.BytesIO(seal(data, KEY, PLACE)), KEY, PLACE), io.BytesIO(data)
    for at, length in reads:
        assert file.seek(at) == plain.seek(at)
        assert file.read(length) == plain.read(length)
        assert file.tell() == plain.tell()
    assert file.seek(0, os.SEEK_END) == size


def test_parquet_and_numpy_read_sealed_files_in_parts(tmp_path):
    keys.hold(tmp_path, KEY)
    try:
        out = io.BytesIO()
        pq.write_table(pa.table({"n": list(range(100_000)), "t": ["made up"] * 100_000}), out, row_group_size=512)
        files.write_bytes(tmp_path / "t.parquet", out.getvalue())
        with files.readable(tmp_path / "t.parquet") as source, pq.ParquetFile(source) as table:
            assert table.read_row_group(100).column("n").to_pylist() == list(range(51_200, 51_712))
        array = io.BytesIO()
        np.save(array, np.arange(50_000, dtype=np.float32))
        files.write_bytes(tmp_path / "a.npy", array.getvalue())
        with files.opened(tmp_path / "a.npy") as file:
            assert np.load(file, allow_pickle=False).sum() == np.arange(50_000, dtype=np.float32).sum()
        assert b"made up" not in (tmp_path / "t.parquet").read_bytes()
    finally:
        keys.drop(tmp_path)


def test_outside_unlocked_workspaces_files_are_plain(tmp_path):
    inside, outside = tmp_path / "w", tmp_path / "w2"
    for folder in (inside, outside):
        folder.mkdir()
    keys.hold(inside, KEY)
    try:
        files.write_bytes(outside / "x", b"plain")
        assert (outside / "x").read_bytes() == b"plain"
        assert files.read_bytes(outside / "x") == b"plain"
        (tmp_path / "link").symlink_to(inside)
        files.write_bytes(tmp_path / "link" / "x", b"private")
        assert b"private" not in (inside / "x").read_bytes()
        assert files.read_bytes(inside / "x") == b"private"
        (tmp_path / "disk").mkdir()
        (inside / "corpora").symlink_to(tmp_path / "disk")  # a part of it on another disk
        files.write_bytes(inside / "corpora" / "z", b"private")
        assert b"private" not in (tmp_path / "disk" / "z").read_bytes()
        assert files.read_bytes(tmp_path / "link" / "corpora" / "z") == b"private"
        (inside / "y").write_bytes(b"put there")
        with pytest.raises(UnsealError, match="not encrypted"):
            files.read_bytes(inside / "y")
    finally:
        keys.drop(inside)
    assert files.read_bytes(inside / "y") == b"put there"


def test_a_key_has_no_form_in_text():
    import copy

    for made in (repr(KEY), str(KEY), f"{KEY}"):
        assert made == "DataKey(...)"
    with pytest.raises(InternalError):
        copy.deepcopy(KEY)
    assert KEY.database != KEY.derive("file") != KEY.derive("file", b"salt")
