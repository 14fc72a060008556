"""The door by itself: wrong tokens, redirects, cookies, options."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from pages._ui.door import door as door_module
from pages._ui.door import start
from pages._ui.door.addresses import Addresses, origin_of
from pages._ui.door.door import Door, parse_token
from tests.door.conftest import ROOT

TOKEN = "the-token-of-this-start"
AWAY = ("172.17.0.1", 40000)  # a container's gateway: its owner cannot be told


async def inner(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


def ask(door, path="/", query="", method="GET", body=b"", client=AWAY, **headers):
    """Return (status, headers, body) of one request."""
    sent, given = [], {"host": "localhost:8501", **{k.replace("_", "-"): v for k, v in headers.items()}}
    scope = {
        "type": "http", "method": method, "path": path, "query_string": query.encode(), "scheme": "http",
        "client": client, "server": ("127.0.0.1", 8501),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items()],
    }  # fmt: skip

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        sent.append(message)

    with ThreadPoolExecutor(1) as thread:  # this one may have the loop of a browser's driver
        thread.submit(asyncio.run, door(scope, receive, send)).result()
    answer = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], answer, b"".join(message.get("body", b"") for message in sent[1:]).decode()


@pytest.fixture
def door():
    return Door(inner, TOKEN, Addresses())


def test_ten_wrong_tokens_end_the_listening_for_that_visitor_alone(door, monkeypatch):
    statuses = [ask(door, query="token=wrong")[0] for _ in range(12)]
    assert statuses == [401] * 10 + [429] * 2
    status, headers, _ = ask(door, query=f"token={TOKEN}")
    assert (status, headers["retry-after"]) == (429, "60"), "or a guess would be found out all the same"
    assert ask(door, query=f"token={TOKEN}", client=("172.17.0.9", 1))[0] == 303
    now = door_module.time.monotonic()
    monkeypatch.setattr(door_module.time, "monotonic", lambda: now + 61)
    assert ask(door, query=f"token={TOKEN}")[0] == 303


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("/", "/"),
        ("/review", "/review"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/a/../b", "/"),
        ("", "/"),
    ],
)
def test_the_way_in_leads_nowhere_else(door, path, leads_to):
    assert ask(door, path, f"token={TOKEN}")[1]["location"] == leads_to


def test_a_cookie_serves_the_visitor_it_was_given_to(door):
    cookie = ask(door, query=f"token={TOKEN}")[1]["set-cookie"].partition(";")[0]
    assert ask(door, cookie=cookie)[2] == "inside"
    assert ask(door, cookie=f"broken; a=b; {cookie}")[2] == "inside"
    assert ask(door, cookie=cookie, client=("172.17.0.9", 1))[0] == 401
    assert ask(Door(inner, TOKEN, Addresses()), cookie=cookie)[0] == 401, "of an earlier start"
    assert ask(door, cookie=cookie.replace("8501", "8502"))[0] == 401


def test_a_visit_from_another_site_is_sent_round_once(door):
    cookie = ask(door, query=f"token={TOKEN}")[1]["set-cookie"].partition(";")[0]
    visit = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "accept": "text/html"}
    assert 'http-equiv="refresh"' in ask(door, **visit)[2]
    assert 'http-equiv="refresh"' not in ask(door, **visit | {"sec_fetch_site": "same-origin"})[2]
    assert ask(door, cookie=cookie, **visit)[2] == "inside"


@pytest.mark.parametrize("body", [b"token=" + b"x" * 5000, b"&".join([b"a=1"] * 40), b"\xff\xfe", b"", b"token="])
def test_odd_forms_are_no_token(door, body):
    form = {"content_type": "application/x-www-form-urlencoded", "origin": "http://localhost:8501"}
    assert ask(door, method="POST", body=body, **form)[0] == 401


def test_the_form_counts_and_not_the_address_it_is_sent_to(door):
    form = {"content_type": "application/x-www-form-urlencoded", "origin": "http://localhost:8501"}
    assert ask(door, "/plan", "token=wrong", "POST", f"token={TOKEN}".encode(), **form)[0] == 303
    assert ask(door, "/plan", f"token={TOKEN}", "POST", b"token=wrong", **form)[0] == 401


def test_the_page_says_where_the_token_is_and_shows_nothing_of_the_request(door):
    status, headers, page = ask(door, "/review", "token=%3Cscript%3E", accept="text/html")
    assert status == 401
    assert headers["cache-control"] == "no-store"
    assert "In the terminal where the program was started" in page
    assert 'role="alert"' in page
    assert "script" not in page
    assert TOKEN not in page
    for outside in ("http:", "//", "@import"):
        assert outside not in page.replace("https://example.org", "")


def test_one_connection_is_looked_up_once_and_a_later_one_from_its_port_again(door, monkeypatch):
    looked = []
    real = door_module.identify
    monkeypatch.setattr(door_module, "identify", lambda *ends: looked.append(1) or real(*ends))
    client = ("172.17.0.1", int("40001"))
    ask(door, client=client)
    ask(door, client=client)
    assert len(looked) == 1
    ask(door, client=("172.17.0.1", int("40001")))
    assert len(looked) == 2
    for port in range(door_module.MOST_CONNECTIONS + 5):
        ask(door, client=("172.17.0.1", port))
    assert len(door._connections) <= door_module.MOST_CONNECTIONS


@pytest.mark.parametrize(
    ("query", "token"), [(b"token=a", "a"), (b"x=1&token=a&token=b", "a"), (b"token=%FF", "\ufffd"), (b"", None)]
)
def test_token_of_a_query(query, token):
    assert parse_token(query) == token


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("https://Understudy.Example.org", "https://understudy.example.org"), ("http://a:80/", "http://a"),
        ("http://localhost:9000", "http://localhost:9000"), ("https://[::1]:8443", "https://[::1]:8443"),
    ],
)  # fmt: skip
def test_public_address(address, origin):
    assert origin_of(address) == origin


@pytest.mark.parametrize(
    "address", ["", "a.example", "ftp://a", "http://a/b", "http://u:p@a", "http://a?b", "http://a:x"]
)
def test_what_is_no_public_address_stops_the_start(address, capsys):
    with pytest.raises(SystemExit):
        start.options(["--public-address", address])
    assert "--public-address" in capsys.readouterr().err


def test_a_misspelt_option_stops_the_start(capsys):
    for words in (["--require-tokn"], ["--require"], ["--workspace", "/a", "b"]):
        with pytest.raises(SystemExit):
            start.options(words)
    assert "unrecognized arguments" in capsys.readouterr().err
    assert start.options(["--workspace", "/a", "--require-token"]) == start.Options(require_token=True)


def test_streamlit_looks_no_address_up(tmp_path):
    """Its own question about a foreign origin connects twice; after the start it cannot."""
    code = (
        "import sys\n"
        "from streamlit.web.server.server_util import is_url_from_allowed_origins as asked\n"
        "from pages._ui.door import start\n"
        "if sys.argv[1] == 'shut': start.look_nothing_up()\n"
        "print(asked('http://evil.example'))\n"
    )
    for how, reached in (("open", True), ("shut", False)):
        log = tmp_path / how
        log.touch()
        paths = f"{ROOT / 'tests' / 'netguard'}:{ROOT}"
        done = subprocess.run(
            [sys.executable, "-c", code, how],
            cwd=ROOT, capture_output=True, text=True, check=True, timeout=60,
            env={**__import__("os").environ, "UNDERSTUDY_NETGUARD": str(log), "PYTHONPATH": paths},
        )  # fmt: skip
        assert done.stdout.strip() == "False"
        assert bool(log.read_text()) is reached, quote(log.read_text())


def test_an_upload_stays_in_memory(monkeypatch):
    """A part of a form over a megabyte would be written to the temporary folder in clear."""
    from starlette.formparsers import MultiPartParser
    from starlette.requests import Request

    monkeypatch.setattr(MultiPartParser, "spool_max_size", MultiPartParser.spool_max_size)
    body = (
        b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\n'
        + b"a" * 3_000_000
        + b"\r\n--x--\r\n"
    )

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def on_disk():
        scope = {"type": "http", "method": "PUT", "headers": [(b"content-type", b"multipart/form-data; boundary=x")]}
        async with Request(scope, receive).form() as form:
            return form["f"].file._rolled

    def asked():
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, on_disk()).result()

    assert asked() is True
    start.keep_uploads_in_memory()
    assert asked() is False
    assert MultiPartParser.spool_max_size > 500 * 1024 * 1024, "as large as the settings allow an upload to be"
