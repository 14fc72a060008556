"""Presets of the chosen method: one press sets how many outputs and every setting that matters."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

import engine
from engine import JSON, READABLE_FIELD, MethodPreset
from pages._ui.language import sentence, tr
from pages._ui.language.words import code
from pages._ui.methods import parameters
from pages._ui.plan import lasting
from pages._ui.texts import seconds


def count_key(corpus_id: str) -> str:
    """Return the key of the field with the number of outputs."""
    return f"plan.count.{corpus_id}"


def standard(method: engine.MethodSpec) -> MethodPreset:
    """Return the preset a method starts with."""
    return next(preset for preset in engine.presets_of(method.id) if preset.id == "standard")


def draw(
    workspace: engine.Workspace,
    corpus: engine.CorpusSummary,
    facts: engine.Facts,
    method: engine.MethodSpec,
    *,
    key: str,
    asked: Mapping[str, JSON],
    count: int | None,
    skip: tuple[str, ...],
    pace: lasting.Pace = lasting.AS_RECKONED,
) -> None:
    """Draw the presets with their times; the one that stands is the one that the settings are those of.

    pace: of the last run.
    """
    found = {preset.id: preset for preset in engine.presets_of(method.id)}
    own = f"plan.preset.{corpus.id}.{method.id}"
    st.session_state[own] = standing(method, facts, asked, count)

    took = {name: _time(workspace, corpus.id, method.id, name, pace, code()) for name in found}
    alike = len(found) > 1 and len(set(took.values())) == 1
    titles = {name: tr(found[name].title) if alike else f"{tr(found[name].title)} · {took[name]}" for name in found}

    def chosen() -> None:
        preset = found.get(st.session_state[own])
        if preset is not None:
            parameters.put(method, preset.parameters, key=key, skip=skip)
            said = method.parameters.model_fields.get(READABLE_FIELD)
            if said is not None:
                st.session_state[f"{key}.{READABLE_FIELD}"] = preset.parameters.get(READABLE_FIELD, said.get_default())
            st.session_state[count_key(corpus.id)] = preset.count(method, facts)

    st.pills(
        tr("How thorough"), list(found), key=own, on_change=chosen,
        format_func=titles.__getitem__,
    )  # fmt: skip
    now = found.get(st.session_state[own])
    says = f"{sentence(tr(now.says))}." if now else tr("Settings of your own.")
    st.caption(f"{says} {tr('Each takes {time}.', time=next(iter(took.values())))}" if alike else says)


def standing(
    method: engine.MethodSpec, facts: engine.Facts, asked: Mapping[str, JSON], count: int | None
) -> str | None:
    """Return the preset whose settings these are, or None; budget, labels and wording are not a preset's."""
    fields = method.parameters.model_fields
    for preset in engine.presets_of(method.id):
        names = {name for each in engine.presets_of(method.id) for name in each.parameters}
        same = all(
            asked.get(name, fields[name].get_default(call_default_factory=True))
            == preset.parameters.get(name, fields[name].get_default(call_default_factory=True))
            for name in names
        )
        if same and (count is None or count == preset.count(method, facts)):
            return preset.id
    return None


@st.cache_data(scope="session", show_spinner=False, max_entries=400)
def _time(
    _workspace: engine.Workspace, corpus_id: str, method_id: str, preset_id: str, pace: lasting.Pace, language: str
) -> str:
    """Return the time of a run by a preset, in a language; a corpus never changes, so neither does this."""
    preset = next(preset for preset in engine.presets_of(method_id) if preset.id == preset_id)
    spec = engine.get_method(method_id).spec
    try:
        count = preset.count(spec, _workspace.ledger.facts(corpus_id))
        plan = _workspace.plan.draft(corpus_id, method_id, count=count, parameters=dict(preset.parameters)).plan
    except engine.UserError:
        return tr("time unknown")
    return seconds(pace.of(plan.seconds))
