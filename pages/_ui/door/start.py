"""What is settled at the start of the web process: options, token, nothing looked up outside, no upload on the disk.

How to use: `options()` reads what follows `--` in `streamlit run app.py -- …`; `app.py` prepares the rest.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.formparsers import MultiPartParser
from streamlit import config, net_util
from streamlit.cli_util import print_to_cli
from streamlit.web.server.server_util import get_url

from pages._ui.door.addresses import origin_of
from pages._ui.language.catalogue import available
from pages._ui.sign_in import settings as sign_in
from pages._ui.sign_in.settings import Way


@dataclass(frozen=True)
class Options:
    """What a custodian may choose at the start; the folder is read by `pages/_ui/client.py`, the
    language by `pages/_ui/language/choice.py`."""

    require_token: bool = False
    public_address: str | None = None
    sign_in: Way | None = None


def options(words: list[str] | None = None) -> Options:
    """Return the options in these words, or in this process' own.

    Raises:
        SystemExit: an option is unknown or not usable; argparse has said which.
    """
    parser = argparse.ArgumentParser(
        prog="streamlit run app.py --", description="Options of the program, after the two hyphens.", allow_abbrev=False
    )
    parser.add_argument("--workspace", type=Path, metavar="FOLDER", help="the folder that everything is kept in")
    parser.add_argument("--require-token", action="store_true", help="ask everybody for the token of this start")
    parser.add_argument(
        "--public-address", type=_address, metavar="URL", help="where a proxy or a forwarded port shows the program"
    )
    parser.add_argument(
        "--language", choices=available(), metavar="CODE",
        help=f"the language of the interface until somebody chooses another: {', '.join(available())}",
    )  # fmt: skip
    sign_in.add_options(parser)
    given = parser.parse_args(sys.argv[1:] if words is None else words)
    return Options(given.require_token, given.public_address, sign_in.from_options(parser, given))


def _address(text: str) -> str:
    try:
        return origin_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be {error}") from None


def look_nothing_up() -> None:
    """Keep Streamlit from asking other machines for this one's addresses."""
    functions: Any = net_util
    functions.get_external_ip = functions.get_internal_ip = _unknown


def _unknown() -> None:
    return None


def keep_uploads_in_memory() -> None:
    """Keep uploads out of the temporary folder, where everything over a megabyte would be written in clear."""
    MultiPartParser.spool_max_size = (int(config.get_option("server.maxUploadSize")) + 2) * 1024 * 1024


def accept_host(public: str | None) -> None:
    """Let Streamlit's own check of the host pass what the door let pass."""
    names = {"localhost", "127.0.0.1", "::1", urlsplit(public or "").hostname}
    config.set_option("server.allowedHosts", sorted(filter(None, names)))


def announce(token: str, chosen: Options) -> Callable[[object], AbstractAsyncContextManager[None]]:
    """Return the life span of the app: at its start it prints the address with the token, the only time it is shown."""

    @asynccontextmanager
    async def life_span(_app: object) -> AsyncIterator[None]:
        address = chosen.public_address or get_url("localhost")
        if chosen.sign_in is not None:
            print_to_cli("  Everybody signs in:")
            print_to_cli(f"  {address}", bold=True)
            print_to_cli("")
            yield
            return
        everybody = chosen.require_token or chosen.public_address
        who = (
            "Everybody opens it" if everybody else "Your own account on this machine opens it as it is; others open it"
        )
        print_to_cli(f"  {who} with the token of this start:")
        print_to_cli(f"  {address}/?token={token}", bold=True)
        print_to_cli("")
        yield

    return life_span
