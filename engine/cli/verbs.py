"""What each verb of the command line does: one engine call, and waiting where the verb waits.

Privacy posture: results hold ids, counts, settings and findings; never record text.
"""

from __future__ import annotations

import json
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.curve import curve
from engine.cli.models import models
from engine.cli.named_labels import named_labels
from engine.cli.study import study
from engine.cli.terminal import opened, parse_settings, say, wait_for
from engine.errors import UnderstudyError, UserError
from engine.json_types import JSON

if TYPE_CHECKING:
    from engine.store.views import CorpusSummary
    from engine.workspace import Workspace


def _budget(options: Namespace, settings: dict[str, JSON]) -> dict[str, JSON]:
    """Add ε and δ to the settings of a method that takes them; refuse them elsewhere."""
    from engine.methods import get_method

    spec = get_method(options.method).spec
    for name in ("epsilon", "delta"):
        value = getattr(options, name)
        if value is None:
            continue
        if name not in spec.parameters.model_fields:
            raise UserError(f"--{name}: method {spec.id!r} makes no formal claim and takes no budget; leave it out")
        settings[name] = value
    return settings


def import_(options: Namespace) -> Mapping[str, object]:
    """Load a file or a sample."""
    workspace = opened(options)
    if bool(options.file) == bool(options.sample):
        raise UserError("import needs either a FILE or --sample, and not both")
    corpus = (
        workspace.corpora.import_sample(options.sample, options.name)
        if options.sample
        else _from_file(workspace, options)
    )
    return {
        "corpus": corpus.id,
        "records": corpus.records,
        "units": corpus.units,
        "holdout_units": corpus.holdout_units,
        "labels": list(workspace.labels.public(corpus.id)),
        "warnings": list(corpus.warnings),
    }


def _from_file(workspace: Workspace, options: Namespace) -> CorpusSummary:
    from engine.corpus.mapping import ColumnMapping
    from engine.corpus.readers import ReadOptions

    path = Path(options.file)
    read = ReadOptions(encoding=options.encoding, delimiter=options.delimiter)
    text, spans = options.text, options.spans
    if text is None or spans is None:
        suggested = workspace.corpora.preview(path, path.name, read).suggested
        text, spans = text or suggested.text, spans or suggested.spans
    if not text:
        raise UserError("no column looks like text; name it with --text")
    mapping = ColumnMapping(
        text=text,
        record_id=options.id,
        source_id=options.source,
        label=options.label,
        keep=tuple(options.keep),
        spans=spans,
    )
    return workspace.corpora.import_file(
        path,
        path.name,
        mapping,
        name=options.name or path.stem,
        unit=options.unit,
        cap=options.cap,
        holdout=options.holdout,
        options=read,
        labels_public=named_labels(options) or options.labels_public,
        same_people_as=options.same_people_as,
    )


def labels(options: Namespace) -> Mapping[str, object]:
    """Print the training part's labels beside the public list, after declaring or withdrawing it where asked to."""
    workspace = opened(options)
    named = [*(options.label or ()), *named_labels(options)]
    if options.withdraw:
        found = workspace.labels.withdraw(options.corpus)
    elif options.declare or named:
        found = workspace.labels.declare(
            options.corpus, named or None, unusual_too=options.unusual, rare_ones=options.rare
        )
    else:
        found = workspace.labels.known(options.corpus)
    return {"corpus": options.corpus, **asdict(found)}


def corpora(options: Namespace) -> Mapping[str, object]:
    """List corpora."""
    return {"corpora": [asdict(corpus) for corpus in opened(options).corpora.all()]}


def delete(options: Namespace) -> Mapping[str, object]:
    """Delete a corpus."""
    opened(options).corpora.delete(options.corpus)
    return {"deleted": options.corpus}


def detect(options: Namespace) -> Mapping[str, object]:
    """Detect, wait, count."""
    workspace, started = opened(options), time.monotonic()
    if options.gold and not workspace.corpora.get(options.corpus).has_gold:
        raise UserError("--gold: this corpus was imported without gold spans")
    settings = workspace.review.detector_settings(options.corpus)
    if options.preset and options.preset != settings.preset:
        settings = settings.model_copy(update={"preset": options.preset})
        workspace.review.set_detector_settings(options.corpus, settings)
    job = workspace.jobs.detect(options.corpus)
    if options.no_wait:
        return {"job": job, "state": "queued"}
    wait_for(workspace, job)
    counts = workspace.review.span_counts(options.corpus)
    result: dict[str, object] = {
        "preset": settings.preset,
        "records": workspace.corpora.get(options.corpus).records,
        "spans": sum(counts["by_label"].values()),
        "by_label": counts["by_label"],
        "seconds": round(time.monotonic() - started, 2),
    }
    if options.gold:
        result["gold"] = workspace.values.gold_evaluation(options.corpus)
    return result


def methods(options: Namespace) -> Mapping[str, object]:
    """List methods."""
    from engine.methods import methods as every

    return {
        "methods": [
            {"id": s.id, "title": s.title, "citation": s.citation, "kind": s.kind, "needs": list(s.needs)}
            for s in (method.spec for method in every())
        ]
    }


def guarantee(options: Namespace) -> Mapping[str, object]:
    """Print a guarantee without running anything."""
    from engine.corpus.mapping import default_cap
    from engine.methods import get_method
    from engine.methods.base import Facts, parse_parameters

    method = get_method(options.method)
    parameters = parse_parameters(method.spec, _budget(options, parse_settings(options.set)))
    facts = Facts(
        records=options.units,
        units=options.units,
        unit=options.unit,
        cap=default_cap(options.unit) if options.cap is None else options.cap,
        labels=options.labels,
    )
    return {"method": method.spec.id, **method.guarantee(parameters, facts).as_dict()}


def plan(options: Namespace) -> Mapping[str, object]:
    """Print what a run would cost, also of the budget."""
    workspace, parameters = opened(options), _budget(options, parse_settings(options.set))
    workspace.plan.wait_guarantee(options.method, corpus_id=options.corpus, parameters=parameters)
    draft = workspace.plan.draft(
        options.corpus, options.method, count=options.count, parameters=parameters, model=options.model
    )
    return dict(vars(draft))


def ledger(options: Namespace) -> Mapping[str, object]:
    """Print the ledger of the people behind a corpus, after changing its limit where asked to."""
    if options.accept_rollback:
        return _accept_rollback(options)
    if options.corpus is None:
        raise UserError("ledger needs a corpus id; list them with `corpora`")
    workspace = opened(options)
    for other in options.same_people_as:
        workspace.ledger.join_people(options.corpus, other)
    for other in options.other_people_than:
        workspace.ledger.keep_apart(options.corpus, other)
    if options.spent_since:
        workspace.ledger.declare_spent(options.corpus, *options.spent_since)
    if options.set_limit:
        workspace.ledger.set_limit(
            options.corpus, *options.set_limit, large_delta=options.large_delta, list_share=options.list_share
        )
    workspace.ledger.wait_total(options.corpus)
    if options.export:
        return dict(json.loads(workspace.ledger.export(options.corpus)))
    view = workspace.ledger.of(options.corpus)
    fields = {name: value for name, value in vars(view).items() if name != "lines"}
    return {"corpus": options.corpus, **fields, "lines": view.lines.to_dict(orient="records")}


def _accept_rollback(options: Namespace) -> Mapping[str, object]:
    """Go on with a database that was put back, after writing into every ledger what is unknown."""
    from engine.store import accept_rollback

    if options.corpus or options.set_limit or options.spent_since or options.export:
        raise UserError("--accept-rollback concerns the whole workspace: give no corpus and no other option")
    found = accept_rollback(options.workspace, "command line")
    say("Every ledger now says that spends are unknown; enter the amounts with `ledger CORPUS --spent-since`.")
    return dict(found)


def synthesize(options: Namespace) -> Mapping[str, object]:
    """Run a method and wait for its records."""
    workspace, parameters = opened(options), _budget(options, parse_settings(options.set))
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


def examine(options: Namespace) -> Mapping[str, object]:
    """Examine a run; both parts unless one is named."""
    workspace = opened(options)
    both = options.privacy == options.utility
    job = workspace.jobs.examine(
        options.run, privacy=both or options.privacy, utility=both or options.utility, model_attacks=not options.quick
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


def audit(options: Namespace) -> Mapping[str, object]:
    """Print the audit log, or check its chain and the ledger's."""
    workspace = opened(options)
    if options.verify:
        verdict, lines = workspace.audit.verify(), workspace.ledger.verify()
        for name, found in (("audit", verdict), ("ledger", lines)):
            if not found["ok"]:
                raise UnderstudyError(f"the {name} chain is broken at line {found['first_bad']}")
        return {**verdict, "ledger": lines}
    return {"audit": workspace.audit.lines(limit=1_000_000).to_dict(orient="records")}


def backup(options: Namespace) -> Mapping[str, object]:
    """Write a backup file."""
    opened(options).disk.backup(options.file)
    return {"backup": str(options.file), "bytes": options.file.stat().st_size}


def restore(options: Namespace) -> Mapping[str, object]:
    """Restore a backup into the (empty) workspace folder."""
    from engine.store import default_workspace_path
    from engine.store import restore as restore_backup

    target = options.workspace or default_workspace_path()
    restore_backup(options.file, target, "command line")
    say("What was spent after the backup is unknown: enter it with `ledger CORPUS --spent-since EPSILON DELTA`.")
    return {"workspace": str(target)}


def doctor(options: Namespace) -> Mapping[str, object]:
    """Check the installation; with --bundle write a support file too."""
    workspace = opened(options)
    result = dict(workspace.doctor.check())
    if options.bundle:
        workspace.doctor.support_file(options.bundle)
        result["bundle"] = str(options.bundle)
    return result


def demo(options: Namespace) -> Mapping[str, object]:
    """Go the whole way on a sample corpus in a workspace of its own, and print the findings."""
    from engine import open_workspace

    with tempfile.TemporaryDirectory(prefix="understudy-demo-", ignore_cleanup_errors=True) as folder:
        workspace = open_workspace(options.workspace or Path(folder) / "workspace", "demo")
        try:
            return _demo(workspace, Path(folder))
        finally:
            workspace.jobs.stop_worker()


def _demo(workspace: Workspace, folder: Path) -> Mapping[str, object]:
    started = time.monotonic()
    corpus = workspace.corpora.import_sample("support_tickets")
    say(f"demo: {corpus.records} made-up support tickets of {corpus.units} units")
    wait_for(workspace, workspace.jobs.detect(corpus.id))
    findings: dict[str, list[dict[str, JSON]]] = {}
    run_ids = []
    for method, count in (("surrogate", None), ("filter", 32)):
        run_id = workspace.jobs.synthesize(corpus.id, method, count=count)
        wait_for(workspace, workspace.runs.get(run_id).job_id)
        wait_for(
            workspace, workspace.jobs.examine(run_id, model_attacks=False)
        )  # a demonstration ends in a minute or two
        findings[method] = [finding.as_dict() for finding in workspace.examinations.findings(run_id)]
        run_ids.append(run_id)
    workspace.runs.approve_all_pending(run_ids[-1], None)
    released = workspace.releases.make(run_ids[-1], "exploratory", out=folder / "bundle", accept_unbounded=True)
    return {
        "corpus": corpus.id,
        "runs": run_ids,
        "findings": [{"method": method, **row} for method, rows in findings.items() for row in rows],
        "comparison": workspace.examinations.compare(run_ids).to_dict(orient="records"),
        "release": {"policy": "exploratory", "records": released.records},
        "seconds": round(time.monotonic() - started, 1),
    }


VERBS: dict[str, Callable[[Namespace], Mapping[str, object]]] = {
    "import": import_,
    "corpora": corpora,
    "labels": labels,
    "delete": delete,
    "detect": detect,
    "methods": methods,
    "models": models,
    "guarantee": guarantee,
    "plan": plan,
    "ledger": ledger,
    "synthesize": synthesize,
    "runs": runs,
    "resume": resume,
    "again": again,
    "examine": examine,
    "study": study,
    "curve": curve,
    "compare": compare,
    "approve": approve,
    "release": release,
    "verify": verify,
    "audit": audit,
    "backup": backup,
    "restore": restore,
    "doctor": doctor,
    "demo": demo,
}
