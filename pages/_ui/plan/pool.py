"""The pool on the plan page: which one a run chooses from, and how to get one."""

from __future__ import annotations

import streamlit as st

import engine
from engine import JSON
from pages._ui import states
from pages._ui.language import tr, trn
from pages._ui.methods import method_cards
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
            tr("No pool yet"),
            tr("This method chooses among texts that were made elsewhere. Write prompts and have them answered by any "
            "model, or bring in a public corpus of the same kind of text."),
            action=tr("Get a pool"), page="pool", key=f"{key}.none",
        )  # fmt: skip
        return {}
    chosen = st.selectbox(
        tr("Pool"),
        list(pools),
        key=f"{key}.pool",
        format_func={name: f"{name} · {count_of(found.texts, 'text')}" for name, found in pools.items()}.__getitem__,
        help=tr(
            "Choose by what is known of the pools in public. Choosing by how they compare with private records is a "
            "selection that no bound covers."
        ),
    )
    return {"pool": chosen}


def offer(method: engine.MethodSpec, pools: int) -> None:
    """Offer whoever plans another method with a proven bound to choose from a pool, of so many that are here."""
    if method.kind != "dp" or "pool" in method.needs:
        return
    if pools:
        st.info(
            trn(
                "{n} pool of text made elsewhere is here. Choosing from one costs one release of votes, and its "
                "texts are whole.",
                "{n} pools of text made elsewhere are here. Choosing from one costs one release of votes, and its "
                "texts are whole.",
                pools,
            ),
            icon=":material/library_books:",
        )
        st.button(tr("Choose from a pool instead"), key="plan.pool.use", on_click=_use)
    else:
        st.caption(
            tr(
                "Text of a larger model can be made elsewhere from public prompts, and chosen here under such a "
                "bound too."
            )
        )
        if st.button(tr("How to get a pool"), key="plan.pool.get"):
            go("pool")


def _use() -> None:
    """Choose the method; a callback."""
    st.session_state[method_cards.CHOICE] = METHOD
