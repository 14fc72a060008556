"""The spot check: a random sample to read to the end, what it says was missed, and its second reading.

Privacy posture: a text is shown through the highlight component alone; words that are typed go to the engine, which
looks for them in their text and keeps where they stand.
"""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

import engine
from pages._ui.language import localised, mark, tr, trn
from pages._ui.parts import once
from pages._ui.release import policy as release_policy
from pages._ui.review import second
from pages._ui.review.queue import SPOT
from pages._ui.states import act, notice
from pages._ui.texts import decimal, label_name, number, plain, significant

TEXTS, VIEW = mark("Text by text"), mark("Spot check")
TARGETS = (100.0, 50.0, 20.0, 10.0, 5.0)  # records in 1,000
LEAST, TWICE = 30, 20
EXACT = 1e-6  # tenths that an upper end may lie above one


def see() -> None:
    """Show the spot check; a callback."""
    st.session_state["review.view"] = VIEW


def brief(workspace: engine.Workspace, corpus_id: str) -> list[str]:
    """Return the spot check's state in a few words and in a sentence, as plain text: nobody has to read all."""
    found = workspace.spot_checks.estimate(corpus_id)
    if found is None:
        rule = _asked(workspace, corpus_id)
        needed, records = workspace.spot_checks.at_a_glance(corpus_id, TARGETS[_target(rule)])
        needed = max(needed, _least(rule, records))
        if needed >= records:  # so few texts that a sample is all of them
            return [tr("Spot check"), tr("How much is missed once you have read them? A random sample tells.")]
        return [
            trn("{n} random text tells what is missed", "{n} random texts tell what is missed", needed),
            trn(
                "You need not read all: {n} text drawn at random tells how much is missed.",
                "You need not read all: {n} texts drawn at random tell how much is missed.",
                needed,
            ),
        ]
    if found.check.stale:
        return [tr("Spot check: out of date"), tr("The spot check is out of date.") + f" {found.check.stale}"]
    if found.direct is None:
        return [
            tr("Spot check: tells nothing yet"),
            tr(
                "The spot check tells nothing yet: {why} Choose the order “{order}” under Filters.",
                why=found.why,
                order=tr(SPOT),
            ),
        ]
    high = of_a_thousand(found.direct.high)
    return [
        tr("At most {high} of 1,000 texts still hold one", high=high),
        tr(
            "By the spot check, at most {high} of 1,000 texts still hold a direct identifier that nobody marked, if "
            "its readers overlooked none.",
            high=high,
        ),
    ]


def draw(workspace: engine.Workspace, corpus_id: str) -> None:
    """Draw the latest spot check and what follows from it, and the form for a new one."""
    found = workspace.spot_checks.estimate(corpus_id)
    if found is None:
        st.markdown(
            tr(
                "Texts are drawn at random, you read each to the end and mark what is missing. From what had been "
                "missed in them follows, with its interval, how many of **all** texts still hold something. Texts that "
                "were read before are drawn too: a second look at some of them tells what the first overlooked."
            )
        )
        _new(workspace, corpus_id, first=True)
        return
    _state(workspace, corpus_id, found)
    if found.direct is not None and found.quasi is not None:
        _numbers(found)
    second.draw(workspace, corpus_id, found)
    with st.expander(tr("Draw a new spot check"), icon=":material/casino:", key="review.spot.again"):
        _new(workspace, corpus_id, first=False)


def _state(workspace: engine.Workspace, corpus_id: str, found: engine.SpotEstimate) -> None:
    check = found.check
    st.markdown(
        tr(
            "**Spot check {look}**: {drawn} of {all} texts, drawn at random by {person}; {read} read.",
            look=check.look,
            drawn=number(check.drawn),
            all=number(check.drawn_from),
            person=plain(check.actor),
            read=number(check.read),
        )
        + (
            " "
            + trn(
                "{n} of them had been read before and is read again.",
                "{n} of them had been read before and are read again.",
                check.again,
            )
            if check.again
            else ""
        )
    )
    st.progress(check.read / check.drawn if check.drawn else 0.0)
    if check.stale:
        st.warning(tr("**Out of date.** {sentence}", sentence=plain(check.stale)), icon=":material/history:")
    elif found.why:
        st.markdown(plain(found.why))
    if not check.complete and not check.stale:
        st.button(
            tr("Read its texts"), type="primary", icon=":material/menu_book:", key="review.spot.read", on_click=_read,
            help=tr("Nothing is told before all are read: who could stop when the number suits would bend it."),
        )  # fmt: skip
        st.caption(
            tr(
                "Mark what is missing wherever it stands. Deciding, outside of these texts, that something stays which "
                "goes now makes the sample out of date."
            )
        )


def of_a_thousand(of_1000: float) -> str:
    """Return an upper end of 1,000 as people read it, see `rounded_up`: whole where it is a whole number."""
    shown = rounded_up(of_1000)
    return decimal(shown, 0 if shown.is_integer() else 1)


def rounded_up(of_1000: float) -> float:
    """Return an upper end with one digit behind the point, never below what was computed."""
    return math.ceil(10 * of_1000 - EXACT) / 10


def _numbers(found: engine.SpotEstimate) -> None:
    """Show what was missed as a table, and what it does not show."""
    assert found.direct is not None
    assert found.quasi is not None
    rates = {tr("Direct identifiers"): found.direct, tr("Indirect identifiers"): found.quasi}
    rates |= {f"· {label_name(name)}": rate for name, rate in found.types.items()}
    st.markdown(
        tr(
            "At most **{direct}** of 1,000 texts still hold a direct identifier that nobody marked, "
            "and at most **{indirect}** an indirect one. This takes as given that whoever read the sample overlooked "
            "nothing in it; the interval is for chance in drawing.",
            direct=of_a_thousand(found.direct.high),
            indirect=of_a_thousand(found.quasi.high),
        )
    )
    st.dataframe(
        pd.DataFrame(
            [
                {
                    tr("Missed"): name,
                    tr("In the sample"): tr("{hit} of {read}", hit=number(rate.hit), read=number(rate.read)),
                    tr("Per 1,000"): round(rate.value, 1),
                    tr("{level} interval", level=localised(f"{100 * rate.level:.4g}%")): tr(
                        "{low} to {high}", low=decimal(rate.low, 1), high=decimal(rounded_up(rate.high), 1)
                    ),
                }
                for name, rate in rates.items()
            ]
        ),
        hide_index=True, height="content", alt=tr("Texts that still hold something missed, by type, per 1,000 texts"),
    )  # fmt: skip
    places = sum(found.places)
    missed = (
        trn(
            "{n} identifier had been missed in the sample; what is marked now counts as there no more.",
            "{n} identifiers had been missed in the sample; what is marked now counts as there no more.",
            places,
        )
        if places
        else tr("Nothing had been missed in the sample.")
    )
    st.caption(
        f"{missed} "
        + tr(
            "A text counts once, however much was missed in it. What a reader of the sample overlooked is not in these "
            "numbers; what an earlier reading overlooked is. Each interval holds by itself."
        )
    )


def _new(workspace: engine.Workspace, corpus_id: str, *, first: bool) -> None:
    """Ask how many texts to draw, and say what that can show."""
    given = workspace.spot_checks.drawable(corpus_id)
    if not given.records:
        st.markdown(tr("This corpus has no text."))
        return
    policy, rule = release_policy.standing(workspace, corpus_id), _asked(workspace, corpus_id)
    target = st.selectbox(
        tr("Wanted: at most"), TARGETS, index=_target(rule), key=f"review.spot.target.{policy.id}", width=320,
        format_func={
            bound: tr("{n} of 1,000 texts with something missed", n=significant(bound, "g")) for bound in TARGETS
        }.__getitem__,
    )  # fmt: skip
    needed = workspace.spot_checks.needed(corpus_id, target)
    st.caption(
        trn(
            "That takes {n} text in which nothing was missed, of {all}. If something was missed, the bound is higher.",
            "That takes {n} texts in which nothing was missed, of {all}. If something was missed, the bound is higher.",
            needed,
            all=number(given.records),
        )
        + (" " + _second_look(given.read_before, given.records) if given.read_before else "")
        + (" " + _policy_asks(policy, rule) if rule is not None else "")
    )
    needed = max(needed, _least(rule, given.records))
    least_twice = max(TWICE, rule.minimum_twice if rule is not None and rule.second_reader else 0)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        count = st.number_input(
            tr("Texts to draw"), 1, given.records, needed, key=f"review.spot.count.{given.look}.{needed}", width=180
        )
        twice = st.number_input(
            tr("A second person reads"), 0, int(count), min(least_twice, int(count)),
            key=f"review.spot.twice.{int(count)}.{least_twice}",
            width=180, help=tr("How many of them. Drawn at random, and not told which."),
        )  # fmt: skip
        st.button(
            tr("Draw at random"), type="primary" if first else "secondary", icon=":material/casino:",
            key="review.spot.draw", on_click=_draw, args=(workspace, corpus_id, int(count), int(twice), given.look),
        )  # fmt: skip
    once.rearm("review.spot.draw")
    if int(count) < min(LEAST, given.records):
        st.warning(tr("Of fewer than {least} texts nothing is told.", least=LEAST), icon=":material/info:")
    else:
        high = workspace.spot_checks.high_if_clean(corpus_id, int(count))
        st.markdown(
            tr(
                "If nothing was missed in {count}: at most **{high}** of 1,000.",
                count=number(int(count)),
                high=of_a_thousand(high),
            )
        )
    if given.elsewhere:
        st.caption(tr("Texts of this corpus were drawn from before, in another corpus that holds them. That counts."))
    if given.look > 1:
        st.caption(
            tr(
                "Each further sample halves the error that its interval may make, so that drawing until the number "
                "suits does not pay."
            )
        )


def _asked(workspace: engine.Workspace, corpus_id: str) -> engine.MissedRule | None:
    """Return what the policy that stands asks of a spot check, None where it asks for none."""
    return release_policy.standing(workspace, corpus_id).requirements.missed


def _target(rule: engine.MissedRule | None) -> int:
    """Return the place of the bound that is proposed: the widest one that the policy allows, for either kind."""
    bounds = [] if rule is None else [one for one in (rule.direct_per_1000, rule.quasi_per_1000) if one is not None]
    fit = [place for place, target in enumerate(TARGETS) if bounds and target <= min(bounds)]
    return fit[0] if fit else len(TARGETS) - 1 if bounds else 1


def _least(rule: engine.MissedRule | None, records: int) -> int:
    """Return the fewest texts that the policy takes, of so many; 0 where it asks for none."""
    return 0 if rule is None else min(rule.minimum_sample, records)


def _policy_asks(policy: engine.Policy, rule: engine.MissedRule) -> str:
    """Say what the policy that stands asks of the sample; its bound is what is proposed."""
    return trn(
        "The policy “{policy}” takes no fewer than {n} text.",
        "The policy “{policy}” takes no fewer than {n} texts.",
        rule.minimum_sample,
        policy=plain(policy.title),
    )


def _second_look(read: int, records: int) -> str:
    """Say that texts which were read before are drawn too."""
    if read == records:
        return tr("All were read before; a second look at those drawn is what tells how much was overlooked.")
    return trn(
        "{n} text was read before and may be drawn too, for a second look.",
        "{n} texts were read before. They are drawn in proportion, for a second look.",
        read,
    )


def _draw(workspace: engine.Workspace, corpus_id: str, count: int, twice: int, look: int) -> None:
    """Draw a spot check; a callback."""
    made = once.act(
        "review.spot.draw",
        lambda: act(workspace.spot_checks.draw, corpus_id, count, twice=twice, look=look),
    )
    if made is not None:
        notice(
            trn(
                "{n} text drawn. Read them in the order “{order}”.",
                "{n} texts drawn. Read them in the order “{order}”.",
                made.drawn,
                order=tr(SPOT),
            )
        )


def _read() -> None:
    """Open the texts in the order of the spot check; a callback."""
    st.session_state["review.view"] = TEXTS
    st.session_state["review.filter.order"] = SPOT
