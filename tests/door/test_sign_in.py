"""Behind an authenticating proxy: what the door believes of a request, and which starts it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages._ui.door import start
from pages._ui.door.addresses import Addresses
from pages._ui.door.door import Door
from pages._ui.door.peer import Peer
from pages._ui.sign_in.settings import SignIn
from tests.door.test_door import AWAY, TOKEN, ask, inner

SECRET = b"s" * 32
AT = "--public-address https://data.example.org"
SIGN_IN = SignIn("X-Forwarded-User", SECRET)
SAID = {"x-understudy-proxy": SECRET.decode()}


def door(monkeypatch: pytest.MonkeyPatch, own: bool = False) -> Door:
    monkeypatch.setattr(
        "pages._ui.door.door.identify", lambda client, server: Peer("127.0.0.1", own, 0 if own else None)
    )
    return Door(inner, TOKEN, Addresses("https://data.example.org"), False, SIGN_IN)


@pytest.mark.parametrize("own", [False, True], ids=["anybody", "the account the program runs as"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"X-Forwarded-User": "mara", **SAID}, 200),
        ({"X-Forwarded-User": "mara"}, 403),
        ({"X-Forwarded-User": "mara", "x-understudy-proxy": "s" * 31}, 403),
        ({"X-Forwarded-User": "mara", **SAID, "X-Understudy-Proxy": "x"}, 403),
        (SAID, 403),  # the proxy let somebody through whom it does not know
        ({"X-Forwarded-User": "", **SAID}, 403),
        ({"X-Forwarded-User": "m" * 121, **SAID}, 403),
        ({"X-Forwarded-User": "mara", "x-forwarded-user": "root", **SAID}, 403),  # the visitor's own, passed on
        ({"X-Forwarded-User": "mara", "X-Forwarded-For": "127.0.0.1:1"}, 403),
    ],
)
def test_a_header_counts_beside_the_proxys_secret_alone(headers, status, own, monkeypatch):
    assert ask(door(monkeypatch, own), **headers)[0] == status


def test_the_token_of_the_start_opens_nothing_where_people_sign_in(monkeypatch):
    status, _, body = ask(door(monkeypatch, own=True), query=f"token={TOKEN}", client=AWAY)
    assert (status, "sign-in" in body) == (403, True)
    status, headers, _ = ask(door(monkeypatch), query=f"token={TOKEN}", X_Forwarded_User="mara", **SAID)
    assert (status, "set-cookie" in headers) == (200, False)


def test_another_host_is_refused_before_anybody_is_believed(monkeypatch):
    headers = {"X-Forwarded-User": "mara", "host": "evil.example", **SAID}
    assert ask(door(monkeypatch), **headers)[0] == 403


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--sign-in proxy --identity-header X-User", "--public-address"),
        (f"--sign-in proxy {AT}", "--identity-header"),
        (f"--sign-in proxy {AT} --identity-header X-User", "anybody could send the header"),
        (f"--sign-in proxy {AT} --identity-header X\nY", "--identity-header"),
        ("--identity-header X-User", "--sign-in proxy"),
        (f"--sign-in proxy {AT} --session-minutes 0", "1 to 1440"),
        ("--sign-in magic", "invalid choice"),
    ],
)
def test_a_start_that_would_believe_anybody_is_refused(words, says, capsys):
    with pytest.raises(SystemExit):
        start.options(words.split(" "))
    assert says in capsys.readouterr().err


def test_a_secret_is_one_long_line_that_nobody_else_reads(tmp_path: Path, capsys):
    path = tmp_path / "secret"
    words = ["--sign-in", "proxy", *AT.split(), "--identity-header", "X-User", "--proxy-secret-file", str(path)]
    for content, mode, says in (
        (SECRET, 0o644, "mode 600"),
        (b"short", 0o600, "at least"),
        (b"a" * 30 + b"\nb", 0o600, "one line"),
    ):
        path.write_bytes(content)
        path.chmod(mode)
        with pytest.raises(SystemExit):
            start.options(words)
        assert says in capsys.readouterr().err
    path.write_bytes(SECRET + b"\n")
    path.chmod(0o600)
    chosen = start.options([*words, "--session-minutes", "5"]).sign_in
    assert chosen == SignIn("X-User", SECRET, 5)
    assert SECRET.decode() not in repr(chosen)


def test_a_twin_of_the_header_is_the_visitors_own():
    for twin in (b"x-forwarded-user", b"X_Forwarded_User", b"x-forwarded_user"):
        mine = [(b"X-Forwarded-User", b"mara"), (b"X-Understudy-Proxy", SECRET)]
        assert SIGN_IN.vouched({"headers": mine})
        assert not SIGN_IN.vouched({"headers": [*mine, (twin, b"root")]})
