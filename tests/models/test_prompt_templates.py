"""Changed templates: every shipped one may be kept, nothing that computes or reaches further may, versions follow."""

import pytest

from engine.errors import UserError
from engine.models import prompt_templates as templates
from engine.models.lm_format import DOMAINS
from engine.models.operators_builtin import BuiltinOperators
from engine.models.operators_instruct import InstructOperators
from engine.models.operators_plain import PlainOperators


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
        ("{{ text", "cannot be read in line 1"),
        ("Write something.", "must show the field"),
        ("   ", "must have 1 to"),
        ("{{ text }}" + "x" * 6000, "must have 1 to"),
    ],
)
def test_what_could_compute_or_reach_further_is_refused(template, says):
    with pytest.raises(UserError, match=says):
        templates.check("vary", template)


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
        other = templates.with_templates(plain, changed)
        assert other.prompt("vary", domain="legal", text="T.").startswith("Kurz.\n\nAnders: T.")
        assert other.prompt("vary", domain="social", text="T.") == plain.prompt("vary", domain="social", text="T.")
        assert plain.prompt("vary", domain="legal", text="T.") != other.prompt("vary", domain="legal", text="T.")
    built_in = BuiltinOperators()
    assert templates.with_templates(built_in, changed) is built_in


def test_the_version_follows_every_template():
    base = templates.version({})
    assert len(base) == 16
    assert templates.version({"legal": {"vary": templates.shipped("legal")["vary"]}}) == base
    seen = {base} | {
        templates.version({domain: {name: "{{ text }}"}}) for domain in DOMAINS for name in ("vary", "fill")
    }
    assert len(seen) == 1 + 2 * len(DOMAINS)


def test_stored_changes_that_equal_what_ships_are_no_changes():
    own = templates.shipped("social")["vary"]
    assert templates.checked({"social": {"vary": own, "fill": "X {{ text }}"}, "nowhere": {}}) == {
        "social": {"fill": "X {{ text }}"}
    }
