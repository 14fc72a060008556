"""The verb `named`: in how many units names stand, what a run's claim is worth for them, and a list to redact by.

Privacy posture: what is printed holds counts alone; names go into a file that was asked for, readable by its owner.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from engine.cli.arguments import Argument
from engine.cli.terminal import opened, say, write_new
from engine.errors import UserError

LEAST = 3
ARGUMENTS: list[Argument] = [
    (("corpus",), {"help": "corpus, by id or name"}),
    (("--at-least",), {"type": int, "default": LEAST, "metavar": "K",
                       "help": f"names that stand in K units or more; {LEAST} unless given"}),
    (("--run",), {"help": "what the claim of this run is worth for them, by id or name"}),
    (("--make-known",), {"action": "store_true", "help": "put them onto the list of known identifiers"}),
    (("--out",), {"type": Path, "metavar": "FILE", "help": "write each of their spellings into a new file, one a line; "
                "it is private text"}),
]  # fmt: skip


def named(options: Namespace) -> Mapping[str, object]:
    """Count who is named in several units' records; put them on a list where asked to."""
    from engine.dp.groups import SIZES, group_bound

    if options.at_least < 1:
        raise UserError(f"--at-least: must be 1 or more, is {options.at_least}")
    workspace = opened(options)
    corpus = options.corpus
    spread = workspace.named.spread(corpus)
    said: dict[str, object] = {
        "corpus": corpus,
        "internal": "Read from private text: these counts may not leave.",
        **asdict(spread),
        "at_least": options.at_least,
        "names": spread.at_least(options.at_least),
    }
    if options.run:
        run = workspace.runs.get(options.run)
        if run.corpus_id != corpus:
            raise UserError("--run: this run is of another corpus")
        if run.guarantee.kind != "dp" or run.guarantee.pending:
            raise UserError("--run: this run makes no formal claim, so nothing follows for a group")
        sizes = sorted({*SIZES, max(spread.largest, 1)})
        said["run"] = options.run
        said["bounds"] = [asdict(group_bound(run.guarantee, size)) for size in sizes]
    if options.out is not None:
        lines = [" ".join(name.split()) + "\n" for name in workspace.named.spellings(corpus, at_least=options.at_least)]
        write_new(options.out, "".join(lines).encode("utf-8", "surrogatepass"), mode=0o600)
        said["out"] = str(options.out)
    if options.make_known:
        said["made_known"] = workspace.named.make_known(corpus, at_least=options.at_least)
        say("The next `detect` finds them wherever they stand.")
    return said
