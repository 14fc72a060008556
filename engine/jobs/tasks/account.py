"""Jobs `account` and `signal`: answer what a page asked and could not wait for.

The request holds public parameters only. Its job row goes with the answer, so that moving a slider leaves
no trail of jobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from engine.errors import UnderstudyError
from engine.jobs.worker.task import Task
from engine.json_types import JSONObject
from engine.store.budget import accounts
from engine.store.database.schema import jobs

if TYPE_CHECKING:
    from engine.methods.advice.budget_figures import Question


FAILED = "This could not be computed because of an unexpected error; it is tried again in a minute."


def run(task: Task) -> None:
    """Answer one request, or keep the sentence that says why there is no answer."""
    with task.store.session.db.read() as connection:
        request = accounts.request_of(connection, str(task.arguments["digest"]))
    if request is None:
        _done(task, None)
        return
    try:
        found, error, final = _answer(task, request), None, True
    except UnderstudyError as problem:
        found, error, final = None, str(problem), True
    except Exception:
        _done(task, request, None, FAILED, False)
        raise
    _done(task, request, found, error, final)


def _answer(task: Task, request: JSONObject) -> JSONObject:
    if task.kind == "account":
        from engine.dp.accounting.accountant import answer_request

        return answer_request(dict(request))
    from engine.methods.advice.signal import vote_signal

    return cast("JSONObject", vote_signal(cast("Question", dict(request)), task.models.embedder()))


def _done(
    task: Task,
    request: JSONObject | None,
    found: JSONObject | None = None,
    error: str | None = None,
    final: bool = True,
) -> None:
    with task.store.session.db.write() as connection:
        if request is not None:
            accounts.answer(connection, task.kind, request, found, error, final=final)
        connection.execute(jobs.delete().where(jobs.c.id == task.id))
