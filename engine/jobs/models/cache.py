"""The worker's model cache: what a method or an examination needs, loaded once."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar, cast

from engine.errors import RefusedError
from engine.jobs.models import embedder_choice
from engine.store import model_settings
from engine.store.logs import about
from engine.store.session import Session

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.models.catalogue import Catalogue
    from engine.models.contracts import Detector, Embedder, Generator, Operators
    from engine.models.remote.consent import Consent
    from engine.models.remote.endpoint_settings import EndpointSettings
    from engine.pii.detect.settings import DetectorSettings

Held = TypeVar("Held")
BUILTIN, ENDPOINT = "builtin", "endpoint:"


class ModelCache:
    """Models by name; the latest detector only, since it depends on the corpus' settings."""

    def __init__(self) -> None:
        self._held: dict[str, Any] = {}
        self._lock = Lock()

    def generator(
        self,
        model: str,
        session: Session | None = None,
        corpus_id: str | None = None,
        needs: Collection[str] | None = None,
    ) -> Generator:
        """Return the generator with this id; one that is not built in replaces the last such one.

        Args:
            session: the open workspace, for models that were added to it.
            corpus_id: whose consent an endpoint on another machine needs; it is asked for anew each time.
            needs: what a method asks of the model, see `Catalogue.load`.

        Raises:
            UserError: the model is unknown or refused, or a consent is missing. RefusedError: there is one, and the log
                that holds it was changed.
        """
        if model == BUILTIN:
            return self._builtin()
        known = self._catalogue(session)
        from engine.models.folder.vllm_local import SERVED, installed

        text_alone = needs is not None and installed() and set(needs) <= SERVED
        name = f"generator {model}" + (" for text" if text_alone else "")
        with self._lock:
            for other in [k for k in self._held if k.startswith("generator ")]:
                if other != name or model.startswith(ENDPOINT):
                    close = getattr(self._held.pop(other), "close", None)
                    if close is not None:
                        close()
        if not model.startswith(ENDPOINT):
            info = known.info(model)
            held: Any = self._get(name, lambda: known.load(model, needs=needs))
            kept = f"{info.revision} {info.precision}"
            if getattr(held, "revision", kept) != kept:  # imported anew under the same name, or in other bits
                with self._lock:
                    self._held.pop(name, None)
                held = self._get(name, lambda: known.load(model, needs=needs))
            held.revision = kept
            return cast("Generator", held)
        settings, given, key = known.endpoints.get(model.removeprefix(ENDPOINT)), None, None
        if session is not None and settings is not None:
            with session.db.read() as connection:
                given = _consent(connection, settings, corpus_id)
                if given is not None and not about.sound(connection, session.key, given.corpus_id):
                    raise RefusedError(
                        "The audit log's lines about this corpus do not hold, so no consent in it counts and no text "
                        "is sent; `audit --verify` says what was done."
                    )
            key = model_settings.read_key(session.folder, settings)
        return self._get(name, lambda: known.load(model, key=key, consent=given))

    def operators(self, model: str, session: Session | None = None) -> Operators:
        """Return the prompt operators that belong to a generator."""
        return self._catalogue(session).operators(model)

    def _builtin(self) -> Generator:
        def load() -> Generator:
            from engine.models.builtin.language_model import load_builtin_generator

            return load_builtin_generator()

        return self._get(BUILTIN, load)

    @staticmethod
    def _catalogue(session: Session | None) -> Catalogue:
        from engine.jobs.models.catalogued import catalogue
        from engine.models.catalogue import Catalogue

        return Catalogue(Path(), {}) if session is None else catalogue(session)

    def embedder(self, choice: str = embedder_choice.ENGLISH) -> Embedder:
        """Return an embedder: the built-in one, `ngrams`, or that of a folder; the latest folder alone is held.

        Raises:
            UserError: the folder is not a sentence model any more.
        """

        def load() -> Embedder:
            from engine.models.builtin.embedder import SentenceEmbedder, load_embedder

            if choice == embedder_choice.ENGLISH:
                return load_embedder()
            if choice == embedder_choice.NGRAMS:
                from engine.models.builtin.character_ngrams import CharacterNgrams

                return CharacterNgrams()
            return SentenceEmbedder(embedder_choice.checked(choice))

        name = "embedder" if choice == embedder_choice.ENGLISH else f"embedder {choice}"
        with self._lock:
            for other in [k for k in self._held if k.startswith("embedder ") and k != name]:
                del self._held[other]
        return self._get(name, load)

    def detector(self, settings: DetectorSettings) -> Detector:
        """Return a record detector with these settings."""

        def load() -> Detector:
            from engine.pii.detect.detector import RecordDetector

            return RecordDetector(settings)

        name = "detector " + settings.to_json()
        with self._lock:
            for other in [k for k in self._held if k.startswith("detector ") and k != name]:
                del self._held[other]
        return self._get(name, load)

    def _get(self, name: str, load: Callable[[], Held]) -> Held:
        with self._lock:
            if name not in self._held:
                self._held[name] = load()
            held: Held = self._held[name]
            return held


def _consent(connection: Connection, settings: EndpointSettings, corpus_id: str | None) -> Consent | None:
    """Return the consent for a corpus; without one, as in a self-test with made-up text, that of any corpus."""
    if corpus_id is not None:
        return model_settings.consent_for(connection, corpus_id, settings)
    found = [c for c in model_settings.consents(connection, None, settings.name) if c.host == settings.host]
    return found[0] if found else None
