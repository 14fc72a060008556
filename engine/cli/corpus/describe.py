"""The verb `describe`: say in public words what a corpus holds, or print what was said.

Privacy posture: prints what a person declared public; no record is read.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict

from engine.cli.arguments import Argument
from engine.cli.terminal import opened
from engine.corpus.description import LANGUAGES, SUBJECTS

ARGUMENTS: list[Argument] = [
    (("corpus",), {"help": "id of a corpus"}),
    (("--kind",), {"default": "", "help": "kind of document in a few public words, such as 'discharge letter'"}),
    (("--language",), {"default": "en", "choices": tuple(LANGUAGES), "help": "its language"}),
    (("--domain",), {"default": "generic", "choices": SUBJECTS, "help": "its domain"}),
]


def describe(options: Namespace) -> Mapping[str, object]:
    """Declare a corpus' public description where --kind is given, and print it."""
    workspace = opened(options)
    if options.kind:
        workspace.descriptions.declare(options.corpus, options.kind, options.language, options.domain)
    workspace.corpora.get(options.corpus)
    found = workspace.descriptions.get(options.corpus)
    return {
        "corpus": options.corpus, "description": None if found is None else asdict(found),
        "unlike": workspace.first_look.unlike("builtin", options.corpus),
    }  # fmt: skip
