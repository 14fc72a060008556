"""The verb `intruder`: a person says, within a time box, whom a random sample of approved texts is of.

Privacy posture: texts and claims go into a file that the person names, readable by them alone; what is printed holds
counts, shares and names of who acted.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.arguments import Argument
from engine.cli.checks import BY
from engine.cli.terminal import opened, write_new
from engine.errors import UserError
from engine.json_types import JSONObject

if TYPE_CHECKING:
    from engine.workspace import Workspace

ARGUMENTS: list[Argument] = [
    (("run",), {"help": "run, by id or name"}),
    (("--draw",), {"type": int, "metavar": "N", "help": "draw N of its approved texts at random"}),
    (("--minutes",), {"type": int, "metavar": "T", "help": "with --draw: the time box"}),
    (("--means",), {"default": "", "help": "with --draw: what the person may use to find somebody"}),
    (("--target",), {"type": float, "metavar": "X", "help": "how many to draw so that at most a share X of the texts "
                     "may be identified"}),
    (("--begin",), {"action": "store_true", "help": "take it on, with --out: the time begins"}),
    (("--out",), {"type": Path, "metavar": "FILE", "help": "write its texts, a JSON object a line, to claim or to "
                  "check in"}),
    (("--claims",), {"type": Path, "metavar": "FILE", "help": "such a file with whom each text is of under `claim`"}),
    (("--end",), {"action": "store_true", "help": "say that you are done before the time is over"}),
    (("--checked",), {"type": Path, "metavar": "FILE", "help": "such a file with right, wrong or unclear under "
                      "`outcome`, by somebody else"}),
    BY,
]  # fmt: skip
MOST_BYTES = 100_000_000


def intruder(options: Namespace) -> Mapping[str, object]:
    """Draw a trial, take it on, claim, end or check, as asked; print what the latest one says."""
    workspace = opened(options)
    workspace.session.actor = options.by.strip() or workspace.session.actor
    trials = workspace.intruder
    if options.begin and options.out is None:
        raise UserError("--begin: name a file for the texts with --out")
    if options.draw is not None:
        if options.minutes is None:
            raise UserError("--draw: give --minutes and --means too")
        trials.draw(options.run, options.draw, minutes=options.minutes, means=options.means)
    elif options.minutes is not None or options.means:
        raise UserError("--minutes, --means: belong to --draw")
    if options.begin:
        if options.out.exists():
            raise UserError(f"out: {options.out.name} exists already; name a file that does not")
        trials.begin(options.run)
    if options.out is not None:
        write_new(options.out, _written(workspace, options.run), 0o600)
    if options.claims is not None:
        for place, (trial, said) in _read(options.claims, "claim").items():
            trials.claim(options.run, place, said, trial=trial)
    if options.end:
        trials.end(options.run)
    if options.checked is not None:
        for place, (trial, outcome) in _read(options.checked, "outcome").items():
            if outcome:
                trials.judge(options.run, place, outcome, trial=trial)
    from engine.store.runs.intruder.words import sentences

    found = trials.estimate(options.run)
    printed: dict[str, object] = {"run": options.run, "trial": None if found is None else asdict(found)}
    if found is not None:
        printed["sentences"] = list(sentences(found))
    if options.target is not None:
        printed["needed"] = trials.needed(options.run, options.target)
    return printed


def _written(workspace: Workspace, run_id: str) -> bytes:
    trial = workspace.intruder.latest(run_id)
    lines = [
        {
            "trial": "" if trial is None else trial.id,
            "place": one.place,
            "text": one.text,
            "claim": one.claim,
            "outcome": one.outcome,
        }
        for one in workspace.intruder.texts(run_id)
    ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode("utf-8", "replace")


def _read(path: Path, name: str) -> dict[int, tuple[str, str]]:
    """Return place -> the trial that a line is of, and what stands under a name in it.

    Raises:
        UserError: it cannot be read, or a line is no object with a place; names the line.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UserError(f"{path.name} cannot be read: {error.strerror}") from None
    if len(data) > MOST_BYTES:
        raise UserError(f"{path.name} has more than {MOST_BYTES:,} bytes")
    found: dict[int, tuple[str, str]] = {}
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        trial, place, said = _line(line, name)
        if trial is None or place is None or said is None:
            raise UserError(
                f"{path.name}, line {number}: must be a JSON object with the `trial` and `place` that --out "
                f"wrote there, and words under `{name}`"
            )
        if place in found:
            raise UserError(f"{path.name}, line {number}: the place {place} stands there twice")
        found[place] = trial, said
    return found


def _line(line: bytes, name: str) -> tuple[str | None, int | None, str | None]:
    try:
        body: JSONObject = json.loads(line.decode("utf-8-sig"))
        trial, place, said = body["trial"], body["place"], body.get(name, "")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None, None, None
    whole = isinstance(place, int) and not isinstance(place, bool)
    return (
        trial if isinstance(trial, str) else None,
        place if whole and isinstance(place, int) else None,
        said if isinstance(said, str) else None,
    )
