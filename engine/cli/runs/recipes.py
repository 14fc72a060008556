"""The verbs `recipe` and `reproduce`: a run as a file, and the same records made again from it.

Privacy posture: the file holds settings, versions and keyed digests; results hold counts. Never record text.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from engine.cli.arguments import Argument
from engine.cli.terminal import opened, wait_for, write_new
from engine.errors import UserError

RECIPE: list[Argument] = [
    (("run",), {"help": "run, by id or name"}),
    (("--out",), {"type": Path, "required": True, "metavar": "FILE", "help": "file to write (YAML)"}),
]
REPRODUCE: list[Argument] = [
    (("file",), {"type": Path, "help": "what `recipe` wrote"}),
    (("--check",), {"action": "store_true", "help": "say what is not as it was, and make nothing"}),
]


def recipe(options: Namespace) -> Mapping[str, object]:
    """Write a run as a file that makes it again."""
    text = opened(options).recipes.write(options.run)
    write_new(options.out, text.encode())
    return {"run": options.run, "path": str(options.out), "bytes": len(text.encode())}


def reproduce(options: Namespace) -> Mapping[str, object]:
    """Make a run again from its file and hold the records against those of the file.

    Raises:
        RefusedError: it cannot be the same. UserError: it was made, and other records came out.
    """
    try:
        text = options.file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise UserError(f"file: {options.file.name} cannot be read") from None
    recipes = (workspace := opened(options)).recipes
    found = recipes.read(text, options.file.name)
    differs = recipes.differences(found)
    said = {"in_the_way": list(differs.in_the_way), "not_as_it_was": list(differs.told)}
    if options.check:
        return {"repeatable": found.repeatable and not differs.in_the_way, "why_not": found.why_not, **said}
    run_id = recipes.start(found)
    wait_for(workspace, workspace.runs.get(run_id).job_id)
    result = recipes.compare(found, run_id)
    if not result.whole:
        why = f"; not as it was: {', '.join(differs.told)}" if differs.told else ""
        raise UserError(
            f"run {run_id}: {result.same:,} of {result.of:,} records are the same ({result.made:,} were made){why}"
        )
    return {"run": run_id, "same": result.same, "of": result.of, **said}
