"""The verbs of the command line: each is one engine call, and waiting where the verb waits."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping

from engine.cli.assess import assess
from engine.cli.budget import guarantee, ledger, methods, plan
from engine.cli.checks import spot_check, waive
from engine.cli.corpora import corpora, delete, detect, import_, labels
from engine.cli.curve import curve
from engine.cli.describe import describe
from engine.cli.encryption import decrypt, encrypt, rekey
from engine.cli.intruder import intruder
from engine.cli.languages import languages
from engine.cli.mentioned import named
from engine.cli.models import models
from engine.cli.moving import workspace
from engine.cli.people import people
from engine.cli.pools import pack, pool
from engine.cli.recipes import recipe, reproduce
from engine.cli.runs import (
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
from engine.cli.sbom import sbom
from engine.cli.study import study
from engine.cli.sweep import sweep
from engine.cli.upkeep import audit, backup, demo, doctor, restore

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
    "doctor": doctor,
    "sbom": sbom,
    "demo": demo,
}
