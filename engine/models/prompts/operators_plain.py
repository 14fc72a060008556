"""Prompts for models that only write on: the instruct templates, with the place where the text begins marked.

Such a model was never taught to follow instructions, so outputs wander more; the examination shows how far.
Privacy posture: builds strings from what it is given; keeps nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Unpack

from engine.models.contracts import OperatorInputs
from engine.models.prompts.domains import ENGLISH, load_prompts
from engine.models.prompts.operators_instruct import InstructOperators

_NEXT = re.compile(r"\n\s*(?:\n\s*\n|(?:Task|Text|Answer|Document|Example)(?: \d+)?:|#{2,} )")


class PlainOperators:
    """Builds and reads the ten operators for models without chat template."""

    def __init__(self, changed: Mapping[str, Mapping[str, str]] | None = None, language: str = ENGLISH) -> None:
        self._instruct, self.language = InstructOperators(changed, language), language

    def prompt(self, name: str, **inputs: Unpack[OperatorInputs]) -> str:
        """Return the instruction, followed by the heading behind which the model writes on."""
        heading = "Text:"
        if name == "judge":
            words = load_prompts("generic", self.language)
            heading = "Answer (yes or no):" if self.language == ENGLISH else f"{words.yes} / {words.no}:"
        return f"{self._instruct.prompt(name, **inputs)}\n\n{heading}\n"

    def parse(self, name: str, output: str, **inputs: Unpack[OperatorInputs]) -> str:
        """Return the first text of an output: what stands before a gap of lines or a new heading."""
        return self._instruct.parse(name, _NEXT.split((output or "").strip())[0], **inputs)
