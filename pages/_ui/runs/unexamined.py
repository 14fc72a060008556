"""Whether a run with a proof may still leave as one that nobody examined, under the policy of proof alone."""

from __future__ import annotations

import engine
from pages._ui.parts.progress import running_job

LOOKS = ("examination", "examination in part")  # as lines of the ledger call them
CAUTION = "Not if it is to leave under “Proof alone”: that takes a run which nobody examined."


def untouched(workspace: engine.Workspace, run: engine.RunSummary) -> bool:
    """Return whether a finished run has a proof, and nobody examined it, in part either, or is about to."""
    if run.state != "done" or run.guarantee.kind != "dp" or run.examined_at is not None:
        return False
    if running_job(workspace, kind="examine", run_id=run.id) is not None:
        return False
    lines = workspace.ledger.of(run.corpus_id).lines
    own = lines[(lines["run_id"] == run.id) & (lines["kind"] == "touch")]
    return not own["what"].isin(LOOKS).any()
