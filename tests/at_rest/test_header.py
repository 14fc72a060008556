"""The header: the right secret opens it, another does not, and a changed or damaged one says so."""

import json
import os

import pytest

from engine.at_rest import header, keys, unlocking
from engine.at_rest.header import LockedError, Secret, WrongSecretError
from engine.at_rest.keys import DataKey
from engine.errors import StorageError, UserError

WORDS = "correct horse battery"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Passphrases cost a thousandth of what they do outside tests."""
    monkeypatch.setattr(header, "SCRYPT", {"n": 1 << 7, "r": 8, "p": 1})
    monkeypatch.setattr(unlocking, "_tries", {})


def secret(text=WORDS):
    return header.passphrase(text)


def file_secret(value=b"k" * 32):
    return Secret("key file", value)


@pytest.mark.parametrize("opens", [secret(), file_secret()], ids=["passphrase", "key file"])
def test_the_secret_opens_it_and_nothing_of_key_or_secret_stands_in_it(opens):
    key = DataKey.new()
    made = header.parse(header.wrap(key, opens, 3).written())
    assert made.unwrap(opens).database == key.database
    assert (made.by, made.generation) == (opens.by, 3)
    assert made.fits(key)
    assert not made.fits(DataKey.new())
    for hidden in (key._value, opens.value, key.database):
        assert hidden not in made.written()
        assert hidden.hex().encode() not in made.written()


def test_another_secret_is_refused_without_saying_what_was_given():
    made = header.wrap(DataKey.new(), secret())
    with pytest.raises(WrongSecretError) as said:
        made.unwrap(secret("incorrect horse battery"))
    assert "horse" not in str(said.value)
    with pytest.raises(WrongSecretError, match="opens with a passphrase, not with a key file"):
        made.unwrap(file_secret())


def test_a_passphrase_typed_on_another_keyboard_is_the_same():
    made = header.wrap(DataKey.new(), header.passphrase("Grüße aus Köln, é"))
    assert made.unwrap(header.passphrase("Gru\u0308ße aus Ko\u0308ln, e\u0301"))


@pytest.mark.parametrize(
    "change",
    [
        {"generation": 9},
        {"check": "0" * 32},
        {"unlock": {"n": 2}},
        {"unlock": {"salt": "00" * 16}},
        {"database": "none"},
    ],
    ids=str,
)
def test_a_changed_field_is_noticed_even_where_its_digest_was_made_anew(change):
    made = header.wrap(DataKey.new(), secret())
    body = json.loads(made.written())
    for name, value in change.items():
        body[name] = {**body[name], **value} if isinstance(value, dict) else value
    with pytest.raises(StorageError, match="damaged"):
        header.parse(json.dumps(body).encode())
    body["sha256"] = header._digest(body)
    with pytest.raises(WrongSecretError):
        header.parse(json.dumps(body).encode()).unwrap(secret())


@pytest.mark.parametrize("unlock", [{"n": 1 << 40}, {"p": 10_000}, {"n": 3}, {"n": -4}, {"kdf": "none"}, {"salt": "x"}])
def test_a_header_that_asks_for_a_machine_full_of_memory_is_refused(unlock):
    body = json.loads(header.wrap(DataKey.new(), secret()).written())
    body["unlock"] |= unlock
    body["sha256"] = header._digest(body)
    with pytest.raises(StorageError, match="damaged"):
        header.parse(json.dumps(body).encode()).unwrap(secret())


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"null", b"\xff", b"[" * 60_000, b'{"format": 1}'])
def test_what_is_no_header_says_so(data):
    with pytest.raises(StorageError, match="damaged"):
        header.parse(data)


def test_a_cut_header_says_so():
    data = header.wrap(DataKey.new(), secret()).written()
    for length in range(0, len(data) - 2, 7):
        with pytest.raises(StorageError, match="damaged"):
            header.parse(data[:length])


def test_a_newer_header_asks_for_an_update():
    body = json.loads(header.wrap(DataKey.new(), secret()).written()) | {"version": 2}
    with pytest.raises(StorageError, match="Update Understudy"):
        header.parse(json.dumps(body).encode())


def test_secrets_are_checked(tmp_path):
    with pytest.raises(UserError, match="12 signs"):
        header.passphrase("short", new=True)
    with pytest.raises(UserError, match="empty"):
        header.passphrase("")
    for content in (b"", b"x" * 31, b"x" * 33):
        (tmp_path / "k").write_bytes(content)
        with pytest.raises(UserError, match="32 bytes"):
            header.key_file(tmp_path / "k")
    with pytest.raises(UserError, match="cannot be read"):
        header.key_file(tmp_path / "none")
    with pytest.raises(UserError, match="not a folder"):
        header.key_file(tmp_path)
    assert "correct" not in repr(secret())


def test_wrong_tries_wait_and_the_right_one_ends_that(tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(unlocking.time, "monotonic", lambda: now[0])
    (tmp_path / header.NAME).write_bytes(header.wrap(DataKey.new(), secret()).written())
    waits = []
    for _ in range(9):
        with pytest.raises(WrongSecretError):
            unlocking.unlock(tmp_path, secret("wrong wrong wrong"))
        with pytest.raises(UserError, match=r"Wait \d+ seconds") as said:
            unlocking.unlock(tmp_path, secret())
        waits.append(int(str(said.value).split("Wait ")[1].split()[0]))
        assert keys.of(tmp_path) is None
        now[0] += waits[-1]
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    unlocking.unlock(tmp_path, secret())
    assert keys.of(tmp_path) is not None
    keys.drop(tmp_path)
    with pytest.raises(WrongSecretError):
        unlocking.unlock(tmp_path, secret("wrong wrong wrong"))


def test_locked_says_what_opens_it_and_a_foreign_header_is_refused(tmp_path):
    header.demand(tmp_path)
    assert unlocking.locked(tmp_path) is None
    key = DataKey.new()
    (tmp_path / header.NAME).write_bytes(header.wrap(key, secret()).written())
    with pytest.raises(LockedError, match="passphrase"):
        header.demand(tmp_path)
    try:
        keys.hold(tmp_path, key)
        header.demand(tmp_path)
        (tmp_path / header.NAME).write_bytes(header.wrap(DataKey.new(), secret()).written())
        with pytest.raises(StorageError, match="another workspace"):
            header.demand(tmp_path)
        (tmp_path / header.NAME).unlink()
        with pytest.raises(StorageError, match="missing"):
            header.demand(tmp_path)
    finally:
        keys.drop(tmp_path)


def test_the_environment_names_a_key_file(tmp_path, monkeypatch):
    monkeypatch.delenv(unlocking.ENVIRONMENT, raising=False)
    assert unlocking.unlock_from_environment(tmp_path) is False
    value = os.urandom(32)
    (tmp_path / "k").write_bytes(value)
    workspace = tmp_path / "w"
    workspace.mkdir()
    (workspace / header.NAME).write_bytes(header.wrap(DataKey.new(), Secret("key file", value)).written())
    monkeypatch.setenv(unlocking.ENVIRONMENT, str(tmp_path / "k"))
    try:
        assert unlocking.unlock_from_environment(workspace)
        assert keys.of(workspace) is not None
    finally:
        keys.drop(workspace)
    (workspace / header.NAME).write_bytes(header.wrap(DataKey.new(), secret()).written())
    assert unlocking.unlock_from_environment(workspace) is False, "it opens with a passphrase, which is asked for"
