"""Invent a customer of an invented company and the tickets that follow one another."""

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

SOURCE_PREFIX = "customer-"
CATEGORIES = ("billing", "delivery", "defect", "account", "cancellation", "information")
_EMPLOYERS = (
    "{n} Foods",
    "{t} Council",
    "{s} & Sons",
    "{n} Logistics",
    "{t} School",
    "{s} Motors",
    "{n} Hotel",
    "{t} Hospital",
)
_RELATIONS = {
    "f": "wife;sister;mother;daughter;aunt;neighbour;gran",
    "m": "husband;brother;father;son;uncle;neighbour;flatmate",
}


class Product(TypedDict):
    """What tickets about a product are made of: lists parted by `;`."""

    company: str
    field: str
    product: str
    fault: str
    extra: str
    service: str
    model: str


@cache
def _grammar() -> Grammar:
    return Grammar(FOLDER / "grammar" / "support.txt", SYNONYMS)


@cache
def _products() -> tuple[Product, ...]:
    import yaml

    return tuple(yaml.safe_load((FOLDER / "grammar" / "products.yaml").read_text(encoding="utf-8")))


def source(rng: Random, tickets: int, novelty: Novelty) -> Iterator[tuple[list[Segment], str]]:
    """Yield the segments and category of each of a customer's tickets, oldest first."""
    product = rng.choice(_products())
    day = dt.date(2016, 1, 1) + dt.timedelta(days=rng.randint(0, 3400))
    age = rng.randint(19, 88)
    dates = {
        "birth": day - dt.timedelta(days=age * 365 + rng.randint(5, 350)),
        "start": day - dt.timedelta(days=rng.randint(30, 1400)),
    }
    facts = _facts(rng, product, age)
    style = rng.choice(names.DATE_STYLES)
    currency = rng.choice(("£", "£", "$", "€", "EUR", "USD"))
    category = rng.choice(CATEGORIES)
    casual = rng.choice((0.05, 0.2, 0.45, 0.8))
    for _ in range(tickets):
        draft = Draft(
            rng,
            {**dates, "day": day},
            dict(facts),
            style if rng.random() < 0.7 else rng.choice(names.DATE_STYLES),
            currency,
        )
        _set_ticket(draft, rng, product, category)
        yield write(draft, _grammar(), "ticket", novelty, casual=casual, shorthand=casual * 0.3), category
        day += dt.timedelta(days=rng.randint(1, 60))
        if rng.random() < 0.55:
            category = rng.choice(CATEGORIES)


def _facts(rng: Random, product: Product, age: int) -> dict[str, Value]:
    facts: dict[str, Value] = {}
    customer, kin = names.person(rng), names.person(rng)
    for key, who in (("cu", customer), ("kin", kin), ("ag", names.person(rng)), ("ag2", names.person(rng))):
        add_person(facts, key, who)
    company = names.company(rng, tuple(product["company"].split(";")))
    kinds = [
        k for k in split_list(_RELATIONS[kin.sex]) if age < 60 or k not in ("mother", "father", "gran", "aunt", "uncle")
    ]
    phones = [entity(names.phone(rng), "PHONE") for _ in range(3)]
    country, adjective = rng.choice(names.NATIONS)
    site = "".join(c for c in company.lower() if c.isalnum())
    facts.update(
        {
            "co": entity(company, "ORGANISATION"),
            "co.up": entity(company.upper(), "ORGANISATION"),
            "co2": entity(names.company(rng, tuple(product["company"].split(";"))), "ORGANISATION"),
            "emp": entity(names.company(rng, _EMPLOYERS), "ORGANISATION"),
            "field": product["field"],
            "kinrel": rng.choice(kinds),
            "home": entity(names.town(rng), "LOCATION"),
            "newplace": entity(names.town(rng), "LOCATION"),
            "country": entity(country, "LOCATION"),
            "nation": entity(adjective, "DEMOGRAPHIC"),
            "addr": entity(names.address(rng), "ADDRESS"),
            "addr2": entity(names.address(rng), "ADDRESS"),
            "cutel": phones[0],
            "oldtel": phones[1],
            "desk": phones[2],
            "cumail": entity(names.email(rng, customer), "EMAIL"),
            "oldmail": entity(names.email(rng, customer), "EMAIL"),
            "comail": entity(f"{rng.choice(('help', 'care', 'support', 'service'))}@{site}.example.org", "EMAIL"),
            "user": entity(names.username(rng, customer), "USERNAME"),
            "oldname": entity(names.surname(rng), "PERSON"),
            "acct": entity(
                names.code(rng, rng.choice(("C-######", "########", "K####-##", "??######", "#### ####"))), "CODE"
            ),
            "age": entity(str(age), "AGE"),
            "kinage": entity(str(rng.randint(18, 91)), "AGE"),
            "job": entity(rng.choice(names.JOBS), "DEMOGRAPHIC"),
            "serv": rng.choice(split_list(product["service"])),
            "card": entity("4000 00" + names.code(rng, "## #### ####"), "CARD"),
            "last4": entity(names.code(rng, "####"), "CODE"),
            "iban": entity(names.code(rng, "XX00 TEST #### #### ####"), "IBAN"),
            "ip": entity(f"192.0.2.{rng.randint(1, 254)}", "IP"),
            "url": entity(f"www.{site}.example.org/{rng.choice(('help', 'faq', 'prices', 'terms'))}", "URL"),
            "prod": rng.choice(split_list(product["product"])),
            "model": entity(names.code(rng, rng.choice(split_list(product["model"]))), "CODE", "quasi"),
        }
    )
    return facts


def _set_ticket(draft: Draft, rng: Random, product: Product, category: str) -> None:
    faults = rng.sample(split_list(product["fault"]), 2)
    money = rng.choice((rng.randint(3, 60), rng.randint(20, 400), rng.randint(200, 3000)))
    facts = draft.facts
    if rng.random() < 0.4:
        facts["prod"] = rng.choice(split_list(product["product"]))
    facts.update(
        {
            "category": category,
            "fault": faults[0],
            "fault2": faults[1],
            "extra": rng.choice(split_list(product["extra"])),
            "money": draft.amount(money),
            "money2": draft.amount(max(2, int(money * rng.uniform(0.3, 0.9)))),
            "ref": entity(
                names.code(rng, rng.choice(("#######", "T-#####", "??-####", "REQ######", "##-####-#"))), "CODE"
            ),
            "pod": rng.choice(("morning", "afternoon", "evening")),
            "mood": rng.choice(("angry", "calm", "upset", "nice", "in a hurry", "tearful")),
        }
    )
