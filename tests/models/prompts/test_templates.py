"""Changed templates: every shipped one may be kept, nothing that computes or reaches further may, versions follow."""

import re

import pytest

from engine.errors import UserError
from engine.models.builtin.format import DOMAINS
from engine.models.prompts import templates
from engine.models.prompts.operators_builtin import BuiltinOperators
from engine.models.prompts.operators_instruct import InstructOperators
from engine.models.prompts.operators_plain import PlainOperators


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_shipped_template_passes_and_previews(domain):
    for name, text in templates.shipped(domain).items():
        assert templates.check(name, text) == text.strip()
        assert "{{" not in templates.preview(domain, name, text)


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{{ text }} {{ secret }}", "field 'secret' does not exist"),
        ("{{ text }} {{ cycler }}", "field 'cycler'"),
        ("{{ text }} {{ self }}", "field 'self'"),
        ("{{ text.__class__ }}", "not allowed"),
        ("{{ text['x'] }}", "getitem"),
        ("{{ text() }}", "call"),
        ("{{ text * 99999999 }}", "mul"),
        ("{{ text ~ text }}", "concat"),
        ("{{ text|attr('x') }}", "filter 'attr'"),
        ("{% for a in range(999) %}{{ text }}{% endfor %}", "field 'range'"),
        ("{% for a in texts %}{% for b in texts %}{{ b }}{% endfor %}{% endfor %}{{ text }}", "loop inside"),
        ("{% for text in texts %}{{ text }}{% endfor %}", "field 'text'"),
        ("{% include 'x' %}{{ text }}", "include"),
        ("{% import 'x' as y %}{{ text }}", "import"),
        ("{% extends 'x' %}{{ text }}", "extends"),
        ("{% set a = text %}{{ a }}", "field 'a'"),
        ("{% macro a() %}{% endmacro %}{{ text }}", "macro"),
        ("{% filter upper %}{{ text }}{% endfilter %}", "filterblock"),
        ("{{ text|join(text)|join(text) }}", "fixed separator"),
        ("{{ text|join(', ') }}", "fixed separator"),
        ("{{ text }}{{ texts|join(text) }}", "fixed separator"),
        ("{{ text }}{{ texts|join(texts|join) }}", "fixed separator"),
        ("{{ text }}{{ texts|join(', ')|join('x') }}", "fixed separator"),
        ("{{ text|trim('x') }}", "stand alone"),
        ("{% for a in text %}{{ text }}{{ text }}{% endfor %}", "field with several values"),
        ("{% for a in words %}{{ text }}{% endfor %}", "field with several values"),
        ("{% for a in texts|join %}{{ text }}{% endfor %}", "field with several values"),
        ("{% for labels in texts %}{{ labels|join('x') }}{% endfor %}{{ text }}", "field 'labels'"),
        ("{{ " + "(" * 2900 + "text" + ")" * 2900 + " }}", "nests too deeply"),
        ("{{ text " + "and text " * 600 + "}}", "nests too deeply"),
        ("{{ text" + "|upper" * 990 + " }}", "nests too deeply"),
        ("{% if text %}" * 200 + "{{ text }}" + "{% endif %}" * 200, "nests too deeply"),
        ("{{ text", "cannot be read in line 1"),
        ("Write something.", "must show the field"),
        ("   ", "must have 1 to"),
        ("{{ text }}" + "x" * 6000, "must have 1 to"),
    ],
)
def test_what_could_compute_or_reach_further_is_refused(template, says):
    with pytest.raises(UserError, match=says):
        templates.check("vary", template)


@pytest.mark.parametrize(
    ("name", "template", "says"),
    [
        ("privacy_judge", "{{ text }} Record: Words:", "must show the field {{ candidates }}"),
        ("privacy_judge", "{{ text }} {{ candidates|join }} Record: n", "must ask for a line 'Words:'"),
        ("privacy_judge", "{{ original }} {{ text }} {{ candidates|join }} Record: Words:", "field 'original'"),
        ("utility_judge", "{{ text }} {{ labels|join }} Label: Confidence:", "must show the field {{ original }}"),
        # without labels the judge would not be asked for its confidence
        ("utility_judge", "{{ text }}{{ original }}{% if labels %}Label: Confidence:{% endif %}", "line 'Label:'"),
        ("rewriter", "Rewrite {{ words }} words.", "must show the field {{ original }}"),
        ("rewriter", "{{ original }}{% for a in attempts %}{{ a.items }}{% endfor %}", ".items in line 1"),
        ("rewriter", "{{ original.text }}", "not allowed; only loop.index is and, of an attempt, .clues"),
        ("rewriter", "{{ original }}{% for a in attempts %}{{ a.text.format }}{% endfor %}", ".format"),
        ("rewriter", "{{ original }}{% for a in attempts %}{% endfor %}{{ a.text }}", "UndefinedError"),
        ("vary", "{% for a in texts %}{{ a.text }}{% endfor %}{{ text }}", ".text in line 1"),
        ("vary", "{{ text }} {{ candidates }}", "field 'candidates'"),
    ],
)
def test_prompts_of_the_rewriting_loop_are_checked_too(name, template, says):
    with pytest.raises(UserError, match=re.escape(says)):
        templates.check(name, template)


def test_a_rewriters_attempts_may_be_shown_by_their_parts():
    text = "{% for a in attempts %}{{ a.text }} {% if a.private %}ok{% else %}{{ a.clues|join }}{% endif %}{% endfor %}"
    shown = templates.preview("social", "rewriter", f"{{{{ original }}}} {text}")
    assert "complained. Monday" in shown
    assert shown.endswith("Something came late. ok")


def test_fields_conditions_and_loops_are_allowed():
    text = "{% if label and words > 9 %}About {{ label|upper }}.{% endif %} {{ text }} {{ examples|length }}"
    shown = templates.preview("legal", "rephrase", text)
    assert shown.endswith("About TRANSPORT. The bus came late on Monday, and nobody said why. 2")


def test_the_system_line_takes_no_field():
    with pytest.raises(UserError, match="no field"):
        templates.check("system", "You are {{ persona }}.")
    assert templates.preview("legal", "system", " You draft letters. ") == "You draft letters."


def test_operators_use_changed_templates_of_their_domain_alone():
    changed = {"legal": {"vary": "Anders: {{ text }}", "system": "Kurz."}}
    for plain in (InstructOperators(), PlainOperators()):
        other = templates.with_templates(plain, {"changed": changed})
        assert other.prompt("vary", domain="legal", text="T.").startswith("Kurz.\n\nAnders: T.")
        assert other.prompt("vary", domain="social", text="T.") == plain.prompt("vary", domain="social", text="T.")
        assert plain.prompt("vary", domain="legal", text="T.") != other.prompt("vary", domain="legal", text="T.")
    built_in = BuiltinOperators()
    assert templates.with_templates(built_in, {"changed": changed}) is built_in


def test_the_version_follows_every_template():
    base = templates.version({})
    assert len(base) == 16
    assert templates.version({"legal": {"vary": templates.shipped("legal")["vary"]}}) == base
    seen = {base} | {
        templates.version({domain: {name: "{{ text }}"}}) for domain in DOMAINS for name in ("vary", "fill", "rewriter")
    }
    assert len(seen) == 1 + 3 * len(DOMAINS)


def test_stored_changes_that_equal_what_ships_are_no_changes():
    own = templates.shipped("social")["vary"]
    assert templates.checked({"social": {"vary": own, "fill": "X {{ text }}"}, "nowhere": {}}) == {
        "social": {"fill": "X {{ text }}"}
    }


def test_a_prompt_without_end_is_refused_before_it_fills_the_memory():
    long = "word " * 20_000
    changed = {"generic": {"vary": templates.check("vary", "{{ text }}" * 500)}}
    with pytest.raises(UserError, match="more than 2,000,000 characters"):
        InstructOperators(changed).prompt("vary", domain="generic", text=long)
    once = {"generic": {"vary": templates.check("vary", "Write: {{ text }}")}}
    assert long in InstructOperators(once).prompt("vary", domain="generic", text=long)


def test_a_stored_template_that_later_rules_refuse_gives_way_to_what_ships():
    stored = {"generic": {"vary": "{% for a in text %}{{ text }}{% endfor %}", "fill": "Fill: {{ text }}"}, "gone": {}}
    assert templates.holding(stored) == {"generic": {"fill": "Fill: {{ text }}"}}
    with pytest.raises(UserError):
        templates.checked(stored)
