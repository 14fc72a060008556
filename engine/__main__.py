"""The command line: `python -m engine VERB`.

JSON on stdout, messages on stderr; exit status 0 done, 1 user error, 2 refused by gate or budget.
Privacy posture: prints counts, settings and findings; never record text.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import NoReturn

from engine.cli import verbs as commands
from engine.cli.arguments import Argument
from engine.cli.corpus.describe import ARGUMENTS as DESCRIBE
from engine.cli.corpus.mentioned import ARGUMENTS as NAMED
from engine.cli.corpus.pools import PACK, POOL
from engine.cli.models import ARGUMENTS
from engine.cli.release.assess import ARGUMENTS as ASSESS
from engine.cli.release.checks import SPOT_CHECK, WAIVE
from engine.cli.release.intruder import ARGUMENTS as INTRUDER
from engine.cli.runs.curve import ARGUMENTS as CURVE
from engine.cli.runs.recipes import RECIPE, REPRODUCE
from engine.cli.runs.sweep import ARGUMENTS as SWEEP
from engine.cli.workspace.encryption import REKEY
from engine.cli.workspace.moving import ARGUMENTS as MOVING
from engine.cli.workspace.people import ARGUMENTS as PEOPLE
from engine.cli.workspace.sbom import ARGUMENTS as SBOM
from engine.cli.workspace.upkeep import AUDIT
from engine.cli.workspace.working import ARGUMENTS as WORKING
from engine.dp.ledger import LIST_SHARE
from engine.errors import UnderstudyError
from engine.json_types import JSON
from engine.pii.detect.presets import PRESETS
from engine.pii.languages.pack import codes as language_codes

KEY_FILE = "key file of an encrypted workspace (or UNDERSTUDY_KEY_FILE); without one its passphrase is asked for"


class _Parser(argparse.ArgumentParser):
    """A parser that leaves with status 1 on wrong options."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(1, f"{self.prog}: {message}\n")


def _argument_tables() -> dict[str, tuple[str, list[Argument]]]:
    """Return verb → (help, argument rows)."""
    corpus: Argument = (("corpus",), {"help": "corpus, by id or name"})
    run: Argument = (("run",), {"help": "run, by id or name"})
    no_wait: Argument = (("--no-wait",), {"action": "store_true", "help": "return as soon as the job is queued"})
    sign_key: Argument = (
        ("--sign-key",),
        {"type": Path, "help": "private key that signs, made by `key`"},
    )
    method: Argument = (("--method",), {"required": True, "help": "method id, see `methods`"})
    settings: Argument = (
        ("--set",),
        {"action": "append", "default": [], "metavar": "k=v", "help": "a method parameter"},
    )
    count: Argument = (("--count",), {"type": int, "help": "outputs wanted"})
    budget: list[Argument] = [
        (("--epsilon",), {"type": float, "help": "privacy budget"}),
        (("--delta",), {"type": float, "help": "probability allowed on top of the factor e^epsilon"}),
    ]
    model: Argument = (("--model",), {"default": "builtin", "help": "model id, see `models`"})
    unit: Argument = (("--unit",), {"choices": ("record", "source"), "default": "record", "help": "who is protected"})
    named_labels: list[Argument] = [
        (("--labels",), {"metavar": "A,B,C", "help": "declare this list of labels public, by name"}),
        (("--labels-file",), {"metavar": "FILE", "help": "declare the list in a file public, one label a line"}),
    ]
    return {
        "import": (
            "load a file",
            [
                (("file",), {"nargs": "?", "help": "a file, or a folder of .txt files"}),
                (("--sample",), {"help": "a made-up sample corpus instead of a file"}),
                (("--name",), {"help": "name of the corpus"}),
                (("--text",), {"help": "column with the text"}),
                (
                    ("--also-text",),
                    {
                        "action": "append",
                        "default": [],
                        "metavar": "COLUMN",
                        "help": "a further column of text of the same record; each comes under its name",
                    },
                ),
                (
                    ("--in-order",),
                    {
                        "metavar": "COLUMN",
                        "help": "put the rows of one person together as one text, in the order of this column",
                    },
                ),
                (("--id",), {"help": "column with the record id"}),
                (
                    ("--source",),
                    {"help": "column with the person, author or case; the one that is named so if not given"},
                ),
                (("--no-source",), {"action": "store_true", "help": "no column says whose record each is"}),
                (("--label",), {"help": "column with the label"}),
                (("--spans",), {"help": "column with gold spans"}),
                (("--keep",), {"action": "append", "default": [], "help": "another column to keep inside"}),
                (
                    ("--unit",),
                    {"choices": ("record", "source"), "help": "who is protected; source where a column names them"},
                ),
                (("--cap",), {"type": int, "help": "records a source that methods may use, public; 5 unless given"}),
                (
                    ("--cap-from-file",),
                    {
                        "action": "store_true",
                        "help": "the most records that one source has is the cap; you declare that it may be public",
                    },
                ),
                (
                    ("--labels-public",),
                    {
                        "action": "store_true",
                        "help": "declare the training labels a public list; refused where fewer than 3 people hold one",
                    },
                ),
                *named_labels,
                (("--holdout",), {"type": float, "default": 0.2, "help": "share of units sealed for examination"}),
                (
                    ("--same-people-as",),
                    {"action": "append", "default": [], "metavar": "CORPUS", "help": "its people are those of CORPUS"},
                ),
                (("--encoding",), {"help": "text encoding, where detection is wrong"}),
                (("--delimiter",), {"help": "column delimiter, where detection is wrong"}),
            ],
        ),
        "corpora": ("list corpora", []),
        "labels": (
            "print the labels of a corpus, and declare which list of them is public",
            [
                corpus,
                (("--declare",), {"action": "store_true", "help": "declare the labels as they stand to be public"}),
                (
                    ("--rare",),
                    {
                        "choices": ["leave-out", "include"],
                        "default": "refuse",
                        "help": "with --declare: what happens to labels that fewer than 3 people hold",
                    },
                ),
                (("--label",), {"action": "append", "help": "declare this list instead, one label an option"}),
                *named_labels,
                (("--unusual",), {"action": "store_true", "help": "also where labels are long or more than 50"}),
                (("--withdraw",), {"action": "store_true", "help": "take the declaration back"}),
            ],
        ),
        "describe": ("say in public words what a corpus holds, or print what was said", DESCRIBE),
        "delete": ("delete a corpus with its spans, runs and caches", [corpus]),
        "detect": (
            "find what identifies people",
            [
                corpus,
                (("--preset",), {"choices": PRESETS, "help": "what kind of text it is, kept with the corpus"}),
                (
                    ("--language",),
                    {
                        "choices": ("auto", "en", *language_codes()),
                        "help": "language of all records, or auto: each record's own; kept with the corpus",
                    },
                ),
                (("--gold",), {"action": "store_true", "help": "compare with the gold spans"}),
                no_wait,
            ],
        ),
        "spot-check": ("draw a random sample of records to read, and say what it shows was missed", SPOT_CHECK),
        "named": ("count who is named in the records of several units, and list them for redaction", NAMED),
        "languages": ("list the languages: what each has and has not, and what was measured", []),
        "methods": ("list synthesis methods", []),
        "models": ("list, add and test language models", ARGUMENTS),
        "pool": ("list, import, check and delete pools of text that was made elsewhere", POOL),
        "pack": ("show, log and write prompts that may leave, so that text can be made elsewhere", PACK),
        "guarantee": (
            "state what a method promises",
            [
                method,
                settings,
                *budget,
                (("--units",), {"type": int, "default": 1000, "help": "units in the training part"}),
                unit,
                (("--cap",), {"type": int, "help": "records a source; 5 unless given"}),
                (("--labels",), {"type": int, "default": 0, "help": "number of labels in the public list"}),
            ],
        ),
        "plan": ("say what a run would cost", [corpus, method, settings, count, *budget, model]),
        "ledger": (
            "print the budget of the people behind a corpus and every line of its use",
            [
                (("corpus",), {"nargs": "?", "help": "corpus, by id or name"}),
                (
                    ("--same-people-as",),
                    {
                        "action": "append",
                        "default": [],
                        "metavar": "OTHER",
                        "help": "join with the people of another corpus or ledger, for good",
                    },
                ),
                (
                    ("--other-people-than",),
                    {
                        "action": "append",
                        "default": [],
                        "metavar": "OTHER",
                        "help": "say that those of another ledger are not the same people",
                    },
                ),
                (
                    ("--spent-since",),
                    {
                        "nargs": 2,
                        "type": float,
                        "metavar": ("EPS", "DELTA"),
                        "help": "what was spent in the time that a restored ledger knows nothing of; 0 0 for nothing",
                    },
                ),
                (
                    ("--accept-rollback",),
                    {
                        "action": "store_true",
                        "help": "go on with an older database that was put back; every ledger says so",
                    },
                ),
                (
                    ("--set-limit",),
                    {"nargs": 2, "type": float, "metavar": ("EPS", "DELTA"), "help": "the most all runs may cost"},
                ),
                (
                    ("--list-share",),
                    {
                        "type": float,
                        "default": LIST_SHARE,
                        "help": "with --set-limit: part of delta set aside for lists of labels that runs buy; 0.3",
                    },
                ),
                (("--large-delta",), {"action": "store_true", "help": "confirm a limit with a delta of 1/N or more"}),
                (("--export",), {"action": "store_true", "help": "with the hashes that chain the lines"}),
            ],
        ),
        "synthesize": (
            "run a method",
            [
                corpus,
                method,
                settings,
                count,
                *budget,
                model,
                (("--seed",), {"type": int, "default": 0, "help": "seed of everything but mechanism noise"}),
                no_wait,
            ],
        ),
        "sweep": (
            "make several runs that are decided on together: all are reserved and queued, or none",
            [*SWEEP, no_wait],
        ),
        "runs": ("list runs", [(("--corpus",), {"help": "of this corpus only"})]),
        "resume": ("resume a cancelled or failed run", [run, no_wait]),
        "again": ("make a new run with a run's settings, and a new seed where no noise is drawn", [run, no_wait]),
        "recipe": ("write a run as a file that makes it again", RECIPE),
        "reproduce": ("make a run again from its file: the same records where no noise is drawn", REPRODUCE),
        "examine": (
            "measure leakage and usefulness",
            [
                run,
                (("--privacy",), {"action": "store_true", "help": "leakage only"}),
                (("--utility",), {"action": "store_true", "help": "usefulness only"}),
                (("--quick",), {"action": "store_true", "help": "leave out attacks that train models on the text"}),
                (
                    ("--tuned-classifier",),
                    {"action": "store_true", "help": "train a small transformer too"},
                ),
                (
                    ("--embedder",),
                    {"default": "", "metavar": "auto|english|ngrams|FOLDER", "help": "what meaning is measured by"},
                ),
                no_wait,
            ],
        ),
        "study": (
            "run several variants and print their tables; alone: list the studies, with --study what one takes",
            [
                (("corpus",), {"nargs": "?", "help": "corpus, by id or name"}),
                (("--study",), {"help": "study id"}),
                (("--set",), {"action": "append", "default": [], "metavar": "k=v", "help": "a parameter of the study"}),
                (("--model",), {"default": "builtin", "help": "model id"}),
                (("--seed",), {"type": int, "default": 0, "help": "seed of everything but mechanism noise"}),
                (("--resume",), {"metavar": "ID", "help": "go on with a cancelled or failed study"}),
                (("--show",), {"metavar": "ID", "help": "print what a started study has so far"}),
                no_wait,
            ],
        ),
        "curve": ("say what one output gives away: ε–δ curves of two tables, or of a corpus' own n-grams", CURVE),
        "compare": ("set runs side by side", [(("runs",), {"nargs": "+", "help": "two to four runs, by id or name"})]),
        "approve": (
            "approve pending records of a run",
            [run, (("--max-risk",), {"type": float, "help": "only records up to this risk, 0 to 1"})],
        ),
        "people": ("list who may do what where several people sign in; give and take roles", PEOPLE),
        "intruder": ("have somebody say whom approved texts are of, within a time box, and what follows", INTRUDER),
        "waive": ("let a run pass although a rule is not met, or list what stands in the way", WAIVE),
        "assess": ("write what a data-protection officer asks of a run, and what answers it", ASSESS),
        "release": (
            "write a bundle of approved records",
            [
                run,
                (("--policy",), {"required": True, "help": "policy id"}),
                (("--out",), {"required": True, "type": Path, "help": "folder for the bundle"}),
                (("--signed-off-by",), {"default": "", "help": "name of the second person, where the policy asks"}),
                (("--title",), {"default": "", "help": "public words for the data card: what the records are"}),
                (("--source",), {"default": "", "help": "public words for the data card: whose text it stems from"}),
                (("--contact",), {"default": "", "help": "public words for the data card: who answers questions"}),
                (("--licence",), {"default": "", "help": "public words for the data card: what may be done with it"}),
                (("--purpose",), {"default": "", "help": "public words for the data card: what it was released for"}),
                (("--recipient",), {"default": "", "help": "public words for the data card: who receives it"}),
                (("--review",), {"default": "", "metavar": "DAY", "help": "YYYY-MM-DD by which it is looked at again"}),
                sign_key,
                (
                    ("--accept-unbounded",),
                    {"action": "store_true", "help": "release text without a proof, after which no ε can be claimed"},
                ),
            ],
        ),
        "export": (
            "write a release that was made before as one zip file",
            [
                (("release",), {"help": "release id"}),
                (("--out",), {"required": True, "type": Path, "help": "zip file to write"}),
            ],
        ),
        "verify": (
            "check a bundle: nothing changed, missing, added or withdrawn",
            [
                (("bundle",), {"type": Path, "help": "bundle folder or zip"}),
                (("--key",), {"default": "", "help": "public key that must have signed, or its file"}),
                (("--revocations",), {"type": Path, "help": "list of withdrawn releases"}),
            ],
        ),
        "key": (
            "make a key that signs releases; it stays outside the workspace",
            [(("file",), {"type": Path, "help": "file for the private key; the public one goes beside it"})],
        ),
        "revoke": (
            "withdraw a release for good",
            [
                (("release",), {"help": "release id"}),
                (("--reason",), {"required": True, "help": "words that every recipient may read"}),
            ],
        ),
        "revocations": (
            "write the list of withdrawn releases for publishing",
            [(("--out",), {"required": True, "type": Path, "help": "file to write"}), sign_key],
        ),
        "policies": (
            "list the policies; put one of your own in force, or take it out",
            [
                (("--add",), {"type": Path, "metavar": "FILE", "help": "YAML file of an own policy"}),
                (("--remove",), {"metavar": "ID", "help": "own policy to take out of force"}),
            ],
        ),
        "audit": ("print the audit log, write it to a file, or check that nothing in it was changed", AUDIT),
        "backup": ("write the workspace into one file", [(("file",), {"type": Path, "help": "file to write"})]),
        "restore": ("restore a workspace from a backup", [(("file",), {"type": Path, "help": "backup file"})]),
        "encrypt": ("encrypt the workspace, or begin a new one encrypted", []),
        "decrypt": ("make an encrypted workspace a plain one again", []),
        "rekey": ("change the passphrase or key file that opens an encrypted workspace", REKEY),
        "workspace": ("move the workspace to another folder, to PostgreSQL or back; let another machine in", MOVING),
        "worker": ("work on the workspace's jobs in this terminal, alone or with several workers", WORKING),
        "doctor": (
            "check the installation and the workspace",
            [(("--bundle",), {"type": Path, "help": "write a support file without record text"})],
        ),
        "sbom": ("write what the program is made of and what is installed beside it, for audits of software", SBOM),
        "demo": (
            "go the whole way on a sample corpus",
            [
                (
                    ("--keep",),
                    {
                        "nargs": "?",
                        "const": "",
                        "metavar": "FOLDER",
                        "help": "keep the workspace, in a new folder, to look at it in the browser",
                    },
                )
            ],
        ),
    }


def _folder(text: str) -> Path:
    """Return the workspace folder that an option names, by itself or in the address of a PostgreSQL."""
    if not text.startswith("postgres"):
        return Path(text)
    from engine.store.disk.address import workspace_folder

    try:
        return workspace_folder(text)
    except UnderstudyError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with one sub-command a verb."""
    parser = _Parser(prog="python -m engine", description="Understudy without a browser.")
    parser.add_argument("--workspace", type=_folder, default=None, help="workspace folder (or UNDERSTUDY_WORKSPACE)")
    parser.add_argument("--key-file", type=Path, default=None, help=KEY_FILE)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=_Parser)
    for verb, (text, rows) in _argument_tables().items():
        sub = verbs.add_parser(verb, help=text, description=text)
        # SUPPRESS: a value given before the verb must not be overwritten by a default after it
        sub.add_argument("--workspace", type=_folder, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        sub.add_argument("--key-file", type=Path, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        for names, options in rows:
            sub.add_argument(*names, **options)
    return parser


def to_json(value: object) -> JSON:
    """Return `value` as JSON-ready data; numbers that are not finite become null."""
    as_dict = getattr(value, "as_dict", None)
    if as_dict is not None:
        return to_json(as_dict())
    if is_dataclass(value) and not isinstance(value, type):
        return to_json(asdict(value))
    if isinstance(value, dict):
        return {str(k): to_json(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Path):
        return str(value)
    item = getattr(value, "item", None)
    if item is None:
        raise TypeError(f"{type(value).__name__} has no form in JSON")
    return to_json(item())  # a number of numpy


def describe_defect(error: Exception) -> str:
    """Return a defect's class and code lines, without its message."""
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    lines = "".join(f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}\n" for frame in frames)
    return f"an error inside the program ({type(error).__name__}); please report these lines:\n{lines}".rstrip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit status."""
    options = build_parser().parse_args(arguments)
    try:
        result = commands.VERBS[options.verb](options)
    except UnderstudyError as error:
        print(f"{error}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - a library's message may quote record text, so it is not printed
        print(describe_defect(error), file=sys.stderr)  # noqa: T201
        return 1
    except KeyboardInterrupt:
        print("stopped; the job goes on in the worker, see `runs`", file=sys.stderr)  # noqa: T201
        return 1
    try:
        print(json.dumps(to_json(result), ensure_ascii=False, indent=1), flush=True)  # noqa: T201
    except BrokenPipeError:  # the reader, `head` say, has what it wanted
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
