"""The verb `assess`: write the assessment file of a run, or a form to fill in for it.

Privacy posture: the internal edition quotes measured values and is written where the person says, nowhere else.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

import yaml

from engine.cli.arguments import Argument
from engine.cli.terminal import opened, write_new
from engine.errors import UserError

ARGUMENTS: list[Argument] = [
    (("run",), {"help": "run id"}),
    (("--policy",), {"required": True, "help": "id of the policy it is to be released under"}),
    (("--edition",), {"default": "internal", "choices": ("internal", "external"),
                      "help": "internal: with measured values; external: without any"}),
    (("--answers",), {"type": Path, "metavar": "FILE", "help": "YAML file of answers by field, kept with the corpus"}),
    (("--form",), {"type": Path, "metavar": "FILE", "help": "write such a file to fill in, and nothing else"}),
    (("--out",), {"type": Path, "metavar": "FILE", "help": "HTML file to write"}),
]  # fmt: skip
MOST_BYTES = 200_000


def assess(options: Namespace) -> Mapping[str, object]:
    """Write an assessment file, or its form."""
    workspace = opened(options)
    corpus = workspace.runs.get(options.run).corpus_id
    if options.form is not None:
        write_new(options.form, _form(workspace.assessments.answers(corpus)).encode())
        return {"form": str(options.form)}
    if options.out is None:
        raise UserError("--out: name the file to write, or --form a form to fill in")
    if options.answers is not None:
        workspace.assessments.keep(corpus, _read(options.answers))
    page = workspace.assessments.make(options.run, options.policy, options.edition)
    write_new(options.out, page.encode())
    return {"run": options.run, "edition": options.edition, "path": str(options.out),
            "answered": len(workspace.assessments.answers(corpus))}  # fmt: skip


def _form(answers: Mapping[str, str]) -> str:
    from engine.release.assessment import questions

    lines = ["# Answers of an assessment file. Leave empty what you cannot say; it then stands as not stated."]
    for group, fields in questions().groups().items():
        lines += ["", f"# {group}"]
        for one in fields:
            where = "both editions" if one.outside else "internal edition alone"
            value = yaml.safe_dump({one.id: answers.get(one.id, "")}, allow_unicode=True, width=10_000).strip()
            lines += [f"# {one.title}: {one.asks} ({where})", *(f"#   {each.id}: {each.says}" for each in one.choices)]
            lines.append(value)
    return "\n".join([*lines, ""])


def _read(path: Path) -> dict[str, str]:
    """Return the answers of a file.

    Raises:
        UserError: it cannot be read, is too large, or is no mapping of fields to words.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"--answers: {path.name} cannot be read: {error.strerror}") from None
    if len(data) > MOST_BYTES:
        raise UserError(f"--answers: {path.name} has more than {MOST_BYTES:,} bytes")
    try:
        content = yaml.safe_load(data)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError):
        raise UserError(f"--answers: {path.name} is no valid YAML; begin with --form") from None
    if not isinstance(content, dict):
        raise UserError(f"--answers: {path.name} must map fields to words; begin with --form")
    nested = [str(name) for name, said in content.items() if isinstance(said, dict | list)]
    if nested:
        raise UserError(f"--answers: {nested[0][:40]}: give words, no list")
    return {str(name): "" if said is None else str(said) for name, said in content.items()}
