"""Settings: who acts, what the text is about, storage, backup, deletion, self-check, support file.

Privacy posture: a backup holds private text, so it is written to a folder on this machine and is
never offered as a download. The support file holds no record text and can be downloaded.
"""

from __future__ import annotations

import shlex
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

import engine
from engine import as_number
from pages._ui.current import corpus_names
from pages._ui.parts import loading, wrapped
from pages._ui.sign_in.closed import lacks
from pages._ui.sign_in.settings import current
from pages._ui.states import act, notice
from pages._ui.texts import count_of, number, plain, when

DOMAINS = {
    "auto": "Let the program guess",
    "generic": "Something else",
    "clinical": "Clinical notes and letters",
    "legal": "Court and legal text",
    "social": "Posts and interviews",
    "reviews": "Reviews and tickets",
}
PROTECTS = """
**It protects from** whoever gets the disk, the folder, a copy or a backup of it while the program is stopped or locked:
database, texts, spans, tables, embeddings, caches, tuned weights, kept bundles and backups cannot be read, and what was
cut, swapped, changed or put back in an earlier state is refused, one file or several. The checks below, and
`audit --verify`, name such a file, and one that was removed.

**It does not protect from** whoever reads the memory of the running, unlocked program or the swap of this machine;
whoever knows the passphrase or has the key file, an earlier one too where they kept an earlier copy. The whole folder
put back with its database in an earlier state is noticed only against a head or an export of the audit log that you
keep elsewhere. Names and sizes of files and models you added stay readable, and plain copies from before may stay on
a solid-state disk or in a snapshot. Who may do what inside the program is a matter of roles, not of this.

**Without passphrase or key file nobody opens it again**, not even whoever made this program. An encrypted disk (LUKS,
FileVault, BitLocker), swap and temporary folder included, belongs under it either way.
"""
RESTORED = "_ui.settings.restored"
LAST = "last checks"  # setting: when the checks ran last, how many there were and how many failed
PARTS = {
    "database": "Decisions, synthetic text and the audit log (database)",
    "corpora": "Private text (corpora)",
    "runs": "Tables of findings (runs)",
    "releases": "Released bundles",
    "other": "Everything else",
}


def person(workspace: engine.Workspace) -> None:
    """Ask who acts; the name stands in each audit line from then on."""
    st.session_state.setdefault("settings.actor", workspace.actor if workspace.settings.named else "")
    st.text_input(
        "Name of the person acting",
        key="settings.actor",
        max_chars=80,
        placeholder="asked for at the first decision",
        on_change=_save_actor,
        args=(workspace,),
        help="Stands beside each line of the audit log from now on. Earlier lines keep their name.",
    )
    if current() is None:
        st.caption(
            "It signs what you decide and approve. Anyone at this machine can type any name here; for a signature that "
            "counts, turn on sign-in (see “Who may do what”)."
        )
    known = workspace.settings.get("domain", "auto")
    st.session_state.setdefault("settings.domain", known if known in DOMAINS else "auto")
    st.selectbox(
        "What the text is about",
        list(DOMAINS),
        format_func=DOMAINS.__getitem__,
        key="settings.domain",
        on_change=_save_domain,
        args=(workspace,),
        help="Chooses how the language model is asked, in new runs that leave the domain open.",
    )


def _save_actor(workspace: engine.Workspace) -> None:
    act(workspace.settings.set_actor, str(st.session_state["settings.actor"]), done="Name saved: {}")


def _save_domain(workspace: engine.Workspace) -> None:
    act(workspace.settings.set, "domain", str(st.session_state["settings.domain"]))


def storage(workspace: engine.Workspace) -> None:
    """Show where the workspace lies and what takes up room."""
    with loading.waiting(loading.BOX):  # looks at every file of the workspace
        used = workspace.disk.used()
    _at_rest(workspace, engine.opens_with(workspace.path))
    free = shutil.disk_usage(workspace.path).free
    st.markdown(f"**{_size(used['total'])}** in this workspace; {_size(free)} of its disk is free.")
    st.code(str(workspace.path), language=None, wrap_lines=True)
    rows = [(PARTS.get(name, name), _size(size)) for name, size in used.items() if name != "total"]
    with st.container(key="settings.storage.table"):
        wrapped.table(pd.DataFrame(rows, columns=["What takes up room", "Size"]), right=("Size",))


def _at_rest(workspace: engine.Workspace, by: str | None) -> None:
    """Say whether the workspace is encrypted, what that protects from and what not, and the command that changes it.

    No passphrase is typed here: the command asks for it in a terminal, while the program is stopped.
    """
    if by is None:
        st.warning(at_rest(by), icon=":material/lock_open:")
    else:
        st.markdown(at_rest(by))
    with st.expander("What encryption protects from, and how", icon=":material/lock:", key="settings.at_rest"):
        st.markdown(PROTECTS)
        if by is None:
            missing = workspace.disk.cannot_encrypt()
            if missing:
                st.markdown(plain(missing))
            st.markdown("To encrypt it, stop the program, then run this in a terminal. It asks for a passphrase:")
            st.code(_command(workspace, "encrypt"), language=None, wrap_lines=True)
            st.markdown("Or let a key file open it, kept on another disk; it is made where there is none:")
            st.code(_command(workspace, "encrypt --key-file FILE"), language=None, wrap_lines=True)
            return
        st.markdown("To change what opens it, or to go back, stop the program, then run one of these in a terminal:")
        for verb in ("rekey --new-passphrase", "rekey --new-key-file FILE", "decrypt"):
            st.code(_command(workspace, verb), language=None, wrap_lines=True)


def _command(workspace: engine.Workspace, words: str) -> str:
    """Return the exact command line for this workspace."""
    return f"python -m engine --workspace {shlex.quote(str(workspace.path))} {words}"


def at_rest(by: str | None) -> str:
    """Say in a line whether the workspace is encrypted; `by`: what opens it, None for a plain one."""
    if by is None:
        return "**Not encrypted**: whoever reads this disk, or a copy of it, reads the text."
    return f"**Encrypted**, and opened with its {by}. What is released or exported leaves without encryption."


def backup(workspace: engine.Workspace) -> None:
    """Offer to write the whole workspace to one file on this machine."""
    by = engine.opens_with(workspace.path)
    st.markdown(
        "One file with everything, private text and the key of the audit log included. "
        + (f"It is encrypted, and opens with the {by} of today." if by else "Keep it as safe as the original.")
    )
    default = str(Path.home() / f"understudy-{datetime.now():%Y-%m-%d}.zip")
    st.session_state.setdefault("settings.backup", default)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("File to write", key="settings.backup", width=520)
        st.button("Back up", icon=":material/save:", key="settings.backup.do", on_click=_backup, args=(workspace,))
    with st.expander("Restore a backup", icon=":material/settings_backup_restore:", key="settings.restore.box"):
        _restore(workspace)


def _restore(workspace: engine.Workspace) -> None:
    """Offer to unpack a backup into a folder of its own; this workspace stays as it is."""
    st.markdown(
        "A backup is unpacked into a new folder. This workspace is not touched and stays open. What was spent of the "
        "privacy budget after the backup is unknown then: the Ledger of the new one asks for it."
    )
    st.text_input("Backup file on this machine", key="settings.restore.file", placeholder="/media/disk/understudy.zip")
    st.text_input(
        "New folder to unpack it into", key="settings.restore.folder", placeholder="/data/understudy-restored"
    )
    sure = st.checkbox(
        "It is meant: the new folder will hold private text and the key of the audit log", key="settings.restore.sure",
        wrap=True,
    )  # fmt: skip
    st.button(
        "Restore", icon=":material/settings_backup_restore:", key="settings.restore.do", disabled=not sure,
        on_click=_unpack, args=(workspace,),
    )  # fmt: skip
    made = st.session_state.get(RESTORED)
    if made:
        st.markdown("To work in the restored one, start the program with its folder:")
        st.code(f"UNDERSTUDY_WORKSPACE={shlex.quote(made)} streamlit run app.py", language=None, wrap_lines=True)


def _unpack(workspace: engine.Workspace) -> None:
    file, folder = (str(st.session_state.get(f"settings.restore.{name}") or "").strip() for name in ("file", "folder"))
    if not file or not folder:
        notice("Name the backup file and a new folder.", kind="problem")
        return
    if not st.session_state.get("settings.restore.sure"):
        return
    st.session_state.pop(RESTORED, None)
    made = act(workspace.disk.restore, Path(file).expanduser(), Path(folder).expanduser(), done="Restored into {}")
    st.session_state["settings.restore.sure"] = False
    if made is not None:
        st.session_state[RESTORED] = str(made)


def _backup(workspace: engine.Workspace) -> None:
    name = str(st.session_state["settings.backup"]).strip()
    if not name:
        notice("Name a file to write the backup to.", kind="problem")
        return
    act(workspace.disk.backup, Path(name).expanduser(), done="Backup written to {}")


def delete(workspace: engine.Workspace) -> None:
    """Offer to delete a corpus after its name was typed."""
    known = corpus_names(workspace)
    if not known:
        st.caption("There is no corpus to delete.")
        return
    st.markdown(":orange[:material/warning: **For good:** text, decisions, runs and outputs go. Spent budget stays.]")
    chosen = st.selectbox(
        "Corpus to delete",
        list(known),
        format_func=known.__getitem__,
        key="settings.delete.corpus",
        index=None,
        placeholder="Choose one",
    )
    if chosen is None:
        return
    corpus, name = workspace.corpora.get(chosen), known[chosen]
    st.markdown(
        f"Its text, spans, decisions, {count_of(corpus.runs, 'run')} and outputs are removed from the disk for good. "
        "A line without text stays in the audit log. What was spent of the privacy budget of these people stays spent, "
        "also when the file is loaded again. Files you exported are not touched."
    )
    typed = st.text_input(f"Type its name to confirm: {plain(name)}", key=f"settings.delete.name.{chosen}")
    st.button(
        "Delete for good",
        icon=":material/delete_forever:",
        key="settings.delete.do",
        disabled=typed.strip() != name.strip(),
        on_click=_delete,
        args=(workspace, chosen),
    )


def _delete(workspace: engine.Workspace, corpus_id: str) -> None:
    typed = str(st.session_state.get(f"settings.delete.name.{corpus_id}", "")).strip()
    corpus = act(workspace.corpora.get, corpus_id)  # another window may have deleted it
    if corpus is None:
        return
    if typed != corpus_names(workspace).get(corpus_id, "").strip():
        notice("The name does not match; nothing was deleted.", kind="problem")
        return
    act(workspace.corpora.delete, corpus_id, done="The corpus was deleted.")


def self_check(workspace: engine.Workspace) -> None:
    """Run the checks on request and show them as a table."""
    st.markdown(
        "The checks say whether anything could leave this machine, and whether the parts are all here and unchanged."
    )
    with st.container(horizontal=True):
        st.button(
            "Run the checks",
            type="primary",
            icon=":material/health_and_safety:",
            key="settings.doctor",
            on_click=_doctor,
            args=(workspace,),
        )
        st.download_button(
            "Support file",
            data=lambda: support_file(workspace),
            file_name="understudy-support.zip",
            mime="application/zip",
            key="settings.support",
            icon=":material/download:",
            on_click="ignore",
            disabled=lacks(engine.Right.MANAGE),
            help="Versions, checks, counts and job states for someone who helps you. No record text, no names.",
        )
    answer = st.session_state.get("settings.checks")
    st.markdown(last_checked(workspace))
    if answer is None:
        return
    checks: list[dict[str, Any]] = list(answer["checks"])
    checks.sort(key=lambda check: (check["ok"], not str(check["name"]).startswith("page settings")))
    bad = [check for check in checks if not check["ok"]]
    if bad:
        st.error(f"{count_of(len(bad), 'check')} of {len(checks)} failed.", icon=":material/error:")
    else:
        st.success(
            "Nothing could leave this machine, and its parts are all here and unchanged.",
            icon=":material/check_circle:",
        )
    if bad:
        _checked([(str(check["name"]), str(check["detail"])) for check in bad], "FAILED")
    if len(bad) < len(checks):
        with st.expander(f"{count_of(len(checks) - len(bad), 'check')} passed", key="settings.checks.passed"):
            _checked([(str(check["name"]), str(check["detail"])) for check in checks if check["ok"]], "passed")


def _checked(checks: list[tuple[str, str]], result: str) -> None:
    """Draw a line a check: its result, name and detail."""
    table = pd.DataFrame([(result, *check) for check in checks], columns=["Result", "Check", "Detail"])
    wrapped.table(table, bold="Result")


def last_checked(workspace: engine.Workspace) -> str:
    """Return what the checks found when they ran last, whoever ran them, and when that was."""
    last = workspace.settings.get(LAST)
    if not isinstance(last, dict):
        return "**Not checked yet.**"
    failed, checks = int(as_number(last.get("failed")) or 0), int(as_number(last.get("checks")) or 0)
    counted = count_of(checks, "check")
    found = f"{number(failed)} of {counted} failed" if failed else f"{counted} passed, none failed"
    return f"**Checked last {when(str(last.get('at')))}: {found}.** What was set up since is not in it."


def _doctor(workspace: engine.Workspace) -> None:
    found = act(workspace.doctor.check)
    if found is None:
        return
    st.session_state["settings.checks"] = found
    if not lacks(engine.Right.MANAGE):
        failed = sum(not check["ok"] for check in found["checks"])
        at = datetime.now(UTC).isoformat(timespec="seconds")
        act(workspace.settings.set, LAST, {"at": at, "failed": failed, "checks": len(found["checks"])})


def support_file(workspace: engine.Workspace) -> bytes:
    """Return the support file, made at the moment of the click."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "support.zip"
        workspace.doctor.support_file(path)
        return path.read_bytes()


def _size(count: float) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{number(count / factor, 1)} {unit}"
    return f"{number(int(count))} bytes"
