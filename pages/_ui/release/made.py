"""The releases of a run: one zip to download, the single files, how to check them, and withdrawal.

Privacy posture: only files of a release can be downloaded; they are read from the store, and
checked against their checksums, at the moment of the click.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

import engine
from engine import BUNDLE_FILES, VERIFY_COMMANDS
from pages._ui.language import tr, trn
from pages._ui.release.bundle import JUST
from pages._ui.release.policy import reach
from pages._ui.sign_in.closed import barred, closed, lacks
from pages._ui.states import act
from pages._ui.texts import count_of, number, plain, when

MIME = {
    "csv": "text/csv",
    "jsonl": "application/jsonl",
    "parquet": "application/octet-stream",
    "md": "text/markdown",
    "json": "application/json",
    "html": "text/html",
}


def releases(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the releases of a run, newest first."""
    known = workspace.releases.all(run.corpus_id)
    made = [release for release in known if release.run_id == run.id]
    if not made:
        st.caption(tr("Nothing has been released from this run."))
    policies = {policy.id: policy for policy in workspace.releases.policies()}
    for release in made:
        _release(workspace, release, policies.get(release.policy))
    if len(known) > len(made):
        st.caption(
            trn(
                "{n} release from other runs of this corpus: see the ledger.",
                "{n} releases from other runs of this corpus: see the ledger.",
                len(known) - len(made),
            )
        )
    if any(release.revoked for release in known):
        st.download_button(
            tr("Download the list of withdrawn releases"),
            data=lambda: workspace.releases.revocation_list().encode(),
            file_name="revocations.json",
            mime="application/json",
            key="release.revocations",
            icon=":material/playlist_remove:",
            on_click="ignore",
            help=tr("Publish it where your recipients look. Signed: python -m engine revocations --sign-key"),
        )


def latest(workspace: engine.Workspace, run: engine.RunSummary) -> engine.ReleaseSummary | None:
    """Return the release that this session made last, where it is of this run and was not withdrawn."""
    made = (one for one in workspace.releases.all(run.corpus_id) if one.id == st.session_state.get(JUST))
    return next((one for one in made if one.run_id == run.id and not one.revoked), None)


def just(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Say that a release was made a moment ago, and for whom it is; the bar below hands it out."""
    made = latest(workspace, run)
    if made is None:
        return
    policy = next((one for one in workspace.releases.policies() if one.id == made.policy), None)
    said = trn("{n} record released.", "{n} records released.", made.records) + (f" {reach(policy)}" if policy else "")
    st.success(plain(said), icon=":material/check_circle:")


def download(workspace: engine.Workspace, made: engine.ReleaseSummary, key: str) -> None:
    """Draw the download of a release as one file; nothing for whose role it is not."""
    if lacks(engine.Right.REVEAL):
        return
    st.download_button(
        tr("Download as one zip"),
        data=partial(workspace.releases.archive, made.id),
        file_name=f"{made.id}.zip",
        mime="application/zip",
        key=key,
        type="primary",
        icon=":material/folder_zip:",
        on_click="ignore",
        help=tr("Every file is checked again before it is handed out"),
    )


def _release(workspace: engine.Workspace, release: engine.ReleaseSummary, policy: engine.Policy | None) -> None:
    with st.container(border=True, key=f"release.made.{release.id}"):
        state = f" · :red-badge[{tr('withdrawn')}]" if release.revoked else ""
        signed = tr("signed") if release.signed_by else tr("not signed")
        st.markdown(
            f":material/inventory_2: **{when(release.created)}** · {count_of(release.records, 'record')} · "
            f"{plain(policy.title if policy else release.policy)} · {signed}{state}"
        )
        if policy is not None:
            st.caption(plain(reach(policy)))
        if release.second_person:
            how = tr("signed in") if release.second_signed_in else tr("name typed, no sign-in")
            st.caption(plain(tr("Second person: {name} ({how})", name=release.second_person, how=how)))
        said = [
            tr("for {recipient}", recipient=release.words["recipient"]) if release.words.get("recipient") else "",
            tr("purpose: {purpose}", purpose=release.words["purpose"]) if release.words.get("purpose") else "",
            tr("to be reviewed by {review}", review=release.words["review"]) if release.words.get("review") else "",
        ]
        if any(said):
            st.caption(plain("; ".join(part for part in said if part)))
        if release.revoked:
            st.error(
                tr("Withdrawn on {day}: {reason}", day=release.revoked, reason=plain(release.reason)),
                icon=":material/playlist_remove:",
            )
            return
        if closed(tr("The files of a release")):
            return
        with st.container(horizontal=True):
            download(workspace, release, f"release.zip.{release.id}")
            _withdraw(workspace, release)
        with st.expander(tr("Single files"), key=f"release.files.{release.id}", icon=":material/draft:"):
            _files(workspace, release)
        with st.expander(tr("How to check it"), key=f"release.check.{release.id}", icon=":material/verified:"):
            st.caption(tr("Recipients check it in the folder of the files; with Understudy, from anywhere:"))
            commands = VERIFY_COMMANDS.rstrip() + f"\npython -m engine verify {release.path}"
            st.code(commands, language=None, wrap_lines=True)
            st.caption(tr("SHA-256 of manifest.json, as in the audit log:"))
            st.code(release.manifest_sha256, language=None, wrap_lines=True)
            if release.signed_by:
                st.caption(tr("Public key that signed it; publish it apart from the release:"))
                st.code(release.signed_by, language=None, wrap_lines=True)


def _withdraw(workspace: engine.Workspace, release: engine.ReleaseSummary) -> None:
    with st.popover(tr("Withdraw"), icon=":material/playlist_remove:", key=f"release.withdraw.{release.id}"):
        if barred(tr("Withdrawing a release"), engine.Right.RELEASE):
            return
        st.markdown(
            tr(
                "It stays on the list of withdrawn releases for good, and is not handed out here any more. Copies that "
                "left stay where they are. **That cannot be undone.**"
            )
        )
        key = f"release.reason.{release.id}"
        reason = st.text_input(tr("Reason, for every recipient to read"), key=key, max_chars=300)
        st.button(
            tr("Withdraw this release"),
            key=f"release.revoke.{release.id}",
            disabled=not reason.strip(),
            on_click=_revoke,
            args=(workspace, release.id, key),
        )


def _revoke(workspace: engine.Workspace, release_id: str, key: str) -> None:
    act(workspace.releases.revoke, release_id, st.session_state.get(key, ""), done=tr("The release is withdrawn."))


def _files(workspace: engine.Workspace, release: engine.ReleaseSummary) -> None:
    for name, size in release.files.items():
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(
                f"**{plain(name)}**  \n:small[{BUNDLE_FILES.get(name, tr('part of the release'))} · "
                + tr("{size} bytes", size=number(size))
                + "]",
                width="content",
            )
            st.download_button(
                tr("Download"),
                data=_reader(workspace, release.id, name),
                file_name=name,
                mime=MIME.get(name.rpartition(".")[2], "text/plain"),
                key=f"release.download.{release.id}.{name}",
                icon=":material/download:",
                on_click="ignore",
                help=tr("{name}, checked again before it is handed out", name=name),
            )


def _reader(workspace: engine.Workspace, release_id: str, name: str) -> Callable[[], bytes]:
    """Return what reads the file when the button is clicked; the store checks it again."""
    return partial(workspace.releases.file, release_id, name)
