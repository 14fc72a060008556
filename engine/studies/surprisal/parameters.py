"""Parameters of the study of surprisal."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from engine.studies import lemmas


class SurprisalParameters(BaseModel):
    """What is trained, left out and asked."""

    model_config = ConfigDict(extra="forbid")

    method: str = Field("finetune", description="Method that tunes a model: finetune, goldfish or dp-finetune.")
    settings: str = Field("", max_length=4000, description="Its parameters, such as: epochs=3, rank=8.")
    models: int = Field(5, ge=1, le=30, description="Models, each trained without a random set of units (thesis: 10).")
    excluded: int = Field(10, ge=1, description="Units left out of each (thesis: 100).")
    words: lemmas.Words = Field(
        "forms",
        title="Forms or lemmas of words",
        description="What models are tuned on and asked about: records as written (forms), records with every word in "
        "its first form (lemmas), or both side by side, which trains twice as many.",
    )
    language: str = Field("auto", pattern=lemmas.CODE, description=lemmas.LANGUAGE)
    records: int = Field(0, ge=0, description="Training records that make up X, whole units at random; 0 takes all.")
    scored: int = Field(
        300, ge=4, le=20_000, description="Records of each set, and as many that are never left out, that are scored."
    )
    prefixes: int = Field(0, ge=0, le=2000, description="Records a model and side whose continuation is asked for.")
    prefix_words: int = Field(8, ge=1, le=100, description="Words shown, and words that count as taken out.")
    fragments: tuple[str, ...] = Field(
        (), max_length=50, description="Ids of records: may their text be published while a model of X is public?"
    )
