"""Helpers of the pages that need no server: segments, paging, texts, parameters, headers."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import time
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from engine.pii.spans import LABELS
from pages._ui import texts
from pages._ui.client import workspace_path
from pages._ui.corpus.detector import parse_known
from pages._ui.door.headers import content_security_policy, inline_script_hashes
from pages._ui.language import words
from pages._ui.methods import parameters
from pages._ui.parts.highlight import LABEL_HUES, Mark, segments
from pages._ui.parts.pager import digest, pages_of
from pages._ui.parts.progress import silence
from tests.pages.german import german


class TestSegments:
    def test_marks_carry_their_fields_and_plain_text_does_not(self):
        parts = segments("To Ann.", [Mark(3, 6, "person name", hue=0, strength=0.4, decided=True)])
        assert [part["text"] for part in parts] == ["To ", "Ann", "."]
        fields = {"label": "person name", "hue": 0, "strength": 0.4, "decided": True, "fate": ""}
        assert parts[1] == {"text": "Ann", **fields}
        assert "label" not in parts[0]

    def test_offsets_count_code_points_not_utf16_units(self):
        text = "😀😀 Zoë"  # each face is one code point and two UTF-16 units
        assert [part["text"] for part in segments(text, [Mark(3, 6, "person name")])] == ["😀😀 ", "Zoë"]

    def test_overlap_keeps_the_earlier_mark_whole(self):
        parts = segments("abcdef", [Mark(0, 4, "a"), Mark(2, 6, "b"), Mark(3, 4, "c")])
        assert [(part["text"], part.get("label")) for part in parts] == [("abcd", "a"), ("ef", "b")]

    @settings(suppress_health_check=[HealthCheck.too_slow])  # drawing texts is slow where a machine is busy
    @given(
        st.text(max_size=60),
        st.lists(st.tuples(st.integers(-5, 70), st.integers(-5, 70)), max_size=8),
    )
    def test_segments_always_join_to_the_text(self, text, places):
        marks = [Mark(start, end, "x") for start, end in places]
        assert "".join(part["text"] for part in segments(text, marks)) == text

    def test_every_label_has_a_hue(self):
        assert set(LABEL_HUES) == set(LABELS)


@pytest.mark.parametrize(
    ("total", "size", "pages"),
    [(0, 25, 1), (1, 25, 1), (25, 25, 1), (26, 25, 2), (20_706, 25, 829)],
)
def test_pages_of(total, size, pages):
    assert pages_of(total, size) == pages


def test_digest_follows_rows_and_order():
    assert digest(["a", "b"]) != digest(["b", "a"])
    assert digest(["ab", "c"]) != digest(["a", "bc"])
    assert len(digest([])) == 12


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("plain", "plain"),
        ("![x](http://a.example)", r"\!\[x\](http:" + "\u2060//a.example)"),
        ("HTTPS://a.example", "HTTPS:\u2060//a.example"),
        ("www.a.example", "www\u2060.a.example"),
        ("ann@a.example", "ann\u2060@a.example"),
        ("room @ 5, ratio 3:4//2", "room @ 5, ratio 3:4//2"),
        ("<img src=x>", r"\<img src=x\>"),
        ("two\nlines `code`", r"two lines \`code\`"),
        ("$a$ :red[b]", r"\$a\$ :red\[b\]"),
    ],
)
def test_plain_escapes_markdown(given_text, shown):
    assert texts.plain(given_text) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (float("nan"), "–"), (20706, "20,706"), (0.5, "0.50"), (3.0, "3"), (1234.567, "1,234.57")],
)
def test_number(value, shown):
    assert texts.number(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "unknown"),
        (0.2, "less than a second"),
        (12.4, "12 s"),
        (59.6, "1 min"),
        (84, "1 min 24 s"),
        (120, "2 min"),
        (7200, "2.0 h"),
    ],
)
def test_seconds(value, shown):
    assert texts.seconds(value) == shown


def test_count_of():
    assert [texts.count_of(n, "match", "matches") for n in (0, 1, 2000)] == ["0 matches", "1 match", "2,000 matches"]


def test_a_worker_that_lives_and_is_silent_is_named(tmp_path):
    from engine.jobs.worker.launch import STALE_SECONDS, worker_status
    from engine.jobs.worker.lock import ProcessLock
    from engine.store.disk.folder import Folder

    folder = Folder(tmp_path)
    assert silence(worker_status(folder)) is None, "there is no worker"
    lock = ProcessLock(folder.worker_lock)
    assert lock.acquire()
    try:
        assert silence(worker_status(folder)) is None, "it is starting and has no heartbeat yet"
        folder.worker_beat.touch()
        assert silence(worker_status(folder)) is None
        past = time.time() - STALE_SECONDS - 5
        os.utime(folder.worker_beat, (past, past))
        assert "has not answered for 35 s" in str(silence(worker_status(folder)))
    finally:
        lock.release()


def test_a_job_whose_row_is_gone_makes_the_page_run_again_and_quiet_ones_are_not_shown(tmp_path, monkeypatch):
    from types import SimpleNamespace

    import engine
    from pages._ui.parts import progress

    asked = []
    monkeypatch.setattr(progress.st, "rerun", lambda: asked.append(1))
    workspace = engine.open_workspace(tmp_path / "workspace")
    assert progress.still_running(workspace, "j-gone") is None
    assert asked == [1]
    jobs = [
        SimpleNamespace(kind=kind, state="running", created="1", corpus_id=None, run_id=None)
        for kind in ("account", "signal", "detect")
    ]
    several = SimpleNamespace(jobs=SimpleNamespace(all=lambda active_only: jobs))
    assert progress.running_job(several).kind == "detect"
    assert progress.running_job(several, kind="signal").kind == "signal"


@pytest.mark.parametrize(("waited", "told"), [(2, False), (130, True)])
def test_a_job_that_gets_ready_for_long_says_since_when(waited, told):
    from datetime import UTC, datetime, timedelta
    from types import SimpleNamespace

    from pages._ui.parts import progress

    began = (datetime.now(UTC) - timedelta(seconds=waited)).isoformat(timespec="milliseconds")
    job = SimpleNamespace(state="running", stopping=False, whole=None, done=0, started=began)
    assert progress.status_line(job).startswith("Getting ready")
    assert ("2 min" in progress.status_line(job)) is told
    job.started = None
    assert progress.status_line(job) == "Getting ready"


def test_a_browser_is_known_by_its_token_whatever_the_mask():
    from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

    from pages._ui.reload import unmasked

    token = bytes(range(16))
    first, second = (generate_xsrf_token_string(token, 1) for _ in range(2))
    assert first != second
    assert unmasked(first) == unmasked(second) == token
    for broken in ("", "2|zz|00|1", "2||00|1", "2|00", "a|b|c|d"):
        assert unmasked(broken) == b""


def test_a_page_names_no_command_for_what_is_done_on_it():
    from engine.dp.ledger import ASKED, UNKNOWN
    from pages._ui.texts import on_page

    for sentence in (UNKNOWN, ASKED):
        assert "--" in sentence
        assert "--" not in on_page(sentence)
        assert on_page(sentence).endswith(", then run.")
    assert on_page("Nothing to leave out (or so).") == "Nothing to leave out (or so)."
    assert on_page("Bring one in on the Pools page (`pool import`), then name it.").endswith(
        "Pools page, then name it."
    )


def test_known_identifiers_take_plain_type_names():
    assert parse_known("Ann Lee\nLyon | place\nX-7|CODE\n\n | place") == [
        {"value": "Ann Lee", "label": "PERSON"},
        {"value": "Lyon", "label": "LOCATION"},
        {"value": "X-7", "label": "CODE"},
    ]


class Settings(BaseModel):
    rate: float = Field(0.5, gt=0, le=1, description="Share kept.")
    count: int = Field(3, ge=1, description="How many.")
    way: Literal["a", "b"] = "a"
    words: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rate", "Share kept. Above 0, at most 1. Default 0.5."),
        ("count", "How many. At least 1. Default 3."),
        ("way", "Default a."),
        ("words", "Default nothing."),
    ],
)
def test_parameters_are_described_with_range_and_default(name, text):
    assert parameters.describe(Settings.model_fields[name]) == text


@pytest.mark.parametrize(
    ("arguments", "environment", "path"),
    [
        (["--workspace", "/a"], "/b", "/a"),
        (["--workspace=/a"], "", "/a"),
        ([], "/b", "/b"),
        (["--workspace"], "", None),
        ([], " ", None),
    ],
)
def test_workspace_is_named_by_argument_then_environment(arguments, environment, path, monkeypatch):
    monkeypatch.setenv("UNDERSTUDY_WORKSPACE", environment)
    assert workspace_path(arguments) == (Path(path) if path else None)


def test_policy_allows_exactly_the_inline_scripts_of_the_installed_page():
    import streamlit

    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text("utf-8")
    hashes = inline_script_hashes(page)
    assert len(hashes) == page.count("<script>") >= 1
    body = page.split("<script>")[1].split("</script>")[0]
    assert hashes[0] == f"'sha256-{base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()}'"
    policy = content_security_policy()
    scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert all(value in scripts for value in hashes)
    assert "unsafe" not in scripts
    assert "http" not in policy
    assert "connect-src 'self';" in policy, "no socket to anybody else"


def test_two_runs_of_one_minute_have_two_names():
    from pages._ui.current import distinct

    assert distinct({"a": "Filter, 16:32", "b": "Filter, 16:32", "c": "Other", "d": "Filter, 16:32"}) == {
        "a": "Filter, 16:32",
        "b": "Filter, 16:32 (2)",
        "c": "Other",
        "d": "Filter, 16:32 (3)",
    }


def test_a_grey_block_goes_when_the_part_is_there_or_fails():
    from streamlit.testing.v1 import AppTest

    def page() -> None:
        import time

        import streamlit as st

        from pages._ui.parts import loading

        try:
            with loading.waiting(loading.BOX):
                time.sleep(0.7)  # Streamlit shows the block after half a second
                raise ValueError
        except ValueError:
            st.markdown("It failed.")
        st.markdown("Below.")

    app = AppTest.from_function(page, default_timeout=30).run()
    assert [m.value for m in app.markdown] == ["It failed.", "Below."]
    assert not app.get("skeleton")


@pytest.mark.parametrize(
    ("language", "first", "signs"),
    [
        (lambda: None, "assessment file", ["δ (delta)", "ε (epsilon)"]),
        (german, "Angriffsprobe", ["δ (Delta)", "ε (Epsilon)"]),
    ],
)
def test_the_glossary_goes_by_the_alphabet_of_what_is_shown(monkeypatch, language, first, signs):
    monkeypatch.setattr(words, "active", language)
    shown = [term for term, _ in texts.glossary()]
    assert len(shown) == len(set(shown)) == len(texts.GLOSSARY)
    assert (shown[0], [term for term in shown if term[0] in "δε"]) == (first, signs)
    plain = [re.sub(r"^[δε] \(", "", term).casefold().translate(str.maketrans("äöü", "aou")) for term in shown]
    assert plain == sorted(plain)


def test_less_than_all_is_not_said_to_be_all():
    from pages._ui.texts import share

    assert [share(value, 0) for value in (1.0, 0.9966, 0.994, 0.3, 0.0, 1.25)] == [
        "100%", "99%", "99%", "30%", "0%", "125%",
    ]  # fmt: skip
    assert (share(0.99996), share(0.9996), share(1.0 - 1e-15)) == ("99.9%", "99.9%", "100.0%")


def test_a_bound_of_a_thousand_is_whole_where_it_is_a_whole_number():
    from pages._ui.review.spot import of_a_thousand

    ends = (50.0, 49.96, 12.34, 12.3, 0.04, 0.0)
    assert [of_a_thousand(value) for value in ends] == ["50", "50", "12.4", "12.3", "0.1", "0"], "never below the end"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("For anyone, for ever. Measurements alone cannot support this.", "For anyone, for ever"),
        ("For Dr. Meier and his team. Nobody else.", "For Dr. Meier and his team"),
        ("For readers of “A. and B.”", "For readers of “A. and B.”"),
        ("For colleagues (see 4.2). More.", "For colleagues (see 4.2)"),
        ("For all", "For all"),
        ("", ""),
    ],
)
def test_the_first_sentence_of_a_policy(text, first):
    assert texts.first_sentence(text) == first
