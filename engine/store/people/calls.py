"""The right that each call of a workspace needs. A call that is not named here is refused to everybody who signed in.

Whoever adds a public method to a part of the workspace adds it here; `tests/store/people/test_calls.py` holds the
table to what exists. `REVEAL` stands wherever text of records comes out, also of outputs: `filter` and `surrogate`
write what is nearly the original.
"""

from __future__ import annotations

from engine.store.people.roles import Right

READ, REVEAL, REVIEW, MANAGE = Right.READ, Right.REVEAL, Right.REVIEW, Right.MANAGE
APPROVE, RELEASE, PEOPLE = Right.APPROVE, Right.RELEASE, Right.PEOPLE


def _each(right: Right, names: str) -> dict[str, Right]:
    return dict.fromkeys(names.split(), right)


CALLS: dict[str, dict[str, Right]] = {
    "assessments": _each(READ, "answers make") | _each(MANAGE, "keep"),
    "audit": _each(READ, "breaks count export lines outside untrue verify") | _each(MANAGE, "note"),
    "bulk": _each(READ, "count recognisers") | _each(REVEAL, "draw") | _each(REVIEW, "decide"),
    "corpora": _each(READ, "all columns get population samples statistics")
    | _each(REVEAL, "frame records")
    | _each(MANAGE, "declare_labels delete import_file import_sample import_table preview rename subkey"),
    "descriptions": _each(READ, "get") | _each(MANAGE, "declare"),
    "disk": _each(READ, "cannot_encrypt used") | _each(MANAGE, "backup restore"),
    "doctor": _each(READ, "check") | _each(MANAGE, "support_file"),
    "examinations": _each(READ, "compare corpus_map findings in_part look stopped tables")
    | _each(REVEAL, "note_reveal snapshots table")
    | _each(MANAGE, "save save_corpus_map save_snapshot save_tables"),
    "first_look": _each(READ, "of unlike") | _each(MANAGE, "write"),
    "hub": _each(READ, "consents host serves statement suggest") | _each(MANAGE, "fetch"),
    "intruder": _each(READ, "estimate known latest needed")
    | _each(REVEAL, "texts")
    | _each(REVIEW, "begin claim end judge")
    | _each(MANAGE, "draw"),
    "jobs": _each(READ, "all before ensure_worker examination_seconds get turns worker_status")
    | _each(MANAGE, "again cancel continue_examination detect examine resume stop_worker sweep synthesize"),
    "labels": _each(READ, "known public") | _each(MANAGE, "counts declare holders withdraw"),
    "ledger": _each(
        READ,
        "computed export facts facts_for known of of_run promise public_facts touch_of_models touch_of_release verify "
        "wait_total what_if what_if_all",
    )
    | _each(MANAGE, "declare_spent join_people keep_apart outputs reserve set_limit settle touch"),
    "models": _each(
        READ,
        "all blockers built_in check_files check_reachable consent_statement consents embedder endpoints info inspect "
        "last_test mark_blockers marks_used verdict warnings with_marks",
    )
    | _each(MANAGE, "add_endpoint give_consent import_folder remove set_embedder set_precision test withdraw_consent"),
    "named": _each(READ, "spread") | _each(REVEAL, "names spellings") | _each(MANAGE, "make_known"),
    "packs": _each(READ, "all draft get prompts_of runs") | _each(MANAGE, "file write"),
    "people": _each(READ, "all known person") | _each(PEOPLE, "note_stranger recognise remove set"),
    "plan": _each(
        READ,
        "blockers buys choosable claim completed copies count draft guarantee guarantee_curve language methods "
        "remembered run_curve sweep unreviewed wait_guarantee",
    )
    | _each(MANAGE, "remember"),
    "pools": _each(READ, "all candidates checked checks get marks promise texts")
    | _each(MANAGE, "check delete import_file preview"),
    "prompts": _each(READ, "all manifest preview version") | _each(MANAGE, "reset set"),
    "recipes": _each(READ, "compare differences read write") | _each(MANAGE, "start"),
    "releases": _each(
        READ,
        "all audience card gate get makes_unbounded own_policies policies policy revocation_list waivers",
    )
    | _each(REVEAL, "archive check_words file note_preview")
    | _each(RELEASE, "make revoke waive withdraw_waiver")
    | _each(MANAGE, "add_policy remove_policy"),
    "review": _each(READ, "ahead order progress span_counts")
    | _each(
        REVEAL,
        "accepted_spans alike detector_settings matching queue record_text redacted rows sheets spans texts "
        "unmarked_places",
    )
    | _each(REVIEW, "accept_same decide decide_alike mark_reviewed set_note take undo")
    | _each(MANAGE, "set_detector_settings use_gold"),
    "runs": _each(
        READ, "all approval_counts get highest_approved_risk lowest_pending_risk notes pending_below risks script"
    )
    | _each(REVEAL, "diagnostics lineage synthetic synthetic_frame")
    | _each(APPROVE, "approve approve_all_pending")
    | _each(MANAGE, "delete describe"),
    "settings": _each(READ, "get language named set_language") | _each(MANAGE, "change set set_actor"),
    "signatures": _each(READ, "of stands") | _each(APPROVE, "sign"),
    "spot_checks": _each(READ, "at_a_glance drawable estimate high_if_clean latest needed")
    | _each(REVEAL, "differences next_for_second order")
    | _each(REVIEW, "draw finish mark settle unmark"),
    "studies": _each(READ, "all blockers needs runs")
    | _each(REVEAL, "results")
    | _each(MANAGE, "delete resume run start"),
    "values": _each(READ, "gold_evaluation pressing residual_risk")
    | _each(REVEAL, "keys_at table")
    | _each(REVIEW, "decide"),
}


NUMBERS = frozenset(
    (
        "attacks roc elp nearest_quantiles iterations lengths likeness map classifier_labels classifier_groups "
        "extraction_types units unit_flags groups"
    ).split()
)
"""Tables of an examination that hold no text of a record."""


def right_of(part: str, call: str, args: tuple[object, ...] = ()) -> Right | None:
    """Return the right that a call needs with these arguments, None where nobody who signed in may make it."""
    if (part, call) == ("examinations", "table") and len(args) > 1 and args[1] in NUMBERS:
        return READ
    return CALLS.get(part, {}).get(call)
