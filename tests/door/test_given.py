"""Files of pages, where people sign in: served to whom they were given, by the roles that person still holds."""

from __future__ import annotations

import pytest
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

import engine
from pages._ui.door.addresses import Addresses
from pages._ui.door.door import Door
from pages._ui.door.peer import Peer
from pages._ui.sign_in import given, oidc, visitor
from pages._ui.sign_in import settings as sign_in
from pages._ui.sign_in.settings import SignIn
from tests.door.test_door import TOKEN, ask, inner
from tests.door.test_oidc import COOKIE_SECRET, cookie, way

SECRET = b"s" * 32
PROXY = SignIn("X-Forwarded-User", SECRET)


@pytest.fixture
def office(tmp_path, monkeypatch):
    """A workspace with two people, and a door that asks it."""
    workspace = engine.open_workspace(tmp_path / "w", "tester")
    workspace.people.set("mara@example.org", "Mara", ["custodian"])
    workspace.people.set("ilo@example.org", "Ilo", ["custodian"])
    monkeypatch.setattr(given, "_workspace", lambda: workspace)
    monkeypatch.setattr("pages._ui.door.door.identify", lambda client, server: Peer("127.0.0.1", True, 0))
    given._given.clear()
    given._later.clear()
    given.watch()
    yield workspace
    sign_in.choose(None)
    workspace.close()


@pytest.fixture
def manager():
    return MediaFileManager(MemoryMediaFileStorage("/media"))


def acts(monkeypatch, office, identity):
    """Have the pages drawn for somebody."""
    sign_in.choose(PROXY)
    monkeypatch.setattr(visitor, "person", lambda: office.people.person(identity))


def fetched(path, who="mara@example.org", method="GET"):
    door = Door(inner, TOKEN, Addresses("https://data.example.org"), False, PROXY)
    return ask(door, path=path, method=method, X_Forwarded_User=who, **{"x-understudy-proxy": SECRET.decode()})


def test_a_file_is_served_to_whom_it_was_given_and_to_nobody_else(office, manager, monkeypatch):
    acts(monkeypatch, office, "mara@example.org")
    url = manager.add(b"private", "text/csv", "1.1", "a.csv", True)
    assert fetched(url)[0] == 200
    for path in (url, f"/{url}", f"/review{url}", url.replace(".csv", ".txt")):
        status, _, body = fetched(path, "ilo@example.org")
        assert (status, "Load its page again" in body) == (403, True), path
    assert fetched("/media/0123.csv")[0] == 403, "nothing that was never given is looked for"
    assert fetched(url, method="HEAD")[0] == 200
    assert fetched(url, "ilo@example.org", method="HEAD")[0] == 403


def test_a_role_that_is_taken_takes_the_files_along(office, manager, monkeypatch):
    acts(monkeypatch, office, "mara@example.org")
    url = manager.add(b"private", "text/csv", "1.1", "a.csv", True)
    office.people.set("mara@example.org", "Mara", ["auditor"])
    assert fetched(url)[0] == 403
    mild = manager.add(b"ledger", "text/csv", "1.2", "b.csv", True)
    assert fetched(mild)[0] == 200
    office.people.set("mara@example.org", "Mara", ["custodian"])
    assert fetched(url)[0] == 200, "as before"
    assert fetched(mild)[0] == 200, "more rights than then"
    office.people.remove("mara@example.org")
    assert (fetched(url)[0], fetched(mild)[0]) == (403, 403)


def test_a_file_that_is_made_when_it_is_pressed_belongs_to_whom_it_was_offered(office, manager, monkeypatch):
    acts(monkeypatch, office, "mara@example.org")
    placeholder = manager.add_deferred(lambda: b"private", "text/csv", "1.1", "a.csv")
    monkeypatch.setattr(visitor, "person", lambda: None)  # it is made outside of any script
    url = manager.execute_deferred(placeholder)
    assert fetched(url)[0] == 200
    assert fetched(url, "ilo@example.org")[0] == 403
    office.people.set("mara@example.org", "Mara", ["reviewer"])
    assert fetched(url)[0] == 403


def test_the_browsers_own_files_and_pages_are_served_as_before(office):
    for path in ("/static/media/font.woff2", "/", "/review", "/_stcore/health", "/media"):
        assert fetched(path)[0] == 200, path


def test_another_account_with_the_same_address_gets_no_file(office, manager, monkeypatch):
    monkeypatch.setattr(oidc, "get_cookie_secret", lambda: COOKIE_SECRET)
    office.people.recognise("mara@example.org", "https://id.example.org|7")
    acts(monkeypatch, office, "mara@example.org")
    url = manager.add(b"private", "text/csv", "1.1", "a.csv", True)
    door = Door(inner, TOKEN, Addresses("https://data.example.org"), False, way())
    assert ask(door, path=url, cookie=cookie())[0] == 200
    assert ask(door, path=url, cookie=cookie(sub="8"))[0] == 403


def test_where_nobody_signs_in_nothing_is_noted_and_files_are_served(office, manager):
    sign_in.choose(None)
    url = manager.add(b"private", "text/csv", "1.1", "a.csv", True)
    assert not given._given
    assert ask(Door(inner, TOKEN, Addresses()), path=url, host="localhost:8501")[0] == 200


def test_what_is_remembered_is_bounded(office, manager, monkeypatch):
    acts(monkeypatch, office, "mara@example.org")
    monkeypatch.setattr(given, "MOST", 3)
    urls = [manager.add(bytes([n]), "text/csv", f"1.{n}", "a.csv", True) for n in range(5)]
    assert [fetched(url)[0] for url in urls] == [403, 403, 200, 200, 200]
