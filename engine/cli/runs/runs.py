"""The verbs about synthetic text: make it, examine and compare it, approve and release it, verify a bundle.

Privacy posture: results hold ids, counts, settings and findings; never record text.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from engine.cli.runs.budget import with_budget
from engine.cli.terminal import opened, parse_settings, wait_for, write_new
from engine.errors import UnderstudyError, UserError

if TYPE_CHECKING:
    from engine.workspace import Workspace

WORDS = ("title", "source", "contact", "licence", "purpose", "recipient", "review")


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
        embedder=options.embedder,
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
    words = {name: getattr(options, name) for name in ("signed_off_by", *WORDS)}
    made = workspace.releases.make(
        options.run,
        options.policy,
        out=options.out,
        accept_unbounded=options.accept_unbounded,
        sign_key=options.sign_key,
        **words,
    )
    return asdict(made)


def export(options: Namespace) -> Mapping[str, object]:
    """Write a release that was made before as one zip file."""
    data = opened(options).releases.archive(options.release)
    write_new(options.out, data)
    return {"release": options.release, "path": str(options.out), "bytes": len(data)}


def key(options: Namespace) -> Mapping[str, object]:
    """Make a key that signs releases."""
    from engine.release.bundle.signing import make_key

    return {"key": str(options.file), "public_key": make_key(options.file, opened(options).path)}


def revoke(options: Namespace) -> Mapping[str, object]:
    """Withdraw a release."""
    return asdict(opened(options).releases.revoke(options.release, options.reason))


def revocations(options: Namespace) -> Mapping[str, object]:
    """Write the list of withdrawn releases for publishing."""
    text = opened(options).releases.revocation_list(options.sign_key)
    write_new(options.out, text.encode())
    return {"path": str(options.out), "bytes": len(text.encode())}


def policies(options: Namespace) -> Mapping[str, object]:
    """List the policies, after an own one was put in force or taken out."""
    workspace = opened(options)
    if options.add is not None:
        try:
            text = options.add.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            raise UserError(f"add: {options.add.name} cannot be read as a text file") from None
        workspace.releases.add_policy(text, options.add.name)
    if options.remove:
        workspace.releases.remove_policy(options.remove)
    own = workspace.releases.own_policies()
    return {
        "policies": [
            {"id": one.id, "title": one.title, "own": one.id in own, "digest": one.digest, "rules": len(one.rules)}
            for one in workspace.releases.policies()
        ]
    }


def verify(options: Namespace) -> Mapping[str, object]:
    """Check a bundle's manifest.

    Raises:
        UnderstudyError: a file is missing, changed or added, the signature is wrong, or the release was withdrawn.
    """
    from engine.release.bundle.bundle import verify as verify_bundle
    from engine.release.bundle.checker import key_from, report

    try:
        public = key_from(options.key) if options.key else ""
    except ValueError as error:
        raise UserError(str(error)) from None
    answer = verify_bundle(options.bundle, key=public, revocations=options.revocations)
    if not answer["ok"]:
        raise UnderstudyError(report(answer).rstrip())
    return dict(answer)
