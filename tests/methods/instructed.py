"""A small scripted model that follows the three instructions of the rewriting loop; it keeps what it was asked."""

from __future__ import annotations

import re

from engine.models.contracts import Generation

LABELS = re.compile(r"Which of these labels fits it best: (.*?)\?")
VERSION = re.compile(r"version (\d+)")


class Instructed:
    """Answers by prompt; a rewriting says which attempt it is.

    Args:
        privacy: prompt and version to the privacy judge's reply; by default nothing is traced.
        utility: prompt and version to the utility judge's reply; by default the first label, or yes, at 90.
        rewritten: the rewriter's whole reply; by default a text that names its version.
    """

    id = "scripted"
    capabilities = frozenset({"instruct"})

    def __init__(self, privacy=None, utility=None, rewritten=None):
        self.privacy = privacy or (lambda prompt, version: "Record: none\nWords: none")
        self.utility = utility or (lambda prompt, version: f"Label: {first_label(prompt)}\nConfidence: 90")
        self.rewritten = rewritten
        self.asked = []

    def generate(self, prompts, sampling, constraints=None):
        self.asked += list(prompts)
        return [Generation(self._answer(prompt), 9, "stop") for prompt in prompts]

    def _answer(self, prompt):
        version = max(map(int, VERSION.findall(prompt)), default=0)
        if prompt.startswith("Rewrite"):
            wrote = f"Here is the text:\n\nSomebody wrote about a matter, version {version + 1}."
            return wrote if self.rewritten is None else self.rewritten
        return (self.privacy if prompt.startswith("You test") else self.utility)(prompt, version)


def first_label(prompt):
    """Return the first of the labels asked for, or yes where none are."""
    found = LABELS.search(prompt)
    return found.group(1).split(", ")[0] if found else "yes"
