"""Files that pages handed to a browser, and to whom: the address of one is of use to nobody else, nor to them later.

Streamlit serves a download or picture to whoever knows its address. Where people sign in, the door asks here first: the
file was given to this person, and they hold today every right that they held then. So a role that is taken from
somebody takes the files that it showed along, also in a tab that nobody touches. Files that were given before the
program was started again are not served; the page that offers one is loaded anew.

Privacy posture: addresses of files are digests of their content; they and identities stay in memory.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from streamlit.runtime.media_file_manager import MediaFileManager

import engine
from pages._ui.sign_in.oidc import NotCountedError
from pages._ui.sign_in.settings import Way, current

if TYPE_CHECKING:
    from starlette.types import Scope

MOST = 20_000  # files and persons remembered; what falls out is offered anew by its page
REFUSED = "This file is not served to you: your roles are others than when it was offered. Load its page again."

P = ParamSpec("P")
K = TypeVar("K")
V = TypeVar("V")
Holder = tuple[str, frozenset[engine.Right]]  # identity, and the rights held when the file was given

_given: OrderedDict[tuple[str, Holder], None] = OrderedDict()
_later: OrderedDict[str, Holder] = OrderedDict()  # placeholder of a file that is made when it is pressed
_lock = Lock()


def watch() -> None:
    """Note to whom this process' pages give files."""
    if getattr(MediaFileManager.add, "notes", False):
        return
    add, add_deferred, execute = MediaFileManager.add, MediaFileManager.add_deferred, MediaFileManager.execute_deferred

    noting_add = _noting(add, lambda url: note(url, _here()))
    noting_deferred = _noting(add_deferred, _note_later)

    @wraps(execute)
    def noting_execute(self: MediaFileManager, file_id: str) -> str:
        url = execute(self, file_id)
        note(url, _later.get(file_id))
        return url

    noting_add.__dict__["notes"] = True
    for name, made in (("add", noting_add), ("add_deferred", noting_deferred), ("execute_deferred", noting_execute)):
        setattr(MediaFileManager, name, made)


def _noting(call: Callable[P, str], told: Callable[[str], None]) -> Callable[P, str]:
    """Return a call that also tells what it returned."""

    @wraps(call)
    def noting(*given: P.args, **more: P.kwargs) -> str:
        returned = call(*given, **more)
        told(returned)
        return returned

    return noting


def _note_later(placeholder: str) -> None:
    who = _here()
    if who is not None:
        with _lock:
            _keep(_later, placeholder, who)


def note(url: str, who: Holder | None) -> None:
    """Remember that a file was given to somebody; None is nobody has to sign in."""
    if who is not None:
        with _lock:
            _keep(_given, (file_of(url), who), None)


def is_file(path: str) -> bool:
    """Say whether an address is that of a file which a page gave."""
    parts = [part for part in path.split("/") if part]
    return "media" in parts[:-1] and parts[0] != "static"  # the browser's own part has a folder of that name


def file_of(path: str) -> str:
    """Return what a file is known by, without the ending of its name."""
    return path.rpartition("/")[2].partition(".")[0]


def may_fetch(chosen: Way, scope: Scope, workspace: Callable[[], engine.Workspace] | None = None) -> bool:
    """Say whether whoever sent a request may have the file that it asks for."""
    try:
        identity, account = chosen.known_by(scope)
        if not identity:
            return False
        person = (workspace or _workspace)().people.known(identity, account)
    except (NotCountedError, engine.UserError):
        return False
    if person is None:
        return False
    wanted = file_of(scope["path"])
    with _lock:
        rights = [held for file, (name, held) in _given if file == wanted and name == person.identity]
    return any(held <= person.rights for held in rights)


def _here() -> Holder | None:
    """Return for whom the script of this thread runs."""
    from pages._ui.sign_in import visitor

    person = None if current() is None else visitor.person()
    return None if person is None else (person.identity, person.rights)


def _workspace() -> engine.Workspace:
    from pages._ui.client import client

    return client()


def _keep(kept: OrderedDict[K, V], name: K, value: V) -> None:
    kept[name] = value
    kept.move_to_end(name)
    while len(kept) > MOST:
        kept.popitem(last=False)
