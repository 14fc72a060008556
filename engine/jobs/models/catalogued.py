"""Where the models of a workspace lie, and the catalogue over them.

Light: the web process imports this.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engine.store import model_settings
from engine.store.session import Session

if TYPE_CHECKING:
    from engine.models.catalogue import Catalogue


def models_folder(session: Session) -> Path:
    """Return the folder of imported models; it is no part of a backup."""
    return Path(session.folder.path) / "models"


def catalogue(session: Session) -> Catalogue:
    """Return the models of a workspace."""
    from engine.models.catalogue import Catalogue

    with session.db.read() as connection:
        return Catalogue(models_folder(session), model_settings.endpoints(connection))
