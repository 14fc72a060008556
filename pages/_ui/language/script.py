"""Sentences that scripts of the browser say, found in their text: `say("…")`, `sayMany("…", "…", n)`, `data-say="…"`.

How to use: `language(js, html)` is what a component is given as `data["language"]`; `parts/say.js` looks it up there.
"""

from __future__ import annotations

import json
import re

from engine import JSON
from pages._ui.language import words
from pages._ui.language.catalogue import ENGLISH

LITERAL = r'"(?:[^"\\\n]|\\.)*"'
ONE = re.compile(rf"\bsay\(\s*({LITERAL})")
MANY = re.compile(rf"\bsayMany\(\s*({LITERAL})\s*,\s*({LITERAL})")
MARKED = re.compile(rf"\bdata-say(?:-label|-title)?=({LITERAL})")
REPEATS = 200  # numbers after which the forms of every language repeat each hundred


def sentences(*texts: str) -> list[str | tuple[str, str]]:
    """Return what scripts and pages of HTML say, pairs where there are two forms; each once, in order."""
    found: list[str | tuple[str, str]] = []
    for text in texts:
        found += [json.loads(one) for one in (*ONE.findall(text), *MARKED.findall(text))]
        found += [(json.loads(one), json.loads(many)) for one, many in MANY.findall(text)]
    return list(dict.fromkeys(found))


def language(*texts: str) -> dict[str, JSON]:
    """Return the translations of what scripts say, as `parts/say.js` reads them."""
    there = words.active()
    if there is None:
        return {"code": ENGLISH, "single": {}, "plural": {}, "forms": ""}
    said = sentences(*texts)
    return {
        "code": there.code,
        "single": {one: there.single[one] for one in said if isinstance(one, str) and one in there.single},
        "plural": {pair[0]: there.plural[pair] for pair in said if isinstance(pair, tuple) and pair in there.plural},
        "forms": "".join(str(there.form(n)) for n in range(REPEATS)),
    }
