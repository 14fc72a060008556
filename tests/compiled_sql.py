"""SQL that was compiled for one workspace serves the next one: a fifth of the store's tests was compiling it anew.

SQLAlchemy keeps what it compiled with each engine, and each test opens a workspace of its own. A statement is the same
for every engine with the same dialect, driver, server version and way to write JSON.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, event
from sqlalchemy.engine import Engine
from sqlalchemy.util import LRUCache

STATEMENTS = 4000


class Compiled(LRUCache[Any, Any]):
    """Compiled statements by what they hang on; SQLAlchemy's own key begins with the engine's own dialect object."""

    @staticmethod
    def _key(key: tuple[Any, ...]) -> tuple[Any, ...]:
        dialect = key[0]
        json = (getattr(dialect, "_json_serializer", None), getattr(dialect, "_json_deserializer", None))
        return (type(dialect), dialect.dbapi, dialect.server_version_info, json, *key[1:])

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(self._key(key), default)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(self._key(key), value)


def share() -> None:
    """Have all engines of this process share what is compiled from here on."""
    compiled = Compiled(STATEMENTS)

    @event.listens_for(Engine, "engine_connect")
    def on_connect(connection: Connection) -> None:
        connection.execution_options(compiled_cache=compiled)
