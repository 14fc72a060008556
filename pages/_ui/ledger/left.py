"""Whether a budget is used up or nearly so, and what it leaves, in the words of the ledger page and the sidebar."""

from __future__ import annotations

import engine
from pages._ui.ledger import since

NEARLY = 0.9  # share of the limit in use from which almost nothing is left


def little(view: engine.LedgerView) -> bool:
    """Return whether a limit is used up or nearly so."""
    return view.remaining_epsilon <= 0 or view.share > NEARLY


def what_is_left(view: engine.LedgerView) -> str:
    """Return what the limit leaves for a further run, as how sure somebody may become by it, in a sentence."""
    if view.remaining_epsilon <= 0:
        return "**Nothing is left.** No further run with a guarantee fits under this limit."
    head = "**Almost nothing is left:**" if little(view) else "**Left:**"
    return (
        f"{head} a further run may claim ε = {engine.downward(view.remaining_epsilon)}. Someone who is 10% sure that a "
        f"person is in the data could then become {since.sure(view.remaining_epsilon)} sure."
    )
