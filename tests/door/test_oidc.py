"""Signing in through a provider: which claims count, which starts are refused, what the door lets pass."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from streamlit import config
from streamlit.runtime.secrets import secrets_singleton
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from pages._ui.door import start
from pages._ui.door.addresses import Addresses
from pages._ui.door.door import Door
from pages._ui.door.peer import Peer
from pages._ui.sign_in import oidc, provider
from pages._ui.sign_in.oidc import NotCountedError, Oidc, SignIns
from tests.door.test_door import TOKEN, ask, inner

AT = "https://data.example.org"
COOKIE_SECRET = "q8Zk2Lw0vXb7Rm4Tn1Yc9Ud6Pf3Ge5Hj"
GOOD = f'''[auth]
redirect_uri = "{AT}/oauth2callback"
cookie_secret = "{COOKIE_SECRET}"
client_id = "understudy"
client_secret = "hidden-from-messages"
server_metadata_url = "https://id.example.org/.well-known/openid-configuration"
'''
WORDS = ["--sign-in", "oidc", "--public-address", AT]


def claims(**changed: object) -> dict[str, object]:
    return {"is_logged_in": True, "iss": "https://id.example.org", "sub": "7", "aud": "understudy", "nonce": "n",
            "iat": time.time(), "email": "mara@example.org", "email_verified": True, **changed}  # fmt: skip


def way(claim: str = "email", minutes: int = 30) -> Oidc:
    return Oidc(AT, "understudy", claim, minutes, SignIns(minutes))


def test_a_verified_address_names_the_person_and_the_subject_is_the_account():
    found = way().signed_in(claims())
    assert found is not None
    assert (found.identity, found.account) == ("mara@example.org", "https://id.example.org|7")
    assert way("sub").signed_in(claims(email_verified=False)).identity == "https://id.example.org|7"
    assert way("upn").signed_in(claims(upn="mq")).identity == "mq"
    assert way().signed_in({}) is None
    assert way().signed_in(claims(is_logged_in="true")) is None


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"email_verified": False}, "not verified"),
        ({"email_verified": "true"}, "not verified"),
        ({"email_verified": None}, "not verified"),
        ({"email_verified": 1}, "not verified"),
        ({"email": None}, "sends no"),
        ({"email": "  "}, "sends no"),
        ({"email": ["mara@example.org"]}, "sends no"),
        ({"email": "m" * 121}, "cannot be a name"),
        ({"email": "mara@example.org\u200b\n"}, "cannot be a name"),
        ({"email": "ｍara@example.org"}, "cannot be a name"),
        ({"iss": ""}, "whose account"),
        ({"sub": 7}, "whose account"),
        ({"iat": "now"}, "when you signed in"),
        ({"iat": True}, "when you signed in"),
        ({"aud": "another"}, "another program"),
        ({"aud": ["another"]}, "another program"),
        ({"aud": None}, "another program"),
        ({"iat": lambda: time.time() + 1000}, "clock"),
        ({"iat": lambda: time.time() - 90}, "started again"),
    ],
)
def test_claims_that_vouch_for_nobody_are_refused_with_a_sentence(changed, says):
    with pytest.raises(NotCountedError, match=says):
        way().signed_in(claims(**{name: said() if callable(said) else said for name, said in changed.items()}))


def test_a_sign_in_ends_by_rest_by_leaving_and_after_a_day_s_work(monkeypatch):
    chosen, given = way(minutes=1), claims()
    key = chosen.signed_in(given).key
    chosen.sign_ins.use(key)
    clock = time.monotonic()
    monkeypatch.setattr(oidc.time, "monotonic", lambda: clock + 59)
    chosen.signed_in(given)
    chosen.sign_ins.use(key)
    monkeypatch.setattr(oidc.time, "monotonic", lambda: clock + 125)
    with pytest.raises(NotCountedError, match="Nothing happened"):
        chosen.signed_in(given)
    assert chosen.signed_in(claims(nonce="another")) is not None  # signed in anew
    chosen.sign_ins.use(key)
    chosen.signed_in(given)
    chosen.sign_ins.end(key)
    with pytest.raises(NotCountedError, match="signed out"):
        chosen.signed_in(given)
    chosen.sign_ins.begun -= 100_000
    with pytest.raises(NotCountedError, match="12 hours"):
        chosen.signed_in(claims(iat=time.time() - 12 * 3600 - 1))


def test_a_cookie_that_this_process_never_saw_used_counts_no_longer_than_a_rest():
    chosen = way(minutes=1)
    chosen.sign_ins.begun -= 1000
    with pytest.raises(NotCountedError, match="Nothing happened"):
        chosen.signed_in(claims(iat=time.time() - 61))


def test_old_sign_ins_are_forgotten_and_ended_ones_that_could_still_count_are_not(monkeypatch):
    monkeypatch.setattr(oidc, "MOST_SIGN_INS", 10)
    sign_ins, clock = SignIns(1), time.monotonic()
    monkeypatch.setattr(oidc.time, "monotonic", lambda: clock - 13 * 3600)
    for number in range(10):
        sign_ins.end(f"old {number}")
    monkeypatch.setattr(oidc.time, "monotonic", lambda: clock)
    for number in range(20):
        sign_ins.end(f"new {number}")
    assert len(sign_ins._ended) == 20


@pytest.fixture
def secrets_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that puts words into secrets.toml."""
    path = tmp_path / "secrets.toml"
    asked = config.get_option

    def get_option(name: str) -> object:
        return [str(path)] if name == "secrets.files" else asked(name)

    monkeypatch.setattr(config, "get_option", get_option)
    monkeypatch.setattr("streamlit.runtime.secrets.config.get_option", get_option)

    def put(words: str | None, mode: int = 0o600) -> None:
        secrets_singleton._reset()
        path.unlink(missing_ok=True)
        if words is not None:
            path.write_text(words, "utf-8")
            path.chmod(mode)

    yield put
    secrets_singleton._reset()


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit):
        start.options(words)
    return capsys.readouterr().err


def test_a_start_with_a_whole_file_is_accepted(secrets_file):
    secrets_file(GOOD)
    chosen = start.options([*WORDS, "--session-minutes", "7"]).sign_in
    assert chosen == Oidc(AT, "understudy", "email", 7)
    assert chosen.sign_ins.minutes == 7
    assert start.options([*WORDS, "--identity-claim", "sub"]).sign_in.claim == "sub"


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("[auth]", "[other]", "no [auth]"),
        ("[auth]", "[auth", "no [auth]"),
        (f"{AT}/oauth2callback", "https://evil.example/oauth2callback", "redirect_uri"),
        (f"{AT}/oauth2callback", f"{AT}/oauth2callback/", "redirect_uri"),
        (COOKIE_SECRET, "short", "cookie_secret"),
        (COOKIE_SECRET, "abc" * 20, "cookie_secret"),
        ('client_id = "understudy"', "", "client_id"),
        ("hidden-from-messages", " ", "client_secret"),
        ("https://id.example.org/", "http://id.example.org/", "server_metadata_url"),
        ("[auth]", '[auth]\nexpose_tokens = "id"', "expose_tokens"),
        ("[auth]", "[auth]\nclient_kwargs = { verify = false }", "client_kwargs"),
        ("[auth]", '[auth]\nclient_kwargs = { scope = "openid" }', "scope"),
        ("[auth]", '[auth]\nclient_kwargs = { scope = "email" }', "scope"),
    ],
)
def test_a_provider_s_settings_that_let_in_too_many_stop_the_start(secrets_file, capsys, before, after, says):
    assert before in GOOD
    secrets_file(GOOD.replace(before, after, 1))
    said = refused(WORDS, capsys)
    assert says in said
    assert "hidden-from-messages" not in said
    assert COOKIE_SECRET not in said


def test_a_start_without_what_it_needs_is_refused(secrets_file, capsys, monkeypatch):
    secrets_file(None)
    assert "no [auth]" in refused(WORDS, capsys)
    secrets_file(GOOD, 0o644)
    assert "mode 600" in refused(WORDS, capsys)
    secrets_file(GOOD)
    assert "--public-address" in refused(["--sign-in", "oidc"], capsys)
    assert "of https" in refused(["--sign-in", "oidc", "--public-address", "http://data.example.org"], capsys)
    assert "--sign-in oidc" in refused(["--identity-claim", "sub"], capsys)
    assert "--sign-in proxy" in refused([*WORDS, "--identity-header", "X-User"], capsys)
    assert "--identity-claim" in refused([*WORDS, "--identity-claim", "a b"], capsys)
    monkeypatch.setattr(provider, "is_authlib_installed", lambda: False)
    assert "Authlib" in refused(WORDS, capsys)


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("server.trustedUserHeaders", {"X-User": "email"}, "trustedUserHeaders"),
        ("server.baseUrlPath", "app", "baseUrlPath"),
        ("server.enableXsrfProtection", False, "Xsrf"),
    ],
)
def test_streamlit_s_own_settings_that_weaken_it_stop_the_start(secrets_file, capsys, monkeypatch, option, value, says):
    secrets_file(GOOD)
    asked = config.get_option
    monkeypatch.setattr(config, "get_option", lambda name: value if name == option else asked(name))
    assert says in refused(WORDS, capsys)


def door(monkeypatch: pytest.MonkeyPatch, chosen: Oidc) -> Door:
    monkeypatch.setattr("pages._ui.door.door.identify", lambda client, server: Peer("127.0.0.1", True, 0))
    monkeypatch.setattr(oidc, "get_cookie_secret", lambda: COOKIE_SECRET)
    return Door(inner, TOKEN, Addresses(AT), False, chosen)


def cookie(secret: str = COOKIE_SECRET, origin: str = AT, **changed: object) -> str:
    value = json.dumps({**claims(**changed), "origin": origin})
    return "_streamlit_user=" + create_signed_value(secret, "_streamlit_user", value).decode()


@pytest.mark.parametrize("path", ["/", "/review", "/auth/login", "/oauth2callback", "/static/js/a.js",
                                  "/_stcore/health", "/review/_stcore/host-config"])  # fmt: skip
def test_what_holds_nothing_is_open_to_be_read(monkeypatch, path):
    assert ask(door(monkeypatch, way()), path=path)[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/media/a.csv",
        "//media/a.csv",
        "/_stcore/upload_file/a/b",
        "/component/a/b",
        "/app/static/a",
        "/_stcore/agent/interact",
        "/_stcore/metrics",
        "/auth/other",
    ],
)
def test_files_need_the_cookie_of_a_sign_in_that_counts(monkeypatch, path):
    chosen = way()
    entry = door(monkeypatch, chosen)
    monkeypatch.setattr("pages._ui.sign_in.given.may_fetch", lambda chosen, scope: True)  # test_given asks that
    assert ask(entry, path=path)[0] == 403
    assert ask(entry, path=path, cookie=cookie())[0] == 200
    for bad in (
        cookie(secret=COOKIE_SECRET + "x"),
        cookie(origin="https://other.example"),
        cookie(email_verified=False),
        cookie(iat=time.time() - 5000),
        cookie()[:-12] + "A" * 12,
        "_streamlit_user=x",
    ):
        assert ask(entry, path=path, cookie=bad)[0] == 403, bad
    given = claims(nonce="ends")
    chosen.sign_ins.end(chosen.signed_in(given).key)
    assert ask(entry, path=path, cookie=cookie(**given))[0] == 403
    assert ask(entry, path="/", query=f"token={TOKEN}")[0] == 200  # the token is of no use, and no harm
