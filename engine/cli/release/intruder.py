"""The verb `intruder`: a person says, within a time box, whom a random sample of approved texts is of.

Privacy posture: texts and claims go into a file that the person names, readable by them alone; what is printed holds
counts, shares and names of who acted.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.arguments import Argument
from engine.cli.release.checks import BY
from engine.cli.terminal import opened, write_new
from engine.errors import RefusedError, UserError
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
                      "`outcome`, by somebody else; under `reason` why, where a verdict is changed after all were "
                      "given"}),
    BY,
]  # fmt: skip
MOST_BYTES = 100_000_000


def intruder(options: Namespace) -> Mapping[str, object]:
    """Draw a trial, take it on, claim, end or check, as asked; print what the latest one says."""
    workspace = opened(options)
    workspace.session.actor = options.by.strip() or workspace.session.actor
    trials, run_id = workspace.intruder, workspace.runs.get(options.run).id
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
        for place, one in _read(options.claims, run_id, "claim").items():
            trials.claim(options.run, place, one.said, trial=one.trial)
    if options.end:
        trials.end(options.run)
    if options.checked is not None:
        for place, one in _read(options.checked, run_id, "outcome").items():
            if one.said:
                trials.judge(options.run, place, one.said, trial=one.trial, reason=one.reason)
    from engine.store.runs.intruder.words import sentences

    found = trials.estimate(options.run)
    printed: dict[str, object] = {"run": options.run, "trial": None if found is None else asdict(found)}
    if found is not None:
        printed["sentences"] = list(sentences(found))
    if options.target is not None:
        printed["needed"] = trials.needed(options.run, options.target)
    return printed


@dataclass(frozen=True)
class Line:
    """A line of a file of claims: the run and trial it is of, its place in the sample, and what somebody wrote."""

    run: str
    trial: str
    place: int
    said: str
    reason: str


def _written(workspace: Workspace, run_id: str) -> bytes:
    """Return the sample as lines, each of which names corpus, run and trial, so that it fits no other."""
    trial, run = workspace.intruder.latest(run_id), workspace.runs.get(run_id)
    lines = [
        {
            "corpus": run.corpus_id,
            "run": run.id,
            "trial": "" if trial is None else trial.id,
            "place": one.place,
            "text": one.text,
            "claim": one.claim,
            "outcome": one.outcome,
            "reason": one.reason,
        }
        for one in workspace.intruder.texts(run_id)
    ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode("utf-8", "replace")


def _read(path: Path, run_id: str, name: str) -> dict[int, Line]:
    """Return place -> line, and what stands under a name in it.

    Raises:
        UserError: it cannot be read, or a line is no object with its run, trial and place; names the line.
        RefusedError: a line is of another run.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UserError(f"{path.name} cannot be read: {error.strerror}") from None
    if len(data) > MOST_BYTES:
        raise UserError(f"{path.name} has more than {MOST_BYTES:,} bytes")
    found: dict[int, Line] = {}
    for number, raw in enumerate(data.splitlines(), 1):
        if not raw.strip():
            continue
        one = _line(raw, name)
        if one is None:
            raise UserError(
                f"{path.name}, line {number}: must be a JSON object with the `run`, `trial` and `place` that --out "
                f"wrote there, and words under `{name}`"
            )
        if one.run != run_id:
            raise RefusedError(f"{path.name}, line {number}: this is a line of another run; nothing of it was taken")
        if one.place in found:
            raise UserError(f"{path.name}, line {number}: the place {one.place} stands there twice")
        found[one.place] = one
    return found


def _line(line: bytes, name: str) -> Line | None:
    try:
        body: JSONObject = json.loads(line.decode("utf-8-sig"))
        run, trial, place = body["run"], body["trial"], body["place"]
        said, reason = body.get(name, ""), body.get("reason", "")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if not isinstance(place, int) or isinstance(place, bool):
        return None
    if not (isinstance(run, str) and isinstance(trial, str) and isinstance(said, str) and isinstance(reason, str)):
        return None
    return Line(run, trial, place, said, reason)
