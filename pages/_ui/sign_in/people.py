"""Who holds which role: the list on the Settings page, with a line to add somebody."""

from __future__ import annotations

import pandas as pd
import streamlit as st

import engine
from pages._ui.parts import wrapped
from pages._ui.sign_in import visitor
from pages._ui.sign_in.settings import current
from pages._ui.states import act
from pages._ui.texts import when

KEY = "settings.people"


def draw(workspace: engine.Workspace) -> None:
    """Draw the list of people and their roles; who may change it gets the means."""
    members = workspace.people.all()
    if current() is None:
        st.markdown("**One person uses this workspace**: the account that the program runs as.")
        with st.expander("To let several people use it", icon=":material/group_add:", key=f"{KEY}.several"):
            st.markdown(
                "Start the program with `--sign-in oidc` or `--sign-in proxy`; the README says how. Roles can be given "
                "before."
            )
    roles = [(role.capitalize(), f"{engine.ROLE_MEANING[role]}.") for role in engine.Role]
    wrapped.table(pd.DataFrame(roles, columns=["Role", "A person with it …"]), bold="Role")
    if members:
        table = pd.DataFrame(
            [
                {
                    "Name": one.person.name,
                    "Identity": one.person.identity,
                    "Roles": ", ".join(one.person.roles),
                    "Since": when(one.since),
                    "Given by": one.added_by,
                    **({"Account": one.account} if any(member.account for member in members) else {}),
                }
                for one in members
            ]
        )
        st.dataframe(table, hide_index=True, key=f"{KEY}.table")
    if not visitor.may(engine.Right.PEOPLE):
        return
    with st.expander("Give or take roles", key=f"{KEY}.change"):
        st.text_input("Identity", key=f"{KEY}.identity", max_chars=120,
                      help="What the sign-in calls this person: an account, or an address.")  # fmt: skip
        st.text_input("Name", key=f"{KEY}.name", max_chars=120, help="Stands in the audit log beside what they do.")
        st.multiselect("Roles", [*engine.Role], format_func=str.capitalize, key=f"{KEY}.roles")
        st.button("Give these roles", key=f"{KEY}.give", on_click=_give, args=(workspace,))
        names = {one.person.identity: one.person.name for one in members}
        if names:
            st.selectbox("Take all roles from", list(names), format_func=names.__getitem__, index=None,
                         key=f"{KEY}.whom")  # fmt: skip
            st.button("Take their roles", key=f"{KEY}.take", on_click=_take, args=(workspace,))


def _give(workspace: engine.Workspace) -> None:
    said = {name: st.session_state.get(f"{KEY}.{name}") for name in ("identity", "name", "roles")}
    roles = [str(role) for role in said["roles"] or []]
    made = act(workspace.people.set, str(said["identity"] or ""), str(said["name"] or ""), roles)
    if made is not None:
        for name in said:
            st.session_state.pop(f"{KEY}.{name}", None)


def _take(workspace: engine.Workspace) -> None:
    whom = st.session_state.get(f"{KEY}.whom")
    if whom:
        act(workspace.people.remove, str(whom))
