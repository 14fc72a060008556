"""Behind an authenticating proxy: what the door believes of a request, and which starts it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages._ui import start
from pages._ui.addresses import Addresses
from pages._ui.door import Door
from pages._ui.peer import Peer
from pages._ui.sign_in.settings import SignIn
from tests.door.test_door import AWAY, TOKEN, ask, inner

PROXY = 65534
SECRET = b"s" * 32
AT = "--public-address https://data.example.org"
BY_ACCOUNT = SignIn("X-Forwarded-User", account=PROXY)
BY_SECRET = SignIn("X-Forwarded-User", secret=SECRET)


def door(sign_in: SignIn, uid: int | None, monkeypatch: pytest.MonkeyPatch) -> Door:
    monkeypatch.setattr("pages._ui.door.identify", lambda client, server: Peer("127.0.0.1", uid == 0, uid))
    return Door(inner, TOKEN, Addresses("https://data.example.org"), False, sign_in)


@pytest.mark.parametrize(
    ("uid", "headers", "status"),
    [
        (PROXY, {"X-Forwarded-User": "mara"}, 200),
        (PROXY, {}, 403),  # the proxy let somebody through whom it does not know
        (PROXY, {"X-Forwarded-User": ""}, 403),
        (PROXY, {"X-Forwarded-User": "m" * 121}, 403),
        (PROXY, {"X-Forwarded-User": "mara", "x-forwarded-user": "root"}, 403),  # the visitor's own, passed on
        (0, {"X-Forwarded-User": "mara"}, 403),  # even the account that the program runs as
        (1000, {"X-Forwarded-User": "mara"}, 403),
        (None, {"X-Forwarded-User": "mara"}, 403),
    ],
)
def test_a_header_counts_from_the_proxys_account_alone(uid, headers, status, monkeypatch):
    assert ask(door(BY_ACCOUNT, uid, monkeypatch), **headers)[0] == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"X-Forwarded-User": "mara", "x-understudy-proxy": SECRET.decode()}, 200),
        ({"X-Forwarded-User": "mara"}, 403),
        ({"X-Forwarded-User": "mara", "x-understudy-proxy": "s" * 31}, 403),
        ({"X-Forwarded-User": "mara", "x-understudy-proxy": SECRET.decode(), "X-Understudy-Proxy": "x"}, 403),
        ({"x-understudy-proxy": SECRET.decode()}, 403),
    ],
)
def test_a_header_counts_beside_the_proxys_secret(headers, status, monkeypatch):
    assert ask(door(BY_SECRET, None, monkeypatch), **headers)[0] == status


def test_the_token_of_the_start_opens_nothing_where_people_sign_in(monkeypatch):
    status, _, body = ask(door(BY_ACCOUNT, None, monkeypatch), query=f"token={TOKEN}", client=AWAY)
    assert (status, "sign-in" in body) == (403, True)
    status, headers, _ = ask(door(BY_ACCOUNT, PROXY, monkeypatch), query=f"token={TOKEN}", X_Forwarded_User="mara")
    assert (status, "set-cookie" in headers) == (200, False)


def test_another_host_is_refused_before_anybody_is_believed(monkeypatch):
    headers = {"X-Forwarded-User": "mara", "host": "evil.example"}
    assert ask(door(BY_ACCOUNT, PROXY, monkeypatch), **headers)[0] == 403


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--sign-in proxy --identity-header X-User --proxy-account root", "--public-address"),
        (f"--sign-in proxy {AT}", "--identity-header"),
        (f"--sign-in proxy {AT} --identity-header X-User", "anybody could send the header"),
        (f"--sign-in proxy {AT} --identity-header X\nY --proxy-account root", "--identity-header"),
        (f"--sign-in proxy {AT} --identity-header X-User --proxy-account nobody-of-this-name", "no such account"),
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
    assert chosen == SignIn("X-User", 5, None, SECRET)
    assert SECRET.decode() not in repr(chosen)


def test_a_twin_of_the_header_is_the_visitors_own():
    for twin in (b"x-forwarded-user", b"X_Forwarded_User", b"x-forwarded_user"):
        scope = {"headers": [(b"X-Forwarded-User", b"mara"), (twin, b"root")]}
        assert not BY_ACCOUNT.vouched(scope, Peer("127.0.0.1", False, PROXY))
    assert BY_ACCOUNT.vouched({"headers": [(b"x-forwarded-user", b"mara")]}, Peer("127.0.0.1", False, PROXY))
