"""Release: the policy's check-list, approval of records, words for readers, the bundle, downloads, withdrawal."""

from __future__ import annotations

import streamlit as st

from pages._ui import acting, states
from pages._ui.current import choose_run
from pages._ui.examined import run as examined_run
from pages._ui.guard import guard
from pages._ui.language import tr
from pages._ui.navigation import go
from pages._ui.parts import loading
from pages._ui.release import assessment as release_assessment
from pages._ui.release import bundle as release_bundle
from pages._ui.release import dock, kept, second
from pages._ui.release import intruder as release_intruder
from pages._ui.release import made as release_made
from pages._ui.release import policy as release_policy
from pages._ui.release import records as release_records
from pages._ui.release import rules as release_rules
from pages._ui.texts import meaning

workspace = guard()

st.title(tr("Release"), anchor=False)
run = examined_run.finished(workspace, key="release")
release_made.just(workspace, run)
kept.fill(workspace, run)
whole = release_policy.standing(workspace, run.corpus_id, run).requirements.whole_output
if run.stale and whole:
    states.stale(tr("The review changed after this run was made, and the gate stays closed for it."))
elif run.stale:
    states.stale(
        tr("The review changed after this run was made. The gate stays closed: make it again, and examine that run.")
    )
elif run.examination_stale and not whole:  # where examining forbids a release, doing it again opens nothing
    states.stale(
        tr("The review changed after this run was examined. The gate stays closed until it is examined again.")
    )

if run.stale and st.button(tr("Make it again"), icon=":material/replay:", key=f"release.remake.{run.id}"):
    choose_run(run.id)
    go("run")

st.subheader(tr("1 · Policy"), anchor=False, help=meaning("gate"))
policy = release_policy.choose(workspace, run)
signed = second.draw(workspace, run, policy)
with loading.waiting(loading.BOX):  # the gate reads the records that wait for approval
    verdict = workspace.releases.gate(run.id, policy.id, signed_off_by=signed)
release_rules.check_list(workspace, verdict, policy, run)

acting.ask(workspace, key="release", what=tr("Each approval and each release"))
counts = workspace.runs.approval_counts(run.id)
helps = not run.stale and release_policy.reachable(verdict, policy)


def approve_and_tell() -> None:
    """Draw the records to approve and the words for readers."""
    st.subheader(tr("2 · Records"), anchor=False)
    release_records.draw(workspace, run, counts, policy, helps=helps)
    release_intruder.draw(workspace, run)
    st.subheader(tr("3 · What readers are told"), anchor=False)
    release_bundle.words(workspace, run)
    release_assessment.draw(workspace, run, policy, signed)


if helps:
    approve_and_tell()
else:  # folded they are not drawn at all: no key decides on a record that is not seen
    folded = st.expander(
        tr("Records and words for readers: nothing there opens this gate"), icon=":material/unfold_more:",
        key=f"{release_policy.FOLDED}.{run.id}", on_change="rerun",
    )  # fmt: skip
    if folded.open:
        with folded:
            approve_and_tell()
    else:
        release_bundle.keep_typed()

st.subheader(tr("Releases of this run"), anchor=False)
release_made.releases(workspace, run)

dock.draw(workspace, run, policy, verdict, counts, signed)
