"""The verbs about synthetic text: make it, examine and compare it, approve and release it, verify a bundle.

Privacy posture: results hold ids, counts, settings and findings; never record text.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from engine.cli.budget import with_budget
from engine.cli.terminal import opened, parse_settings, wait_for
from engine.errors import UserError

if TYPE_CHECKING:
    from engine.workspace import Workspace


def synthesize(options: Namespace) -> Mapping[str, object]:
    """Run a method and wait for its records."""
    workspace, parameters = opened(options), with_budget(options, parse_settings(options.set))
    workspace.plan.wait_guarantee(options.method, corpus_id=options.corpus, parameters=parameters)
    run_id = workspace.jobs.synthesize(
        options.corpus,
        options.method,
        count=options.count,
        parameters=parameters,
        seed=options.seed,
        model=options.model,
    )
    return _settled(workspace, run_id, options.no_wait)


def runs(options: Namespace) -> Mapping[str, object]:
    """List runs."""
    return {"runs": [asdict(run) for run in opened(options).runs.all(options.corpus)]}


def resume(options: Namespace) -> Mapping[str, object]:
    """Resume a run where it stopped."""
    workspace = opened(options)
    workspace.jobs.resume(options.run)
    return _settled(workspace, options.run, options.no_wait)


def again(options: Namespace) -> Mapping[str, object]:
    """Run a run's method once more with its settings, and a fresh seed where no noise is drawn."""
    workspace = opened(options)
    run = workspace.runs.get(options.run)
    workspace.plan.wait_guarantee(run.method, corpus_id=run.corpus_id, parameters=run.parameters)
    return _settled(workspace, workspace.jobs.again(options.run), options.no_wait)


def _settled(workspace: Workspace, run_id: str, no_wait: bool) -> Mapping[str, object]:
    if not no_wait:
        wait_for(workspace, workspace.runs.get(run_id).job_id)
    run = workspace.runs.get(run_id)
    return {
        "run": run.id,
        "state": run.state,
        "records": run.kept,
        "funnel": run.funnel,
        "guarantee": run.guarantee,
        "seconds": run.seconds,
        "notes": [note.as_dict() for note in workspace.runs.notes(run.id)],
    }


def examine(options: Namespace) -> Mapping[str, object]:
    """Examine a run; both parts unless one is named."""
    workspace = opened(options)
    both = options.privacy == options.utility
    job = workspace.jobs.examine(
        options.run,
        privacy=both or options.privacy,
        utility=both or options.utility,
        model_attacks=not options.quick,
        tuned_classifier=options.tuned_classifier,
    )
    if options.no_wait:
        return {"run": options.run, "job": job, "state": "queued"}
    wait_for(workspace, job)
    return {
        "run": options.run,
        "findings": [finding.as_dict() for finding in workspace.examinations.findings(options.run)],
        "notes": [note.as_dict() for note in workspace.runs.notes(options.run)],
    }


def compare(options: Namespace) -> Mapping[str, object]:
    """Set the findings of runs side by side."""
    if not 2 <= len(options.runs) <= 4:
        raise UserError(f"compare takes two to four runs, not {len(options.runs)}")
    frame = opened(options).examinations.compare(options.runs)
    return {"runs": options.runs, "rows": frame.to_dict(orient="records")}


def approve(options: Namespace) -> Mapping[str, object]:
    """Approve pending records."""
    workspace = opened(options)
    approved = workspace.runs.approve_all_pending(options.run, options.max_risk)
    return {"run": options.run, "approved_now": approved, **workspace.runs.approval_counts(options.run)}


def release(options: Namespace) -> Mapping[str, object]:
    """Write a bundle where the policy allows it."""
    workspace = opened(options)
    words = {name: getattr(options, name) for name in ("signed_off_by", "title", "source", "contact", "licence")}
    made = workspace.releases.make(
        options.run, options.policy, out=options.out, accept_unbounded=options.accept_unbounded, **words
    )
    return asdict(made)


def verify(options: Namespace) -> Mapping[str, object]:
    """Check a bundle's manifest.

    Raises:
        UnderstudyError: a file is missing or changed.
    """
    from engine.release.bundle import verify as verify_bundle

    return dict(verify_bundle(options.bundle))
