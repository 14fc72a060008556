"""What a release is made of: public words for the card, file formats; and the call that makes it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import streamlit as st

import engine
from pages._ui.language import mark, tr
from pages._ui.language.words import date_pattern
from pages._ui.parts import once
from pages._ui.release import kept
from pages._ui.sign_in import visitor
from pages._ui.sign_in.closed import barred
from pages._ui.states import act, notice

JUST = "release.just"  # the release that was made in this session last
FORMATS = {"csv": "CSV", "jsonl": "JSON Lines", "parquet": "Parquet"}
INSIDE = (
    mark("approved records only: a fresh random id, the text, and the label if the run has one"),
    mark(
        "a report and a data card: method, settings, guarantee, purpose, recipient, limits; for people and for programs"
    ),
    mark("the policy's answer without measured values, and what the run drew from the budget"),
    mark("checksums, a program that checks them with nothing but Python, and your signature where you give a key"),
)
OUTSIDE = (
    mark("rejected and undecided records"),
    mark("source records as they are, other columns, ids and order of the run"),
    mark("any number measured on the original, and the name of the corpus unless you give one"),
)


def words(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Ask for the words on the card and the file formats; say what will be inside and what will not."""
    if barred(tr("Building a release"), engine.Right.RELEASE):
        return
    st.caption(tr("Public words: only what you type here names the original. Leave empty what readers must not know."))
    if visitor.may(engine.Right.MANAGE):
        st.caption(tr("Kept with this run until it is released, the signing key apart."))
    left, right = st.columns(2)
    for place, name, label, empty, longest in (
        (left, "purpose", mark("Purpose"), mark("not stated"), 200),
        (right, "recipient", mark("Recipient"), mark("not named"), 200),
        (left, "contact", mark("Contact"), mark("not given"), 200),
        (right, "licence", mark("Licence"), mark("not stated"), 200),
        (left, "title", mark("Title"), mark("named by the method"), 120),
        (right, "source", mark("Name of the original"), mark("not named"), 200),
    ):
        place.text_input(
            tr(label), key=kept.key_of(name), placeholder=tr(empty), max_chars=longest, persist_state="session",
            on_change=kept.keep, args=(workspace, run, name),
        )  # fmt: skip
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    left.date_input(
        tr("Look at it again by"),
        value=None,
        min_value=tomorrow,
        max_value=tomorrow + timedelta(days=3650),
        format=date_pattern(),
        key=kept.key_of("review"),
        persist_state="session",
        on_change=kept.keep,
        args=(workspace, run, "review"),
        help=tr("New attacks and new sources appear: by this day somebody looks whether the release can stand."),
    )
    right.text_input(
        tr("Signing key"),
        key="release.key",
        placeholder=tr("not signed"),
        max_chars=400,
        help=tr("Path of a key file on this machine, outside the workspace. `python -m engine key FILE` makes one."),
    )
    st.multiselect(
        tr("File formats"),
        list(FORMATS),
        format_func=FORMATS.__getitem__,
        default=list(FORMATS),
        key="release.formats",
    )
    with st.expander(
        tr("What will be inside, and what will not"), icon=":material/inventory_2:", key="release.contents"
    ):
        left, right = st.columns(2)
        left.markdown("\n".join((f"**{tr('What will be inside')}**", *(f"- {tr(line)}" for line in INSIDE))))
        right.markdown("\n".join((f"**{tr('What will not')}**", *(f"- {tr(line)}" for line in OUTSIDE))))


def keep_typed() -> None:
    """Keep what was typed and chosen while its fields are not drawn."""
    for key in ("release.key", "release.formats"):
        if key in st.session_state:
            st.session_state[key] = st.session_state[key]


def chosen_formats() -> tuple[str, ...]:
    """Return the chosen file formats."""
    return tuple(st.session_state.get("release.formats") or ())


def card_words() -> dict[str, str]:
    """Return what was typed for the card, the day of review as ISO 8601."""
    review = st.session_state.get(kept.key_of("review"))
    typed = {name: str(st.session_state.get(kept.key_of(name)) or "") for name in kept.WORDS}
    return {**typed, "review": review.isoformat() if review else ""}


def missing_words() -> list[str]:
    """Return what readers will look for on the card and nobody typed."""
    asked = {
        "purpose": tr("its purpose"),
        "recipient": tr("its recipient"),
        "contact": tr("a contact"),
        "licence": tr("a licence"),
        "review": tr("a day of review"),
    }
    return [said for name, said in asked.items() if not st.session_state.get(kept.key_of(name))]


def approved(workspace: engine.Workspace, run_id: str) -> object:
    """Return what is approved, as far as it can be held against what was approved before: records and their risks."""
    return workspace.runs.risks(run_id)["approved"]


def release(
    workspace: engine.Workspace, run_id: str, policy: engine.Policy, signed: str, shown: object, *,
    accepted: bool = False,
) -> None:  # fmt: skip
    """Make the release; a callback. `shown`: what was approved as the question named it, see `approved`."""
    if (now := act(approved, workspace, run_id)) is None:
        return
    if now != shown:
        notice(tr("Other records are approved by now than this question named: nothing was released."), kind="problem")
        return
    key = str(st.session_state.get("release.key") or "").strip()
    made = once.act(
        "release.build",
        lambda: act(workspace.releases.make, run_id, policy.id, policy_digest=policy.digest,
                    formats=chosen_formats(), signed_off_by=signed, accept_unbounded=accepted,
                    sign_key=Path(key) if key else None, **card_words()),
    )  # fmt: skip
    if made is not None:
        st.session_state[JUST] = made.id
        kept.forget(workspace, run_id)
