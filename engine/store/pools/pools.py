"""The pools of a workspace: import, list, read, compare with private records, delete.

A pool is public by a person's declaration and is kept apart from corpora: it has tables of its own, no split, no spans,
no holdout, and is never examined as private text.

Privacy posture: importing reads no private record. The comparison does, at a person's request alone: the ledger says
so, its result stays inside, and nothing that a run depends on looks at it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from sqlalchemy import Connection, select

from engine.errors import NotFoundError, RefusedError, UserError
from engine.json_types import JSON, JSONObject, as_list, as_number, as_object
from engine.store import queue
from engine.store.audit import now
from engine.store.database.schema import packs, pool_checks, pool_texts, pools, runs
from engine.store.logs import rows
from engine.store.pools import origins
from engine.store.pools.views import PackPrompt, PoolCheck, PoolSummary
from engine.store.rows import AnyRow
from engine.store.session import Session
from engine.store.summaries import corpus_row

if TYPE_CHECKING:
    from engine.corpus.pool.build import Built, Choice
    from engine.corpus.pool.gather import Candidate, Gathered
    from engine.corpus.readers import ReadOptions

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")
LONGEST_WORDS = 300  # characters of an origin or a licence
DECLARED = (
    "I declare that these texts were made without the private data of this workspace: nobody and no program that "
    "wrote or chose them had seen any of it, or anything that a run here made of it, but for the winners in the prompt "
    "pack that they are brought in as answers to."
)
CHECK_KIND = "pool check"


class Pools:
    """Text that was made elsewhere."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def preview(self, source: Path | bytes, filename: str, options: ReadOptions | None = None) -> Gathered:
        """Return what a file holds and how it would be read; nothing is stored."""
        from engine.corpus.pool.gather import gather

        return gather(source, filename, options=options)

    def import_file(
        self,
        source: Path | bytes,
        filename: str,
        *,
        name: str,
        origin: str,
        licence: str,
        declared: bool,
        text: str | None = None,
        label: str | None = None,
        pack_id: str = "",
        with_winners: bool = True,
        unread: Choice = "drop",
        near: Choice = "keep",
        options: ReadOptions | None = None,
    ) -> PoolSummary:
        """Import a file as a pool.

        Args:
            source: path, or the bytes of an upload. filename: its name; the ending says what it is.
            name: what the pool is called: small letters, digits, dots, dashes.
            origin, licence: where the texts are from, and what may be done with them, in words.
            declared: whether the person at work declares what `DECLARED` says.
            text, label: columns of a table, None for the usual names; a label of "" takes none.
            pack_id: the prompt pack that the texts answer; answers that name their prompts say so themselves.
            with_winners: whether a pack's winners join their variations, as in private evolution.
            unread, near: what becomes of texts that public rules find unreadable, and of nearly equal ones.
            options: of the readers.

        Raises:
            DataError: the file breaks a rule. UserError: a setting does, or nothing was declared.
        """
        from engine.corpus.pool.build import build
        from engine.corpus.pool.gather import BATCH, gather

        name, origin, licence = name.strip(), " ".join(origin.split()), " ".join(licence.split())
        _check_words(name, origin, licence, declared)
        with self.session.db.read() as connection:
            if connection.execute(select(pools.c.name).where(pools.c.name == name)).first() is not None:
                raise UserError(f"name: a pool is called {name} already; choose another name")
        found = gather(source, filename, text=text, label=label, options=options)
        pack = self._pack(found, pack_id)
        candidates = found.candidates
        marks: Sequence[JSON] = ()
        if pack is not None:
            prompts, marks = pack_prompts(pack), as_list(pack.marks)
            candidates = _answered(candidates, prompts, tidy=found.form == BATCH)
            if with_winners:
                candidates = (*_winners(prompts), *candidates)
        built = build(candidates, unread=unread, near=near)
        with self.session.db.read() as connection:
            made_here = [asdict(mark) for mark in origins.marks_of(connection, [one.text for one in built.candidates])]
        known = {str(as_object(mark)["run"]) for mark in marks}
        marks = [*marks, *(mark for mark in made_here if mark["run"] not in known)]
        self._keep(name, origin, licence, built, found.failed, "" if pack is None else str(pack.id), marks)
        return self.get(name)

    def _pack(self, found: Gathered, asked: str) -> AnyRow | None:
        """Return the pack that texts answer: the one that was named, or that their prompts' names begin with."""
        from engine.corpus.pool.gather import PROMPT

        matches = (PROMPT.fullmatch(one.prompt.strip()) for one in found.candidates)
        named = {match.group(1).lower() for match in matches if match is not None}
        with self.session.db.read() as connection:
            known = [row for row in (_pack_row(connection, pack) for pack in sorted(named)) if row is not None]
            given = _pack_row(connection, asked) if asked else None
        if len(known) < len(named):
            raise UserError(
                "these texts answer prompts of a pack that this workspace does not know, so it cannot be told what had "
                "gone into them; bring them in where the pack was written"
            )
        if asked and given is None:
            raise NotFoundError(f"pack {asked!r} does not exist in this workspace")
        if len({row.id for row in (*known, *([given] if given is not None else []))}) > 1:
            raise UserError("these texts answer prompts of several packs; import the answers to each by themselves")
        return known[0] if known else given

    def _keep(
        self, name: str, origin: str, licence: str, built: Built, failed: int, pack_id: str, marks: Sequence[JSON]
    ) -> None:
        found: dict[str, JSON] = {
            "read": built.read, "failed": failed, "dropped": dict(built.dropped), "flagged": dict(built.flagged)
        }  # fmt: skip
        made = [
            {"pool": name, "position": i, "text": one.text, "label": one.label}
            for i, one in enumerate(built.candidates)
        ]
        digest = _digest([(one.text, one.label) for one in built.candidates])
        with self.session.db.write() as connection:
            if connection.execute(select(pools.c.name).where(pools.c.name == name)).first() is not None:
                raise UserError(f"name: a pool is called {name} already; choose another name")
            values = {
                "name": name, "created": now(), "actor": self.session.actor, "texts": len(made), "labels": built.labels,
                "digest": digest, "origin": origin, "licence": licence, "statement": DECLARED, "pack_id": pack_id,
                "marks": list(marks), "found": found,
            }  # fmt: skip
            told = rows.put(connection, self.session.key, rows.POOLS, values)
            connection.execute(pool_texts.insert(), made)
            self.session.write_audit(
                connection, "pool imported", name, texts=len(made), digest=digest, pack=pack_id, declared=DECLARED,
                **told,
            )  # fmt: skip

    def all(self) -> list[PoolSummary]:
        """Return every pool, latest first."""
        with self.session.db.read() as connection:
            return [
                _summary(row)
                for row in connection.execute(select(pools).order_by(pools.c.created.desc(), pools.c.name))
            ]

    def get(self, name: str) -> PoolSummary:
        """Return one pool."""
        with self.session.db.read() as connection:
            return _summary(_row(connection, name))

    def marks(self, name: str) -> list[JSONObject]:
        """Return the marks of the runs whose protected output a pool was written from."""
        with self.session.db.read() as connection:
            return [as_object(mark) for mark in as_list(_row(connection, name).marks)]

    def promise(self, name: str) -> dict[str, JSON]:
        """Return what a claim says of a pool: its name, numbers, provenance, and who declared what."""
        found = self.get(name)
        return {
            "name": found.name, "digest": found.digest, "texts": found.texts, "labels": list(found.labels),
            "origin": found.origin, "licence": found.licence, "declared_by": found.actor,
            "declared_on": f"{datetime.fromisoformat(found.created):%Y-%m-%d}", "rounds": list(found.rounds),
        }  # fmt: skip

    def texts(
        self, name: str, *, offset: int = 0, limit: int = 50, positions: Sequence[int] | None = None
    ) -> pd.DataFrame:
        """Return texts of a pool in its order: position, text, label."""
        query = select(pool_texts.c.position, pool_texts.c.text, pool_texts.c.label).where(pool_texts.c.pool == name)
        with self.session.db.read() as connection:
            _row(connection, name)
            if positions is not None:
                query = query.where(pool_texts.c.position.in_(list(positions[:500])))
            rows = connection.execute(query.order_by(pool_texts.c.position).limit(limit).offset(offset)).all()
        return pd.DataFrame([tuple(row) for row in rows], columns=["position", "text", "label"])

    def candidates(self, name: str, digest: str) -> tuple[tuple[str, str | None], ...]:
        """Return every text with its label for a run that was asked for with this digest.

        Raises:
            UserError: the pool is gone, or another one has its name now. RefusedError: its texts were changed.
        """
        query = select(pool_texts.c.text, pool_texts.c.label).where(pool_texts.c.pool == name)
        with self.session.db.read() as connection:
            row = connection.execute(select(pools.c.digest).where(pools.c.name == name)).first()
            if row is None or row.digest != digest:
                raise UserError(
                    f"the pool {name} that this run was asked for with is gone; import the same file under the same "
                    "name, or start a new run"
                )
            found = tuple((text, label) for text, label in connection.execute(query.order_by(pool_texts.c.position)))
        if _digest(found) != digest:
            raise RefusedError(
                f"The texts of the pool {name} are not those that were imported. Restore the latest backup, or import "
                "the file anew under another name."
            )
        return found

    def delete(self, name: str) -> None:
        """Delete a pool with its texts; its lines in the audit log stay.

        Raises:
            UserError: a run that chooses from it is under way.
        """
        with self.session.db.write() as connection:
            row = _row(connection, name)
            active = connection.execute(select(runs.c.id, runs.c.parameters).where(runs.c.state.in_(queue.ACTIVE)))
            busy = next((run.id for run in active if as_object(run.parameters).get("pool") == name), None)
            if busy is not None:
                raise UserError(f"run {busy} is choosing from this pool; cancel it first")
            connection.execute(pools.delete().where(pools.c.name == name))
            self.session.write_audit(connection, "pool deleted", name, texts=row.texts, digest=row.digest)

    def check(self, name: str, corpus_id: str) -> str:
        """Queue a comparison of a pool with the records of a corpus and return its job id.

        It reads private records outside any bound, which the ledger of their people says; its result is internal.
        """
        with self.session.db.write() as connection:
            _row(connection, name)
            corpus_row(connection, corpus_id)
            for job_id in queue.active_jobs(connection, corpus_id=corpus_id, kind=CHECK_KIND):
                return job_id
            job_id = queue.enqueue(
                connection, CHECK_KIND, corpus_id=corpus_id, arguments={"pool": name, "actor": self.session.actor}
            )
        self.session.wake()
        return job_id

    def checks(self, name: str) -> list[PoolCheck]:
        """Return what comparisons of a pool found, latest first; internal."""
        query = select(pool_checks).where(pool_checks.c.pool == name).order_by(pool_checks.c.at.desc())
        with self.session.db.read() as connection:
            return [_check(row) for row in connection.execute(query)]

    def checked(self, name: str, corpus_id: str) -> bool:
        """Say whether a pool was ever compared with a corpus, and nothing of what was found."""
        query = select(pool_checks.c.pool).where(pool_checks.c.pool == name, pool_checks.c.corpus_id == corpus_id)
        with self.session.db.read() as connection:
            return connection.execute(query).first() is not None


def pack_prompts(row: AnyRow) -> list[PackPrompt]:
    """Return the prompts of a pack's row."""
    found = []
    for one in map(as_object, as_list(row.prompts)):
        label = one.get("label")
        found.append(
            PackPrompt(
                str(one["id"]), str(one["prompt"]), None if label is None else str(label),
                int(as_number(one.get("words")) or 0), str(one.get("parent") or ""), as_number(one.get("votes")),
            )
        )  # fmt: skip
    return found


def _pack_row(connection: Connection, pack_id: str) -> AnyRow | None:
    return connection.execute(select(packs).where(packs.c.id == pack_id)).first()


def _answered(candidates: Sequence[Candidate], prompts: Sequence[PackPrompt], *, tidy: bool) -> tuple[Candidate, ...]:
    """Return answers with the labels that their prompts asked for, and without a model's chatter around the text."""
    from engine.corpus.pool.gather import Candidate
    from engine.models.prompts.operators_instruct import text_of_reply

    labels = {one.id: one.label for one in prompts}
    return tuple(
        Candidate(
            text_of_reply(one.text) if tidy or one.prompt else one.text,
            labels.get(one.prompt.lower(), one.label),
            one.prompt,
        )
        for one in candidates
    )


def _winners(prompts: Sequence[PackPrompt]) -> tuple[Candidate, ...]:
    """Return the texts that a pack asked variations of, each once, with their labels."""
    from engine.corpus.pool.gather import Candidate

    return tuple(
        Candidate(text, label) for text, label in {one.parent: one.label for one in prompts if one.parent}.items()
    )


def _check_words(name: str, origin: str, licence: str, declared: bool) -> None:
    if not NAME.fullmatch(name):
        raise UserError(
            "name: must have 1 to 60 small letters, digits, dots, dashes or underlines and begin with a letter or "
            "digit, such as invented-letters-1"
        )
    for what, words in (("origin", origin), ("licence", licence)):
        if not 3 <= len(words) <= LONGEST_WORDS:
            raise UserError(f"{what}: must say in 3 to {LONGEST_WORDS} characters " + _ASKED[what])
    if not declared:
        raise UserError(
            f"declared: a pool needs this declaration of yours, since every claim rests on it: “{DECLARED}”"
        )


_ASKED = {
    "origin": "where the texts are from, such as the model that wrote them or the corpus",
    "licence": "what may be done with the texts, such as CC0 or our own",
}


def _digest(pairs: Sequence[tuple[str, str | None]]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for pair in pairs:
        for part in pair:
            body = (part or "").encode()
            digest.update(len(body).to_bytes(8, "big") + body)
    return digest.hexdigest()


def _row(connection: Connection, name: str) -> AnyRow:
    row = connection.execute(select(pools).where(pools.c.name == name)).first()
    if row is None:
        raise NotFoundError(f"pool {name!r} does not exist in this workspace")
    return row


def _counts(value: JSON) -> dict[str, int]:
    return {name: int(as_number(n) or 0) for name, n in as_object(value).items()}


def _summary(row: AnyRow) -> PoolSummary:
    found = as_object(row.found)
    return PoolSummary(
        name=row.name, created=row.created, actor=row.actor, texts=row.texts, labels=_counts(row.labels),
        digest=row.digest, origin=row.origin, licence=row.licence, statement=row.statement, pack_id=row.pack_id,
        rounds=tuple(str(as_object(mark)["run"]) for mark in as_list(row.marks)),
        read=int(as_number(found.get("read")) or 0), failed=int(as_number(found.get("failed")) or 0),
        dropped=_counts(found.get("dropped")), flagged=_counts(found.get("flagged")),
    )  # fmt: skip


def _check(row: AnyRow) -> PoolCheck:
    body = as_object(row.body)
    numbers = {name: int(as_number(body.get(name)) or 0) for name in ("compared", "equal", "long", "shared")}
    positions = tuple(int(as_number(one) or 0) for one in as_list(body.get("positions")))
    return PoolCheck(row.pool, row.corpus_id, row.at, row.actor, **numbers, positions=positions)
