"""Under which policies a planned run could leave, in the words of the cards and of the bar above Start.

How to use: `ways = Ways(policies, aside, enough)`; `ways.way(guarantee)` is the policy under which the run's text could
go to the readers, None where it could not; `said(reach)` is the line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import engine
from pages._ui.language import mark, tr
from pages._ui.texts import interval, number, plain

INSIDE = "exploratory"
HARDLY = mark("Not likely to be met: {policies} (only {aside} set aside, {least} are needed).")


@dataclass(frozen=True)
class Ways:
    """What decides under which policy a planned run could leave.

    policies: all there are. aside: people or records set aside. enough: ids of the policies of the readers and of
    wider circles.
    """

    policies: tuple[engine.Policy, ...]
    aside: int
    enough: tuple[str, ...]

    def reach(self, guarantee: engine.Guarantee) -> engine.Reach:
        """Return the policies a run of this guarantee could pass."""
        return engine.reach_of(self.policies, guarantee, aside=self.aside)

    def way(self, guarantee: engine.Guarantee) -> engine.Policy | None:
        """Return the widest policy under which the text could go to the readers; None where there is none."""
        return next((policy for policy in self.reach(guarantee).open if policy.id in self.enough), None)


def stays(reach: engine.Reach) -> bool:
    """Return whether the policy for looking inside is all that a run could pass."""
    return reach.ids() == (INSIDE,)


def said(reach: engine.Reach, aside: int) -> str:
    """Return what a run could be released under, before anything is measured; empty where there is no policy.

    aside: people or records set aside.
    """
    if not reach.open:
        return ""
    policies = _listed(reach.open)
    line = (
        tr("With this plan: {policies} only, so it stays inside.", policies=policies)
        if stays(reach)
        else tr("Could be passed with this plan: {policies}.", policies=policies)
    )
    if not reach.hardly:
        return line
    needed = sorted({least for policy in reach.hardly if (least := engine.least_aside(policy)) is not None})
    how_many = number(needed[0]) if len(needed) == 1 else interval(needed[0], needed[-1], 0)
    return f"{line} {tr(HARDLY, policies=_listed(reach.hardly), aside=number(aside), least=how_many)}"


def _listed(policies: Iterable[engine.Policy]) -> str:
    return ", ".join(
        f"“{plain(policy.title)}”"
        + (f" {tr('(while nobody examines it)')}" if policy.requirements.whole_output else "")
        for policy in policies
    )
