"""What a prompt pack is written from: words that a person declared public, and no others."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from engine.models.prompts.domains import ENGLISH, prompt_languages

MOST_PROMPTS = 20_000
LONGEST_WORD = 120  # characters of one topic, label, key word or style


class PackWords(BaseModel):
    """Words and numbers of a pack; empty lists take the public ones of the domain, or nothing.

    For a round, `operator` says what is asked of each winner, and `variations` how many times.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    domain: Literal["clinical", "legal", "social", "reviews", "generic"] = Field(
        "generic", description="Kind of text: chooses templates and public word lists."
    )
    language: str = Field(ENGLISH, description="Language of the prompts and of the texts asked for, by its code.")
    kind: str = Field(
        "", max_length=LONGEST_WORD, description="Kind of document in plain words, such as clinic letter."
    )
    topics: tuple[str, ...] = Field((), max_length=200, description="Topics; each prompt gets one.")
    labels: tuple[str, ...] = Field((), max_length=50, description="Labels in equal shares; each prompt gets one.")
    lengths: tuple[int, ...] = Field((60,), max_length=20, description="Lengths asked for (words), in equal shares.")
    keywords: tuple[str, ...] = Field(
        (), max_length=500,
        description="Key words; each prompt gets two. Empty: the domain's public list, where no topics are given.",
    )  # fmt: skip
    personas: tuple[str, ...] = Field((), max_length=100, description="Who writes. Empty: the domain's public list.")
    styles: tuple[str, ...] = Field((), max_length=100, description="Manners of writing; each prompt gets one.")
    count: int = Field(500, ge=1, le=MOST_PROMPTS, description="Prompts.")
    variations: int = Field(4, ge=1, le=20, description="Rounds: prompts a winner.")
    spread: Literal["even", "votes"] = Field(
        "even", description="Rounds: as many variations of each winner, or in proportion to its noisy votes."
    )
    operator: Literal["vary", "rephrase", "cross"] = Field(
        "vary", description="Rounds: vary a winner, rephrase it in a style, or write one text from two winners."
    )
    seed: int = Field(0, ge=0, lt=2**31, description="Fixes which words go into which prompt.")

    @field_validator("topics", "labels", "keywords", "personas", "styles")
    @classmethod
    def _short(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        cleaned = tuple(dict.fromkeys(" ".join(word.split()) for word in words))
        if any(not 1 <= len(word) <= LONGEST_WORD for word in cleaned):
            raise ValueError(f"each must have 1 to {LONGEST_WORD} characters")
        return cleaned

    @field_validator("language")
    @classmethod
    def _written_here(cls, language: str) -> str:
        if language not in prompt_languages():
            raise ValueError(f"must be one of {', '.join(prompt_languages())}")
        return language

    @field_validator("lengths")
    @classmethod
    def _sensible(cls, lengths: tuple[int, ...]) -> tuple[int, ...]:
        if not lengths or any(not 5 <= words <= 2000 for words in lengths):
            raise ValueError("give one or more lengths from 5 to 2,000 words")
        return tuple(dict.fromkeys(lengths))
