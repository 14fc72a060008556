"""A workspace in another folder for a test, as if it had been moved there: a copy would say that spends are unknown."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

from engine.store.disk.folder import Folder
from engine.store.disk.place import here


def moved(source: Path, target: Path) -> Path:
    """Copy a workspace and note its new place; return it."""
    shutil.copytree(source, target)
    folder = Folder(target)
    body = json.loads(folder.head_file.read_text())
    body["place"] = asdict(here(folder, folder.key()))
    folder.head_file.write_text(json.dumps(body))
    return target
