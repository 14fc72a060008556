"""What a server really does, asked with made-up text: scores, answers among given ones, tokens kept out.

A server may pass over what it does not know, so a form counts only where the replies show that it was followed.
Privacy posture: made-up text only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import UserError
from engine.models.contracts import Sampling
from engine.models.remote.endpoint_forms import CHOICE_FORMS, TOKEN_FORMS
from engine.models.remote.endpoint_settings import SCORE_FORMS, EndpointSettings

if TYPE_CHECKING:
    from engine.models.remote.endpoint import EndpointGenerator

LINE = "One two three."
QUESTIONS = ("What is the weather like?", "Which day comes after Monday?", "Name a town.", "Who opened the shop?")
ANSWERS = ("vorunim lasket", "quabber\ntisk")  # that nobody gives who is not held to them
WORD, OFTEN, LONG = " garden", 100.0, 3
SURE = Sampling(max_new_tokens=24, temperature=1.0, top_k=0, top_p=1.0, seed=11)


def probed(generator: EndpointGenerator) -> EndpointSettings:
    """Return an endpoint's settings with the forms that its server follows; empty for what it does not."""
    form = score_form(generator)
    return replace(
        generator.settings, scores=bool(form), score_form=form or "echo", choice_form=choice_form(generator) or "",
        token_form=token_form(generator) or "",
    )  # fmt: skip


def score_form(generator: EndpointGenerator, text: str = LINE) -> str | None:
    """Return the form in which the server returns log-probabilities of a given text; asks once for each."""
    for form in SCORE_FORMS:
        try:
            if len(generator.scored([text], form)[0]):
                return form
        except UserError:
            continue
    return None


def choice_form(generator: EndpointGenerator) -> str | None:
    """Return the form in which the server is held to given answers: whoever passes over it gives others."""
    for form in CHOICE_FORMS:
        try:
            made = generator.chosen(QUESTIONS, [ANSWERS] * len(QUESTIONS), SURE, form)
        except UserError:
            continue
        if all(answer is not None for answer in made):
            return form
    return None


def token_form(generator: EndpointGenerator) -> str | None:
    """Return the form in which the server gives token ids, where it follows biases of them too.

    With a token made certain, the replies to different questions are that token alone.
    """
    for form in TOKEN_FORMS:
        try:
            ids = generator.token_ids(WORD, form)
            if not ids:
                continue
            sampling = replace(SURE, max_new_tokens=LONG)
            plain = generator.leaning(QUESTIONS, sampling, [])
            made = generator.leaning(QUESTIONS, sampling, ids[:1], OFTEN)
            alone = len(set(made)) == 1 and ids[0] in generator.token_ids(made[0], form)
            kept_out = generator.leaning(QUESTIONS, sampling, ids[:1])
        except UserError:
            continue
        if alone and set(plain) != set(made) and made[0] not in kept_out:
            return form
    return None
