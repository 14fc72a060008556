"""The worker's model cache: what a method or an examination needs, loaded once."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any

from engine.errors import UserError

if TYPE_CHECKING:
    from engine.models.contracts import Detector, Embedder, Generator, Operators
    from engine.pii.settings import DetectorSettings

BUILTIN = "builtin"


class ModelCache:
    """Models by name; the latest detector only, since it depends on the corpus' settings."""

    def __init__(self) -> None:
        self._held: dict[str, Any] = {}
        self._lock = Lock()

    def generator(self, model: str) -> Generator:
        """Return the generator with this id."""
        if model != BUILTIN:
            raise UserError(f"model: must be {BUILTIN!r} in this edition, is {model!r}")

        def load() -> Any:
            from engine.models.builtin_lm import load_builtin_generator

            return load_builtin_generator()

        generator: Generator = self._get("generator", load)
        return generator

    def operators(self, model: str) -> Operators:
        """Return the prompt operators that belong to a generator."""

        def load() -> Any:
            from engine.models.operators_builtin import BuiltinOperators

            return BuiltinOperators()

        operators: Operators = self._get("operators", load)
        return operators

    def embedder(self) -> Embedder:
        """Return the sentence embedder."""

        def load() -> Any:
            from engine.models.embedder import load_embedder

            return load_embedder()

        embedder: Embedder = self._get("embedder", load)
        return embedder

    def detector(self, settings: DetectorSettings) -> Detector:
        """Return a record detector with these settings."""

        def load() -> Any:
            from engine.pii.detect import RecordDetector

            return RecordDetector(settings)

        name = "detector " + settings.to_json()
        with self._lock:
            for other in [k for k in self._held if k.startswith("detector ") and k != name]:
                del self._held[other]
        detector: Detector = self._get(name, load)
        return detector

    def _get(self, name: str, load: Callable[[], Any]) -> Any:
        with self._lock:
            if name not in self._held:
                self._held[name] = load()
            return self._held[name]
