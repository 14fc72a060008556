"""Proposals from a file: the person's column by name and by values, and the cap that keeps everybody's rows."""

from __future__ import annotations

import pandas as pd
import pytest

from engine.corpus.columns.mapping import ColumnMapping
from engine.corpus.columns.proposals import largest_cap, person_column
from engine.corpus.readers import read_preview


def visits(people: int = 30, name: str = "patient_nr") -> pd.DataFrame:
    """Return rows of people who came 1, 2 or 3 times."""
    who = [f"P{person:04d}" for person in range(people) for _ in range(1 + person % 3)]
    rows = len(who)
    return pd.DataFrame(
        {
            "note": [f"Came to the clinic for the {i}th time with a sore knee." for i in range(rows)],
            name: who,
            "age": [20 + i % 60 for i in range(rows)],
            "day": [f"2021-03-{1 + i % 28:02d}" for i in range(rows)],
            "weight": [f"{50 + i % 40}.5" for i in range(rows)],
            "outcome": ["better" if i % 2 else "worse" for i in range(rows)],
        },
        dtype=object,
    )


@pytest.mark.parametrize("name", ["patient_nr", "PatientID", "Client No", "user hash", "isikukood", "Kunde-Nr"])
def test_a_column_is_proposed_by_its_name(name):
    found = person_column(visits(name=name))
    assert found is not None
    assert (found.column, found.by) == (name, "name")
    assert "30 different ones, 1 to 3 rows each" in found.reason


@pytest.mark.parametrize("name", ["customer_type", "patient_age", "case_outcome", "userland"])
def test_a_name_that_says_something_else_of_a_person_is_not_enough(name):
    found = person_column(visits(name=name))
    assert found is None or found.by == "values"


def test_a_column_is_proposed_by_its_values_and_no_other_is():
    found = person_column(visits(name="xk"))
    assert found is not None
    assert (found.column, found.by) == ("xk", "values")
    assert person_column(visits(name="xk").drop(columns="xk")) is None, "no age, day, weight or class"


@pytest.mark.parametrize(
    "values",
    [
        [f"P{i}" for i in range(60)],  # each its own row
        ["P1"] * 50 + [f"P{i}" for i in range(10)],  # one has nearly all
        [f"P{i % 9}" for i in range(60)],  # a class
        [f"{1950 + i % 30}" for i in range(60)],  # years
        [f"{10 + i % 20}:15" for i in range(60)],  # times
        [f"see P{i % 20} and others" for i in range(60)],  # text
        [None] * 30 + [f"P{i % 15}" for i in range(30)],  # half of it empty
    ],
)
def test_values_that_are_no_numbers_of_people_propose_nothing(values):
    assert person_column(pd.DataFrame({"xk": pd.Series(values, dtype=object)})) is None


def test_a_preview_fills_in_what_the_name_says_and_only_offers_what_the_values_say():
    named = read_preview(visits().to_csv(index=False).encode(), "a.csv")
    assert named.suggested.source_id == "patient_nr"
    offered = read_preview(visits(name="xk").to_csv(index=False).encode(), "a.csv")
    assert offered.suggested.source_id is None
    assert offered.person is not None
    assert offered.person.column == "xk"


def test_the_largest_cap_counts_people_and_not_empty_cells():
    table = pd.DataFrame({"text": list("abcdef"), "who": ["x", "x ", "y", None, "", " "]}, dtype=object)
    mapping = ColumnMapping(text="text", source_id="who")
    assert largest_cap(table, mapping, "source") == 2
    assert largest_cap(table, mapping, "record") == 1
