"""Which of the runs on the board can leave the team, by the policies and what was measured, and which is nearest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

import engine
from pages._ui.compare.overview import listed
from pages._ui.texts import count_of, plain

INSIDE = "exploratory"  # the policy for looking inside the team that may read the original
OUT_OF_DATE = "out of date"
TAKEN = "A person's approval and signature are taken as given."


def draw(
    names: Mapping[str, str],
    readers: Mapping[str, engine.Audience],
    stale: Sequence[str],
    leaks: Mapping[str, int],
    wider: Sequence[str],
) -> None:
    """Draw the sentence; see `sentence`."""
    st.markdown(sentence(names, readers, stale, leaks, wider))


def sentence(
    names: Mapping[str, str],
    readers: Mapping[str, engine.Audience],
    stale: Sequence[str],
    leaks: Mapping[str, int],
    wider: Sequence[str],
) -> str:
    """Return which runs can leave the team and under which policy; where none can, the nearest. Ready for markdown.

    Args:
        names: run id -> how it is called. readers: to whom each run's text may go. stale: runs whose findings are out
            of date. leaks: how many leaks Privacy calls of each run. wider: titles of the policies that lead out of
            the team, to say under what none can leave.
    """
    out = {run: found.policy for run, found in readers.items() if found.policy is not None}
    leaving = {run: policy for run, policy in out.items() if policy.id != INSIDE}
    if not leaving:
        under = f" under {listed([plain(title) for title in wider], 'or')}" if wider else ""
        return f"**None of these can leave the team yet**{under}. {_nearest(names, readers, stale)}"
    can = []
    for policy_id, title in {policy.id: policy.title for policy in leaving.values()}.items():
        runs = [_with_leaks(names[run], leaks.get(run, 0)) for run in leaving if leaving[run].id == policy_id]
        can.append(f"{listed([plain(run) for run in runs])} ({plain(title)})")
    inside = [plain(names[run]) for run in out if run not in leaving]
    nowhere = [plain(names[run]) for run in names if run not in out and run not in stale]
    old = [plain(names[run]) for run in names if run not in out and run in stale]
    parts = [f"**Can leave the team, as measured:** {'; '.join(can)}."]
    parts += [f"Stay inside: {listed(inside)}." if len(inside) > 1 else f"Stays inside: {inside[0]}."] if inside else []
    parts += [f"Under no policy: {listed(nowhere)}."] if nowhere else []
    parts += [f"Not known, since {OUT_OF_DATE}: {listed(old)}."] if old else []
    return f"{' '.join(parts)} {TAKEN}"


def _with_leaks(name: str, leaks: int) -> str:
    return f"{name}, with {count_of(leaks, 'leak')} found" if leaks else name


def _nearest(names: Mapping[str, str], readers: Mapping[str, engine.Audience], stale: Sequence[str]) -> str:
    """Return the runs that the fewest rules keep from leaving; what is out of date is not ranked."""
    if all(run in stale for run in readers):
        return "Which is nearest is not known: all findings are out of date, and such findings meet no rule."
    ranked = {
        run: (found.policy is None, len(found.missing))
        for run, found in readers.items()
        if run not in stale and found.wider is not None and found.missing
    }
    said = []
    if ranked:
        least = min(ranked.values())
        best = [run for run in ranked if ranked[run] == least]
        policy, rules = readers[best[0]].wider, readers[best[0]].missing
        title = plain(policy.title) if policy is not None else ""
        open_ = f"{count_of(least[1], 'rule')} of “{title}” {'is' if least[1] == 1 else 'are'} not met"
        if len(best) == 1 and len(rules) == 1:
            open_ += f": “{plain(rules[0].title)}”"
        said.append(f"Nearest: {listed([plain(names[run]) for run in best])}, of which {open_}.")
    old = [plain(names[run]) for run in names if run in stale]
    if old:
        said.append(f"Out of date, so not ranked: {listed(old)}.")
    return f"{' '.join(said)} {TAKEN}"
