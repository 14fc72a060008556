"""The open models that are proposed: read from `assets/models/catalogue.yaml`, each field checked.

Light: the web process imports this.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.assets import ASSETS
from engine.errors import InternalError
from engine.models.catalogue import WORK_SHARE
from engine.models.folder.inspection import capabilities_of_folder

PATH = ASSETS / "models" / "catalogue.yaml"
Precision: TypeAlias = Literal["32 bit", "16 bit", "8 bit", "4 bit"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
# Bytes a number; 4 and 8 bit hold a scale of 32 bit for each 64 numbers (Dettmers et al. 2023, QLoRA, section 3).
_BYTES: dict[Precision, float] = {"32 bit": 4.0, "16 bit": 2.0, "8 bit": 1.0 + 1 / 16, "4 bit": 0.5 + 1 / 16}


class Offer(BaseModel):
    """One open model.

    hub: its hub id. revision: commit, None where none is confirmed. parameters: numbers in its weights; whole: those
    that stay in 16 bit where the rest is quantised. context: tokens. languages: ISO 639-1 codes.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    hub: str = Field(pattern=r"^[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}$")
    revision: str | None = Field(pattern=r"^[0-9a-f]{40}$")
    licence: str = Field(min_length=3, max_length=60)
    architecture: str = Field(pattern=r"^\w+For(CausalLM|ConditionalGeneration)$")
    parameters: int = Field(ge=100_000_000, le=10_000_000_000)
    whole: int = Field(gt=0)
    context: int = Field(ge=512)
    languages: tuple[str, ...] = Field(min_length=1)
    prompts: Literal["instruct", "plain"]
    why: str = Field(min_length=20, max_length=200)

    @property
    def name(self) -> str:
        """Return what it would be called in a workspace."""
        return self.hub.rpartition("/")[2].lower()[:40]

    @property
    def capabilities(self) -> frozenset[str]:
        """Return what it can do, as it would be told once it is here."""
        return capabilities_of_folder("causal" if self.architecture.endswith("CausalLM") else "seq2seq", self.prompts)

    def memory_bytes(self, precision: Precision) -> int:
        """Return the memory it takes at work."""
        if precision in ("32 bit", "16 bit"):
            return int(_BYTES[precision] * self.parameters * WORK_SHARE)
        kept = 2 * self.whole
        return int((_BYTES[precision] * (self.parameters - self.whole) + kept) * WORK_SHARE)


class SentenceOffer(BaseModel):
    """One sentence model, for measuring meaning in languages that the built-in one does not know.

    hub: its hub id. revision: commit. parameters: numbers in its weights, of 4 bytes. dimension: of its
    vectors. tokens: it reads at most. languages: ISO 639-1 codes; told: the same in words.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    hub: str = Field(pattern=r"^[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}$")
    revision: str = Field(pattern=r"^[0-9a-f]{40}$")
    licence: str = Field(min_length=3, max_length=60)
    parameters: int = Field(gt=0)
    dimension: int = Field(gt=0)
    tokens: int = Field(gt=0)
    languages: tuple[str, ...] = Field(min_length=1)
    told: str = Field(min_length=3, max_length=200)

    def sentence(self) -> str:
        """Return what it is for, what it takes, and how it comes here."""
        return (
            f"{self.hub} (commit {self.revision}, {self.licence}, about {self.parameters / 1e6:.0f} million numbers, "
            f"{4 * self.parameters / 1e9:.2f} GB, {self.dimension} dimensions, {self.tokens} tokens at most; "
            f"{self.told}): for measuring meaning; fetch its folder on a machine with a network, bring it here, and "
            "choose it as what measures meaning."
        )


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    models: tuple[Offer, ...] = Field(min_length=1)
    sentence_models: tuple[SentenceOffer, ...] = ()


def offers() -> tuple[Offer, ...]:
    """Return the models that are proposed, from small to large.

    Raises:
        InternalError: the list that ships is damaged.
    """
    return _file().models


def sentence_models(language: str) -> tuple[SentenceOffer, ...]:
    """Return the sentence models for a language (ISO 639-1); none for English, which the built-in one knows."""
    return tuple(one for one in _file().sentence_models if language in one.languages and language != "en")


@lru_cache(maxsize=1)
def _file() -> _File:
    import yaml

    try:
        return _File.model_validate(yaml.safe_load(PATH.read_text("utf-8")))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        raise InternalError(f"assets/models/catalogue.yaml cannot be used ({type(error).__name__})") from None


def offer(hub: str) -> Offer | None:
    """Return the offer with a hub id, or None."""
    return next((one for one in offers() if one.hub == hub), None)
