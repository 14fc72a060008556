"""Job `first texts`: five texts for a public description, as they come, and how near they are to its words.

Privacy posture: no record is read; the texts are kept to be shown.
"""

from __future__ import annotations

import time
from dataclasses import asdict

import numpy as np

from engine.errors import UserError
from engine.jobs.models.first_texts import KIND, description_of
from engine.jobs.worker.task import Task
from engine.json_types import JSON
from engine.models.contracts import Sampling
from engine.models.prompts.domains import prompt_language
from engine.models.prompts.templates import with_templates
from engine.store import model_settings
from engine.store.audit import now
from engine.store.model_settings import FirstTexts

TEXTS, WORDS, TOKENS, SHOWN = 5, 80, 200, 1500


def run(task: Task) -> None:
    """Write the texts that the job asks for and keep them by model."""
    model, description = str(task.arguments["model"]), description_of(task.arguments["description"])
    task.report(KIND, 0, TEXTS)
    generator = task.models.generator(model, task.store.session)
    language = prompt_language(description.language)
    kept: dict[str, JSON] = {"language": language}
    operators = with_templates(task.models.operators(model, task.store.session), kept)
    kind = description.kind if language == description.language else description.asked
    prompt = operators.prompt("invent", domain=description.domain, kind=kind, words=WORDS)
    begun = time.monotonic()
    made = generator.generate([prompt] * TEXTS, Sampling(max_new_tokens=TOKENS))
    seconds = time.monotonic() - begun
    texts = [operators.parse("invent", one.text)[:SHOWN] for one in made]
    if not any(text.strip() for text in texts):
        raise UserError(f"model {model!r} wrote nothing for this description; test it on the Models page")
    vectors = task.models.embedder().embed([description.kind, *texts])
    cosine = float(np.mean(vectors[1:] @ vectors[0]))
    result: FirstTexts = {
        "description": asdict(description), "texts": texts, "cosine": round(cosine, 4), "seconds": round(seconds, 2),
        "tokens": sum(one.tokens for one in made), "at": now(),
    }  # fmt: skip
    with task.batch(KIND, TEXTS, TEXTS) as connection:
        model_settings.save_first_texts(connection, model, result)
