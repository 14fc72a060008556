"""Outputs held to a template's blanks and to a length: whatever the network is, what was asked for stands."""

from __future__ import annotations

import random

import pytest
import torch

from engine.models.builtin.decoder.steering import MOST_WORDS
from engine.models.builtin.format import BLANK, LENGTH_EDGES, blanked
from engine.models.builtin.language_model import load_builtin_generator
from engine.models.contracts import Constraints, Sampling
from engine.models.prompts.operators_builtin import BuiltinOperators
from engine.training.language.operators import blanks_filled
from tests.models.small_lm import small_generator

TEXTS = (
    "The patient was seen on 3 May with a rash on the left arm, and the fever was gone by then.",
    "[PERSON] rang on [DATE]: the invoice of £24.50 was wrong! Please write to [EMAIL].",
    "Zoë’s appeal – the second – failed; costs follow the event.",
)
SAMPLING = Sampling(max_new_tokens=110, temperature=1.0, top_p=1.0, seed=4)


@pytest.fixture(scope="module")
def generator():
    """Random weights: nothing it writes follows the prompt unless it is made to."""
    return small_generator()


def filled(generator, template, sampling=SAMPLING, domain="generic"):
    operators = BuiltinOperators()
    asked = {"domain": domain, "text": template}
    (made,) = generator.generate([operators.prompt("fill", **asked)], sampling)
    return operators.parse("fill", made.text, **asked), made


@pytest.mark.parametrize("share", [0.1, 0.4, 0.9])
@pytest.mark.parametrize("text", TEXTS)
def test_every_blank_is_filled_and_nothing_else_changes(generator, text, share):
    rng = random.Random(f"{share}")
    for _ in range(4):
        template = blanked(text, rng, share)
        written, made = filled(generator, template)
        assert blanks_filled(template, written), (template, written)
        assert made.finish == "stop"
        assert made.tokens <= SAMPLING.max_new_tokens


@pytest.mark.parametrize(
    "template", [f"{BLANK} ended well.", f"It began {BLANK}", f"a {BLANK} {BLANK} b", BLANK, f"{BLANK} {BLANK}"]
)
def test_blanks_may_stand_anywhere(generator, template):
    written, _ = filled(generator, template)
    assert blanks_filled(template, written), (template, written)
    words = len(written.split()) - len(template.replace(BLANK, " ").split())
    assert template.count(BLANK) <= words <= MOST_WORDS * template.count(BLANK)


def test_a_template_longer_than_asked_for_ends_there(generator):
    written, made = filled(generator, f"one two three {BLANK} four five six seven", Sampling(max_new_tokens=4, seed=1))
    assert made.finish == "length"
    assert made.tokens <= 4
    assert written.startswith("one two three")


@pytest.mark.parametrize("words", [4, 12, 30, 55])
def test_a_length_is_held_as_far_as_tokens_allow(generator, words):
    prompts = [BuiltinOperators().prompt("invent", domain="clinical", words=words)] * 12
    made = generator.generate(prompts, Sampling(max_new_tokens=120, temperature=1.0, top_p=1.0, seed=2))
    at = next(i for i, edge in enumerate(LENGTH_EDGES) if words <= edge)
    low, high = (0, *LENGTH_EDGES)[at] + 1, LENGTH_EDGES[at]
    for one in made:
        count = len(one.text.split())
        assert count <= 1.15 * high + 1
        assert count >= low or one.finish == "length"


def test_a_text_ends_with_its_sentence_where_one_is_near():
    prompts = [BuiltinOperators().prompt("invent", domain="clinical", kind="narrative", words=20)] * 24
    made = load_builtin_generator().generate(prompts, Sampling(max_new_tokens=90, seed=3))
    lengths = [len(one.text.split()) for one in made]
    assert all(17 <= n <= 24 for n in lengths), lengths
    assert sum(one.text.rstrip()[-1] in ".;!?" for one in made) >= 12


def test_an_abstract_and_a_free_prompt_are_left_alone(generator):
    steering = generator._steering
    encode = generator.tokenizer.encode
    for prompt in (
        BuiltinOperators().prompt("abstract", text="a b c", words=200),
        BuiltinOperators().prompt("invent", domain="clinical"),
        "<|bos|>",
        "<|bos|>The text began",
    ):
        assert steering.read(encode(prompt, add_special_tokens=False).ids) is None
    assert steering.read([]) is None


def test_a_blocked_value_stays_out_of_a_text_of_a_length(generator):
    prompts = [BuiltinOperators().prompt("invent", domain="clinical", words=30)] * 6
    free = generator.generate(prompts, SAMPLING)
    blocked = tuple({word for one in free for word in one.text.split()[:3] if word.isalpha()})
    made = generator.generate(prompts, SAMPLING, Constraints(blocked))
    assert not any(word in one.text.split() for word in blocked for one in made)
    assert all(len(one.text.split()) <= 36 for one in made)


def test_the_same_call_gives_the_same_texts_in_any_batch(generator):
    rng = random.Random(0)
    operators = BuiltinOperators()
    prompts = [operators.prompt("fill", domain="generic", text=blanked(t, rng, 0.4)) for t in TEXTS * 3]
    prompts += [operators.prompt("invent", domain="legal", words=n) for n in (10, 40)]
    together = [one.text for one in generator.generate(prompts, SAMPLING)]
    held = generator.batch_size
    try:
        generator.batch_size = 2
        assert [one.text for one in generator.generate(prompts, SAMPLING)] == together
    finally:
        generator.batch_size = held
    assert torch.get_num_threads() >= 1


@pytest.mark.parametrize("words", [0, 40])
def test_key_words_come(words):
    keys = ["amoxicillin", "seizure", "grandmother"]
    prompt = BuiltinOperators().prompt("invent", domain="clinical", kind="narrative", keywords=keys, words=words)
    made = load_builtin_generator().generate([prompt] * 20, Sampling(max_new_tokens=140, temperature=0.7, seed=5))
    assert sum(key in one.text for one in made for key in keys) >= 36  # of 60; without help about ten
    # Texts differ with the processor's rounding; a few end early where no length is asked for.
    assert sum(len(one.text.split()) >= 25 for one in made) >= 13


def test_a_blocked_key_word_stays_out(generator):
    prompt = BuiltinOperators().prompt("invent", domain="clinical", keywords=["seizure"], words=20)
    made = generator.generate([prompt] * 6, SAMPLING, Constraints(("seizure",)))
    assert not any("seizure" in one.text.lower().split() for one in made)
