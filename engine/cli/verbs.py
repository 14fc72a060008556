"""The verbs of the command line: each is one engine call, and waiting where the verb waits."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping

from engine.cli.corpus.corpora import corpora, delete, detect, import_, labels
from engine.cli.corpus.describe import describe
from engine.cli.corpus.languages import languages
from engine.cli.corpus.mentioned import named
from engine.cli.corpus.pools import pack, pool
from engine.cli.models import models
from engine.cli.release.assess import assess
from engine.cli.release.checks import spot_check, waive
from engine.cli.release.intruder import intruder
from engine.cli.runs.budget import guarantee, ledger, methods, plan
from engine.cli.runs.curve import curve
from engine.cli.runs.recipes import recipe, reproduce
from engine.cli.runs.runs import (
    again,
    approve,
    compare,
    examine,
    export,
    key,
    policies,
    release,
    resume,
    revocations,
    revoke,
    runs,
    synthesize,
    verify,
)
from engine.cli.runs.study import study
from engine.cli.runs.sweep import sweep
from engine.cli.workspace.encryption import decrypt, encrypt, rekey
from engine.cli.workspace.moving import workspace
from engine.cli.workspace.people import people
from engine.cli.workspace.sbom import sbom
from engine.cli.workspace.upkeep import audit, backup, demo, doctor, restore
from engine.cli.workspace.working import worker

VERBS: dict[str, Callable[[Namespace], Mapping[str, object]]] = {
    "import": import_,
    "corpora": corpora,
    "labels": labels,
    "describe": describe,
    "delete": delete,
    "detect": detect,
    "spot-check": spot_check,
    "named": named,
    "languages": languages,
    "methods": methods,
    "models": models,
    "pool": pool,
    "pack": pack,
    "guarantee": guarantee,
    "plan": plan,
    "ledger": ledger,
    "synthesize": synthesize,
    "sweep": sweep,
    "runs": runs,
    "resume": resume,
    "again": again,
    "recipe": recipe,
    "reproduce": reproduce,
    "examine": examine,
    "study": study,
    "curve": curve,
    "compare": compare,
    "approve": approve,
    "assess": assess,
    "intruder": intruder,
    "people": people,
    "waive": waive,
    "release": release,
    "export": export,
    "verify": verify,
    "key": key,
    "revoke": revoke,
    "revocations": revocations,
    "policies": policies,
    "audit": audit,
    "backup": backup,
    "restore": restore,
    "encrypt": encrypt,
    "decrypt": decrypt,
    "rekey": rekey,
    "workspace": workspace,
    "worker": worker,
    "doctor": doctor,
    "sbom": sbom,
    "demo": demo,
}
