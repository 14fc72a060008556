"""Blobs in an S3 that runs on this machine's loopback; skipped where no such server and no s3fs is installed."""

import contextlib
import os
import shutil
import socket
import subprocess
import time

import httpx
import pytest

from engine.errors import StorageError
from engine.store.disk.moving import join_workspace
from engine.store.store import Store
from tests import postgres
from tests.store.conftest import CANARY, MAPPING, made_up

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def s3():
    """Return an s3fs file system of a server on loopback, with an empty bucket."""
    s3fs = pytest.importorskip("s3fs", reason="s3fs is not installed (pip install 'understudy[blobs-s3]')")
    program = shutil.which("moto_server")
    if program is None:
        pytest.skip("no S3 server is installed (pip install 'moto[server]')")
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [program, "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 60
    while True:
        with contextlib.suppress(httpx.HTTPError):
            httpx.get(address, trust_env=False)
            break
        assert process.poll() is None, "the S3 server ended at its start"
        assert time.monotonic() < deadline
        time.sleep(0.1)
    before = {name: os.environ.get(name) for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL",
                                                      "AWS_DEFAULT_REGION")}  # fmt: skip
    os.environ.update(AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY=CANARY, AWS_ENDPOINT_URL=address,
                      AWS_DEFAULT_REGION="us-east-1")  # fmt: skip
    system = s3fs.S3FileSystem(use_listings_cache=False)
    system.mkdir("bucket")
    yield system
    process.terminate()
    process.wait(timeout=10)
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


def keys(system, prefix):
    """Return what lies below a prefix, without the mark."""
    system.invalidate_cache()
    return [path for path in system.find(f"bucket/{prefix}") if not path.endswith("/place")]


def machine(folder, prefix):
    postgres.workspace_on(folder, postgres.server().database())
    with (folder / "workspace.toml").open("a") as file:
        file.write(f'blobs = "s3://bucket/{prefix}"\n')
    return folder


def test_two_machines_share_a_workspace_in_s3(s3, tmp_path):
    anna = Store(machine(tmp_path / "first", "a/b"), actor="anna")
    ben = Store(join_workspace(anna.path, tmp_path / "second"), actor="ben")
    corpus = anna.corpora.import_table(made_up(), MAPPING, name="Letters", unit="record", holdout=0.25)
    (key,) = keys(s3, "a/b")
    assert CANARY.encode() not in s3.cat_file(key)
    texts = list(ben.corpora.frame(corpus.id, None, ["text"])["text"])
    assert sum(CANARY in text for text in texts) == 40
    found = ben.session.blobs.state()
    assert (found.scheme, found.count, found.bad, found.strays, found.leaving) == ("s3", 1, (), 0, 0)
    ben.corpora.delete(corpus.id)
    assert keys(s3, "a/b") == []
    for store in (anna, ben):
        store.close()


def test_a_large_blob_is_put_in_parts_and_read_whole(s3, tmp_path):
    from engine.at_rest import files
    from engine.store.disk.folder import write_atomic

    anna = Store(machine(tmp_path / "first", "large"), actor="anna")
    ben = Store(join_workspace(anna.path, tmp_path / "second"), actor="ben")
    data = os.urandom(1 << 20) * 60
    write_atomic(anna.folder.run("r-1") / "tuned" / "model.safetensors", data)
    assert files.read_bytes(ben.folder.run("r-1") / "tuned" / "model.safetensors") == data
    for store in (anna, ben):
        store.close()


def test_an_altered_object_and_a_bucket_that_is_away_are_refused_without_a_credential(s3, tmp_path):
    anna = Store(machine(tmp_path / "first", "c"), actor="anna")
    ben = Store(join_workspace(anna.path, tmp_path / "second"), actor="ben")
    corpus = anna.corpora.import_table(made_up(), MAPPING, name="Letters", unit="record", holdout=0.25)
    (key,) = keys(s3, "c")
    whole = s3.cat_file(key)
    s3.pipe_file(key, whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(StorageError, match="The record table of a corpus was cut short or changed"):
        ben.corpora.frame(corpus.id, None, ["text"])
    s3.pipe_file(key, whole)
    assert len(ben.corpora.frame(corpus.id, None, ["text"])) == 40
    third = machine(tmp_path / "third", "x")
    text = (third / "workspace.toml").read_text().replace("s3://bucket/", "s3://no-such-bucket/")
    (third / "workspace.toml").write_text(text)
    with pytest.raises(StorageError, match="cannot be reached") as caught:
        Store(third)
    assert CANARY not in str(caught.value)
    assert "bucket" not in str(caught.value)
    for store in (anna, ben):
        store.close()
