"""Who gets in at a real server: this account without asking, nobody else without the token, no foreign page at all."""

from __future__ import annotations

import time
from urllib.parse import quote

import pytest

from tests.door.conftest import NOBODY, Served, as_account, close, serve

ROUTES = [
    ("GET", "/"), ("GET", "/review"), ("GET", "/_stcore/health"), ("GET", "/_stcore/metrics"),
    ("GET", "/_stcore/host-config"), ("GET", "/_stcore/stream"), ("GET", "/healthz"), ("GET", "/media/0123.png"),
    ("GET", "/component/a/index.html"), ("GET", "/_stcore/bidi-components/a/b.js"), ("GET", "/static/js/index.js"),
    ("GET", "/static/../app.py"), ("GET", "/_stcore/agent/v1/sessions"), ("GET", "/oauth2callback"),
    ("GET", "/nothing"), ("HEAD", "/"), ("OPTIONS", "/_stcore/upload_file/a/b"), ("PUT", "/_stcore/upload_file/a/b"),
    ("DELETE", "/_stcore/upload_file/a/b"), ("POST", "/_stcore/upload_file/a/b"),
]  # fmt: skip


def test_this_account_comes_in_as_it_is(served: Served):
    page = served.ask("/")
    assert page.status == 200
    assert "<script" in page.body
    assert "set-cookie" not in page.headers, "a cookie would be shown to every port of this host"
    assert served.connect(Origin=served.origin) == 101


def test_another_account_reaches_nothing_without_the_token(served: Served):
    def work() -> list[int]:
        return [
            *(served.ask(path, method).status for method, path in ROUTES),
            *(served.connect(Origin=origin) for origin in (served.origin, f"http://127.0.0.1:{served.port}")),
            served.connect(Host=f"127.0.0.1:{served.port}", Origin=f"http://127.0.0.1:{served.port}"),
        ]

    assert as_account(NOBODY, work) == [401] * len(ROUTES) + [403] * 3


def test_another_account_comes_in_with_the_token_and_only_then(served: Served):
    def work() -> list[object]:
        wrong = served.ask("/?token=" + "x" * 43)
        come = served.ask(f"/review?token={quote(served.token)}")
        cookie = come.headers["set-cookie"].partition(";")[0]
        return [
            wrong.status, come.status, come.headers["location"], come.headers["set-cookie"],
            served.ask("/", Cookie=cookie).status, served.connect(Origin=served.origin, Cookie=cookie),
            served.ask("/_stcore/health", Cookie=cookie + "x").status, served.ask("/").status, cookie,
        ]  # fmt: skip

    wrong, status, location, header, page, socket, changed, without, cookie = as_account(NOBODY, work)
    assert (wrong, status, location) == (401, 303, "/review")
    assert header.startswith(f"understudy_{served.port}=")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(header.split("; "))
    assert served.token not in header
    assert (page, socket, changed, without) == (200, 101, 401, 401)

    def thief() -> int:
        return served.ask("/", Cookie=str(cookie)).status

    assert as_account(NOBODY - 1, thief) == 401, "browsers show a cookie to every port, so it serves one account alone"


def test_the_form_swaps_the_token_for_a_cookie(served: Served):
    def work() -> list[object]:
        form = served.ask("/plan", "POST", body=f"token={quote(served.token)}", Origin=served.origin)
        foreign = served.ask("/plan", "POST", body=f"token={quote(served.token)}", Origin="http://localhost:3000")
        return [form.status, form.headers.get("location"), "set-cookie" in form.headers, foreign.status]

    assert as_account(NOBODY, work) == [303, "/plan", True, 403]


def test_the_address_of_this_account_loses_a_token_too(served: Served):
    come = served.ask(f"/?token={quote(served.token)}")
    assert (come.status, come.headers["location"]) == (303, "/")


# The nine ways in that were found open: each must be shut.
FOREIGN = ["http://localhost:3000", "http://127.0.0.1:3000", "https://localhost:{port}", "http://0.0.0.0:9999"]


@pytest.mark.parametrize(
    "origin",
    [*FOREIGN, "http://evil.example", "null", "file://", "http://localhost.evil.example", "http://[::1]:{port}"],
)
def test_a_page_of_another_origin_opens_no_socket(served: Served, origin):
    assert served.connect(Origin=origin.format(port=served.port)) == 403
    assert served.ask("/_stcore/health", Origin=origin.format(port=served.port)).status == 403


def test_a_socket_without_an_origin_is_refused(served: Served):
    assert served.connect() == 403


def test_a_foreign_origin_makes_the_program_look_nothing_up(served: Served):
    for origin in ("http://evil.example", "http://10.1.2.3:80"):
        assert served.connect(Origin=origin) == 403
        assert served.ask("/_stcore/host-config", Origin=origin).status == 403
    time.sleep(1.5)  # Streamlit would try for two seconds
    assert served.outside.read_text("utf-8") == ""
    assert "external IP" not in served.log.read_text("utf-8")


@pytest.mark.parametrize("path", ["/", "/_stcore/metrics", "/_stcore/health", "/static/js/x.js"])
@pytest.mark.parametrize("host", ["evil.example", "localhost", "localhost:1", "localhost.:{port}", "10.0.0.5:{port}"])
def test_the_program_answers_under_its_own_name_alone(served: Served, host, path):
    assert served.ask(path, Host=host.format(port=served.port)).status == 403


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-Forwarded-For", "127.0.0.1"), ("X-Forwarded-For", "10.0.0.5"), ("X-Forwarded-Host", "localhost"),
        ("X-Forwarded-Proto", "https"), ("Forwarded", "for=127.0.0.1"), ("X-Real-IP", "127.0.0.1"),
        ("Via", "1.1 proxy"),
    ],
)  # fmt: skip
def test_forwarding_headers_are_refused(served: Served, name, value):
    sent = {name.replace("-", "_"): value}
    assert served.ask("/", **sent).status == 403
    assert served.connect(Origin=served.origin, **sent) == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_can_visit_and_not_embed(served: Served, site):
    assert served.ask("/media/0123.png", Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors").status == 403
    assert served.ask("/", "POST", Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate").status == 403
    assert served.ask("/", Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate").status == 200


def test_the_token_is_printed_once_and_never_again(served: Served):
    def work() -> list[int]:
        come = served.ask(f"/?token={quote(served.token)}")
        return [come.status, served.ask("/?token=" + served.token[:-1]).status]

    assert as_account(NOBODY, work) == [303, 401]
    assert served.log.read_text("utf-8").count(served.token) == 1


def test_whoever_wants_is_asked_always(tmp_path):
    served = serve(tmp_path, "--require-token")
    try:
        assert served.ask("/").status == 401
        assert served.connect(Origin=served.origin) == 403
        cookie = served.ask(f"/?token={quote(served.token)}").headers["set-cookie"].partition(";")[0]
        assert served.ask("/", Cookie=cookie).status == 200
        assert served.connect(Origin=served.origin, Cookie=cookie) == 101
    finally:
        close(served)


def test_behind_a_named_proxy_everybody_is_asked_and_its_headers_pass(tmp_path):
    served = serve(tmp_path, "--public-address", "https://understudy.example.org")
    outside = {"Host": "understudy.example.org", "X_Forwarded_For": "127.0.0.1", "X_Forwarded_Proto": "https"}
    try:
        assert served.ask("/").status == 401
        assert served.ask("/", **outside).status == 401
        come = served.ask(f"/?token={quote(served.token)}", **outside)
        cookie = come.headers["set-cookie"].partition(";")[0]
        assert "Secure" in come.headers["set-cookie"]
        assert served.ask("/", Cookie=cookie, **outside).status == 200
        assert served.connect(Origin="https://understudy.example.org", Cookie=cookie, **outside) == 101
        assert served.connect(Origin=served.origin, Cookie=cookie, **outside) == 403
        assert f"https://understudy.example.org/?token={served.token}" in served.log.read_text("utf-8")
    finally:
        close(served)
