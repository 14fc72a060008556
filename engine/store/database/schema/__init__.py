"""The tables of a workspace's database.

Privacy posture: private text is held in `synthetic.text`, `synthetic.lineage`, `runs.state_json`,
`jobs.sample`, `notes.text`, `intruder_events.words` and `corpora.detector` only; `declarations.value` holds labels
that were declared public; spans, and `shards.found` for a while, hold positions and keyed digests;
`mechanism_outputs.values` holds noisy statistics, and exact ones that were declared public. All of it goes when its
corpus is deleted.
`audit`, `ledger`, `populations`, `unit_hashes`, `people_marks`, `short_marks` and `equal_marks` stay and hold no text.
`pools`, `pool_texts` and `packs` are public: text that was made elsewhere, and what left as prompts. `pool_checks`
holds counts taken from private text, and goes with its corpus.

    base         the metadata, and tables of the workspace itself; log: audit log and ledger
    population   the people behind corpora; corpus: private text's index and what was declared public
    review       spans, decisions, spot checks; run, job; release: with policies, waivers, intruder trials
    member       who may do what; pool: public text made elsewhere

May import `engine.store.database.dialect`. One more table: in the file of its noun, named here, with a migration in
`engine.store.database.migrations`. All are read from here, so that the metadata is whole.
"""

from __future__ import annotations

from engine.store.database.dialect import order_text_alike
from engine.store.database.schema.base import (
    blobs,
    file_versions,
    metadata,
    pending_removals,
    removed,
    schema_version,
    settings,
)
from engine.store.database.schema.corpus import corpora, declarations, record_index
from engine.store.database.schema.job import accounts, jobs, leases, shards
from engine.store.database.schema.log import audit, audit_head, ledger, ledger_head
from engine.store.database.schema.member import members, signatures
from engine.store.database.schema.pool import packs, pool_checks, pool_texts, pools
from engine.store.database.schema.population import (
    equal_marks,
    people_marks,
    people_questions,
    populations,
    short_marks,
    unit_hashes,
)
from engine.store.database.schema.release import (
    intruder_events,
    intruder_looks,
    intruder_texts,
    intruder_trials,
    own_policies,
    releases,
    revocations,
    waivers,
)
from engine.store.database.schema.review import (
    decisions,
    notes,
    readers,
    review_acts,
    spans,
    spot_checks,
    spot_events,
    spot_looks,
    spot_records,
)
from engine.store.database.schema.run import findings, fitted_weights, mechanism_outputs, runs, seen_outputs, synthetic

__all__ = [
    "accounts",
    "audit",
    "audit_head",
    "blobs",
    "corpora",
    "decisions",
    "declarations",
    "equal_marks",
    "file_versions",
    "findings",
    "fitted_weights",
    "intruder_events",
    "intruder_looks",
    "intruder_texts",
    "intruder_trials",
    "jobs",
    "leases",
    "ledger",
    "ledger_head",
    "mechanism_outputs",
    "members",
    "metadata",
    "notes",
    "own_policies",
    "packs",
    "pending_removals",
    "people_marks",
    "people_questions",
    "pool_checks",
    "pool_texts",
    "pools",
    "populations",
    "readers",
    "record_index",
    "releases",
    "removed",
    "review_acts",
    "revocations",
    "runs",
    "schema_version",
    "seen_outputs",
    "settings",
    "shards",
    "short_marks",
    "signatures",
    "spans",
    "spot_checks",
    "spot_events",
    "spot_looks",
    "spot_records",
    "synthetic",
    "unit_hashes",
    "waivers",
]

order_text_alike(metadata)
