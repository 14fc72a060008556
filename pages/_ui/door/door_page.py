"""The pages a visitor sees at the door: one that asks for the token, one that says why a request is refused.

They load nothing, run no script, follow the reader's light or dark setting and hold no word of the visitor's request.
"""

from __future__ import annotations

import base64
import html
from functools import cache
from pathlib import Path

ICON = Path(__file__).resolve().parents[3] / "assets" / "icons" / "understudy.svg"
PROBLEMS = {
    "": "",
    "wrong": "This is not the token of this start. Copy the whole token; each start of the program prints another one.",
    "wait": "Too many wrong tokens came from where you are. Wait a minute, then try again.",
}
STYLE = """
:root { color-scheme: light dark; --paper: #fff; --panel: #f1f5f6; --ink: #0c1417; --soft: #46555b; --line: #5a6b72;
  --act: #0b6477; --on-act: #fff; --bad: #9b1c12; }
@media (prefers-color-scheme: dark) { :root { --paper: #11181b; --panel: #1a2429; --ink: #e6edef; --soft: #b4c2c8;
  --line: #8a9aa1; --act: #7cc7d8; --on-act: #0c1417; --bad: #ff9b90; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
main { max-width: 38rem; margin: 0 auto; padding: clamp(1.5rem, 8vh, 5rem) 1.5rem 3rem; }
.brand { display: flex; align-items: center; gap: .6rem; font-weight: 600; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 1.6rem 0 .8rem; }
h2 { font-size: 1rem; margin: 0 0 .4rem; }
p { margin: 0 0 1rem; }
section { background: var(--panel); border-radius: .4rem; padding: 1.1rem 1.25rem .3rem; margin: 1.75rem 0 0; }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
form { margin: 1.5rem 0 0; }
label { display: block; font-weight: 600; margin: 0 0 .35rem; }
.row { display: flex; flex-wrap: wrap; gap: .75rem; }
input, button { font: inherit; min-height: 2.75rem; border-radius: .35rem; padding: .4rem .8rem; }
input { flex: 1 1 18rem; min-width: 0; color: var(--ink); background: var(--paper); border: 1px solid var(--line); }
input[aria-invalid] { border-color: var(--bad); }
button { border: 1px solid var(--act); background: var(--act); color: var(--on-act); font-weight: 600; }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px; }
.problem { color: var(--bad); font-weight: 600; margin: .75rem 0 0; }
.soft { color: var(--soft); }
"""


@cache
def _icon() -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(ICON.read_bytes()).decode("ascii")


def _page(title: str, body: str, head: str = "") -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title} · Understudy</title>{head}'
        f'<link rel="icon" href="{_icon()}"><style>{STYLE}</style></head><body><main>'
        f'<div class="brand"><img src="{_icon()}" alt="" width="32" height="32">Understudy</div>{body}'
        "</main></body></html>"
    )


def token_page(problem: str = "") -> str:
    """Return the page that asks for the token and says where to find it; `problem` is a key of `PROBLEMS`."""
    words = PROBLEMS[problem]
    alert = f'<p class="problem" id="problem" role="alert">{words}</p>' if words else ""
    marks = ' aria-invalid="true" aria-describedby="problem"' if words else ' aria-describedby="where"'
    return _page(
        "Enter the token",
        "<h1>Enter the token of this start</h1>"
        "<p>This program holds private text. It opens by itself only for the account that started it, on the same "
        "machine. Everyone else shows the token: people at another account, in a container, or behind a forwarded "
        "port, and the starting account too where the program was told to ask everybody.</p>"
        '<form method="post" action=""><label for="token">Token</label><div class="row">'
        '<input id="token" name="token" type="password" autocomplete="off" autocapitalize="none" spellcheck="false" '
        f'required autofocus{marks}><button type="submit">Open Understudy</button></div>{alert}</form>'
        '<section id="where"><h2>Where to find it</h2>'
        "<p>In the terminal where the program was started, beneath its address: the line that ends in "
        "<code>?token=…</code>. Paste what follows the equals sign here, or open the whole line in this browser.</p>"
        '<p class="soft">A token is good until the program stops. If you did not start it, ask the person who did; '
        "whoever has the token can read and release everything in the workspace.</p></section>",
    )


def again_page() -> str:
    """Return a page that asks for itself once more, now as a page of this origin, so that the cookie is sent."""
    return _page(
        "One moment",
        '<h1>One moment</h1><p><a href="">Open Understudy</a></p>',
        head='<meta http-equiv="refresh" content="0">',
    )


def refusal_page(why: str, *, sign_in: bool = False) -> str:
    """Return the page that says why a request is refused, and what to do; nothing but that where people sign in."""
    said = f"<h1>This request is refused</h1><p>{html.escape(why)}</p>"
    if sign_in:
        return _page("Refused", said)
    return _page(
        "Refused",
        f"{said}<section><h2>If a proxy or a forwarded port should show this program</h2>"
        "<p>Start it with the address that browsers use; everybody is then asked for the token:</p>"
        "<p><code>streamlit run app.py -- --public-address https://example.org</code></p></section>",
    )
