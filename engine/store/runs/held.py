"""Runs held against the audit log: what was done to them outside of the program, in words.

Each part of a run (settings, guarantee, texts, counts, findings of a group, approvals and risks) is held against the
latest line that tells of it (`engine.store.runs.chained`). What an earlier edition made is not told of, and is said to
stand outside of the log (`outside`); it does not come under the log by what is done to it later. Which of these two a
run is stands in the log itself, so that nobody passes a changed run off as an old one.

Whose people a corpus counts as is held too, and what stands beside the tables in the database (`dialect.strangers`).
Not held: names and notes of runs, the time of their last release, figures' and studies' tables, none of which a gate, a
card or a claim reads; a state put back to where a run that is still being made once was, as the run goes on from there.
What its mechanisms drew carries digests of its own (`engine.store.budget.outputs`).

Privacy posture: ids of runs, names of parts and counts; never a text, a label or a number that was found.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, Text, func, select, type_coerce

from engine.errors import RefusedError, StorageError
from engine.json_types import JSONObject, as_object
from engine.store.budget import fitted, held_people
from engine.store.budget import lines as ledger_lines
from engine.store.database.dialect import strangers
from engine.store.database.schema import corpora, findings, runs, synthetic
from engine.store.disk.folder import Folder
from engine.store.logs import about, rows
from engine.store.review import marks
from engine.store.rows import AnyRow
from engine.store.runs import chained
from engine.store.session import Session

DELETED = ("run deleted", "corpus deleted")
GROUPS = ("privacy", "utility")
NOT_HELD = (
    "The run's settings, guarantee, texts, findings or approvals are not those that the audit log tells of; `audit "
    "--verify` says what was done. Restore the latest backup, or run the method again."
)


@dataclass
class _Told:
    """What the log tells of a run: digests by part, the sum of its marks, and its corpus.

    seen: there is a line about its being asked for. earlier: that line, of an edition that told of none of these.
    parts, groups: digests of parts and of groups of findings, from the latest line about each. examined: by an edition
    that told of no finding, which may have left some.
    """

    corpus: str = ""
    seen: bool = False
    earlier: JSONObject | None = None
    parts: dict[str, str] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    examined: bool = False
    marks: int | None = 0


def of_run(session: Session, run_id: str, *, anew: bool = True) -> tuple[str, ...]:
    """Return what does not hold of a run, in sentences.

    Args:
        anew: go through its texts, approvals and every line of the log too; otherwise the row and findings alone.
    """
    with session.db.read() as connection:
        return of_run_here(session, connection, run_id, anew=anew)


def of_run_here(session: Session, connection: Connection, run_id: str, *, anew: bool = True) -> tuple[str, ...]:
    """Return what `of_run` does, of what the caller's transaction sees."""
    log = [] if about.whole(connection, session.key, run_id, anew=anew) else ["The audit log does not hold."]
    if anew and not ledger_lines.CHAIN.verify(connection, session.key)["ok"]:
        log.append("The ledger does not hold.")
    if anew:
        log += _of_seen(connection, session.key)
    told, gone = _told(connection, session.key, run_id)
    found = [f"the database was given {one} outside of the program." for one in strangers(connection)]
    for row in chained.read(connection, run_id):
        one, folder = told.get(run_id), session.folder if anew else None
        found += _of_one(connection, session.key, row, one, gone, folder=folder, texts=anew)
        with_it = (str(row.corpus_id), run_id)
        found += rows.breaks(connection, session.key, rows.RESTED_ON, with_it)
        found += _of_people(connection, str(row.corpus_id))
        if anew:
            found += held_people.breaks(connection, session.key, _population(connection, str(row.corpus_id)))
            found += fitted.breaks(connection, session.key)
    return (*log, *found)


def demand(session: Session, run_id: str) -> None:
    """Refuse where a run is not what the audit log tells of.

    Raises:
        RefusedError: it is not.
    """
    if of_run(session, run_id):
        raise RefusedError(NOT_HELD)


def demand_here(session: Session, connection: Connection, run_id: str, *, anew: bool = True) -> None:
    """Refuse what `demand` does, of what the caller's transaction sees."""
    if of_run_here(session, connection, run_id, anew=anew):
        raise RefusedError(NOT_HELD)


def demand_asked(session: Session, connection: Connection, run_id: str) -> None:
    """Refuse to go on with a run whose row is not as it was asked for and as its latest batch left it.

    Raises:
        RefusedError: it is not.
    """
    told, gone = _told(connection, session.key, run_id)
    for row in chained.read(connection, run_id):
        one = told.get(run_id)
        if run_id in gone or one is None or (one.earlier is None and _of_row(session.key, row, one)):
            raise RefusedError(NOT_HELD)


def demand_texts(session: Session, connection: Connection, run_id: str) -> None:
    """Refuse where the texts of a run are not those that it made, before something is found of them.

    Raises:
        RefusedError: they are not.
    """
    told, _ = _told(connection, session.key, run_id)
    for row in chained.read(connection, run_id):
        if (one := told.get(run_id)) is not None and _of_texts(connection, session.key, row, one):
            raise RefusedError(NOT_HELD)


def earlier(session: Session, run_id: str) -> bool:
    """Say whether a run was asked for by an edition that told the log nothing of it."""
    with session.db.read() as connection:
        one = _told(connection, session.key, run_id)[0].get(run_id)
    return one is not None and one.earlier is not None


def breaks(connection: Connection, key: bytes, folder: Folder, *, texts: bool = True) -> list[str]:
    """Return a sentence for each way in which a run is not what the log tells of.

    Args:
        texts: go through texts and approvals too; otherwise rows and findings alone.
    """
    told, gone = _told(connection, key)
    found = [f"the database was given {one} outside of the program." for one in strangers(connection)]
    known = set()
    for run_id in list(connection.execute(select(runs.c.id).order_by(runs.c.id)).scalars()):
        (row,) = chained.read(connection, run_id)  # one after the other: a run's notes may be long
        known.add(str(run_id))
        said = _of_one(connection, key, row, told.get(row.id), gone, folder=folder, texts=texts)
        found += [f"run {row.id}: {one}" for one in said]
    found += _of_people(connection)
    if texts:
        found += _of_seen(connection, key)
    found += [
        f"run {run_id} was removed with its texts and findings."
        for run_id, one in told.items() if one.seen and run_id not in known and not gone & {run_id, one.corpus}
    ]  # fmt: skip
    return found


def outside(connection: Connection, key: bytes) -> list[str]:
    """Return a sentence for each run of which an earlier edition told the log nothing, wholly or in part."""
    told, found = _told(connection, key)[0], []
    for run_id in connection.execute(select(runs.c.id).order_by(runs.c.id)).scalars():
        one = told.get(run_id)
        if one is None:
            continue
        if one.earlier is not None:
            found.append(
                f"run {run_id}: an earlier edition made it, so its settings, guarantee, texts and approvals are not "
                "under the log."
            )
        if one.examined and len(one.groups) < len(GROUPS):
            left = " and ".join(name for name in GROUPS if name not in one.groups)
            found.append(f"run {run_id}: an earlier edition examined its {left}; these findings are not under the log.")
    return found


def _told(connection: Connection, key: bytes, run_id: str | None = None) -> tuple[dict[str, _Told], set[str]]:
    """Return what the log tells of each run, or of one, and the ids of runs and corpora that were deleted."""
    told: dict[str, _Told] = {}
    actions = (*chained.TELLING, *DELETED)
    gone = {subject for _, subject, _ in about.told(connection, DELETED)} if run_id else set()
    for action, subject, said in about.told(connection, actions, run_id):
        if action in DELETED:
            gone.add(subject)
            continue
        one = told.setdefault(subject, _Told())
        if action == chained.ASKED:
            one.seen, one.corpus = True, str(said.get("corpus", ""))
            one.earlier = None if "asked" in said else said
        if action == chained.EXAMINED:
            _take_examination(one, said)
        one.parts.update({name: str(said[name]) for name in ("asked", "claim", "texts", "end") if name in said})
        if "marks" in said:
            one.marks = marks.opened(key, subject, str(said["marks"]))
    return told, gone


def _take_examination(one: _Told, said: JSONObject) -> None:
    groups = said.get("groups")
    if not isinstance(groups, Mapping):
        one.examined = True
        return
    one.groups.update({name: str(digest) for name, digest in as_object(groups).items()})
    one.parts.update({name: str(said[name]) for name in ("examination", "originals") if name in said})


def _of_one(
    connection: Connection, key: bytes, row: AnyRow, told: _Told | None, gone: set[str], *, folder: Folder | None,
    texts: bool,
) -> list[str]:  # fmt: skip
    """Return what does not hold of a run that is there; `folder` is where the files of its examination lie."""
    if row.id in gone:
        return ["it was deleted, and is there again."]
    if told is None or not told.seen:
        return ["it is there, and no line of the log tells of it."]
    found = _of_earlier(row, told.earlier) if told.earlier is not None else _of_row(key, row, told)
    if texts and not found and told.earlier is None:
        found += _of_texts(connection, key, row, told)
    if texts and told.earlier is None and told.marks != chained.total(connection, key, row.id):
        found.append("approvals or risks of its records were changed.")
    return found + _of_findings(connection, key, row, told) + _of_files(folder, key, row, told)


def _of_earlier(row: AnyRow, said: JSONObject) -> list[str]:
    """Return whether a run of an earlier edition is another than the little that its line tells."""
    there = {"corpus": row.corpus_id, "method": row.method, "count": row.count}
    if any(said.get(name, value) != value for name, value in there.items()):
        return ["its corpus, method or count is another than the log tells of."]
    return []


def _of_row(key: bytes, row: AnyRow, told: _Told) -> list[str]:
    found = []
    if not _same(chained.settings_of(key, dict(row._mapping)), told.parts.get("asked", "")):
        found.append("its settings (corpus, method, parameters, seed, model, count, versions) were changed.")
    if not _same(chained.guarantee_of(key, row.id, row.guarantee), told.parts.get("claim", "")):
        found.append("its guarantee was changed.")
    if not chained.holds_so_far(key, row):
        found.append("what it says of its texts (their number, counts, notes) was changed.")
    elif "end" not in told.parts:
        if row.state == "done":
            found.append("it counts as finished, and no line of the log tells that it was.")
    elif not _same(chained.end_of(key, dict(row._mapping), _so_far(row)), told.parts["end"]):
        found.append("what it says of its end (whether it is finished, when, with what) was changed.")
    return found


def _of_texts(connection: Connection, key: bytes, row: AnyRow, told: _Told) -> list[str]:
    """Return in what the texts of a run are not those that it made; of a run of an earlier edition nothing is known."""
    if told.earlier is not None or not told.seen:
        return []
    number = int(connection.execute(select(func.count()).where(synthetic.c.run_id == row.id)).scalar_one())
    kept = row.kept if isinstance(row.kept, int) else -1
    if number != kept:
        what = "missing" if number < kept else "more than it made"
        return [f"{abs(number - kept):,} of its texts are {what}."]
    there = chained.texts_of(key, row.id, chained.texts(connection, row.id))
    if _same(there, told.parts.get("texts", _so_far(row))):
        return []
    return ["its texts, or their labels or origins, were changed or put in another order."]


def _of_findings(connection: Connection, key: bytes, row: AnyRow, told: _Told) -> list[str]:
    query = select(type_coerce(findings.c.body, Text)).where(findings.c.run_id == row.id).order_by(findings.c.position)
    bodies: dict[str, list[object]] = {name: [] for name in told.groups}
    for text in connection.execute(query).scalars():
        body = rows.said(text)
        group = str(body.get("group")) if isinstance(body, Mapping) else ""
        bodies.setdefault(group, []).append(body)
    found = []
    for group, there in bodies.items():
        if group in told.groups:
            if not _same(chained.findings_of(key, row.id, group, there), told.groups[group]):
                found.append(f"findings of its {group} were changed, removed or brought in.")
        elif not told.examined:
            found.append(f"{len(there):,} findings are there that no line of the log tells of.")
    if "examination" in told.parts:
        there_at = chained.examination_of(key, row.id, row.examined_at, row.examined_revision)
        if not _same(there_at, told.parts["examination"]):
            found.append("when it was examined was changed.")
    elif row.examined_at is not None and not told.examined:
        found.append("it counts as examined, and no line of the log tells that it was.")
    return found


def _of_people(connection: Connection, corpus_id: str | None = None) -> list[str]:
    """Return which corpora, of one or all, count to other people than those that they were imported as.

    The line about the import names their population, the ledger's lines into which others it went since.
    """
    told = {one: said.get("population") for _, one, said in about.told(connection, ("corpus imported",), corpus_id)}
    query = select(corpora.c.id, corpora.c.population).order_by(corpora.c.id)
    return [
        f"corpus {one}: the people behind it, whose budget it draws on, are others than the log tells of."
        for one, population in connection.execute(query)
        if isinstance(was := told.get(one), str) and ledger_lines.current(connection, was) != population
    ]


def _population(connection: Connection, corpus_id: str) -> str:
    return str(connection.execute(select(corpora.c.population).where(corpora.c.id == corpus_id)).scalar())


def _of_seen(connection: Connection, key: bytes) -> list[str]:
    """Return of which runs, deleted or not, it is no longer kept whole that they were held against private records."""
    told: dict[str, str] = {}
    for _, run_id, said in about.told(connection, chained.LOOKING):
        if "seen" in said:
            told[run_id] = str(said["seen"])
    return [
        f"run {run_id}: what is kept of its examination, so that its texts are known again, was changed or removed."
        for run_id, digest in told.items()
        if not _same(chained.seen_of(connection, key, run_id), digest)
    ]


def _of_files(folder: Folder | None, key: bytes, row: AnyRow, told: _Told) -> list[str]:
    said = told.parts.get("originals")
    if folder is None or (said is None and (told.examined or row.examined_at is None)):
        return []  # before an examination is kept nobody reads its tables
    try:
        there = chained.originals_of(folder, key, row.id)
    except StorageError:
        return ["the table of outputs that are an original cannot be read."]
    if _same(there, said or ""):
        return []
    return ["the table of outputs that are an original was changed, removed or brought in."]


def _so_far(row: AnyRow) -> str:
    return str(row.sealed)[: chained.LENGTH]


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())
