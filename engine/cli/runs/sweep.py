"""The verb `sweep`: methods at several budgets, repeated, queued as one.

Privacy posture: results hold ids, counts, settings and guarantees; never record text.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict

from engine.cli.arguments import Argument
from engine.cli.terminal import opened, parse_settings, wait_for
from engine.errors import UserError
from engine.jobs.sweeps import REFERENCE, Wanted, grid

ARGUMENTS: list[Argument] = [
    (("corpus",), {"help": "id of a corpus"}),
    (("--method",), {"action": "append", "required": True, "help": "id of a method; may be given several times"}),
    (("--epsilons",), {"default": "", "help": "budgets, one run each, such as 1,2,4"}),
    (("--repeats",), {"type": int, "default": 1, "help": "runs of each setting, with seeds in a row"}),
    (("--reference",), {"action": "store_true", "help": f"and {REFERENCE!r}, which reads no private text, at ε = 0"}),
    (("--count",), {"type": int, "help": "outputs a run; default: as `synthesize`"}),
    (("--seed",), {"type": int, "default": 0, "help": "first seed of everything but mechanism noise"}),
    (("--model",), {"default": "builtin", "help": "id of a language model, see `models`"}),
    (("--set",), {"action": "append", "default": [], "metavar": "NAME=VALUE", "help": "a setting of the first method"}),
    (("--examine",), {"action": "store_true", "help": "examine each run when it is done"}),
    (("--plan",), {"action": "store_true", "help": "only say what the runs would cost and promise together"}),
]


def sweep(options: Namespace) -> Mapping[str, object]:
    """Queue several runs as one, and wait for their records."""
    workspace, first = opened(options), options.method[0]
    base = Wanted(first, parse_settings(options.set), options.count, options.seed, options.model)
    wanted = grid(base, _numbers(options.epsilons), options.repeats, options.method[1:], options.reference)
    for one in wanted:
        workspace.plan.wait_guarantee(one.method, corpus_id=options.corpus, parameters=dict(one.parameters))
    if options.plan:
        draft = workspace.plan.sweep(options.corpus, wanted)
        return {
            "runs": [asdict(one) | {"outputs": of.plan.outputs, "epsilon": of.guarantee.epsilon}
                     for one, of in zip(draft.wanted, draft.drafts, strict=True)],
            "budget": None if draft.budget is None else draft.budget.as_dict(),
            "blockers": list(draft.blockers),
            "seconds": draft.seconds,
        }  # fmt: skip
    made = workspace.jobs.sweep(options.corpus, wanted, examine=options.examine)
    if not options.no_wait:
        for run_id in made:
            wait_for(workspace, workspace.runs.get(run_id).job_id)
        examinations = [job for job in workspace.jobs.all() if job.kind == "examine" and job.run_id in made]
        for job in reversed(examinations):
            wait_for(workspace, job.id)
    runs = [workspace.runs.get(run_id) for run_id in made]
    return {
        "runs": [
            {"run": run.id, "method": run.method, "seed": run.seed, "state": run.state, "records": run.kept,
             "guarantee": run.guarantee, "examined": run.examined_at is not None}
            for run in runs
        ]
    }  # fmt: skip


def _numbers(words: str) -> list[float]:
    try:
        return [float(part) for part in words.split(",") if part.strip()]
    except ValueError:
        raise UserError("--epsilons: must be numbers separated by commas, such as 1,2,4") from None
