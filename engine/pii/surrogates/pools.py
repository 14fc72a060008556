"""Pools of names and words surrogates come from, read once.

Given names and surnames are those of Faker's Latin-script locales; towns, streets and rare surnames
are invented, so a surrogate address is nobody's.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from engine.corpus.names import FEMALE, JOBS, MALE, NATIONS
from engine.pii.surrogates.keyed import fold

_LOCALES = ("en_US", "en_GB", "de_DE", "fr_FR", "es_ES", "it_IT", "pt_BR", "nl_NL", "sv_SE", "cs_CZ", "fi_FI", "hr_HR",
            "hu_HU", "ro_RO", "no_NO", "da_DK", "en_IN", "tr_TR", "pl_PL")  # fmt: skip
_SURNAME_LOCALES = tuple(code for code in _LOCALES if code not in {"pl_PL", "ro_RO", "tr_TR"})
_MORE_NATIONS = (
    ("France", "French"), ("Germany", "German"), ("Spain", "Spanish"), ("Sweden", "Swedish"), ("Finland", "Finnish"),
    ("Denmark", "Danish"), ("Austria", "Austrian"), ("Belgium", "Belgian"),
    ("Bulgaria", "Bulgarian"), ("Croatia", "Croatian"),
    ("Serbia", "Serbian"), ("Slovakia", "Slovak"), ("Slovenia", "Slovenian"),
    ("Latvia", "Latvian"), ("Russia", "Russian"),
    ("China", "Chinese"), ("Korea", "Korean"), ("Thailand", "Thai"),
    ("Indonesia", "Indonesian"), ("Malaysia", "Malaysian"),
    ("Egypt", "Egyptian"), ("Algeria", "Algerian"), ("Tunisia", "Tunisian"), ("Iraq", "Iraqi"), ("Syria", "Syrian"),
    ("Mexico", "Mexican"), ("Peru", "Peruvian"), ("Argentina", "Argentinian"),
    ("Canada", "Canadian"), ("Australia", "Australian"),
    ("Switzerland", "Swiss"), ("Netherlands", "Dutch"), ("Ethiopia", "Ethiopian"),
    ("Uganda", "Ugandan"), ("Cuba", "Cuban"),
    ("United Kingdom", "British"), ("United States", "American"), ("Georgia", "Georgian"), ("Armenia", "Armenian"),
    ("Albania", "Albanian"), ("Cyprus", "Cypriot"), ("Malta", "Maltese"), ("Moldova", "Moldovan"),
    ("Luxembourg", "Luxembourgish"), ("Ecuador", "Ecuadorian"), ("Senegal", "Senegalese"), ("Zambia", "Zambian"),
    ("Iceland", "Icelandic"), ("Israel", "Israeli"),
    ("Jordan", "Jordanian"), ("Bolivia", "Bolivian"),
)  # fmt: skip
_OTHER_COUNTRIES = {"UK", "USA", "U.S.", "US", "UAE", "England", "Scotland", "Wales", "Great Britain", "Czech Republic"}
_STATES = (
    "Alabama Alaska Arizona Arkansas California Colorado Connecticut Delaware Florida Hawaii "
    "Idaho Illinois Indiana Iowa "
    "Kansas Kentucky Louisiana Maine Maryland Massachusetts Michigan Minnesota Mississippi "
    "Missouri Montana Nebraska Nevada "
    "Ohio Oklahoma Oregon Pennsylvania Tennessee Texas Utah Vermont Virginia Washington Wisconsin Wyoming"
).split()
_FAMILY = (
    ("mother", "grandmother", "aunt", "sister", "daughter", "niece", "stepmother"),
    ("father", "grandfather", "uncle", "brother", "son", "nephew", "stepfather"),
    ("wife", "fiancée", "girlfriend", "widow"), ("husband", "fiancé", "boyfriend", "widower"),
    ("single parent", "foster parent", "carer", "guardian"), ("twin", "only child", "eldest child", "youngest child"),
    ("married", "divorced", "widowed", "separated", "engaged", "single"),
    ("Catholic", "Protestant", "Muslim", "Hindu", "Jewish", "Buddhist", "Sikh", "Orthodox"),
    ("newlywed", "divorcee", "bachelor"), ("grandparent", "parent", "step-parent"),
)  # fmt: skip


@dataclass(frozen=True)
class Pools:
    """Sorted tuples to choose from, and folded sets to recognise with."""

    given: dict[str, tuple[str, ...]]
    surnames: tuple[str, ...]
    known_given: dict[str, str]
    countries: tuple[str, ...]
    country_keys: frozenset[str]
    states: tuple[str, ...]
    state_keys: frozenset[str]
    nationalities: tuple[str, ...]
    nationality_keys: frozenset[str]
    jobs: tuple[str, ...]
    job_keys: frozenset[str]
    groups: dict[str, tuple[str, ...]]


@cache
def pools() -> Pools:
    """Return the pools; the first call takes about a tenth of a second."""
    counts = {"f": Counter(FEMALE), "m": Counter(MALE)}
    surnames: set[str] = set()
    for locale in _LOCALES:
        provider = import_module(f"faker.providers.person.{locale}").Provider
        counts["f"].update(set(getattr(provider, "first_names_female", ())))
        counts["m"].update(set(getattr(provider, "first_names_male", ())))
        if locale in _SURNAME_LOCALES:
            surnames |= set(getattr(provider, "last_names", ()))
    given = {name: _gender(name, counts) for name in {*counts["f"], *counts["m"]} if name.isalpha()}
    known = {fold(name): gender for name, gender in sorted(given.items())}
    nations = (*NATIONS, *_MORE_NATIONS)
    jobs = tuple(sorted({*(j.removeprefix("retired ") for j in JOBS), "teacher", "clerk", *_faker_jobs()}))
    countries = {country for country, _ in nations}
    official = set(import_module("faker.providers.address.en").Provider.countries)
    return Pools(
        given={
            gender: tuple(sorted(n for n, g in given.items() if g == gender)) for gender in ("f", "m", "")
        },
        surnames=tuple(sorted(n for n in surnames if n.isalpha() and len(n) > 2 and fold(n) not in known)),
        known_given=known,
        countries=tuple(sorted(countries)),
        country_keys=frozenset(fold(c) for c in countries | official | _OTHER_COUNTRIES),
        states=tuple(_STATES),
        state_keys=frozenset(fold(s) for s in _STATES),
        nationalities=tuple(sorted({word for _, word in nations})),
        nationality_keys=frozenset(fold(word) for _, word in nations),
        jobs=jobs,
        job_keys=frozenset(fold(j) for j in jobs),
        groups={fold(word): group for group in _FAMILY for word in group},
    )  # fmt: skip


def _gender(name: str, counts: dict[str, Counter[str]]) -> str:
    """Return the gender most lists give the name, empty where they disagree."""
    women, men = counts["f"][name], counts["m"][name]
    return "f" if women > 2 * men else "m" if men > 2 * women else ""


def _faker_jobs() -> list[str]:
    """Return short occupations of Faker's English list, in plain lower case."""
    jobs = import_module("faker.providers.job.en_US").Provider.jobs
    return [j.lower() for j in jobs if j.replace(" ", "").isalpha() and len(j.split()) <= 2]
