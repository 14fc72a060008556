"""The privacy budget of the people behind a corpus: limit, what is left, what-if, and what each run claimed.

Nothing here holds record text: ledger lines are public parameters, counts and ids.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
import streamlit as st

import engine
from engine import LIST_SHARE, Event, Guarantee, as_number, epsilon_of, gaussian_mu, noise_multiplier
from engine.figures.budget import chance_at_most
from pages._ui import states
from pages._ui.ledger import names as ledger_names
from pages._ui.ledger import people as ledger_people
from pages._ui.ledger import since
from pages._ui.ledger.left import little, what_is_left
from pages._ui.ledger.lines import short
from pages._ui.parts import wrapped
from pages._ui.parts.sliders import slider
from pages._ui.plan.promise import wait
from pages._ui.sign_in.closed import barred
from pages._ui.texts import plain, run_title, share, when

# column -> pixels: together no wider than a window of 1,024 leaves them
RUNS = {"Run": 284, "Claimed ε": 72, "Recomputed ε": 96, "Noisy answers": 96, "State": 136}
RUNS_HELP = {
    "Claimed ε": "What the run's statement says; one that counts earlier runs too is larger than what is recomputed.",
    "Recomputed ε": "What the run's own list of noisy steps adds up to, worked out apart from what the run claims.",
    "Noisy answers": "How many answers with noise the run has drawn from private records so far, of all that it "
    "planned; each is a line of its own in the run's row under “Uses and releases”.",
}
COMPOSED = (
    "That sum is of all noisy answers, as if every run had been fixed beforehand. Where runs were chosen after looking "
    "at earlier ones, what holds is the limit."
)
OVERVIEW = {"Corpus": 150, "People": 170, "Limit, ε": 65, "In use": 60, "Left, ε": 120, "Formal total": 95}
SPENT = "spent for good"
LATE = (
    "A limit that is changed after noisy answers were seen is a weaker promise: the change stands in the ledger as its "
    "own line, with that sentence."
)


def headline(workspace: engine.Workspace, corpus: engine.CorpusSummary, view: engine.LedgerView) -> None:
    """Draw what is left, how much is in use, and folded how that is added up."""
    if view.unbounded:
        st.warning(f"**The formal total is unbounded.** {plain(view.sentence)}", icon=":material/all_inclusive:")
    elif view.unknown_since is None:  # else the box below says it
        (st.warning if little(view) else st.markdown)(what_is_left(view))
        if not _ordinary(view):
            st.markdown(plain(view.sentence))
    ledger_people.questions(workspace, corpus, view)
    if view.unknown_since is not None:
        since.spent(workspace, corpus, view)
    if not view.unbounded:
        st.progress(min(1.0, max(0.0, view.share)), text=f"{share(view.share, 0)} of the limit in use")
    with st.grid(2, min_column_width=200):
        since.metric("Limit, ε", f"{view.limit_epsilon:g}", view.limit_epsilon, note=_limit_help(view))
        since.metric(
            "Total that can be stated, ε" if view.unbounded else "A next run may claim, ε",
            "none" if view.unbounded else _left(view),
            None if view.unbounded else max(0.0, view.remaining_epsilon),
            note="Text without a proof left: no total holds for these people any more. A run keeps its own statement."
            if view.unbounded
            else "The most that a further run may claim, at the limit's δ. Losses add up to less than their sum.",
            under=""
            if view.unbounded or view.unknown_since is not None or view.remaining_epsilon <= 0
            else f"{share(1.0 - view.share, 0)} of the limit is free",
        )
    if not view.unbounded:
        st.caption(
            "Under an ε: how sure somebody may become that a person is in the data, who was 10% sure before; what δ "
            "allows comes on top."
        )
    else:  # runs are admitted as before, and what they claim is no total for these people
        st.caption(
            f"New runs with a proof are still admitted up to the limit, of which {share(view.share, 0)} is in use. "
            "Each keeps its own statement; together they bound nothing."
        )
    _added_up(view)
    if view.remaining_epsilon <= 0 and view.share < 1:
        st.caption("The first run took the whole limit by its own exact accounting, so nothing else fits.")
    if not view.unbounded and not view.no_total and view.total_epsilon is None:
        wait(lambda: workspace.ledger.of(corpus.id).total_epsilon is None, key="ledger.wait.total", what="The total")


def _added_up(view: engine.LedgerView) -> None:
    """Draw what was drawn so far and the rule by which it is added up, folded."""
    with st.expander("How it is added up", key="ledger.added_up"):
        if not view.unbounded and _ordinary(view) and view.unknown_since is None:
            st.markdown(plain(view.sentence))
        else:
            st.markdown(f"Drawn so far, ε: {total(view)}.")
        if said := more_than_limit(view):
            st.caption(said)
        st.caption(COMPOSED)
        st.markdown(
            f"δ of the limit: {engine.upward(view.limit_delta)}, {chance_at_most(view.limit_delta)}. Runs add up in "
            f"Rényi divergence of order {view.order}, fixed with the limit, so that a run may be chosen after looking "
            f"at earlier ones. {_lists(view)}"
        )


def _ordinary(view: engine.LedgerView) -> bool:
    """Return whether the engine's sentence on a ledger tells no more than sums, which are folded."""
    above = view.total_epsilon is not None and view.total_epsilon > view.limit_epsilon
    large = view.limit_delta * view.largest_units >= 1.0
    return not (view.no_total or view.questions or above or large)


def more_than_limit(view: engine.LedgerView) -> str:
    """Return why what was drawn and what may still be claimed come to more than the limit; empty where they do not.

    What the filter admits keeps the limit for all that was drawn and one more run with Gaussian noise, whatever the two
    ε are as numbers; nothing is said where a spend is not known or a question is open.
    """
    open_ones = view.unbounded or view.unknown_since is not None or bool(view.questions)
    if (
        open_ones
        or view.total_epsilon is None
        or view.total_epsilon + view.remaining_epsilon <= 1.005 * view.limit_epsilon
    ):
        return ""
    return (
        f"ε does not add up like money: ε = {engine.upward(view.total_epsilon)} drawn and a further run of Gaussian "
        f"noise with ε = {engine.downward(view.remaining_epsilon)} lose at most ε = {view.limit_epsilon:g} at "
        f"δ = {view.limit_delta:g} together."
    )


def total(view: engine.LedgerView) -> str:
    """Return the formal total of what was drawn or released."""
    if view.unbounded:
        return "unbounded"
    if view.no_total:
        return "no sum"
    if view.total_epsilon is None:
        return "pending"
    return f"{'at least ' if view.unknown_since is not None else ''}{engine.upward(view.total_epsilon)}"


def _lists(view: engine.LedgerView) -> str:
    """Return what of the limit's δ runs may buy lists of labels for."""
    if not view.limit_list_delta:
        return "Nothing of δ is set aside for lists of labels, so no run may buy one under this limit."
    left = max(0.0, view.limit_list_delta - view.list_delta_used)
    return (
        f"Of δ, {view.limit_list_delta:.3g} is set aside for lists of labels that runs buy, and {left:.3g} of it is "
        "left; it is fixed with the limit too."
    )


def _left(view: engine.LedgerView) -> str:
    if view.remaining_epsilon <= 0:
        return "nothing"
    return f"{'at most ' if view.unknown_since is not None else ''}{engine.downward(view.remaining_epsilon)}"


def _limit_help(view: engine.LedgerView) -> str:
    return "The default; nobody set one yet." if view.limit_is_default else "Set by a person; see the lines below."


def drawn(view: engine.LedgerView) -> bool:
    """Return whether a run has drawn a noisy answer from these people's records."""
    return bool((view.lines["kind"] == "spend").any()) if len(view.lines) else False


def set_limit(workspace: engine.Workspace, corpus: engine.CorpusSummary, view: engine.LedgerView) -> None:
    """Draw the form that changes the limit."""
    seen = drawn(view)
    with st.expander("Set the limit", icon=":material/tune:", key="ledger.limit.box"):
        if barred("Setting a limit", engine.Right.MANAGE):
            return
        st.markdown("What all runs with a guarantee together may cost the people behind this corpus, at most.")
        left, right = st.columns(2)
        with left:
            epsilon = st.number_input(
                "Limit, ε", min_value=0.01, max_value=100.0, value=float(view.limit_epsilon), step=0.5,
                key=f"ledger.limit.epsilon.{corpus.id}",
            )  # fmt: skip
        with right:
            delta = st.number_input(
                "Limit, δ", min_value=1e-12, max_value=1e-3, value=float(view.limit_delta), step=1e-6, format="%.2e",
                key=f"ledger.limit.delta.{corpus.id}",
            )  # fmt: skip
        lists = st.number_input(
            "Share of δ for lists of labels", min_value=0.0, max_value=0.9, step=0.1,
            value=min(0.9, round(view.limit_list_delta / view.limit_delta, 3)) or LIST_SHARE,
            key=f"ledger.limit.lists.{corpus.id}",
            help="A run that buys its list of labels takes a tenth of its own δ from this share. The share is fixed "
            "with the limit, since what is taken as it comes would not be covered by the proof.",
        )  # fmt: skip
        large, units = False, view.largest_units
        if delta * units >= 1.0:
            st.warning(
                f"This δ is 1/N or more (N = {units:,}): publishing whole records at random, {delta * units:.3g} of "
                "them on average, would stay within it.",
                icon=":material/warning:",
            )
            large = st.checkbox("A δ this large is meant", key=f"ledger.limit.large.{corpus.id}", wrap=True)
        (st.warning if seen else st.caption)(LATE + (" Noisy answers were already drawn." if seen else ""))
        st.button(
            "Set this limit", icon=":material/check:", key="ledger.limit.set",
            on_click=states.act, args=(workspace.ledger.set_limit, corpus.id, epsilon, delta),
            kwargs={
                "done": f"The limit is ε = {epsilon:g} at δ = {delta:.3g}.", "large_delta": large, "list_share": lists,
            },
        )  # fmt: skip


def what_if(workspace: engine.Workspace, corpus: engine.CorpusSummary, view: engine.LedgerView) -> None:
    """Draw what would be left after a run at a chosen ε."""
    st.markdown("**What if a run claimed …**")
    fits = math.floor(10 * view.remaining_epsilon) / 10
    epsilon = slider("ε of the run", 0.1, 16.0, min(4.0, max(0.1, fits)), 0.1, key="ledger.whatif", persist=True)
    st.caption(
        f"Who was 10% sure that a person is in the data could become {since.sure(epsilon)} sure by that run, "
        "apart from what δ allows on top."
    )
    answer = workspace.ledger.what_if(corpus.id, one_gaussian(epsilon, view.limit_delta, corpus.unit))
    if answer.allowed:
        in_use = f"{share(answer.share_after, 0)} of the limit would be in use"
        st.progress(min(1.0, max(0.0, answer.share_after)), text=in_use)
        st.caption(plain(answer.sentence))
    elif view.unknown_since is not None or view.questions:
        st.caption("No run is admitted until the question above is answered.")
    else:
        others = "" if drawn(view) else ", or set another limit beside this, before anything is drawn"
        states.refused(answer.sentence, f"Choose a smaller ε{others}.")
    st.caption(
        "For a run with Gaussian noise; the Plan page answers for the very run you set up there. Two small runs "
        "together cost less than their numbers added."
    )


def one_gaussian(epsilon: float, delta: float, unit: str) -> Guarantee:
    """Return the guarantee of a single Gaussian release with this claim."""
    event = Event("gaussian", "what if", noise_multiplier=noise_multiplier(epsilon, delta), unit=unit)
    return Guarantee("dp", "A run that is only thought of.", epsilon=epsilon, delta=delta, unit=unit,
                     adjacency="zero-out", events=(event.as_dict(),))  # fmt: skip


def runs(view: engine.LedgerView, known: dict[str, engine.RunSummary]) -> None:
    """Draw what each run with a guarantee claimed and drew, totals recomputed from its events."""
    found = run_rows(view, known)
    if not found:
        return
    st.markdown("**Runs with a guarantee**")
    _whole(
        pd.DataFrame(found), RUNS, right=("Claimed ε", "Recomputed ε", "Noisy answers"),
        alt="Claims, recomputed totals and noisy answers, a row a run", helps=RUNS_HELP,
    )  # fmt: skip
    st.caption("Recomputed from the run's own list of noisy steps, which is fixed before it starts.")


def _whole(
    frame: pd.DataFrame,
    widths: Mapping[str, int],
    *,
    right: tuple[str, ...],
    alt: str,
    helps: Mapping[str, str] | None = None,
) -> None:
    """Draw a frame of which every column has a width and is read whole; `helps` explains columns at their head."""
    columns = {
        name: st.column_config.TextColumn(
            width=width, alignment="right" if name in right else None, help=(helps or {}).get(name)
        )
        for name, width in widths.items()
    }
    high = wrapped.row_height(frame, widths)
    st.dataframe(frame, hide_index=True, row_height=high, alt=alt, column_config=columns)


def run_rows(view: engine.LedgerView, known: dict[str, engine.RunSummary]) -> list[dict[str, object]]:
    """Return one row a run that reserved budget, latest first."""
    found: list[dict[str, object]] = []
    for run_id, part in view.lines.sort_values("seq", ascending=False).groupby("run_id", sort=False):
        kinds = part["kind"].value_counts()
        if not kinds.get("reserve", 0):
            continue
        run = known.get(str(run_id))
        claimed = pd.to_numeric(part.loc[part["kind"] == "reserve", "epsilon"]).max()
        found.append(
            {
                "Run": f"{run_title(run)} · {when(run.created)}" if run else "deleted; its lines stay",
                "Claimed ε": short(claimed, ".4g"),
                "Recomputed ε": short(recomputed(run.guarantee) if run else None, ".4g"),
                "Noisy answers": _answers(int(kinds.get("spend", 0)), run),
                "State": state_of(kinds),
            }
        )
    return found


def recomputed(guarantee: Guarantee) -> float | None:
    """Return a run's ε from its own events: by formula, else as the accounting noted it."""
    mu = gaussian_mu(guarantee.mechanisms)
    if mu is not None and guarantee.delta and (delta := guarantee.drawn[1]):
        return epsilon_of(mu, delta)
    noted = guarantee.accounting
    return as_number(noted.get("epsilon_pld", noted.get("epsilon_rdp")))


def state_of(kinds: pd.Series[int]) -> str:
    """Return where a reservation stands, in words, from the counts of its lines by kind."""
    if kinds.get("give_back", 0):
        return "given back, nothing was drawn"
    if kinds.get("settle", 0):
        return SPENT
    return "reserved, partly drawn" if kinds.get("spend", 0) else "reserved"


def planned_outputs(guarantee: Guarantee) -> int:
    """Return how many noisy answers the run's schedule holds."""
    return sum(event.count for event in guarantee.mechanisms)


def _answers(spends: int, run: engine.RunSummary | None) -> str:
    """Return how many noisy answers were drawn, of how many where the run is there to say so."""
    planned = planned_outputs(run.guarantee) if run else 0
    return f"{spends:,} of {planned:,}" if planned >= max(1, spends) else f"{spends:,}"


def overview(workspace: engine.Workspace) -> None:
    """Draw one row a corpus: its limit, what is left, and the total."""
    found, names = [], ledger_names.read(workspace)
    for corpus in workspace.corpora.all():
        view = workspace.ledger.of(corpus.id)
        found.append(
            {
                "Corpus": names[corpus.id],
                "People": ledger_names.named(view.population, names),
                "Limit, ε": view.limit_epsilon,
                "In use": "unbounded" if view.unbounded else share(view.share, 0),
                "Left, ε": "as before for a single run; no total" if view.unbounded else _left(view),
                "Formal total": total(view),
            }
        )
    if found:
        _whole(
            pd.DataFrame(found),
            OVERVIEW,
            right=("Limit, ε", "In use", "Left, ε", "Formal total"),
            alt="Budgets, a row a corpus",
            helps={"Formal total": COMPOSED},
        )
        st.caption("Corpora with the same entry under People share one budget.")


def exported(workspace: engine.Workspace, corpus_id: str) -> bytes:
    """Return every line of a ledger as JSON; asked for only when somebody downloads it."""
    return workspace.ledger.export(corpus_id).encode("utf-8")


def check(workspace: engine.Workspace) -> None:
    """Verify the ledger's chain and keep the answer for this session; a callback."""
    st.session_state["ledger.lines.checked"] = workspace.ledger.verify()


def answer() -> None:
    """Draw the answer of the last check."""
    found = st.session_state.get("ledger.lines.checked")
    if found is None:
        return
    if found["ok"]:
        st.success(f"All {found['lines']:,} lines of the ledger hold together.", icon=":material/verified:")
    else:
        st.error(
            f"**The ledger was changed.** Line {plain(found['first_bad'])} is the first that does not hold. "
            "Keep this folder as it is and compare it with a backup.",
            icon=":material/gpp_bad:",
        )
