"""The verbs about private text: load it, list it, declare its labels, detect what identifies people, delete it.

Privacy posture: results hold ids, counts, settings and findings; never record text.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.named_labels import named_labels
from engine.cli.terminal import opened, say, wait_for
from engine.errors import UserError

if TYPE_CHECKING:
    from engine.corpus.columns.mapping import ColumnMapping
    from engine.corpus.columns.preview import FilePreview
    from engine.store.views import CorpusSummary
    from engine.workspace import Workspace


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
    from engine.corpus.readers import ReadOptions

    path = Path(options.file)
    read = ReadOptions(encoding=options.encoding, delimiter=options.delimiter)
    mapping = _mapping(options, workspace.corpora.preview(path, path.name, read))
    return workspace.corpora.import_file(
        path,
        path.name,
        mapping,
        name=options.name or path.stem,
        unit=options.unit or ("source" if mapping.source_id else "record"),
        cap=options.cap,
        cap_from_file=options.cap_from_file,
        holdout=options.holdout,
        options=read,
        labels_public=named_labels(options) or options.labels_public,
        same_people_as=options.same_people_as,
    )


def _mapping(options: Namespace, preview: FilePreview) -> ColumnMapping:
    """Return which column is what: as named, else as the Load page fills it in; what was not named is said."""
    from engine.corpus.columns.mapping import ColumnMapping

    guess, person = preview.suggested, preview.person
    text = options.text or guess.text
    if not text:
        raise UserError("no column looks like text; name it with --text")
    named = {text, options.id, options.label, options.spans, options.in_order, *options.also_text, *options.keep}
    source = options.source
    if source is None and person is not None and person.column not in named and not options.no_source:
        if person.by == "name":
            source = person.column
            say(f"source: {source}. {person.reason} Name another with --source, or none with --no-source.")
        else:  # read from private rows: a person says so, or it does not count
            place = preview.columns.index(person.column) + 1  # its name may be text, where a file has no header
            say(f"Column {place} may say whose record each is. {person.reason} Name it with --source if it does.")
    for warning in preview.warnings:
        say(warning)
    return ColumnMapping(
        text=text, record_id=options.id, source_id=source, label=options.label, keep=tuple(options.keep),
        spans=options.spans or guess.spans, more_texts=tuple(options.also_text), order=options.in_order,
    )  # fmt: skip


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
    asked = {"preset": options.preset or settings.preset, "language": options.language or settings.language}
    if asked != {"preset": settings.preset, "language": settings.language}:
        settings = settings.model_copy(update=asked)
        workspace.review.set_detector_settings(options.corpus, settings)
    job = workspace.jobs.detect(options.corpus)
    if options.no_wait:
        return {"job": job, "state": "queued"}
    wait_for(workspace, job)
    counts = workspace.review.span_counts(options.corpus)
    result: dict[str, object] = {
        "preset": settings.preset,
        "language": settings.language,
        "records": workspace.corpora.get(options.corpus).records,
        "spans": sum(counts["by_label"].values()),
        "by_label": counts["by_label"],
        "seconds": round(time.monotonic() - started, 2),
    }
    if options.gold:
        result["gold"] = workspace.values.gold_evaluation(options.corpus)
    return result
