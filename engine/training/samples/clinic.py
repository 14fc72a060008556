"""Invent a patient and the letters and notes of several visits."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import NotRequired, TypedDict

from engine.corpus import names
from engine.corpus.samples import FOLDER
from engine.training.samples.common import SYNONYMS, Draft, add_person, entity, split_list
from engine.training.samples.grammar import Grammar, Segment, Value
from engine.training.samples.novelty import Novelty, write

SOURCE_PREFIX = "patient-"
OUTCOMES = ("improved", "unchanged", "worsened", "referred", "discharged")
_HOSPITALS = (
    "{t} General Hospital",
    "{t} Infirmary",
    "St {s} Hospital",
    "{t} Royal Infirmary",
    "{t} Community Hospital",
    "{t} University Hospital",
    "{n} Memorial Hospital",
    "{t} District Hospital",
    "{n} Clinic",
)
_PRACTICES = ("{t} Surgery", "{n} Health Centre", "The {n} Practice", "{t} Medical Centre", "{n} Family Practice")
_EMPLOYERS = (
    "{n} Foods Ltd",
    "{t} Council",
    "{s} & Sons",
    "{n} Logistics",
    "{t} Academy",
    "{n} Bakery",
    "{s} Engineering",
    "{t} Bus Company",
    "{n} Care Homes",
    "{s} Joinery",
    "{t} Leisure Trust",
    "{n} Stores",
)
_CLUBS = ("{t} Bowls Club", "{n} Choral Society", "{t} Allotment Society", "{n} Day Centre", "{t} Historical Society")
_SCHOOLS = ("{t} School", "{t} College", "{n} Academy")
_KIN = {
    "f": "wife;sister;mother;daughter;niece;partner;aunt;neighbour",
    "m": "husband;brother;father;son;nephew;partner;uncle;neighbour",
}


class Condition(TypedDict):
    """What letters about a condition are made of: lists parted by `;`, and the youngest and oldest age."""

    name: str
    spec: str
    ages: list[int]
    sym: str
    find: str
    test: str
    drug: str
    advice: str
    sex: NotRequired[str]


@cache
def _grammar() -> Grammar:
    return Grammar(FOLDER / "grammar" / "clinic.txt", SYNONYMS)


@cache
def _conditions() -> tuple[Condition, ...]:
    import yaml

    return tuple(yaml.safe_load((FOLDER / "grammar" / "conditions.yaml").read_text(encoding="utf-8")))


def source(rng: Random, visits: int, novelty: Novelty) -> Iterator[tuple[list[Segment], str]]:
    """Yield the segments and outcome of each of a patient's records, oldest first."""
    condition = rng.choice(_conditions())
    patient = names.person(rng, condition.get("sex", ""))
    first = dt.date(2014, 1, 1) + dt.timedelta(days=rng.randint(0, 3600))
    low, high = max(16, condition["ages"][0]), condition["ages"][1]
    birth = first - dt.timedelta(days=int(rng.uniform(low, high) * 365.25))
    facts = _facts(rng, condition, patient, (first - birth).days // 365)
    dates = {
        "birth": birth,
        "early": birth + (first - birth) * rng.uniform(0.3, 0.85),
        "onset": first - dt.timedelta(days=rng.randint(40, min(2500, (first - birth).days // 2 + 41))),
    }
    style, letterhead = rng.choice(names.DATE_STYLES), rng.random() < 0.5
    day = first
    for visit in range(visits):
        outcome = (
            rng.choice(("referred", "discharged", "discharged", "improved"))
            if visit == visits - 1
            else rng.choice(("improved", "improved", "unchanged", "worsened", "referred", "discharged"))
        )
        draft = Draft(rng, {**dates, "visit": day}, dict(facts))
        draft.date_style = style if rng.random() < 0.6 else rng.choice(names.DATE_STYLES)
        _set_visit(draft, rng, condition, birth, day, outcome)
        shape = "letterlong" if letterhead and rng.random() < 0.3 else "letter"
        yield write(draft, _grammar(), shape, novelty, casual=0.12, shorthand=0.12), outcome
        day += dt.timedelta(days=rng.randint(9, 220))


def _facts(rng: Random, condition: Condition, patient: names.Person, age: int) -> dict[str, Value]:
    facts: dict[str, Value] = {}
    add_person(facts, "pt", patient, "Master" if age < 14 and patient.sex == "m" else "Miss" if age < 16 else "")
    kin = names.Person(
        names.person(rng).first, patient.last if rng.random() < 0.6 else names.surname(rng), rng.choice("fm")
    )
    kin = names.Person(rng.choice(names.FEMALE if kin.sex == "f" else names.MALE), kin.last, kin.sex)
    for key, who in (
        ("kin", kin),
        ("doc", names.person(rng)),
        ("gp", names.person(rng)),
        ("doc2", names.person(rng)),
        ("nurse", names.person(rng)),
        ("nurse2", names.person(rng)),
    ):
        add_person(facts, key, who, "Dr" if key in {"doc", "gp", "doc2"} else "")
    kinds = split_list(_KIN[kin.sex])
    relation = rng.choice(kinds) if age >= 24 else kinds[2]
    facts["kinrel"] = relation
    facts["kin.his"] = facts["pt.his"]
    country, adjective = rng.choice(names.NATIONS)
    lived = (
        rng.choice(("retired " + rng.choice(("teacher", "joiner", "nurse", "bus driver", "clerk", "tailor", "miner")),))
        if age > 67
        else (rng.choice(("pupil", "schoolchild", "student") if age < 18 else names.JOBS))
    )
    if age <= 55 and lived.startswith("retired"):
        lived = "bus driver"
    hospital, unit_code = (
        names.company(rng, _HOSPITALS),
        names.code(rng, rng.choice(("H######", "??-#####", "MRN ######", "########", "?##/####"))),
    )
    facts.update(
        {
            "spec": condition["spec"],
            "stage": "old" if age > 67 else "adult",
            "hosp": entity(hospital, "ORGANISATION"),
            "mrn": entity(unit_code, "MEDICAL_ID"),
            "otherhosp": entity(names.company(rng, _HOSPITALS), "ORGANISATION"),
            "practice": entity(names.company(rng, _PRACTICES), "ORGANISATION"),
            "employer": entity(
                names.company(rng, _CLUBS if age > 67 else _EMPLOYERS if age >= 18 else _SCHOOLS), "ORGANISATION"
            ),
            "job": entity(lived, "DEMOGRAPHIC"),
            "hometown": entity(names.town(rng), "LOCATION"),
            "addr": entity(names.address(rng), "ADDRESS"),
            "country": entity(country, "LOCATION"),
            "nation.adj": entity(adjective, "DEMOGRAPHIC"),
            "nation.lang": entity(adjective, "DEMOGRAPHIC"),
            "famtype": [
                Segment("a "),
                entity(
                    rng.choice(
                        names.FAMILY[3:4] + names.FAMILY[8:12]
                        if age < 30
                        else [
                            f
                            for f in names.FAMILY
                            if not (
                                (f in ("mother", "widow", "grandmother") and patient.sex == "m")
                                or (f in ("father", "widower", "grandfather") and patient.sex == "f")
                            )
                        ]
                    ),
                    "DEMOGRAPHIC",
                ),
            ],
            "kintel": entity(names.phone(rng), "PHONE"),
            "pttel": entity(names.phone(rng), "PHONE"),
            "desk": entity(names.phone(rng), "PHONE"),
            "deskmail": entity(
                f"{condition['spec'].split()[0].lower()}{rng.randint(1, 60)}@{rng.choice(names.MAIL_DOMAINS)}", "EMAIL"
            ),
            "ptmail": entity(names.email(rng, patient), "EMAIL"),
            "sexletter": patient.sex.upper(),
            "cond": rng.choice(split_list(condition["name"])),
        }
    )
    return facts


def _set_visit(draft: Draft, rng: Random, condition: Condition, birth: dt.date, day: dt.date, outcome: str) -> None:
    age = day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))
    weight = rng.randint(52, 104) if age > 15 else 12 + 3 * age
    draft.facts.update(
        {
            "agey": entity(str(age), "AGE"),
            "outcome": outcome,
            "wt": entity(f"{weight}.{rng.randint(0, 9)} kg", "QUANTITY"),
            "wtold": entity(f"{weight + rng.randint(1, 4)} kg", "QUANTITY"),
            "cond": rng.choice(split_list(condition["name"])),
        }
    )
    draft.lists = {key: split_list(condition[key]) for key in ("sym", "find", "test", "drug", "advice")}
