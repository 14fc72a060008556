"""The verbs about promises: methods, a guarantee by itself, what a run would cost, the ledger.

Privacy posture: results hold ids, counts, settings and findings; never record text.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.cli.terminal import opened, parse_settings, say, unlock
from engine.errors import UserError
from engine.json_types import JSON

if TYPE_CHECKING:
    pass


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
    from engine.corpus.columns.mapping import default_cap
    from engine.methods import get_method
    from engine.methods.base import Facts, parse_parameters

    method = get_method(options.method)
    parameters = parse_parameters(method.spec, with_budget(options, parse_settings(options.set)))
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
    workspace, parameters = opened(options), with_budget(options, parse_settings(options.set))
    workspace.plan.wait_guarantee(options.method, corpus_id=options.corpus, parameters=parameters)
    draft = workspace.plan.draft(
        options.corpus, options.method, count=options.count, parameters=parameters, model=options.model
    )
    return dict(vars(draft))


def with_budget(options: Namespace, settings: dict[str, JSON]) -> dict[str, JSON]:
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
    unlock(options)
    found = accept_rollback(options.workspace, "command line")
    say("Every ledger now says that spends are unknown; enter the amounts with `ledger CORPUS --spent-since`.")
    return dict(found)
