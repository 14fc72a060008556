"""Five texts that a model writes for a corpus' public description, before it is shown anything private.

Privacy posture: the prompt is made of the declared kind, domain and language; no record is read, and nothing of the
corpus but that goes to a server.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from sqlalchemy import select

from engine.corpus.description import Description
from engine.errors import UserError
from engine.jobs.models.language_models import Models
from engine.models.offered.likeness import unlike_built_in, unlike_texts
from engine.store import model_settings, queue
from engine.store.corpora.descriptions import Descriptions
from engine.store.database.schema import jobs
from engine.store.model_settings import FirstTexts
from engine.store.session import Session

KIND = "first texts"


@dataclass(frozen=True)
class Written:
    """The state (`none`, `queued`, `running` or `done`) of a model's five texts for a description, and the texts."""

    state: str
    result: FirstTexts | None


class FirstLook:
    """What models write for public descriptions, and whether they know such text."""

    def __init__(self, session: Session, models: Models, descriptions: Descriptions) -> None:
        self.session, self.models, self.descriptions = session, models, descriptions

    def write(self, model: str, corpus_id: str) -> str:
        """Queue five texts by a model for a corpus' public description and return the job's id.

        Raises:
            UserError: the corpus has no description, the model is unknown, or a server lacks its consent.
        """
        found = self.descriptions.get(corpus_id)
        if found is None:
            raise UserError(
                "description: this corpus has none yet; say in public words what kind of document it holds (Plan page, "
                "or the verb `describe`)"
            )
        self.models.check_reachable(model)
        with self.session.db.write() as connection:
            for row in connection.execute(select(jobs).where(jobs.c.kind == KIND, jobs.c.state.in_(queue.ACTIVE))):
                if row.arguments.get("model") == model and row.arguments.get("description") == asdict(found):
                    return str(row.id)
            job_id = queue.enqueue(connection, KIND, arguments={"model": model, "description": asdict(found)})
        self.session.wake()
        return job_id

    def of(self, model: str, corpus_id: str) -> Written:
        """Return a model's five texts for a corpus' description; none where they were written for another one."""
        found = self.descriptions.get(corpus_id)
        if found is None:
            return Written("none", None)
        with self.session.db.read() as connection:
            kept = model_settings.first_texts(connection).get(model)
            rows = list(connection.execute(select(jobs).where(jobs.c.kind == KIND, jobs.c.state.in_(queue.ACTIVE))))
        result = kept if kept is not None and kept["description"] == asdict(found) else None
        waiting = next((row for row in rows if row.arguments.get("model") == model), None)
        if waiting is not None:
            self.session.wake()
            return Written(str(waiting.state), result)
        return Written("done" if result is not None else "none", result)

    def unlike(self, model: str, corpus_id: str) -> str:
        """Return why a model is not made for such text as a corpus is declared to hold, or nothing.

        By the five texts where they were written, else, for the built-in model, by the words of the description.
        """
        found = self.descriptions.get(corpus_id)
        result = self.of(model, corpus_id).result
        if found is None:
            return ""
        if model == "builtin" and found.language != "en":
            return unlike_built_in(found)
        if result is not None:
            return unlike_texts("the built-in model" if model == "builtin" else model, found.kind, result["cosine"])
        return unlike_built_in(found) if model == "builtin" else ""


def description_of(values: dict[str, str]) -> Description:
    """Return the description that a job carries."""
    return Description.checked(values["kind"], values["language"], values["domain"])
