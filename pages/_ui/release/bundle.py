"""What a release is made of: sign-off, public words for the card, file formats; and the call that makes it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import streamlit as st

import engine
from pages._ui.language import mark, tr
from pages._ui.language.words import date_pattern
from pages._ui.parts import once
from pages._ui.sign_in import visitor
from pages._ui.sign_in.closed import barred
from pages._ui.sign_in.settings import current
from pages._ui.states import act, notice
from pages._ui.texts import plain, when

JUST = "release.just"  # the release that was made in this session last
FORMATS = {"csv": "CSV", "jsonl": "JSON Lines", "parquet": "Parquet"}
WORDS = ("title", "source", "contact", "licence", "purpose", "recipient")
KEPT = ("source", "contact", "licence", "recipient")  # offered again with the next release of a corpus
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


def second_person(workspace: engine.Workspace, run: engine.RunSummary, policy: engine.Policy) -> str:
    """Ask for the second person's name where the policy wants one; who signs in does not type it but signs."""
    if not policy.requirements.second_person:
        return ""
    if current() is not None:
        return _signature(workspace, run, policy)
    return st.text_input(
        tr("Second person"),
        key="release.second",
        max_chars=80,
        help=tr("Someone other than the person acting, who looked at the check-list and a sample of the records."),
    )


def _signature(workspace: engine.Workspace, run: engine.RunSummary, policy: engine.Policy) -> str:
    """Draw who signed as the second person, or offer to sign; a name counts only as theirs who signed in."""
    signature = workspace.signatures.of(run.id, policy.id)
    if signature is not None:
        st.caption(tr(
"Signed by {name}, {at}. A change of the records, the examination or the policy undoes "
"it.", name=plain(signature.name), at=when(signature.at)))  # fmt: skip
    elif visitor.may(engine.Right.APPROVE):
        st.button(tr("Sign as the second person"), key="release.sign", icon=":material/draw:", on_click=act,
                  args=(workspace.signatures.sign, run.id, policy.id),
                  help=tr("You looked at the check-list and at records, and somebody else releases."))  # fmt: skip
    else:
        st.caption(tr("Not signed yet: an approver who signs in can sign here."))
    return "" if signature is None else signature.name


def words(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Ask for the words on the card and the file formats; say what will be inside and what will not."""
    if barred(tr("Building a release"), engine.Right.RELEASE):
        return
    _offer_again(workspace, run.corpus_id)
    st.caption(tr("Public words: only what you type here names the original. Leave empty what readers must not know."))
    left, right = st.columns(2)
    for place, name, label, empty, longest in (
        (left, "purpose", mark("Purpose"), mark("not stated"), 200),
        (right, "recipient", mark("Recipient"), mark("not named"), 200),
        (left, "contact", mark("Contact"), mark("not given"), 200),
        (right, "licence", mark("Licence"), mark("not stated"), 200),
        (left, "title", mark("Title"), mark("named by the method"), 120),
        (right, "source", mark("Name of the original"), mark("not named"), 200),
    ):
        place.text_input(tr(label), key=f"release.card.{name}", placeholder=tr(empty), max_chars=longest)
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    left.date_input(
        tr("Look at it again by"),
        value=None,
        min_value=tomorrow,
        max_value=tomorrow + timedelta(days=3650),
        format=date_pattern(),
        key="release.card.review",
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
    for key in (*(f"release.card.{name}" for name in (*WORDS, "review")), "release.key", "release.formats"):
        if key in st.session_state:
            st.session_state[key] = st.session_state[key]


def _offer_again(workspace: engine.Workspace, corpus_id: str) -> None:
    """Fill in what the corpus' last release said, where nothing is typed; words about another corpus are forgotten."""
    before = st.session_state.get("release.card.of")
    if before == corpus_id:
        return
    st.session_state["release.card.of"] = corpus_id
    for name in WORDS if before else ():
        st.session_state[f"release.card.{name}"] = ""
    last = next(iter(workspace.releases.all(corpus_id)), None)
    for name in KEPT if last else ():
        if last and last.words.get(name) and not st.session_state.get(f"release.card.{name}"):
            st.session_state[f"release.card.{name}"] = last.words[name]


def chosen_formats() -> tuple[str, ...]:
    """Return the chosen file formats."""
    return tuple(st.session_state.get("release.formats") or ())


def card_words() -> dict[str, str]:
    """Return what was typed for the card, the day of review as ISO 8601."""
    review = st.session_state.get("release.card.review")
    typed = {name: str(st.session_state.get(f"release.card.{name}") or "") for name in WORDS}
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
    return [said for name, said in asked.items() if not st.session_state.get(f"release.card.{name}")]


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
