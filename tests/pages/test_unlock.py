"""A locked workspace shows nothing but the question for its passphrase or key file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine.at_rest import header, keys, unlocking
from engine.at_rest.header import Secret
from engine.store.disk.encryption import encryption
from pages._ui import client
from pages._ui.sign_in import settings, visitor
from pages._ui.sign_in.settings import SignIn
from tests.pages.small import ROOT, words

WORDS = "correct horse battery staple"


def locked(path: Path, secret: Secret) -> Path:
    """Make an encrypted workspace that holds a corpus, and forget its key."""
    encryption.encrypt(secret, path)
    workspace = engine.open_workspace(path)
    workspace.settings.set_actor("Quillfeather")
    workspace.close()
    keys.drop(path)
    return path


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.setattr(header, "SCRYPT", {"n": 1 << 7, "r": 8, "p": 1})
    monkeypatch.setenv("UNDERSTUDY_WORKSPACE", str(tmp_path / "w"))
    monkeypatch.delenv(unlocking.ENVIRONMENT, raising=False)
    yield
    client._open.clear()
    keys._held.clear()
    unlocking._tries.clear()


def opened() -> AppTest:
    app = AppTest.from_file(str(ROOT / "pages" / "_ui" / "main.py"), default_timeout=30).run()
    assert not app.exception, app.exception
    return app


def sent(app: AppTest, key: str, given: str) -> AppTest:
    app.text_input(key=key).set_value(given)
    app.button(key="unlock.do").click().run()
    assert not app.exception, app.exception
    return app


def test_the_passphrase_opens_it_for_every_session(tmp_path):
    locked(tmp_path / "w", header.passphrase(WORDS))
    app = opened()
    assert app.title[0].value == "The workspace is locked"
    assert len(app.text_input) == 1
    assert not app.sidebar.children
    assert "Quillfeather" not in words(app)
    app = sent(app, "unlock.words", "incorrect horse battery")
    assert app.title[0].value == "The workspace is locked"
    assert "not the passphrase" in app.error[0].value
    assert "horse" not in words(app)
    assert "Wait 1 second" in sent(app, "unlock.words", WORDS).error[0].value
    unlocking._tries.clear()
    app = sent(app, "unlock.words", WORDS)
    assert app.title[0].value == "Home"
    assert not (app.session_state.get("unlock.words"))
    assert WORDS not in str([element.proto for part in app._tree.children.values() for element in part])
    assert opened().title[0].value == "Home"


def test_the_key_file_opens_it(tmp_path):
    key = tmp_path / "key"
    locked(tmp_path / "w", encryption.new_key_file(key))
    app = opened()
    assert "cannot be read" in sent(app, "unlock.file", str(tmp_path / "none")).error[0].value
    (tmp_path / "other").write_bytes(os.urandom(32))
    assert "not the key file" in sent(app, "unlock.file", str(tmp_path / "other")).error[0].value
    unlocking._tries.clear()
    assert sent(app, "unlock.file", str(key)).title[0].value == "Home"


def test_the_environment_opens_it_without_a_question(tmp_path, monkeypatch):
    locked(tmp_path / "w", encryption.new_key_file(tmp_path / "key"))
    monkeypatch.setenv(unlocking.ENVIRONMENT, str(tmp_path / "key"))
    assert opened().title[0].value == "Home"


def test_a_page_by_its_address_asks_too(tmp_path):
    locked(tmp_path / "w", header.passphrase(WORDS))
    app = opened()
    app.switch_page(str(ROOT / "pages" / "review.py")).run()
    assert app.title[0].value == "The workspace is locked"


def test_where_people_sign_in_nobody_else_is_asked(tmp_path, monkeypatch):
    locked(tmp_path / "w", header.passphrase(WORDS))
    settings.choose(SignIn("X-User", b"s" * 32))
    try:
        monkeypatch.setattr(visitor, "identity_of", lambda chosen: "")
        assert opened().title[0].value == "Please sign in"
        monkeypatch.setattr(visitor, "identity_of", lambda chosen: "somebody@example.org")
        assert opened().title[0].value == "The workspace is locked"
    finally:
        settings.choose(None)


def test_a_damaged_header_is_said_and_not_asked_about(tmp_path):
    path = locked(tmp_path / "w", header.passphrase(WORDS))
    (path / header.NAME).write_text("{}")
    app = opened()
    assert app.title[0].value == "The workspace cannot be opened"
    assert "damaged" in app.error[0].value


@pytest.mark.parametrize("encrypted", [False, True])
def test_the_settings_page_says_whether_it_is_encrypted(tmp_path, encrypted):
    if encrypted:
        encryption.encrypt(header.passphrase(WORDS), tmp_path / "w")
    app = opened()
    app.switch_page(str(ROOT / "pages" / "settings.py")).run()
    said = words(app)
    assert ("Encrypted**, and opened with its passphrase" in said) == encrypted
    assert ("Not encrypted" in said) != encrypted
    commands = [one.value for one in app.code if "python -m engine" in str(one.value)]
    verbs = ("rekey --new-passphrase", "decrypt") if encrypted else ("encrypt", "encrypt --key-file FILE")
    for verb in verbs:
        assert f"python -m engine --workspace {tmp_path / 'w'} {verb}" in commands
    assert "It does not protect from" in said
    assert not [one for one in app.text_input if "passphrase" in str(one.label).lower()], "none is typed into a page"
