"""The verbs `spot-check` and `waive`: a random sample of records to read, and rules that a person lets pass.

Privacy posture: results hold counts, rates and typed words; never record text.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict

from engine.cli.arguments import Argument
from engine.cli.terminal import opened
from engine.errors import UserError

BY: Argument = (("--by",), {"default": "", "metavar": "NAME", "help": "who acts; stands in the audit log"})
SPOT_CHECK: list[Argument] = [
    (("corpus",), {"help": "corpus, by id or name"}),
    (("--draw",), {"type": int, "metavar": "N", "help": "draw N records at random, to be read on the Review page"}),
    (("--twice",), {"type": int, "default": 0, "metavar": "M", "help": "M of them are read by a second person too"}),
    (("--target",), {"type": float, "metavar": "X", "help": "how many to draw so that at most X of 1,000 records may "
                     "still hold something missed"}),
    BY,
]  # fmt: skip
WAIVE: list[Argument] = [
    (("run",), {"help": "run, by id or name"}),
    (("--policy",), {"required": True, "help": "policy id"}),
    (("--rule",), {"help": "id of a rule that is not met; alone: list what stands in the way"}),
    (("--reason",), {"default": "", "help": "public words; they stand in the bundle beside your name"}),
    (("--expires",), {"default": "", "metavar": "DAY", "help": "YYYY-MM-DD, the last day on which it holds"}),
    (("--withdraw",), {"metavar": "ID", "help": "take a waiver back"}),
    BY,
]


def spot_check(options: Namespace) -> Mapping[str, object]:
    """Draw a spot check where asked to, and print what the latest one says."""
    workspace = opened(options)
    workspace.session.actor = options.by.strip() or workspace.session.actor
    if options.draw is not None:
        workspace.spot_checks.draw(options.corpus, options.draw, twice=options.twice)
    elif options.twice:
        raise UserError("--twice: belongs to --draw, how many records to draw")
    from engine.store.review.spot.words import sentences

    found = workspace.spot_checks.estimate(options.corpus)
    said: dict[str, object] = {"corpus": options.corpus, "estimate": None if found is None else asdict(found)}
    if found is not None:
        said["sentences"] = list(sentences(found))
    if options.target is not None:
        said["needed"] = workspace.spot_checks.needed(options.corpus, options.target)
    return said


def waive(options: Namespace) -> Mapping[str, object]:
    """Waive a rule, take a waiver back, or list what stands in the way and what was waived."""
    workspace = opened(options)
    workspace.session.actor = options.by.strip() or workspace.session.actor
    releases = workspace.releases
    if options.rule and options.withdraw:
        raise UserError("--rule, --withdraw: give one of them")
    if options.rule:
        releases.waive(options.run, options.policy, options.rule, options.reason, options.expires)
    elif options.withdraw:
        releases.withdraw_waiver(options.run, options.policy, options.withdraw)
    verdict = releases.gate(options.run, options.policy)
    return {
        "run": options.run,
        "policy": options.policy,
        "passed": verdict.passed,
        "open": [{"rule": line.rule, "title": line.title, "sentence": line.sentence} for line in verdict.open_rules()],
        "waivers": [asdict(one) for one in releases.waivers(options.run, options.policy)],
        "applied": [line.waived.id for line in verdict.waived_rules() if line.waived],
    }
