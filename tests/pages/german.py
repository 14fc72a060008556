"""Reads a page as it is sent to the browser, and finds what of it is still English."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from pages._ui.language.catalogue import PLACEHOLDER, Catalogue, catalogue

UNSEEN = {
    "id",
    "key",
    "icon",
    "elementId",
    "formId",
    "type",
    "js",
    "css",
    "html",
    "mimeType",
    "fileName",
    "url",
    "fate",
    "htmlContent",
    "jsContent",
    "cssContent",
}


# Words of the engine that the catalogue has in another place: rules, questions, recognisers, values of a parameter.
ENGINES = frozenset({"Review", "Purpose", "Release", "Custom patterns", "none"})

THEIRS = ("The run fits. After it", "How the model is asked: from")  # sentences of the engine with such words in them


def german() -> Catalogue:
    found = catalogue("de")
    assert found is not None
    return found


def said(app: AppTest) -> list[str]:
    """Return every string that the page sends, what components and figures are given included."""
    return [text for root in (app.main, app.sidebar) for text in _of_block(root)]


def _of_block(block: Block) -> Iterator[str]:
    if block.proto is not None:
        yield from _strings(_fields(block.proto))
    for child in block.children.values():
        if isinstance(child, Block):
            yield from _of_block(child)
        elif getattr(child, "proto", None) is not None:
            yield from _strings(_fields(child.proto))


def _fields(message: Any) -> dict[str, Any]:
    """Return the fields of a message of Streamlit's that are set, messages in them too."""
    return {field.camelcase_name: _plain(value) for field, value in message.ListFields()}


def _plain(value: Any) -> Any:
    if hasattr(value, "ListFields"):
        return _fields(value)
    if hasattr(value, "values"):
        return [_plain(one) for one in value.values()]
    return value if isinstance(value, str | bytes | int | float) else [_plain(one) for one in value]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in UNSEEN:
                yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
    elif isinstance(value, str):
        if value[:1] in "{[":
            try:
                yield from _strings(json.loads(value))
                return
            except ValueError:
                pass
        yield value


def left_in_english(app: AppTest, allowed: tuple[str, ...] = ()) -> list[str]:
    """Return the English sentences of the catalogue that stand on the page though they have a German one."""
    there = german()
    forms = [source for source, to in there.single.items() if source != to]
    forms += [form for pair in there.plural for form in pair]
    texts = [
        text
        for text in said(app)
        if text.strip("*") not in ENGINES and not any(words in text for words in (*THEIRS, *allowed))
    ]
    found = []
    for source in forms:
        letters = re.sub(r"[^A-Za-z]", "", PLACEHOLDER.sub("", source))
        if len(letters) < (10 if "{" in source else 4):
            continue
        pattern = ".{1,200}?".join(
            re.escape(part) for part in re.split(PLACEHOLDER.pattern.replace("(", "(?:"), source)
        )
        # a short one counts where it is all that is said, a long one wherever it stands
        whole = re.compile(
            pattern if len(letters) > 16 and " " in source else rf"(?:\*\*)?{pattern}(?:\*\*)?", re.DOTALL
        )
        for text in texts:
            if whole.search(text) if len(letters) > 16 and " " in source else whole.fullmatch(text):
                found.append(f"{source!r} in {text[:120]!r}")
    return found
