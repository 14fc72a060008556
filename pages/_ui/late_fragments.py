"""Drop a late request for a part of a page that was left.

A press or a timer of a fragment may reach the server after the script moved on to another page. Streamlit 1.67 would
run the fragment for the page it belongs to; the browser then clears what it shows and finds no place for the part:
the whole application turns white. Such a request is dropped here: its page is not there any more.
"""

from __future__ import annotations

from functools import wraps
from weakref import WeakKeyDictionary

from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

SHOWN: WeakKeyDictionary[PagesManager, str] = WeakKeyDictionary()  # a session's pages -> the page that ran last


def drop() -> None:
    """Let every script runner of this process drop such requests."""
    plain = ScriptRunner._run_script
    if getattr(plain, "drops", False):
        return

    @wraps(plain)
    def run(self: ScriptRunner, rerun_data: RerunData) -> None:
        shown = SHOWN.get(self._pages_manager)
        if rerun_data.fragment_id_queue and shown is not None and rerun_data.page_script_hash not in ("", shown):
            return
        if rerun_data.page_script_hash:
            SHOWN[self._pages_manager] = rerun_data.page_script_hash
        plain(self, rerun_data)
        SHOWN[self._pages_manager] = self._get_script_run_ctx().page_script_hash

    run.__dict__["drops"] = True
    setattr(ScriptRunner, "_run_script", run)  # noqa: B010
