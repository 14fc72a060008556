"""Every page, view, role and state: text of records never goes where it would be read as Markdown, or be kept.

Text is drawn by the review desk, by tables and as plain text, which none of them reads as Markdown; everything else
that a page sends (sentences, titles, buttons, help, messages, names of downloads), the address, what Streamlit and the
program print, the log of the worker and every line of the audit log hold no run of six words of any record or output.

By default each role sees each page as it is; `-m long` goes through every view in every state.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from typing import Any

import pytest

from engine.store.people.roles import RIGHTS, Role
from pages._ui.navigation import PAGES
from tests.pages.test_auditor import at_work, failed, no_run, nothing, released
from tests.pages.test_sign_in import ROLES, members, signing_in

__all__ = ["members", "signing_in"]
WORDS = 6
TEXT = ("arrow_data_frame", "dataframe", "bidi_component", "text", "code", "plotly_chart", "text_area", "html", "table")
"""Kinds of elements that show text as it is."""
VIEWS = {
    "load": ("load.view", ("Load a file", "What was loaded")),
    "review": ("review.view", ("Text by text", "Value by value", "By type and confidence", "Named people",
                               "Spot check", "Detector settings")),
    "privacy": ("privacy.view", ("Leaks", "Proof and attacks", "People at risk", "Membership", "Curves",
                                 "Canaries and audit", "Groups", "All numbers")),
    "utility": ("utility.view", ("Measures", "Map of texts", "Lengths and phrases", "Classifier",
                                 "What the numbers mean", "All numbers")),
    "compare": ("compare.view", ("Board", "Side by side", "Table", "Texts", "Studies")),
    "ledger": ("ledger.scope", ("This corpus", "Whole workspace")),
}  # fmt: skip


def as_it_is(seeded: Any, workspace: Any) -> None:
    """Two examined runs."""


STATES = (as_it_is, nothing, no_run, at_work, failed, released)


def folded(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def runs_of(texts: Iterable[str]) -> set[tuple[str, ...]]:
    """Return every run of so many words."""
    found = set()
    for text in texts:
        words = folded(text)
        found |= {tuple(words[i : i + WORDS]) for i in range(len(words) - WORDS + 1)}
    return found


def holds(said: str, private: set[tuple[str, ...]]) -> list[str]:
    """Return the runs of private words that stand in what was said."""
    words = folded(said)
    return [" ".join(run) for i in range(len(words) - WORDS + 1) if (run := tuple(words[i : i + WORDS])) in private]


def sinks(app: Any) -> Iterable[tuple[str, str]]:
    """Yield kind and words of each element that does not show text as it is."""
    for part in app._tree.children.values():
        for element in part:
            if element.type not in TEXT:
                yield element.type, str(element.proto).encode().decode("unicode_escape", "replace")


def as_text(app: Any) -> Iterable[str]:
    """Yield what elements send that show text as it is."""
    for part in app._tree.children.values():
        for element in part:
            if element.type in TEXT:
                yield str(element.proto).encode().decode("unicode_escape", "replace")


def visited(visit: Any, seeded: Any, page: str, every: bool) -> Iterable[Any]:
    """Yield a page as it stands in each of its views, text shown for a reason where one is asked for."""
    app = visit(page, **{"_ui.run": seeded.run, "_ui.corpus": seeded.corpus})
    if any(str(one.key) == "sign_in.reason.give" for one in app.button):
        app.button(key="sign_in.reason.give").click().run()
    yield app
    key, views = VIEWS.get(page, ("", ()))
    for view in views if every else ():
        radio = next((one for one in app.radio if one.key == key), None)
        if radio is None or view not in radio.options:
            continue
        yield radio.set_value(view).run()


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    ("states", "every"),
    [
        pytest.param((as_it_is,), False, id="pages"),
        *(pytest.param((state,), True, id=state.__name__, marks=pytest.mark.long) for state in STATES),
    ],
)
def test_text_of_records_stays_out_of_sentences_addresses_and_logs(
    members, visit, signing_in, caplog, capfd, role, states, every
):
    caplog.set_level(logging.DEBUG)
    workspace = members.open()
    texts = [*workspace.corpora.records(members.corpus, limit=1000)["text"]]
    texts += [text for run in (members.run, members.other) for text in workspace.runs.synthetic_frame(run)["text"]]
    private = runs_of(texts)
    for state in states:
        state(members, workspace)
    workspace.close()
    signing_in["as"] = f"{role}@example.org"
    looked, drawn = 0, set()
    for info in PAGES:
        if info.right not in RIGHTS[Role(role)]:
            continue
        for app in visited(visit, members, info.id, every):
            assert not app.exception, info.id
            for kind, said in sinks(app):
                assert not holds(said, private), (info.id, kind)
                looked += 1
            assert not holds(str(dict(app.query_params)), private), info.id
            if any(holds(said, private) for said in as_text(app)):
                drawn.add(info.id)
    printed = "".join(capfd.readouterr()) + caplog.text
    assert not holds(printed, private)
    assert looked > 100
    assert (role == "auditor") == (not drawn) or {nothing, no_run} & set(states), (
        "text is drawn where a role may read it"
    )
    workspace = members.open()
    log = workspace.folder.worker_log
    assert not holds(log.read_text() if log.exists() else "", private)
    for line in workspace.audit.lines(limit=100_000)["detail"]:
        assert not holds(str(line), private)
    workspace.close()


def test_what_is_looked_for_is_found():
    """A text that went into a sentence, escaped or not, would be told."""
    text = "She came on Tuesday *because* of a sore knee that would not heal."
    private = runs_of([text])
    assert holds(f"Look: {text}", private)
    assert holds("she came on tuesday because of", private)
    assert not holds("She came on Tuesday because it rained.", private)
