"""Prompt files: every domain and operator is there, renders, and says what is asked; broken ones are named."""

import shutil

import pytest

from engine.errors import UserError
from engine.models.builtin.format import DOMAINS, OPERATORS
from engine.models.prompts import domains as prompts
from engine.models.prompts.domains import load_prompts
from engine.models.prompts.operators_instruct import InstructOperators

INPUTS = {
    "text": "The bus came late on Monday morning.",
    "texts": ("The bus came late.", "The train was on time."),
    "code": "PERSON: Ada Quill",
    "examples": ("First example here.", "Second example here."),
    "label": "transport",
    "words": 35,
    "keywords": ("timetable",),
}
SHOWN = {
    "invent": ("transport", "timetable", "35"),
    "vary": ("The bus came late on Monday morning.",),
    "fill": ("_",),
    "cross": ("The bus came late.", "The train was on time."),
    "abstract": ("The bus came late on Monday morning.",),
    "rephrase": ("The bus came late on Monday morning.",),
    "from_control_code": ("PERSON: Ada Quill",),
    "from_examples": ("First example here.", "Second example here."),
    "judge": ("The bus came late on Monday morning.",),
}


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_domain_has_what_private_methods_draw_from(domain):
    found = load_prompts(domain)
    assert found.document
    assert found.system
    for words, least in ((found.keywords, 30), (found.personas, 5), (found.styles, 5)):
        assert len(words) >= least
        assert len(set(words)) == len(words)
        assert all(word.strip() == word and word for word in words)
    assert set(OPERATORS) <= set(found.operators)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("domain", DOMAINS)
def test_a_template_renders_and_shows_its_inputs(domain, operator):
    text = InstructOperators().prompt(operator, domain=domain, **INPUTS)
    assert not any(mark in text for mark in ("{{", "}}", "{%", "%}"))
    assert text.startswith(load_prompts(domain).system)
    for part in SHOWN.get(operator, ()):
        assert part in text


@pytest.mark.parametrize("domain", DOMAINS)
def test_what_is_left_out_leaves_no_trace(domain):
    text = InstructOperators().prompt("invent", domain=domain)
    assert "None" not in text
    assert "  " not in text
    assert "label" not in text.lower()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the prompt files that may be broken; nothing read before is remembered."""
    copy = tmp_path / "prompts"
    shutil.copytree(prompts.FOLDER, copy)
    monkeypatch.setattr(prompts, "FOLDER", copy)
    load_prompts.cache_clear()
    yield copy
    load_prompts.cache_clear()


def test_an_unknown_domain_is_refused_with_the_known_ones():
    with pytest.raises(UserError, match=r"'medical' does not exist.*clinical"):
        load_prompts("medical")


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (None, "FileNotFoundError"),
        ("document: [unclosed", "ParserError"),
        ("document: note\n", "KeyError"),
        ("- a list\n- not a mapping\n", "TypeError"),
        ("document: n\nsystem: s\nkeywords: [a]\npersonas: [b]\nstyles: [c]\noperators: text\n", "AttributeError"),
    ],
)
def test_a_broken_file_is_named_with_what_to_do(folder, body, error):
    path = folder / "legal.yaml"
    path.unlink()
    if body is not None:
        path.write_text(body, encoding="utf-8")
    with pytest.raises(UserError, match=rf"legal\.yaml cannot be used \({error}\): restore it"):
        load_prompts("legal")


def test_a_missing_template_is_named(folder):
    import yaml

    path = folder / "social.yaml"
    values = yaml.safe_load(path.read_text(encoding="utf-8"))
    del values["operators"]["cross"]
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    with pytest.raises(UserError, match="lacks the operators cross"):
        load_prompts("social")


def test_a_template_that_reaches_for_anything_else_is_refused(folder):
    import yaml

    path = folder / "social.yaml"
    values = yaml.safe_load(path.read_text(encoding="utf-8"))
    values["operators"]["invent"] = "{{ ''.__class__.__mro__ }}"
    values["operators"]["vary"] = "{{ nowhere }}"
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    for operator in ("invent", "vary"):
        with pytest.raises(UserError, match=f"template '{operator}' in assets/prompts/social.yaml is broken"):
            InstructOperators().prompt(operator, domain="social", text="a b c")
