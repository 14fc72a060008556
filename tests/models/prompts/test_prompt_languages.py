"""Prompts in the languages that have them: whole, in that language, read back, and used where a person declared it."""

from __future__ import annotations

import pytest

from engine.errors import UserError
from engine.models.builtin.format import DOMAINS, OPERATORS
from engine.models.prompts import templates
from engine.models.prompts.domains import load_prompts, prompt_language, prompt_languages
from engine.models.prompts.operators_builtin import BuiltinOperators
from engine.models.prompts.operators_instruct import InstructOperators, text_of_reply
from engine.models.prompts.operators_plain import PlainOperators
from engine.models.prompts.pack_prompts import inventions
from engine.models.prompts.pack_words import PackWords

OTHERS = [code for code in prompt_languages() if code != "en"]
GIVEN = {
    "text": "ZQTEXT", "texts": ("ZQONE", "ZQTWO"), "code": "PERSON: ZQCODE", "examples": ("ZQEXAMPLE",),
    "label": "ZQLABEL", "words": 77, "keywords": ("ZQKEY",), "persona": "ZQPERSONA", "style": "ZQSTYLE",
    "kind": "ZQKIND", "tone": "negative",
}  # fmt: skip
SHOWN = {  # what a prompt must hold, besides the length and the label where a text is asked for
    "invent": ("ZQKIND", "ZQPERSONA", "ZQKEY"), "vary": ("ZQTEXT",), "fill": (), "cross": ("ZQONE", "ZQTWO"),
    "abstract": ("ZQTEXT",), "expand": ("ZQTEXT",), "rephrase": ("ZQTEXT", "ZQSTYLE"),
    "from_control_code": ("ZQCODE", "ZQEXAMPLE"), "from_examples": ("ZQEXAMPLE",), "judge": ("ZQTEXT",),
}  # fmt: skip
ENGLISH = (" the ", " with ", "Reply", "Write", "Here is", "words long")
TOLD = {
    "de": ("Hier ist der Text:\n\nDer Patient kam.\n\nIch hoffe, das hilft.", "Der Patient kam."),
    "es": ("Claro, aquí tienes:\n\n«La paciente volvió.»", "La paciente volvió."),
    "fr": ("Bien sûr !\n\nLa patiente revint.", "La patiente revint."),
    "et": ("Siin on tekst:\n\nPatsient tuli.\n\nLoodan, et sobib.", "Patsient tuli."),
}  # fmt: skip


def test_the_languages_that_were_asked_for_are_there():
    assert set(prompt_languages()) >= {"en", "de", "es", "fr", "et"}
    assert prompt_languages()[0] == "en"
    assert prompt_language("de") == "de"
    assert prompt_language("ja") == "en"
    with pytest.raises(UserError, match="has no prompts"):
        load_prompts("clinical", "ja")


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("domain", DOMAINS)
def test_every_operator_asks_in_the_language_with_all_it_is_given(language, domain):
    operators = InstructOperators(language=language)
    for name in OPERATORS:
        prompt = operators.prompt(name, domain=domain, **GIVEN)
        assert all(word in prompt for word in SHOWN[name]), (language, name)
        assert not [word for word in ENGLISH if word in prompt], (language, name)
        assert "{{" not in prompt
        assert "{%" not in prompt
        if name not in ("judge", "abstract"):
            assert "ZQLABEL" in prompt
            assert "77" in prompt
        bare = operators.prompt(name, domain=domain, text="ZQTEXT", texts=("ZQONE",), code="NONE", examples=())
        assert "ZQLABEL" not in bare
        assert "77" not in bare


@pytest.mark.parametrize("language", OTHERS)
def test_word_lists_are_of_the_language_and_hold_no_word_twice(language):
    for domain in DOMAINS:
        own, english = load_prompts(domain, language), load_prompts(domain)
        assert len(own.keywords) >= 50
        for words in (own.keywords, own.personas, own.styles):
            assert len(set(words)) == len(words) >= 7
        assert len(set(own.keywords) & set(english.keywords)) <= 10  # some are the same word
        assert own.document != english.document or language == "fr"
        assert "{}" in own.style


@pytest.mark.parametrize("language", OTHERS)
def test_templates_are_such_as_a_custodian_may_keep(language):
    for domain in DOMAINS:
        prompts = load_prompts(domain, language)
        for name, body in prompts.operators.items():
            assert templates.check(name, body) == body.strip()


@pytest.mark.parametrize("language", OTHERS)
def test_a_judge_is_read_in_its_language_and_in_english(language):
    prompts, operators = load_prompts("clinical", language), InstructOperators(language=language)
    assert prompts.yes in operators.prompt("judge", domain="clinical", text="ZQTEXT")
    for word, meaning in ((prompts.yes, "yes"), (prompts.no, "no"), ("Yes", "yes"), ("No.", "no"), ("Hm", "")):
        assert operators.parse("judge", f"{word.capitalize()}.") == meaning
    assert InstructOperators(language="es").parse("judge", "si") == "yes"
    assert InstructOperators().parse("judge", "ja") == ""


@pytest.mark.parametrize(("language", "reply", "text"), [(code, *told) for code, told in TOLD.items()])
def test_chatter_around_a_reply_is_left_out(language, reply, text):
    assert InstructOperators(language=language).parse("invent", reply) == text
    assert InstructOperators(language=language).parse("invent", text) == text


def test_a_text_that_begins_like_chatter_is_kept():
    told = "Hier ist es passiert. Der Bus kam nicht."
    assert InstructOperators(language="de").parse("invent", told) == told
    told = "Siin onu Jaan elas.\nTa oli vana."
    assert InstructOperators(language="et").parse("invent", told) == told


def test_what_a_run_keeps_names_the_language_and_gives_the_same_prompts_again():
    kept = templates.as_manifest({}, "de")
    assert kept["language"] == "de"
    assert "language" not in templates.as_manifest({})
    assert kept["version"] != templates.as_manifest({})["version"]
    for made in (InstructOperators(), PlainOperators()):
        again = templates.with_templates(made, kept)
        assert again.language == "de"
        assert "Textsorte" in again.prompt("invent", domain="legal")
        assert "Textsorte" not in templates.with_templates(made, {}).prompt("invent", domain="legal")
    built_in = BuiltinOperators()
    assert templates.with_templates(built_in, kept) is built_in


def test_a_changed_template_goes_before_every_language():
    kept = templates.as_manifest({"social": {"invent": "Say {{ document }}."}}, "fr")
    prompt = templates.with_templates(InstructOperators(), kept).prompt("invent", domain="social")
    assert prompt.endswith("Say publication sur les réseaux sociaux.")
    assert "Tu écris" in prompt


def test_a_judge_without_instructions_is_given_the_words_to_choose_from():
    assert PlainOperators(language="et").prompt("judge", text="x", domain="generic").endswith("jah / ei:\n")
    assert PlainOperators().prompt("judge", text="x", domain="generic").endswith("Answer (yes or no):\n")


def test_what_a_language_has_says_whether_it_has_prompts():
    from engine.pii.languages.registry import languages

    told = {one.code: one for one in languages()}
    for code in ("de", "es", "fr", "et"):
        assert any(line.startswith("prompts for models") for line in told[code].has)
    assert any(line.startswith("prompts of its own") for line in told["fi"].lacks)


def test_a_pack_is_written_in_its_language_and_its_answers_are_read_in_any():
    words = PackWords(domain="clinical", language="es", count=4, styles=("en frases cortas",), labels=("alta",))
    made = inventions(words)
    assert all("Tipo de texto: nota clínica" in one.prompt for one in made)
    assert all(one.prompt.endswith("Estilo: en frases cortas.") for one in made)
    assert any(word in made[0].prompt for word in load_prompts("clinical", "es").keywords)
    assert "Write it in short phrases." in inventions(PackWords(count=1, styles=("in short phrases",)))[0].prompt
    with pytest.raises(ValueError, match="must be one of en"):
        PackWords(language="ja")
    for told, text in TOLD.values():
        assert text_of_reply(told) == text
    assert text_of_reply("Sure!\n\nThe bus was late.") == "The bus was late."
