"""Sign-off, public words for the card, building a release, and the releases made so far.

Privacy posture: only files of a release can be downloaded; they are read from the store, and
checked against their checksums, at the moment of the click.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

import engine
from engine import BUNDLE_FILES, VERIFY_COMMANDS
from pages._ui import once
from pages._ui.states import act, notice
from pages._ui.texts import count_of, number, plain, when

FORMATS = {"csv": "CSV", "jsonl": "JSON Lines", "parquet": "Parquet"}
MIME = {
    "csv": "text/csv",
    "jsonl": "application/jsonl",
    "parquet": "application/octet-stream",
    "md": "text/markdown",
    "json": "application/json",
}
UNBOUNDED = (
    "This run carries no formal guarantee. Once it is released, no finite ε can be claimed any more for the people "
    "behind this corpus, in this and in every later release. **That cannot be undone.**"
)
INSIDE = (
    "approved records only: a fresh random id, the text, and the label if the run has one",
    "a data card: method, settings, guarantee, the policy in words, limits",
    "checksums of each file and how to check them",
)
OUTSIDE = (
    "rejected and undecided records",
    "original text, source records, other columns, ids and order of the run",
    "any number measured on the original, and the name of the corpus unless you give one",
)


def second_person(policy: engine.Policy) -> str:
    """Ask for the second person's name where the policy wants one."""
    if not policy.requirements.second_person:
        return ""
    return st.text_input(
        "Second person",
        key="release.second",
        max_chars=80,
        help="Someone other than the person acting, who looked at the check-list and a sample of the records.",
    )


def build(
    workspace: engine.Workspace, run: engine.RunSummary, policy: engine.Policy, verdict: engine.Verdict, signed: str
) -> None:
    """Draw the form of a release and its one button."""
    with st.expander("Words on the data card (public)", icon=":material/badge:", key="release.words"):
        st.caption("Only what you type here names the original. Leave empty what readers must not know.")
        left, right = st.columns(2)
        left.text_input("Title", key="release.card.title", placeholder="Synthetic text records", max_chars=120)
        right.text_input("Name of the original", key="release.card.source", placeholder="not named", max_chars=200)
        left.text_input("Contact", key="release.card.contact", placeholder="not given", max_chars=200)
        right.text_input("Licence", key="release.card.licence", placeholder="not stated", max_chars=200)
    formats = st.multiselect(
        "File formats",
        list(FORMATS),
        format_func=FORMATS.__getitem__,
        default=list(FORMATS),
        key="release.formats",
    )
    left, right = st.columns(2)
    left.markdown("**What will be inside**\n" + "\n".join(f"- {line}" for line in INSIDE))
    right.markdown("**What will not**\n" + "\n".join(f"- {line}" for line in OUTSIDE))
    ready = verdict.passed and bool(formats)
    ends = workspace.releases.makes_unbounded(run.id)
    if ends:
        st.warning(UNBOUNDED, icon=":material/all_inclusive:")
    pressed = st.button(
        "Build release",
        type="primary",
        icon=":material/inventory_2:",
        key="release.build",
        disabled=not ready,
        on_click=None if ends else _release,
        args=None if ends else (workspace, run.id, policy.id, signed),
    )
    if not pressed:
        once.rearm("release.build")
    elif ends:
        _confirm(workspace, run.id, policy.id, signed)
    if not verdict.passed:
        first = verdict.open_rules()[0]
        st.caption(f"Not possible yet. Still open: “{plain(first.title)}”. {plain(first.remedy)}")
    elif not formats:
        st.caption("Choose at least one file format.")


@st.dialog("Release text without a proof?")
def _confirm(workspace: engine.Workspace, run_id: str, policy_id: str, signed: str) -> None:
    """Ask once before the total of these people becomes unbounded."""
    st.markdown(UNBOUNDED)
    st.markdown("A look inside the team that may read the original needs no release: the records stand on this page.")
    if st.button(
        "Release it, and claim no ε any more",
        type="primary",
        key="release.build.sure",
        on_click=_release,
        args=(workspace, run_id, policy_id, signed),
        kwargs={"accepted": True},
    ):
        st.rerun()
    if st.button("Do not release", key="release.build.keep"):
        st.rerun()


def _release(workspace: engine.Workspace, run_id: str, policy_id: str, signed: str, *, accepted: bool = False) -> None:
    words = {
        name: str(st.session_state.get(f"release.card.{name}") or "")
        for name in ("title", "source", "contact", "licence")
    }
    chosen = tuple(st.session_state.get("release.formats") or ())
    made = once.act(
        "release.build",
        lambda: act(workspace.releases.make, run_id, policy_id, formats=chosen, signed_off_by=signed,
                    accept_unbounded=accepted, **words),
    )  # fmt: skip
    if made is not None:
        notice(f"{count_of(made.records, 'record')} released. The files are under Releases below.")


def releases(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the releases of this run's corpus, newest first."""
    made = [release for release in workspace.releases.all(run.corpus_id) if release.run_id == run.id]
    others = len(workspace.releases.all(run.corpus_id)) - len(made)
    if not made:
        st.caption("Nothing has been released from this run.")
    names = {policy.id: policy.title for policy in workspace.releases.policies()}
    for position, release in enumerate(made):
        policy = plain(names.get(release.policy, release.policy))
        title = f"{when(release.created)} · {count_of(release.records, 'record')} · {policy}"
        with st.expander(
            title, expanded=position == 0, key=f"release.made.{release.id}", icon=":material/inventory_2:"
        ):
            _files(workspace, release)
    if others:
        st.caption(f"{count_of(others, 'release')} from other runs of this corpus: see the ledger.")


def _files(workspace: engine.Workspace, release: engine.ReleaseSummary) -> None:
    for name, size in release.files.items():
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(
                f"**{plain(name)}**  \n:small[{BUNDLE_FILES.get(name, 'checksums')} · {number(size)} bytes]",
                width="content",
            )
            st.download_button(
                "Download",
                data=_reader(workspace, release.id, name),
                file_name=name,
                mime=MIME.get(name.rpartition(".")[2], "text/plain"),
                key=f"release.download.{release.id}.{name}",
                icon=":material/download:",
                on_click="ignore",
                help=f"{name}, checked again before it is handed out",
            )
    st.caption("Check the files anywhere, in the folder that holds them:")
    st.code(VERIFY_COMMANDS.rstrip() + f"\npython -m engine verify {release.path}", language=None, wrap_lines=True)


def _reader(workspace: engine.Workspace, release_id: str, name: str) -> Callable[[], bytes]:
    """Return what reads the file when the button is clicked; `release_file` checks it again."""
    return partial(workspace.releases.file, release_id, name)
