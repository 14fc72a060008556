"""Prompt packs: what leaves so that text can be made elsewhere; drafted, shown, logged, and only then written.

A first pack holds words that a person declared public. The pack of a further round holds the winners of a finished
dp-select run with their noisy votes, which are that run's protected output, and never its approvals, its examination or
the counts behind the noise. Where private data had a say in that it is this run (it was examined, say), its claim holds
before selection, which the listing, the ledger and the mark on what comes back say. A pack is logged before any file of
it is made: its prompts stay in the workspace as they left, the audit log holds its digest, and the ledger of the people
behind a run says that its winners left.

Privacy posture: no record is read. File names hold the pack's id.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select

from engine.corpus.description import LANGUAGES
from engine.dp.upward import upward
from engine.errors import NotFoundError, RefusedError, UserError
from engine.jobs.models.prompts import Prompts
from engine.json_types import JSONObject, as_list, as_number, as_object
from engine.models.marks import POOL, SELECTED, Mark
from engine.store.audit import now
from engine.store.budget import fitted
from engine.store.budget.ledger import Ledger
from engine.store.database.schema import packs
from engine.store.logs import rows
from engine.store.pools.pools import Pools, pack_prompts
from engine.store.pools.views import Listed, PackPrompt, PackSummary
from engine.store.rows import AnyRow, RunRow
from engine.store.runs import held
from engine.store.runs.facts import had_a_say
from engine.store.runs.runs import run_row
from engine.store.session import Session, new_id

if TYPE_CHECKING:
    from engine.models.prompts.pack_prompts import Asked, Winner
    from engine.models.prompts.pack_words import PackWords

METHOD = "dp-select"
DECLARED = (
    "I declare that every word given for these prompts is public: none was taken from private text, or chosen after a "
    "look at it. I have read what leaves, and it may leave."
)
BY_PERSON = "declared public by whoever wrote the pack"
SHIPPED = "a public list that comes with the program"
RULE = "the same for whatever is in the corpus"


@dataclass(frozen=True)
class PackDraft:
    """A pack as it would leave: prompts, what is in them, characters in all, and the run whose winners stand in it."""

    prompts: tuple[PackPrompt, ...] = field(repr=False)
    listed: tuple[Listed, ...]
    characters: int
    run_id: str = ""


class Packs:
    """Prompt packs of a workspace."""

    def __init__(self, session: Session, pools: Pools, prompts: Prompts, ledger: Ledger) -> None:
        self.session, self.pools, self.prompts, self.ledger = session, pools, prompts, ledger

    def draft(self, words: JSONObject, run_id: str = "") -> PackDraft:
        """Return a pack as it would leave; nothing is kept and nothing leaves.

        Args:
            words: see `engine.models.prompts.pack_words`. run_id: a finished dp-select run whose winners are varied,
                empty for prompts from public words alone.

        Raises:
            UserError: a word breaks a rule, or the run has no winners to vary.
        """
        from engine.models.prompts.pack_prompts import inventions, variations

        asked, changed = _parsed(words), self._templates()
        if not run_id:
            return _draft(inventions(asked, changed), _public_words(asked, changed))
        with self.session.db.read() as connection:
            row = run_row(connection, run_id)
            selected = had_a_say(connection, self.session.key, row)
        winners = self._winners(row)
        made = variations(winners, asked, changed)
        return _draft(
            made, (*_of_run(row, winners, selected=selected), *_public_words(asked, changed, round_=True)), run_id
        )

    def write(self, words: JSONObject, run_id: str = "", *, declared: bool) -> PackSummary:
        """Log a pack, with all its prompts, so that files of it may leave.

        Args:
            words, run_id: as for `draft`. declared: whether the person at work declares what `DECLARED` says.

        Raises:
            RefusedError: nothing was declared, or the run was changed outside of the program.
        """
        if not declared:
            raise RefusedError(f"A pack needs this declaration of yours before it leaves: “{DECLARED}”")
        if run_id:
            held.demand(self.session, run_id)
        draft, pack_id = self.draft(words, run_id), new_id("k")
        prompts = [replace(one, id=f"{pack_id}-{i:05d}").as_dict() for i, one in enumerate(draft.prompts, 1)]
        digest = hashlib.sha256(json.dumps(prompts, sort_keys=True).encode()).hexdigest()
        marks: list[dict[str, object]] = []
        if run_id:
            with self.session.db.read() as connection:
                earlier = run_row(connection, run_id).fitted
            marks = [asdict(mark) for mark in self._marks(run_id, earlier)]
        with self.session.db.write() as connection:
            values = {
                "id": pack_id, "created": now(), "actor": self.session.actor, "run_id": run_id, "statement": DECLARED,
                "listed": [asdict(one) for one in draft.listed], "marks": marks, "prompts": prompts, "digest": digest,
            }  # fmt: skip
            told = rows.put(connection, self.session.key, rows.PACKS, values)
            self.session.write_audit(
                connection, "prompt pack logged", pack_id, prompts=len(prompts), sha256=digest, run=run_id,
                characters=draft.characters, declared=DECLARED, **told,
            )  # fmt: skip
            if run_id:
                self._enter(
                    connection, run_id, pack_id, len({one.parent for one in draft.prompts}),
                    selected=any(mark["run"] == run_id and mark["selected"] for mark in marks),
                )  # fmt: skip
        return self.get(pack_id)

    def _marks(self, run_id: str, earlier: Sequence[Mark]) -> list[Mark]:
        with self.session.db.read() as connection:
            selected = had_a_say(connection, self.session.key, run_row(connection, run_id))
            own = replace(fitted.own_mark(connection, run_id), of=POOL, selected=selected)
        return list({mark.run: mark for mark in (own, *earlier)}.values())

    def _enter(self, connection: Connection, run_id: str, pack_id: str, winners: int, *, selected: bool) -> None:
        """Enter in the ledger of the run's people that its winners left."""
        claim = run_row(connection, run_id).guarantee
        self.ledger.touch(
            connection,
            run_id,
            "prompt pack",
            f"Prompt pack {pack_id}: {winners:,} winners left with their noisy votes, under the run's own guarantee: "
            f"ε = {upward(claim.epsilon or 0.0, 6)} at δ = {upward(claim.delta or 0.0, 6)}"
            f"{f' ({SELECTED})' if selected else ''}.",
            kind="release",
            epsilon=claim.epsilon,
            delta=claim.delta,
            records=winners,
            unbounded=False,
        )

    def all(self) -> list[PackSummary]:
        """Return every pack that was logged, latest first."""
        with self.session.db.read() as connection:
            return [
                _summary(row) for row in connection.execute(select(packs).order_by(packs.c.created.desc(), packs.c.id))
            ]

    def get(self, pack_id: str) -> PackSummary:
        """Return one pack."""
        return _summary(self._row(pack_id))

    def prompts_of(self, pack_id: str) -> list[PackPrompt]:
        """Return the prompts of a pack as they left."""
        return pack_prompts(self._row(pack_id))

    def file(self, pack_id: str, form: str, model: str = "") -> tuple[str, bytes]:
        """Return (file name, content) of a logged pack in a format, after the audit log has its line.

        Args:
            form: openai, anthropic, gemini, jsonl or text. model: the service's name of a model, where the format
                needs one.
        """
        from engine.models.prompts.pack_formats import Line, suffix, written

        prompts = self.prompts_of(pack_id)
        data = written([Line(one.id, one.prompt, one.words, one.label, one.votes) for one in prompts], form, model)
        with self.session.db.write() as connection:
            self.session.write_audit(
                connection, "prompt pack file made", pack_id, format=form, sha256=hashlib.sha256(data).hexdigest()
            )
        return f"prompts-{pack_id}-{form}{suffix(form)}", data

    def runs(self, corpus_id: str) -> list[str]:
        """Return the ids of a corpus' finished runs whose winners may be varied, latest first."""
        from engine.store.database.schema import runs

        query = select(runs.c.id).where(
            runs.c.corpus_id == corpus_id, runs.c.state == "done", runs.c.method.in_((METHOD, f"filter:{METHOD}"))
        )
        with self.session.db.read() as connection:
            return list(connection.execute(query.order_by(runs.c.created.desc())).scalars())

    def _winners(self, row: RunRow) -> list[Winner]:
        """Return what a run chose, in its output's order, with the noisy votes of each."""
        from engine.methods.select.run import WINNERS
        from engine.models.prompts.pack_prompts import Winner

        if row.method.removeprefix("filter:") != METHOD or row.state != "done":
            raise UserError("a pack of a further round needs a finished run of dp-select; name one")
        promise = as_object(row.parameters.get("promise"))
        pool = self.pools.candidates(str(promise.get("name") or ""), str(promise.get("digest") or ""))
        found = []
        for one in as_list(as_object(row.state_json or {}).get(WINNERS)):
            place, votes = (as_number(value) for value in as_list(one))
            text, label = pool[int(place or 0)]
            found.append(Winner(text, label, float(votes or 0.0)))
        if not found:
            raise UserError("this run chose nothing, so there is nothing to vary")
        return found

    def _templates(self) -> dict[str, dict[str, str]]:
        changed = as_object(self.prompts.manifest()["changed"])
        return {domain: {name: str(text) for name, text in as_object(own).items()} for domain, own in changed.items()}

    def _row(self, pack_id: str) -> AnyRow:
        with self.session.db.read() as connection:
            row = connection.execute(select(packs).where(packs.c.id == pack_id)).first()
        if row is None:
            raise NotFoundError(f"pack {pack_id!r} does not exist in this workspace")
        return row


def _parsed(words: JSONObject) -> PackWords:
    from pydantic import ValidationError

    from engine.models.prompts.pack_words import PackWords

    try:
        return PackWords.model_validate(dict(words))
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        name = str(first["loc"][0]) if first["loc"] else "words"
        raise UserError(f"{name}: {first['msg'].removeprefix('Value error, ')}") from None


def _draft(asked: Sequence[Asked], listed: Sequence[Listed], run_id: str = "") -> PackDraft:
    prompts = tuple(
        PackPrompt(
            f"{i:05d}", one.prompt, one.label, one.words, "" if one.parent is None else one.parent.text,
            None if one.parent is None else one.parent.votes,
        )
        for i, one in enumerate(asked, 1)
    )  # fmt: skip
    return PackDraft(prompts, tuple(listed), sum(len(one.prompt) for one in prompts), run_id)


def _of_run(row: RunRow, winners: Sequence[Winner], *, selected: bool) -> tuple[Listed, ...]:
    claim = row.guarantee
    why = (
        f"protected output of run {row.id} (ε = {upward(claim.epsilon or 0.0, 6)}, "
        f"δ = {upward(claim.delta or 0.0)}); its line in the "
        "ledger pays for it"
    ) + (f"; {SELECTED}, which nothing pays for" if selected else "")
    return (
        Listed("Winners", f"{len(winners):,} texts of the pool, chosen by noisy votes", why),
        Listed("Noisy votes", "one number a winner, noise included", why),
    )


def _public_words(words: PackWords, changed: JSONObject, *, round_: bool = False) -> tuple[Listed, ...]:
    """Return everything else that stands in the prompts, with where it is from."""
    found = [
        Listed(
            "Templates",
            f"the program's own for {words.domain} text, in {LANGUAGES[words.language]}",
            "changed by a person here" if words.domain in changed else SHIPPED,
        )
    ]
    if words.kind:
        found.append(Listed("Kind of document", words.kind, BY_PERSON))
    if round_:
        found.append(Listed("Variations", f"{words.variations} a winner, {words.operator}, {words.spread}", RULE))
        if words.operator == "rephrase":
            found.append(_list("Styles", words.styles))
        return tuple(found)
    for what, own in (("Topics", words.topics), ("Labels", words.labels)):
        if own:
            found.append(_list(what, own))
    if words.keywords or not words.topics:
        found.append(_list("Key words", words.keywords))
    found.append(_list("Who writes", words.personas))
    if words.styles:
        found.append(_list("Styles", words.styles))
    found.append(Listed("Lengths (words)", ", ".join(map(str, words.lengths)), BY_PERSON))
    found.append(Listed("Number of prompts", f"{words.count:,}", BY_PERSON))
    return tuple(found)


def _list(what: str, own: Sequence[str]) -> Listed:
    return Listed(what, "; ".join(own), BY_PERSON) if own else Listed(what, "the program's own list", SHIPPED)


def _summary(row: AnyRow) -> PackSummary:
    listed = tuple(
        Listed(str(one.get("what")), str(one.get("content")), str(one.get("why")))
        for one in map(as_object, as_list(row.listed))
    )
    return PackSummary(
        row.id, row.created, row.actor, row.run_id, row.statement, len(as_list(row.prompts)), row.digest, listed
    )
