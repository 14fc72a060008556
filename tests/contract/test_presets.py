"""Presets of every method: known to its parameters, unlike each other, and in order of what they cost."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from engine.methods import get_method, method_ids
from engine.methods.base import Facts
from engine.methods.presets import ENOUGH, PRESETS, presets_of

FACTS = Facts(records=6_000, units=4_000, unit="source", cap=3, labels=4, mean_characters=600.0, sources_named=True)


def test_every_method_has_presets_and_nothing_else_does():
    assert set(PRESETS) == set(method_ids())


@pytest.mark.parametrize("method_id", method_ids())
def test_presets_are_the_methods_own_settings(method_id):
    method, found = get_method(method_id), presets_of(method_id)
    assert [preset.id for preset in found][:3] == ["quick", "standard", "thorough"]
    defaults = method.spec.parameters().model_dump()
    effects = []
    for preset in found:
        values = method.spec.parameters.model_validate(dict(preset.parameters)).model_dump()
        same = [name for name in preset.parameters if values[name] == defaults[name]]
        assert not same, f"{preset.id} sets {same} to what they are anyway"
        assert preset.outputs >= 1
        assert preset.says
        assert not preset.says.endswith(".")
        effects.append((preset.outputs, values))
    assert all(a != b for a, b in itertools.combinations(effects, 2)), "two presets do the same"


@pytest.mark.parametrize("method_id", method_ids())
def test_a_quick_look_is_quicker_and_a_thorough_run_does_more(method_id):
    method = get_method(method_id)
    if method_id == "dp-select":  # its promise is a pool's; what it costs is counted in outputs alone
        quick, standard, thorough = (preset.outputs for preset in presets_of(method_id))
    else:
        quick, standard, thorough = (
            method.plan(
                method.spec.parameters.model_validate(dict(preset.parameters)), FACTS,
                preset.count(method.spec, FACTS),
            ).seconds
            for preset in presets_of(method_id)[:3]
        )  # fmt: skip
    assert quick < standard <= thorough
    assert presets_of(f"filter:{method_id}") == presets_of(method_id)


def test_where_nothing_is_proven_the_standard_makes_enough_to_judge_uses_by():
    few = replace(FACTS, records=520, units=91)
    for method_id in ("filter", "control-icl-blocked", "surrogate"):
        spec = get_method(method_id).spec
        quick, standard, thorough = (preset.count(spec, few) for preset in presets_of(method_id)[:3])
        assert quick < ENOUGH <= standard <= thorough
    proven = get_method("aug-pe").spec
    assert presets_of("aug-pe")[1].count(proven, few) == 91, "more outputs would share the same votes"
