"""The pool on the plan page: which one a run chooses from, and how to get one."""

from __future__ import annotations

import streamlit as st

import engine
from engine import JSON
from pages._ui import method_cards, states
from pages._ui.navigation import go
from pages._ui.texts import count_of

OWN = ("pool", "promise")  # parameters that are asked for here instead of in the form
METHOD = "dp-select"


def ask(workspace: engine.Workspace, method: engine.MethodSpec, *, key: str) -> dict[str, JSON]:
    """Ask which pool a method that needs one chooses from; say how to get one where there is none."""
    if "pool" not in method.needs:
        return {}
    pools = {pool.name: pool for pool in workspace.pools.all()}
    if not pools:
        states.empty(
            "No pool yet",
            "This method chooses among texts that were made elsewhere. Write prompts and have them answered by any "
            "model, or bring in a public corpus of the same kind of text.",
            action="Get a pool", page="pool", key=f"{key}.none",
        )  # fmt: skip
        return {}
    chosen = st.selectbox(
        "Pool", list(pools), key=f"{key}.pool",
        format_func=lambda name: f"{name} · {count_of(pools[name].texts, 'text')}",
        help="Choose by what is known of the pools in public. Choosing by how they compare with private records is a "
        "selection that no bound covers.",
    )  # fmt: skip
    return {"pool": chosen}


def offer(workspace: engine.Workspace, method: engine.MethodSpec) -> None:
    """Offer whoever plans another method with a proven bound to choose from a pool."""
    if method.kind != "dp" or "pool" in method.needs:
        return
    pools = workspace.pools.all()
    if pools:
        st.info(
            f"{count_of(len(pools), 'pool')} of text made elsewhere {'is' if len(pools) == 1 else 'are'} here. "
            "Choosing from one costs one release of votes, and its texts are whole.",
            icon=":material/library_books:",
        )
        st.button("Choose from a pool instead", key="plan.pool.use", on_click=_use)
    else:
        st.caption(
            "Text of a larger model can be made elsewhere from public prompts, and chosen here under such a bound too."
        )
        if st.button("How to get a pool", key="plan.pool.get"):
            go("pool")


def _use() -> None:
    """Choose the method; a callback."""
    st.session_state[method_cards.CHOICE] = METHOD
