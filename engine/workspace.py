"""The one object that pages and the command line talk to."""

from __future__ import annotations

from pathlib import Path

from engine.jobs.model_station import models_folder
from engine.models.folder.imports import sweep
from engine.studies.station import StudyStation


class Workspace(StudyStation):
    """An open workspace: corpora, review, runs, examinations, studies, models, releases, audit, service."""


def open_workspace(path: Path | None = None, actor: str = "custodian") -> Workspace:
    """Open a workspace folder, creating it on first use.

    Args:
        path: the folder; None means `UNDERSTUDY_WORKSPACE` or the user's data directory.
        actor: who acts; goes into the audit log.

    Raises:
        StorageError: the folder cannot be written, or a newer program made it.
    """
    workspace = Workspace(path, actor)
    sweep(models_folder(workspace))
    return workspace
