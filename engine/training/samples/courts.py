"""Invent a case and the decisions made in it, from directions to costs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import TypedDict

from engine.corpus import names
from engine.corpus.samples import FOLDER
from engine.training.samples.common import SYNONYMS, Draft, add_person, entity, split_list
from engine.training.samples.grammar import Grammar, Segment, Value
from engine.training.samples.novelty import Novelty, write

SOURCE_PREFIX = "case-"
OUTCOMES = ("allowed", "dismissed", "partly_allowed", "remitted", "adjourned", "withdrawn")
_COURTS = (
    "{t} County Court|court",
    "{t} Magistrates' Court|court",
    "Court of Appeal of {t}|court",
    "{t} Employment Tribunal|tribunal",
    "{t} Land Tribunal|tribunal",
    "High Court of {t}|court",
    "{t} District Court|court",
    "{t} Family Court|court",
    "{t} Administrative Court|court",
    "First Chamber of the {t} Tribunal|tribunal",
    "{t} Rent Tribunal|tribunal",
)
_FIRMS = ("{s} & {n} LLP", "{s} Solicitors", "{n} Law", "{s}, {n} and Partners", "{t} Law Centre", "{s} Chambers")
_BODIES = (
    "{n} Properties Ltd",
    "{t} Borough Council",
    "{s} Holdings plc",
    "{t} Housing Trust",
    "{n} Care Group",
    "{s} Motors Ltd",
    "{n} Bank",
    "{t} City Council",
    "{s} & Co",
    "{t} Health Board",
    "{n} Insurance",
    "{s} Builders Ltd",
)
_AGENCIES = (
    "{t} Constabulary",
    "{t} Social Services",
    "the {t} Ombudsman",
    "{n} Survey Office",
    "{t} Trading Standards",
    "Child Protection {t}",
)
_EMPLOYERS = (
    "{n} Foods",
    "{t} School",
    "{s} & Sons",
    "{n} Logistics",
    "{t} Theatre",
    "{s} Engineering",
    "{n} Farms",
    "{t} Hospital",
)
_CASE_NUMBERS = ("##-####/{s}", "??/####/{s}", "#####/{s}", "C#/{s}/####", "[{y}] ?? ###", "??{s}?#####")
_SAID = {
    "the mother": "f",
    "the grandmother": "f",
    "the wife": "f",
    "the widow next door": "f",
    "the father": "m",
    "the husband": "m",
    "the former husband": "m",
    "the former wife": "f",
}


class Matter(TypedDict):
    """What decisions in a matter are made of: lists parted by `;`, and the least and most money at stake."""

    matter: str
    ap: str
    op: str
    thing: str
    ground: str
    law: str
    proof: str
    money: list[int]
    place: str


@cache
def _grammar() -> Grammar:
    return Grammar(FOLDER / "grammar" / "courts.txt", SYNONYMS)


@cache
def _matters() -> tuple[Matter, ...]:
    import yaml

    return tuple(yaml.safe_load((FOLDER / "grammar" / "matters.yaml").read_text(encoding="utf-8")))


def source(rng: Random, decisions: int, novelty: Novelty) -> Iterator[tuple[list[Segment], str]]:
    """Yield the segments and outcome of each decision in a case, oldest first."""
    matter = rng.choice(_matters())
    filed = dt.date(2009, 1, 1) + dt.timedelta(days=rng.randint(0, 5400))
    event = filed - dt.timedelta(days=rng.randint(40, 500))
    start = event - dt.timedelta(days=rng.randint(60, 2600))
    age = rng.randint(24, 81)
    dates = {"filed": filed, "event": event, "start": start, "abirth": filed - dt.timedelta(days=age * 365 + 100)}
    facts = _facts(rng, matter, age, filed.year)
    laws = [names.code(rng, law.replace("%", "#")) for law in split_list(matter["law"])]
    style, currency = rng.choice(("long", "long", "us", "ordinal", "weekday", "slash")), rng.choice("££€$")
    day = filed + dt.timedelta(days=rng.randint(60, 300))
    for number in range(decisions):
        last = number == decisions - 1
        outcome = (
            rng.choice(("allowed", "dismissed", "dismissed", "partly_allowed", "remitted", "withdrawn"))
            if last
            else rng.choice(
                ("adjourned", "adjourned", "allowed", "dismissed", "partly_allowed", "remitted", "withdrawn")
            )
        )
        draft = Draft(rng, {**dates, "day": day}, dict(facts), style if rng.random() < 0.85 else "slash", currency)
        _set_decision(draft, rng, matter, outcome)
        draft.lists["law"] = list(laws)
        shape = "decisionlong" if rng.random() < 0.12 else "decision"
        yield write(draft, _grammar(), shape, novelty, casual=0.02), outcome
        day += dt.timedelta(days=rng.randint(14, 260))


def _facts(rng: Random, matter: Matter, age: int, year: int) -> dict[str, Value]:
    facts: dict[str, Value] = {}
    word_a = rng.choice(split_list(matter["ap"]))
    word_b = rng.choice([w for w in split_list(matter["op"]) if w != word_a])
    if _SAID.get(word_a) and _SAID.get(word_a) == _SAID.get(word_b):
        word_b = "the former wife" if _SAID[word_a] == "m" else "the former husband"
    applicant = names.person(rng, _SAID.get(word_a, ""))
    people = {
        "a": applicant,
        "judge": names.person(rng),
        "judge2": names.person(rng),
        "member": names.person(rng),
        "la": names.person(rng),
        "lb": names.person(rng),
        "clerk": names.person(rng),
        "who2": names.person(rng),
        "w": names.person(rng),
    }
    for key, who in people.items():
        add_person(facts, key, who, "Judge" if key.startswith("judge") else "")
    if word_b in _SAID or rng.random() < 0.4:
        add_person(facts, "b", names.person(rng, _SAID.get(word_b, "")))
    else:
        body = entity(names.company(rng, _BODIES), "ORGANISATION")
        facts.update({"b": body, "b.mr": body})
    court, word = names.company(rng, _COURTS).split("|")
    home, country = names.town(rng), rng.choice(names.NATIONS)
    facts.update(
        {
            "court": entity(court, "ORGANISATION"),
            "court.up": entity(court.upper() if rng.random() < 0.5 else court, "ORGANISATION"),
            "courtword": word,
            "court2": entity(names.company(rng, _COURTS).split("|")[0], "ORGANISATION"),
            "matter": matter["matter"],
            "seat": entity(names.town(rng), "LOCATION"),
            "home": entity(home, "LOCATION"),
            "addr": entity(names.address(rng), "ADDRESS"),
            "firm": entity(names.company(rng, _FIRMS), "ORGANISATION"),
            "firm2": entity(names.company(rng, _FIRMS), "ORGANISATION"),
            "employer": entity(names.company(rng, _EMPLOYERS), "ORGANISATION"),
            "agency": entity(names.company(rng, _AGENCIES), "ORGANISATION"),
            "hosp": entity(f"{names.town(rng)} Hospital", "ORGANISATION"),
            "a.job": entity(rng.choice(names.JOBS), "DEMOGRAPHIC"),
            "country": entity(country[0], "LOCATION"),
            "nation": entity(country[1], "DEMOGRAPHIC"),
            "famword": entity(
                rng.choice(
                    (
                        "mother" if applicant.sex == "f" else "father",
                        "single parent",
                        "carer",
                        "widow" if applicant.sex == "f" else "widower",
                    )
                ),
                "DEMOGRAPHIC",
            ),
            "childage": entity(
                rng.choice(("aged " + str(rng.randint(2, 15)), "eight", "five", "twelve", "three")).removeprefix(
                    "aged "
                ),
                "AGE",
            ),
            "age2": entity(str(rng.randint(21, 79)), "AGE"),
            "aword": word_a,
            "bword": word_b,
            "caseno": entity(
                names.code(
                    rng,
                    rng.choice(_CASE_NUMBERS).format(y=year, s=f"{year % 100:02d}"),
                ),
                "CODE",
            ),
            "a.v": entity(applicant.last, "PERSON"),
            "a.initialsdot": entity(f"{applicant.first[0]}.{applicant.last[0]}.", "PERSON"),
            "judge.upper": entity(people["judge"].last.upper() + " J", "PERSON"),
            "mail": entity(f"office{rng.randint(1, 80)}@example.org", "EMAIL"),
            "lamail": entity(names.email(rng, people["la"]), "EMAIL"),
            "who2.last": entity(names.surname(rng), "PERSON"),
            "url": entity(f"www.judgments.example.org/{rng.randint(1000, 99999)}", "URL"),
        }
    )
    facts["a.age"] = entity(str(age), "AGE")
    return facts


def _set_decision(draft: Draft, rng: Random, matter: Matter, outcome: str) -> None:
    low, high = matter["money"]
    money = int(low * (high / low) ** rng.random())
    facts = draft.facts
    home = facts["addr"]
    known = home if isinstance(home, Segment) and rng.random() < 0.6 else entity(names.address(rng), "ADDRESS")
    places = {
        "addr}": known,
        "road}": entity(names.street(rng), "LOCATION"),
        "town}": entity(names.town(rng), "LOCATION"),
    }
    text = rng.choice(split_list(matter["place"]))
    head, _, tail = text.partition("{")
    facts.update(
        {
            "outcome": outcome,
            "thing": rng.choice(split_list(matter["thing"])),
            "money": draft.amount(money),
            "money2": draft.amount(max(20, int(money * rng.uniform(0.15, 0.8)))),
            "docno": entity(names.code(rng, rng.choice(("####", "??-###", "##/###", "R#####"))), "CODE"),
            "place": [Segment(head), places[tail]],
            "a2.job": entity(rng.choice(names.JOBS), "DEMOGRAPHIC"),
            "who.last": entity(names.surname(rng), "PERSON"),
        }
    )
    draft.lists = {key: split_list(matter[key]) for key in ("ground", "proof")}
