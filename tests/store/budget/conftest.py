"""A store whose key is the same each time: which of a record's runs become marks follows from the key."""

from __future__ import annotations

import hashlib

import pytest

from engine.store.disk import folder
from engine.store.store import Store


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Return an empty store; a test of what marks tell must not change with the key it happened to get."""
    key = hashlib.sha256(b"a key of tests").digest()
    with monkeypatch.context() as patch:
        patch.setattr(folder.secrets, "token_bytes", lambda size: key[:size])
        made = Store(tmp_path / "workspace", actor="tester")
    yield made
    made.close()
