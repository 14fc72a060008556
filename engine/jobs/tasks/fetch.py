"""Job `fetch`: bring a model that the custodian consented to from the hub, or from the hub library's cache.

Where the cache holds it nothing is connected. What was fetched is checked like any imported folder; a job that fails
or is cancelled leaves nothing behind. What was fetched is then tested, and writes five texts for a public description
where one was given, before anything private is read.

Privacy posture: see `engine.models.remote.hub`; this reads no record.
"""

from __future__ import annotations

import shutil
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING

from engine.errors import StorageError, UserError
from engine.jobs.models.catalogued import models_folder
from engine.jobs.models.first_texts import KIND as FIRST_TEXTS
from engine.jobs.models.marks import carry
from engine.jobs.worker.task import Task
from engine.models.folder.imports import SPARE_BYTES, import_folder, remove_folder
from engine.models.remote import consent as rules
from engine.models.remote import hub
from engine.store import model_settings, queue

if TYPE_CHECKING:
    from engine.models.catalogue import ModelInfo

STAGE = "fetching a model"
MEGABYTE = 1 << 20


def run(task: Task) -> None:
    """Fetch the model that the job names and import it under its name."""
    model, revision = str(task.arguments["model"]), str(task.arguments["revision"])
    with task.store.session.db.read() as connection:
        found = model_settings.downloads(connection, model)
    given = next((one for one in found if one.line == task.arguments["consent"]), None)
    rules.require_download(model, revision, hub.host(), given)
    task.report(STAGE, 0, 1)
    info = _cached(task, model, revision) or _fetched(task, model, revision)
    try:
        with task.batch(STAGE, 1, 1) as connection:
            task.store.session.write_audit(
                connection, "model imported", info.id, sha256=info.revision, bytes=info.bytes, licence=info.licence,
                source=info.source, consent=given.line if given else 0,
            )  # fmt: skip
            queue.enqueue(connection, "selftest", arguments={"model": info.id})
            if task.arguments.get("description") is not None:
                asked = {"model": info.id, "description": task.arguments["description"]}
                queue.enqueue(connection, FIRST_TEXTS, arguments=asked)
    except BaseException:  # cancelled at the last moment, say: a model without its line in the audit log may not stay
        remove_folder(models_folder(task.store.session), str(task.arguments["name"]))
        raise


def _cached(task: Task, model: str, revision: str) -> ModelInfo | None:
    from engine.models.catalogue import hub_folder

    folder = hub_folder(model)
    if folder is None or revision not in ("main", folder.name):
        return None
    name, prompts = str(task.arguments["name"]), task.arguments["prompts"]
    return import_folder(
        folder, models_folder(task.store.session), name, prompts, origin=f"{model}@{folder.name}",
        links_within=folder.parents[1], precision=str(task.arguments.get("precision", "")),
        mark=partial(carry, task.store.session),
    )  # fmt: skip


def _fetched(task: Task, model: str, revision: str) -> ModelInfo:
    total = 1

    def told(done: int) -> None:
        task.report(STAGE, done // MEGABYTE, total)
        task.check()

    line = hub.Hub(told)
    listed = line.listing(model, revision)
    total = listed.bytes // MEGABYTE + 1
    models = models_folder(task.store.session)
    models.mkdir(mode=0o700, parents=True, exist_ok=True)
    if shutil.disk_usage(models).free < listed.bytes + SPARE_BYTES:
        raise UserError(f"the disk has too little room for {listed.bytes / 1e9:.1f} GB more; free some")
    staging = models / f".{token_hex(6)}.fetch"
    staging.mkdir(mode=0o700)
    try:
        line.fetch(listed, staging)
        name, prompts = str(task.arguments["name"]), task.arguments["prompts"]
        mark, origin = partial(carry, task.store.session), f"{model}@{listed.commit}"
        precision = str(task.arguments.get("precision", ""))
        return import_folder(staging, models, name, prompts, origin=origin, take=True, precision=precision, mark=mark)
    except OSError as error:
        raise StorageError(f"The model could not be kept ({type(error).__name__}); see that the disk works") from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
