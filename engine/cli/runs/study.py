"""The verb `study`: list studies, start one, wait, print its tables.

Privacy posture: tables hold numbers and names of variants; never record text.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict

from engine.cli.terminal import opened, parse_settings, wait_for
from engine.errors import UserError


def study(options: Namespace) -> Mapping[str, object]:
    """Run a study and print its tables; without a corpus list what there is, or describe the study that is named."""
    from engine.studies import INTERNAL, get_study, studies

    if options.corpus is None:
        chosen = (get_study(options.study),) if options.study else studies()
        return {
            "studies": [
                {"id": s.id, "title": s.title, "citation": s.citation, "parameters": s.parameters.model_json_schema()}
                for s in (each.spec for each in chosen)
            ]
        }
    workspace = opened(options)
    if options.resume:
        job = workspace.studies.resume(options.resume)
    elif options.show:
        job = options.show
    elif options.study:
        job = workspace.studies.start(
            options.corpus, options.study, parse_settings(options.set), model=options.model, seed=options.seed
        )
    else:
        raise UserError("--study: name a study; list them with `study` alone")
    found = workspace.studies.run(job)
    if found.corpus_id != options.corpus:
        raise UserError(f"study {job!r} belongs to another corpus")
    if not (options.no_wait or options.show):
        wait_for(workspace, job)
        found = workspace.studies.run(job)
    tables = workspace.studies.results(job)
    return {
        **asdict(found),
        "internal": INTERNAL,
        "tables": {name: frame.to_dict(orient="records") for name, frame in tables.items()},
    }
