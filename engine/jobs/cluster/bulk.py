"""What a process of Ray computes for a helper: from what it is given alone, the same as a worker would.

Privacy posture: texts come as arguments and go as results; an error is told by its class and code positions.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from engine.jobs.worker.launch import OFFLINE, PATIENT
from engine.jobs.worker.task import frames
from engine.json_types import JSON, JSONObject, as_object
from engine.methods import readable
from engine.methods.base import Context, Make, Piece, Spreading, parse_parameters

if TYPE_CHECKING:
    from engine.pii.detect.detector import RecordDetector
    from engine.pii.spans import Span


class Answer(TypedDict, total=False):
    """What was computed, or where it failed."""

    found: object
    failed: str


class Order(TypedDict):
    """What is to be known of a run, its method of kind `dp`: as it was asked for, and where models lie."""

    method: str
    parameters: JSONObject
    count: int
    seed: int
    model: str
    prompts: JSON
    models: str


class Bulk:
    """Computes; what was loaded stays for the next call."""

    def __init__(self) -> None:
        os.environ.update({**PATIENT, **os.environ, **OFFLINE})  # before torch is loaded
        self._detector: tuple[str, RecordDetector] | None = None
        self._maker: tuple[str, Make] | None = None

    def survey(self, texts: Sequence[str]) -> Answer:
        """Return the language of each text, and the letters in each language."""

        def found() -> object:
            from engine.pii.languages.telling import letters_of, told

            codes = [told(text) for text in texts]
            return codes, dict(letters_of(list(texts), codes))

        return _answered(found)

    def detect(self, settings: str, batches: Sequence[tuple[list[str], list[str]]]) -> Answer:
        """Return the spans of each text of each batch, of texts and their languages."""

        def found() -> list[list[list[Span]]]:
            from engine.models.threads import one_thread
            from engine.pii.detect.detector import RecordDetector
            from engine.pii.detect.settings import DetectorSettings

            if self._detector is None or self._detector[0] != settings:
                self._detector = settings, RecordDetector(DetectorSettings.from_json(settings))
            with one_thread():
                return [self._detector[1].find(texts, None, languages) for texts, languages in batches]

        return _answered(found)

    def make(self, order: Order, known: JSON, piece: Piece) -> Answer:
        """Return what is made of a piece of a run."""

        def found() -> JSONObject:
            name = json.dumps([order, known], sort_keys=True)
            if self._maker is None or self._maker[0] != name:
                self._maker = name, maker(order, known)
            return self._maker[1](piece)

        return _answered(found)


def maker(order: Order, known: JSON) -> Make:
    """Return what makes pieces of a run; there are no records at hand and no mechanisms.

    Raises:
        UserError: a model does not lie here.
    """
    import pandas as pd

    from engine.jobs.models.cache import BUILTIN, ModelCache
    from engine.methods import get_method
    from engine.models.catalogue import Catalogue
    from engine.models.prompts.templates import with_templates

    method, models = get_method(order["method"]), Catalogue(Path(order["models"]), {})
    assert isinstance(method, Spreading)
    needs, cache = set(method.spec.needs), ModelCache()
    here = order["model"] == BUILTIN
    context = Context(
        records=pd.DataFrame(),
        spans=pd.DataFrame(),
        count=order["count"],
        parameters=parse_parameters(method.spec, order["parameters"]),
        seed=order["seed"],
        generator=cache.generator(BUILTIN) if here else models.load(order["model"], needs=needs),
        operators=with_templates(models.operators(order["model"]), as_object(order["prompts"])),
        embedder=cache.embedder() if "embedder" in needs else None,
    )
    return readable.maker(method, context, known)


def _answered(work: Callable[[], object]) -> Answer:
    try:
        return {"found": work()}
    except Exception as error:  # noqa: BLE001  Ray would write its message down
        return {"failed": frames(error)}
