"""The door in a real browser: what a visitor without the token sees, and the way in."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.browser.conftest import free_port, wait_until_healthy
from tests.door.conftest import ROOT, close, serve

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    """Yield a server that asks everybody: a browser of this account would come in as it is."""
    running = serve(tmp_path_factory.mktemp("asking"), "--require-token")
    yield running
    close(running)


def violations(page):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"{item['id']}: {item['nodes'][0]['html']}" for item in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1024, 1440])
def test_the_page_that_asks_is_accessible_and_asks_for_nothing_else(browser, asking, scheme, width, tmp_path):
    with browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme) as context:
        page, asked = context.new_page(), []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(asking.origin + "/review")
        assert page.get_by_role("heading", level=1).inner_text() == "Enter the token of this start"
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert violations(page) == []
        page.get_by_label("Token").fill("not the token")
        page.get_by_role("button", name="Open Understudy").click()
        assert "not the token of this start" in page.get_by_role("alert").inner_text()
        assert page.get_by_label("Token").input_value() == ""
        assert violations(page) == []
        page.screenshot(path=str(tmp_path / f"door-{scheme}-{width}.png"))
        assert [url for url in asked if not url.startswith((asking.origin, "data:"))] == []


def test_the_token_opens_the_page_that_was_asked_for(browser, asking):
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(asking.origin + "/ledger")
        page.get_by_label("Token").fill(f"  {asking.token} ")
        page.get_by_role("button", name="Open Understudy").click()
        page.get_by_role("heading", level=1, name="Ledger").wait_for()
        assert page.url == asking.origin + "/ledger"
        (cookie,) = [c for c in context.cookies() if c["name"] == f"understudy_{asking.port}"]
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["expires"]) == (True, "Strict", -1)
        assert cookie["name"] not in page.evaluate("document.cookie")


def test_the_printed_address_opens_the_program_and_leaves_no_token_behind(browser, asking):
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{asking.origin}/?token={asking.token}")
        page.get_by_role("heading", level=1, name="Home").wait_for()
        assert re.fullmatch(re.escape(asking.origin) + "/?", page.url)
        assert asking.token not in page.content()
        assert page.evaluate("performance.getEntriesByType('navigation').map(e => e.name).join()").count("token") == 0


def test_a_browser_of_this_account_is_not_asked(browser, served):
    with browser.new_context() as context:
        page, faults = context.new_page(), []
        page.set_default_timeout(60_000)
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.goto(served.origin)
        page.get_by_role("heading", level=1, name="Home").wait_for()
        assert faults == []
        assert [c["name"] for c in context.cookies() if c["name"].startswith("understudy")] == []


def test_a_page_started_without_the_door_shows_nothing(browser, tmp_path):
    port, log = free_port(), tmp_path / "log"
    command = [sys.executable, "-m", "streamlit", "run", "pages/_ui/main.py", "--server.headless", "true"]
    environment = {**os.environ, "UNDERSTUDY_WORKSPACE": str(tmp_path / "workspace")}
    with log.open("wb") as out, browser.new_context() as context:
        process = subprocess.Popen(
            [*command, "--server.port", str(port)], cwd=ROOT, env=environment, stdout=out, stderr=out
        )
        try:
            wait_until_healthy(f"http://localhost:{port}", process, log)
            page = context.new_page()
            page.goto(f"http://localhost:{port}")
            page.get_by_role("heading", level=1, name="The program was started without its door").wait_for()
        finally:
            process.terminate()
            process.wait(timeout=20)


def test_names_never_become_links(browser, tmp_path):
    """Markdown makes links of bare addresses even where each of its marks is escaped."""
    names = [
        "![b](http://a.example/n.png)",
        "https://a.example",
        "www.a.example",
        "ann@a.example",
        "mailto:b@a.example",
    ]
    script = tmp_path / "names.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\nimport streamlit as st\nfrom pages._ui.texts import plain\n"
        f"for name in {names!r}:\n    st.markdown(plain(name))\nst.title('All')\n"
    )
    port, log = free_port(), tmp_path / "log"
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.headless", "true"]
    with log.open("wb") as out, browser.new_context() as context:
        process = subprocess.Popen(
            [*command, "--server.port", str(port)], cwd=ROOT, env=dict(os.environ), stdout=out, stderr=out
        )
        try:
            wait_until_healthy(f"http://localhost:{port}", process, log)
            page = context.new_page()
            page.goto(f"http://localhost:{port}")
            page.get_by_role("heading", level=1, name="All").wait_for()
            shown = page.locator("[data-testid=stMarkdown] p")
            assert [text.replace("\u2060", "") for text in shown.all_inner_texts()] == names
            assert shown.locator("a, img").count() == 0
        finally:
            process.terminate()
            process.wait(timeout=20)


def test_a_page_of_another_port_cannot_open_a_socket(browser, served, tmp_path):
    """The attack itself: a page on another port of this machine tries to drive the program."""
    import functools
    import http.server
    import threading

    (tmp_path / "index.html").write_text("<!doctype html><title>x</title>")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as other, browser.new_context() as context:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        page = context.new_page()
        page.goto(f"http://localhost:{other.server_address[1]}/")
        said = page.evaluate(
            f"""async () => {{
              const socket = await new Promise(done => {{
                const s = new WebSocket("ws://localhost:{served.port}/_stcore/stream", ["streamlit"]);
                s.onopen = () => done("open"); s.onerror = () => done("refused");
              }});
              const read = await fetch("{served.origin}/_stcore/host-config").then(() => "read", () => "refused");
              const image = await new Promise(done => {{
                const i = new Image(); i.src = "{served.origin}/favicon.png";
                i.onload = () => done("shown"); i.onerror = () => done("refused");
              }});
              return [socket, read, image];
            }}"""
        )
        other.shutdown()
    assert said == ["refused", "refused", "refused"]
