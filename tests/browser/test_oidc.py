"""Signing in through an OpenID provider, in Chromium against a real one on loopback: who comes in, who does not."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import engine
from tests.browser.conftest import ROOT, Faults, free_port, wait_until_healthy
from tests.browser.provider import CLIENT, SECRET, Provider

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]


@dataclass
class Office:
    """A running program, its provider, its workspace and what it tried to reach beyond this machine."""

    url: str
    provider: Provider
    workspace: Path
    outside: Path
    log: Path


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    folder, port = tmp_path_factory.mktemp("oidc"), free_port()
    url, log, outside = f"http://localhost:{port}", folder / "log", folder / "outside"
    provider = Provider(f"{url}/oauth2callback")
    outside.touch()
    settings = folder / "secrets.toml"
    settings.write_text(
        f'[auth]\nredirect_uri = "{url}/oauth2callback"\ncookie_secret = "{secrets.token_urlsafe(48)}"\n'
        f'client_id = "{CLIENT}"\nclient_secret = "{SECRET}"\n'
        f'server_metadata_url = "{provider.issuer}/.well-known/openid-configuration"\n',
        "utf-8",
    )
    settings.chmod(0o600)
    workspace = engine.open_workspace(folder / "workspace")
    workspace.people.set("mara@example.org", "Mara Quill", ["custodian"])
    workspace.people.set("ilo@example.org", "Ilo Brandt", ["reviewer"])
    workspace.close()
    environment = {
        **os.environ,
        "UNDERSTUDY_WORKSPACE": str(folder / "workspace"),
        "UNDERSTUDY_NETGUARD": str(outside),
        "PYTHONPATH": str(ROOT / "tests" / "netguard"),
    }
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true", "--server.port",
               str(port), "--secrets.files", str(settings), "--", "--sign-in", "oidc", "--public-address", url,
               "--session-minutes", "1"]  # fmt: skip
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
    try:
        wait_until_healthy(url, process, log)
        yield Office(url, provider, folder / "workspace", outside, log)
    finally:
        process.terminate()
        process.wait(timeout=20)
        provider.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(30_000)
    yield opened
    context.close()


def title(page: Any, words: str) -> None:
    """Wait for a page's title."""
    page.get_by_role("heading", name=words, exact=True).first.wait_for()


def sign_in(office: Office, page: Any, name: str, **claims: Any) -> None:
    """Sign in as this account; where that ends is for the test."""
    office.provider.who(name, **claims)
    page.goto(office.url)
    title(page, "Please sign in")
    page.get_by_role("button", name="Sign in").click()


def inside(page: Any, name: str) -> None:
    """Wait until this person is in."""
    page.locator(".st-key-sidebar-who").get_by_text(name).wait_for()


def step(page: Any) -> None:
    """Press a button of the sidebar, so that the page is drawn again."""
    page.get_by_role("button", name="Quit …").click()


def lines(office: Office) -> list[dict[str, Any]]:
    workspace = engine.open_workspace(office.workspace)
    try:
        return workspace.audit.lines(limit=200).to_dict("records")
    finally:
        workspace.close()


def test_a_person_with_a_role_comes_in_and_nothing_else_is_reached(office, page):
    faults = Faults()
    faults.watch(page.context)
    sign_in(office, page, "mara")
    inside(page, "Mara Quill")
    assert not faults.found
    assert office.outside.read_text("utf-8") == ""
    assert office.provider.refused == []
    said = [line["action"] for line in lines(office)]
    assert "account of a person" in said
    assert "signed in" in said


def test_a_second_tab_is_signed_in_and_a_stranger_s_request_for_a_file_is_not(office, page, browser):
    sign_in(office, page, "mara")
    inside(page, "Mara Quill")
    tab = page.context.new_page()
    tab.goto(office.url)
    inside(tab, "Mara Quill")
    assert page.request.get(f"{office.url}/media/none.csv").status == 403, "no page gave it to this person"
    assert page.request.get(f"{office.url}/static/media/none.woff2").status != 403  # one of the browser's own
    stranger = browser.new_context()
    for path in ("/media/none.csv", "/_stcore/upload_file/a/b", "/component/x/y", "/_stcore/metrics"):
        assert stranger.request.get(office.url + path).status == 403, path
    stranger.close()


def test_somebody_without_a_role_is_told_so_and_may_leave(office, page):
    sign_in(office, page, "nobody")
    title(page, "You are signed in, but hold no role here")
    page.get_by_text("nobody@example.org", exact=True).wait_for()
    assert page.locator(".st-key-sidebar-who").count() == 0
    page.get_by_role("button", name="Sign out").click()
    title(page, "Please sign in")
    assert "sign-in without a role" in [line["action"] for line in lines(office)]


@pytest.mark.parametrize(
    ("claims", "says"),
    [
        ({"email_verified": False}, "has not verified your e-mail address"),
        ({"email_verified": "true"}, "has not verified your e-mail address"),
        ({"email": ""}, "sends no “email”"),
        ({"sub": "somebody-else", "email": "mara@example.org"}, "Another account of your provider"),
    ],
    ids=["not verified", "verified only in words", "no address", "another account with the same address"],
)
def test_what_the_provider_does_not_vouch_for_is_turned_away(office, page, browser, claims, says):
    first = browser.new_context().new_page()
    sign_in(office, first, "mara")
    inside(first, "Mara Quill")
    first.context.close()
    sign_in(office, page, "mara", **claims)
    page.get_by_text(says).wait_for()
    assert page.locator(".st-key-sidebar-who").count() == 0


def test_signing_out_ends_it_in_every_tab_and_for_a_copy_of_the_cookie(office, page, browser):
    sign_in(office, page, "mara")
    inside(page, "Mara Quill")
    copied = page.context.cookies()
    tab = page.context.new_page()
    tab.goto(office.url)
    inside(tab, "Mara Quill")
    page.get_by_role("button", name="Sign out").click()
    title(page, "Please sign in")
    step(tab)
    title(tab, "Please sign in again")
    thief = browser.new_context()
    thief.add_cookies(copied)
    opened = thief.new_page()
    opened.goto(office.url)
    title(opened, "Please sign in again")
    assert thief.request.get(f"{office.url}/media/none.csv").status == 403
    thief.close()


def test_a_person_whose_roles_were_taken_is_out_at_the_next_step(office, page):
    sign_in(office, page, "ilo")
    inside(page, "Ilo Brandt")
    workspace = engine.open_workspace(office.workspace)
    workspace.people.remove("ilo@example.org")
    step(page)
    title(page, "You are signed in, but hold no role here")
    workspace.people.set("ilo@example.org", "Ilo Brandt", ["reviewer"])
    workspace.close()


def test_forged_and_replayed_answers_let_nobody_in(office, page, browser):
    page.goto(f"{office.url}/oauth2callback?code=made-up&state=made-up")
    title(page, "Please sign in")
    sign_in(office, page, "mara")
    inside(page, "Mara Quill")
    used = office.provider.last_callback
    other = browser.new_context()
    opened = other.new_page()
    opened.goto(used)  # somebody who saw the address
    title(opened, "Please sign in")
    opened.close()
    before = office.provider.tokens
    page.goto(used)  # its own browser, once more
    inside(page, "Mara Quill")
    assert office.provider.tokens == before
    other.add_cookies([{"name": "_streamlit_user", "value": "InsibaXNfbG9nZ2VkX2luIjp0cnVlfSI.aaaa.bbbb",
                        "url": office.url}])  # fmt: skip
    opened = other.new_page()
    opened.goto(office.url)
    title(opened, "Please sign in")
    other.close()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda claims: claims.update(nonce="another"),
        lambda claims: claims.update(iss="http://evil.example"),
        lambda claims: claims.update(aud="another program"),
        lambda claims: claims.update(aud=["another program"], azp=CLIENT),
        lambda claims: claims.update(exp=int(time.time()) - 1000),
        lambda claims: claims.pop("sub"),
        None,
    ],
    ids=["nonce", "issuer", "audience", "audience, with our name beside it", "expired", "no subject", "key"],
)
def test_a_token_that_is_not_right_lets_nobody_in(office, page, spoil):
    office.provider.who("mara")
    page.goto(office.url)
    title(page, "Please sign in")
    if spoil is None:
        office.provider.foreign_key = True
    else:
        office.provider.spoil = spoil
    before = office.provider.tokens
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Please sign in").first.wait_for()
    for _ in range(100):
        if office.provider.tokens > before:
            break
        page.wait_for_timeout(100)
    page.wait_for_timeout(1500)
    assert office.provider.tokens == before + 1
    page.goto(office.url)
    page.get_by_role("heading", name="Please sign in").first.wait_for()
    assert page.locator(".st-key-sidebar-who").count() == 0


def read_on(office: Office, page: Any, name: str) -> Any:
    """Sign in, say why, and open the review; return its desk."""
    sign_in(office, page, name)
    page.locator(".st-key-sidebar-who").wait_for()
    page.get_by_role("link", name="Review").first.click()
    page.get_by_role("button", name="Show the text").click()
    desk = page.locator(".desk")
    desk.locator(".mark").first.wait_for()
    return desk


def test_two_reviewers_get_different_texts_and_see_who_has_what(office, page, browser):
    workspace = engine.open_workspace(office.workspace)
    corpus = workspace.corpora.import_sample("support_tickets")
    workspace.review.use_gold(corpus.id)
    order = workspace.review.order(corpus.id)
    workspace.close()
    first = read_on(office, page, "mara")
    first.get_by_role("button", name=order[0], exact=True).wait_for()
    assert first.locator("tr.current .open").inner_text() == order[0]
    other = browser.new_context(viewport={"width": 1360, "height": 900}).new_page()
    other.set_default_timeout(30_000)
    second = read_on(office, other, "ilo")
    theirs = second.locator("tr.current .open").inner_text()
    assert order.index(theirs) > 12, "the open text and the twelve that lie ready are Mara's"
    line = second.locator("tr").filter(has=other.get_by_role("button", name=order[0], exact=True))
    line.get_by_label("Mara Quill has it in hand").wait_for()
    second.get_by_role("button", name=order[1], exact=True).click()
    second.locator(".head", has_text="Mara Quill has it in hand").wait_for()
    page.keyboard.press("n")
    first.locator("tr.current .open", has_text=order[1]).wait_for()
    other.context.close()


def test_a_session_ends_after_a_rest_and_asks_the_provider_again(office, page):
    sign_in(office, page, "mara")
    inside(page, "Mara Quill")
    page.wait_for_timeout(61_000)
    tab = page.context.new_page()  # the cookie is still there
    tab.goto(office.url)
    tab.get_by_text("Nothing happened for 1 minute").wait_for()
    title(page, "Please sign in again")  # nobody pressed a key
    tokens = office.provider.tokens
    tab.get_by_role("button", name="Sign in again").click()
    inside(tab, "Mara Quill")
    assert office.provider.tokens == tokens + 1
