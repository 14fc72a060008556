"""Start the web process: `streamlit run app.py [-- --workspace FOLDER]`.

The main script lies in `pages/_ui`, where no folder `pages/` is beside it, so Streamlit's legacy
page discovery never arms. Every answer carries the security headers of `pages/_ui/headers.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

ROOT = Path(__file__).resolve().parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from pages._ui.failure import explain, guard_log  # noqa: E402
from pages._ui.headers import SecurityHeaders, content_security_policy  # noqa: E402

guard_log()
app = st.App(
    str(ROOT / "pages" / "_ui" / "main.py"),
    on_script_error=explain,
    middleware=[Middleware(SecurityHeaders, policy=content_security_policy())],
)
