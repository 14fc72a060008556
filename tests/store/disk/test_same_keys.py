"""Workspaces of tests hold the same people aside each time; two of one test do not share a key."""

import hashlib
import secrets
from pathlib import Path

import pytest

from engine.store.disk import folder
from engine.store.disk.folder import Folder
from tests import same_keys


def made(path: Path) -> bytes:
    """Return the key of a new folder."""
    new = Folder(path)
    new.create()
    new.make_key()
    return new.key()


def test_a_tests_keys_follow_from_its_file_and_their_number(tmp_path):
    if folder.secrets is not same_keys.KEYS:
        pytest.skip("keys were asked to be random")
    keys = [made(tmp_path / name) for name in "ab"]
    assert keys == [hashlib.shake_256(f"test_same_keys.py\0{i}".encode()).digest(folder.KEY_BYTES) for i in (1, 2)]


def test_a_key_of_the_program_itself_is_new_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "secrets", secrets)
    assert made(tmp_path / "a") != made(tmp_path / "b")
