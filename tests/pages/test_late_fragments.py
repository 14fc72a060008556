"""A request of a part of a page that was left is dropped; every other one runs."""

from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner

from pages._ui import late_fragments


class Pages:
    """Stands for a session's pages, which a weak table can hold."""


@pytest.mark.parametrize(
    ("queue", "page", "runs"),
    [(["part"], "left", False), (["part"], "shown", True), (["part"], "", True), ([], "left", True)],
)
def test_only_a_part_of_another_page_is_dropped(monkeypatch, queue, page, runs):
    ran = []
    monkeypatch.setattr(ScriptRunner, "_run_script", lambda self, data: ran.append(data.page_script_hash))
    late_fragments.drop()
    context = SimpleNamespace(page_script_hash="shown")
    runner = SimpleNamespace(_pages_manager=Pages(), _get_script_run_ctx=lambda: context)
    ScriptRunner._run_script(runner, SimpleNamespace(fragment_id_queue=[], page_script_hash="shown"))
    ScriptRunner._run_script(runner, SimpleNamespace(fragment_id_queue=queue, page_script_hash=page))
    assert (len(ran) == 2) is runs
