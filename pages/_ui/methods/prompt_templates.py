"""The editor of prompt templates: choose a domain and a template, change it, see what a model would be sent.

Privacy posture: previews use made-up text. Templates are public inputs of every guarantee; the page says so.
"""

from __future__ import annotations

import streamlit as st

import engine
from engine import SYSTEM_TEMPLATE, TEMPLATE_FILTERS, template_fields
from pages._ui.settings.parts import DOMAINS
from pages._ui.sign_in.closed import barred
from pages._ui.states import act, flash, notice

TITLES = {
    "invent": "Invent a text",
    "vary": "Vary a text",
    "fill": "Fill in blanks",
    "cross": "Combine texts",
    "abstract": "Summarise without detail",
    "expand": "Write out key words",
    "rephrase": "Rephrase a text",
    "from_control_code": "Write from a control code",
    "from_examples": "Write like examples",
    "judge": "Judge a text",
    SYSTEM_TEMPLATE: "Who the model is",
    "privacy_judge": "Rewriting: privacy judge",
    "utility_judge": "Rewriting: utility judge",
    "rewriter": "Rewriting: rewriter",
}


def draw(workspace: engine.Workspace) -> None:
    """Draw the editor."""
    st.caption(
        "For models that follow instructions; the built-in model's formats are fixed by its training. A change holds "
        "for new runs, and each run keeps the templates it was started with. Templates count as public: write nothing "
        "into them that you read in private text."
    )
    left, right = st.columns(2, gap="large")
    with left:
        domain = st.selectbox(
            "Kind of text", [name for name in DOMAINS if name != "auto"], format_func=DOMAINS.__getitem__,
            key="prompts.domain",
        )  # fmt: skip
        known = workspace.prompts.all(domain)
        name = st.selectbox(
            "Template", list(known), key="prompts.name",
            format_func=lambda name: f"{TITLES.get(name, name)}{' (changed)' if known[name]['changed'] else ''}",
        )  # fmt: skip
        text = _edit(workspace, domain, name, known[name])
    with right:
        st.markdown("**Preview**")
        st.caption("What a model would be sent, with made-up text in the fields.")
        shown = act(workspace.prompts.preview, domain, name, text)
        flash()
        if shown is not None:
            st.code(shown, language=None, wrap_lines=True)
        with st.expander("Fields and what else a template may hold"):
            if not (fields := template_fields(name)):
                st.markdown("None: this one is sent as it stands.")
            st.markdown("\n".join(f"- `{{{{ {field} }}}}`: {meaning}" for field, meaning in fields.items()))
            st.markdown(
                "`{% if field %} … {% else %} … {% endif %}` and `{% for item in field %} … {{ loop.index }} … "
                "{% endfor %}`; filters: "
                + ", ".join(f"`{name}`" for name in sorted(TEMPLATE_FILTERS))
                + ". Nothing else."
            )
    st.caption(f"Version of all templates in use: `{workspace.prompts.version()}`. A run's manifest names it.")


def _edit(workspace: engine.Workspace, domain: str, name: str, entry: engine.Template) -> str:
    """Draw the text and its buttons; return the text as it stands in the editor."""
    key = f"prompts.text.{domain}.{name}"
    st.session_state.setdefault(key, entry["text"])
    changes = not barred("Changing a template", engine.Right.MANAGE)
    text = st.text_area("Text of the template", key=key, height=320, disabled=not changes)
    save, back = st.columns(2)
    save.button(
        "Save for new runs", key="prompts.save", on_click=_save, args=(workspace, domain, name, key), width="stretch",
        disabled=not changes or text.strip() == entry["text"].strip(), type="primary",
    )  # fmt: skip
    back.button(
        "As shipped", key="prompts.reset", on_click=_reset, args=(workspace, domain, name, key),
        width="stretch", disabled=not changes or not entry["changed"],
    )  # fmt: skip
    return text


def _save(workspace: engine.Workspace, domain: str, name: str, key: str) -> None:
    if act(workspace.prompts.set, domain, name, st.session_state[key]) is not None:
        notice("Template saved for new runs.")


def _reset(workspace: engine.Workspace, domain: str, name: str, key: str) -> None:
    if act(workspace.prompts.reset, domain, name) is not None:
        st.session_state.pop(key, None)
        notice("Back to the template that shipped.")
