"""The formal budget of the people behind a corpus: limit, what is left, what-if, every line.

Nothing here holds record text: ledger lines are public parameters, counts and ids.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

import engine
from engine import LIST_SHARE, Event, Guarantee, as_number, epsilon_of, gaussian_mu, noise_multiplier
from engine.figures.budget import LINES, chance_at_most, ledger_timeline
from pages._ui import states
from pages._ui.current import corpus_names
from pages._ui.examined import figure as examined_figure
from pages._ui.ledger import names as ledger_names
from pages._ui.ledger import since
from pages._ui.parts import rows, wrapped
from pages._ui.parts.pager import offset_of, pager
from pages._ui.parts.sliders import slider
from pages._ui.plan.promise import wait
from pages._ui.sign_in.closed import barred, lacks, only
from pages._ui.texts import count_of, plain, run_name, share, when

PAGE = 50
# column -> pixels: together no wider than a window of 1,024 leaves them
RUNS = {"Run": 290, "Claimed ε": 72, "Recomputed ε": 96, "Noisy answers": 96, "State": 130}
RUNS_HELP = {
    "Claimed ε": "What the run's statement says; one that counts earlier runs too is larger than what is recomputed.",
    "Recomputed ε": "What the run's own list of noisy steps adds up to, worked out apart from what the run claims.",
    "Noisy answers": "How many answers with noise the run has drawn from private records so far; each is a line of its "
    "own under “Uses and releases”.",
}
COMPOSED = (
    "All mechanism outputs composed at the limit's δ, as if every run had been fixed beforehand. Where runs were "
    "chosen after looking at earlier ones, what holds is the limit."
)
OVERVIEW = {"Corpus": 150, "People": 170, "Limit, ε": 65, "In use": 60, "Left, ε": 120, "Formal total": 95}
USES = {"Line": 42, "When": 118, "What": 125, "Run": 150, "ε": 42, "δ": 55, "In use after": 88}
SPENT = "spent for good"
PROTECTS = {"source": "person"}
NEIGHBOURS = {"zero-out": "there or left out", "replace-one": "theirs or another's"}
GAPS = "Lines are numbered through the whole workspace: numbers that are missing here are lines about other people."
POPULATION = (
    "The budget belongs to the people, not to the file. They are recognised by keyed hashes of whole texts, of runs of "
    "eight words, of short records with and without each of their words, of lines, of what is left of a record without "
    "the words of its form, and of source ids. So the same file, a part of it, or one with other headers, footers, "
    "numbers, spelling or names, or with records joined by line, shares its ledger, also after a corpus was deleted: "
    "importing it again does not bring budget back. Short records, lines and what is left of a form count where two "
    "files share more rare ones than each repeats within itself. Clear overlap joins two ledgers at once: what was "
    "spent adds up and the smaller limit holds. Lesser overlap asks you, as do answers too common to tell people "
    "apart, and no run with a guarantee is admitted until you answer."
)
UNSEEN = (
    "What it cannot see: other text about the same people without source ids, or with other ids; translations and "
    "paraphrases; a few short records in a large file; records of fewer than four words in which a word was changed; "
    "readings whose numbers were changed; text without blanks, or joined without a mark in "
    "between. The limit holds for the people recognised and for those whom you join here. A copy of the workspace's "
    "folder says that spends elsewhere are unknown when it is opened, also where it was put back at the folder's own "
    "place; this one cannot know of its copies, nor of a time in which it lay aside and a copy stood in its place."
)
LATE = (
    "A limit that is changed after outputs were seen is a weaker promise: the change stands in the ledger as its own "
    "line, with that sentence."
)


def headline(workspace: engine.Workspace, corpus: engine.CorpusSummary, view: engine.LedgerView) -> None:
    """Draw the total and what is left."""
    if view.unbounded:
        st.warning(f"**The formal total is unbounded.** {plain(view.sentence)}", icon=":material/all_inclusive:")
    elif view.unknown_since is None:  # else the box below says it
        st.markdown(plain(view.sentence))
    questions(workspace, corpus, view)
    if view.unknown_since is not None:
        since.spent(workspace, corpus, view)
    if not view.unbounded:
        st.progress(min(1.0, max(0.0, view.share)), text=f"{share(view.share, 0)} of the limit in use")
    with st.grid(3, min_column_width=200):
        since.metric("Limit, ε", f"{view.limit_epsilon:g}", view.limit_epsilon, note=_limit_help(view))
        since.metric(
            "Total that can be stated, ε" if view.unbounded else "A next run may claim, ε",
            "none" if view.unbounded else _left(view),
            None if view.unbounded else view.remaining_epsilon,
            note="Text without a proof left: no total holds for these people any more. A run keeps its own statement."
            if view.unbounded
            else "The most that a further run may claim, at the limit's δ. Losses add up to less than their sum.",
        )
        since.metric(
            "Drawn so far, ε",
            total(view),
            None if view.unbounded or view.no_total else view.total_epsilon,
            note=COMPOSED,
        )
    if not view.unbounded:
        st.caption(
            "Beside each ε: how sure somebody may become that a person is in the data, who was 10% sure before; "
            "what δ allows comes on top."
        )
    if said := more_than_limit(view):
        st.caption(said)
    if view.unbounded:  # runs are admitted as before, and what they claim is no total for these people
        st.caption(
            f"New runs with a proof are still admitted up to the limit, of which {share(view.share, 0)} is in use. "
            "Each keeps its own statement; together they bound nothing."
        )
    with st.expander("How it is added up", key="ledger.added_up"):
        st.markdown(
            f"δ of the limit: {engine.upward(view.limit_delta)}, {chance_at_most(view.limit_delta)}. Runs add up in "
            f"Rényi divergence of order {view.order}, fixed with the limit, so that a run may be chosen after looking "
            f"at earlier ones. {_lists(view)}"
        )
    if view.remaining_epsilon <= 0 and view.share < 1:
        st.caption("The first run took the whole limit by its own exact accounting, so nothing else fits.")
    if not view.unbounded and not view.no_total and view.total_epsilon is None:
        wait(lambda: workspace.ledger.of(corpus.id).total_epsilon is None, key="ledger.wait.total", what="The total")


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
        f"noise with ε = {view.remaining_epsilon:.3g} lose at most ε = {view.limit_epsilon:g} at "
        f"δ = {view.limit_delta:g} together."
    )


def questions(workspace: engine.Workspace, corpus: engine.CorpusSummary, view: engine.LedgerView) -> None:
    """Draw what shares something with these people, and the two answers."""
    for asked in view.questions:
        other = str(asked.population)
        with st.container(border=True, key=f"ledger.same.{other}"):
            named = ", ".join(asked.corpora) or "a corpus that was deleted"
            st.markdown(f"**Are these the same people as those of {plain(named)}?**")
            st.markdown(
                f"The texts share {plain(asked.sentence)}. If some people are in both, join the ledgers: what was "
                "spent adds up, for good. If only a form or a phrase is shared, keep them apart: the limit then relies "
                "on your word, which stands in both ledgers and holds until a later file shares clearly more."
            )
            with st.container(horizontal=True):
                if st.button(
                    "Same people: join", icon=":material/merge:", key=f"ledger.same.join.{other}",
                    **only(engine.Right.MANAGE),
                ):  # fmt: skip
                    _sure(workspace, corpus.id, other, named)
                st.button(
                    "Other people: keep apart", icon=":material/call_split:", key=f"ledger.same.apart.{other}",
                    on_click=states.act, args=(workspace.ledger.keep_apart, corpus.id, other),
                    **only(engine.Right.MANAGE),
                    kwargs={"done": "The ledgers stay apart, by your word."},
                )  # fmt: skip


def join(workspace: engine.Workspace, corpus: engine.CorpusSummary, view: engine.LedgerView) -> None:
    """Draw how people are recognised, and the control that joins them with those of another corpus."""
    st.markdown(POPULATION)
    st.markdown(UNSEEN)
    st.caption(plain(f"These people are kept as {view.population}."))
    apart = {one.id for one in workspace.corpora.all() if one.population != view.population}
    others = {corpus_id: name for corpus_id, name in corpus_names(workspace).items() if corpus_id in apart}
    if not others:
        return
    chosen = st.selectbox(
        "Same people as", list(others), format_func=others.__getitem__, index=None, key="ledger.join.other",
        placeholder="Choose a corpus",
    )  # fmt: skip
    if st.button(
        "Join …", icon=":material/merge:", key="ledger.join.do",
        disabled=chosen is None or lacks(engine.Right.MANAGE),
    ) and chosen is not None:  # fmt: skip
        _sure(workspace, corpus.id, chosen, others[chosen])


@st.dialog("Join these ledgers for good?")
def _sure(workspace: engine.Workspace, corpus_id: str, other: str, named: str) -> None:
    """Say what a joined ledger means, and ask once."""
    st.markdown(
        f"The people behind this corpus and behind {plain(named)} would share one budget: what was spent on either "
        "adds up and the smaller limit holds. A release of one without a proof counts for the other too. **That cannot "
        "be undone.**"
    )
    with st.container(horizontal=True):
        if st.button(
            "Join for good", type="primary", icon=":material/merge:", key="ledger.join.sure",
            on_click=states.act, args=(workspace.ledger.join_people, corpus_id, other),
            kwargs={"done": "The two ledgers are one now."},
        ):  # fmt: skip
            st.rerun()
        if st.button("Do not join", key="ledger.join.keep"):
            st.rerun()


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
    return f"{'at most ' if view.unknown_since is not None else ''}{view.remaining_epsilon:.3g}"


def _limit_help(view: engine.LedgerView) -> str:
    return "The default; nobody set one yet." if view.limit_is_default else "Set by a person; see the lines below."


def set_limit(workspace: engine.Workspace, corpus: engine.CorpusSummary, view: engine.LedgerView) -> None:
    """Draw the form that changes the limit."""
    seen = bool((view.lines["kind"] == "spend").any()) if len(view.lines) else False
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
        (st.warning if seen else st.caption)(LATE + (" Outputs were already drawn." if seen else ""))
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
    epsilon = slider("ε of the run", 0.1, 16.0, 4.0, 0.1, key="ledger.whatif", persist=True)
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
        states.refused(answer.sentence, "Choose a smaller ε, or set the limit anew before anything was drawn.")
    st.caption(
        "For a run with Gaussian noise; the Plan page answers for the very run you set up there. What is in use is not "
        "ε by ε: small runs take less of the limit than their ε is of its ε, since what they lose is unlikely to come "
        "together."
    )


def one_gaussian(epsilon: float, delta: float, unit: str) -> Guarantee:
    """Return the guarantee of a single Gaussian release with this claim."""
    event = Event("gaussian", "what if", noise_multiplier=noise_multiplier(epsilon, delta), unit=unit)
    return Guarantee("dp", "A run that is only thought of.", epsilon=epsilon, delta=delta, unit=unit,
                     adjacency="zero-out", events=(event.as_dict(),))  # fmt: skip


def timeline(workspace: engine.Workspace, view: engine.LedgerView) -> None:
    """Draw every line in a table, the open one in full, and as a mark over time."""
    if view.lines.empty:
        st.caption("No line yet: the first run, examination or release writes one.")
        return
    in_order = view.lines.sort_values("seq")
    ends = (in_order["kind"] == "release") & in_order["epsilon"].isna()  # a release with a proof names its ε
    latest = in_order.assign(unbounded=ends.cummax()).iloc[::-1]
    latest = latest[latest["kind"].isin(kinds(latest))]
    begin = offset_of("ledger.lines.page", PAGE)
    begin = begin if begin < len(latest) else 0
    shown = table(latest.iloc[begin : begin + PAGE], ledger_names.read(workspace))
    at = rows.chosen(
        shown, key="ledger.lines", ids=[str(line) for line in shown["Line"]], right=("ε", "δ", "In use after"),
        widths=USES,
        wraps=("What", "Run"),
        alt="Lines of the ledger, latest first; a line is shown in full below",
    )  # fmt: skip
    rows.in_full({name: shown[name].iloc[at] for name in ("What", "Run", "Sentence", "Protects", "Who")},
                 key="ledger.lines")  # fmt: skip
    pager(len(latest), key="ledger.lines.page", size=PAGE, counted=count_of(len(latest), "line"))
    st.caption(GAPS)
    with st.expander("Over time", icon=":material/timeline:", key="ledger.lines.time"):
        examined_figure.draw(ledger_timeline(view.lines, view.limit_epsilon), key="ledger.lines.figure")


def kinds(lines: pd.DataFrame) -> list[str]:
    """Draw the filter by kind, and return the kinds that are wanted: all of them where none is chosen."""
    here = [kind for kind in LINES if kind in set(lines["kind"])]
    wanted = st.pills(
        "Kinds of lines", here, selection_mode="multi", format_func=lambda kind: LINES[kind][0], key="ledger.kinds",
        label_visibility="collapsed",
    )  # fmt: skip
    return list(wanted) or list(lines["kind"].unique())


def table(lines: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Return ledger lines as people read them; unbounded: whether the total is, from a line on."""
    return pd.DataFrame(
        {
            "Line": lines["seq"],
            "When": [when(at) for at in lines["at"]],
            "What": [_kind(kind, what) for kind, what in zip(lines["kind"], lines["what"], strict=True)],
            "Run": [ledger_names.named(_text(run_id), names) for run_id in lines["run_id"]],
            "ε": [_short(value, ".4g") for value in pd.to_numeric(lines["epsilon"])],
            "δ": [_short(value, ".3g") for value in pd.to_numeric(lines["delta"])],
            "In use after": [
                "unbounded" if unbounded else share(value, 0)
                for value, unbounded in zip(pd.to_numeric(lines["share_after"]), lines["unbounded"], strict=True)
            ],
            "Sentence": [ledger_names.dated(_text(sentence)) for sentence in lines["sentence"]],
            "Protects": [
                f"each {PROTECTS.get(unit, unit)}, whose data are {NEIGHBOURS.get(adjacency, adjacency)}"
                if isinstance(unit, str)
                else "–"
                for unit, adjacency in zip(lines["unit"], lines["adjacency"], strict=True)
            ],
            "Who": [ledger_names.who(_text(actor)) for actor in lines["actor"]],
        }
    )


def _kind(kind: str, what: object) -> str:
    """Return a line's kind in words, with the statistic of a spend."""
    name = LINES[kind][0] if kind in LINES else kind
    words = _text(what).replace("_", " ")
    if kind == "touch" and words == "examination":
        name = "Examined"  # holds the text against private records, whatever made it
    if words.endswith("declared public"):
        name = "Opened"  # without noise, and at no cost: an assumption of the guarantee
    return f"{name}: {words}" if kind == "spend" else name


def _text(value: object) -> str:
    return value if isinstance(value, str) and value else "–"


def _short(value: float | None, digits: str) -> str:
    return "–" if value is None or value != value else format(float(value), digits)


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
    st.caption("Recomputed from the run's own list of mechanisms, which is fixed before it starts.")


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
    found = []
    for run_id, part in view.lines.sort_values("seq", ascending=False).groupby("run_id", sort=False):
        kinds = part["kind"].value_counts()
        if not kinds.get("reserve", 0):
            continue
        run = known.get(str(run_id))
        claimed = pd.to_numeric(part.loc[part["kind"] == "reserve", "epsilon"]).max()
        found.append(
            {
                "Run": run_name(run) if run else "deleted; its lines stay",
                "Claimed ε": _short(claimed, ".4g"),
                "Recomputed ε": _short(recomputed(run.guarantee) if run else None, ".4g"),
                "Noisy answers": int(kinds.get("spend", 0)),
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
    return f"reserved, {count_of(int(kinds.get('spend', 0)), 'output')} drawn" if kinds.get("spend", 0) else "reserved"


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
