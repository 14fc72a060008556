"""Start the web process: `streamlit run app.py [-- --workspace FOLDER --require-token --public-address URL]`.

The main script lies in `pages/_ui`, where no folder `pages/` is beside it, so Streamlit's legacy
page discovery never arms. Every answer carries the security headers of `pages/_ui/door/headers.py`, and
every request and socket comes through the door of `pages/_ui/door/door.py`; where several people sign in, it lets in
what the sign-in vouches for, and nothing else.
"""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

ROOT = Path(__file__).resolve().parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from pages._ui import late_fragments  # noqa: E402
from pages._ui.door import start  # noqa: E402
from pages._ui.door.addresses import Addresses  # noqa: E402
from pages._ui.door.door import Door  # noqa: E402
from pages._ui.door.headers import SecurityHeaders, content_security_policy  # noqa: E402
from pages._ui.failure import explain, guard_log  # noqa: E402
from pages._ui.sign_in import given  # noqa: E402
from pages._ui.sign_in import settings as sign_in  # noqa: E402

guard_log()
late_fragments.drop()
given.watch()
start.look_nothing_up()
start.keep_uploads_in_memory()
chosen = start.options()
start.accept_host(chosen.public_address)
sign_in.choose(chosen.sign_in)
token = secrets.token_urlsafe(32)
app = st.App(
    str(ROOT / "pages" / "_ui" / "main.py"),
    on_script_error=explain,
    lifespan=start.announce(token, chosen),
    middleware=[
        Middleware(SecurityHeaders, policy=content_security_policy()),
        Middleware(Door, token, Addresses(chosen.public_address), chosen.require_token, chosen.sign_in),
    ],
)
del token
