"""Parameters of the study of n-gram curves."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from engine.examine.curves import lbf_direct
from engine.studies import lemmas
from engine.studies.ngram_curves.records import Part


class NgramCurvesParameters(BaseModel):
    """What is drawn and left out."""

    model_config = ConfigDict(extra="forbid")

    n: tuple[int, ...] = Field(
        (1, 3),
        min_length=1,
        max_length=3,
        title="Words in a row (n)",
        description="Words that an attacker sees, 1 to 3.",
    )
    words: lemmas.Words = Field("forms", title="Forms or lemmas of words", description=lemmas.DESCRIPTION)
    language: str = Field("auto", pattern=lemmas.CODE, description=lemmas.LANGUAGE)
    excluded: tuple[int, ...] = Field(
        lbf_direct.SIZES, min_length=1, max_length=8, description="|U|: how many units are left out."
    )
    trials: int = Field(lbf_direct.TRIALS, ge=1, le=200, description="Random sets U of each size.")
    adjacency: Literal["corpus", "record", "source"] = Field(
        "corpus", description="What a unit of U is: as the corpus has it, a record, or all records of a source."
    )
    part: Part = Field(
        "uncapped",
        description="Records drawn from: the training part with what lies over its cap, as drawing has no cap; the "
        "training part as methods see it; or all records, held-out ones too.",
    )
    rounds: tuple[int, ...] = Field(
        (1, 10, 100),
        max_length=4,
        title="N-grams an adversary sees",
        description="N-grams that an adversary sees who chooses afterwards which one to hold against people.",
    )
    censor: int = Field(
        2,
        ge=0,
        le=1000,
        description="Draw everything a second time with n-grams hidden behind one mark that occur at most so often; 0 "
        "does not.",
    )
    censor_by: Literal["x", "own"] = Field(
        "x", description="Whose counts decide what is hidden: those with everyone, or each side's own."
    )
