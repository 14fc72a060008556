"""Read language packs: everything a language brings is data in `assets/languages/<code>/`.

A pack is a folder with `pack.yaml` (titles, field labels, months, function words, phone and street shapes, recognisers
with examples), `names.csv.gz` and `places.csv.gz` with their licence, and, where names change, `inflection.yaml`;
where every noun has a capital, `common.txt.gz`.
`CONTRIBUTING` says how to add one. What is read is checked strictly: an unknown field stops the program.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.assets import ASSETS
from engine.errors import InternalError, UserError
from engine.pii.detect.recognisers import RecogniserSpec, read_specs
from engine.pii.languages.inflection import Inflection

FOLDER = ASSETS / "languages"
Words = tuple[str, ...]
FieldLabel = Literal["PERSON", "ADDRESS", "LOCATION", "DATE", "CODE", "NATIONAL_ID", "PHONE"]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Titles(_Strict):
    """Words that stand before a name, of women, of men and of either."""

    f: Words = ()
    m: Words = ()
    any: Words = ()


class PackData(_Strict):
    """The fields of `pack.yaml`.

    `countries` are ISO 3166 codes, the first one the home of surrogates; `spacy` is the code of a blank tokeniser.
    `month_stems` are expressions (inflected months begin with them), `numbers` are the numbers of a day in words.
    `phones` are shapes in which `#` is a digit, `lands` names of countries; `streets` are shapes with {name} and {n}.
    `ranks` are words that are part of the name behind them; where there are some, names grow (`languages.grown`).
    `possessive` is what a name takes in the genitive, `possessive_after` what it takes instead after which letters.
    """

    code: Annotated[str, Field(pattern="^[a-z]{2}$")]
    name: str
    countries: Annotated[Words, Field(min_length=1)]
    spacy: str
    source: str
    titles: Titles
    ranks: Words = ()
    fields: dict[FieldLabel, Words]
    greetings: Words = ()
    farewells: Words = ()
    months: Annotated[Words, Field(min_length=12, max_length=12)]
    month_stems: Words
    weekdays: Annotated[Words, Field(min_length=7, max_length=7)]
    numbers: Words = ()
    phones: Annotated[Words, Field(min_length=1)]
    prefix: Annotated[str, Field(pattern=r"^\+\d{2,3}$")]
    postcode: str
    streets: Annotated[Words, Field(min_length=1)]
    street_stems: Words = ()
    lands: Words = ()
    street_words: Words
    organisation_words: Words
    possessive: str = ""
    possessive_after: dict[str, str] = Field(default_factory=lambda: {"sxzß": "’"})
    function_words: str


class InflectionPlaces(_Strict):
    """Ends of place names that stand in the inner and in the outer local cases, and names that stand in the outer."""

    inner: Words
    outer: Words
    outer_names: Words = ()


class InflectionData(_Strict):
    """The fields of `inflection.yaml`, as `Inflection` describes them."""

    last_word_only: bool
    cases: dict[str, str]
    vowel_partitive: str = ""
    genitive_endings: dict[str, str]
    genitives: dict[str, str]
    harmony: bool = False
    direct: dict[str, dict[str, str]] = Field(default_factory=dict)
    places: InflectionPlaces = InflectionPlaces(inner=(), outer=())


@dataclass(frozen=True)
class Pack:
    """One language: its data, its own recognisers, its function words, and how names change, if they do."""

    data: PackData
    recognisers: tuple[RecogniserSpec, ...]
    function_words: frozenset[str]
    inflection: Inflection | None

    @property
    def code(self) -> str:
        """Return the language's ISO 639-1 code."""
        return self.data.code


@lru_cache(maxsize=1)
def codes() -> tuple[str, ...]:
    """Return the codes of the packs that are there, sorted."""
    return tuple(sorted(p.parent.name for p in FOLDER.glob("*/pack.yaml")))


@lru_cache(maxsize=64)
def pack(code: str) -> Pack:
    """Return the pack of one language.

    Raises:
        UserError: there is none. InternalError: a pack breaks a rule.
    """
    if code not in codes():
        raise UserError(f"language: there is no pack for {code!r}; there are packs for {', '.join(codes())}")
    folder = FOLDER / code
    given = yaml.safe_load((folder / "pack.yaml").read_text(encoding="utf-8"))
    given.pop("recognisers", None)
    try:
        data = PackData.model_validate(given)
        table = folder / "inflection.yaml"
        inflection = None
        if table.is_file():
            read = InflectionData.model_validate(yaml.safe_load(table.read_text(encoding="utf-8")))
            inflection = Inflection(
                read.cases, read.genitives, read.genitive_endings, read.vowel_partitive, read.last_word_only,
                read.harmony, read.direct, read.places.inner, read.places.outer, frozenset(read.places.outer_names),
            )  # fmt: skip
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        raise InternalError(f"language pack {code}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    if data.code != code:
        raise InternalError(f"language pack {code}: its code is {data.code}; folder and code must agree")
    specs = tuple(read_specs(folder / "pack.yaml"))
    if any(not s.id.startswith(f"{code}.") for s in specs):
        raise InternalError(f"language pack {code}: ids of its recognisers begin with {code} and a point")
    return Pack(data, specs, frozenset(data.function_words.split()), inflection)
